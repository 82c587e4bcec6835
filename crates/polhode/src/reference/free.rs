//! Torque-free rotation of a rigid body (Euler, Poinsot) in closed form, attitude included.
//!
//! Symbols: Π body momentum, L its length, T kinetic energy, R attitude (body to space), u = λt + u0 the
//! argument of sn, cn, dn with parameter m. The principal axes are named by their part in the motion: r is the
//! axis Π goes around, q the middle one, p the third; P, Q, R are the inverse moments, and PQ stands for P - Q.
//!
//! Momentum (Landau, Lifshitz, Mechanics, §37, in these names): Πp = α cn u, Πq = ±β sn u, Πr = ±γ dn u with
//!   α² = X1/PR, β² = X1/QR, γ² = X2/PR, λ² = X2 QR, m = PQ X1/(QR X2), m1 = 1 - m = PR X3/(QR X2),
//!   X1 = 2T - R L² = PR Πp² + QR Πq²,  X2 = P L² - 2T = PQ Πq² + PR Πr²,  X3 = Q L² - 2T = QR Πr² - PQ Πp².
//! PQ, PR, QR share one sign, so only X3, the distance from the separatrix, is a difference.
//!
//! Attitude: the frame (e_r × Π, Π × (e_r × Π), Π) turns about the fixed space momentum at the rate
//!   L (P Πp² + Q Πq²)/(Πp² + Πq²) = L (P + PR n sn²/(1 - n sn²)),  n = -PQ/QR ≤ 0,
//! whose integral is L (P t + PR (Π(n; u) - u)/λ), an integral of the third kind. The frame is well defined
//! however close Π comes to the r axis, because Πp : Πq = α cn : β sn.

use super::attitude::{self, lift};
use super::elliptic::{complete_first, first, jacobi, third_excess};
use crate::scalar::{Dd, Real};
use nalgebra::{Matrix3, Vector3};

/// Moments closer than this, relatively, count as equal.
const EQUAL: f64 = 1e-29;

/// The motion of a free rigid body from given initial values.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use polhode::reference::FreeRotation;
/// let inertia = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
/// let body = FreeRotation::new(&inertia, &Matrix3::identity(), &Vector3::new(0.1, 1.0, 0.0));
/// let (attitude, momentum) = body.at(10.0);
/// assert!((attitude * momentum - Vector3::new(0.1, 2.0, 0.0)).norm() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct FreeRotation {
    attitude0: Matrix3<Dd>,
    momentum0: Vector3<Dd>,
    /// Columns: principal axes in the body frame.
    axes: Matrix3<Dd>,
    /// The column of the middle moment.
    middle: usize,
    motion: Motion,
}

#[derive(Clone, Debug)]
enum Motion {
    /// The angular velocity is constant in the body (and in space).
    Steady { omega: Vector3<Dd> },
    /// Everything else.
    Elliptic(Box<Elliptic>),
}

#[derive(Clone, Debug)]
struct Elliptic {
    /// The columns of `axes` that are p, q and r.
    order: [usize; 3],
    /// Whether p, q, r are right-handed: ±1.
    parity: f64,
    /// Amplitudes of Πp, Πq, Πr, with signs.
    amplitude: [Dd; 3],
    length: Dd,
    lambda: Dd,
    m: Dd,
    m1: Dd,
    n: Dd,
    n1: Dd,
    u0: Dd,
    excess0: Dd,
    /// L P and L PR/λ.
    rate: [Dd; 2],
    /// The turning frame in space at t = 0.
    frame0: Matrix3<Dd>,
}

impl FreeRotation {
    /// From the inertia matrix (symmetric, positive definite), the attitude (body to space) and the body angular
    /// velocity at t = 0.
    pub fn new(inertia: &Matrix3<f64>, attitude0: &Matrix3<f64>, omega0_body: &Vector3<f64>) -> FreeRotation {
        FreeRotation::from_dd(&inertia.map(Dd::from), &attitude0.map(Dd::from), &lift(omega0_body))
    }
    /// The same with the attitude exp(psi0^), free of the rounding of a matrix.
    pub fn from_rotation_vector(
        inertia: &Matrix3<f64>,
        psi0: &Vector3<f64>,
        omega0_body: &Vector3<f64>,
    ) -> FreeRotation {
        let attitude0 = attitude::matrix(&attitude::exp(&lift(psi0)));
        FreeRotation::from_dd(&inertia.map(Dd::from), &attitude0, &lift(omega0_body))
    }

