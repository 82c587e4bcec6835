//! Steps that keep the structure of the motion: conserving, decaying and variational ones and their compositions.
//!
//! The digits were computed independently of this library, in 80-bit arithmetic.

use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::{Method, SYSTEMS, SystemClaims};
use polhode::multibody::{
    Bushing, Differentiated, GROUND, JointKind, OwnForce, Rigid, Simulation, System, Violation,
};
use polhode::multibody::{Dual1, ForceKind};
use polhode::problem::Problem;
use std::sync::Arc;

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

fn named(problem: &str) -> Arc<System<f64>> {
    Problem::named(problem).unwrap().model().unwrap().system().clone()
}

fn after(system: &System<f64>, id: &str, h: f64, steps: usize) -> Simulation<f64> {
    let mut run = Simulation::new(system, &method(id)).unwrap();
    (0..steps).for_each(|_| run.step(h).unwrap());
    run
}

fn largest(a: &Vector3<f64>, b: [f64; 3]) -> f64 {
    (a - Vector3::from(b)).amax()
}

/// Two bodies with a spring and a rod between them, without gravity.
fn pair() -> System<f64> {
    let inertia = |a, b, c| Matrix3::from_diagonal(&Vector3::new(a, b, c));
    let mut system = System::new(Vector3::zeros());
    let one = Rigid::new(1.5, inertia(0.08, 0.11, 0.13)).unwrap().moving(
        Vector3::new(-0.003464761661347, -0.001619888568941, -0.0002249845234641),
        Vector3::new(1.007340120078, -2.009449349985, 2.988006594249),
    );
    let two = Rigid::new(2.0, inertia(0.12, 0.2, 0.15))
        .unwrap()
        .at(Vector3::new(1.2, 0.3, 0.4), Rotation::from_q_wxyz([0.8, 0.2, -0.4, 0.4]))
        .moving(
            Vector3::new(0.402598571246, -0.2987850835733, 0.2001687383926),
            Vector3::new(-1.000337476785, 0.4969627089332, 2.002609820472),
        );
    system.body("one", one.free()).unwrap();
    system.body("two", two.free()).unwrap();
    let mut frame = |name, body, at: [f64; 3]| {
        system.frame(name, body, Vector3::from(at), Rotation::identity()).unwrap();
    };
    frame("a1", "one", [0.3, 0.1, -0.2]);
    frame("a2", "two", [-0.2, 0.25, 0.1]);
    frame("r1", "one", [0.0, -0.3, 0.2]);
    frame("r2", "two", [0.1, -0.2, -0.3]);
    let turned = Rotation::from_q_wxyz([0.8, 0.2, -0.4, 0.4]).rotate(&Vector3::new(0.1, -0.2, -0.3));
    let length = (Vector3::new(1.2, 0.3, 0.4) + turned - Vector3::new(0.0, -0.3, 0.2)).norm();
    system.joint("rod", JointKind::Distance { length }, "r1", "r2").unwrap();
    let spring = ForceKind::SpringDamper { stiffness: 400.0, damping: 0.0, length: 0.6 };
    system.force("spring", spring, "a1", "a2").unwrap();
    system
}

/// Momentum and angular momentum about the origin of all bodies.
fn momenta(run: &Simulation<f64>) -> [Vector3<f64>; 2] {
    let mut sum = [Vector3::zeros(); 2];
    for (body, now) in run.system().bodies().iter().zip(run.bodies()) {
        let linear = now.velocity * body.mass;
        sum[0] += linear;
        sum[1] +=
            now.position.cross(&linear) + now.attitude.rotate(&(body.inertia.matrix() * now.omega_body));
    }
    sum
}

