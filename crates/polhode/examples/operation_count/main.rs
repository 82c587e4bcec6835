//! A scalar of one's own that counts, used to weigh a claim: Bauchau et al. 2013 (end of section 5) give 270
//! operations for the Jacobian of the intrinsic equations of motion and 594 for the parameterized ones.
//! What is counted, the table and what it says: docs/operation-count.md.
//!
//! Symbols: Q = {q, p} parameters of the motion C since the start of the step (p alone on SO(3)), H(Q) tangent,
//! V velocity, M inertia, P = M V, A load, ~ the matrix of the bracket, G(y) x = x~ᵀ y.

mod counted;

use counted::{Counted, Matrix, WAY, Way, count, during, multiplying, sum};
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{RotaryInertia, SpatialInertia};
use polhode::group::{Coordinates, Group, MapKind, Se3, So3, Vectorial, lift, unit};
use polhode::scalar::{Dual, Over, Real};

type Vector<G> = <G as Group>::Vector<Counted>;

/// The matrix with these columns, whose making is no arithmetic.
fn columns<G: Dynamics>(column: impl Fn(&Vector<G>) -> Vector<G>) -> Matrix {
    during(Way::Nothing, || Matrix::from_fn(Vector::<G>::LEN, |i, j| column(&unit(j)).at(i)))
}
/// V~.
fn tilde<G: Dynamics>(v: &Vector<G>) -> Matrix {
    columns::<G>(|e| G::bracket(v, e))
}
/// G(y).
fn load_tilde<G: Dynamics>(y: &Vector<G>) -> Matrix {
    columns::<G>(|e| G::transport(e, y))
}

/// A function of s = p·p with its first two derivatives.
type Curve<T> = [T; 3];

/// μ, z₂ and c of H = μ + z₂ p~ + c p~p~, in closed form; the derivatives only if `rates`.
fn coefficients<T: Real>(kind: MapKind, s: T, rates: bool) -> [Curve<T>; 3] {
    let k = T::lift;
    let (zero, one) = (T::zero(), T::one());
    let still = |x: T| [x, zero, zero];
    let scaled = |f: Curve<T>, x: f64| f.map(|v| v * k(x));
    match kind {
        MapKind::Exponential => {
            let inverse = one / s;
            let angle = s.sqrt();
            let (sin, cos) = angle.sin_cos();
            let z1 = sin * angle * inverse;
            let (z, c) = ((one - cos) * inverse, (one - z1) * inverse);
            if !rates {
                return [still(one), still(z), still(c)];
            }
            let half = inverse * k(0.5);
            let (dz1, dz, dc) = ((c - z) * k(0.5), (z1 - z - z) * half, (z - k(3.0) * c) * half);
            [still(one), [z, dz, (dz1 - k(4.0) * dz) * half], [c, dc, (dz - k(5.0) * dc) * half]]
        }
        MapKind::EulerRodrigues => {
            let mu = one / (one - s * k(0.25)).sqrt();
            if !rates {
                return [still(mu), still(k(0.5)), still(mu * k(0.25))];
            }
            let square = mu * mu * k(0.125);
            let slope = square * mu;
            let mu = [mu, slope, k(3.0) * square * slope];
            [mu, still(k(0.5)), scaled(mu, 0.25)]
        }
        MapKind::Cayley => {
            let a = one / (one + s * k(0.25));
            if !rates {
                return [still(a), still(a * k(0.5)), still(zero)];
            }
            let slope = a * a * k(-0.25);
            let a = [a, slope, a * slope * k(-0.5)];
            [a, scaled(a, 0.5), still(zero)]
        }
        MapKind::WienerMilenkovic => {
            let b = one / (one + s * k(1.0 / 16.0));
            let square = b * b;
            if !rates {
                return [still(b), still(square * k(0.5)), still(square * k(0.125))];
            }
            let slope = square * k(-1.0 / 16.0);
            let bend = b * slope * k(-0.125);
            let z = [square * k(0.5), b * slope, slope * slope + b * bend];
            [[b, slope, bend], z, scaled(z, 0.25)]
        }
    }
}

