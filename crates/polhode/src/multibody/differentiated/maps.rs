//! The linear maps of one body in one step, the same for all parameters.
//!
//! The change of a pose at the end of the step is y = {ξ, θ} with θ = R_incᵀ W_ref + T φ' in body axes (eqs 96, 108). It is
//! written as that of the prediction, ŷ, with the transported reference r = R_incᵀ W_ref and the derivative d of the
//! predicted parameters, and a rest that is as small as an acceleration times h², so that rounding is: S Δ = -(the
//! derivative of the equations at ŷ), with the Newton matrix S; there u' = 0. What is multiplied with the same vector is one
//! matrix, made once for all parameters.

use super::super::matrix::exponential_inverse;
use super::super::place::zero;
use super::super::workspace::{Stepping, Weights};
use super::Variant;
use super::variation::{BodyVariation, times};
use crate::group::{Exponential, Tangent, spin};
use crate::method::{Chart, Form};
use crate::scalar::Lane;
use nalgebra::{Matrix3, Vector3};

/// From geometric derivatives to those of the parameters at the start of the step, where the chart does not start at zero
/// for them.
#[derive(Clone, Copy, Debug)]
struct Charted {
    /// T_nᵀ and T_n⁻¹.
    transposed: Matrix3<f64>,
    inverse: Matrix3<f64>,
    /// k_T(φ̇), k_T(a), k_T(φ̈).
    by_rate: Matrix3<f64>,
    by_algorithmic: Matrix3<f64>,
    by_acceleration: Matrix3<f64>,
    /// The derivatives of Ṫ φ̇ by φ and φ̇.
    turning: [Matrix3<f64>; 2],
    /// k_G(G_α).
    by_carried: Matrix3<f64>,
    /// The derivative of T_n (p - u) of the stabilized form by φ.
    tied: Matrix3<f64>,
}

/// What the chart makes of derivatives at the end of the step.
#[derive(Clone, Copy, Debug)]
struct Parameterized {
    /// k_T(φ̇).
    by_rate: Matrix3<f64>,
    /// Of Ω̇ and A by φ.
    by_acceleration: Matrix3<f64>,
    by_algorithmic: Matrix3<f64>,
    /// Of Ṫ φ̇ by φ̇.
    turning: Matrix3<f64>,
    /// The derivative of the moment equation by φ.
    by_parameters: Matrix3<f64>,
    /// T⁻ᵀ of the residual form.
    covector: Matrix3<f64>,
    /// Of g_α by φ', the rest of the body's equations held.
    carrying: Matrix3<f64>,
}

/// All of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maps {
    charted: Option<Charted>,
    /// R_incᵀ.
    back: Matrix3<f64>,
    /// T and T⁻¹.
    tangent: Matrix3<f64>,
    inverse: Matrix3<f64>,
    /// The derivative of the moment equation by φ̇, and that of the joints' moments by the attitude.
    by_rates: Matrix3<f64>,
    pub(super) by_turn: Matrix3<f64>,
    parameterized: Option<Parameterized>,
    /// What a variant for study adds to the Newton matrix.
    pub(super) added: Option<Matrix3<f64>>,
}

/// The weights of a step in the order in which derivatives need them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    h: f64,
    /// What a and w at the start add to position and velocity, eqs (78), (88).
    position: [f64; 2],
    velocity: [f64; 2],
    /// What a and w at the start and w at the end add to a at the end.
    algorithmic: [f64; 3],
    /// What f_a and the old g_α add to the new one, the equations held.
    carried: [f64; 2],
    pub(super) form: Form,
    pub(super) chart: Chart,
    pub(super) stabilized: bool,
    /// True if elements see velocities.
    pub(super) moving: bool,
}

