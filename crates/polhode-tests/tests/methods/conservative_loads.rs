//! Methods that keep the energy under any potential: every conservative load of the library, sums of them, and loads of
//! one's own, on both groups.

use crate::common::method;
use nalgebra::{Matrix3, Vector3};
use polhode::body::Dynamics;
use polhode::body::{
    Body, Drag, FiniteDerivative, Gravity, Kinematics, Load, Loads, RotaryInertia, RotationalSpring,
    SoftWall, SpatialInertia, State, TopGravity, Wrench,
};
use polhode::check::{Plateau, advance, converge, drift, reversal_defect};
use polhode::group::{Group, Rotation, Se3, So3};
use polhode::method::Stepper;
use polhode::method::Steps;
use polhode::scalar::Over;

/// A potential of one's own in two entries of the attitude matrix: V = a sin(b R₁₁) + c R₁₂².
#[derive(Clone, Copy)]
struct Wave {
    a: f64,
    b: f64,
    c: f64,
}

impl Load<f64> for Wave {
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        // The first row of R, and -Σ e_j × Rᵀ g_j.
        let row = at.attitude.unrotate(&Vector3::new(T::one(), T::zero(), T::zero()));
        let (_, cos) = (row[0] * T::lift(self.b)).sin_cos();
        let (one, two) = (cos * T::lift(self.a * self.b), row[1] * T::lift(2.0 * self.c));
        let first = Vector3::new(T::zero(), -row[2], row[1]) * one;
        let second = Vector3::new(row[2], T::zero(), -row[0]) * two;
        Wrench::moment(-(first + second))
    }
    fn potential<T: Over<f64>>(&self, at: &Kinematics<T>) -> Option<T> {
        let row = at.attitude.unrotate(&Vector3::new(T::one(), T::zero(), T::zero()));
        let (sin, _) = (row[0] * T::lift(self.b)).sin_cos();
        Some(sin * T::lift(self.a) + row[1] * row[1] * T::lift(self.c))
    }
}

/// A spring from a point of the body to a point in space: V = k/2 |u + R r - x|².
#[derive(Clone, Copy)]
struct Tether {
    stiffness: f64,
    from: Vector3<f64>,
    to: Vector3<f64>,
}

impl Tether {
    fn stretch<T: Over<f64>>(&self, at: &Kinematics<T>) -> Vector3<T> {
        at.position + at.attitude.rotate(&self.from.map(T::lift)) - self.to.map(T::lift)
    }
}

impl Load<f64> for Tether {
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        let force_body = at.attitude.unrotate(&self.stretch(at)) * T::lift(-self.stiffness);
        Wrench { force_body, moment_body: self.from.map(T::lift).cross(&force_body) }
    }
    fn potential<T: Over<f64>>(&self, at: &Kinematics<T>) -> Option<T> {
        let x = self.stretch(at);
        Some(x.dot(&x) * T::lift(0.5 * self.stiffness))
    }
}

/// Any of them: one type, so that the methods are compiled once.
#[derive(Clone)]
enum Acting {
    Library(Loads<f64>),
    Pair((Gravity<f64>, RotationalSpring<f64>)),
    Wave(Wave),
    WaveAndDrag((Wave, Drag<f64>)),
    Tether(Tether),
    TetherAndMore((Tether, (Gravity<f64>, Wave))),
}

macro_rules! each {
    ($of:expr, $load:ident => $do:expr) => {
        match $of {
            Acting::Library($load) => $do,
            Acting::Pair($load) => $do,
            Acting::Wave($load) => $do,
            Acting::WaveAndDrag($load) => $do,
            Acting::Tether($load) => $do,
            Acting::TetherAndMore($load) => $do,
        }
    };
}

impl Load<f64> for Acting {
    #[inline(never)]
    fn wrench<T: Over<f64>>(&self, at: &Kinematics<T>) -> Wrench<T> {
        each!(self, load => load.wrench(at))
    }
    #[inline(never)]
    fn potential<T: Over<f64>>(&self, at: &Kinematics<T>) -> Option<T> {
        each!(self, load => load.potential(at))
    }
    #[inline(never)]
    fn finite_derivative<T: Over<f64>>(
        &self,
        from: &Kinematics<T>,
        to: &Kinematics<T>,
    ) -> FiniteDerivative<T> {
        each!(self, load => load.finite_derivative(from, to))
    }
}