fn skew<T: Real>(p: &Vector3<T>) -> Matrix3<T> {
    let zero = T::zero();
    Matrix3::new(zero, -p[2], p[1], p[2], zero, -p[0], -p[1], p[0], zero)
}
fn product<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    multiplying(|| {
        Matrix3::from_fn(|i, j| a[(i, 0)] * b[(0, j)] + a[(i, 1)] * b[(1, j)] + a[(i, 2)] * b[(2, j)])
    })
}
/// The symmetric matrix with these entries on and above the diagonal.
fn mirrored<T: Real>(mut f: impl FnMut(usize, usize) -> T) -> Matrix3<T> {
    let mut m = Matrix3::from_element(T::zero());
    for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        m[(i, j)] = f(i, j);
        m[(j, i)] = m[(i, j)];
    }
    m
}
/// x p~p~.
fn square<T: Real>(p: &Vector3<T>, x: T) -> Matrix3<T> {
    let k = p.map(|v| v * x);
    if WAY.get() != Way::Lean {
        return product(&skew(p), &skew(&k));
    }
    let d: [T; 3] = std::array::from_fn(|i| p[i] * k[i]);
    mirrored(|i, j| if i == j { -(d[(i + 1) % 3] + d[(i + 2) % 3]) } else { p[i] * k[j] })
}
/// p~k~ + k~p~.
fn mixed<T: Real>(p: &Vector3<T>, k: &Vector3<T>) -> Matrix3<T> {
    if WAY.get() != Way::Lean {
        let x = product(&skew(p), &skew(k));
        return Matrix3::from_fn(|i, j| x[(i, j)] + x[(j, i)]);
    }
    let d: [T; 3] = std::array::from_fn(|i| p[i] * k[i]).map(|x: T| x + x);
    mirrored(|i, j| if i == j { -(d[(i + 1) % 3] + d[(i + 2) % 3]) } else { p[i] * k[j] + k[i] * p[j] })
}
/// R m Rᵀ.
fn turned(r: &Matrix3<Counted>, m: &Matrix3<Counted>) -> Matrix3<Counted> {
    let x = product(r, m);
    if WAY.get() != Way::Lean {
        return product(&x, &r.transpose());
    }
    mirrored(|i, j| x[(i, 0)] * r[(j, 0)] + x[(i, 1)] * r[(j, 1)] + x[(i, 2)] * r[(j, 2)])
}

/// Body axes or space axes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    Body,
    Space,
}

/// Rotation parameters with their rates, dual ones on SE(3).
struct Path<T: Real> {
    kind: MapKind,
    frame: Frame,
    p: [Vector3<T>; 3],
}

impl<T: Real> Path<T> {
    /// The combination of p, ṗ and p̈ with these factors.
    fn along(&self, factors: &[T]) -> Vector3<T> {
        Vector3::from_fn(|i, _| sum(factors.iter().zip(&self.p).map(|(&f, p)| f * p[i])))
    }
    /// α + β~ + the symmetric part: H(p) in space, H(-p) in the body.
    fn assembled(&self, alpha: T, beta: Vector3<T>, parts: &[&dyn Fn() -> Matrix3<T>]) -> Matrix3<T> {
        let mut m = skew(&if self.frame == Frame::Body { -beta } else { beta });
        m.fill_diagonal(alpha);
        // The Cayley map has no p~p~.
        let parts = if self.kind == MapKind::Cayley { &[] } else { parts };
        parts.iter().fold(m, |m, part| m.zip_map(&part(), |a, b| a + b))
    }
    /// H.
    fn tangent(&self) -> Matrix3<T> {
        let p = &self.p[0];
        let [[mu, ..], [z, ..], [c, ..]] = coefficients(self.kind, p.dot(p), false);
        self.assembled(mu, self.along(&[z]), &[&|| square(p, c)])
    }
    /// H, the E of (H δp)˙ = E δp and the F of (H δp)¨ = F δp where δṗ = a δp and δp̈ = b δp:
    /// E = a H + Ḣ, F = b H + 2a Ḣ + Ḧ.
    fn tangents(&self, (a, b): (f64, f64)) -> [Matrix3<T>; 3] {
        let (a, b, half, two) = (T::lift(a), T::lift(b), T::lift(0.5), T::lift(2.0));
        let [p, dp, ddp] = &self.p;
        let (ds, dds) = (two * p.dot(dp), two * (dp.dot(dp) + p.dot(ddp)));
        let ds2 = ds * ds;
        // The factor of p in H, E and F, and that of ṗ in F.
        let [mu, z, c] = coefficients(self.kind, p.dot(p), true).map(|[f, f1, f2]| {
            let df = f1 * ds;
            let first = a * f + df;
            [f, first, b * f + two * (a * df) + (f2 * ds2 + f1 * dds), two * first]
        });
        [
            self.assembled(mu[0], self.along(&[z[0]]), &[&|| square(p, c[0])]),
            self.assembled(
                mu[1],
                self.along(&[z[1], z[0]]),
                &[&|| mixed(p, &self.along(&[half * c[1], c[0]]))],
            ),
            self.assembled(
                mu[2],
                self.along(&[z[2], z[3], z[0]]),
                &[&|| mixed(p, &self.along(&[half * c[2], c[3], c[0]])), &|| square(dp, two * c[0])],
            ),
        ]
    }
}

