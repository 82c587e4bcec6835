//! Loads with names, which a controller sets between steps.

use core::fmt;
use nalgebra::Vector3;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a load is set to: nothing before it is set, so that its own numbers, with their derivatives, count.
pub(super) struct Setting([AtomicU64; 3]);

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without its value: a model is the same one whatever a controller has set, also to one that goes on with a run.
        f.write_str("Setting")
    }
}

/// The bits of a number that nobody sets: not a number, with a pattern that no operation gives.
const UNSET: u64 = 0x7ff8_dead_beef_0001;

impl Setting {
    fn unset() -> Self {
        Setting([const { AtomicU64::new(UNSET) }; 3])
    }
    /// The value, if it was set.
    pub(super) fn get(&self) -> Option<[f64; 3]> {
        let bits = self.0.each_ref().map(|bits| bits.load(Ordering::Relaxed));
        (bits[0] != UNSET).then(|| bits.map(f64::from_bits))
    }
    fn set(&self, value: &Vector3<f64>) {
        for (to, x) in self.0.iter().zip(value) {
            to.store(x.to_bits(), Ordering::Relaxed);
        }
    }
}

/// A load with a name, to be set between steps. It acts on all runs of its model; [`crate::run::Run::loads_changed`] tells
/// them that it has jumped.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::{method::Method, problem::Problem};
/// let text = r#"
/// [bodies.satellite]
/// mass = 1
/// inertia = [2, 2, 2]
/// [[loads]]
/// name = "wheel"
/// body = "satellite"
/// moment_body = [0, 0, 0]
/// "#;
/// let model = Problem::from_text("satellite", text)?.model()?;
/// let mut run = model.begin(&Method::parse("akw")?)?;
/// run.step(0.5, 0.5)?;
/// model.control("wheel").ok_or("no such load")?.set("moment_body", Vector3::new(0.0, 0.0, 4.0))?;
/// run.loads_changed()?;
/// run.step(0.5, 1.0)?;
/// assert!((run.snapshot().bodies[0].omega_body.z - 1.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Control {
    name: String,
    body: String,
    parts: Vec<(&'static str, [f64; 3], Arc<Setting>)>,
}

/// Why a load cannot be set.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlError {
    /// It has no such part.
    Part {
        /// The load.
        load: String,
        /// What was asked for.
        part: String,
        /// What it has.
        parts: Vec<&'static str>,
    },
    /// A number is not finite.
    NotFinite {
        /// The load.
        load: String,
        /// What was given.
        value: [f64; 3],
    },
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part { load, part, parts } => {
                write!(f, "the load '{load}' has no '{part}': it has {}", parts.join(", "))
            }
            Self::NotFinite { load, value: [x, y, z] } => {
                write!(f, "the load '{load}' must be finite, got {x}, {y}, {z}")
            }
        }
    }
}

impl std::error::Error for ControlError {}

impl Control {
    pub(super) fn new(name: &str, body: &str) -> Self {
        Control { name: name.into(), body: body.into(), parts: Vec::new() }
    }
    /// One more part with its value at the start.
    pub(super) fn part(&mut self, key: &'static str, value: [f64; 3]) -> Arc<Setting> {
        let setting = Arc::new(Setting::unset());
        self.parts.push((key, value, setting.clone()));
        setting
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The body that it acts on.
    pub fn body(&self) -> &str {
        &self.body
    }
    /// What it consists of: `moment_body`, `moment_space`, `force_body`, `force_space`.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().map(|(key, ..)| *key)
    }
    fn find(&self, part: &str) -> Result<&(&'static str, [f64; 3], Arc<Setting>), ControlError> {
        self.parts.iter().find(|(key, ..)| *key == part).ok_or_else(|| ControlError::Part {
            load: self.name.clone(),
            part: part.into(),
            parts: self.parts().collect(),
        })
    }
    /// The value of a part as it is now.
    pub fn get(&self, part: &str) -> Result<Vector3<f64>, ControlError> {
        let (_, start, setting) = self.find(part)?;
        Ok(setting.get().unwrap_or(*start).into())
    }
    /// Sets a part.
    pub fn set(&self, part: &str, value: Vector3<f64>) -> Result<(), ControlError> {
        let (_, _, setting) = self.find(part)?;
        if value.iter().any(|x| !x.is_finite()) {
            return Err(ControlError::NotFinite { load: self.name.clone(), value: value.into() });
        }
        setting.set(&value);
        Ok(())
    }
}