impl Rule {
    pub(super) fn new(stepping: &Stepping<'_, f64>, moving: bool) -> Self {
        let (h, scheme, weights) = (stepping.h, &stepping.work.scheme, &stepping.weights);
        let alpha = &scheme.weights;
        // Those of the new a, if it is not simply w.
        let part = match scheme.form {
            Form::Residual => [0.0; 3],
            _ => [-alpha.m, alpha.f, 1.0 - alpha.f].map(|x| x / (1.0 - alpha.m)),
        };
        let (position, velocity) = (h * h * alpha.beta, h * alpha.gamma);
        let kept = alpha.f / weights.complementary;
        Rule {
            h,
            position: [h * h * (0.5 - alpha.beta) + position * part[0], position * part[1]],
            velocity: [h * (1.0 - alpha.gamma) + velocity * part[0], velocity * part[1]],
            algorithmic: part,
            carried: [alpha.m - weights.inertial * kept, -kept],
            form: scheme.form,
            chart: scheme.chart,
            stabilized: scheme.stabilized,
            moving: moving || scheme.stabilized,
        }
    }
    /// What the step adds to a coordinate by its prediction, and the predicted velocity.
    #[inline(always)]
    pub(super) fn predicted<L, X>(&self, v: X, a: X, w: X) -> (X, X)
    where
        L: Lane,
        X: Copy + core::ops::Mul<L, Output = X> + core::ops::Add<Output = X>,
    {
        let (change, velocity) =
            (v * L::of(self.h) + a * L::of(self.position[0]), v + a * L::of(self.velocity[0]));
        match self.form {
            Form::Residual => (change, velocity),
            _ => (change + w * L::of(self.position[1]), velocity + w * L::of(self.velocity[1])),
        }
    }
    /// The algorithmic acceleration at the end of the step.
    #[inline(always)]
    pub(super) fn algorithmic<L, X>(&self, a: X, before: X, w: X) -> X
    where
        L: Lane,
        X: Copy + core::ops::Mul<L, Output = X> + core::ops::Add<Output = X>,
    {
        let [by_a, by_before, by_w] = self.algorithmic.map(L::of);
        match self.form {
            Form::Residual => w,
            _ => a * by_a + before * by_before + w * by_w,
        }
    }
    /// g_α at the end of the step, from f_a and g_α at its start.
    #[inline(always)]
    pub(super) fn carry<L: Lane>(&self, inertial: L, carried: L) -> L {
        inertial * L::of(self.carried[0]) + carried * L::of(self.carried[1])
    }
}

/// The derivatives of a body's prediction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicted<L> {
    pub(super) position: Vector3<L>,
    pub(super) velocity: Vector3<L>,
    pub(super) turn: Vector3<L>,
    parameters: Vector3<L>,
    parameters_rate: Vector3<L>,
    /// That of a at the end without what w at the end adds.
    known: Vector3<L>,
    /// T⁻ᵀ g_α'.
    carried: Vector3<L>,
    /// The derivative of T_n (p - u) that the chart makes.
    pub(super) tied: Vector3<L>,
    pub(super) omega: Vector3<L>,
}

impl<L: Lane> Predicted<L> {
    pub(super) fn none() -> Self {
        let o = zero();
        Predicted {
            position: o,
            velocity: o,
            turn: o,
            parameters: o,
            parameters_rate: o,
            known: o,
            carried: o,
            tied: o,
            omega: o,
        }
    }
}

impl Charted {
    fn new(stepping: &Stepping<'_, f64>, b: usize) -> Self {
        let (moving, step) = (&stepping.bodies[b], &stepping.work.steps[b]);
        let ([rate, a, w], _) = stepping.chart(moving);
        let tangent = Tangent::new(stepping.work.map(), &moving.parameters);
        Charted {
            transposed: tangent.matrix().transpose(),
            inverse: tangent.inverse(),
            by_rate: tangent.k_t(&rate),
            by_algorithmic: tangent.k_t(&a),
            by_acceleration: tangent.k_t(&w),
            turning: [tangent.rate_by_parameters(&rate), tangent.rate_by_velocity(&rate)],
            by_carried: tangent.k_g(&moving.carried[1]),
            tied: tangent.k_t(&(step.moved[1] - step.change[1])),
        }
    }
}

impl Maps {
    pub(super) fn none() -> Self {
        let o = Matrix3::zeros();
        Maps {
            charted: None,
            back: o,
            tangent: o,
            inverse: o,
            by_rates: o,
            by_turn: o,
            parameterized: None,
            added: None,
        }
    }

