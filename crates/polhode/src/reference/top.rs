//! The Lagrange top: a symmetric heavy body about a fixed point, in closed form.
//!
//! Symbols: moments A, A, C about the fixed point, potential mgl R33, R attitude (body to space), θ, φ, ψ Euler's
//! angles (z-x-z: R = Rz(φ) Rx(θ) Rz(ψ)), u = cos θ = R33, γ = R^T e3, Ω body angular velocity, Π body momentum,
//!   a = Π3/A, b = (R Π)3/A, β = 2 mgl/A, κ = Π3/C - a.
//! Instead of u the formulas use v = 1 - u and y = 1 + u, each with its own relative accuracy, and the differences
//! δ = b - a and s = b + a, which are known without cancellation near the vertical. With ε = Ω1² + Ω2² - βv
//! (a constant),
//!   v'² = f(v) = v (2 - v)(ε + βv) - (δ + av)² = -β (v - v1)(v - v2)(v - v3),  v3 ≤ 0 ≤ v2 ≤ v ≤ v1 ≤ 2,
//!   v = v1 - (v1 - v2) sn²(λt + w0),  λ² = β (v1 - v3)/4,  m = (v1 - v2)/(v1 - v3).
//! The two angles that stay meaningful at the poles have the rates
//!   (φ + ψ)' = κ + s/y,   (φ - ψ)' = -κ + δ/v,
//! each with one integral of the third kind, and the attitude follows from the Cayley-Klein parameters
//!   ζ1 = cos(θ/2) e^{i(φ+ψ)/2} = q0 + i q3,   ζ2 = sin(θ/2) e^{i(φ-ψ)/2} = q1 + i q2.
//! A motion through a pole has v2 = 0, δ = 0 (or y1 = 0, s = 0); then sin(θ/2) = √(v1/2) cn (or cos(θ/2) ∝ sn)
//! changes sign there and nothing is singular. Whittaker, Analytical Dynamics, §§71-73 has the classical form.

use super::attitude::{self, Quaternion, lift};
use super::elliptic::{Jacobi, complete_first, first, jacobi, third_at};
use crate::scalar::{Dd, Real};
use nalgebra::{Matrix3, Vector3};

/// The motion of a Lagrange top from given initial values.
///
/// ```
/// use nalgebra::Vector3;
/// use polhode::reference::LagrangeTop;
/// let (tilt, spin) = (Vector3::new(0.3, 0.0, 0.0), Vector3::new(0.0, 0.0, 50.0));
/// let top = LagrangeTop::from_rotation_vector(5.0, 1.0, 20.0, &tilt, &spin)?;
/// assert!((top.nutation_period() - 0.6822560158311819).abs() < 1e-15);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct LagrangeTop {
    /// The moment A.
    across: Dd,
    /// Π3, a constant of the motion.
    momentum3: Dd,
    /// The potential is turned over by half a turn of space about e1 when mgl < 0.
    flipped: bool,
    motion: Motion,
}

#[derive(Clone, Debug)]
enum Motion {
    /// The axis stays vertical, or nothing moves at all: a constant angular velocity.
    Steady { start: Quaternion, omega: Vector3<Dd> },
    /// Everything else.
    Nutating(Box<Nutation>),
}

/// A complex number.
type Complex = (Dd, Dd);

#[derive(Clone, Debug)]
struct Nutation {
    a: Dd,
    delta: Dd,
    s: Dd,
    kappa: Dd,
    v1: Dd,
    v2: Dd,
    y1: Dd,
    y2: Dd,
    /// v1 - v2 = y2 - y1.
    range: Dd,
    lambda: Dd,
    m: Dd,
    m1: Dd,
    w0: Dd,
    /// ∫ of the third kind at w0, for y and for v.
    sum0: Dd,
    difference0: Dd,
    /// e^{i(φ+ψ)/2} and e^{i(φ-ψ)/2} at t = 0.
    phase_sum: Complex,
    phase_difference: Complex,
}

impl LagrangeTop {
    /// From the moments `a` (twice) and `c`, the weight times the distance of the centre of mass `mgl` (of either
    /// sign, or zero), the attitude (body to space) and the body angular velocity at t = 0.
    ///
    /// Fails if a moment is not positive, a value is not finite, or the attitude is not a rotation.
    pub fn new(
        a: f64,
        c: f64,
        mgl: f64,
        attitude0: &Matrix3<f64>,
        omega0_body: &Vector3<f64>,
    ) -> Result<LagrangeTop, String> {
        let defect = (attitude0.transpose() * attitude0 - Matrix3::identity()).amax();
        // Written so that a NaN fails too.
        if !(defect < 1e-6 && attitude0.determinant() > 0.0) {
            return Err("the attitude is not a rotation matrix".into());
        }
        let q = attitude::quaternion(&attitude::orthonormal(&attitude0.map(Dd::from)));
        LagrangeTop::build(a, c, mgl, q, omega0_body)
    }

