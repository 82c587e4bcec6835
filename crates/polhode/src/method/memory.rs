//! What a method carries from step to step beside the state.

use super::scheme::Rates;
use crate::archive::{Archive, Kept, keep_optional};
use crate::body::Dynamics;
use crate::body::State;
use crate::group::Coordinates;
use crate::scalar::{Mask, Real};
use crate::solve::keep_coordinates;

/// Something carried, with the state it belongs to. A step from another state starts anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory<S: Real, G: Dynamics, X> {
    known: Option<(State<S, G>, X)>,
    /// Where it is forgotten.
    stale: S::Mask,
    /// Of the step that is being taken.
    next: Option<X>,
}

impl<S: Real, G: Dynamics, X> Default for Memory<S, G, X> {
    fn default() -> Self {
        Memory { known: None, stale: S::Mask::splat(false), next: None }
    }
}

/// What can be carried.
pub(super) trait Carried<S: Real>: Copy {
    /// Lane by lane, `a` where the mask is true and `b` elsewhere.
    fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self;
}

impl<S: Real, G: Dynamics, X: Carried<S>> Memory<S, G, X> {
    /// What the step under way ends with; it is forgotten unless the step ends well.
    #[inline(always)]
    pub(super) fn set(&mut self, carried: X) {
        self.next = Some(carried);
    }
    /// The step ended well, in this state.
    #[inline(always)]
    pub(super) fn keep(&mut self, state: &State<S, G>) {
        // Not by `take`, which moves the whole of it where there is nothing.
        if let Some(carried) = &self.next {
            (self.known, self.stale) = (Some((*state, *carried)), S::Mask::splat(false));
            self.next = None;
        }
    }
    /// True if something was carried to the state, in all lanes.
    pub(super) fn holds(&self, state: &State<S, G>) -> bool {
        self.known.as_ref().is_some_and(|(known, _)| known.same(state).and(self.stale.not()).all())
    }
    /// Starts anew in the lanes of the mask.
    pub(super) fn forget(&mut self, lanes: S::Mask) {
        self.stale = self.stale.or(lanes);
    }
    /// What was carried to the state, lane by lane, and a fresh one where nothing was.
    #[inline(always)]
    pub(super) fn at(&self, state: &State<S, G>, fresh: impl FnOnce() -> X) -> X {
        match &self.known {
            None => fresh(),
            Some((known, carried)) => {
                let same = known.same(state).and(self.stale.not());
                if same.all() { *carried } else { X::choose(same, carried, &fresh()) }
            }
        }
    }
}

impl<S: Real, G: Dynamics> Carried<S> for Rates<S, G> {
    fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        Rates {
            velocity: Coordinates::choose(mask, &a.velocity, &b.velocity),
            algorithmic: Coordinates::choose(mask, &a.algorithmic, &b.algorithmic),
        }
    }
}

impl<G: Dynamics> Kept for Rates<f64, G> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        keep_coordinates(&mut self.velocity, archive);
        keep_coordinates(&mut self.algorithmic, archive);
    }
}

/// Something carried, and the state it belongs to.
struct Belonging<G: Dynamics, X>(State<f64, G>, X);

impl<G: Dynamics, X: Kept> Kept for Belonging<G, X> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.0.keep(archive);
        self.1.keep(archive);
    }
}

impl<G: Dynamics, X: Kept + Copy> Memory<f64, G, X> {
    /// Between steps; `empty` to be overwritten.
    pub(super) fn keep_with(&mut self, empty: (State<f64, G>, X), archive: &mut Archive<'_>) {
        let mut known = self.known.map(|(state, carried)| Belonging(state, carried));
        keep_optional(&mut known, || Belonging(empty.0, empty.1), archive);
        self.known = known.map(|Belonging(state, carried)| (state, carried));
        self.stale.keep(archive);
        self.next = None;
    }
}
