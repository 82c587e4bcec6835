//! A run put aside, to be gone on with later or in another process, bit for bit.

use crate::archive::Archive;
use crate::multibody::System;
use core::fmt;
use std::sync::OnceLock;

/// All that influences the rest of a run, and what it has counted so far. Its fields are plain, to be stored in any form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The id of the method.
    pub method: String,
    /// A fingerprint of the model.
    pub model: u64,
    /// The numbers, as bits.
    pub words: Vec<u64>,
}

/// Why a run could not go on from what was saved. It is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// It was saved by another method.
    Method {
        /// That method.
        saved: String,
        /// The method of this run.
        run: String,
    },
    /// It is of another model, or of the same with other numbers.
    Model,
    /// Words are missing, or there are too many.
    Damaged,
    /// Runs of this kind are not saved.
    Unsupported,
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { saved, run } => {
                write!(f, "what was saved is a run of {saved}, and this is one of {run}; use the same method")
            }
            Self::Model => {
                write!(f, "what was saved is a run of another model, or of this one with other numbers")
            }
            Self::Damaged => {
                write!(f, "what was saved is damaged: it does not have the numbers that this run has")
            }
            Self::Unsupported => write!(f, "runs with derivatives cannot be saved; save a plain run"),
        }
    }
}

impl std::error::Error for RestoreError {}

/// What a run is of.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    method: String,
    /// The fingerprint of the model, once that was asked for: it takes as long as many steps.
    model: OnceLock<u64>,
}

impl Identity {
    pub(super) fn new(method: &str) -> Self {
        Identity { method: method.into(), model: OnceLock::new() }
    }
    /// True if the method is the same.
    pub(super) fn has_method_of(&self, other: &Identity) -> bool {
        self.method == other.method
    }
    fn model(&self, run: &impl Keeps) -> u64 {
        *self.model.get_or_init(|| run.system().map_or(0, fingerprint))
    }
}

/// A run that can be saved.
pub(super) trait Keeps {
    /// What it is of.
    fn identity(&self) -> &Identity;
    /// Its system, if it is of one.
    fn system(&self) -> Option<&System<f64>>;
    /// Shows everything that influences the rest of it, and what it has counted.
    fn keep(&mut self, archive: &mut Archive<'_>);
}

fn words(run: &mut impl Keeps) -> Vec<u64> {
    let mut archive = Archive::writing();
    run.keep(&mut archive);
    archive.words()
}

/// Takes the place of what was saved before, and its room.
pub(super) fn save(run: &mut impl Keeps, saved: &mut Saved) {
    let mut archive = Archive::writing_in(core::mem::take(&mut saved.words));
    run.keep(&mut archive);
    saved.words = archive.words();
    let identity = run.identity();
    saved.method.clone_from(&identity.method);
    saved.model = identity.model(run);
}

/// Puts what was saved in place, or what there was before if that does not fit.
pub(super) fn restore(run: &mut impl Keeps, saved: &Saved) -> Result<(), RestoreError> {
    let identity = run.identity();
    if saved.method != identity.method {
        return Err(RestoreError::Method { saved: saved.method.clone(), run: identity.method.clone() });
    }
    if saved.model != identity.model(run) {
        return Err(RestoreError::Model);
    }
    let before = words(run);
    let mut archive = Archive::reading(&saved.words);
    run.keep(&mut archive);
    if archive.fits() {
        return Ok(());
    }
    run.keep(&mut Archive::reading(&before));
    Err(RestoreError::Damaged)
}

/// A number that another system, or the same with other numbers, is most unlikely to have.
fn fingerprint(system: &System<f64>) -> u64 {
    // FNV-1a over all there is in it, every number with all its digits.
    let text = format!(
        "{:?} {:?} {:?} {:?} {:?}",
        system.gravity(),
        system.bodies(),
        system.joints(),
        system.forces(),
        system.extra()
    );
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