    /// The same with the attitude exp(psi0^), free of the rounding of a matrix (which an unstable top amplifies).
    pub fn from_rotation_vector(
        a: f64,
        c: f64,
        mgl: f64,
        psi0: &Vector3<f64>,
        omega0_body: &Vector3<f64>,
    ) -> Result<LagrangeTop, String> {
        if !psi0.iter().all(|x| x.is_finite()) {
            return Err("the rotation vector is not finite".into());
        }
        LagrangeTop::build(a, c, mgl, attitude::exp(&lift(psi0)), omega0_body)
    }

    fn build(a: f64, c: f64, mgl: f64, q: Quaternion, omega0: &Vector3<f64>) -> Result<LagrangeTop, String> {
        if !(a > 0.0 && c > 0.0 && a.is_finite() && c.is_finite()) {
            return Err("the moments of inertia of the top must be positive and finite".into());
        }
        if !(mgl.is_finite() && omega0.iter().all(|x| x.is_finite())) {
            return Err("the weight and the angular velocity of the top must be finite".into());
        }
        let flipped = mgl < 0.0;
        let q = if flipped { half_turn(&q) } else { q };
        let omega = lift(omega0);
        let (across, along) = (Dd::from(a), Dd::from(c));
        let momentum3 = along * omega.z;
        let beta = Dd::from(mgl.abs()) * 2.0 / across;
        let motion = match Nutation::new(&q, &omega, momentum3 / across, beta)? {
            Some(nutation) => Motion::Nutating(Box::new(nutation)),
            None => Motion::Steady { start: q, omega },
        };
        Ok(LagrangeTop { across, momentum3, flipped, motion })
    }

    /// Attitude (body to space) and body angular momentum at time `t`, of either sign.
    pub fn at(&self, t: f64) -> (Matrix3<f64>, Vector3<f64>) {
        let (attitude, momentum) = self.at_dd(t);
        (attitude.map(Dd::to_f64), momentum.map(Dd::to_f64))
    }

    /// The same with all digits.
    pub fn at_dd(&self, t: f64) -> (Matrix3<Dd>, Vector3<Dd>) {
        let (q, across) = match &self.motion {
            Motion::Steady { start, omega } => {
                let turn = attitude::exp(&omega.map(|x| x * t));
                (product(start, &turn), (omega.x, omega.y))
            }
            Motion::Nutating(nutation) => nutation.at(Dd::from(t)),
        };
        // Half a turn of space about e1, twice, is a sign of the quaternion that the matrix does not see.
        let q = if self.flipped { half_turn(&q) } else { q };
        let momentum = Vector3::new(self.across * across.0, self.across * across.1, self.momentum3);
        (attitude::matrix(&q), momentum)
    }

    /// The time from one lowest position to the next; for a steady precession that of infinitesimal nutation.
    /// Infinite on the separatrix, and where the axis stays vertical.
    pub fn nutation_period(&self) -> f64 {
        match &self.motion {
            Motion::Steady { .. } => f64::INFINITY,
            Motion::Nutating(nutation) if nutation.m1.to_f64() <= 0.0 => f64::INFINITY,
            Motion::Nutating(nutation) => nutation.period().to_f64(),
        }
    }

    /// 2π over the nutation period; zero where that is infinite.
    pub fn nutation_frequency(&self) -> f64 {
        match &self.motion {
            Motion::Steady { .. } => 0.0,
            Motion::Nutating(nutation) if nutation.m1.to_f64() <= 0.0 => 0.0,
            Motion::Nutating(nutation) => (Dd::TAU / nutation.period()).to_f64(),
        }
    }

    /// The mean of φ' over a nutation period. For a motion through a pole, θ is taken to go on beyond it with
    /// its sign changed, so that φ does not jump; on the separatrix, the limit at the pole. Where the axis stays
    /// vertical only φ + ψ has a meaning; all of it is counted as spin, none as precession.
    pub fn precession_rate(&self) -> f64 {
        let Motion::Nutating(nutation) = &self.motion else { return 0.0 };
        let (sum, difference) = nutation.mean_rates();
        let rate = ((sum + difference) * 0.5).to_f64();
        if self.flipped { -rate } else { rate }
    }

