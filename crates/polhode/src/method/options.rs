//! The options of a method: what may follow its id as `,name=value`.

use super::alpha::Chart;
use super::convected::Stop;
use super::galpha::Alpha;
use super::intrinsic::StepLoad;
use super::kinematic::StepVelocity;
use super::named::MethodError;
use super::newmark::{Balance, StartMoment};
use super::registry::Substep;
use super::schemes::AnyScheme;
use super::structured::SystemScheme;
use super::tableau::Tableau;
use crate::group::{Map, MapKind, Reading, Vectorial};
use crate::lookup::nearest;

/// An option of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// The words that it takes; none for an option that is a number.
    pub words: &'static [&'static str],
    /// The range of a number, ends included.
    pub range: Option<[f64; 2]>,
    /// What holds if it is not given.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

impl Choice {
    /// What it takes, in words: `0 to 1`, or `dual, hom4, twist`.
    pub fn span(&self) -> String {
        let short = |x: f64| if x != 0.0 && x.abs() < 1e-4 { format!("{x:e}") } else { x.to_string() };
        match self.range {
            Some([low, high]) => format!("{} to {}", short(low), short(high)),
            None => self.words.join(", "),
        }
    }
}

/// What the axial part of motion parameters means.
pub(super) const READING: Choice = Choice {
    name: "reading",
    words: &["dual", "hom4", "twist"],
    range: None,
    default: "dual",
    help: "motion parameters on SE(3): as a function of the 6x6 matrix (dual), of the 4x4 matrix (hom4), or a multiple \
           of the logarithm (twist); all the same on SO(3) and for exp",
};
/// The load of a step.
pub(super) const LOAD: Choice = Choice {
    name: "load",
    words: &["midpoint", "mean", "finite-derivative"],
    range: None,
    default: "midpoint",
    help: "load of the step: at half the motion and half time (midpoint), the mean of the loads at both ends in space \
           (mean), or by the finite derivative of the potential, which keeps the energy under any potential \
           (finite-derivative; the mean for loads without one); all keep the vertical momentum of a heavy top, and \
           midpoint with euler-rodrigues and mean with cayley its energy too",
};
/// The velocity of a kinematic step.
pub(super) const VELOCITY: Choice = Choice {
    name: "velocity",
    words: &["mean", "midpoint"],
    range: None,
    default: "mean",
    help: "velocity of the step: the mean of those at both ends (mean), or that at half time (midpoint)",
};
/// Numerical damping.
pub(super) const RHO: Choice = Choice {
    name: "rho",
    words: &[],
    range: Some([0.0, 1.0]),
    default: "0.8",
    help: "spectral radius at infinite frequency: 1 damps nothing, 0 ends high frequencies in one step",
};

/// The weight of the moment at the end of a step.
pub(super) const ALPHA: Choice = Choice {
    name: "alpha",
    words: &[],
    range: Some([0.0, 1.0]),
    default: "1/2",
    help: "weight of the moment at the end of the step in the balance of momentum; order 1 unless it is 1/2",
};
/// Newmark's β.
pub(super) const BETA: Choice = Choice {
    name: "beta",
    words: &[],
    range: Some([0.01, 1.0]),
    default: "1/4",
    help: "Newmark's weight of the acceleration at the end of the step in the parameters; 1/6 is the more accurate one on tops",
};
/// Newmark's γ.
pub(super) const GAMMA: Choice = Choice {
    name: "gamma",
    words: &[],
    range: Some([0.01, 1.0]),
    default: "1/2",
    help: "Newmark's weight of the acceleration at the end of the step in the rates of the parameters; below 1/2 the \
           scheme is unstable where it carries its acceleration, unless gamma = 2 beta, which needs none",
};
/// The equation at the end of a step.
pub(super) const BALANCE: Choice = Choice {
    name: "residual",
    words: &["momentum", "collocated"],
    range: None,
    default: "momentum",
    help: "what the step satisfies: the balance of momentum over it (momentum), or the equation of motion at its end \
           (collocated), which keeps nothing and has order 1 unless gamma is 1/2",
};
/// The acceleration at the start of a step.
pub(super) const MOMENT: Choice = Choice {
    name: "moment",
    words: &["continuous", "jump"],
    range: None,
    default: "continuous",
    help: "acceleration at the start of the step: that of the end of the step before (continuous), or from the \
           equation of motion (jump), for moments that jump between steps; the same where gamma = 2 beta",
};

/// When an iteration stops.
pub(super) const STOP: Choice = Choice {
    name: "stop",
    words: &["converged", "after", "before"],
    range: None,
    default: "converged",
    help: "when the iteration of a step stops: at round-off (converged), or by the norm of the residual as in the \
           paper: after the update that follows a small one (after, table 1 as written), or before it (before)",
};
/// Where it stops.
pub(super) const TOLERANCE: Choice = Choice {
    name: "tolerance",
    words: &[],
    range: Some([1e-16, 1.0]),
    default: "1e-8",
    help: "the norm of the residual that is small, for stop=after and stop=before; as in the paper of numbers as they are, \
           base vectors without a unit and momenta in kg m^2/s (and m, kg m/s), so that it depends on the units of the model",
};

