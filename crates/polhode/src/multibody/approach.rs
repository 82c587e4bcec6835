//! From the drawing to given coordinates of joints. Loops have more than one way to close, so that coordinates change by little
//! at a time, and the way that was drawn is followed.

use super::arrange::CLOSED;
use super::error::AssemblyError;
use super::initial::{Origin, positions};
use super::joint::{Joint, JointKind};
use super::place::Place;
use super::projection::Projection;
use super::system::System;
use crate::scalar::Real;
use crate::solve::Sets;

/// The most by which a coordinate changes at a time: in rad, or relative to the size of the system.
const STEP: f64 = 0.2;
const MOST_STEPS: f64 = 500.0;

impl<S: Real> System<S> {
    /// The system with its bodies where the given coordinates of its joints are all but reached. `None` where they are near
    /// enough already, where no loop has to be closed, and where the drawing is open, which leaves nothing to start from.
    pub(super) fn approached(&self, time: S, size: f64) -> Option<System<S>> {
        let mut sets = Sets::new(self.bodies.len() + 1);
        let closes = |joint: &Joint<S>| {
            let [a, b] = joint.bodies().map(|body| body.map_or(0, |b| b + 1));
            joint.of.is_none() && !sets.join(a, b)
        };
        if !self.joints.iter().any(closes) {
            return None;
        }
        // Where each coordinate is drawn, and how far it has to go.
        let ways = self.starts.iter().map(|start| {
            let (joint, value) = (self.joints.get(start.joint)?, start.value?);
            let places = joint.bodies().map(|body| self.place_of(body));
            let drawn = joint.frames(time, places.each_ref()).coordinate(start.coordinate, value.largest());
            let unit = if start.coordinate == super::Coordinate::Angle { 1.0 } else { size };
            Some((drawn, value - drawn, ((value - drawn).largest() / unit).abs()))
        });
        let ways: Vec<_> = ways.collect();
        let far = ways.iter().flatten().map(|way| way.2).fold(0.0, crate::scalar::larger);
        let steps = (far / STEP).ceil();
        if !(2.0..=MOST_STEPS).contains(&steps) {
            return None;
        }
        let mut near = self.clone();
        near.set_coordinates(&ways, 0.0);
        if Projection::new(&near, time, size).opening() > CLOSED {
            return None;
        }
        for step in 1..steps as usize {
            near.set_coordinates(&ways, step as f64 / steps);
            near.arrange(time, size);
            let held = near.holding(|start| Some((start.value?, S::zero())));
            let mut projection = Projection::new(held.as_ref().unwrap_or(&near), time, size);
            let attitudes = positions(&mut projection, Origin::Motion).ok()?.attitudes;
            let places = projection.into_places();
            for ((body, place), attitude) in near.bodies.iter_mut().zip(places).zip(attitudes) {
                (body.position, body.attitude) = (place.x, attitude);
            }
        }
        near.starts.clone_from(&self.starts);
        near.joints.clone_from(&self.joints);
        for (body, drawn) in near.bodies.iter_mut().zip(&self.bodies) {
            // Velocities turn with the bodies.
            let turn = body.attitude.compose(&drawn.attitude.inverse());
            (body.velocity, body.omega_body) = (turn.rotate(&drawn.velocity), drawn.omega_body);
        }
        Some(near)
    }
    /// Sets coordinates this part of their ways from where they are drawn; drives hold them there.
    fn set_coordinates(&mut self, ways: &[Option<(S, S, f64)>], part: f64) {
        for (start, way) in self.starts.iter_mut().zip(ways) {
            let Some((drawn, way, _)) = way else { continue };
            let value = *drawn + *way * S::lift(part);
            (start.value, start.rate) = (Some(value), None);
            let drive = |joint: &&mut Joint<S>| joint.of == Some(start.joint) && joint.is_driven();
            if let Some(drive) = self.joints.iter_mut().find(drive).filter(|_| start.is_driven)
                && let Some(held) = start.held(drive, value, S::zero())
            {
                *drive = held;
            }
        }
    }
    /// Sees to it that no joint has closed with its frames opposed that were not drawn so.
    pub(super) fn none_is_reversed(
        &self,
        places: &[Place<S>],
        (time, size): (S, f64),
    ) -> Result<(), AssemblyError> {
        for joint in &self.joints {
            let drawn = joint.bodies().map(|body| self.place_of(body));
            let now = joint.bodies().map(|body| body.map_or_else(Place::ground, |b| places[b]));
            let is_reversed = |places: &[Place<S>; 2]| joint.is_reversed(time, places);
            let as_drawn = || is_reversed(&drawn) && joint.opening(time, drawn.each_ref(), size) <= CLOSED;
            if is_reversed(&now) && !as_drawn() {
                return Err(AssemblyError::Reversed { joint: joint.name.clone() });
            }
        }
        Ok(())
    }
}

impl<S: Real> Joint<S> {
    /// True if axes that it holds parallel point in opposite directions.
    fn is_reversed(&self, time: S, places: &[Place<S>; 2]) -> bool {
        use JointKind::{Cylindrical, Fixed, Planar, Prismatic, Revolute};
        let frames = self.frames(time, places.each_ref()).frames;
        let opposed = |axis: usize| frames.axis(0, axis).dot(&frames.axis(1, axis)).largest() < 0.0;
        match self.kind {
            Revolute | Cylindrical | Planar => opposed(2),
            Prismatic | Fixed => opposed(2) || opposed(0),
            _ => false,
        }
    }
}