    /// The mean of ψ' over a nutation period, as for [`LagrangeTop::precession_rate`].
    pub fn spin_rate(&self) -> f64 {
        match &self.motion {
            Motion::Steady { omega, .. } => omega.z.to_f64(),
            Motion::Nutating(nutation) => {
                let (sum, difference) = nutation.mean_rates();
                ((sum - difference) * 0.5).to_f64()
            }
        }
    }
}

impl Nutation {
    /// None when the axis stays vertical or nothing moves.
    fn new(q: &Quaternion, omega: &Vector3<Dd>, a: Dd, beta: Dd) -> Result<Option<Nutation>, String> {
        let [q0, q1, q2, q3] = *q;
        let (v0, y0) = ((q1 * q1 + q2 * q2) * 2.0, (q0 * q0 + q3 * q3) * 2.0);
        let u0 = (y0 - v0) * 0.5;
        let (gamma1, gamma2) = ((q1 * q3 - q0 * q2) * 2.0, (q2 * q3 + q0 * q1) * 2.0);
        let across = omega.x * omega.x + omega.y * omega.y;
        let is_zero = |x: Dd| x.to_f64() == 0.0;
        let at_pole = is_zero(v0) || is_zero(y0);
        if is_zero(across) && (at_pole || (is_zero(beta) && is_zero(omega.z))) {
            return Ok(None);
        }
        let h = omega.x * gamma1 + omega.y * gamma2;
        let (delta, s) = (h - a * v0, h + a * y0);
        let v_dot = omega.x * gamma2 - omega.y * gamma1;
        // f about v0: f(v0 + x) = f0 + f1 x + f2 x² - βx³, every coefficient without cancellation of large terms.
        let f0 = v_dot * v_dot;
        let f1 = u0 * across * 2.0 + beta * v0 * y0 - a * h * 2.0;
        let f2 = beta * u0 * 2.0 - across - a * a;
        let (x1, x2) = roots_about_start(f0, f1, f2, beta, y0);
        let v1 = v0 + x1;
        let rise = across + beta * y0;
        let energy = across - beta * v0;
        let (v2, range, stretch, m, m1, y12, y_sum);
        if is_zero(beta) {
            // No weight: f is a quadratic, sn becomes sin, and λ² = -f2/4.
            let k = -f2;
            v2 = delta * delta / (k * v1);
            range = x1 - x2;
            (stretch, m, m1) = (k, Dd::ZERO, Dd::ONE);
            y12 = s * s / k;
            y_sum = (rise + s * a) * 2.0 / k;
        } else {
            // v2 and v3 have the product -δ²/(βv1) ≤ 0 and this sum.
            let v23 = -(delta * delta) / (beta * v1);
            let sum = ((a * delta - energy) * 2.0 / beta - v23) / v1;
            let root = (sum * sum - v23 * 4.0).sqrt();
            let v3;
            if sum.to_f64() >= 0.0 {
                v2 = (sum + root) * 0.5;
                v3 = if is_zero(v2) { Dd::ZERO } else { v23 / v2 };
            } else {
                v3 = (sum - root) * 0.5;
                v2 = v23 / v3;
            }
            // Near a steady precession only the distances from the start tell v1 from v2.
            let plain = v1 - v2;
            range = if plain.to_f64() > 0.1 * v1.to_f64() { plain } else { x1 - x2 };
            let whole = v1 - v3;
            (stretch, m, m1) = (beta * whole, range / whole, (v2 - v3) / whole);
            let y3 = Dd::from(2.0) - v3;
            y12 = s * s / (beta * y3);
            y_sum = ((rise + s * a) * 2.0 / beta - y12) / y3;
        }
        let y2 = (y_sum + range) * 0.5;
        let y1 = if is_zero(y2) { Dd::ZERO } else { y12 / y2 };
        let lambda = stretch.sqrt() * 0.5;
        // sn² : cn² = x1 : -x2 at the start; the sign is that of u' = -v'.
        let phi0 = x1.sqrt().atan2((-x2).sqrt());
        let phi0 = if v_dot.to_f64() > 0.0 { -phi0 } else { phi0 };
        let w0 = first(phi0, m1);
        let mut nutation = Nutation {
            a,
            delta,
            s,
            kappa: omega.z - a,
            v1,
            v2,
            y1,
            y2,
            range,
            lambda,
            m,
            m1,
            w0,
            sum0: Dd::ZERO,
            difference0: Dd::ZERO,
            phase_sum: (Dd::ONE, Dd::ZERO),
            phase_difference: (Dd::ONE, Dd::ZERO),
        };
        // From the roots, not from w0: near a pole the relative accuracy of a small cn or sn matters.
        let scale = if is_zero(range) { Dd::ONE } else { range };
        let sn = (x1 / scale).sqrt();
        let sn = if v_dot.to_f64() > 0.0 { -sn } else { sn };
        let cn = if is_zero(range) { Dd::ONE } else { (-x2 / scale).sqrt() };
        let f = Jacobi { sn, cn, dn: (m1 + m * cn * cn).sqrt(), am: phi0 };
        (nutation.sum0, nutation.difference0) = nutation.integrals(w0, &f);
        let downward = v_dot.to_f64() > 0.0;
        nutation.phase_sum = if is_zero(y0) {
            // At the lower pole the direction of ζ1' tells the phase: ζ1' = -ζ2 (Ω1 - iΩ2)/2.
            let (re, im) = multiply((q1, q2), (omega.x, -omega.y));
            unit((-re, -im))
        } else if is_zero(nutation.y1) && downward {
            unit((-q0, -q3))
        } else {
            unit((q0, q3))
        };
        nutation.phase_difference = if is_zero(v0) {
            // At the upper pole: ζ2' = ζ1 (Ω1 + iΩ2)/2, while cn falls through zero.
            let (re, im) = multiply((q0, q3), (omega.x, omega.y));
            unit((-re, -im))
        } else {
            unit((q1, q2))
        };
        let values = [v1, v2, y1, y2, range, lambda, m, m1, w0, nutation.sum0, nutation.difference0];
        if !values.iter().all(|x| x.is_finite()) {
            return Err(
                "the closed form of this motion of the top is degenerate; integrate it instead".into()
            );
        }
        Ok(Some(nutation))
    }

