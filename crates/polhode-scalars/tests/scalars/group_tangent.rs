//! The tangent of a map and its derivatives in closed form: against dual numbers for every map, and against the
//! formulas of Brüls & Eberhard 2008 for the conformal rotation vector.

use crate::probe::Random;
use nalgebra::{Matrix3, SMatrix, Vector3};
use polhode::group::{
    Cayley, EulerRodrigues, Exponential, Group, Map, Rotation, So3, Tangent, WienerMilenkovic, spin,
};
use polhode::scalar::{Dual, Real};

type D3 = Dual<f64, 3>;
type Second = Dual<Dual<f64, 1>, 1>;

/// Lengths of the parameters: zero, tiny, moderate and large. Euler-Rodrigues parameters are shorter than 2.
fn lengths<M: Map>(map: M) -> Vec<f64> {
    let mut all = vec![0.0, 1e-9, 1e-5, 1e-3, 0.03, 0.3, 1.0, 1.9];
    if map.name() != "euler-rodrigues" {
        all.extend([3.0, 5.5]);
    }
    all
}

/// |a - b| over the size of b, or of what b is made of.
fn apart<const R: usize, const C: usize>(a: &SMatrix<f64, R, C>, b: &SMatrix<f64, R, C>, size: f64) -> f64 {
    (a - b).norm() / b.norm().max(size)
}

/// T as the group has it.
fn reference<M: Map, S: Real>(map: M, p: &Vector3<S>) -> Matrix3<S> {
    let column = |j: usize| {
        let unit = Vector3::from_fn(|i, _| if i == j { S::one() } else { S::zero() });
        So3::tangent(map, p, &unit)
    };
    Matrix3::from_columns(&[column(0), column(1), column(2)])
}

fn variables(p: &Vector3<f64>) -> Vector3<D3> {
    Vector3::from_fn(|i, _| D3::variable(p[i], i))
}

/// The derivative of f with respect to x, by columns.
fn jacobian(f: impl Fn(&Vector3<D3>) -> Vector3<D3>, x: &Vector3<f64>) -> Matrix3<f64> {
    let y = f(&variables(x));
    Matrix3::from_fn(|i, j| y[i].eps[j])
}

fn constant<S: Real, const R: usize, const C: usize>(m: &SMatrix<f64, R, C>) -> SMatrix<S, R, C> {
    m.map(S::lift)
}

/// Calls f with parameters of every length in a few directions, and with two vectors.
fn everywhere<M: Map>(map: M, mut f: impl FnMut(Vector3<f64>, Vector3<f64>, Vector3<f64>)) {
    let mut random = Random(7);
    for length in lengths(map) {
        for _ in 0..20 {
            f(random.axis() * length, random.vector(), random.vector() * 3.0);
        }
        // Along the axis and across it.
        let axis = random.axis();
        f(axis * length, axis, axis.cross(&random.vector()));
    }
}

/// Relative to what is compared: sums of a few products on both sides, for Euler-Rodrigues parameters of 1.9 divided up
/// to three times by a cosine of 0.3.
const DUAL: f64 = 1e-14;

