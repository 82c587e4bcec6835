//! Why steps fail, as people read it.

use crate::lookup::plain;
use core::fmt;

/// Why a step could not be taken. The state of the last good step is untouched.
#[derive(Clone, Debug, PartialEq)]
pub enum StepError {
    /// Newton's method did not converge on any rung of the ladder.
    NotConverged {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// Iterations spent on this step.
        iterations: u64,
        /// Size of the last correction relative to the unknowns.
        residual: f64,
    },
    /// The lanes of a step go forward and backward in time.
    MixedLanes,
    /// The new state holds a number that is not finite.
    NotFinite {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
    },
    /// A quantity of the motion is not finite, though the motion itself is.
    Overflow {
        /// The quantity.
        quantity: String,
        /// Its time.
        t: f64,
    },
    /// The function of an event is not finite.
    NoEvent {
        /// The event.
        event: String,
        /// The time.
        t: f64,
    },
    /// An element of the system has no value on the way of a step.
    NoValue {
        /// The element, in words.
        element: String,
        /// The time.
        t: f64,
    },
    /// The method integrates given velocities, and the load of this body prescribes none.
    NoMotion,
    /// The method integrates systems of bodies and joints.
    NeedsSystem,
    /// A system has no consistent initial values, or the method does not apply to it.
    NoStart {
        /// Why.
        reason: String,
    },
    /// The derivatives of a step cannot be had.
    NoDerivative {
        /// Why.
        reason: String,
    },
    /// The Newton matrix of a system is singular.
    Singular {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// The joints whose rows depend on each other.
        joints: Vec<String>,
    },
    /// Joints that depend on each other allow no motion any more: they contradict each other, or the mechanism locks.
    Contradiction {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// The joint that is furthest from closed at the end of the step.
        joint: String,
        /// By how much, in m or rad.
        gap: f64,
    },
    /// A drive changes by far more than its rates at both ends of a step say.
    Jump {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// The joint that is driven.
        joint: String,
        /// The change, in m or rad.
        change: f64,
    },
    /// A joint has ended half a turn, or more, from the angle that it has to follow.
    Slip {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// The joint.
        joint: String,
        /// By how much, in rad.
        off: f64,
    },
    /// The step turns the body further than the parameters of its map can say.
    MapLimit {
        /// Time at the start of the step.
        t: f64,
        /// Step size.
        h: f64,
        /// The map.
        map: &'static str,
        /// The angle |hω| that the step asks for, the length of the parameters, in rad.
        angle: f64,
        /// What it must stay below.
        limit: f64,
    },
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConverged { t, h, iterations, residual } => {
                write!(f, "Newton's method did not converge in {} ", Step(*t, *h))?;
                match residual.is_finite() {
                    true => write!(f, "({iterations} iterations, last relative correction {residual:.1e})")?,
                    false => write!(f, "({iterations} iterations, the last one overflowed)")?,
                }
                write!(f, "; {}", advice(*h))
            }
            Self::NotFinite { t, h } if too_small(*h) => {
                write!(f, "{} has no finite result: {}", Step(*t, *h), advice(*h))
            }
            Self::NotFinite { t, h } => write!(
                f,
                "{} overflowed: the step is too large for this method or the data are too large for numbers; {}, or an \
                 implicit method if this one is explicit",
                Step(*t, *h),
                advice(*h)
            ),
            Self::MixedLanes => {
                write!(
                    f,
                    "some lanes step forward and some backward in time; step those in lanes of their own"
                )
            }
            Self::Overflow { quantity, t } => write!(
                f,
                "{quantity} overflowed at t = {}: the step is too large for this method, or the data are too large for \
                 numbers; try a smaller step, or an implicit method if this one is explicit",
                plain(*t)
            ),
            Self::NoEvent { event, t } => write!(
                f,
                "the event '{event}' has no value at t = {}: a division by zero, a root or an angle of what has none; write \
                 `when` so that it has one in every state",
                plain(*t)
            ),
            Self::NoValue { element, t } => write!(
                f,
                "{element} has no value at t = {}: a division by zero, or a root, a logarithm or an angle of what has none; \
                 write it so that it has one in every state, or try a smaller step if the motion does not go there",
                plain(*t)
            ),
            Self::NoMotion => write!(
                f,
                "a kinematic method integrates the velocities of a prescribed motion, and this body has none; use \
                 prescribed-motion or prescribed-rotation, or a method of dynamics"
            ),
            Self::NoStart { reason } | Self::NoDerivative { reason } => f.write_str(reason),
            Self::NeedsSystem => write!(
                f,
                "this method integrates systems of bodies and joints: pose the body as a system of one (multibody::System)"
            ),
            Self::Singular { t, h, joints } => {
                write!(f, "the equations of {} are singular", Step(*t, *h))?;
                let names: Vec<String> = joints.iter().map(|j| format!("'{j}'")).collect();
                match names.as_slice() {
                    [] => {}
                    [one] => {
                        write!(f, ": the rows of the joint {one} depend on each other in this position")?
                    }
                    many => write!(
                        f,
                        ": the rows of the joints {} depend on each other in this position, as where links stretch out into \
                         a line, or the motion has become unstable",
                        many.join(", ")
                    )?,
                }
                write!(f, "; {}", advice(*h))
            }
            Self::Contradiction { t, h, joint, gap } => write!(
                f,
                "the joints contradict each other at the end of {}: no position fits them all, and '{joint}' is off by {gap:.1e} \
                 (m or rad); the mechanism locks there, or a drive asks for what the other joints forbid",
                Step(*t, *h)
            ),
            Self::Jump { t, h, joint, change } => write!(
                f,
                "the drive of the joint '{joint}' changes by {change:.3e} (m or rad) in {}, which its rates at both ends do not \
                 account for: it jumps there, and bodies do not, or the step is far too long for it; let the drive be smooth, \
                 or try a smaller step",
                Step(*t, *h)
            ),
            Self::Slip { t, h, joint, off } => write!(
                f,
                "the joint '{joint}' ended {} by {off:.3} rad away from the angle that it has to follow: the step turns it too far \
                 to tell one turn from another; {}",
                Step(*t, *h),
                advice(*h)
            ),
            Self::MapLimit { t, h, map, angle, limit } => {
                write!(
                    f,
                    "{} has |h ω| = {} rad, and the {map} map goes up to {limit:.4}; at this velocity try a step below {}",
                    Step(*t, *h),
                    if *angle < 1e4 { format!("{angle:.4}") } else { format!("{angle:.3e}") },
                    // Two digits, rounded down.
                    plain(rounded_down(h.abs() * limit / angle))
                )?;
                let wide: Vec<&str> = WIDE_MAPS
                    .iter()
                    .filter(|(_, end)| *end > *limit && angle < end)
                    .map(|(name, _)| *name)
                    .collect();
                write!(f, ", or a method with the map {}", wide.join(" or "))
            }
        }
    }
}