/// A step. The body frame is that of space at its start.
struct Case<G: Dynamics> {
    kind: MapKind,
    frame: Frame,
    inertia: G::Inertia<Counted>,
    /// Parameters of the motion with their rates.
    q: [Vector<G>; 3],
    v: Vector<G>,
    dv: Vector<G>,
    /// The load in space; in [`Form::Momentum`] the momentum at the start.
    load: Vector<G>,
}

const STEP: f64 = 0.1;
/// δV/δQ and δV̇/δQ of Newmark's formulas with β = 1/4, γ = 1/2.
const RATES: (f64, f64) = (2.0 / STEP, 4.0 / (STEP * STEP));

/// M V, in the frame.
fn momentum<G: Dynamics, T: Over<Counted>>(
    case: &Case<G>,
    step: &G::Increment<T>,
    v: &G::Vector<T>,
) -> G::Vector<T> {
    let inertia = G::lift_inertia::<Counted, T>(&case.inertia);
    match case.frame {
        Frame::Body => G::momentum(&inertia, v),
        Frame::Space => G::push(step, &G::momentum(&inertia, &G::pull_velocity(step, v))),
    }
}
/// M V̇ - V~ᵀ M V - A.
fn dynamics<G: Dynamics, T: Over<Counted>>(
    case: &Case<G>,
    q: &G::Vector<T>,
    v: &G::Vector<T>,
    dv: &G::Vector<T>,
) -> G::Vector<T> {
    let step = G::increment(Vectorial::from(case.kind), q);
    let load = lift::<Counted, T, _, G::Vector<T>>(&case.load);
    let load = if case.frame == Frame::Body { G::pull(&step, &load) } else { load };
    momentum(case, &step, dv) - G::transport(v, &momentum(case, &step, v)) - load
}
/// {V, V̇} of parameters and their rates, by one more dual.
fn velocities<G: Dynamics, T: Real>(case: &Case<G>, q: &[G::Vector<T>; 3]) -> [G::Vector<T>; 2] {
    let dual =
        |i: usize| G::Vector::<Dual<T, 1>>::generate(|k| Dual { re: q[i].at(k), eps: [q[i + 1].at(k)] });
    let at = if case.frame == Frame::Body { dual(0) } else { -dual(0) };
    let v = G::tangent(Vectorial::from(case.kind), &at, &dual(1));
    [G::Vector::<T>::generate(|k| v.at(k).re), G::Vector::<T>::generate(|k| v.at(k).eps[0])]
}

/// The ways to pose the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Eqs (9) and (22): M V_f = C*(h (V_i + V_f)/2)ᵀ P_i, the unknown is V_f.
    Momentum,
    /// Eqs (24)-(26): velocities and accelerations are unknowns of their own, the increment has parameters Q.
    Alpha,
    /// V = H(Q) Q̇: the only unknown is Q.
    Classical,
}