const WEIGHT: Vector3<f64> = Vector3::new(0.7, -1.1, -2.0);
const CENTER: Vector3<f64> = Vector3::new(0.1, 0.2, 0.5);
const WAVE: Wave = Wave { a: 0.8, b: 2.5, c: 1.3 };
const TETHER: Tether =
    Tether { stiffness: 7.0, from: Vector3::new(0.2, -0.1, 0.3), to: Vector3::new(0.5, 1.0, -0.4) };

fn gravity() -> Gravity<f64> {
    Gravity { weight_space: WEIGHT, center_body: CENTER }
}
fn spring(stiffness: [f64; 3]) -> RotationalSpring<f64> {
    RotationalSpring { stiffness: stiffness.into() }
}
fn wall(sign: f64) -> SoftWall<f64> {
    SoftWall { coulomb: sign, wall: 0.001 * sign, offset: 1.1 }
}

/// Loads of a body on a fixed point, with a step for each.
fn turning_loads() -> Vec<(&'static str, Acting, f64)> {
    let one = Loads::none;
    let library = Acting::Library;
    vec![
        ("nothing", library(one()), 0.1),
        ("gravity", library(one().with(gravity())), 0.05),
        ("top", library(one().with(TopGravity { mgl: 3.0 })), 0.05),
        ("wall", library(one().with(wall(1.0))), 0.05),
        ("well", library(one().with(wall(-1.0))), 0.02),
        ("soft spring", library(one().with(spring([5.0, 8.0, 3.2]))), 0.05),
        ("even spring", library(one().with(spring([4.0; 3]))), 0.05),
        ("stiff spring", library(one().with(spring([1e6, 1.2e6, 3.2]))), 0.02),
        ("well and gravity", library(one().with(wall(-1.0)).with(gravity())), 0.02),
        ("gravity and spring", Acting::Pair((gravity(), spring([5.0, 8.0, 3.2]))), 0.05),
        ("wave", Acting::Wave(WAVE), 0.05),
    ]
}

/// Loads of a body that moves freely.
fn moving_loads() -> Vec<(&'static str, Acting, f64)> {
    let one = Loads::none;
    vec![
        ("nothing", Acting::Library(one()), 0.05),
        ("gravity", Acting::Library(one().with(Gravity { weight_space: WEIGHT * 0.01, ..gravity() })), 0.02),
        ("tether", Acting::Tether(TETHER), 0.02),
        ("tether, gravity and wave", Acting::TetherAndMore((TETHER, (gravity(), WAVE))), 0.02),
    ]
}

const TENSOR: Matrix3<f64> = Matrix3::new(1.0, 0.05, -0.1, 0.05, 1.3, 0.08, -0.1, 0.08, 0.7);

fn turning(name: &str, load: Acting) -> (Body<f64, So3, Acting>, State<f64, So3>) {
    let body = Body { inertia: RotaryInertia::about_fixed_point(TENSOR).unwrap(), load };
    let (attitude, omega) = match name {
        "stiff spring" => (Vector3::new(0.001, 0.0, 0.5), Vector3::zeros()),
        // Up, where the potential is tame.
        "wall" | "well" | "well and gravity" => (Vector3::zeros(), Vector3::new(0.7, 0.5, 0.9)),
        _ => (Vector3::new(0.3, -0.2, 0.5), Vector3::new(0.4, -0.7, 1.5)),
    };
    let start = body.state(Rotation::from_rotation_vector(&attitude), &omega);
    (body, start)
}

fn moving(load: Acting) -> (Body<f64, Se3, Acting>, State<f64, Se3>) {
    let inertia = SpatialInertia::new(2.0, CENTER, TENSOR + Matrix3::identity() * 2.0).unwrap();
    let body = Body { inertia, load };
    let attitude = Rotation::from_rotation_vector(&Vector3::new(0.3, -0.2, 0.5));
    let velocity = Se3::vector(&Vector3::new(0.5, 0.1, -0.2), &Vector3::new(0.4, -0.7, 1.5));
    let start = body.state(Se3::pose(&attitude, &Vector3::new(0.3, 0.2, -0.1)), &velocity);
    (body, start)
}