fn agrees_with_duals<M: Map>(map: M) {
    everywhere(map, |p, v, w| {
        let (t, at) = (Tangent::new(map, &p), format!("{} at {}", map.name(), p.norm()));
        let check = |name: &str, error: f64| assert!(error < DUAL, "{name} of {at}: {error:e}");

        let matrix = reference(map, &p);
        check("T", apart(&t.matrix(), &matrix, 1.0));
        check("T x", apart(&t.times(&w), &(matrix * w), w.norm()));
        let condition = matrix.norm() * matrix.try_inverse().unwrap().norm();
        check("the inverse", apart(&(t.inverse() * matrix), &Matrix3::identity(), 1.0) / condition);
        check("the inverse", apart(&(t.inverse() * w), &So3::tangent_inverse(map, &p, &w), w.norm()));

        // (DT·v) w by columns of w.
        let along = |p: &Vector3<f64>, v: &Vector3<f64>| {
            let line = Vector3::from_fn(|i, _| Dual::<f64, 1> { re: p[i], eps: [v[i]] });
            reference(map, &line).map(|x| x.eps[0])
        };
        let derivative = along(&p, &v);
        check("DT.v", apart(&t.derivative(&v), &derivative, v.norm()));
        check("(DT.v) v", apart(&t.rate(&v), &(derivative * v), v.norm_squared()));

        // T along p + s w + r (v + s dv): its derivative by r, then by s.
        let second = |dv: &Vector3<f64>| {
            let curve = Vector3::from_fn(|i, _| Second {
                re: Dual { re: p[i], eps: [w[i]] },
                eps: [Dual { re: v[i], eps: [dv[i]] }],
            });
            reference(map, &curve).map(|x| x.eps[0].eps[0])
        };
        let dv = v.cross(&w) + w;
        let size = v.norm() * w.norm() + dv.norm();
        let still = Vector3::zeros();
        check("D(DT.v).w", apart(&t.second_derivative(&v, &w, &still), &second(&still), size));
        check("D(DT.v).w with dv", apart(&t.second_derivative(&v, &w, &dv), &second(&dv), size));

        let k_t = jacobian(|p| So3::tangent(map, p, &constant(&w)), &p);
        check("k_T", apart(&t.k_t(&w), &k_t, w.norm()));
        let k_g = jacobian(|p| reference(map, p).transpose() * constant::<D3, 3, 1>(&w), &p);
        check("k_G", apart(&t.k_g(&w), &k_g, w.norm()));

        // The rate itself by duals of duals: directions of p (or v) outside, the derivative along v inside.
        let rate = |p: Vector3<D3>, v: Vector3<D3>| {
            let line = Vector3::from_fn(|i, _| Dual::<D3, 1> { re: p[i], eps: [v[i]] });
            reference(map, &line).map(|x| x.eps[0]) * v
        };
        let by = |y: Vector3<D3>| Matrix3::from_fn(|i, j| y[i].eps[j]);
        let (held_p, held_w) = (constant(&p), constant(&w));
        let size = w.norm_squared();
        check("rate by parameters", apart(&t.rate_by_parameters(&w), &by(rate(variables(&p), held_w)), size));
        check("rate by velocity", apart(&t.rate_by_velocity(&w), &by(rate(held_p, variables(&w))), size));
    });
}

#[test]
fn the_exponential_agrees_with_duals() {
    agrees_with_duals(Exponential);
}

#[test]
fn euler_rodrigues_agrees_with_duals() {
    agrees_with_duals(EulerRodrigues);
}

#[test]
fn cayley_agrees_with_duals() {
    agrees_with_duals(Cayley);
}

#[test]
fn wiener_milenkovic_agrees_with_duals() {
    agrees_with_duals(WienerMilenkovic);
}

#[test]
fn at_zero_every_map_is_the_same_to_first_order() {
    fn check<M: Map>(map: M) {
        let (t, v) = (Tangent::new(map, &Vector3::zeros()), Vector3::new(0.3, -1.2, 2.5));
        assert_eq!(t.matrix(), Matrix3::identity(), "{}", map.name());
        assert_eq!(t.inverse(), Matrix3::identity(), "{}", map.name());
        assert!((t.derivative(&v) + spin(&v) * 0.5).norm() < 1e-15, "{}", map.name());
        assert!(t.rate(&v).norm() < 1e-15, "{}", map.name());
    }
    check(Exponential);
    check(EulerRodrigues);
    check(Cayley);
    check(WienerMilenkovic);
}

#[test]
fn the_tangent_turns_rates_of_parameters_into_angular_velocity() {
    fn check<M: Map>(map: M) {
        everywhere(map, |p, rate, _| {
            let line = Vector3::from_fn(|i, _| Dual::<f64, 1> { re: p[i], eps: [rate[i]] });
            let r = Rotation::from_parameters(map, &line).matrix();
            let (attitude, turning) = (r.map(|x| x.re), r.map(|x| x.eps[0]));
            let omega = Tangent::new(map, &p).times(&rate);
            assert!(apart(&turning, &(attitude * spin(&omega)), rate.norm()) < 1e-14, "{}", map.name());
        });
    }
    check(Exponential);
    check(EulerRodrigues);
    check(Cayley);
    check(WienerMilenkovic);
}

/// The printed formulas for the conformal rotation vector, with c₀ = 2 - |c|²/8.
mod printed {
    use super::*;

