//! Steps that land on the times at which a load switches.

use crate::body::{Body, Load, State, edge};
use crate::method::{Stepper, Steps};
use crate::scalar::Scalar;
use crate::solve::StepError;

/// The times at which a load switches. A step with some of them inside is taken in pieces that end at them, so that a
/// method keeps its order and the impulse of the load is exact.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::body::{Body, Frame, Moment, RotaryInertia, Switched};
/// use polhode::group::{Rotation, So3};
/// use polhode::method::{Method, Stepper};
/// use polhode::run::Switches;
///
/// let thrust = Moment { frame: Frame::Body, value: Vector3::new(0.0, 0.0, 2.0) };
/// let inertia = RotaryInertia::about_fixed_point(Matrix3::identity())?;
/// let body = Body::<f64, So3, _> { inertia, load: Switched { load: thrust, on: 0.03, off: 0.23 } };
/// let mut state = body.state(Rotation::identity(), &Vector3::zeros());
/// let (mut stepper, switches) = (Stepper::<f64, So3>::new(&Method::parse("mkrk:rk4")?), Switches::of(&body.load));
/// for n in 0..3 {
///     state = switches.step(&mut stepper, &body, &state, 0.1 * f64::from(n), 0.1)?;
/// }
/// // 2 N m for 0.2 s.
/// assert!((state.momentum.z - 0.4).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Switches<S> {
    /// In order.
    times: Vec<S>,
}

impl<S: Scalar> Switches<S> {
    /// Those of a load.
    pub fn of<L: Load<S>>(load: &L) -> Self {
        let mut times = Vec::new();
        load.switches(&mut |time: S| {
            if time.is_finite() {
                times.push(time);
            }
        });
        times.sort_by(|a, b| a.value().total_cmp(&b.value()));
        Switches { times }
    }

    /// One step, in pieces where the load switches inside it. An error speaks of the whole step, and leaves `state` to be
    /// gone on from.
    #[inline]
    pub fn step<G: Steps<S>, L: Load<S>>(
        &self,
        stepper: &mut Stepper<S, G>,
        body: &Body<S, G, L>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError> {
        if self.times.is_empty() {
            return stepper.step(body, state, t, h);
        }
        self.pieces(stepper, body, state, t, h).map_err(|error| error.of_step(t.value(), h.value()))
    }

    fn pieces<G: Steps<S>, L: Load<S>>(
        &self,
        stepper: &mut Stepper<S, G>,
        body: &Body<S, G, L>,
        state: &State<S, G>,
        t: S,
        h: S,
    ) -> Result<State<S, G>, StepError> {
        let (mut from, mut next) = (t, *state);
        let mut land = |from: &mut S, switch: S| {
            // How far it lies from both ends of what is left of the step, in the direction of time.
            let sign = S::lift(1.0f64.copysign(h.value()));
            let [passed, left] = [(switch - *from) * sign, (t + h - switch) * sign];
            let edge = edge(*from, h);
            if edge.below(passed) && edge.below(left) {
                next = stepper.step(body, &next, *from, switch - *from)?;
                *from = switch;
            }
            Ok(())
        };
        if h.value() > 0.0 {
            self.times.iter().try_for_each(|switch| land(&mut from, *switch))?;
        } else {
            self.times.iter().rev().try_for_each(|switch| land(&mut from, *switch))?;
        }
        // Not t + h - from where nothing was cut off: the step keeps its bits.
        let rest = if from == t { h } else { t + h - from };
        stepper.step(body, &next, from, rest)
    }
}
