//! A run as the places that it passes, and how far two runs with different steps are apart.

use super::Watch;
use crate::group::Rotation;
use crate::method::Method;
use crate::multibody::{Rigid, System};
use crate::run::{BodySnapshot, Plan, Snapshot, begin, drive};
use core::ops::ControlFlow;
use nalgebra::Vector3;
use std::sync::Arc;
use std::time::Instant;

/// The most samples of a run: what changes between them is seen by the next ones too.
const SAMPLES: u64 = 1024;

/// A displacement below this part of the size of the bodies and of their distance from the origin of space is rounding,
/// and no motion.
const STILL: f64 = 1e-9;

/// How large the bodies of a system are: their largest radius of gyration.
pub(super) fn extent(system: &System<f64>) -> f64 {
    let radius = |body: &Rigid<f64>| (body.inertia.matrix().trace() / body.mass).sqrt();
    system.bodies().iter().map(radius).filter(|radius| radius.is_finite()).fold(0.0, f64::max)
}

/// The largest acceleration at the start: of rotations in rad/s², of positions relative to a size.
pub(super) fn acceleration(system: &Arc<System<f64>>, method: &Method, size: Option<f64>) -> f64 {
    let Ok(run) = begin(system, method) else { return 0.0 };
    let of_body = |body: &BodySnapshot| {
        let linear = body.moving.zip(size).map_or(0.0, |(moving, size)| moving.acceleration.norm() / size);
        body.omega_rate.norm().max(linear)
    };
    run.snapshot().bodies.iter().map(of_body).fold(0.0, f64::max)
}

/// Where all is at one time.
#[derive(Debug)]
struct Place {
    /// The attitudes of all bodies, and the positions of those that have one.
    poses: Vec<Pose>,
    /// The extra coordinates.
    extra: Vec<Vec<f64>>,
}
type Pose = (Rotation<f64>, Option<Vector3<f64>>);

impl Place {
    fn of(snapshot: &Snapshot) -> Self {
        let pose = |body: &BodySnapshot| (body.attitude, body.moving.map(|moving| moving.position));
        let extra = snapshot.coordinates.iter().map(|[positions, _]| positions.clone());
        Place { poses: snapshot.bodies.iter().map(pose).collect(), extra: extra.collect() }
    }
}

/// How fast it moves there: angular velocities, and the rates of the extra coordinates.
#[derive(Debug)]
struct Speed {
    omegas: Vec<Vector3<f64>>,
    extra: Vec<Vec<f64>>,
}