    pub fn c0(c: &Vector3<f64>) -> f64 {
        2.0 - c.norm_squared() / 8.0
    }
    fn i() -> Matrix3<f64> {
        Matrix3::identity()
    }
    /// (37).
    pub fn attitude(c: &Vector3<f64>) -> Matrix3<f64> {
        let c0 = c0(c);
        (i() * (c0 * c0 + 8.0 * c0 - 16.0) + c * c.transpose() * 2.0 + spin(c) * (2.0 * c0))
            / (4.0 - c0).powi(2)
    }
    /// (38).
    pub fn tangent(c: &Vector3<f64>) -> Matrix3<f64> {
        let c0 = c0(c);
        (i() * c0 + c * c.transpose() / 4.0 - spin(c)) * (2.0 / (4.0 - c0).powi(2))
    }
    /// (2 + c₀/2) I + c cᵀ/4 - c̃.
    fn inner(c: &Vector3<f64>) -> Matrix3<f64> {
        i() * (2.0 + c0(c) / 2.0) + c * c.transpose() / 4.0 - spin(c)
    }
    /// (c vᵀ + v cᵀ)/4 - ṽ.
    fn turn(c: &Vector3<f64>, v: &Vector3<f64>) -> Matrix3<f64> {
        (c * v.transpose() + v * c.transpose()) / 4.0 - spin(v)
    }
    /// (119).
    pub fn derivative(c: &Vector3<f64>, v: &Vector3<f64>) -> Matrix3<f64> {
        let n = 4.0 - c0(c);
        turn(c, v) * (2.0 / (n * n)) - inner(c) * (c.dot(v) / n.powi(3))
    }
    /// The formula after (119).
    pub fn second(c: &Vector3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, dv: &Vector3<f64>) -> Matrix3<f64> {
        let n = 4.0 - c0(c);
        let flat = (w * v.transpose() + v * w.transpose() + c * dv.transpose() + dv * c.transpose()) / 4.0;
        (flat - spin(dv)) * (2.0 / (n * n))
            - turn(c, v) * (c.dot(w) / n.powi(3))
            - (turn(c, w) - i() * (c.dot(w) / 8.0)) * (c.dot(v) / n.powi(3))
            + inner(c) * ((0.75 * c.dot(v) * c.dot(w) / n - w.dot(v) - c.dot(dv)) / n.powi(3))
    }
    /// (120).
    pub fn derivative_transposed(c: &Vector3<f64>, v: &Vector3<f64>, g: &Vector3<f64>) -> Vector3<f64> {
        let n = 4.0 - c0(c);
        let turn = (c * v.transpose() + v * c.transpose()) / 4.0 + spin(v);
        let inner = i() * (2.0 + c0(c) / 2.0) + c * c.transpose() / 4.0 + spin(c);
        turn * g * (2.0 / (n * n)) - inner * g * (c.dot(v) / n.powi(3))
    }
    /// (121).
    pub fn k_g(c: &Vector3<f64>, g: &Vector3<f64>) -> Matrix3<f64> {
        let n = 4.0 - c0(c);
        let cg = c.dot(g) / 4.0;
        (c * g.transpose() / 4.0 + i() * cg - spin(g)) * (2.0 / (n * n))
            - (g * (2.0 + c0(c) / 2.0) + c * cg + c.cross(g)) * c.transpose() / n.powi(3)
    }
    /// Not printed: k_T v = (DT·v) a.
    pub fn k_t(c: &Vector3<f64>, a: &Vector3<f64>) -> Matrix3<f64> {
        let n = 4.0 - c0(c);
        let ca = c.dot(a) / 4.0;
        (c * a.transpose() / 4.0 + i() * ca + spin(a)) * (2.0 / (n * n))
            - (a * (2.0 + c0(c) / 2.0) + c * ca - c.cross(a)) * c.transpose() / n.powi(3)
    }
}