#[test]
fn the_double_pendulum_has_the_known_digits() {
    let system = named("double-pendulum");
    // Both positions and both angular velocities.
    let known: [(&str, [[f64; 3]; 4]); 3] = [
        (
            "conserving,constraints=index3",
            [
                [-0.0706762884434, -0.1484065624535, -0.4722079568078],
                [-0.00914715343611, -0.4273971346008, -1.298632715056],
                [-0.4818912567904, -3.790593200622, -0.2679910354239],
                [-1.194779296723, -17.93358953799, -3.580344803602],
            ],
        ),
        (
            "conserving",
            [
                [-0.0706822816545, -0.1484042524011, -0.4722077857569],
                [-0.00914580766957, -0.4273951157019, -1.298626437681],
                [-0.4819602264458, -3.826431171446, -0.2619745349069],
                [-1.193984148482, -18.00016753393, -3.583454565169],
            ],
        ),
        (
            "variational,map=cayley",
            [
                [-0.0709374074783, -0.1482889738737, -0.4722057437682],
                [-0.00965170587796, -0.4274119747047, -1.298529415374],
                [-0.4790448358861, -3.820974158893, -0.2584358230599],
                [-1.346855430263, -18.01084278843, -3.454984584074],
            ],
        ),
    ];
    for (id, [upper, lower, upper_spin, lower_spin]) in known {
        let run = after(&system, id, 0.01, 50);
        let [a, b] = [0, 1].map(|i| run.bodies()[i]);
        for (found, known) in [(a.position, upper), (b.position, lower)] {
            assert!(largest(&found, known) < 1e-11, "{id}: {found:?}");
        }
        for (found, known) in [(a.omega_body, upper_spin), (b.omega_body, lower_spin)] {
            assert!(largest(&found, known) < 1e-11, "{id}: {found:?}");
        }
    }
    let energy = |id| after(&system, id, 0.01, 50).energy() - 9.7363675;
    assert!(energy("conserving").abs() < 1e-12 && energy("conserving,index3").abs() < 1e-12);
    assert!((energy("variational,map=cayley") + 2.556484308e-2).abs() < 1e-11);
    let run = after(&system, "decaying", 0.01, 50);
    assert!(largest(&run.bodies()[1].position, [-0.009137526701, -0.427402426704, -1.298649761026]) < 1e-11);
    assert!((run.energy() - 9.730254257317).abs() < 1e-11);
    let violation = after(&system, "conserving,index3", 0.01, 50).violation();
    assert!(violation.position < 1e-14 && (violation.velocity - 3.932279e-2).abs() < 1e-2);
}

/// Both levels of the joints go with the factors of one, at no cost in iterations: Newton's method takes as many, and as many
/// matrices, as with `geometric-alpha`, which holds one level.
#[test]
fn keeping_structure_takes_no_more_iterations() {
    let mut problem = Problem::named("chain").unwrap();
    problem.set("bodies", "64").unwrap();
    let system = problem.model().unwrap().system().clone();
    let spent = |id| after(&system, id, 1e-3, 200).spent;
    let plain = spent("geometric-alpha");
    for id in ["conserving", "conserving,index3", "variational"] {
        let work = spent(id);
        let part = |now: u64, then: u64| now as f64 / then as f64;
        assert!(part(work.iterations, plain.iterations) < 1.15, "{id}: {work:?}, {plain:?}");
        assert!(part(work.jacobians, plain.jacobians) < 1.25, "{id}: {work:?}, {plain:?}");
        assert_eq!(work.retries, 0, "{id}");
    }
}

/// Where bodies turn far in a step both levels are factored together, as in steps that nothing else solves.
#[test]
fn long_steps_keep_both_levels() {
    let system = named("double-pendulum");
    let run = after(&system, "conserving", 0.05, 20);
    assert!((run.energy() - 9.7363675).abs() < 1e-11, "{}", run.energy());
    let Violation { position, velocity } = run.violation();
    assert!(position < 1e-13 && velocity < 1e-11, "{position:e} {velocity:e}");
}

#[test]
fn the_pair_and_the_gyroscope_have_the_known_digits() {
    let known = [
        (
            "conserving,constraints=index3",
            [0.129192239003, -0.003422062513808, 0.1114976738707],
            [1.183105820748, 0.2425665468854, 0.356376744597],
            [-8.470361495942, -0.7669926390852, -3.061605994121],
        ),
        (
            "conserving",
            [0.1291923854215, -0.003422178907014, 0.1114974961747],
            [1.183105710934, 0.2425666341803, 0.356376877869],
            [-8.477280992589, -0.7678814301833, -3.062755235888],
        ),
        (
            "variational,map=cayley",
            [0.1299599882797, -0.00361519207476, 0.1102412584429],
            [1.18253000879, 0.2427113940561, 0.3573190561678],
            [-8.515567467339, -0.7566893137809, -3.154048554135],
        ),
    ];
    for (id, x1, x2, spin) in known {
        let run = after(&pair(), id, 0.01, 20);
        let [one, two] = [0, 1].map(|i| run.bodies()[i]);
        assert!(largest(&one.position, x1) < 1e-11 && largest(&two.position, x2) < 1e-11, "{id}");
        assert!(largest(&one.omega_body, spin) < 1e-11, "{id}: {:?}", one.omega_body);
    }
    let run = after(&pair(), "decaying", 0.01, 20);
    assert!(largest(&run.bodies()[1].position, [1.183371795236, 0.242532565881, 0.356474781527]) < 1e-11);
    assert!((run.energy() - 8.514922489373).abs() < 1e-11);
    let gyroscope = named("gyroscope");
    let rotor = |id: &str| {
        let run = after(&gyroscope, id, 0.002, 25);
        (run.moving("rotor").unwrap().omega_body, run.moving("outer").unwrap().omega_body.z)
    };
    for (id, spin, outer) in [
        ("conserving,index3", [0.7023679017501, 60.00001276311, -0.09738663243211], -0.00631186293637),
        ("conserving", [0.7029685270579, 60.00001277757, -0.09670571508606], -0.00596315605014),
        ("variational,cayley", [0.699964584868, 60.0, -0.102351329458], -0.007475548244655),
    ] {
        let (found, about) = rotor(id);
        assert!(largest(&found, spin) < 1e-11, "{id}: {found:?}");
        assert!((about - outer).abs() < 1e-11, "{id}: {about}");
    }
}

