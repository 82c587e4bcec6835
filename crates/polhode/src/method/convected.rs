//! Convected base vectors with implicit constraints, Krenk & Nielsen 2013: the unknowns are the base vectors q_j (the
//! columns of Q) and their momenta p_j (the columns of P), eighteen numbers.
//!
//! With ω̄ = M⁻¹ mean(Π), Π = Σ q_j × p_j in the body = G(p) q, bars for means over the step and Δ for increments:
//! ΔQ = h Q̄ ω̄~                                             (22)
//! ΔP = h P̄ ω̄~ - h g + h Q̄ Λ                               (23), (25)
//! where g is the finite derivative of the potential and Q̄ Λ = C(q̄)ᵀ λ; the multipliers follow from the increment of
//! C(q) p = 0, that is sym(QᵀP) = 0, as
//! SΛ + ΛS = 2 sym(Q̄ᵀ g - (P̄ᵀQ̄ + Q̄ᵀP̄) ω̄~),  S = Q̄ᵀQ̄       (26)
//! On SE(3) position u and linear momentum l join: Δu = h Q̄ v̄, Δl = -h g_u, and l̄ v̄ᵀ is added to g, with {v̄, ω̄} = M⁻¹
//! mean{Qᵀl, Π}. The variables are the paper's; [`super::intrinsic`] has the equivalent form in the mean velocity alone.

use super::memory::{Carried, Memory};
use super::scheme::{Lifted, Outcome, Range, Scheme, Start, Unknown};
use crate::archive::kept;
use crate::body::Dynamics;
use crate::body::{AnyBody, State};
use crate::group::{Cayley, Coordinates, Jet, MapKind, Reading, Rotation, Vectorial, seeded, spin, unit};
use crate::scalar::{Mask, Over, Real};
use crate::solve::{Factor, Lu, StepError, Work};
use nalgebra::{Matrix3, SVector, Vector3};

/// When the iteration of a step stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stopping {
    pub(super) rule: Stop,
    /// Of the norm of the residual, in the rules of the paper.
    pub(super) tolerance: f64,
}

/// The rule of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// When round-off is reached.
    #[default]
    Converged,
    /// Table 1 of the paper as written: after the update, if the residual from before it was below the tolerance.
    After,
    /// Before the update, if the residual is below the tolerance.
    Before,
}

impl Stop {
    /// All of them.
    pub const ALL: [Stop; 3] = [Stop::Converged, Stop::After, Stop::Before];
    /// The name in method ids.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Converged => "converged",
            Stop::After => "after",
            Stop::Before => "before",
        }
    }
}

impl Stopping {
    pub(super) const CONVERGED: Stopping = Stopping { rule: Stop::Converged, tolerance: 1e-8 };
    /// True if the equations are solved to round-off: Newton's method squares the residual in the last update.
    pub(super) fn is_exact(&self) -> bool {
        match self.rule {
            Stop::Converged => true,
            Stop::After => self.tolerance <= 1e-8,
            Stop::Before => false,
        }
    }
}

/// Base vectors and position with their momenta; also what is left of the equations of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<T> {
    base: Matrix3<T>,
    momentum: Matrix3<T>,
    position: Vector3<T>,
    linear: Vector3<T>,
}

kept!(Frame<f64> { base, momentum, position, linear });

/// A product. A function of its own: with derivatives in each number it is long.
#[inline(never)]
fn times<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    a * b
}