#[test]
fn the_conformal_rotation_vector_has_the_printed_formulas() {
    everywhere(WienerMilenkovic, |c, v, w| {
        let t = Tangent::new(WienerMilenkovic, &c);
        let dv = v.cross(&w) + w;
        let size = v.norm() * w.norm() + dv.norm();
        let check = |name: &str, error: f64| assert!(error < 3e-15, "{name} at {}: {error:e}", c.norm());
        let attitude = Rotation::from_parameters(WienerMilenkovic, &c).matrix();
        check("(37)", apart(&attitude, &printed::attitude(&c), 1.0));
        check("(38)", apart(&t.matrix(), &printed::tangent(&c), 1.0));
        check("(119)", apart(&t.derivative(&v), &printed::derivative(&c, &v), v.norm()));
        let second = printed::second(&c, &v, &w, &dv);
        check("the second derivative", apart(&t.second_derivative(&v, &w, &dv), &second, size));
        let transposed = printed::derivative_transposed(&c, &v, &w);
        let size = v.norm() * w.norm();
        check("(120)", apart(&(t.derivative(&v).transpose() * w), &transposed, size));
        check("(120), (121)", apart(&(t.k_g(&w) * v), &transposed, size));
        check("(121)", apart(&t.k_g(&w), &printed::k_g(&c, &w), w.norm()));
        check("k_T", apart(&t.k_t(&w), &printed::k_t(&c, &w), w.norm()));
    });
}

/// A body under a force f in space at the point X.
struct Held {
    inertia: Matrix3<f64>,
    point: Vector3<f64>,
    force: Vector3<f64>,
    reference: Rotation<f64>,
}

impl Held {
    fn random(random: &mut Random) -> Self {
        let m = Matrix3::from_fn(|_, _| random.within(-1.0, 1.0));
        Held {
            inertia: m * m.transpose() + Matrix3::identity(),
            point: random.vector(),
            force: random.vector() * 5.0,
            reference: Rotation::from_rotation_vector(&random.vector()),
        }
    }
    /// g(φ, φ̇, φ̈) = Tᵀ (J T φ̈ + J Ṫ φ̇ + Ω × J Ω - X̃ Rᵀ f), by duals and without the derivatives under test.
    fn balance<M: Map>(&self, map: M, [phi, rate, second]: [&Vector3<D3>; 3]) -> Vector3<D3> {
        let (inertia, point, force) =
            (constant::<D3, 3, 3>(&self.inertia), constant::<D3, 3, 1>(&self.point), constant(&self.force));
        let line = Vector3::from_fn(|i, _| Dual::<D3, 1> { re: phi[i], eps: [rate[i]] });
        let t = reference(map, &line);
        let (t, turning) = (t.map(|x| x.re), t.map(|x| x.eps[0]));
        let omega = t * rate;
        let attitude: Matrix3<D3> =
            constant::<D3, 3, 3>(&self.reference.matrix()) * Rotation::from_parameters(map, phi).matrix();
        let momentum = inertia * omega;
        t.transpose()
            * (inertia * (t * second) + inertia * (turning * rate) + omega.cross(&momentum)
                - point.cross(&(attitude.transpose() * force)))
    }
    /// The same balance and its derivatives k_t (65) and c_t (66), from the closed forms.
    fn tangents<M: Map>(&self, map: M, [phi, rate, second]: [&Vector3<f64>; 3]) -> [Matrix3<f64>; 2] {
        let (j, t) = (&self.inertia, Tangent::new(map, phi));
        let (matrix, turning) = (t.matrix(), t.derivative(rate));
        let omega = matrix * rate;
        let attitude = self.reference.compose(&Rotation::from_parameters(map, phi));
        let pulled = attitude.unrotate(&self.force);
        let balance = j * (matrix * second + turning * rate) + omega.cross(&(j * omega));
        let balance = balance - self.point.cross(&pulled);
        // (55).
        let stiffness = -spin(&self.point) * spin(&pulled);
        let gyroscopic = spin(&omega) * j - spin(&(j * omega));
        let k_t = t.k_g(&balance)
            + matrix.transpose()
                * (j * (t.k_t(second) + t.rate_by_parameters(rate))
                    + gyroscopic * t.k_t(rate)
                    + stiffness * matrix);
        let c_t = matrix.transpose() * (j * t.rate_by_velocity(rate) + gyroscopic * matrix);
        [k_t, c_t]
    }
}