/// Compositions reach their order in velocities too, and keep what the step keeps.
#[test]
fn compositions_have_their_order_in_positions_and_velocities() {
    let system = named("double-pendulum");
    let exact = after(&system, "compose:conserving:8", 0.5 / 160.0, 160);
    let exact = exact.bodies()[1];
    assert!(largest(&exact.position, [-0.009124586, -0.427598001, -1.299338189]) < 1e-9);
    let other = after(&system, "compose:variational:8", 0.5 / 160.0, 160);
    assert!((other.bodies()[1].velocity - exact.velocity).amax() < 1e-10);
    let error = |id: &str, steps: usize| {
        let run = after(&system, id, 0.5 / steps as f64, steps);
        let now = run.bodies()[1];
        [(now.position - exact.position).norm(), (now.velocity - exact.velocity).norm()]
    };
    for (id, steps, order) in [
        ("conserving", 200, 2.0),
        ("conserving,index3", 200, 2.0),
        ("variational", 200, 2.0),
        ("variational,cayley", 200, 2.0),
        ("decaying", 200, 2.0),
        ("compose:conserving:4", 80, 4.0),
        ("compose:variational:4", 80, 4.0),
        ("compose:conserving:6", 80, 6.0),
        ("compose:variational:6", 80, 6.0),
        ("compose:conserving:8", 40, 8.0),
        ("compose:variational:8", 40, 8.0),
    ] {
        let (coarse, fine) = (error(id, steps), error(id, 2 * steps));
        for (a, b) in coarse.into_iter().zip(fine) {
            let found = (a / b).log2();
            assert!((found - order).abs() < if order < 7.0 { 0.25 } else { 1.0 }, "{id}: order {found}");
        }
    }
    let refusal = Method::parse("compose:conserving,constraints=index3:4").unwrap_err().to_string();
    assert!(refusal.contains("order 2") && refusal.contains("stabilized"), "{refusal}");
    assert!(Method::parse("compose:decaying:4").is_err());
}

/// What a run of a free pair keeps, measured: energy, momenta, joints.
fn kept(id: &str) -> SystemClaims {
    let mut run = Simulation::new(pair(), &method(id)).unwrap();
    let (energy, [linear, angular]) = (run.energy(), momenta(&run));
    let mut off = [0.0f64; 3];
    let mut worst = Violation::default();
    for _ in 0..400 {
        run.step(0.02).unwrap();
        let [p, l] = momenta(&run);
        let now = [(run.energy() - energy).abs() / energy, (p - linear).amax(), (l - angular).amax()];
        off.iter_mut().zip(now).for_each(|(off, now)| *off = off.max(now));
        let Violation { position, velocity } = run.violation();
        worst = Violation { position: worst.position.max(position), velocity: worst.velocity.max(velocity) };
    }
    let kept = |x: f64| {
        assert!(!(1e-11..1e-7).contains(&x), "{id}: neither kept nor lost: {x:e}");
        x < 1e-11
    };
    SystemClaims {
        energy: kept(off[0]),
        momentum: kept(off[1]),
        angular_momentum: kept(off[2]),
        joint_positions: kept(worst.position),
        joint_velocities: kept(worst.velocity),
        symplectic: method(id).keeps().unwrap().symplectic,
    }
}

#[test]
fn claims_hold_and_what_is_not_claimed_does_not() {
    let further =
        ["conserving,index3", "variational,cayley", "geometric-alpha,stabilized", "compose:conserving:4"];
    for id in SYSTEMS.iter().map(|row| row.id).chain(further) {
        assert_eq!(kept(id), method(id).keeps().unwrap(), "{id}");
    }
}