impl<T: Real> Frame<T> {
    pub(super) fn of<G: Dynamics>(state: &State<T, G>) -> Self {
        let k = G::kinematics(T::zero(), &state.pose, &state.momentum);
        let base = k.attitude.matrix();
        Frame {
            base,
            momentum: times(&base, &spin(&k.omega_body)) * T::lift(0.5),
            position: k.position,
            linear: k.attitude.rotate(&k.velocity_body),
        }
    }
    fn lift<R: Over<T>>(&self) -> Frame<R> {
        Frame {
            base: self.base.map(R::of),
            momentum: self.momentum.map(R::of),
            position: self.position.map(R::of),
            linear: self.linear.map(R::of),
        }
    }
    /// The body momentum {Qᵀ l, G(p) q}.
    #[inline(always)]
    fn body_momentum<G: Dynamics>(&self) -> G::Vector<T> {
        let x = times(&self.base.transpose(), &self.momentum);
        let angular = Vector3::new(x[(2, 1)] - x[(1, 2)], x[(0, 2)] - x[(2, 0)], x[(1, 0)] - x[(0, 1)]);
        G::vector(&(self.base.transpose() * self.linear), &angular)
    }
    /// The rotation nearest to the base vectors to first order, as the quaternion near another.
    #[inline(never)]
    fn attitude(&self, near: &Rotation<T>) -> Rotation<T> {
        let found = Rotation::from_matrix(&self.base);
        let (a, b) = (found.q_wxyz(), near.q_wxyz());
        let cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        let opposite = Rotation { w: -found.w, v: -found.v };
        Rotation::choose(cosine.below(T::zero()), &opposite, &found)
    }
    /// All numbers in a row, each kind times its scale.
    #[inline(always)]
    fn pack<V: Coordinates<T>>(&self, scale: &Scale<T>) -> V {
        V::generate(|i| match i {
            0..9 => self.base[(i % 3, i / 3)] * scale.base,
            9..18 => self.momentum[(i % 3, i / 3 - 3)] * scale.momentum,
            18..21 => self.position[i - 18] * scale.base,
            _ => self.linear[i - 21] * scale.linear,
        })
    }
    #[inline(always)]
    fn unpack<V: Coordinates<T>>(x: &V, scale: &Scale<T>) -> Self {
        let (base, momentum, linear) = (scale.base.recip(), scale.momentum.recip(), scale.linear.recip());
        let tail = |first: usize, scale: T| {
            Vector3::from_fn(|i, _| if V::LEN > 18 { x.at(first + i) * scale } else { T::zero() })
        };
        Frame {
            base: Matrix3::from_fn(|i, j| x.at(3 * j + i) * base),
            momentum: Matrix3::from_fn(|i, j| x.at(9 + 3 * j + i) * momentum),
            position: tail(18, base),
            linear: tail(21, linear),
        }
    }
    #[inline(always)]
    fn combine(&self, other: &Self, f: impl Fn(T, T) -> T) -> Self {
        Frame {
            base: self.base.zip_map(&other.base, &f),
            momentum: self.momentum.zip_map(&other.momentum, &f),
            position: self.position.zip_map(&other.position, &f),
            linear: self.linear.zip_map(&other.linear, &f),
        }
    }
}

impl<S: Real> Carried<S> for Frame<S> {
    fn choose(mask: S::Mask, a: &Self, b: &Self) -> Self {
        a.combine(b, |a, b| S::select(mask, a, b))
    }
}

/// What makes numbers of all kinds comparable.
#[derive(Clone, Copy, Debug)]
struct Scale<T> {
    base: T,
    momentum: T,
    linear: T,
}

impl<T: Real> Scale<T> {
    /// Raw numbers, as in the paper.
    fn raw() -> Self {
        Scale { base: T::one(), momentum: T::one(), linear: T::one() }
    }
    fn lift<R: Over<T>>(&self) -> Scale<R> {
        Scale { base: R::of(self.base), momentum: R::of(self.momentum), linear: R::of(self.linear) }
    }
}

/// Y with Σ q_j × (Y × q_j) = M: (tr(QQᵀ) - QQᵀ) Y = M.
fn couple<T: Real>(base: &Matrix3<T>, moment: &Vector3<T>) -> Vector3<T> {
    let square = times(base, &base.transpose());
    let trace = square[(0, 0)] + square[(1, 1)] + square[(2, 2)];
    let mut lu = Lu::<T, 3>::empty();
    lu.refactor(T::Mask::splat(true), |j| {
        Vector3::from_fn(|i, _| if i == j { trace - square[(i, j)] } else { -square[(i, j)] })
    });
    lu.solve(moment)
}

