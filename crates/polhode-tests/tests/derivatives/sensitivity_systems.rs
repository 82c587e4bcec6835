//! The derivatives of systems against duals through the whole run, for every kind of parameter, joint, force and load.

use crate::systems::METHODS;
use nalgebra::{Matrix3, Vector3};
use polhode::body::{
    Drag, Force, Frame, Harmonic, HarmonicForce, Moment, RotaryInertia, RotationalSpring, StandardLoad,
};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{
    BodyMotion, Coordinates, Differentiated, ForceKind, GROUND, JointKind, Rigid, Simulation, System,
};
use polhode::scalar::{Dual, Real};

type D = Dual<f64, 1>;

/// Numbers from -1 to 1, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next())
    }
    fn seed<S: Real>(&mut self, x: &mut Dual<S, 1>) {
        x.eps = [S::lift(self.next())];
    }
    fn seeds<'a, S: Real>(&mut self, numbers: impl IntoIterator<Item = &'a mut Dual<S, 1>>) {
        numbers.into_iter().for_each(|x| self.seed(x));
    }
    fn turn<S: Real>(&mut self) -> Rotation<Dual<S, 1>> {
        Rotation::from_rotation_vector(&self.vector().map(|eps| Dual { re: S::zero(), eps: [S::lift(eps)] }))
    }
}

/// What parameters may be.
const KINDS: [&str; 12] = [
    "mass",
    "inertia",
    "points",
    "axes",
    "lengths",
    "forces",
    "loads",
    "gravity",
    "positions",
    "attitudes",
    "velocities",
    "coordinates",
];

/// Gives all numbers of a kind a derivative.
fn vary<S: Real>(system: &mut System<Dual<S, 1>>, kind: &str, random: &mut Random) {
    for body in system.bodies_mut() {
        match kind {
            "mass" => random.seed(&mut body.mass),
            "inertia" => {
                let change = Matrix3::from_fn(|_, _| random.next() * 0.1);
                let change = change + change.transpose();
                let inertia =
                    body.inertia.matrix().zip_map(&change, |j, eps| Dual { re: j.re, eps: [S::lift(eps)] });
                body.inertia = RotaryInertia::unchecked(inertia);
            }
            "positions" => random.seeds(body.position.iter_mut()),
            "attitudes" => body.attitude = body.attitude.compose(&random.turn()),
            "velocities" => {
                random.seeds(body.velocity.iter_mut());
                random.seeds(body.omega_body.iter_mut());
            }
            "loads" => {
                for load in body.loads.list_mut() {
                    match load {
                        StandardLoad::Force(f) => {
                            random.seeds(f.value.iter_mut().chain(f.point_body.iter_mut()))
                        }
                        StandardLoad::HarmonicForce(f) => {
                            random.seeds(f.amplitude.iter_mut().chain([&mut f.frequency, &mut f.phase]));
                        }
                        StandardLoad::Moment(m) => random.seeds(m.value.iter_mut()),
                        StandardLoad::Harmonic(m) => {
                            random.seeds(m.amplitude.iter_mut().chain([&mut m.frequency, &mut m.phase]));
                        }
                        StandardLoad::Drag(drag) => random.seed(&mut drag.coefficient),
                        StandardLoad::RotationalSpring(spring) => random.seeds(spring.stiffness.iter_mut()),
                        other => panic!("{other:?}"),
                    }
                }
            }
            _ => {}
        }
    }
    for joint in system.joints_mut() {
        match (kind, &mut joint.kind) {
            ("lengths", JointKind::Distance { length }) => random.seed(length),
            ("points", _) => joint.ends.iter_mut().for_each(|end| random.seeds(end.point.iter_mut())),
            ("axes", _) => joint.ends.iter_mut().for_each(|end| end.axes *= random.turn().matrix()),
            _ => {}
        }
    }
    for force in system.forces_mut() {
        match (kind, &mut force.kind) {
            (
                "forces",
                ForceKind::SpringDamper { stiffness, damping, length: rest }
                | ForceKind::TorsionSpring { stiffness, damping, angle: rest },
            ) => random.seeds([stiffness, damping, rest]),
            ("points", _) => force.ends.iter_mut().for_each(|end| random.seeds(end.point.iter_mut())),
            ("axes", _) => force.ends.iter_mut().for_each(|end| end.axes *= random.turn().matrix()),
            _ => {}
        }
    }
    if kind == "gravity" {
        random.seeds(system.gravity_mut().iter_mut());
    }
    if kind == "coordinates" {
        for extra in system.extra_mut() {
            for list in [&mut extra.mass, &mut extra.damping, &mut extra.stiffness] {
                let mut entry = || random.next();
                let (a, b, c) = (entry(), entry(), entry());
                for (x, eps) in list.iter_mut().zip([a, b, b, c]) {
                    x.eps = [S::lift(eps)];
                }
            }
            for list in [&mut extra.force, &mut extra.amplitude, &mut extra.position, &mut extra.velocity] {
                random.seeds(list.iter_mut());
            }
            random.seeds([&mut extra.frequency, &mut extra.phase]);
        }
    }
}