    /// ∫ s/y dt and ∫ δ/v dt up to the argument w, each counted from w = 0.
    fn integrals(&self, w: Dd, f: &Jacobi) -> (Dd, Dd) {
        let sum = if self.s.to_f64() == 0.0 {
            Dd::ZERO
        } else {
            let (n, n1) = (-(self.range / self.y1), self.y2 / self.y1);
            self.s / (self.lambda * self.y1) * third_at(n, n1, w, f, self.m, self.m1)
        };
        let difference = if self.delta.to_f64() == 0.0 {
            Dd::ZERO
        } else {
            let (n, n1) = (self.range / self.v1, self.v2 / self.v1);
            self.delta / (self.lambda * self.v1) * third_at(n, n1, w, f, self.m, self.m1)
        };
        (sum, difference)
    }

    /// The quaternion and (Ω1, Ω2).
    fn at(&self, t: Dd) -> (Quaternion, Complex) {
        let w = self.lambda * t + self.w0;
        let f = jacobi(w, self.m, self.m1);
        let (sum, difference) = self.integrals(w, &f);
        let turned = |phase: Complex, angle: Dd| {
            let (s, c) = (angle * 0.5).sin_cos();
            multiply(phase, (c, s))
        };
        let sum = turned(self.phase_sum, self.kappa * t + (sum - self.sum0));
        let difference = turned(self.phase_difference, (difference - self.difference0) - self.kappa * t);
        let (ss, cc) = (f.sn * f.sn, f.cn * f.cn);
        // √v and √y with the signs they have beyond a pole, and cn/√v and sn/√y, which stay finite there.
        let (through_top, through_bottom) = (self.v2.to_f64() == 0.0, self.y1.to_f64() == 0.0);
        let (v, cn_over_v) = if through_top {
            (self.v1.sqrt() * f.cn, Dd::ONE / self.v1.sqrt())
        } else {
            let v = (self.v2 * ss + self.v1 * cc).sqrt();
            (v, f.cn / v)
        };
        let (y, sn_over_y) = if through_bottom {
            (self.range.sqrt() * f.sn, Dd::ONE / self.range.sqrt())
        } else {
            let y = (self.y1 * cc + self.y2 * ss).sqrt();
            (y, f.sn / y)
        };
        // Ω1 + iΩ2 = (v' + i (δ + av))/sin θ · e^{-iψ}.
        let sink = -(self.lambda * self.range * f.dn * cn_over_v * sn_over_y) * 2.0;
        let swing = match (through_top, through_bottom) {
            (true, true) => Dd::ZERO,
            (true, false) => self.a * v / y,
            (false, true) => -(self.a * y / v),
            // δ + av = s - ay; the form whose second term is the smaller does not cancel.
            (false, false) if v < y => (self.delta + self.a * v * v) / (v * y),
            (false, false) => (self.s - self.a * y * y) / (v * y),
        };
        let omega = multiply((sink, swing), multiply((sum.0, -sum.1), difference));
        let half = Dd::from(0.5).sqrt();
        let (v, y) = (v * half, y * half);
        ([y * sum.0, v * difference.0, v * difference.1, y * sum.1], omega)
    }

