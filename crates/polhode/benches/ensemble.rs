//! Many bodies at once beside the floor, an RK4 of Euler's equations and the quaternion written by hand in the same four lanes:
//! `cargo bench -p polhode --bench ensemble -- BODIES STEPS`. The same bodies, the same steps, one run.

use nalgebra::{Matrix3, Vector3};
use polhode::body::{Body, Load, NoLoad, RotaryInertia, State, TopGravity};
use polhode::ensemble::{Family, Members, run};
use polhode::group::{Rotation, So3};
use polhode::method::Method;
use polhode::run::Plan;
use polhode::scalar::{F64x4, Real};
use std::time::Instant;

/// Numbers of a body: three moments, the weight, the spin.
const WIDTH: usize = 5;
const H: f64 = 1e-3;

fn member<S: Real, L: Load<S>>(load: L, number: &dyn Fn(usize) -> S) -> (Body<S, So3, L>, State<S, So3>) {
    let moments = Matrix3::from_diagonal(&Vector3::new(number(0), number(1), number(2)));
    let body = Body { inertia: RotaryInertia::unchecked(moments), load };
    let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
    let start = body.state(tilt, &Vector3::new(S::lift(0.1), S::zero(), number(4)));
    (body, start)
}

struct Free;
impl Family<So3> for Free {
    type Load<S: Real> = NoLoad;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> (Body<S, So3, NoLoad>, State<S, So3>) {
        member(NoLoad, number)
    }
}

struct Tops;
impl Family<So3> for Tops {
    type Load<S: Real> = TopGravity<S>;
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> (Body<S, So3, TopGravity<S>>, State<S, So3>) {
        member(TopGravity { mgl: number(3) }, number)
    }
}

fn numbers(count: usize, weight: f64) -> Vec<f64> {
    let body = |k: usize| {
        let x = k as f64 / count as f64;
        [5.0 + x, 5.0 - 0.5 * x, 1.0 + 0.2 * x, weight * (1.0 + x), 50.0 - 10.0 * x]
    };
    (0..count).flat_map(body).collect()
}

/// What the floor is computed in.
trait Number:
    Copy + core::ops::Add<Output = Self> + core::ops::Sub<Output = Self> + core::ops::Mul<Output = Self>
{
    /// Four numbers of the same kind.
    fn like(&self, x: [f64; 4]) -> Self;
    fn four(self) -> [f64; 4];
    fn per_root(self) -> Self;
}

/// The end of four bodies: q' = q Ω/2, Π' = Π × Ω + T in principal axes, classical RK4, renormalised in every step.
#[inline(always)]
fn by_hand<N: Number, const LOADED: bool>(some: N, numbers: &[f64], steps: u64) -> [[f64; 4]; 4] {
    let at = |i: usize| some.like(core::array::from_fn(|k| numbers[k * WIDTH + i]));
    let per = |i: usize| some.like(core::array::from_fn(|k| 1.0 / numbers[k * WIDTH + i]));
    let one = |x: f64| some.like([x; 4]);
    let (a, b, c, weight) = (per(0), per(1), per(2), at(3) + at(3));
    let (mut q, mut p) = (
        [one(0.15f64.cos()), one(0.15f64.sin()), one(0.0), one(0.0)],
        [at(0) * one(0.1), one(0.0), at(2) * at(4)],
    );
    let (h, half, sixth, third) = (one(H), one(0.5 * H), one(H / 6.0), one(H / 3.0));
    let (zero, point) = (one(0.0), one(0.5));
    let rate = Rate { inverse: [a, b, c], weight, zero, point };
    for _ in 0..steps {
        let (qa, pa) = rate.at::<LOADED>(&q, &p);
        let (qb, pb) = rate.at::<LOADED>(&along(&q, &qa, half), &along(&p, &pa, half));
        let (qc, pc) = rate.at::<LOADED>(&along(&q, &qb, half), &along(&p, &pb, half));
        let (qd, pd) = rate.at::<LOADED>(&along(&q, &qc, h), &along(&p, &pc, h));
        for i in 0..4 {
            q[i] = q[i] + (qa[i] + qd[i]) * sixth + (qb[i] + qc[i]) * third;
        }
        for i in 0..3 {
            p[i] = p[i] + (pa[i] + pd[i]) * sixth + (pb[i] + pc[i]) * third;
        }
        let scale = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).per_root();
        for x in &mut q {
            *x = *x * scale;
        }
    }
    q.map(N::four)
}