fn rigid(mass: f64, moments: [f64; 3]) -> Rigid<f64> {
    let turn = Rotation::from_rotation_vector(&Vector3::new(0.2, -0.3, 0.1)).matrix();
    let inertia = turn * Matrix3::from_diagonal(&Vector3::from(moments)) * turn.transpose();
    Rigid::new(mass, (inertia + inertia.transpose()) * 0.5).unwrap()
}

fn turned(x: f64, y: f64, z: f64) -> Rotation<f64> {
    Rotation::from_rotation_vector(&Vector3::new(x, y, z))
}

/// A free body under every load, with coordinates of R² beside it.
fn free(speed: f64) -> System<f64> {
    let mut system = System::new(Vector3::new(0.3, -0.2, -9.81));
    let body = rigid(2.0, [0.3, 0.4, 0.5])
        .at(Vector3::new(0.1, 0.2, -0.1), turned(0.3 * speed, 0.1 * speed, -0.2 * speed))
        .moving(Vector3::new(0.5, -1.0, 0.2) * speed, Vector3::new(1.0, 2.0, -0.5) * speed)
        .with(Force {
            frame: Frame::Body,
            point_body: Vector3::new(0.1, 0.0, 0.2),
            value: Vector3::new(1.0, 2.0, 3.0),
        })
        .with(Force {
            frame: Frame::Space,
            point_body: Vector3::new(0.0, 0.1, 0.0),
            value: Vector3::new(0.0, 1.0, -2.0),
        })
        .with(HarmonicForce {
            frame: Frame::Body,
            point_body: Vector3::new(0.1, 0.2, 0.3),
            amplitude: Vector3::new(1.0, -1.0, 0.5),
            frequency: 3.0,
            phase: 0.2,
        })
        .with(Moment { frame: Frame::Space, value: Vector3::new(0.1, 0.2, -0.1) })
        .with(Harmonic {
            frame: Frame::Body,
            amplitude: Vector3::new(0.3, 0.1, 0.2),
            frequency: 2.0,
            phase: 0.1,
        })
        .with(Drag { coefficient: 0.2 })
        .with(RotationalSpring { stiffness: Vector3::new(1.0, 2.0, 3.0) });
    system.body("free", body.free()).unwrap();
    let mut extra = Coordinates::new(vec![2.0, 0.3, 0.3, 1.0], vec![0.1, -0.2]);
    extra.damping = vec![0.1, 0.05, 0.05, 0.2];
    extra.stiffness = vec![20.0, -3.0, -3.0, 15.0];
    extra.force = vec![1.0, 0.5];
    extra.amplitude = vec![0.3, -0.7];
    (extra.frequency, extra.phase) = (4.0, 0.3);
    extra.velocity = vec![0.2, 0.1];
    system.coordinates("flat", extra).unwrap();
    system
}