    fn period(&self) -> Dd {
        complete_first(self.m1) * 2.0 / self.lambda
    }

    /// The means of (φ + ψ)' and (φ - ψ)' over a nutation period.
    fn mean_rates(&self) -> (Dd, Dd) {
        let quarter = complete_first(self.m1);
        let f = Jacobi { sn: Dd::ONE, cn: Dd::ZERO, dn: self.m1.sqrt(), am: Dd::FRAC_PI_2 };
        // The mean of 1/(1 - n sn²).
        let mean = |n: Dd, n1: Dd| third_at(n, n1, quarter, &f, self.m, self.m1) / quarter;
        let separatrix = self.m1.to_f64() <= 0.0;
        let sum = if self.s.to_f64() == 0.0 {
            Dd::ZERO
        } else if separatrix {
            self.s / self.y2
        } else {
            self.s / self.y1 * mean(-(self.range / self.y1), self.y2 / self.y1)
        };
        let difference = if self.delta.to_f64() == 0.0 {
            Dd::ZERO
        } else if separatrix {
            self.delta / self.v2
        } else {
            self.delta / self.v1 * mean(self.range / self.v1, self.v2 / self.v1)
        };
        (sum + self.kappa, difference - self.kappa)
    }
}

/// The largest root x1 ≥ 0 and the middle root x2 ≤ 0 of f0 + f1 x + f2 x² - βx³, all of whose roots are real;
/// `bound` + 1 is beyond the largest.
fn roots_about_start(f0: Dd, f1: Dd, f2: Dd, beta: Dd, bound: Dd) -> (Dd, Dd) {
    let x1 = if f0.to_f64() == 0.0 && f1.to_f64() <= 0.0 {
        Dd::ZERO
    } else if beta.to_f64() == 0.0 {
        let root = positive((f1 * f1 - f0 * f2 * 4.0).sqrt());
        // The form of the quadratic formula that adds.
        if f1.to_f64() >= 0.0 { (f1 + root) / (f2 * -2.0) } else { f0 * 2.0 / (root - f1) }
    } else {
        // Newton from beyond the largest root falls towards it and never past it.
        let mut x = bound + 1.0;
        for _ in 0..400 {
            let value = f0 + x * (f1 + x * (f2 - beta * x));
            let slope = f1 + x * (f2 * 2.0 - beta * x * 3.0);
            let step = value / slope;
            // Rounding ends the fall.
            if !(step.to_f64() > 0.0 && x > step) {
                break;
            }
            x -= step;
            if step.to_f64() <= 1e-33 * x.to_f64() {
                break;
            }
        }
        x
    };
    // What is left over after x1: βx² - k1 x - k0 with k0, k1 ≤ 0, of which x2 is the root next to zero.
    let k0 = if x1.to_f64() > 0.0 { -(f0 / x1) } else { f1 };
    let k1 = f2 - beta * x1;
    let root = positive((k1 * k1 + beta * k0 * 4.0).max(Dd::ZERO).sqrt());
    let denominator = k1 - root;
    let x2 =
        if k0.to_f64() >= 0.0 || denominator.to_f64() >= 0.0 { Dd::ZERO } else { k0 * -2.0 / denominator };
    (x1, x2)
}

/// The value, or zero in place of a negative number or NaN.
fn positive(x: Dd) -> Dd {
    if x.to_f64() > 0.0 { x } else { Dd::ZERO }
}

fn multiply(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn unit(a: Complex) -> Complex {
    let size = (a.0 * a.0 + a.1 * a.1).sqrt();
    (a.0 / size, a.1 / size)
}

/// The attitude after half a turn of space about e1.
fn half_turn(q: &Quaternion) -> Quaternion {
    [-q[1], q[0], -q[3], q[2]]
}

fn product(a: &Quaternion, b: &Quaternion) -> Quaternion {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

#[cfg(test)]
mod tests;
