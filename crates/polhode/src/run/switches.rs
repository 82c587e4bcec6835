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
        load.switches(&mut |time: S| times.push(time));
        Switches::at(times)
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
        let mut next = *state;
        self.each_piece(t, h, &mut |from, size| {
            next = stepper.step(body, &next, from, size)?;
            Ok(())
        })?;
        Ok(next)
    }
}

impl<S: Scalar> Switches<S> {
    /// At these times.
    pub(crate) fn at(mut times: Vec<S>) -> Self {
        times.retain(|time| time.is_finite());
        times.sort_by(|a, b| a.value().total_cmp(&b.value()));
        Switches { times }
    }
    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
    /// True if one of them lies where a step from `t` of size `h` begins.
    pub(crate) fn begins_at(&self, t: S, h: S) -> bool {
        self.times.iter().any(|switch| !edge(t, h).below((*switch - t).abs()))
    }
    /// True if one of them lies inside a step.
    pub(crate) fn cuts(&self, t: S, h: S) -> bool {
        self.times.iter().any(|switch| inside(*switch, t, t, h))
    }
    /// The pieces of a step that end at switches, each from where it begins and with its size.
    pub(crate) fn each_piece(
        &self,
        t: S,
        h: S,
        step: &mut dyn FnMut(S, S) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut from = t;
        let mut land = |from: &mut S, switch: S| {
            if inside(switch, *from, t, h) {
                step(*from, switch - *from)?;
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
        step(from, rest)
    }
}

/// True if a switch lies inside what is left, from `from` on, of a step from `t` of size `h`.
fn inside<S: Scalar>(switch: S, from: S, t: S, h: S) -> bool {
    // How far it lies from both ends, in the direction of time.
    let sign = S::lift(1.0f64.copysign(h.value()));
    let [passed, left] = [(switch - from) * sign, (t + h - switch) * sign];
    let edge = edge(from, h);
    edge.below(passed) && edge.below(left)
}