/// Λ with SΛ + ΛS = X for a positive definite S and the symmetric part of X, as λ: the diagonal, then 23, 31 and 12.
#[inline(never)]
fn multipliers<T: Real>(s: &Matrix3<T>, x: &Matrix3<T>) -> SVector<T, 6> {
    const ENTRIES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)];
    let mut lu = Lu::<T, 6>::empty();
    lu.refactor(T::Mask::splat(true), |k| {
        let (a, b) = ENTRIES[k];
        // Of Λ with ones at (a, b) and (b, a): column b of SΛ is column a of S, and the other way round.
        SVector::<T, 6>::from_fn(|row, _| {
            let (i, j) = ENTRIES[row];
            let mut sum = T::zero();
            for (a, b) in [(a, b), (b, a)].into_iter().take(if a == b { 1 } else { 2 }) {
                if j == b {
                    sum += s[(i, a)];
                }
                if i == a {
                    sum += s[(b, j)];
                }
            }
            sum
        })
    });
    lu.solve(&SVector::<T, 6>::from_fn(|row, _| {
        let (i, j) = ENTRIES[row];
        (x[(i, j)] + x[(j, i)]) * T::lift(0.5)
    }))
}

/// The eighteen unknowns, twenty-four on SE(3).
#[derive(Clone, Copy, Debug)]
pub struct Frames;

impl Unknown for Frames {
    type Of<G: Dynamics, T: Real> = G::Frame<T>;
    type Passes<P: Copy> = [P; 8];
    fn passes<P: Copy>(same: P) -> [P; 8] {
        [same; 8]
    }
    fn size<G: Dynamics, T: Real>(length: T, x: &G::Frame<T>) -> T {
        let (mut turn, mut shift) = (T::zero(), T::zero());
        for i in 0..G::Frame::<T>::LEN {
            *if i < 18 { &mut turn } else { &mut shift } += x.at(i).abs();
        }
        turn + shift / length
    }
    fn weights<G: Dynamics, T: Real>(length: T) -> G::Frame<T> {
        let per = length.recip();
        Coordinates::generate(|i| if i < 18 { T::one() } else { per })
    }
}

/// The equations of one step from base vectors and momenta. The unknown is the change of all of them.
struct Change<T> {
    old: Frame<T>,
    scale: Scale<T>,
}

impl<T: Real> Change<T> {
    fn lift<R: Over<T>>(&self) -> Change<R> {
        Change { old: self.old.lift(), scale: self.scale.lift() }
    }
    /// From the start of a step, with unknowns in rad/s (and m/s) each. The state says it all: its base vectors are
    /// orthonormal to round-off, and C(q) p = 0.
    #[inline(always)]
    fn scaled<G: Dynamics>(s: &Start<'_, T, G>) -> Self {
        let n = G::Vector::<T>::LEN;
        let entry = |j: usize| s.body.momentum(&unit::<T, G::Vector<T>>(j)).at(j);
        let inertia = (entry(n - 3) + entry(n - 2) + entry(n - 1)) * T::lift(1.0 / 3.0);
        Change {
            old: Frame::of(s.state),
            scale: Scale { base: s.h.recip(), momentum: inertia.recip(), linear: entry(0).recip() },
        }
    }
    /// The new frame: the old one, changed by the unknown.
    #[inline(always)]
    fn new_frame<G: Dynamics>(&self, x: &G::Frame<T>) -> Frame<T> {
        self.old.combine(&Frame::unpack(x, &self.scale), |a, b| a + b)
    }
    /// Eqs (27), the new state, and the multipliers. Not inlined: it is long, and Newton's method has many places for it.
    #[inline(never)]
    fn equations<G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        x: &G::Frame<T>,
    ) -> (Outcome<T, G, G::Frame<T>>, SVector<T, 6>) {
        let (old, new) = (&self.old, &self.new_frame::<G>(x));
        let (h, half) = (s.h, T::lift(0.5));
        let momenta = [old, new].map(Frame::body_momentum::<G>);
        let twist = s.body.velocity(&((momenta[0] + momenta[1]) * half));
        let (v, turn) = (G::linear(&twist), spin(&G::angular(&twist)));
        let change = new.combine(old, |a, b| a - b);
        let mean = new.combine(old, |a, b| (a + b) * half);

        let near = G::kinematics(s.t, &s.state.pose, &s.velocity).attitude;
        let pose = G::pose(&new.attitude(&near), &new.position);
        let mut g = s.finite_derivative(&pose, &s.body.velocity(&momenta[1]));
        let force = g.position - g.force;
        // The force acts halfway; what is left of the moment M is that of forces Y × q̄_j on the base vectors.
        let moment = g.moment - change.position.cross(&g.force) * half;
        g.base += mean.linear * v.transpose() - times(&spin(&couple(&mean.base, &moment)), &mean.base);

        let turned = mean.base.transpose();
        let product = times(&turned, &mean.momentum);
        let implied = times(&turned, &g.base) - times(&(product + product.transpose()), &turn);
        let lambda = multipliers(&times(&turned, &mean.base), &(implied * T::lift(2.0)));
        let [a, b, c, d, e, f] = lambda.into();
        let held = times(&mean.base, &Matrix3::new(a, f, e, f, b, d, e, d, c));
        let defect = Frame {
            base: change.base - times(&mean.base, &turn) * h,
            momentum: change.momentum - (times(&mean.momentum, &turn) - g.base + held) * h,
            position: change.position - mean.base * v * h,
            linear: change.linear + force * h,
        };
        // Not the momentum of the new frame alone: base vectors that are a little short would shorten it in every step.
        let momentum = s.state.momentum + (momenta[1] - momenta[0]);
        (Outcome::new(defect.pack(&self.scale), pose, momentum), lambda)
    }
}