    /// The same from double-double values: decimal inputs, for example, that are no `f64`.
    pub fn from_dd(
        inertia: &Matrix3<Dd>,
        attitude0: &Matrix3<Dd>,
        omega0_body: &Vector3<Dd>,
    ) -> FreeRotation {
        let (attitude0, omega) = (*attitude0, *omega0_body);
        let inertia = (inertia + inertia.transpose()).map(|x| x * 0.5);
        let momentum0 = inertia * omega;
        let (moments, axes) = principal_axes(&inertia);
        let momentum = axes.transpose() * momentum0;
        let motion = match Elliptic::new(&moments, &momentum) {
            Some(mut motion) => {
                motion.frame0 = attitude0 * axes * motion.frame(&momentum);
                Motion::Elliptic(Box::new(motion))
            }
            None => Motion::Steady { omega },
        };
        let middle = ascending(&moments)[1];
        FreeRotation { attitude0, momentum0, axes, middle, motion }
    }

    /// Attitude (body to space) and body angular momentum at time `t`, of either sign.
    pub fn at(&self, t: f64) -> (Matrix3<f64>, Vector3<f64>) {
        let (attitude, momentum) = self.at_dd(t);
        (attitude.map(Dd::to_f64), momentum.map(Dd::to_f64))
    }

    /// The same with all digits.
    pub fn at_dd(&self, t: f64) -> (Matrix3<Dd>, Vector3<Dd>) {
        match &self.motion {
            Motion::Steady { omega } => {
                let turn = attitude::matrix(&attitude::exp(&omega.map(|x| x * t)));
                (self.attitude0 * turn, self.momentum0)
            }
            Motion::Elliptic(motion) => {
                let (momentum, angle) = motion.at(Dd::from(t));
                let (s, c) = angle.sin_cos();
                let (zero, one) = (Dd::ZERO, Dd::ONE);
                let turn = Matrix3::new(c, -s, zero, s, c, zero, zero, zero, one);
                let attitude =
                    motion.frame0 * turn * motion.frame(&momentum).transpose() * self.axes.transpose();
                (attitude, self.axes * momentum)
            }
        }
    }

    /// The axis of the middle moment, in the body: a free body cannot spin about it steadily, and turns over. Where two
    /// moments are equal it is one of their axes.
    pub fn middle_axis(&self) -> Vector3<f64> {
        self.axes.column(self.middle).map(Dd::to_f64)
    }

    /// The time from one change of sign of the momentum about the axis of the middle moment to the next, half the period
    /// of the momentum. `None` where it keeps its sign for ever: the angular velocity is constant, or tends to a
    /// constant.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::reference::FreeRotation;
    /// let inertia = Matrix3::from_diagonal(&Vector3::new(13.0, 5.0, 10.0));
    /// let omega = Vector3::new(0.0, 0.05, 10.0);
    /// let brick = FreeRotation::new(&inertia, &Matrix3::identity(), &omega);
    /// let interval = brick.flip_interval().unwrap();
    /// assert!((interval - 2.7231207686955517).abs() < 1e-15);
    /// assert_eq!(brick.middle_axis(), Vector3::z());
    /// assert!((brick.at(interval).1 + Vector3::new(0.0, -0.25, 100.0)).norm() < 1e-13);
    /// assert!(FreeRotation::new(&inertia, &Matrix3::identity(), &Vector3::z()).flip_interval().is_none());
    /// ```
    pub fn flip_interval(&self) -> Option<f64> {
        match &self.motion {
            Motion::Elliptic(e) if e.m1.to_f64() > 0.0 => {
                Some((complete_first(e.m1) * 2.0 / e.lambda).to_f64())
            }
            _ => None,
        }
    }
}