impl Speed {
    fn of(snapshot: &Snapshot) -> Self {
        Speed {
            omegas: snapshot.bodies.iter().map(|body| body.omega_body).collect(),
            extra: snapshot.coordinates.iter().map(|[_, rates]| rates.clone()).collect(),
        }
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}
/// A part of the whole, of which there may be nothing.
fn relative(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The places of one run.
#[derive(Debug)]
pub(super) struct Motion {
    /// Steps between two samples, a power of two: samples of a run are among those of the run with twice the steps.
    stride: u64,
    samples: Vec<Place>,
    /// The speeds at the samples.
    speeds: Vec<Speed>,
    end: Place,
    pub(super) seconds: f64,
}

/// Why there is no motion.
#[derive(Clone, Debug)]
pub(super) enum NoMotion {
    /// The run failed.
    Failed(String),
    /// It was stopped from outside.
    Stopped,
    /// It lasted too long.
    TooLong,
}

/// How far two motions are apart, in rad or relative to the size of the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gap {
    /// The largest along the run, its end among it.
    pub(super) along: f64,
    /// At the end.
    pub(super) end: f64,
}

impl Motion {
    /// Runs the system with so many steps, for at most so long.
    pub(super) fn of(
        system: &Arc<System<f64>>,
        method: &Method,
        until: f64,
        steps: u64,
        limit: Instant,
        watch: &mut Watch<'_>,
    ) -> Result<Motion, NoMotion> {
        let failed = |error: &dyn core::fmt::Display| NoMotion::Failed(error.to_string());
        let plan = Plan::new(until / steps as f64, until).map_err(|error| failed(&error))?;
        let mut run = begin(system, method).map_err(|error| failed(&error))?;
        let mut stride = 1;
        while steps / stride > SAMPLES {
            stride *= 2;
        }
        let (mut samples, mut speeds, mut why) = (Vec::new(), Vec::new(), None);
        let started = Instant::now();
        let ended = drive(&mut *run, &plan, &mut |n, run| {
            if n.is_multiple_of(stride) {
                let now = run.snapshot();
                samples.push(Place::of(&now));
                speeds.push(Speed::of(&now));
            }
            if watch(n, steps).is_break() {
                why = Some(NoMotion::Stopped);
            } else if n.is_multiple_of(256) && Instant::now() > limit {
                why = Some(NoMotion::TooLong);
            }
            if why.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let seconds = started.elapsed().as_secs_f64();
        match (why, ended) {
            (Some(why), _) => Err(why),
            (None, Err(error)) => Err(failed(&error)),
            (None, Ok(end)) => Ok(Motion { stride, samples, speeds, end: Place::of(&end.last), seconds }),
        }
    }

    /// The largest distance of a body from its start, if any moves.
    pub(super) fn size(&self, extent: f64) -> Option<f64> {
        let (mut size, mut distance) = (0.0f64, extent);
        let start = self.samples.first()?;
        for place in self.samples.iter().chain([&self.end]) {
            for ((_, now), (_, start)) in place.poses.iter().zip(&start.poses) {
                if let (Some(now), Some(start)) = (now, start) {
                    size = size.max((now - start).norm());
                    distance = distance.max(now.norm());
                }
            }
        }
        (size > STILL * distance).then_some(size)
    }

    /// How far the angular velocities of a run are from those of this one, which has `ratio` times its steps, relative to
    /// the largest of them.
    pub(super) fn speed_gap(&self, coarse: &Motion, ratio: u64) -> f64 {
        let pairs = || self.speeds.iter().step_by(self.every(coarse, ratio)).zip(&coarse.speeds);
        let omegas = self.speeds.iter().flat_map(|speed| &speed.omegas);
        let largest = omegas.map(|omega| omega.norm()).fold(0.0, f64::max);
        let apart = pairs().flat_map(|(a, b)| a.omegas.iter().zip(&b.omegas));
        let bodies = relative(apart.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max), largest);
        let coordinates = |which: usize| {
            let largest = self.speeds.iter().map(|speed| length(&speed.extra[which])).fold(0.0, f64::max);
            let apart = pairs().map(|(a, b)| distance(&a.extra[which], &b.extra[which]));
            relative(apart.fold(0.0, f64::max), largest)
        };
        (0..self.end.extra.len()).map(coordinates).fold(bodies, f64::max)
    }

    /// How far each of the extra coordinates gets from its start; zero where that is rounding.
    fn travels(&self) -> Vec<f64> {
        let Some(start) = self.samples.first() else { return Vec::new() };
        let travel = |(which, start): (usize, &Vec<f64>)| {
            let places = || self.samples.iter().chain([&self.end]).map(|place| &place.extra[which]);
            let travel = places().map(|now| distance(now, start)).fold(0.0, f64::max);
            let size = places().map(|now| length(now)).fold(0.0, f64::max);
            if travel > STILL * size { travel } else { 0.0 }
        };
        start.extra.iter().enumerate().map(travel).collect()
    }

    /// Samples of a coarser run lie so many samples of this one apart.
    fn every(&self, coarse: &Motion, ratio: u64) -> usize {
        ((ratio * coarse.stride / self.stride) as usize).max(1)
    }

    /// How far a run is from this one, which has `ratio` times its steps, a power of two. Positions are relative to a size, extra
    /// coordinates to how far they get.
    pub(super) fn gap(&self, coarse: &Motion, ratio: u64, size: Option<f64>) -> Gap {
        let travels = self.travels();
        let between = |a: &Place, b: &Place| {
            let body = |((r, x), (s, y)): (&Pose, &Pose)| {
                // The distance is twice the sine of half the angle.
                let angle = 2.0 * (0.5 * r.distance(s)).clamp(0.0, 1.0).asin();
                let moved = x.zip(*y).zip(size).map_or(0.0, |((x, y), size)| (x - y).norm() / size);
                angle.max(moved)
            };
            let bodies = a.poses.iter().zip(&b.poses).map(body).fold(0.0, f64::max);
            let extra = a.extra.iter().zip(&b.extra).zip(&travels);
            extra.map(|((a, b), travel)| relative(distance(a, b), *travel)).fold(bodies, f64::max)
        };
        let end = between(&self.end, &coarse.end);
        let pairs = self.samples.iter().step_by(self.every(coarse, ratio)).zip(&coarse.samples);
        Gap { along: pairs.map(|(a, b)| between(a, b)).fold(end, f64::max), end }
    }
}