/// Every method that keeps the energy of any potential.
const KEEPING: [&str; 6] = [
    "convected",
    "convected-reduced",
    "preserving:exp,load=finite-derivative",
    "preserving:euler-rodrigues,load=finite-derivative",
    "preserving:cayley,load=finite-derivative",
    "preserving:wiener-milenkovic,load=finite-derivative",
];

/// The largest change of energy over 10 000 steps, relative to the largest energy in motion or in the potential.
fn energy_drift<G: Steps<f64>>(id: &str, body: &Body<f64, G, Acting>, start: &State<f64, G>, h: f64) -> f64 {
    let mut stepper = Stepper::new(&method(id));
    let (mut state, first) = (*start, body.energy(start, 0.0).unwrap());
    let (mut worst, mut size) = (0.0f64, first.abs());
    for n in 0..10_000 {
        state = stepper.step(body, &state, f64::from(n) * h, h).unwrap();
        let t = f64::from(n + 1) * h;
        worst = worst.max((body.energy(&state, t).unwrap() - first).abs());
        size = size.max(body.kinetic_energy(&state));
    }
    worst / size
}

#[test]
fn the_energy_of_a_turning_body_is_kept() {
    let mut wrong = Vec::new();
    for (name, load, h) in turning_loads() {
        let (body, start) = turning(name, load);
        for id in KEEPING {
            let drift = energy_drift(id, &body, &start, h);
            if drift > 1e-12 {
                wrong.push(format!("{name}, {id}: {drift:e}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_energy_of_a_moving_body_is_kept() {
    let mut wrong = Vec::new();
    for (name, load, h) in moving_loads() {
        let (body, start) = moving(load);
        for id in KEEPING {
            for reading in ["", ",reading=hom4", ",reading=twist"] {
                if !reading.is_empty() && !id.starts_with("preserving") {
                    continue;
                }
                let id = format!("{id}{reading}");
                let drift = energy_drift(&id, &body, &start, h);
                if drift > 1e-12 {
                    wrong.push(format!("{name}, {id}: {drift:e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_loads_of_a_step_do_not_keep_it() {
    let (body, start) = turning("wave", Acting::Wave(WAVE));
    for id in ["preserving:cayley", "preserving:cayley,load=mean", "akw", "swc1", "imidm"] {
        let drift = energy_drift(id, &body, &start, 0.05);
        assert!(drift > 1e-6, "{id}: {drift:e}");
    }
}

/// Numbers from -1 to 1 that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }
}

#[test]
fn finite_derivatives_do_the_work_of_the_potential_and_know_no_direction() {
    let mut numbers = Numbers(7);
    let loads = turning_loads().into_iter().chain(moving_loads());
    for (name, load, _) in loads {
        for n in 0..500 {
            // From far apart to close by.
            let apart = 0.7f64.powi(n % 40);
            let (attitude, position) = (numbers.vector() * 0.6, numbers.vector());
            let (turn, shift) = (numbers.vector() * (0.6 * apart), numbers.vector() * apart);
            let at = |psi: &Vector3<f64>, x: &Vector3<f64>| Kinematics {
                time: 0.0,
                attitude: Rotation::from_rotation_vector(psi),
                position: if name.starts_with("tether") { *x } else { Vector3::zeros() },
                velocity_body: Vector3::zeros(),
                omega_body: Vector3::zeros(),
                inward: 0.0,
            };
            let (from, to) = (at(&attitude, &position), at(&(attitude + turn), &(position + shift)));
            let [a, b] = [&from, &to].map(|k| load.potential(k).unwrap());
            let (there, back) = (load.finite_derivative(&from, &to), load.finite_derivative(&to, &from));
            let size = a.abs() + b.abs() + there.base.norm() + there.position.norm();
            let work = there.work(&from.beginning(), &to);
            assert!((work - (b - a)).abs() <= 4e-15 * size, "{name}: {work} is not {}", b - a);
            let gap = (there.base - back.base).norm() + (there.position - back.position).norm();
            // A quotient of differences loses digits where they are small.
            assert!(gap <= 1e-14 / apart * size, "{name}: {gap:e}, {apart:e}");
        }
    }
}

#[test]
fn drag_takes_out_its_work() {
    let drag = Drag { coefficient: 0.02 };
    let loads = [
        (Acting::WaveAndDrag((WAVE, drag)), Acting::Wave(WAVE)),
        (
            Acting::Library(Loads::none().with(gravity()).with(drag)),
            Acting::Library(Loads::none().with(gravity())),
        ),
    ];
    for (load, conservative) in loads {
        let (body, start) = turning("", load);
        let (free, _) = turning("", conservative);
        assert_eq!(body.energy(&start, 0.0), None);
        for id in KEEPING {
            let (mut stepper, mut state, h) = (Stepper::new(&method(id)), start, 0.05);
            let first = free.energy(&start, 0.0).unwrap();
            for n in 0..2000 {
                let next = stepper.step(&body, &state, f64::from(n) * h, h).unwrap();
                let change = free.energy(&next, 0.0).unwrap() - free.energy(&state, 0.0).unwrap();
                let at = |state: &State<f64, So3>| So3::kinematics(0.0, &state.pose, &body.velocity(state));
                let (from, to) = (at(&state), at(&next));
                // The mean of the moments in space, on the mean velocity times the step.
                let moment = Load::<f64>::finite_derivative(&drag, &from, &to).moment;
                let turn = state.pose.rotate(&(body.velocity(&state) + body.velocity(&next))) * (0.5 * h);
                let work = moment.dot(&turn);
                assert!((change - work).abs() < 1e-14 * first.abs().max(1.0), "{id}: {change:e} {work:e}");
                assert!(change < 1e-15, "{id}, step {n}: {change:e}");
                state = next;
            }
        }
    }
}

#[test]
fn they_are_symmetric_and_of_second_order() {
    let mut wrong = Vec::new();
    fn check<G: Steps<f64>>(
        name: &str,
        id: &str,
        (body, start): &(Body<f64, G, Acting>, State<f64, G>),
        wrong: &mut Vec<String>,
    ) {
        let back = reversal_defect(&method(id), body, start, 0.2, 3).unwrap().largest();
        if back > 1e-12 {
            wrong.push(format!("{name}, {id}: not symmetric, {back:e}"));
        }
        let reference = advance(&method("mkrk:gauss3"), body, start, 0.0, 1.0 / 200.0, 200).unwrap();
        let found = converge(&method(id), body, start, 1.0, &[50, 100, 200], &reference).unwrap();
        let orders = [found.attitude(Plateau::At(1e-12)), found.momentum(Plateau::At(1e-12))]
            .map(|o| o.unwrap().slope);
        if orders.iter().any(|o| (o - 2.0).abs() > 0.05) {
            wrong.push(format!("{name}, {id}: orders {orders:?}"));
        }
    }
    for id in KEEPING {
        for (name, load, _) in turning_loads() {
            if name != "stiff spring" {
                check(name, id, &turning(name, load), &mut wrong);
            }
        }
        for (name, load, _) in moving_loads() {
            check(name, id, &moving(load), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_vertical_momentum_is_kept_under_gravity() {
    let weight_space = Vector3::new(0.0, 0.0, -2.0);
    let load = Acting::Library(Loads::none().with(Gravity { weight_space, center_body: CENTER }));
    let (body, start) = turning("", load.clone());
    let (flying, launch) = moving(load);
    for id in KEEPING {
        let fixed = drift(&method(id), &body, &start, 0.05, 1000).unwrap().momentum_vertical.unwrap();
        assert!(fixed < 1e-12, "{id}: {fixed:e}");
        // A moving body needs parameters q whose part along the axis is that of the displacement, or no lever can do
        // the work.
        let moved = |id: &str, kept: bool| {
            let found = drift(&method(id), &flying, &launch, 0.05, 200).unwrap().momentum_vertical.unwrap();
            assert_eq!(found < 1e-12, kept, "{id}, moving: {found:e}");
            assert!(kept || found > 1e-3, "{id}, moving: {found:e}");
        };
        moved(id, id.starts_with("convected") || id.contains("exp"));
        if id.starts_with("preserving") {
            moved(&format!("{id},reading=hom4"), true);
            moved(&format!("{id},reading=twist"), id.contains("exp"));
        }
    }
}