impl Elliptic {
    /// None when the angular velocity is constant.
    fn new(moments: &[Dd; 3], momentum: &Vector3<Dd>) -> Option<Elliptic> {
        let sorted = ascending(moments);
        let [a, b, c] = sorted;
        let difference = |i: usize, j: usize| {
            let d = moments[j] - moments[i];
            let equal = d.to_f64() <= EQUAL * moments[j].to_f64();
            if equal { Dd::ZERO } else { d / (moments[i] * moments[j]) }
        };
        // Differences of the inverse moments, all non-negative.
        let (ab, bc) = (difference(a, b), difference(b, c));
        let ac = ab + bc;
        let [x, y, z] = sorted.map(|i| momentum[i]);
        if [ab * x * y, bc * y * z, ac * x * z].iter().all(|torque| torque.to_f64() == 0.0) {
            return None;
        }
        // Around the axis of the largest moment, or the smallest?
        let around_largest = (ab * x * x - bc * z * z).to_f64() < 0.0;
        let (order, pq, pr, qr) =
            if around_largest { ([a, b, c], ab, ac, bc) } else { ([c, b, a], -bc, -ac, -ab) };
        let parity = if (order[0] + 1) % 3 == order[1] { 1.0 } else { -1.0 };
        let [p, q, r] = order.map(|i| momentum[i]);
        let x1 = pr * p * p + qr * q * q;
        let x2 = pq * q * q + pr * r * r;
        let x3 = qr * r * r - pq * p * p;
        let below = |v: Dd| v.to_f64() < 0.0;
        let sign = |v: bool| if v { -1.0 } else { 1.0 };
        // Signs: Πr keeps its own; Πq follows from the equation of motion for Πp.
        let sign_r = sign(below(r));
        let sign_q = parity * sign_r * sign(below(qr));
        let amplitude = [(x1 / pr).sqrt(), (x1 / qr).sqrt() * sign_q, (x2 / pr).sqrt() * sign_r];
        let lambda = (x2 * qr).sqrt();
        let m = pq * x1 / (qr * x2);
        let m1 = pr * x3 / (qr * x2);
        let m1 = if below(m1) { Dd::ZERO } else { m1 };
        let phi0 = (q / amplitude[1]).atan2(p / amplitude[0]);
        let (n, n1) = (-(pq / qr), pr / qr);
        let length = momentum.dot(momentum).sqrt();
        let u0 = first(phi0, m1);
        Some(Elliptic {
            order,
            parity,
            amplitude,
            length,
            lambda,
            m,
            m1,
            n,
            n1,
            u0,
            excess0: third_excess(n, n1, u0, &jacobi(u0, m, m1), m1),
            rate: [length / moments[order[0]], length * pr / lambda],
            frame0: Matrix3::zeros(),
        })
    }

    /// Momentum in principal axes, and the angle the frame has turned about the space momentum.
    fn at(&self, t: Dd) -> (Vector3<Dd>, Dd) {
        let u = self.lambda * t + self.u0;
        let f = jacobi(u, self.m, self.m1);
        let mut momentum = Vector3::zeros();
        for (axis, value) in self.order.iter().zip([f.cn, f.sn, f.dn].iter().zip(&self.amplitude)) {
            momentum[*axis] = *value.0 * *value.1;
        }
        let excess = third_excess(self.n, self.n1, u, &f, self.m1) - self.excess0;
        (momentum, self.rate[0] * t + self.rate[1] * excess)
    }

    /// Columns e_r × Π, Π × (e_r × Π) and Π, normalised, in principal axes.
    fn frame(&self, momentum: &Vector3<Dd>) -> Matrix3<Dd> {
        let [p, q, _] = self.order;
        let across = (momentum[p] * momentum[p] + momentum[q] * momentum[q]).sqrt();
        let mut first = Vector3::zeros();
        first[q] = momentum[p] / across * self.parity;
        first[p] = -momentum[q] / across * self.parity;
        let third = momentum.map(|x| x / self.length);
        Matrix3::from_columns(&[first, third.cross(&first), third])
    }
}

/// The indices of the moments, the least first.
fn ascending(moments: &[Dd; 3]) -> [usize; 3] {
    let mut sorted = [0, 1, 2];
    sorted.sort_by(|&i, &j| moments[i].to_f64().total_cmp(&moments[j].to_f64()));
    sorted
}

