//! Consistent initial values: positions and velocities that the joints allow, nearest in the sense of the masses to those
//! given, and the accelerations and multipliers that belong to them.

use super::joint::{MOST_ROWS, Place, zero};
use super::layout::Layout;
use super::state::{BodyMotion, CoordinateState};
use super::system::System;
use super::tape::{Matrix, Places, Sink};
use super::workspace::loads;
use crate::group::{Exponential, Group, So3};
use crate::scalar::{Real, larger};
use crate::solve::FactorError;
use core::fmt;
use nalgebra::Vector3;

/// What it took to make the initial values consistent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// How far the body that moved most was moved, in m, and which it is.
    pub moved: Option<(String, f64)>,
    /// How far the body that turned most was turned, in rad, and which it is.
    pub turned: Option<(String, f64)>,
    /// The largest change of a velocity in m/s.
    pub velocity: f64,
    /// The largest change of an angular velocity in rad/s.
    pub omega: f64,
    /// Newton iterations.
    pub iterations: u64,
}

/// Why there are no consistent initial values.
#[derive(Clone, Debug, PartialEq)]
pub enum AssemblyError {
    /// The rows of these joints depend on each other.
    Dependent {
        /// The joints.
        joints: Vec<String>,
    },
    /// The joint is open.
    Open {
        /// The joint that is furthest from closed.
        joint: String,
        /// By how much, in m (or rad).
        gap: f64,
    },
    /// No positions nearby close all joints.
    NotClosed {
        /// The joint that is furthest from closed.
        joint: String,
        /// By how much it is still open, in m (or rad).
        gap: f64,
    },
    /// The equations for the initial values cannot be solved to the digits they need.
    IllConditioned {
        /// What is left of them, relative to their right-hand side.
        residual: f64,
    },
    /// The joints or the loads give numbers that are not finite.
    NotFinite,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependent { joints } => {
                let names: Vec<String> = joints.iter().map(|j| format!("'{j}'")).collect();
                match names.as_slice() {
                    [] => {
                        write!(f, "joints forbid the same motion more than once, or masses differ too much")?
                    }
                    [one] => write!(f, "the joint {one} forbids what is forbidden already")?,
                    many => {
                        write!(f, "the joints {} forbid the same motion more than once", many.join(", "))?
                    }
                }
                write!(
                    f,
                    ", so their reactions are not determined; remove one or choose one that allows more"
                )
            }
            Self::Open { joint, gap } => write!(
                f,
                "the initial positions do not fit the joint '{joint}': it is open by {gap:.3e} m (or rad); move its \
                 bodies, or let them be assembled"
            ),
            Self::NotClosed { joint, gap } => write!(
                f,
                "the joints contradict each other: no positions near the given ones close them all, '{joint}' is still \
                 open by {gap:.3e} m (or rad)"
            ),
            Self::IllConditioned { residual } => write!(
                f,
                "the equations for the initial values are too ill-conditioned to solve (relative residual {residual:.1e}): \
                 masses or lengths of the system differ by too many orders of magnitude, or joints nearly depend on each other"
            ),
            Self::NotFinite => write!(f, "the initial values give numbers that are not finite"),
        }
    }
}

impl std::error::Error for AssemblyError {}

/// Joints closed this well, relative to the size of the system, count as closed; what is left is taken out silently.
const CLOSED: f64 = 1e-8;
/// What may be left of the right-hand side of a linear system, relative to it.
const SOLVED: f64 = 1e-9;
const MOST_ITERATIONS: u64 = 40;

/// Consistent initial values of all kinds.
pub(super) struct Initial<S: Real> {
    pub(super) bodies: Vec<BodyMotion<S>>,
    pub(super) extra: Vec<CoordinateState<S>>,
    pub(super) lambda: Vec<S>,
    pub(super) report: Assembly,
}

/// [M Bᵀ; B 0] and what it is solved for.
struct Projection<'a, S: Real> {
    system: &'a System<S>,
    layout: Layout,
    matrix: Option<Matrix<S>>,
    places: Vec<Place<S>>,
    /// A typical mass, which forces and multipliers are divided by.
    mass: S,
    /// Right-hand side, then solution.
    x: Vec<S>,
}