/// The scheme, with the rule by which its iteration stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Convected {
    pub(super) stopping: Stopping,
}

impl Scheme for Convected {
    type Unknown = Frames;
    const POLISHED: bool = true;
    #[inline(always)]
    fn is_loaded(&self) -> bool {
        false
    }
    fn guess<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, end_velocity: &G::Vector<S>) -> G::Frame<S> {
        let map = Vectorial { kind: MapKind::Cayley, reading: Reading::Hom4 };
        let step = G::increment(map, &(s.mean(end_velocity) * s.h));
        let end = s.body.state(s.advance(&step), end_velocity);
        let Change { old, scale } = Change::scaled(s);
        Frame::of(&end).combine(&old, |a, b| a - b).pack(&scale)
    }
    /// All momenta turned round.
    fn rest<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>) -> G::Frame<S> {
        let still = |momentum: S| momentum * S::lift(-2.0);
        let (zero, Change { old, scale }) = (S::zero(), Change::scaled(s));
        Frame {
            base: Matrix3::from_fn(|_, _| zero),
            momentum: old.momentum.map(still),
            position: Vector3::new(zero, zero, zero),
            linear: old.linear.map(still),
        }
        .pack(&scale)
    }
    #[inline(always)]
    fn equations<T: Real, G: Dynamics>(
        &self,
        s: &Start<'_, T, G>,
        x: &G::Frame<T>,
    ) -> Outcome<T, G, G::Frame<T>> {
        Change::scaled(s).equations(s, x).0
    }
    /// Of the Cayley map that (22) is, which is also what keeps iterates that ran away from passing for solutions.
    fn range<S: Real, G: Dynamics>(&self, s: &Start<'_, S, G>, x: &G::Frame<S>) -> Option<Range<S>> {
        let change = Change::scaled(s);
        let [old, new] = [change.old, change.new_frame::<G>(x)].map(|frame| frame.body_momentum::<G>());
        let twist = s.body.velocity(&((old + new) * S::lift(0.5)));
        Some(Range::new::<G>(Cayley, &(twist * s.h)))
    }
}

/// The state after a step that stops by a rule of the paper, which carries on what the iteration leaves behind.
#[inline(never)]
pub(super) fn step<S: Real, G: Dynamics>(
    stopping: Stopping,
    memory: &mut Memory<S, G, Frame<S>>,
    body: &dyn AnyBody<S, G>,
    start: &Start<'_, S, G>,
    work: &mut Work,
) -> Result<State<S, G>, StepError> {
    let change = Change { old: memory.at(start.state, || Frame::of(start.state)), scale: Scale::raw() };
    let x = iterate(&change, stopping, body, start, work)?;
    memory.set(change.new_frame::<G>(&x));
    Ok(change.equations(start, &x).0.state)
}

