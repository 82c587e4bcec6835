//! The linear maps of one body in one step, the same for all parameters.
//!
//! The change of a pose at the end of the step is y = {ξ, θ} with θ = R_incᵀ W_ref + T φ' in body axes (eqs 96, 108). It is
//! written as that of the prediction, ŷ, with the transported reference r = R_incᵀ W_ref and the derivative d of the
//! predicted parameters, and a rest that is as small as an acceleration times h², so that rounding is: S Δ = -(the
//! derivative of the equations at ŷ), with the Newton matrix S; there u' = 0.

use super::super::joint::zero;
use super::super::matrix::exponential_inverse;
use super::super::workspace::{Stepping, Weights};
use super::Study;
use super::variation::BodyVariation;
use crate::group::{Exponential, Tangent, spin};
use crate::method::{Chart, Form};
use nalgebra::{Matrix3, Vector3};

/// From geometric derivatives to those of the parameters at the start of the step, where the chart does not start at zero
/// for them.
#[derive(Clone, Copy, Debug)]
struct Charted {
    /// T_n and its inverse.
    tangent: Matrix3<f64>,
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
pub(super) struct Parameterized {
    /// k_T(φ̇).
    by_rate: Matrix3<f64>,
    /// Of Ω̇ and A by φ.
    by_acceleration: Matrix3<f64>,
    by_algorithmic: Matrix3<f64>,
    /// k_T(φ̈).
    inertial: Matrix3<f64>,
    /// Of Ṫ φ̇ by φ̇.
    turning: Matrix3<f64>,
    /// T⁻ᵀ, and T⁻ᵀ k_G(T⁻ᵀ g_α), both of the residual form.
    covector: Matrix3<f64>,
    by_covector: Matrix3<f64>,
    /// What [`Study::WithoutKg`] adds to g_α' per φ'.
    left_over: Matrix3<f64>,
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
    /// The derivatives of the moment equation by φ and φ̇.
    by_parameters: Matrix3<f64>,
    by_rates: Matrix3<f64>,
    parameterized: Option<Parameterized>,
    /// What a variant for study adds to the Newton matrix.
    pub(super) studied: Option<Matrix3<f64>>,
}

/// The derivatives of a body's prediction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicted {
    pub(super) position: Vector3<f64>,
    pub(super) velocity: Vector3<f64>,
    pub(super) turn: Vector3<f64>,
    parameters: Vector3<f64>,
    parameters_rate: Vector3<f64>,
    /// Those of a and φ̈ at the start.
    rates: [Vector3<f64>; 2],
    /// g_α' in the parameters of the step.
    carried: Vector3<f64>,
    /// The derivative of T_n (p - u) that the chart makes.
    pub(super) tied: Vector3<f64>,
    pub(super) omega: Vector3<f64>,
    /// Force and moment, without those from outside.
    pub(super) force: Vector3<f64>,
    pub(super) moment: Vector3<f64>,
}

impl Predicted {
    pub(super) fn none() -> Self {
        let o = Vector3::zeros();
        Predicted {
            position: o,
            velocity: o,
            turn: o,
            parameters: o,
            parameters_rate: o,
            rates: [o; 2],
            carried: o,
            tied: o,
            omega: o,
            force: o,
            moment: o,
        }
    }
}

impl Charted {
    fn new(stepping: &Stepping<'_, f64>, b: usize) -> Self {
        let (moving, step) = (&stepping.bodies[b], &stepping.work.steps[b]);
        let ([rate, a, w], _) = stepping.chart(moving);
        let tangent = Tangent::new(stepping.work.map(), &moving.parameters);
        Charted {
            tangent: tangent.matrix(),
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
            by_parameters: o,
            by_rates: o,
            parameterized: None,
            studied: None,
        }
    }