/// The Jacobian from the residual, by duals.
fn by_duals<G: Dynamics, const N: usize>(case: &Case<G>, form: Form) -> Matrix {
    // An unknown that moves with the given slope.
    let moving = |x: &Vector<G>, slope: f64| {
        during(Way::Nothing, || {
            G::Vector::<Dual<Counted, N>>::generate(|i| {
                Dual::of(x.at(i)) + Dual::variable(Counted(0.0), i) * Dual::lift(slope)
            })
        })
    };
    let (q, (a, b)) = (&case.q, RATES);
    let residual = match form {
        Form::Momentum => {
            let step = G::increment(Vectorial::from(case.kind), &moving(&q[0], STEP / 2.0));
            let start = lift::<Counted, Dual<Counted, N>, _, G::Vector<Dual<Counted, N>>>(&case.load);
            momentum(case, &step, &moving(&case.v, 1.0)) - G::pull(&step, &start)
        }
        Form::Alpha => dynamics(case, &moving(&q[0], 1.0), &moving(&case.v, a), &moving(&case.dv, b)),
        Form::Classical => {
            let q = [moving(&q[0], 1.0), moving(&q[1], a), moving(&q[2], b)];
            let [v, dv] = velocities(case, &q);
            dynamics(case, &q[0], &v, &dv)
        }
    };
    Matrix::from_fn(Vector::<G>::LEN, |i, j| residual.at(i).eps[j])
}

/// What the residual leaves for the Jacobian, and is not counted.
struct Given<G: Dynamics> {
    /// M in the body.
    inertia: Matrix,
    attitude: Matrix3<Counted>,
    position: Vector3<Counted>,
    momentum: Vector<G>,
    /// M V̇.
    rate: Vector<G>,
    /// M V̇ - V~ᵀ P.
    force: Vector<G>,
    /// The load (the old momentum in [`Form::Momentum`]) seen from the end of the step.
    load: Vector<G>,
}

fn given<G: Dynamics>(case: &Case<G>) -> Given<G> {
    let step = G::increment(Vectorial::from(case.kind), &case.q[0]);
    let at = G::kinematics(Counted(0.0), &G::advance(&G::identity(), &step), &case.v);
    let p = momentum(case, &step, &case.v);
    let rate = momentum(case, &step, &case.dv);
    Given {
        inertia: columns::<G>(|e| G::momentum(&case.inertia, e)),
        attitude: at.attitude.matrix(),
        position: at.position,
        momentum: p,
        rate,
        force: rate - G::transport(&case.v, &p),
        load: G::pull(&step, &case.load),
    }
}

/// The matrices of a group.
trait Blocks: Dynamics {
    /// H alone; or H, E and F; in the body on SE(3), where that is cheaper, H, δV/δQ and δV̇/δQ.
    fn tangent_matrices(case: &Case<Self>, all: bool) -> Vec<Matrix>;
    /// M in space.
    fn space_inertia(inertia: &Self::Inertia<Counted>, given: &Given<Self>) -> Matrix;
}

/// H alone, or H, E and F.
fn tangents<T: Real>(kind: MapKind, frame: Frame, p: [Vector3<T>; 3], all: bool) -> Vec<Matrix3<T>> {
    let path = Path { kind, frame, p };
    if all { path.tangents(RATES).to_vec() } else { vec![path.tangent()] }
}
/// δV/δQ = E + V~H and δV̇/δQ = F + V̇~H + V~E in the body.
fn variations<T: Real>(v: &Vector3<T>, dv: &Vector3<T>, [h, e, f]: [&Matrix3<T>; 3]) -> [Matrix3<T>; 2] {
    let plus = |a: &Matrix3<T>, b: &Matrix3<T>| a.zip_map(b, |a, b| a + b);
    let (v, dv) = (skew(v), skew(dv));
    [plus(e, &product(&v, h)), plus(f, &plus(&product(&dv, h), &product(&v, e)))]
}