/// Numerical damping of the forms for systems.
pub(super) const SYSTEM_RHO: Choice = Choice {
    help: "spectral radius at infinite frequency: 0 ends high frequencies in one step, 1 damps nothing, and then the \
           multipliers of constraints=index3 grow without bound; use constraints=stabilized with it",
    ..RHO
};
/// α_m of the forms for systems.
pub(super) const ALPHA_M: Choice = Choice {
    name: "alpha_m",
    words: &[],
    range: Some([-1.0, 0.9]),
    default: "1/3",
    help: "weight of the acceleration at the start of the step, in place of rho; 0 if only alpha_f is given (Hilber, \
           Hughes & Taylor; with alpha_f = 0 too, Newmark)",
};
/// α_f of the forms for systems.
pub(super) const ALPHA_F: Choice = Choice {
    name: "alpha_f",
    words: &[],
    range: Some([0.0, 0.9]),
    default: "4/9",
    help: "weight of the other forces at the start of the step, in place of rho; 0 if only alpha_m is given",
};
/// β of the forms for systems.
pub(super) const NEWMARK_BETA: Choice = Choice {
    name: "beta",
    words: &[],
    range: Some([0.01, 2.0]),
    default: "(gamma + 1/2)^2/4",
    help: "Newmark's weight of the acceleration at the end of the step in the positions, in place of rho",
};
/// γ of the forms for systems.
pub(super) const NEWMARK_GAMMA: Choice = Choice {
    name: "gamma",
    words: &[],
    range: Some([0.01, 2.0]),
    default: "1/2 + alpha_f - alpha_m",
    help: "Newmark's weight of the acceleration at the end of the step in the velocities, in place of rho; order 1 \
           unless it has its default",
};
/// What the end of a step satisfies.
pub(super) const CONSTRAINTS: Choice = Choice {
    name: "constraints",
    words: &["index3", "stabilized"],
    range: None,
    default: "index3",
    help: "what the joints hold at the end of a step: positions (index3), or positions and velocities (stabilized, with \
           Gear, Gupta & Leimkuhler's multipliers)",
};
/// The same of a step that keeps the energy.
pub(super) const JOINTS: Choice = Choice {
    name: "constraints",
    words: &["stabilized", "index3"],
    range: None,
    default: "stabilized",
    help: "what the joints hold at the end of a step: positions and velocities (stabilized), or positions alone (index3)",
};
/// How much of a stiff vibration a step takes away.
pub(super) const CHI: Choice = Choice {
    name: "chi",
    words: &[],
    range: Some([0.0, 1.0]),
    default: "1",
    help: "how fast vibrations that are too fast for the step decay: by (1 - chi)/(1 + chi) in each step",
};
/// The map of a discrete Lagrangian.
pub(super) const LAGRANGIAN_MAP: Choice = Choice {
    name: "map",
    words: &["exp", "cayley"],
    range: None,
    default: "exp",
    help: "the rotation of a step: exponential (exp), which is exact for a rotor, or Cayley's (cayley)",
};
/// The parameters of a parameterized form.
pub(super) const MAP: Choice = Choice {
    name: "map",
    words: &["exp", "euler-rodrigues", "cayley", "wiener-milenkovic"],
    range: None,
    default: "wiener-milenkovic",
    help: "parameters of the rotation: rotation vector (exp), Euler-Rodrigues, Cayley-Gibbs-Rodrigues, or the conformal \
           rotation vector of the paper (wiener-milenkovic)",
};
/// Where they start.
pub(super) const CHART: Choice = Choice {
    name: "chart",
    words: &["incremental", "rescaled"],
    range: None,
    default: "incremental",
    help: "parameters of the rotation since the start of the step (incremental), or since the start of the run, \
           replaced by those of the turn the other way round beyond half a turn (rescaled; wiener-milenkovic or exp)",
};

