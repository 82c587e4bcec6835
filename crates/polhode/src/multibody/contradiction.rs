//! Joints that come to contradict each other.

use super::joint::MOST_ROWS;
use super::place::Place;
use super::state::BodyMotion;
use super::workspace::Stepping;
use crate::scalar::{Mask, Real};
use crate::solve::StepError;

/// A joint is torn open beyond this part of a typical length, or so many radians: far beyond what dependent joints give way by
/// where a motion fits them all.
const OPEN: f64 = 1e-3;

impl<S: Real> Stepping<'_, S> {
    /// Refuses the end of a step that joints which depend on each other do not allow: they give way there instead of being
    /// singular, also to what no motion fits.
    pub(super) fn holds(&self, next: &[BodyMotion<S>]) -> Result<(), StepError> {
        if self.work.softness.is_empty() {
            return Ok(());
        }
        let (time, length) = (self.t + self.h, self.work.layout.length);
        let mut worst = (OPEN, None, 0.0);
        for joint in &self.system.joints {
            let places = joint.bodies().map(|body| body.map_or_else(Place::ground, |b| next[b].place()));
            let mut gap = [S::zero(); MOST_ROWS];
            joint.constraint(time, places.each_ref(), &mut gap);
            for (row, gap) in gap[..joint.kind.rows()].iter().enumerate() {
                let size = gap.abs();
                let part = if joint.is_angle(row) { size } else { size / S::lift(length) };
                if S::lift(worst.0).below(part).any() {
                    worst = (part.largest(), Some(joint), size.largest());
                }
            }
        }
        let (_, Some(joint), gap) = worst else { return Ok(()) };
        let (t, h) = (self.t.largest(), self.h.largest());
        Err(StepError::Contradiction { t, h, joint: joint.name.clone(), gap })
    }
}