#[inline(always)]
fn along<N: Number, const K: usize>(x: &[N; K], d: &[N; K], h: N) -> [N; K] {
    let mut y = *x;
    for i in 0..K {
        y[i] = x[i] + d[i] * h;
    }
    y
}

struct Rate<N> {
    inverse: [N; 3],
    weight: N,
    zero: N,
    point: N,
}

impl<N: Number> Rate<N> {
    #[inline(always)]
    fn at<const LOADED: bool>(&self, q: &[N; 4], p: &[N; 3]) -> ([N; 4], [N; 3]) {
        let [w, x, y, z] = *q;
        let o = [p[0] * self.inverse[0], p[1] * self.inverse[1], p[2] * self.inverse[2]];
        let half = self.point;
        let turn = [
            (self.zero - (x * o[0] + y * o[1] + z * o[2])) * half,
            (w * o[0] + y * o[2] - z * o[1]) * half,
            (w * o[1] + z * o[0] - x * o[2]) * half,
            (w * o[2] + x * o[1] - y * o[0]) * half,
        ];
        let mut kick = [p[1] * o[2] - p[2] * o[1], p[2] * o[0] - p[0] * o[2], p[0] * o[1] - p[1] * o[0]];
        if LOADED {
            kick[0] = kick[0] + (y * z + w * x) * self.weight;
            kick[1] = kick[1] - (x * z - w * y) * self.weight;
        }
        (turn, kick)
    }
}

impl Number for F64x4 {
    #[inline(always)]
    fn like(&self, x: [f64; 4]) -> Self {
        F64x4::new(x)
    }
    #[inline(always)]
    fn four(self) -> [f64; 4] {
        self.to_array()
    }
    #[inline(always)]
    fn per_root(self) -> Self {
        self.sqrt().recip()
    }
}

/// The floor of all bodies on one thread; the sum of what it finds.
fn floor<const LOADED: bool>(numbers: &[f64], steps: u64) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(proof) = pulp::x86::V3::try_new() {
        return proof.vectorize(wide::Floor::<LOADED> { proof, numbers, steps });
    }
    all::<F64x4, LOADED>(F64x4::lift(0.0), numbers, steps)
}

#[inline(always)]
fn all<N: Number, const LOADED: bool>(some: N, numbers: &[f64], steps: u64) -> f64 {
    let fours = numbers.chunks_exact(4 * WIDTH);
    fours.map(|four| by_hand::<N, LOADED>(some, four, steps)[0][0]).sum()
}

/// The floor in AVX registers.
#[cfg(target_arch = "x86_64")]
mod wide {
    use pulp::f64x4;
    use pulp::x86::V3;