impl Blocks for So3 {
    fn tangent_matrices(case: &Case<So3>, all: bool) -> Vec<Matrix> {
        let matrices = tangents(case.kind, case.frame, case.q, all);
        matrices.iter().map(|m| Matrix::from_fn(3, |i, j| m[(i, j)])).collect()
    }
    fn space_inertia(inertia: &RotaryInertia<Counted>, given: &Given<So3>) -> Matrix {
        let m = turned(&given.attitude, inertia.matrix());
        Matrix::from_fn(3, |i, j| m[(i, j)])
    }
}
impl Blocks for Se3 {
    fn tangent_matrices(case: &Case<Se3>, all: bool) -> Vec<Matrix> {
        let dual = |x: Vector<Se3>| Vector3::from_fn(|i, _| Dual { re: x[3 + i], eps: [x[i]] });
        let mut matrices = tangents(case.kind, case.frame, case.q.map(dual), all);
        if let ([h, e, f], Frame::Body) = (&matrices[..], case.frame) {
            let [first, second] = variations(&dual(case.v), &dual(case.dv), [h, e, f]);
            matrices = vec![*h, first, second];
        }
        let entry = |m: &Matrix3<Dual<Counted, 1>>, i: usize, j: usize| match (i / 3, j / 3) {
            (0, 1) => m[(i, j - 3)].eps[0],
            (1, 0) => Counted(0.0),
            _ => m[(i % 3, j % 3)].re,
        };
        matrices.iter().map(|m| Matrix::from_fn(6, |i, j| entry(m, i, j))).collect()
    }
    fn space_inertia(inertia: &SpatialInertia<Counted>, given: &Given<Se3>) -> Matrix {
        let (mass, c, r) = (inertia.mass(), inertia.center(), &given.attitude);
        let center = Vector3::from_fn(|i, _| {
            given.position[i] + (r[(i, 0)] * c[0] + r[(i, 1)] * c[1] + r[(i, 2)] * c[2])
        });
        let first = skew(&center.map(|x| x * mass));
        let second = turned(r, inertia.about_center()).zip_map(&square(&center, mass), |a, b| a - b);
        Matrix::from_fn(6, |i, j| match (i / 3, j / 3) {
            (0, 0) if i == j => mass,
            (0, 0) => Counted(0.0),
            (1, 1) => second[(i - 3, j - 3)],
            (0, _) => -first[(i, j - 3)],
            _ => first[(i - 3, j)],
        })
    }
}

/// The Jacobian in closed form; for the intrinsic forms `exact` false puts 1 for H.
fn by_hand<G: Blocks>(case: &Case<G>, given: &Given<G>, form: Form, exact: bool) -> Matrix {
    let (a, b) = (Counted(RATES.0), Counted(RATES.1));
    let after_tangent = |k: Matrix| if exact { &k * &G::tangent_matrices(case, false)[0] } else { k };
    if form == Form::Momentum {
        // M - h/2 G(y) H(-Q).
        return &given.inertia - &after_tangent(load_tilde::<G>(&(given.load * Counted(STEP / 2.0))));
    }
    let m = match case.frame {
        Frame::Body => given.inertia.clone(),
        Frame::Space => G::space_inertia(&case.inertia, given),
    };
    let (v, dv) = (tilde::<G>(&case.v), tilde::<G>(&case.dv));
    let (gp, gload) = (load_tilde::<G>(&given.momentum), load_tilde::<G>(&given.load));
    // δ(-V~ᵀ P) = D δV with D = -G(P) - V~ᵀ M, and V~ᵀ M = (M V~)ᵀ.
    let mv = &m * &v;
    let minus_d = &gp + &mv.transposed();
    match (form, case.frame) {
        (Form::Classical, frame) => {
            let tangents = G::tangent_matrices(case, true);
            let (first, zeroth) = match frame {
                // δV = (E - V~H) δQ, δV̇ = (F - V̇~H - V~E) δQ and, with w = H δQ, δM = -w~ᵀM - M w~:
                // most terms cancel.
                Frame::Space => (&minus_d + &mv, load_tilde::<G>(&given.force)),
                // With δV and δV̇ at hand; δA = G(A) H δQ.
                Frame::Body if G::MOVES => (minus_d, gload),
                // δV = (E + V~H) δQ, δV̇ = (F + V̇~H + V~E) δQ, collected.
                Frame::Body => (&minus_d - &mv, &(&minus_d * &v) + &(&gload - &(&m * &dv))),
            };
            &(&m * &tangents[2]) - &(&(&first * &tangents[1]) + &(&zeroth * &tangents[0]))
        }
        (_, Frame::Body) => {
            &(&m.times(b) - &minus_d.times(a)) + &after_tangent(load_tilde::<G>(&-given.load))
        }
        (_, Frame::Space) => {
            let turning = &(&v.transposed() * &(&gp - &mv)) + &(&m * &dv);
            let stiffness = &turning - &load_tilde::<G>(&given.rate);
            &(&m.times(b) - &minus_d.times(a)) + &after_tangent(stiffness)
        }
    }
}