/// A step back undoes a step, exactly where that is claimed.
#[test]
fn symmetric_steps_go_back_to_where_they_came_from() {
    for id in [
        "conserving",
        "conserving,index3",
        "variational",
        "compose:variational:6",
        "decaying",
        "geometric-alpha",
    ] {
        let mut run = Simulation::new(pair(), &method(id)).unwrap();
        let start = run.bodies()[1];
        for h in [0.02, -0.02] {
            (0..20).for_each(|_| run.step(h).unwrap());
        }
        let back = (run.bodies()[1].position - start.position).amax();
        let back = back.max((run.bodies()[1].omega_body - start.omega_body).amax());
        assert_eq!(back < 1e-11, method(id).is_symmetric(), "{id}: {back:e}");
    }
}

/// The symplectic form of two variations, kept by variational steps and by no other: in each body the left-trivialised form
/// δπ₁·Θ₂ - δπ₂·Θ₁ - π·(Θ₁ × Θ₂), and m (δv₁·δx₂ - δv₂·δx₁).
#[test]
fn variational_steps_are_symplectic() {
    let form = |run: &mut Differentiated| {
        let slopes = |parameter: usize, run: &mut Differentiated| {
            let run = run.derivative(parameter).unwrap();
            let eps = |v: &Vector3<Dual1>| v.map(|x| x.eps[0]);
            let of = |b: &polhode::multibody::BodyMotion<Dual1>| {
                [eps(&b.position), eps(&b.velocity), b.attitude.slope().map(|x| x), eps(&b.omega_body)]
            };
            run.bodies().iter().map(of).collect::<Vec<_>>()
        };
        let (one, two) = (slopes(0, run), slopes(1, run));
        let mut sum = 0.0;
        for (b, now) in run.simulation().bodies().iter().enumerate() {
            let body = &run.simulation().system().bodies()[b];
            let spin = |w: &Vector3<f64>| body.inertia.matrix() * w;
            let ([x1, v1, t1, w1], [x2, v2, t2, w2]) = (one[b], two[b]);
            sum += body.mass * (v1.dot(&x2) - v2.dot(&x1));
            sum += spin(&w1).dot(&t2) - spin(&w2).dot(&t1) - spin(&now.omega_body).dot(&t1.cross(&t2));
        }
        sum
    };
    let system = named("double-pendulum");
    let mut varied = [system.lift::<Dual1>(), system.lift::<Dual1>()];
    varied[0].bodies_mut()[1].omega_body.y.eps = [1.0];
    // The lower body turned about its joint: its centre moves with it.
    let lower = system.bodies()[1].clone();
    varied[1].bodies_mut()[1].attitude = lower.attitude.with_slope(&Vector3::y());
    let shift = lower.attitude.rotate(&Vector3::y().cross(&Vector3::new(0.4, 0.0, 0.0)));
    for i in 0..3 {
        varied[1].bodies_mut()[1].position[i].eps = [shift[i]];
    }
    for (id, symplectic) in [
        ("variational", true),
        ("variational,cayley", true),
        ("compose:variational:4", true),
        ("conserving", false),
    ] {
        let mut run = Differentiated::new(&system, &varied, &method(id)).unwrap();
        let start = form(&mut run);
        (0..10).for_each(|_| run.step(0.04).unwrap());
        let change = ((form(&mut run) - start) / start).abs();
        assert_eq!(change < 1e-9, symplectic, "{id}: {start} changes by {change:e}");
        assert!(start.abs() > 1e-3 && (symplectic || change > 1e-6), "{id}: {change:e}");
    }
}

/// Energy over many steps; the long campaign has a million.
#[test]
fn energy_has_no_trend() {
    let steps = if std::env::var_os("POLHODE_LONG").is_some() { 1_000_000 } else { 2000 };
    for (problem, h) in [
        ("double-pendulum", 0.01),
        ("four-bar", 0.01),
        ("slider-crank", 0.002),
        ("gyroscope", 0.002),
        ("heavy-top", 1e-3),
    ] {
        let mut run = Simulation::new(named(problem), &method("conserving")).unwrap();
        let (energy, kinetic) = (run.energy(), run.kinetic_energy());
        let (mut worst, mut scale) = (0.0f64, kinetic);
        for _ in 0..steps {
            run.step(h).unwrap();
            worst = worst.max((run.energy() - energy).abs());
            scale = scale.max(run.kinetic_energy());
        }
        assert!(worst < 5e-11 * scale, "{problem}: {worst:e} of {scale}");
        let Violation { position, velocity } = run.violation();
        assert!(position < 1e-14 * 3.0 && velocity < 1e-11, "{problem}: {position:e}, {velocity:e}");
    }
}

