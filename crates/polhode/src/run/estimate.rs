//! How well the change of the potential that the motion at the start of a step predicts bounds the change of energy
//! that the step makes (Kasti, section 6b).

use crate::archive::kept;
use crate::body::Dynamics;
use crate::body::{Body, Load, State};
use crate::group::{Coordinates, Rotation};
use crate::scalar::larger;

/// One step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEstimate {
    /// The predicted change of the potential.
    pub potential: f64,
    /// The change of the energy.
    pub energy: f64,
}

/// What an [`EnergyEstimate`] has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Steps seen.
    pub steps: u64,
    /// The largest predicted change of the potential in a step, without sign.
    pub max_potential: f64,
    /// The largest change of the energy in a step, without sign.
    pub max_energy: f64,
    /// Steps in which the energy changed by no more than predicted, without signs.
    pub bounded: u64,
    /// Steps in which the energy grew by no more than predicted, with signs.
    pub bounded_signed: u64,
    /// The factor that makes the changes of energy from the predictions best, by least squares; `None` where all
    /// predictions are zero.
    pub ratio: Option<f64>,
    /// The largest predicted change T h²|Ω|²/4 of the kinetic energy T in a step: not small, and no bound.
    pub kinetic: f64,
}

/// Compares the change of energy in each step with the change of potential that the start of the step predicts.
///
/// The prediction is a Taylor series of the Euler parameters of the turn in a step h, with Ω and Ω' at its start:
/// p = (1, 0) + h (0, Ω/2) + h²/2 (-|Ω|²/4, Ω'/2), whose length is not quite one and stays so.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, RotaryInertia, TopGravity};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::{Method, Stepper};
/// use polhode::run::EnergyEstimate;
///
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)))?;
/// let top = Body::<f64, So3, _> { inertia, load: TopGravity { mgl: 20.0 } };
/// let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0));
/// let mut state = top.state(tilt, &Vector3::new(0.0, 0.0, 50.0));
/// let mut stepper = Stepper::<f64, So3>::new(&Method::parse("bbtrapwd")?);
/// let mut estimate = EnergyEstimate::new();
/// for n in 0..1000 {
///     let (t, h) = (1e-3 * n as f64, 1e-3);
///     let next = stepper.step(&top, &state, t, h)?;
///     estimate.observe(&top, &state, t, h, &next);
///     state = next;
/// }
/// let seen = estimate.report().unwrap();
/// assert_eq!((seen.steps, seen.bounded), (1000, 1000));
/// assert!(seen.max_energy < 1e-3 * seen.max_potential);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EnergyEstimate {
    seen: Estimate,
    /// Σ prediction · change and Σ prediction².
    product: f64,
    square: f64,
    without_potential: bool,
}

kept!(StepEstimate { potential, energy });
kept!(Estimate { steps, max_potential, max_energy, bounded, bounded_signed, ratio, kinetic });
kept!(EnergyEstimate { seen, product, square, without_potential });

impl EnergyEstimate {
    /// Nothing seen yet.
    pub fn new() -> Self {
        EnergyEstimate::default()
    }

    /// One step of size `h`, from `before` at time `t` to `after`; `None` where a load has no potential.
    pub fn observe<G: Dynamics, L: Load<f64>>(
        &mut self,
        body: &Body<f64, G, L>,
        before: &State<f64, G>,
        t: f64,
        h: f64,
        after: &State<f64, G>,
    ) -> Option<StepEstimate> {
        let (velocity, velocity_after) = (body.velocity(before), body.velocity(after));
        let predicted = predicted_potential(body, before, t, h);
        let potentials = body.potential_energy(before, t).zip(body.potential_energy(after, t + h));
        let Some((predicted, (start, end))) = predicted.zip(potentials) else {
            self.without_potential = true;
            return None;
        };
        // The mean velocity times the increment of momentum: a difference of kinetic energies would lose its digits.
        let kinetic = 0.5 * (velocity + velocity_after).inner(&(after.momentum - before.momentum));
        let change = kinetic + (end - start);
        let turning = G::angular(&velocity).norm_squared();
        let seen = &mut self.seen;
        seen.steps += 1;
        seen.max_potential = larger(seen.max_potential, predicted.abs());
        seen.max_energy = larger(seen.max_energy, change.abs());
        seen.bounded += u64::from(change.abs() <= predicted.abs());
        seen.bounded_signed += u64::from(change <= predicted);
        seen.kinetic = larger(seen.kinetic, body.kinetic_energy(before) * h * h * turning / 4.0);
        self.product += predicted * change;
        self.square += predicted * predicted;
        Some(StepEstimate { potential: predicted, energy: change })
    }

    /// True if all that was seen is finite.
    pub fn is_finite(&self) -> bool {
        let seen = [self.seen.max_potential, self.seen.max_energy, self.seen.kinetic];
        seen.iter().chain([&self.product, &self.square]).all(|x| x.is_finite())
    }

    /// What was seen; `None` where a load has no potential, or no step was seen.
    pub fn report(&self) -> Option<Estimate> {
        if self.without_potential || self.seen.steps == 0 {
            return None;
        }
        let ratio = (self.square > 0.0).then(|| self.product / self.square);
        Some(Estimate { ratio, ..self.seen })
    }
}

/// The change of the potential from the pose at `t` to the predicted one: the attitude R A(p), and the position of a
/// moving body by its own series.
fn predicted_potential<G: Dynamics, L: Load<f64>>(
    body: &Body<f64, G, L>,
    before: &State<f64, G>,
    t: f64,
    h: f64,
) -> Option<f64> {
    let velocity = body.velocity(before);
    let rate = G::velocity(&body.inertia, &body.momentum_rate(before, t));
    let (omega, acceleration) = (G::angular(&velocity), G::angular(&rate));
    let square = omega.norm_squared();
    let axis = omega * (0.5 * h) + acceleration * (0.25 * h * h);
    let turn = Rotation::from_q_wxyz([1.0 - h * h * square / 8.0, axis.x, axis.y, axis.z]);
    // |p|² - 1, multiplied out: its terms of second order cancel.
    let excess = h.powi(3) * omega.dot(&acceleration) / 4.0
        + h.powi(4) * (square * square / 64.0 + acceleration.norm_squared() / 16.0);
    let from = G::kinematics(t, &before.pose, &velocity).beginning();
    let linear = G::linear(&velocity);
    let shift = linear * h + (G::linear(&rate) + omega.cross(&linear)) * (0.5 * h * h);
    let pose = G::pose(&from.attitude.compose(&turn), &(from.position + from.attitude.rotate(&shift)));
    let to = G::kinematics(t, &pose, &velocity);
    let change = body.load.potential(&to)? - body.load.potential(&from)?;
    // A(p) is |p|² times a rotation, and the potential goes on beyond the rotations along its finite derivative.
    let slope = body.load.finite_derivative(&from, &to).base;
    Some(change + excess * slope.dot(&to.attitude.matrix()))
}
