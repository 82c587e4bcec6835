//! The three forms of the generalized-alpha method of Brüls & Eberhard 2008: which one, its weights and its charts. The step
//! itself is in [`crate::multibody`].

use super::galpha::Alpha;
use super::options::{
    ALPHA_F, ALPHA_M, CHART, CHI, CONSTRAINTS, Choice, JOINTS, LAGRANGIAN_MAP, MAP, NEWMARK_BETA,
    NEWMARK_GAMMA, SYSTEM_RHO,
};
use super::registry::{Claims, Row, Substep};
use super::structured::{ConservingScheme, SystemScheme, VariationalScheme};
use crate::group::MapKind;

/// Where the average of two times is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Accelerations of the group are averaged; the rotation of a step is an exponential (Algorithm 4).
    Geometric,
    /// Accelerations of the parameters are averaged (Algorithm 3).
    Linear,
    /// Forces are averaged (Algorithm 2).
    Residual,
}

/// How a parameterized form stays away from the singularities of its map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chart {
    /// Every step has parameters of its own, which start at zero, eqs (91) to (95).
    #[default]
    Incremental,
    /// The parameters go on, and are replaced by those of the turn the other way round beyond π, eq. (39).
    Rescaled,
}

/// A form of the method with all its choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaScheme {
    /// The form.
    pub form: Form,
    /// α_m, α_f, β and γ.
    pub weights: Alpha,
    /// The parameters of a parameterized form.
    pub map: MapKind,
    /// Where they start.
    pub chart: Chart,
    /// True if the velocities satisfy the constraints too (stabilized index 2), false for index 3.
    pub stabilized: bool,
    /// The weights that were given one by one.
    pub(super) given: ExplicitWeights,
}

/// Weights given one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ExplicitWeights {
    pub(super) rho: Option<f64>,
    pub(super) m: Option<f64>,
    pub(super) f: Option<f64>,
    pub(super) beta: Option<f64>,
    pub(super) gamma: Option<f64>,
}

impl Default for AlphaScheme {
    fn default() -> Self {
        AlphaScheme::new(Form::Geometric)
    }
}

impl AlphaScheme {
    const fn new(form: Form) -> Self {
        AlphaScheme {
            form,
            weights: Alpha::from_rho(0.8),
            map: MapKind::WienerMilenkovic,
            chart: Chart::Incremental,
            stabilized: false,
            given: ExplicitWeights { rho: None, m: None, f: None, beta: None, gamma: None },
        }
    }
    /// The weights that follow from those given: α is zero where only the other is given, γ is that of second order, and β
    /// the one that damps best with γ, eq. (114).
    pub(super) fn settle(&mut self) {
        let ExplicitWeights { rho, m, f, beta, gamma } = self.given;
        if let Some(rho) = rho {
            self.weights = Alpha::from_rho(rho);
        } else if [m, f, beta, gamma].iter().any(Option::is_some) {
            let optimal = Alpha::optimal(m.unwrap_or(0.0), f.unwrap_or(0.0));
            let gamma = gamma.unwrap_or(optimal.gamma);
            let best = 0.25 * (gamma + 0.5) * (gamma + 0.5);
            self.weights = Alpha { beta: beta.unwrap_or(best), gamma, ..optimal };
        }
    }
    /// What cannot go together, in words.
    pub(super) fn conflict(&self) -> Option<&'static str> {
        let ExplicitWeights { rho, m, f, beta, gamma } = self.given;
        if rho.is_some() && [m, f, beta, gamma].iter().any(Option::is_some) {
            return Some("rho determines alpha_m, alpha_f, beta and gamma; give it or them, not both");
        }
        if self.chart == Chart::Rescaled && matches!(self.map, MapKind::Cayley | MapKind::EulerRodrigues) {
            return Some(
                "a rescaled chart passes half a turn, which cayley and euler-rodrigues cannot; use wiener-milenkovic or exp",
            );
        }
        None
    }
    /// Second order needs γ = 1/2 + α_f - α_m, eq. (122); the residual form has first order where the mass matrix of its
    /// parameters is not constant.
    pub(super) fn order(&self) -> u32 {
        let Alpha { m, f, gamma, .. } = self.weights;
        match self.form {
            Form::Residual => 1,
            _ if (gamma - (0.5 + f - m)).abs() < 1e-12 => 2,
            _ => 1,
        }
    }
}

/// The options of the geometric form.
const GEOMETRIC: &[Choice] = &[SYSTEM_RHO, ALPHA_M, ALPHA_F, NEWMARK_BETA, NEWMARK_GAMMA, CONSTRAINTS];
/// And of the parameterized ones.
const PARAMETERIZED: &[Choice] =
    &[SYSTEM_RHO, ALPHA_M, ALPHA_F, NEWMARK_BETA, NEWMARK_GAMMA, CONSTRAINTS, MAP, CHART];

/// The methods for systems of bodies and joints. They run rotations about a fixed point too, as bodies on a joint.
pub static SYSTEMS: &[Row] = &[
    Row {
        id: "geometric-alpha",
        title: "generalized-alpha on the group, geometric form",
        order: 2,
        symmetric: false,
        claims: Claims::NONE,
        citation: "Brüls & Eberhard 2008, Algorithm 4, eqs 102 to 105",
        options: GEOMETRIC,
        parts: &[(Substep::System(SystemScheme::Alpha(AlphaScheme::new(Form::Geometric))), 1.0)],
    },
    Row {
        id: "linear-alpha",
        title: "generalized-alpha in parameters of the rotation, linear form",
        order: 2,
        symmetric: false,
        claims: Claims::NONE,
        citation: "Brüls & Eberhard 2008, Algorithm 3, eqs 78, 88, 91 to 94",
        options: PARAMETERIZED,
        parts: &[(Substep::System(SystemScheme::Alpha(AlphaScheme::new(Form::Linear))), 1.0)],
    },
    Row {
        id: "residual-alpha",
        title: "generalized-alpha in parameters of the rotation, residual form",
        order: 1,
        symmetric: false,
        claims: Claims::NONE,
        citation: "Brüls & Eberhard 2008, Algorithm 2, eqs 78, 79, 91 to 95",
        options: PARAMETERIZED,
        parts: &[(Substep::System(SystemScheme::Alpha(AlphaScheme::new(Form::Residual))), 1.0)],
    },
    Row {
        id: "conserving",
        title: "finite derivatives in convected base vectors, with joints",
        order: 2,
        symmetric: true,
        claims: Claims::BOTH.under_any_potential(),
        citation: "Krenk & Nielsen 2013, eq. 21; Gonzalez 1999",
        options: &[JOINTS],
        parts: &[(Substep::System(SystemScheme::Conserving(ConservingScheme::STABILIZED)), 1.0)],
    },
    Row {
        id: "decaying",
        title: "a conserving step with dampers of third order, and a jump of velocities",
        order: 2,
        symmetric: false,
        claims: Claims::BOTH,
        citation: "Krenk & Nielsen 2013, eq. 21; Gonzalez 1999",
        options: &[CHI],
        parts: &[(Substep::System(SystemScheme::Conserving(ConservingScheme::DECAYING)), 1.0)],
    },
    Row {
        id: "variational",
        title: "a discrete Lagrangian on the group with joints (RATTLE)",
        order: 2,
        symmetric: true,
        claims: Claims::MOMENTUM,
        citation: "Andersen 1983",
        options: &[LAGRANGIAN_MAP],
        parts: &[(
            Substep::System(SystemScheme::Variational(VariationalScheme { map: MapKind::Exponential })),
            1.0,
        )],
    },
];
