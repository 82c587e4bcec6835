//! Rows that make a joint follow a drive or a thread: whether a step can tell where they lead.

use super::coordinate::{Coordinate, unwound};
use super::joint::Joint;
use super::place::Place;
use super::simulation::Simulation;
use super::state::BodyMotion;
use super::system::System;
use super::workspace::Stepping;
use crate::scalar::{Real, Scalar};
use crate::solve::StepError;

impl<S: Real> System<S> {
    /// Rows beside joints that may enforce one of their coordinates, each with that joint.
    fn followers(&self) -> impl Iterator<Item = (&Joint<S>, usize)> {
        self.joints.iter().filter_map(|row| Some((row, row.of?)))
    }
}

impl<S: Real> Joint<S> {
    /// What it holds a coordinate of the joint beside it at.
    fn enforced(&self, time: S, places: [&Place<S>; 2]) -> Option<S> {
        self.kind.own()?.enforced(&self.ends, time, places)
    }
    fn enforces(&self) -> Coordinate {
        if self.is_angle(0) { Coordinate::Angle } else { Coordinate::Distance }
    }
}

impl<S: Scalar> Simulation<S> {
    /// Expects driven angles where their drives will be, and refuses drives that jump.
    pub(super) fn drives_go_on(&mut self, h: S) -> Result<(), StepError> {
        /// The part of a step over which a rate is taken.
        const PART: f64 = 1e-6;
        let (t, size) = (self.time.largest(), h.largest());
        let length = self.work.layout.length;
        let unit = |row: &Joint<S>| if row.enforces() == Coordinate::Angle { 1.0 } else { length };
        for (row, j) in self.centered.followers().filter(|(row, _)| row.is_driven()) {
            let places = row.bodies().map(|body| body.map_or_else(Place::ground, |b| self.bodies[b].place()));
            let at = |part: f64| {
                let value = row.enforced(self.time + h * S::lift(part), places.each_ref());
                value.map_or(f64::NAN, Real::largest)
            };
            let [start, end] = [at(0.0), at(1.0)];
            if row.enforces() == Coordinate::Angle && end.is_finite() {
                self.near[j] = end;
            }
            // Changes over the whole step at these rates, of which the ends know nothing: a jump may be at one of them.
            let rate = |from: f64| (at(from + PART) - at(from)) / PART;
            let rates = [rate(PART), rate(1.0 - 2.0 * PART)];
            let expected = (rates[0] + rates[1]) / 2.0;
            let most = rates[0].abs() + rates[1].abs() + 1e-6 * unit(row);
            if (end - start - expected).abs() > most {
                let joint = self.centered.joints[j].name.clone();
                return Err(StepError::Jump { t, h: size, joint, change: end - start });
            }
        }
        Ok(())
    }
}

impl<S: Real> Stepping<'_, S> {
    /// Refuses the end of a step where an angle is not the one that it has to follow, but one at which the sine of the difference
    /// vanishes too.
    pub(super) fn follows(&self, next: &[BodyMotion<S>]) -> Result<(), StepError> {
        let time = self.t + self.h;
        for (row, j) in self.system.followers().filter(|(row, _)| row.enforces() == Coordinate::Angle) {
            let places = row.bodies().map(|body| body.map_or_else(Place::ground, |b| next[b].place()));
            let Some(wanted) = row.enforced(time, places.each_ref()) else { continue };
            let angle = unwound(self.system.joints[j].angle(places.each_ref()), self.angles[j]);
            let off = (angle - wanted).largest().abs();
            if off > core::f64::consts::FRAC_PI_2 {
                let (t, h) = (self.t.largest(), self.h.largest());
                return Err(StepError::Slip { t, h, joint: self.system.joints[j].name.clone(), off });
            }
        }
        Ok(())
    }
}