    /// Of a step that is solved, with Ω's slopes as the matrix was written.
    pub(super) fn new(stepping: &Stepping<'_, f64>, b: usize, weights: &Weights<f64>, study: Study) -> Self {
        let scheme = &stepping.work.scheme;
        let (body, now, step) = (&stepping.system.bodies[b], &stepping.work.now[b], &stepping.work.steps[b]);
        let (moving, inertia) = (&stepping.bodies[b], body.inertia.matrix());
        let (moments, _) = stepping.slopes(b, weights);
        let omega = &now.place.omega;
        let gyroscopic = spin(omega) * inertia - spin(&(inertia * omega));
        let charted = (scheme.chart == Chart::Rescaled || study == Study::ReferenceFree)
            .then(|| Charted::new(stepping, b));
        let mut maps = Maps {
            charted,
            back: now.place.r.tr_mul(&moving.reference.matrix()),
            tangent: Matrix3::identity(),
            inverse: Matrix3::identity(),
            by_parameters: Matrix3::zeros(),
            by_rates: gyroscopic * weights.complementary,
            parameterized: None,
            studied: None,
        };
        let Some(tangent) = &now.tangent else {
            maps.tangent = Tangent::new(Exponential, &now.parameters).matrix();
            maps.inverse = exponential_inverse(&now.parameters);
            return maps;
        };
        let ([_, a, before], _) = stepping.chart(moving);
        let along = stepping.algorithmic(a, before, now.parameters_acceleration);
        let by_velocity = tangent.rate_by_velocity(&now.parameters_rate);
        let by_parameters = tangent.rate_by_parameters(&now.parameters_rate);
        let inertial = tangent.k_t(&now.parameters_acceleration);
        (maps.tangent, maps.inverse) = (tangent.matrix(), tangent.inverse());
        maps.by_parameters = moments[0] * maps.tangent;
        maps.by_rates = maps.by_rates * maps.tangent + inertia * by_velocity * weights.complementary;
        let mut parameterized = Parameterized {
            by_rate: tangent.k_t(&now.parameters_rate),
            by_acceleration: inertial + by_parameters,
            by_algorithmic: tangent.k_t(&along) + by_parameters,
            inertial,
            turning: by_velocity,
            covector: Matrix3::zeros(),
            by_covector: Matrix3::zeros(),
            left_over: Matrix3::zeros(),
        };
        if scheme.form == Form::Residual {
            let covector = maps.inverse.transpose();
            parameterized.covector = covector;
            parameterized.by_covector = covector * tangent.k_g(&(covector * step.carried));
            if study == Study::WithoutKg {
                // k_t without k_G(F_a + F_c) keeps (α_f - α_m) k_G(F_a).
                let forces = tangent.k_g(&stepping.inertial(b)[1]);
                let kept = covector * forces * (scheme.weights.f - scheme.weights.m);
                let added = kept + parameterized.by_covector;
                maps.by_parameters += added;
                maps.studied = Some(added * maps.inverse);
                parameterized.by_covector = -kept;
                parameterized.left_over = -kept;
            }
        }
        maps.parameterized = Some(parameterized);
        maps
    }

    /// The derivative of the prediction, and of the equations of the body there.
    #[inline(always)]
    pub(super) fn predict(&self, stepping: &Stepping<'_, f64>, body: &BodyVariation) -> Predicted {
        let scheme = &stepping.work.scheme;
        let (position, velocity) =
            stepping.predicted(body.position, body.velocity, body.algorithmic, body.acceleration);
        let (mut reference, mut carried, mut tied) = (body.turn, body.carried[1], zero());
        let (mut start, mut rate) = (zero(), body.omega);
        let mut rates = [body.algorithmic_rate, body.omega_rate];
        if let Some(chart) = &self.charted {
            (start, reference) = match scheme.chart {
                Chart::Rescaled => (body.parameters, body.reference),
                // The reference keeps still, and the parameters change from zero.
                Chart::Incremental => (body.turn, zero()),
            };
            rate = chart.inverse * (body.omega - chart.by_rate * start);
            let turning = chart.turning[0] * start + chart.turning[1] * rate;
            let back = |x: Vector3<f64>, by: &Matrix3<f64>| chart.inverse * (x - turning - by * start);
            rates = [back(rates[0], &chart.by_algorithmic), back(rates[1], &chart.by_acceleration)];
            carried = chart.tangent.tr_mul(&carried) + chart.by_carried * start;
            tied = chart.tied * start;
        }
        let (parameters, parameters_rate) = stepping.predicted(start, rate, rates[0], rates[1]);
        let (mut force, mut omega) = (zero(), parameters_rate);
        let mut moment = self.by_rates * parameters_rate;
        if let Some(by) = &self.parameterized {
            omega = self.tangent * parameters_rate + by.by_rate * parameters;
            moment += self.by_parameters * parameters;
            if scheme.form == Form::Residual {
                force = body.carried[0];
                moment += by.covector * carried;
            }
        }
        let turn = self.back * reference + self.tangent * parameters;
        Predicted {
            position,
            velocity,
            turn,
            parameters,
            parameters_rate,
            rates,
            carried,
            tied,
            omega,
            force,
            moment,
        }
    }