/// A tree with every joint, let go at rest or moving. All bodies start in line, at zero relative rotation.
fn tree(speed: f64, attitude: Rotation<f64>) -> System<f64> {
    let mut system = System::new(attitude.rotate(&Vector3::new(0.5, 1.0, -9.0)));
    system.frame("base", GROUND, Vector3::zeros(), attitude).unwrap();
    let mut above = "base".to_string();
    let axes = turned(0.4, 0.3, 0.2);
    let kinds = [
        JointKind::Revolute,
        JointKind::Universal,
        JointKind::Cylindrical,
        JointKind::Spherical,
        JointKind::Planar,
        JointKind::Fixed,
        JointKind::Prismatic,
        JointKind::Distance { length: 0.7 },
    ];
    let half = Vector3::new(0.25, 0.0, 0.0);
    let mut end = Vector3::zeros();
    for (i, kind) in kinds.into_iter().enumerate() {
        let name = format!("body-{i}");
        if matches!(kind, JointKind::Distance { .. }) {
            end += Vector3::new(0.7, 0.0, 0.0);
        }
        let center = end + half;
        let omega = Vector3::new(0.3, -0.2, 0.9) * speed;
        let body = rigid(1.0 + 0.2 * i as f64, [0.03, 0.04, 0.05])
            .at(attitude.rotate(&center), attitude)
            .moving(attitude.rotate(&omega.cross(&center)), omega);
        system.body(&name, body).unwrap();
        let (begin, last) = (format!("{name}.begin"), format!("{name}.end"));
        // The arms of a universal joint are perpendicular: its frames are a quarter turn apart.
        let apart = match kind {
            JointKind::Universal => {
                Rotation::from_rotation_vector(&(Vector3::y() * core::f64::consts::FRAC_PI_2))
            }
            _ => Rotation::identity(),
        };
        let first = if i == 0 { Rotation::identity() } else { axes };
        system.frame(&begin, &name, -half, first.compose(&apart)).unwrap();
        system.frame(&last, &name, half, axes).unwrap();
        let kind = match kind {
            JointKind::Universal => JointKind::Spherical,
            kind => kind,
        };
        system.joint(&format!("joint-{i}"), kind, &above, &begin).unwrap();
        above = last;
        end = center + half;
    }
    system
}

/// A universal joint and springs of both kinds between two bodies and the ground.
fn springs(speed: f64) -> System<f64> {
    let mut system = System::new(Vector3::new(0.0, 0.0, -9.81));
    let one = rigid(1.5, [0.05, 0.06, 0.07]).moving(Vector3::zeros(), Vector3::zeros());
    system.body("one", one.at(Vector3::new(0.5, 0.0, 0.0), Rotation::identity())).unwrap();
    let two = rigid(0.8, [0.02, 0.03, 0.025])
        .at(Vector3::new(1.2, 0.4, -0.2), turned(0.0, 0.2 * speed, 0.1 * speed));
    let two = two.moving(Vector3::new(0.2, 1.0, -0.3) * speed, Vector3::new(2.0, -1.0, 0.5) * speed);
    system.body("two", two).unwrap();
    system.frame("one.left", "one", Vector3::new(-0.5, 0.0, 0.0), turned(0.3, 0.0, 0.0)).unwrap();
    system.frame("one.right", "one", Vector3::new(0.5, 0.1, 0.0), turned(0.1, 0.2, 0.0)).unwrap();
    system.frame("two.left", "two", Vector3::new(-0.2, 0.0, 0.1), turned(0.0, 0.1, 0.3)).unwrap();
    system.frame("wall", GROUND, Vector3::new(2.0, 0.0, 0.5), Rotation::identity()).unwrap();
    system.joint("pivot", JointKind::Universal, GROUND, "one.left").unwrap();
    let spring = |stiffness, damping, length| ForceKind::SpringDamper { stiffness, damping, length };
    let torsion = |stiffness, damping, angle| ForceKind::TorsionSpring { stiffness, damping, angle };
    system.force("between", spring(80.0, 0.5, 0.2), "one.right", "two.left").unwrap();
    system.force("to-wall", spring(40.0, 0.0, 0.5), "two", "wall").unwrap();
    system.force("twist", torsion(0.4, 0.1, 0.2), "one.right", "two.left").unwrap();
    system.force("hinge", torsion(0.6, 0.0, 0.0), GROUND, "one").unwrap();
    system
}

fn numbers(body: &BodyMotion<D>) -> Vec<D> {
    let vectors = [body.position, body.velocity, body.acceleration, body.omega_body, body.omega_rate];
    vectors.iter().flatten().chain(body.attitude.matrix().iter()).copied().collect()
}