/// After this many iterations a step is given up.
const MOST_ITERATIONS: u64 = 50;

/// Table 1 of the paper: Newton's method from the old values.
fn iterate<S: Real, G: Dynamics>(
    change: &Change<S>,
    stopping: Stopping,
    body: &dyn AnyBody<S, G>,
    start: &Start<'_, S, G>,
    work: &mut Work,
) -> Result<G::Frame<S>, StepError> {
    let all = S::Mask::splat(true);
    let (mut x, mut active) = (G::Frame::<S>::origin(), all);
    let mut factor = <G::Frame<S> as Coordinates<S>>::Factor::empty();
    let mut norm = S::zero();
    work.solves += 1;
    for n in 1..=MOST_ITERATIONS {
        let (lifted, lifted_change) = (Lifted::<Jet<S>, G>::new(start), change.lift::<Jet<S>>());
        let lifted_start = lifted.start(start, body.with_slopes());
        let of_pass = |pass: usize| -> G::Frame<Jet<S>> {
            lifted_change.equations(&lifted_start, &seeded(&x, pass)).0.residual
        };
        let mut left = of_pass(0);
        let residual = G::Frame::<S>::generate(|i| left.at(i).re);
        norm = S::select(active, residual.length(), norm);
        let small = norm.below(S::lift(stopping.tolerance));
        // Not before there was any update: the body would stand still.
        if stopping.rule == Stop::Before && n > 1 {
            active = active.and(small.not());
        }
        if active.any() {
            factor.refactor(all, |j| {
                if j > 0 && j % 3 == 0 {
                    left = of_pass(j / 3);
                }
                G::Frame::<S>::generate(|i| left.at(i).eps[j % 3])
            });
            x = Coordinates::choose(active, &(x - factor.solve(&residual)), &x);
            work.iterations += 1;
            work.jacobians += 1;
            work.most_iterations = work.most_iterations.max(n);
            if stopping.rule == Stop::After {
                active = active.and(small.not());
            }
        }
        if !active.any() {
            return Ok(x);
        }
    }
    let (t, h) = (start.t.largest(), start.h.largest());
    Err(StepError::NotConverged { t, h, iterations: MOST_ITERATIONS, residual: norm.largest() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{
        Body, Gravity, Load, NoLoad, RotaryInertia, RotationalSpring, SpatialInertia, TopGravity,
    };
    use crate::group::Group;
    use crate::group::{Se3, So3};
    use crate::method::implicit::solve;

    fn body<L: Load<f64>>(moments: [f64; 3], load: L) -> Body<f64, So3, L> {
        let inertia =
            RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::from(moments))).unwrap();
        Body { inertia, load }
    }
    fn tilted(angle: f64) -> Rotation<f64> {
        Rotation::from_rotation_vector(&Vector3::new(angle, 0.0, 0.0))
    }
    /// The multipliers of a step, and both ends of it.
    fn solved<G: Dynamics, L: Load<f64>>(
        body: &Body<f64, G, L>,
        state: &State<f64, G>,
        h: f64,
    ) -> (SVector<f64, 6>, [Frame<f64>; 2]) {
        let mut start = Start::new(body, state, 0.0, h);
        let scheme = Convected { stopping: Stopping::CONVERGED };
        let x = solve(&scheme, body, &mut start, &mut Work::default()).unwrap();
        let change = Change::scaled(&start);
        (change.equations(&start, &x).1, [change.old, change.new_frame::<G>(&x)])
    }

    #[test]
    fn multipliers_of_a_top_have_a_closed_form() {
        for h in [0.01, 0.2] {
            let (mgl, top) = (20.0, body([5.0, 4.0, 1.0], TopGravity { mgl: 20.0 }));
            let state = top.state(tilted(0.3), &Vector3::new(0.4, -0.3, 5.0));
            let (lambda, ends) = solved(&top, &state, h);
            let momentum = (ends[0].body_momentum::<So3>() + ends[1].body_momentum::<So3>()) * 0.5;
            let turn = So3::velocity(&top.inertia, &momentum) * h;
            let up = ends[0].base.transpose() * Vector3::z();
            let c = up - turn.cross(&up) * 0.5;
            let closed = SVector::from([0.0, 0.0, mgl * c.z, mgl * c.y * 0.5, mgl * c.x * 0.5, 0.0]);
            assert!((lambda - closed).amax() < 1e-13 * mgl, "h = {h}: {lambda} {closed}");
        }
    }

    #[test]
    fn nothing_holds_a_free_body() {
        let brick = body([13.0, 5.0, 10.0], NoLoad);
        let state = brick.state(tilted(0.3), &Vector3::new(0.5, 1.0, 10.0));
        let (lambda, ends) = solved(&brick, &state, 0.05);
        assert!(lambda.amax() < 1e-13 * ends[0].momentum.amax(), "{lambda}");
    }

    /// The largest strain ½(QᵀQ - 1), and the largest entry of C(q) p relative to the momenta.
    fn violations(frame: &Frame<f64>) -> [f64; 2] {
        let strain = (frame.base.transpose() * frame.base - Matrix3::identity()) * 0.5;
        let x = frame.base.transpose() * frame.momentum;
        [strain.amax(), (x + x.transpose()).amax() / frame.momentum.amax()]
    }

    /// The largest violations in steps that carry base vectors and momenta along.
    fn carried<G: Dynamics, L: Load<f64>>(
        body: &Body<f64, G, L>,
        state: State<f64, G>,
        h: f64,
        steps: usize,
    ) -> [f64; 2] {
        let (mut old, mut state, mut worst) = (Frame::of(&state), state, [0.0f64; 2]);
        let stopping = Stopping { rule: Stop::After, tolerance: 1e-8 };
        for n in 0..steps {
            let start = Start::new(body, &state, n as f64 * h, h);
            let change = Change { old, scale: Scale::raw() };
            let x = iterate(&change, stopping, body, &start, &mut Work::default()).unwrap();
            let new = change.new_frame::<G>(&x);
            let end = change.equations(&start, &x).0.state;
            (old, state) = (new, end);
            worst = core::array::from_fn(|i| worst[i].max(violations(&old)[i]));
        }
        worst
    }

    #[test]
    fn base_vectors_stay_orthonormal_and_momenta_orthogonal_to_strains() {
        let brick = body([13.0, 5.0, 10.0], NoLoad);
        let free = brick.state(tilted(0.0), &Vector3::new(0.0, 0.05, 10.0));
        let top = body([5.0, 4.0, 1.0], TopGravity { mgl: 20.0 });
        let heavy = top.state(tilted(0.3), &Vector3::new(0.4, -0.3, 5.0));
        let spring = body([1.0, 1.2, 0.8], RotationalSpring { stiffness: Vector3::new(30.0, 20.0, 10.0) });
        let swinging = spring.state(tilted(0.3), &Vector3::new(0.4, -0.3, 2.0));
        let center_body = Vector3::new(0.1, -0.2, 0.3);
        let fall = Body::<f64, Se3, _> {
            inertia: SpatialInertia::new(
                2.0,
                center_body,
                Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)),
            )
            .unwrap(),
            load: Gravity { weight_space: Vector3::new(0.0, 0.0, -19.62), center_body },
        };
        let velocity = Se3::vector(&Vector3::new(0.5, 0.1, -0.2), &Vector3::new(0.3, 2.0, 0.4));
        let falling = fall.state(Se3::pose(&tilted(0.2), &Vector3::zeros()), &velocity);
        for (name, [strain, product]) in [
            ("free", carried(&brick, free, 0.01, 1000)),
            ("heavy", carried(&top, heavy, 0.01, 1000)),
            ("spring", carried(&spring, swinging, 0.01, 1000)),
            ("fall", carried(&fall, falling, 0.01, 100)),
        ] {
            assert!(strain < 1e-12 && product < 1e-12, "{name}: {strain:e} {product:e}");
        }
    }
}