    /// Of a step that is solved, with Ω's slopes as the matrix was written.
    pub(super) fn new(
        stepping: &Stepping<'_, f64>,
        b: usize,
        weights: &Weights<f64>,
        rule: &Rule,
        variant: Variant,
    ) -> Self {
        let scheme = &stepping.work.scheme;
        let (body, now, step) = (&stepping.system.bodies[b], &stepping.work.now[b], &stepping.work.steps[b]);
        let (moving, inertia) = (&stepping.bodies[b], body.inertia.matrix());
        let omega = &now.place.omega;
        let gyroscopic = (spin(omega) * inertia - spin(&(inertia * omega))) * weights.complementary;
        let charted = (scheme.chart == Chart::Rescaled || variant == Variant::ReferenceFree)
            .then(|| Charted::new(stepping, b));
        let mut maps = Maps {
            charted,
            back: now.place.r.tr_mul(&moving.reference.matrix()),
            tangent: Matrix3::identity(),
            inverse: Matrix3::identity(),
            by_rates: gyroscopic * weights.scale,
            by_turn: Matrix3::zeros(),
            parameterized: None,
            added: None,
        };
        let Some(tangent) = &now.tangent else {
            maps.tangent = Tangent::new(Exponential, &now.parameters).matrix();
            maps.inverse = exponential_inverse(&now.parameters);
            return maps;
        };
        let ([_, a, before], _) = stepping.chart(moving);
        let along = stepping.algorithmic(a, before, now.parameters_acceleration);
        let turning = tangent.rate_by_velocity(&now.parameters_rate);
        let by_parameters = tangent.rate_by_parameters(&now.parameters_rate);
        let inertial = tangent.k_t(&now.parameters_acceleration);
        let by_rate = tangent.k_t(&now.parameters_rate);
        (maps.tangent, maps.inverse) = (tangent.matrix(), tangent.inverse());
        maps.by_rates =
            (gyroscopic * maps.tangent + inertia * turning * weights.complementary) * weights.scale;
        let forces = inertia * (inertial * weights.inertial + by_parameters * weights.complementary);
        let mut parameterized = Parameterized {
            by_rate,
            by_acceleration: inertial + by_parameters,
            by_algorithmic: tangent.k_t(&along) + by_parameters,
            turning,
            by_parameters: forces + gyroscopic * by_rate,
            covector: Matrix3::zeros(),
            carrying: Matrix3::zeros(),
        };
        if scheme.form == Form::Residual {
            let covector = maps.inverse.transpose();
            let by_covector = covector * tangent.k_g(&(covector * step.carried));
            parameterized.covector = covector;
            parameterized.by_parameters -= by_covector;
            parameterized.carrying = inertia * inertial * rule.carried[0] - by_covector * rule.carried[1];
            if variant == Variant::WithoutKg {
                // k_t without k_G(F_a + F_c) keeps (α_f - α_m) k_G(F_a).
                let forces = tangent.k_g(&stepping.inertial(b)[1]);
                let kept = covector * forces * (scheme.weights.f - scheme.weights.m);
                let added = kept + by_covector;
                parameterized.by_parameters += added;
                maps.added = Some(added * maps.inverse);
                parameterized.carrying += added * rule.carried[1] - kept;
            }
        }
        parameterized.by_parameters *= weights.scale;
        maps.parameterized = Some(parameterized);
        maps
    }

    /// The derivative of the prediction, and of the moment equation of the body there, without loads and forces.
    #[inline(always)]
    pub(super) fn predict<L: Lane>(
        &self,
        rule: &Rule,
        body: &BodyVariation<L>,
        scale: f64,
        out: &mut Predicted<L>,
    ) -> Vector3<L> {
        let (change, velocity) = rule.predicted::<L, _>(body.velocity, body.algorithmic, body.acceleration);
        (out.position, out.velocity) = (body.position + change, velocity);
        let (mut reference, mut rate) = (body.turn, body.omega);
        let mut rates = [body.algorithmic_rate, body.omega_rate];
        let mut start = None;
        if let Some(chart) = &self.charted {
            let from = match rule.chart {
                Chart::Rescaled => {
                    reference = body.reference;
                    body.parameters
                }
                // The reference keeps still, and the parameters change from zero.
                Chart::Incremental => core::mem::replace(&mut reference, zero()),
            };
            rate = times(&chart.inverse, &(rate - times(&chart.by_rate, &from)));
            let turning = times(&chart.turning[0], &from) + times(&chart.turning[1], &rate);
            let back =
                |x: Vector3<L>, by: &Matrix3<f64>| times(&chart.inverse, &(x - turning - times(by, &from)));
            rates = [back(rates[0], &chart.by_algorithmic), back(rates[1], &chart.by_acceleration)];
            out.tied = times(&chart.tied, &from);
            start = Some(from);
        }
        let (mut parameters, parameters_rate) = rule.predicted::<L, _>(rate, rates[0], rates[1]);
        if let Some(start) = start {
            parameters += start;
        }
        if rule.form != Form::Residual {
            let [by_a, by_w, _] = rule.algorithmic.map(L::of);
            out.known = rates[0] * by_a + rates[1] * by_w;
        }
        let mut moment = times(&self.by_rates, &parameters_rate);
        if rule.moving {
            out.omega = parameters_rate;
        }
        if let Some(by) = &self.parameterized {
            moment += times(&by.by_parameters, &parameters);
            if rule.moving {
                out.omega = times(&self.tangent, &parameters_rate) + times(&by.by_rate, &parameters);
            }
            if rule.form == Form::Residual {
                let mut carried = body.carried[1];
                if let (Some(chart), Some(start)) = (&self.charted, &start) {
                    carried = times(&chart.transposed, &carried) + times(&chart.by_carried, start);
                }
                out.carried = times(&by.covector, &carried);
                moment += out.carried * L::of(scale);
            }
        }
        out.turn = times(&self.back, &reference) + times(&self.tangent, &parameters);
        (out.parameters, out.parameters_rate) = (parameters, parameters_rate);
        moment + times(&self.by_turn, &out.turn)
    }