impl<S: Real> Projection<'_, S> {
    fn write(&self, sink: &mut impl Sink<S>) {
        let mut rows = [[zero(); 4]; MOST_ROWS];
        for (b, body) in self.system.bodies.iter().enumerate() {
            sink.diagonal(6 * b, 6 * b, body.mass / self.mass);
            sink.block(6 * b + 3, 6 * b + 3, &(body.inertia.matrix() / self.mass));
        }
        for (joint, start) in self.system.joints.iter().zip(&self.layout.joints) {
            let bodies = joint.bodies();
            joint.jacobian(S::zero(), self.ends(bodies).each_ref(), &mut rows);
            for (k, row) in rows[..joint.kind.rows()].iter().enumerate() {
                for (block, slope) in row.iter().enumerate() {
                    let Some(body) = bodies[block / 2] else { continue };
                    for i in 0..3 {
                        if joint.touches(k, block, i) {
                            let column = 6 * body + 3 * (block % 2) + i;
                            sink.add(start + k, column, slope[i]);
                            sink.add(column, start + k, slope[i]);
                        }
                    }
                }
            }
        }
        for (extra, start) in self.system.extra.iter().zip(&self.layout.extra) {
            for i in 0..extra.len() {
                for j in 0..extra.len() {
                    sink.add(start + i, start + j, extra.mass[i * extra.len() + j] / self.mass);
                }
            }
        }
    }
    fn ends(&self, bodies: [Option<usize>; 2]) -> [Place<S>; 2] {
        bodies.map(|body| body.map_or(Place::ground(), |b| self.places[b]))
    }
    fn factor(&mut self) -> Result<(), AssemblyError> {
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => {
                let mut places = Places::default();
                self.write(&mut places);
                Matrix::new(self.layout.n, places, &self.layout.blocks)
            }
        };
        self.write(&mut matrix.rewrite());
        let done = matrix.factor();
        self.matrix = Some(matrix);
        done.map_err(|error| match error {
            FactorError::Singular { null, .. } => {
                AssemblyError::Dependent { joints: self.layout.named(self.system, &null) }
            }
            FactorError::NotFinite { .. } | FactorError::Count { .. } => AssemblyError::NotFinite,
        })
    }
    /// Solves for what stands on the right-hand side, and sees that it is solved.
    fn solve(&mut self) -> Result<(), AssemblyError> {
        match self.matrix.as_mut().map_or(f64::NAN, |matrix| matrix.refined(&mut self.x)) {
            residual if residual < SOLVED => Ok(()),
            residual if residual.is_finite() => Err(AssemblyError::IllConditioned { residual }),
            _ => Err(AssemblyError::NotFinite),
        }
    }
    fn part(&self, at: usize) -> Vector3<S> {
        Vector3::new(self.x[at], self.x[at + 1], self.x[at + 2])
    }
    /// Writes -f of each joint into the right-hand side. The entry that is largest relative to the size of the system, or
    /// to one if it is an angle: its joint, the entry, and their ratio.
    fn rows(
        &mut self,
        size: f64,
        f: impl Fn(&super::Joint<S>, [&Place<S>; 2], &mut [S]),
    ) -> (usize, f64, f64) {
        self.x.fill(S::zero());
        let mut worst = (0, 0.0, 0.0);
        for (j, joint) in self.system.joints.iter().enumerate() {
            let mut out = [S::zero(); MOST_ROWS];
            f(joint, self.ends(joint.bodies()).each_ref(), &mut out);
            for (k, value) in out[..joint.kind.rows()].iter().enumerate() {
                self.x[self.layout.joints[j] + k] = -*value;
                let gap = value.abs().largest();
                let relative = if joint.is_angle(k) { gap } else { gap / size };
                // What is not a number counts as the largest of all: nothing is larger.
                if relative > worst.2 || relative.is_nan() {
                    worst = (j, gap, relative);
                }
            }
        }
        worst
    }
}