/// Sets an option of a part; `None` if the part does not take the value.
fn apply(part: &mut Substep, choice: &Choice, value: &str) -> Option<()> {
    match (choice.name, part) {
        ("reading", part) => part.map()?.reading = Reading::ALL.into_iter().find(|r| r.name() == value)?,
        ("load", Substep::Implicit(AnyScheme::Preserving(scheme))) => {
            scheme.load = StepLoad::ALL.into_iter().find(|l| l.name() == value)?
        }
        ("velocity", Substep::Kinematic(_, velocity)) => {
            *velocity = StepVelocity::ALL.into_iter().find(|v| v.name() == value)?;
        }
        ("alpha", Substep::Implicit(AnyScheme::Newmark(newmark))) => newmark.alpha = number(choice, value)?,
        ("beta", Substep::Implicit(AnyScheme::Newmark(newmark))) => newmark.beta = number(choice, value)?,
        ("gamma", Substep::Implicit(AnyScheme::Newmark(newmark))) => newmark.gamma = number(choice, value)?,
        ("residual", Substep::Implicit(AnyScheme::Newmark(newmark))) => {
            newmark.balance = Balance::ALL.into_iter().find(|b| b.name() == value)?
        }
        ("moment", Substep::Implicit(AnyScheme::Newmark(newmark))) => {
            newmark.moment = StartMoment::ALL.into_iter().find(|m| m.name() == value)?
        }
        ("stop", Substep::Implicit(AnyScheme::Convected(scheme))) => {
            scheme.stopping.rule = Stop::ALL.into_iter().find(|s| s.name() == value)?
        }
        ("tolerance", Substep::Implicit(AnyScheme::Convected(scheme))) => {
            scheme.stopping.tolerance = number(choice, value)?
        }
        ("constraints", Substep::System(SystemScheme::Conserving(scheme))) => {
            scheme.stabilized = one_of(choice, value)? == "stabilized";
        }
        ("chi", Substep::System(SystemScheme::Conserving(scheme))) => {
            scheme.decay = Some(number(choice, value)?);
        }
        ("map", Substep::System(SystemScheme::Variational(scheme))) => {
            scheme.map = match one_of(choice, value)? {
                "cayley" => MapKind::Cayley,
                _ => MapKind::Exponential,
            }
        }
        (name, Substep::System(SystemScheme::Alpha(scheme))) => {
            match name {
                "rho" => scheme.given.rho = Some(number(choice, value)?),
                "alpha_m" => scheme.given.m = Some(number(choice, value)?),
                "alpha_f" => scheme.given.f = Some(number(choice, value)?),
                "beta" => scheme.given.beta = Some(number(choice, value)?),
                "gamma" => scheme.given.gamma = Some(number(choice, value)?),
                "constraints" => scheme.stabilized = one_of(choice, value)? == "stabilized",
                "map" => {
                    let named = |kind: &MapKind| Vectorial::from(*kind).name() == value;
                    scheme.map = MapKind::ALL.into_iter().find(named)?;
                }
                "chart" => {
                    scheme.chart = match one_of(choice, value)? {
                        "rescaled" => Chart::Rescaled,
                        _ => Chart::Incremental,
                    }
                }
                _ => return None,
            }
            scheme.settle();
        }
        ("rho", Substep::Implicit(AnyScheme::Galpha(scheme))) => {
            scheme.alpha = Alpha::from_rho(number(choice, value)?)
        }
        _ => return None,
    }
    Some(())
}

/// A word of the option.
fn one_of<'a>(choice: &Choice, value: &'a str) -> Option<&'a str> {
    choice.words.contains(&value).then_some(value)
}

/// A number or fraction in the range of the option.
fn number(choice: &Choice, value: &str) -> Option<f64> {
    let [low, high] = choice.range?;
    Tableau::entry(value).ok().filter(|x| (low..=high).contains(x))
}

/// Sets the options of a method: `name=value`, or the value alone where it is a word.
pub(super) fn set(
    id: &str,
    choices: &'static [Choice],
    parts: &mut [(Substep, f64)],
    given: &str,
) -> Result<(), MethodError> {
    if choices.is_empty() {
        return Err(MethodError::Option { id: id.into(), reason: "it has no options".into() });
    }
    let mut seen: Vec<&str> = Vec::new();
    for text in given.split(',').map(str::trim) {
        let wrong = |reason: String| MethodError::Option { id: id.into(), reason };
        let by_word = |c: &&Choice| c.words.contains(&text);
        let values = |choice: &Choice| match choice.range {
            Some(_) => format!("a number from {}", choice.span()),
            None => choice.span().replace(", ", " or "),
        };
        let (choice, value) = match text.split_once('=') {
            Some((name, value)) => (choices.iter().find(|c| c.name == name.trim()), value.trim()),
            None => (choices.iter().find(by_word), text),
        };
        if let Some(bare) = choices.iter().find(|c| c.name == text) {
            return Err(wrong(format!("{text} needs a value: {text}={}", values(bare).replace(" or ", "|"))));
        }
        if choice.is_none() && text.is_empty() {
            return Err(wrong("an option is missing after the comma".into()));
        }
        let Some(choice) = choice else {
            let name = text.split('=').next().unwrap_or(text).trim();
            let near = nearest(name, choices.iter().map(|c| c.name));
            let near = if near.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", near.join(" or "))
            };
            let all: Vec<&str> = choices.iter().map(|c| c.name).collect();
            return Err(wrong(format!("it has no option '{name}'{near} (it has {})", all.join(", "))));
        };
        if seen.contains(&choice.name) {
            return Err(wrong(format!("the option '{}' is given twice", choice.name)));
        }
        seen.push(choice.name);
        for (part, _) in parts.iter_mut() {
            apply(part, choice, value)
                .ok_or_else(|| wrong(format!("{} must be {}, got '{value}'", choice.name, values(choice))))?;
        }
    }
    match parts.iter().find_map(|(part, _)| part.conflict()) {
        Some(reason) => Err(MethodError::Option { id: id.into(), reason: reason.into() }),
        None => Ok(()),
    }
}