    pub struct Floor<'a, const LOADED: bool> {
        pub proof: V3,
        pub numbers: &'a [f64],
        pub steps: u64,
    }
    impl<const LOADED: bool> pulp::NullaryFnOnce for Floor<'_, LOADED> {
        type Output = f64;
        #[inline(always)]
        fn call(self) -> f64 {
            let some = Four(f64x4(0.0, 0.0, 0.0, 0.0), self.proof);
            let mut sum = 0.0;
            for four in self.numbers.chunks_exact(4 * super::WIDTH) {
                sum += super::by_hand::<Four, LOADED>(some, four, self.steps)[0][0];
            }
            sum
        }
    }

    #[derive(Clone, Copy)]
    pub struct Four(f64x4, V3);
    macro_rules! operator {
        ($Trait:ident $function:ident $how:ident) => {
            impl core::ops::$Trait for Four {
                type Output = Self;
                #[inline(always)]
                fn $function(self, other: Self) -> Self {
                    Four(self.1.$how(self.0, other.0), self.1)
                }
            }
        };
    }
    operator!(Add add add_f64x4);
    operator!(Sub sub sub_f64x4);
    operator!(Mul mul mul_f64x4);
    impl super::Number for Four {
        #[inline(always)]
        fn like(&self, x: [f64; 4]) -> Self {
            Four(pulp::cast(x), self.1)
        }
        #[inline(always)]
        fn four(self) -> [f64; 4] {
            pulp::cast(self.0)
        }
        #[inline(always)]
        fn per_root(self) -> Self {
            let one = self.1.splat_f64x4(1.0);
            Four(self.1.div_f64x4(one, self.1.sqrt_f64x4(self.0)), self.1)
        }
    }
}

/// The most memory that this process has had, in MB.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.map_or("-".into(), |k| format!("{} MB", k / 1024))
}

/// Shares in which the bodies come: the best time of a share says least of what else the machine does.
const SHARES: usize = 10;

/// Nanoseconds of a step of a body, and the sum of what was found.
fn timed(numbers: &[f64], steps: u64, mut work: impl FnMut(&[f64]) -> f64) -> (f64, f64) {
    let (mut best, mut sum) = (f64::INFINITY, 0.0);
    for share in numbers.chunks(numbers.len() / WIDTH / SHARES * WIDTH) {
        let clock = Instant::now();
        sum += work(share);
        best = best.min(clock.elapsed().as_secs_f64() / ((share.len() / WIDTH) as f64 * steps as f64) * 1e9);
    }
    (best, sum)
}

fn table<F: Family<So3>, const LOADED: bool>(name: &str, family: &F, count: usize, plan: &Plan) {
    let (numbers, steps) = (numbers(count, if LOADED { 20.0 } else { 0.0 }), plan.steps());
    println!("{count} {name}, {steps} steps, best of {SHARES} shares");
    let (floor, found) = timed(&numbers, steps, |share| floor::<LOADED>(share, steps));
    assert!(found.is_finite());
    println!("  RK4 by hand   1 thread   {floor:6.1} ns  {:6.1} million body-steps/s", 1e3 / floor);
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for id in ["akw", "imidm"] {
        let Ok(method) = Method::parse(id) else { continue };
        let mut first: Option<(f64, f64)> = None;
        for threads in [1, most] {
            let (ns, found) = timed(&numbers, steps, |share| {
                let mut sum = 0.0;
                run(family, &Members::new(share, WIDTH), &method, plan, threads, &mut |_, end| {
                    sum += end.map_or(f64::NAN, |end| end.q_wxyz[0]);
                });
                sum
            });
            // In their order, and so the same sum however they are shared out.
            let (alone, same) = *first.get_or_insert((ns, found));
            assert!(found.to_bits() == same.to_bits());
            println!(
                "  {id:<12} {threads:>2} threads  {ns:6.1} ns  {:6.1} million body-steps/s, {:4.2} of the floor, {:4.2} of one \
                 thread, peak {}",
                1e3 / ns,
                ns * threads as f64 / floor,
                alone / ns,
                peak()
            );
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse::<f64>().ok());
    let (count, steps) = (given.next().unwrap_or(2e4).max(80.0), given.next().unwrap_or(1e3));
    let plan = Plan::new(H, H * steps)?;
    println!("polhode {}", env!("CARGO_PKG_VERSION"));
    table::<_, false>("free bodies", &Free, count as usize, &plan);
    table::<_, true>("tops", &Tops, count as usize, &plan);
    Ok(())
}