/// The rows of the table.
const ROWS: [(&str, Form, Frame); 5] = [
    ("intrinsic, momentum (9)/(22), body", Form::Momentum, Frame::Body),
    ("intrinsic, gen-alpha (24)-(26), space", Form::Alpha, Frame::Space),
    ("intrinsic, gen-alpha, body", Form::Alpha, Frame::Body),
    ("classical, space", Form::Classical, Frame::Space),
    ("classical, body", Form::Classical, Frame::Body),
];

fn case<G: Dynamics>(inertia: &G::Inertia<f64>, kind: MapKind, form: Form, frame: Frame) -> Case<G> {
    let vector = |x: [f64; 6]| {
        let part = |i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]).map(Counted);
        G::vector(&part(0), &part(3))
    };
    let q = [
        vector([0.31, -0.12, 0.23, 0.27, 0.41, -0.18]),
        vector([0.7, 1.3, -0.4, -1.9, 0.6, 2.3]),
        vector([-2.1, 0.9, 3.2, 1.7, -2.6, 0.8]),
    ];
    let inertia = G::lift_inertia::<f64, Counted>(inertia);
    let load = vector([1.2, -3.1, 0.7, 2.2, 0.4, -1.6]);
    let mut case = Case { kind, frame, inertia, q, v: q[1], dv: q[2], load };
    if form == Form::Classical {
        [case.v, case.dv] = velocities(&case, &q);
    }
    case
}

/// A line of the table: what a row costs made in one way, for each map.
struct Line {
    row: usize,
    exact: bool,
    way: Way,
    cost: [[u32; 5]; 4],
}

const WAYS: [(&str, Way); 4] =
    [("6x6", Way::Dense), ("3x3", Way::Blocks), ("lean", Way::Lean), ("duals", Way::All)];

/// The counts for a group, checking the matrices on the way.
fn counts<G: Blocks>(inertia: &G::Inertia<f64>) -> Vec<Line> {
    let mut lines = vec![];
    for (row, (name, form, frame)) in ROWS.into_iter().enumerate() {
        for (exact, (_, way)) in [true, false].into_iter().flat_map(|exact| WAYS.map(|way| (exact, way))) {
            let dropped = !exact && (form == Form::Classical || way == Way::All);
            if dropped || !G::MOVES && way == Way::Dense {
                continue;
            }
            let cost = MapKind::ALL.map(|kind| {
                let case = case::<G>(inertia, kind, form, frame);
                let given = given(&case);
                let duals = || match G::MOVES {
                    true => by_duals::<G, 6>(&case, form),
                    false => by_duals::<G, 3>(&case, form),
                };
                let (cost, matrix) = match way {
                    Way::All => count(way, duals),
                    _ => count(way, || by_hand(&case, &given, form, exact)),
                };
                let truth = duals();
                let size = truth.a.iter().fold(0.0, |m: f64, x| m.max(x.0.abs()));
                let error =
                    truth.a.iter().zip(&matrix.a).fold(0.0, |m: f64, (x, y)| m.max((x.0 - y.0).abs()));
                assert!(!exact || error < 1e-10 * size, "{name}, {kind:?}: off by {error:e} of {size:e}");
                cost
            });
            lines.push(Line { row, exact, way, cost });
        }
    }
    lines
}