    /// The derivatives at the end of the step, and those of φ and φ̈: the pose changes by `pose` more than predicted, and u by
    /// what belongs to `motion`, which is the same unless the form is stabilized.
    #[inline(always)]
    pub(super) fn finish(
        &self,
        stepping: &Stepping<'_, f64>,
        weights: &Weights<f64>,
        predicted: &Predicted,
        before: &BodyVariation,
        [pose, motion]: [[Vector3<f64>; 2]; 2],
    ) -> (BodyVariation, [Vector3<f64>; 2]) {
        let change = motion[0];
        let acceleration = change * weights.acceleration;
        let moved = self.inverse * pose[1];
        let turned = if stepping.work.scheme.stabilized { self.inverse * motion[1] } else { moved };
        let parameters = predicted.parameters + moved;
        let rate = predicted.parameters_rate + turned * weights.velocity;
        let second = turned * weights.acceleration;
        let along = stepping.algorithmic(predicted.rates[0], predicted.rates[1], second);
        let (mut omega, mut omega_rate, mut algorithmic_rate) = (rate, second, along);
        if let Some(by) = &self.parameterized {
            let turning = by.turning * rate;
            omega = self.tangent * rate + by.by_rate * parameters;
            omega_rate = self.tangent * second + by.by_acceleration * parameters + turning;
            algorithmic_rate = self.tangent * along + by.by_algorithmic * parameters + turning;
        }
        let turn = predicted.turn + pose[1];
        let (kept, reference) = match stepping.work.scheme.chart {
            Chart::Incremental => (zero(), turn),
            Chart::Rescaled => (parameters, before.reference),
        };
        let after = BodyVariation {
            position: predicted.position + pose[0],
            velocity: predicted.velocity + change * weights.velocity,
            acceleration,
            turn,
            omega,
            omega_rate,
            algorithmic: stepping.algorithmic(before.algorithmic, before.acceleration, acceleration),
            algorithmic_rate,
            carried: before.carried,
            parameters: kept,
            reference,
        };
        (after, [parameters, second])
    }

    /// g_α' of the residual form, from the derivatives of the inertial forces by the parameter alone: the derivative of the
    /// equations is zero, which gives that of f_c.
    pub(super) fn carry(
        &self,
        stepping: &Stepping<'_, f64>,
        b: usize,
        weights: &Weights<f64>,
        partial: &[Vector3<f64>; 2],
        [parameters, second]: &[Vector3<f64>; 2],
        (predicted, before, after): (&Predicted, &BodyVariation, &mut BodyVariation),
    ) {
        let (Some(by), body) = (&self.parameterized, &stepping.system.bodies[b]) else { return };
        let alpha = &stepping.work.scheme.weights;
        let moment = body.inertia.matrix() * (self.tangent * second + by.inertial * parameters) + partial[1];
        let forces = [after.acceleration * body.mass + partial[0], moment];
        let carried = [before.carried[0], by.covector * predicted.carried - by.by_covector * parameters];
        for i in 0..2 {
            let complementary = -(forces[i] * weights.inertial + carried[i]) / weights.complementary;
            after.carried[i] = forces[i] * alpha.m + complementary * alpha.f;
        }
        after.carried[1] += by.left_over * parameters;
    }

    /// φ' of other parameters for the same attitude.
    pub(super) fn rescaled(&self, tangent: &Tangent<f64>, parameters: &Vector3<f64>) -> Vector3<f64> {
        tangent.inverse() * (self.tangent * parameters)
    }
}