/// Makes initial values at a time consistent. Positions that are far from it are an error unless they may be moved.
pub(super) fn initial<S: Real>(
    system: &System<S>,
    time: S,
    may_move: bool,
) -> Result<Initial<S>, AssemblyError> {
    let layout = Layout::new(system, false);
    let n = layout.n;
    let places = system.bodies.iter().map(|body| Place {
        x: body.position,
        r: body.attitude.matrix(),
        v: body.velocity,
        omega: body.omega_body,
    });
    let mut projection = Projection {
        system,
        layout,
        matrix: None,
        places: places.collect(),
        mass: system.typical_mass(),
        x: vec![S::zero(); n],
    };
    let mut attitudes: Vec<_> = system.bodies.iter().map(|body| body.attitude).collect();
    let mut report = Assembly::default();
    let points = system.joints.iter().flat_map(|j| &j.ends).map(|end| end.point.dot(&end.point).largest());
    let spread = system.bodies.iter().map(|b| b.position.dot(&b.position).largest());
    let size = points.chain(spread).fold(0.0, larger).sqrt().max(f64::MIN_POSITIVE);

    // Positions: Newton's method with the masses as the metric.
    let constraint =
        |joint: &super::Joint<S>, places: [&Place<S>; 2], out: &mut [S]| joint.constraint(time, places, out);
    let (mut before, mut derivatives) = (f64::INFINITY, S::DEPTH);
    projection.factor()?;
    loop {
        let (worst, gap, open) = projection.rows(size, constraint);
        if !gap.is_finite() {
            return Err(AssemblyError::NotFinite);
        }
        let name = || system.joints[worst].name.clone();
        if report.iterations == 0 && open > CLOSED && !may_move {
            return Err(AssemblyError::Open { joint: name(), gap });
        }
        // At the rounding of the positions no iteration helps; derivatives take one more for each depth of theirs.
        let closed = open <= 4.0 * f64::EPSILON && (gap == 0.0 || report.iterations > 0);
        if closed || (open < 1e-13 && open >= 0.5 * before) {
            if derivatives == 0 {
                break;
            }
            derivatives -= 1;
        }
        if report.iterations >= MOST_ITERATIONS {
            return Err(AssemblyError::NotClosed { joint: name(), gap });
        }
        before = open;
        projection.factor()?;
        projection.solve()?;
        for (b, attitude) in attitudes.iter_mut().enumerate() {
            let (xi, theta) = (projection.part(6 * b), projection.part(6 * b + 3));
            *attitude = attitude.advance(&So3::increment(Exponential, &theta)).normalized();
            projection.places[b].x += xi;
            projection.places[b].r = attitude.matrix();
        }
        report.iterations += 1;
    }
    for (b, body) in system.bodies.iter().enumerate() {
        let moved = (projection.places[b].x - body.position).map(Real::largest).norm();
        let turned =
            body.attitude.inverse().compose(&attitudes[b]).rotation_vector().map(Real::largest).norm();
        let more = |known: &mut Option<(String, f64)>, new: f64, least: f64| {
            if new > known.as_ref().map_or(least, |k| k.1) {
                *known = Some((body.name.clone(), new));
            }
        };
        more(&mut report.moved, moved, CLOSED * size);
        more(&mut report.turned, turned, CLOSED);
    }

    // Velocities.
    projection.factor()?;
    projection.rows(size, |joint, places, out| joint.rates(time, places, out, &mut [S::zero(); MOST_ROWS]));
    projection.solve()?;
    for b in 0..system.bodies.len() {
        let (xi, theta) = (projection.part(6 * b), projection.part(6 * b + 3));
        projection.places[b].v += xi;
        projection.places[b].omega += theta;
        report.velocity = larger(report.velocity, xi.map(Real::largest).norm());
        report.omega = larger(report.omega, theta.map(Real::largest).norm());
    }

    // Accelerations and multipliers.
    projection.rows(size, |joint, places, out| joint.rates(time, places, &mut [S::zero(); MOST_ROWS], out));
    // Loads that switch at this time are those from it on.
    let beginning = (1e-12 * time.largest().abs()).max(f64::MIN_POSITIVE);
    for (b, body) in system.bodies.iter().enumerate() {
        let place = projection.places[b];
        let [force, moment] = loads(body, (time, beginning), &attitudes[b], &place);
        let inertia = body.inertia.matrix();
        let moment = moment - place.omega.cross(&(inertia * place.omega));
        let force = force + system.gravity * body.mass;
        for i in 0..3 {
            projection.x[6 * b + i] += force[i] / projection.mass;
            projection.x[6 * b + 3 + i] += moment[i] / projection.mass;
        }
    }
    for force in &system.forces {
        let bodies = force.bodies();
        let wrenches = force.wrenches(time, projection.ends(bodies).each_ref());
        for (wrench, body) in wrenches.chunks(2).zip(bodies) {
            if let Some(body) = body {
                for (x, w) in projection.x[6 * body..].iter_mut().zip(wrench.iter().flatten()) {
                    *x += *w / projection.mass;
                }
            }
        }
    }
    for (extra, start) in system.extra.iter().zip(&projection.layout.extra) {
        let (_, cos) = (extra.frequency * time + extra.phase).sin_cos();
        for i in 0..extra.len() {
            let mut force = extra.force[i] + extra.amplitude[i] * cos;
            for j in 0..extra.len() {
                let at = i * extra.len() + j;
                force -= extra.damping[at] * extra.velocity[j] + extra.stiffness[at] * extra.position[j];
            }
            projection.x[start + i] = force / projection.mass;
        }
    }
    projection.solve()?;
    if !projection.x.iter().all(|x| crate::scalar::Mask::all(x.is_finite())) {
        return Err(AssemblyError::NotFinite);
    }
    let bodies = (0..system.bodies.len()).map(|b| {
        let (place, attitude) = (&projection.places[b], attitudes[b]);
        let (acceleration, rate) = (projection.part(6 * b), projection.part(6 * b + 3));
        BodyMotion {
            position: place.x,
            velocity: place.v,
            acceleration,
            attitude,
            omega_body: place.omega,
            omega_rate: rate,
            algorithmic: acceleration,
            algorithmic_rate: rate,
            carried: [zero(); 2],
            parameters: zero(),
            reference: attitude,
        }
    });
    let mut lambda = vec![S::zero(); projection.layout.rows];
    for (j, joint) in system.joints.iter().enumerate() {
        let (start, first) = (projection.layout.joints[j], projection.layout.multipliers[j]);
        let count = joint.kind.rows();
        for (lambda, x) in lambda[first..first + count].iter_mut().zip(&projection.x[start..]) {
            *lambda = *x * projection.mass;
        }
    }
    let extra = system.extra.iter().zip(&projection.layout.extra).map(|(extra, start)| {
        let acceleration = projection.x[*start..start + extra.len()].to_vec();
        CoordinateState {
            position: extra.position.clone(),
            velocity: extra.velocity.clone(),
            algorithmic: acceleration.clone(),
            carried: vec![S::zero(); extra.len()],
            acceleration,
        }
    });
    Ok(Initial { bodies: bodies.collect(), extra: extra.collect(), lambda, report })
}