    /// The derivatives at the end of the step, without what the parameters alone add to g_α: the pose changes by `pose` less
    /// than predicted, and u by what belongs to `motion`, which is the same unless the form is stabilized.
    #[inline(always)]
    pub(super) fn finish<L: Lane>(
        &self,
        rule: &Rule,
        weights: &Weights<f64>,
        (mass, inertia): (f64, &Matrix3<f64>),
        (predicted, before): (&Predicted<L>, &BodyVariation<L>),
        [pose, motion]: [[Vector3<L>; 2]; 2],
        after: &mut BodyVariation<L>,
    ) {
        let (by_velocity, by_acceleration) = (L::of(weights.velocity), L::of(-weights.acceleration));
        let acceleration = motion[0] * by_acceleration;
        after.position = predicted.position - pose[0];
        after.velocity = predicted.velocity - motion[0] * by_velocity;
        after.algorithmic = rule.algorithmic::<L, _>(before.algorithmic, before.acceleration, acceleration);
        after.acceleration = acceleration;
        after.turn = predicted.turn - pose[1];
        let moved = times(&self.inverse, &pose[1]);
        let turned = if rule.stabilized { times(&self.inverse, &motion[1]) } else { moved };
        let rate = predicted.parameters_rate - turned * by_velocity;
        let along = |known: Vector3<L>, second: Vector3<L>| known + second * L::of(rule.algorithmic[2]);
        let Some(by) = &self.parameterized else {
            let second = turned * by_acceleration;
            (after.omega, after.omega_rate) = (rate, second);
            after.algorithmic_rate = along(predicted.known, second);
            if rule.chart == Chart::Rescaled {
                (after.parameters, after.reference) = (predicted.parameters - moved, before.reference);
            }
            return;
        };
        let parameters = predicted.parameters - moved;
        // T T⁻¹ is one.
        let second = motion[1] * by_acceleration;
        let turning = times(&by.turning, &rate);
        after.omega = times(&self.tangent, &rate) + times(&by.by_rate, &parameters);
        after.omega_rate = second + times(&by.by_acceleration, &parameters) + turning;
        if rule.form == Form::Residual {
            after.algorithmic_rate = after.omega_rate;
            let force = acceleration * L::of(mass);
            let moment = times(inertia, &second);
            after.carried[0] = force.zip_map(&before.carried[0], |f, g| rule.carry(f, g));
            after.carried[1] = moment.zip_map(&predicted.carried, |f, g| rule.carry(f, g))
                + times(&by.carrying, &parameters);
        } else {
            let known = times(&self.tangent, &predicted.known);
            after.algorithmic_rate = along(known, second) + times(&by.by_algorithmic, &parameters) + turning;
        }
        if rule.chart == Chart::Rescaled {
            (after.parameters, after.reference) = (parameters, before.reference);
        }
    }

    /// φ' of other parameters for the same attitude.
    pub(super) fn rescaled<L: Lane>(&self, tangent: &Tangent<f64>, parameters: &Vector3<L>) -> Vector3<L> {
        times(&tangent.inverse(), &times(&self.tangent, parameters))
    }
}