/// (65) and (66) as they are printed, with (55).
fn printed_tangents<M: Map>(
    held: &Held,
    map: M,
    [phi, rate, second]: [&Vector3<f64>; 3],
) -> [Matrix3<f64>; 2] {
    let (j, t) = (&held.inertia, Tangent::new(map, phi));
    let (matrix, first) = (t.matrix(), t.derivative(rate));
    let (omega, omega_rate) = (matrix * rate, matrix * second + first * rate);
    let attitude = held.reference.compose(&Rotation::from_parameters(map, phi));
    let pulled = attitude.unrotate(&held.force);
    let balance = j * omega_rate + omega.cross(&(j * omega)) - held.point.cross(&pulled);
    let stiffness = -spin(&held.point) * spin(&pulled);
    let gyroscopic = spin(&omega) * j - spin(&(j * omega));
    let inertial =
        t.second_derivative(rate, rate, second) + spin(&omega) * first + spin(&omega_rate) * matrix;
    let inner = j * inertial + gyroscopic * (first + spin(&omega) * matrix) + stiffness * matrix;
    let k_t = t.k_g(&balance) + matrix.transpose() * inner;
    let c_t = matrix.transpose() * (j * (first * 2.0 + spin(&omega) * matrix) + gyroscopic * matrix);
    [k_t, c_t]
}

fn tangent_matrices_of_a_body<M: Map>(map: M) {
    let mut random = Random(11);
    everywhere(map, |phi, rate, second| {
        let held = Held::random(&mut random);
        let [k_t, c_t] = held.tangents(map, [&phi, &rate, &second]);
        let (p, v, a) = (constant(&phi), constant(&rate), constant(&second));
        let by_phi = jacobian(|p| held.balance(map, [p, &v, &a]), &phi);
        let by_rate = jacobian(|v| held.balance(map, [&p, v, &a]), &rate);
        let at = format!("{} at {}", map.name(), phi.norm());
        let size = held.inertia.norm() * (second.norm() + rate.norm_squared()) + held.force.norm();
        assert!(apart(&k_t, &by_phi, size) < DUAL, "k_t of {at}: {:e}", apart(&k_t, &by_phi, size));
        assert!(apart(&c_t, &by_rate, size) < DUAL, "c_t of {at}: {:e}", apart(&c_t, &by_rate, size));
        let [k_t, c_t] = printed_tangents(&held, map, [&phi, &rate, &second]);
        assert!(apart(&k_t, &by_phi, size) < DUAL, "(65) of {at}: {:e}", apart(&k_t, &by_phi, size));
        assert!(apart(&c_t, &by_rate, size) < DUAL, "(66) of {at}: {:e}", apart(&c_t, &by_rate, size));

        // k_a is the derivative of j(φ) a = Tᵀ J T a.
        let (j, t) = (&held.inertia, Tangent::new(map, &phi));
        let k_a = t.k_g(&(j * t.times(&second))) + t.matrix().transpose() * j * t.k_t(&second);
        let slope = jacobian(
            |p| {
                let t = reference(map, p);
                t.transpose() * (constant::<D3, 3, 3>(j) * (t * a))
            },
            &phi,
        );
        assert!(apart(&k_a, &slope, size) < DUAL, "k_a of {at}: {:e}", apart(&k_a, &slope, size));
    });
}

#[test]
fn tangent_matrices_of_a_body_agree_with_duals() {
    tangent_matrices_of_a_body(Exponential);
    tangent_matrices_of_a_body(EulerRodrigues);
    tangent_matrices_of_a_body(Cayley);
    tangent_matrices_of_a_body(WienerMilenkovic);
}

#[test]
fn parameterized_stiffness_is_symmetric_in_statics() {
    let (mut random, mut skewest) = (Random(13), 0f64);
    everywhere(WienerMilenkovic, |phi, _, _| {
        let held = Held::random(&mut random);
        let still = Vector3::zeros();
        let [k_t, _] = held.tangents(WienerMilenkovic, [&phi, &still, &still]);
        let size = held.point.norm() * held.force.norm();
        assert!((k_t - k_t.transpose()).norm() < 3e-15 * size, "{:e}", (k_t - k_t.transpose()).norm() / size);
        // That of the group is not: K - Kᵀ is the spin of the moment.
        let attitude = held.reference.compose(&Rotation::from_parameters(WienerMilenkovic, &phi));
        let pulled = attitude.unrotate(&held.force);
        let geometric = -spin(&held.point) * spin(&pulled);
        let skew = geometric - geometric.transpose();
        assert!((skew + spin(&held.point.cross(&pulled))).norm() < 1e-14 * size);
        skewest = skewest.max(skew.norm() / size);
    });
    assert!(skewest > 0.1);
}