/// A planar four-bar on stiff bushings in place of hinges.
fn bushed() -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, -9.81, 0.0));
    let bar = |length: f64| {
        let moment = length * length / 12.0;
        Rigid::new(1.0, Matrix3::from_diagonal(&Vector3::new(0.01, moment + 0.01, moment + 0.01))).unwrap()
    };
    let turn = |angle: f64| Rotation::from_rotation_vector(&Vector3::new(0.0, 0.0, angle));
    let along = |angle: f64| Vector3::new(angle.cos(), angle.sin(), 0.0);
    let up = core::f64::consts::FRAC_PI_2;
    let spin = Vector3::new(0.0, 0.0, -2.0);
    let moving = |at: Vector3<f64>| Vector3::new(0.0, 0.0, -2.0).cross(&at);
    system
        .body("crank", bar(1.0).at(along(up) * 0.5, turn(up)).moving(moving(along(up) * 0.5), spin))
        .unwrap();
    let across = moving(along(up));
    system
        .body("coupler", bar(2.0).at(along(up) + Vector3::x(), turn(0.0)).moving(across, Vector3::zeros()))
        .unwrap();
    let far = Vector3::x() * 2.0;
    system
        .body("rocker", bar(1.0).at(far + along(up) * 0.5, turn(up)).moving(moving(along(up) * 0.5), spin))
        .unwrap();
    let stiffness = [1e8, 1e8, 1e8, 1e6, 1e6, 0.0];
    for (name, a, at_a, b, at_b) in [
        ("first", GROUND, Vector3::zeros(), "crank", -Vector3::x() * 0.5),
        ("second", "crank", Vector3::x() * 0.5, "coupler", -Vector3::x()),
        ("third", "coupler", Vector3::x(), "rocker", Vector3::x() * 0.5),
        ("fourth", GROUND, far, "rocker", -Vector3::x() * 0.5),
    ] {
        // Axes that are parallel at the start; stiffness about the hinge is none.
        let of = |body: &str| match body {
            GROUND => Rotation::identity(),
            body => system.bodies().iter().find(|b| b.name == body).unwrap().attitude.inverse(),
        };
        let (axes_a, axes_b) = (of(a), of(b));
        let frames = [format!("{name}.a"), format!("{name}.b")];
        system.frame(&frames[0], a, at_a, axes_a).unwrap();
        system.frame(&frames[1], b, at_b, axes_b).unwrap();
        let numbers = stiffness.into_iter().chain([0.0; 6]).collect();
        let bushing = OwnForce::new(Bushing { damped: false }, numbers).unwrap();
        system.force(name, bushing, &frames[0], &frames[1]).unwrap();
    }
    system
}

#[test]
fn energy_of_stiff_bushings_decays_and_never_rises() {
    let mut run = Simulation::new(bushed(), &method("decaying")).unwrap();
    let start = run.energy();
    let mut last = start;
    for step in 0..300 {
        run.step(1e-3).unwrap();
        let now = run.energy();
        assert!(now <= last + 1e-9 * start.abs(), "step {step}: {last} -> {now}");
        last = now;
    }
    // The links move as rigid ones do: the crank pin stays on its circle.
    let pin = run.bodies()[0].position + run.bodies()[0].attitude.rotate(&(Vector3::x() * 0.5));
    assert!((pin.norm() - 1.0).abs() < 1e-5, "{pin:?}");
    assert!((start - last).abs() < 0.02 * run.kinetic_energy(), "{start} {last}");
}

#[test]
fn derivatives_are_those_of_differences() {
    let system = named("four-bar");
    for id in ["conserving", "conserving,index3", "variational", "decaying"] {
        let mass = system.bodies()[1].mass;
        let mut varied = system.lift::<Dual1>();
        varied.bodies_mut()[1].mass.eps = [1.0];
        let mut run = Differentiated::new(&system, &[varied], &method(id)).unwrap();
        (0..30).for_each(|_| run.step(0.005).unwrap());
        let slope = run.derivative(0).unwrap().bodies()[2].omega_body.map(|x| x.eps[0]);
        let at = |by: f64| {
            let mut changed = System::clone(&system);
            changed.bodies_mut()[1].mass = mass + by;
            after(&changed, id, 0.005, 30).bodies()[2].omega_body
        };
        let step = 1e-4 * mass;
        let wide = (at(2.0 * step) - at(-2.0 * step)) / (4.0 * step);
        let narrow = (at(step) - at(-step)) / (2.0 * step);
        let difference = narrow + (narrow - wide) / 3.0;
        assert!((slope - difference).amax() < 1e-8 * (1.0 + slope.amax()), "{id}: {slope:?} {difference:?}");
    }
}