/// How far derivatives are off relative to the largest of their kind: poses, velocities, and accelerations with multipliers.
fn apart(a: &Simulation<D>, b: &Simulation<D>) -> [f64; 3] {
    let x: Vec<_> = a.bodies().iter().map(numbers).collect();
    let y: Vec<_> = b.bodies().iter().map(numbers).collect();
    let worse = |worst: &mut f64, pairs: &mut dyn Iterator<Item = (D, D)>| {
        let (mut size, mut off) = (1.0f64, 0.0f64);
        for (p, q) in pairs {
            size = size.max(q.eps[0].abs());
            off = off.max((p.eps[0] - q.eps[0]).abs());
        }
        *worst = worst.max(off / size);
    };
    let mut worst = [0.0; 3];
    for (kind, level) in [(0..3, 0), (15..24, 0), (3..6, 1), (9..12, 1), (6..9, 2), (12..15, 2)] {
        let mut pairs = x.iter().zip(&y).flat_map(|(p, q)| kind.clone().map(|i| (p[i], q[i])));
        worse(&mut worst[level], &mut pairs);
    }
    fn pairs<'a>(p: &'a [D], q: &'a [D]) -> impl Iterator<Item = (D, D)> {
        p.iter().copied().zip(q.iter().copied())
    }
    worse(&mut worst[2], &mut pairs(a.all_multipliers(), b.all_multipliers()));
    for (p, q) in a.extra().iter().zip(b.extra()) {
        worse(&mut worst[0], &mut pairs(&p.position, &q.position));
        worse(&mut worst[1], &mut pairs(&p.velocity, &q.velocity));
        worse(&mut worst[2], &mut pairs(&p.acceleration, &q.acceleration));
    }
    worst
}

/// Runs a system with derivatives both ways.
fn check(name: &str, system: &System<f64>, methods: &[&str], h: f64, steps: usize) {
    let mut random = Random(7);
    let varied = KINDS.map(|kind| {
        let mut one = system.lift::<D>();
        vary(&mut one, kind, &mut random);
        one
    });
    for id in methods {
        let method = Method::parse(id).unwrap();
        let mut run = Differentiated::new(system, &varied, &method).unwrap();
        for _ in 0..steps {
            run.step(h).unwrap();
        }
        for (k, kind) in KINDS.iter().enumerate() {
            let mut dual = Simulation::new(&varied[k], &method).unwrap();
            for _ in 0..steps {
                dual.step(Dual::lift(h)).unwrap();
            }
            let apart = apart(run.derivative(k).unwrap(), &dual);
            // Index 3 divides the rounding of poses by h and h²: values lose as many digits.
            let bounds = [1e-12, 2e-13 / h, 4e-13 / (h * h)];
            assert!(apart.iter().zip(bounds).all(|(x, bound)| *x < bound), "{name} {id} {kind}: {apart:?}");
        }
    }
}

const CHARTS: [&str; 6] = [
    "linear-alpha,chart=rescaled",
    "residual-alpha,chart=rescaled,map=exp",
    "linear-alpha,map=cayley",
    "residual-alpha,map=euler-rodrigues,rho=0.5",
    "linear-alpha,chart=rescaled,constraints=stabilized",
    "residual-alpha,chart=rescaled,constraints=stabilized",
];

/// Methods that keep structure: for any system, and for those without dampers and loads that have no potential.
const KEEPING: [&str; 4] =
    ["conserving", "conserving,constraints=index3", "decaying,chi=0.5", "compose:conserving:4"];
const SYMPLECTIC: [&str; 3] = ["variational", "variational,map=cayley", "compose:variational:4"];

#[test]
fn methods_that_keep_structure() {
    let steps = if std::env::var_os("POLHODE_LONG").is_some() { 30 } else { 6 };
    check("free", &free(1.0), &KEEPING, 0.02, steps);
    check("springs", &springs(1.0), &KEEPING, 0.02, steps);
    for system in [tree(0.0, Rotation::identity()), tree(1.0, turned(0.5, -1.0, 2.0))] {
        check("tree", &system, &KEEPING, 0.02, steps);
        check("tree", &system, &SYMPLECTIC, 0.02, steps);
    }
}

#[test]
fn a_free_body_under_every_load() {
    for speed in [0.0, 1.0] {
        check("free", &free(speed), &METHODS, 0.02, 30);
        check("free", &free(speed), &CHARTS, 0.02, 30);
    }
}

#[test]
fn trees_with_every_joint() {
    for (speed, attitude) in
        [(0.0, Rotation::identity()), (1.0, Rotation::identity()), (1.0, turned(0.5, -1.0, 2.0))]
    {
        check("tree", &tree(speed, attitude), &METHODS, 0.02, 30);
        check("tree", &tree(speed, attitude), &CHARTS, 0.02, 30);
    }
}

#[test]
fn bodies_on_springs() {
    for speed in [0.0, 1.0] {
        check("springs", &springs(speed), &METHODS, 0.02, 30);
        check("springs", &springs(speed), &CHARTS, 0.02, 30);
    }
}