/// The lines of the table, of the ratios and of the other operations.
fn report(group: &str, lines: &[Line]) -> [Vec<String>; 3] {
    let joined = |cells: [String; 4]| cells.join(" | ");
    let table = lines.iter().map(|line| {
        let tangent = if line.exact { "" } else { ", H = 1" };
        let way = WAYS.iter().find(|w| w.1 == line.way).map_or("", |w| w.0);
        let cells = line.cost.map(|c| format!("{}+{}", c[0], c[1]));
        format!("| {group} | {}{tangent} | {way} | {} |", ROWS[line.row].0, joined(cells))
    });
    // An operation of the paper is a multiplication with an addition.
    let operations = |rows: &[usize], exact: bool, way: Way, map: usize| {
        let fits = |line: &&Line| rows.contains(&line.row) && line.exact == exact && line.way == way;
        lines.iter().filter(fits).map(|line| line.cost[map][0].max(line.cost[map][1])).min()
    };
    let compared: [(&str, &[usize], bool, &[usize]); 6] = [
        ("space, gen-alpha / classical", &[1], true, &[3]),
        ("space, gen-alpha with H = 1 / classical", &[1], false, &[3]),
        ("body, gen-alpha / classical", &[2], true, &[4]),
        ("body, gen-alpha with H = 1 / classical", &[2], false, &[4]),
        ("cheaper frame each, gen-alpha / classical", &[1, 2], true, &[3, 4]),
        ("momentum / classical in its cheaper frame", &[0], true, &[3, 4]),
    ];
    let ratios = compared.iter().map(|(name, upper, exact, lower)| {
        let cells = [0, 1, 2, 3].map(|map| {
            let ways = [Way::Blocks, Way::Lean, Way::All].into_iter();
            let percent = ways.filter_map(|way| {
                let (upper, lower) =
                    (operations(upper, *exact, way, map)?, operations(lower, true, way, map)?);
                Some(format!("{:.0}", 100.0 * f64::from(upper) / f64::from(lower)))
            });
            percent.collect::<Vec<_>>().join(", ")
        });
        format!("| {group} | {name} | {} |", joined(cells))
    });
    let others =
        lines.iter().filter(|line| line.exact && line.way == Way::Lean && [0, 3].contains(&line.row));
    let others = others.map(|line| {
        let name = if line.row == 0 { "intrinsic, each with H" } else { "classical" };
        format!(
            "| {group} | {name} | {} |",
            joined(line.cost.map(|c| format!("{}, {}, {}", c[2], c[3], c[4])))
        )
    });
    [table.collect(), ratios.collect(), others.collect()]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The body of section 5 of the paper.
    let (mass, center) = (6.0, Vector3::new(0.25, -0.03, 0.12));
    let about_point = Matrix3::new(1.25, 0.57, -0.23, 0.57, 1.56, 0.34, -0.23, 0.34, 2.54);
    let so3 = report("SO(3)", &counts::<So3>(&RotaryInertia::about_fixed_point(about_point)?));
    let se3 = report("SE(3)", &counts::<Se3>(&SpatialInertia::mass_matrix(mass, center, about_point)?));
    // The document with the counts must have these very lines; a packaged crate comes without it.
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operation-count.md"));
    let titles = [
        "multiplications+additions | made",
        "ratio in percent: 3x3, lean, duals",
        "divisions, roots, sine-cosine pairs (lean)",
    ];
    let mut missing = Vec::new();
    for (title, (so3, se3)) in titles.into_iter().zip(so3.into_iter().zip(se3)) {
        println!("\n| group | {title} | exp | euler-rodrigues | cayley | wiener-milenkovic |");
        println!("|{}", "---|".repeat(6 + title.matches('|').count()));
        for line in so3.iter().chain(&se3) {
            println!("{line}");
            if let Ok(text) = &document
                && !text.contains(line)
            {
                missing.push(line.clone());
            }
        }
    }
    assert!(missing.is_empty(), "not in the document:\n{}", missing.join("\n"));
    Ok(())
}