/// The maps that go furthest, and how far: what to try where another one ends.
pub(crate) const WIDE_MAPS: [(&str, f64); 2] =
    [("wiener-milenkovic", core::f64::consts::TAU), ("exp", f64::INFINITY)];

/// A step, by its time and size, in messages.
struct Step(f64, f64);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the step from t = {} with h = {}", plain(self.0), plain(self.1))
    }
}

/// True if the square of a step is zero.
fn too_small(h: f64) -> bool {
    h * h < f64::MIN_POSITIVE
}

/// What to do about a step of this size that failed.
fn advice(h: f64) -> &'static str {
    if too_small(h) { "the step is too small for numbers, try a larger one" } else { "try a smaller step" }
}

/// A positive number with two digits, no larger than `x`.
fn rounded_down(x: f64) -> f64 {
    let unit = 10f64.powi(x.log10().floor() as i32 - 1);
    let text = format!("{:e}", (x / unit).floor() * unit);
    text.parse::<f64>().map_or(x, |y| format!("{y:.2e}").parse().unwrap_or(y))
}

impl StepError {
    /// True if the equations of a step could not be solved: another step, or other equations for the same motion, may be.
    pub fn is_of_solver(&self) -> bool {
        matches!(self, Self::NotConverged { .. } | Self::NotFinite { .. } | Self::Singular { .. })
    }
    /// True if the angle of a step is beyond all bounds: it is not too long, the iteration went astray.
    pub(crate) fn is_astray(&self) -> bool {
        matches!(self, Self::MapLimit { angle, limit, .. } if *angle > 100.0 * limit)
    }
    /// The same, unless the iteration went astray.
    pub(crate) fn unless_astray(self, iterations: u64) -> Self {
        match self {
            Self::MapLimit { t, h, .. } if self.is_astray() => {
                Self::NotConverged { t, h, iterations, residual: f64::INFINITY }
            }
            error => error,
        }
    }
    /// The same failure, told of the step from `t` with `h`.
    pub(crate) fn of_step(mut self, time: f64, step: f64) -> Self {
        match &mut self {
            Self::NotConverged { t, h, .. }
            | Self::NotFinite { t, h }
            | Self::Singular { t, h, .. }
            | Self::Contradiction { t, h, .. }
            | Self::Jump { t, h, .. }
            | Self::Slip { t, h, .. }
            | Self::MapLimit { t, h, .. } => (*t, *h) = (time, step),
            Self::NoMotion
            | Self::NeedsSystem
            | Self::MixedLanes
            | Self::Overflow { .. }
            | Self::NoEvent { .. }
            | Self::NoValue { .. }
            | Self::NoStart { .. }
            | Self::NoDerivative { .. } => {}
        }
        self
    }
}

impl std::error::Error for StepError {}