/// Moments and principal axes (columns, right-handed) of a symmetric matrix by Jacobi's rotations.
fn principal_axes(inertia: &Matrix3<Dd>) -> ([Dd; 3], Matrix3<Dd>) {
    let mut a = *inertia;
    let mut axes = Matrix3::identity();
    let size = a.iter().fold(0.0, |s: f64, x| s.max(x.to_f64().abs()));
    for _ in 0..20 {
        let mut rotated = false;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let off = a[(i, j)];
            if off.to_f64().abs() <= 1e-40 * size {
                continue;
            }
            rotated = true;
            // The smaller of the two rotations that clear the entry.
            let theta = (a[(j, j)] - a[(i, i)]) / (off * 2.0);
            let t = Dd::ONE / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if theta.to_f64() < 0.0 { -t } else { t };
            let c = Dd::ONE / (t * t + 1.0).sqrt();
            let mut turn = Matrix3::identity();
            turn[(i, i)] = c;
            turn[(j, j)] = c;
            turn[(i, j)] = t * c;
            turn[(j, i)] = -(t * c);
            a = turn.transpose() * a * turn;
            a[(i, j)] = Dd::ZERO;
            a[(j, i)] = Dd::ZERO;
            axes *= turn;
        }
        if !rotated {
            break;
        }
    }
    ([a[(0, 0)], a[(1, 1)], a[(2, 2)]], axes)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Numbers, distance, integrated};
    use super::*;

    fn diagonal(a: f64, b: f64, c: f64) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(a, b, c))
    }
    /// Against the integrated equations, and the invariants.
    #[track_caller]
    fn check(inertia: &Matrix3<f64>, psi0: [f64; 3], omega0: [f64; 3], t: f64, tolerance: f64) {
        let body = FreeRotation::from_rotation_vector(inertia, &psi0.into(), &omega0.into());
        let start = body.at_dd(0.0);
        let exact = (body.attitude0, body.momentum0);
        assert!(distance(&start, &exact) < 1e-29, "start {:e}", distance(&start, &exact));
        let end = body.at_dd(t);
        let error = distance(&end, &integrated(inertia, 0.0, &exact, t, 1e-27));
        assert!(error < tolerance, "error {error:e}");
        let space = end.0 * end.1 - exact.0 * exact.1;
        assert!(space.iter().all(|x| x.abs().to_f64() < 1e-28));
    }

    // mpmath, Taylor series of order 45 with 40 digits, rounded to two doubles. The decimal inputs are no doubles:
    // their rounding alone moves the momentum by 3e-15.
    #[test]
    fn momentum_against_an_outside_truth() {
        let (moments, omega) = ([0.9144, 1.098, 1.66], [0.45549, 0.82623, 0.03476]);
        let close = |a: &Vector3<Dd>, b: [(f64, f64); 3]| {
            a.iter().zip(b).all(|(x, (hi, lo))| (*x - Dd::new(hi, lo)).abs().to_f64() < 1e-28)
        };
        let inertia = diagonal(moments[0], moments[1], moments[2]);
        let body = FreeRotation::new(&inertia, &Matrix3::identity(), &omega.into());
        let rounded = [
            (0.6615686038527637, -4.407297941143408e-17),
            (0.6341307090387867, 4.8024089659531114e-17),
            (0.4000247708794114, -1.3074175487815148e-17),
        ];
        assert!(close(&body.at_dd(100.0).1, rounded));
        let (attitude, momentum) = body.at(100.0);
        assert!((attitude * momentum - inertia * Vector3::from(omega)).amax() < 1e-15);

        let decimal = |x: f64| Dd::from((x * 1e5).round()) / 1e5;
        let inertia = Matrix3::from_diagonal(&Vector3::from(moments.map(decimal)));
        let body = FreeRotation::from_dd(&inertia, &Matrix3::identity(), &Vector3::from(omega.map(decimal)));
        let exact = [
            (0.6615686038527653, 7.1074340079675425e-19),
            (0.634130709038784, 1.6305303752165853e-17),
            (0.4000247708794128, 1.5246664035215512e-17),
        ];
        assert!(close(&body.at_dd(100.0).1, exact));
    }

    // As above, for the quaternion; its matrix by rows.
    #[test]
    fn attitude_against_an_outside_truth() {
        let inertia = diagonal(0.9144, 1.098, 1.66);
        let (psi, omega) = (Vector3::new(0.3, -0.2, 1.0), Vector3::new(0.45549, 0.82623, 0.03476));
        let attitude = FreeRotation::from_rotation_vector(&inertia, &psi, &omega).at_dd(100.0).0;
        let expected = [
            (0.24594554640706373, 1.124495519963615e-17),
            (-0.7153062249865512, -6.514762246113588e-18),
            (-0.6541007511828895, -1.7442567485848303e-17),
            (0.8237479244486271, 2.913260412226613e-17),
            (0.5098984621434304, 1.2464236050666992e-17),
            (-0.24787681470912842, 1.3370478432799006e-17),
            (0.5108327957062954, 5.209306099839792e-17),
            (-0.477849937531914, 2.0676118838405387e-18),
            (0.7146392740618417, 3.716430163436977e-17),
        ];
        for (k, (hi, lo)) in expected.into_iter().enumerate() {
            assert!((attitude[(k / 3, k % 3)] - Dd::new(hi, lo)).abs().to_f64() < 1e-28);
        }
    }

    #[test]
    fn three_moments_in_any_order() {
        let omega = [0.45549, 0.82623, 0.03476];
        for moments in [[0.9, 1.1, 1.7], [1.1, 0.9, 1.7], [1.7, 1.1, 0.9], [0.9, 1.7, 1.1], [1.7, 0.9, 1.1]] {
            let inertia = diagonal(moments[0], moments[1], moments[2]);
            check(&inertia, [0.3, -0.2, 1.0], omega, 20.0, 1e-25);
            check(&inertia, [0.3, -0.2, 1.0], [0.8, -0.1, 0.3], -20.0, 1e-25);
            check(&inertia, [0.3, 2.0, 1.0], [-0.1, 0.1, -0.9], 20.0, 1e-25);
        }
        check(&diagonal(0.9144, 1.098, 1.66), [0.0; 3], omega, 100.0, 1e-24);
        check(&diagonal(0.9144, 1.098, 1.66), [0.0; 3], omega, -100.0, 1e-24);
    }

    #[test]
    fn full_inertia_and_attitude() {
        let mut numbers = Numbers(7);
        for k in 0..6 {
            let rows = [numbers.vector(), numbers.vector(), numbers.vector()];
            let g = Matrix3::from_columns(&rows);
            let inertia = g * g.transpose() + Matrix3::identity();
            let inertia = (inertia + inertia.transpose()) * 0.5;
            let (psi, omega) = (numbers.vector() * 2.0, numbers.vector() * 2.0);
            let t = if k % 2 == 0 { 30.0 } else { -30.0 };
            check(&inertia, psi.into(), omega.into(), t, 1e-21);
        }
    }

    #[test]
    fn symmetric_bodies_and_steady_spins() {
        check(&diagonal(1.0, 1.0, 2.0), [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], 20.0, 1e-25);
        check(&diagonal(2.0, 1.0, 1.0), [0.1, 0.2, 0.3], [0.4, 0.5, -0.6], 20.0, 1e-25);
        check(&diagonal(1.0, 2.0, 1.0), [0.1, 0.2, 0.3], [0.4, -0.5, 0.6], 20.0, 1e-25);
        check(&diagonal(2.0, 2.0, 1.0), [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], 20.0, 1e-25);
        check(&diagonal(1.0, 1.0, 2.0), [0.1, 0.2, 0.3], [0.4, 0.5, 0.0], 20.0, 1e-25);
        check(&diagonal(1.5, 1.5, 1.5), [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], 20.0, 1e-25);
        for axis in 0..3 {
            let mut omega = [0.0; 3];
            omega[axis] = -1.3;
            check(&diagonal(1.0, 2.0, 3.0), [0.1, 0.2, 0.3], omega, 5.0, 1e-22);
            omega[(axis + 1) % 3] = 1e-12;
            check(&diagonal(1.0, 2.0, 3.0), [0.1, 0.2, 0.3], omega, 5.0, 1e-21);
        }
        check(&diagonal(1.0, 2.0, 3.0), [0.1, 0.2, 0.3], [0.0; 3], 5.0, 1e-22);
    }

    #[test]
    fn at_and_beside_the_separatrix() {
        let inertia = diagonal(1.0, 2.0, 5.0);
        // The separatrix is at Π1²/2 = Π3² 3/10, here missed by a rounding error: m1 is of size 1e-16.
        check(&inertia, [0.0; 3], [(0.6f64).sqrt(), 0.2, 0.2], 10.0, 1e-19);
        // Here at Π1² = Π3², which doubles can meet.
        let inertia = diagonal(3.0, 4.0, 6.0);
        for sign in [1.0, -1.0] {
            let body = FreeRotation::new(&inertia, &Matrix3::identity(), &Vector3::new(2.0 * sign, 0.1, 1.0));
            let Motion::Elliptic(motion) = &body.motion else { panic!("not steady") };
            assert!(motion.m1.to_f64() < 1e-30, "{:?}", motion.m1);
            check(&inertia, [0.0; 3], [2.0 * sign, 0.1, 1.0], 4.0, 1e-21);
            check(&inertia, [0.0; 3], [2.0 * sign, 0.1, 1.0], -4.0, 1e-21);
        }
        // Far along, the body spins about the middle axis, and everything stays finite.
        let body = FreeRotation::new(&inertia, &Matrix3::identity(), &Vector3::new(2.0, 0.1, 1.0));
        let (attitude, momentum) = body.at(1e3);
        assert!((attitude * momentum - Vector3::new(6.0, 0.4, 6.0)).amax() < 1e-13);
    }
}
