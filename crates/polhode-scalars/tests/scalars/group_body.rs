//! Bodies on SO(3) and SE(3): loads against their potentials, power, and inertia against clouds of point masses.

use crate::probe::Random;
use nalgebra::{Matrix3, Vector3, Vector6};
use polhode::body::Dynamics;
use polhode::body::{
    Body, Drag, Frame, Gravity, Harmonic, Kinematics, Load, Loads, Moment, NoLoad, RotaryInertia, SoftWall,
    SpatialInertia, State, TopGravity,
};
use polhode::group::{Coordinates, Exponential, Group, Motion, Rotation, Se3, So3, lift};
use polhode::scalar::{Dual, Over, Real};

type D = Dual<f64, 1>;

fn vector<G: Dynamics>(random: &mut Random) -> G::Vector<f64> {
    G::vector(&random.vector(), &random.vector())
}
fn pose<G: Dynamics>(random: &mut Random) -> G::Pose<f64> {
    let angle = random.within(0.0, 3.1);
    G::pose(&Rotation::from_rotation_vector(&(random.axis() * angle)), &random.vector())
}
/// The pose on its way with the body velocity `v`.
fn moving<G: Dynamics>(pose: &G::Pose<f64>, v: &G::Vector<f64>) -> G::Pose<D> {
    let psi = G::Vector::<D>::generate(|i| Dual { re: 0.0, eps: [v.at(i)] });
    G::advance(&G::lift_pose::<f64, D>(pose), &G::increment(Exponential, &psi))
}
fn slope<G: Dynamics>(load: &impl Load<f64>, at: &G::Pose<f64>, v: &G::Vector<f64>) -> f64 {
    let still = G::Vector::<D>::origin();
    load.potential(&G::kinematics(D::lift(0.7), &moving::<G>(at, v), &still)).unwrap().eps[0]
}

fn gravity(random: &mut Random) -> Gravity<f64> {
    Gravity { weight_space: random.vector() * 20.0, center_body: random.vector() }
}
const TOP: TopGravity<f64> = TopGravity { mgl: 20.0 };
const BARRIER: SoftWall<f64> = SoftWall { coulomb: 1.0, wall: 0.001, offset: 1.9 };
const WELL: SoftWall<f64> = SoftWall { coulomb: -1.0, wall: -0.001, offset: 1.9 };

/// The wrench is minus the gradient of the potential, along every coordinate of the group.
fn is_conservative<G: Dynamics>(load: &impl Load<f64>) {
    let mut random = Random(1);
    for _ in 0..200 {
        let (at, still) = (pose::<G>(&mut random), G::Vector::<f64>::origin());
        let wrench = G::covector(&load.wrench(&G::kinematics(0.7, &at, &still)));
        for i in 0..G::Vector::<f64>::LEN {
            let along = G::Vector::<f64>::generate(|j| if i == j { 1.0 } else { 0.0 });
            let gap = wrench.at(i) + slope::<G>(load, &at, &along);
            assert!(gap.abs() < 2e-14 * (1.0 + wrench.length()), "{i}: {wrench:?} off by {gap:e}");
        }
    }
}

fn wrenches_are_minus_the_gradient_of_their_potential<G: Dynamics>() {
    let heavy = gravity(&mut Random(2));
    is_conservative::<G>(&NoLoad);
    is_conservative::<G>(&heavy);
    is_conservative::<G>(&TOP);
    is_conservative::<G>(&BARRIER);
    is_conservative::<G>(&WELL);
    is_conservative::<G>(&(heavy, BARRIER));
    is_conservative::<G>(&((heavy, TOP), (WELL, NoLoad)));
    is_conservative::<G>(&Loads::none());
    is_conservative::<G>(&Loads::none().with(heavy).with(TOP).with(BARRIER));
}

fn a_load_without_potential_leaves_the_sum_without<G: Dynamics>() {
    let at = G::kinematics(0.0, &pose::<G>(&mut Random(3)), &G::Vector::<f64>::origin());
    let push = Moment { frame: Frame::Body, value: Vector3::x() };
    let beat = Harmonic { frame: Frame::Space, amplitude: Vector3::x(), frequency: 1.0, phase: 0.0 };
    assert!(push.potential(&at).is_none() && beat.potential(&at).is_none());
    assert!(Drag { coefficient: 1.0 }.potential(&at).is_none());
    assert!((TOP, push).potential(&at).is_none() && (push, TOP).potential(&at).is_none());
    assert!(Loads::none().with(TOP).with(beat).potential(&at).is_none());
}

fn sums_of_loads_add_their_wrenches<G: Dynamics>() {
    let mut random = Random(4);
    let (heavy, drag) = (gravity(&mut random), Drag { coefficient: 0.3 });
    for _ in 0..200 {
        let at = G::kinematics(0.4, &pose::<G>(&mut random), &vector::<G>(&mut random));
        let on = |load: &dyn Fn(&Kinematics<f64>) -> G::Vector<f64>| load(&at);
        let a = on(&|k| G::covector(&heavy.wrench(k)));
        let b = on(&|k| G::covector(&drag.wrench(k)));
        assert_eq!(on(&|k| G::covector(&(heavy, drag).wrench(k))), a + b);
        assert_eq!(on(&|k| G::covector(&Loads::none().with(heavy).with(drag).wrench(k))), a + b);
    }
}

/// d/dt of the energy along the motion, with the momentum that the equations of motion demand.
fn energy_rate<G: Dynamics, L: Load<f64>>(body: &Body<f64, G, L>, state: &State<f64, G>, t: f64) -> f64 {
    let (v, rate) = (body.velocity(state), body.momentum_rate(state, t));
    let p = G::Vector::<D>::generate(|i| Dual { re: state.momentum.at(i), eps: [rate.at(i)] });
    let velocity = G::velocity(&G::lift_inertia::<f64, D>(&body.inertia), &p);
    let kinetic = velocity.inner(&p).eps[0] * 0.5;
    let at = G::kinematics(D::lift(t), &moving::<G>(&state.pose, &v), &velocity);
    kinetic + body.load.potential(&at).map_or(0.0, |v| v.eps[0])
}

fn energy_changes_by_the_power_of_the_loads_without_potential<G: Dynamics>(inertia: G::Inertia<f64>) {
    let mut random = Random(5);
    let heavy = gravity(&mut random);
    let (body_fixed, space_fixed) = (random.vector(), random.vector());
    let (push, pull) = (
        Moment { frame: Frame::Body, value: body_fixed },
        Moment { frame: Frame::Space, value: space_fixed },
    );
    let beat = Harmonic { frame: Frame::Body, amplitude: body_fixed, frequency: 3.0, phase: 0.5 };
    for _ in 0..200 {
        let (at, v, t) = (pose::<G>(&mut random), vector::<G>(&mut random), random.within(0.0, 5.0));
        let omega = G::angular(&v);
        let attitude = G::kinematics(t, &at, &v).attitude;
        macro_rules! rate {
            ($load:expr) => {{
                let body = Body::<f64, G, _> { inertia, load: $load };
                let state = body.state(at, &v);
                assert!((body.velocity(&state) - v).length() < 1e-14);
                energy_rate(&body, &state, t)
            }};
        }
        assert!(rate!(NoLoad).abs() < 1e-13);
        assert!(rate!((heavy, BARRIER)).abs() < 1e-12);
        assert!(rate!((TOP, WELL)).abs() < 1e-12);
        assert!((rate!(Drag { coefficient: 0.3 }) + 0.3 * omega.norm_squared()).abs() < 1e-13);
        assert!((rate!(push) - body_fixed.dot(&omega)).abs() < 1e-13);
        assert!((rate!(pull) - space_fixed.dot(&(attitude.matrix() * omega))).abs() < 1e-13);
        assert!((rate!(beat) - body_fixed.dot(&omega) * (3.0 * t + 0.5).cos()).abs() < 1e-13);
    }
}

#[test]
fn power_balances_on_so3() {
    energy_changes_by_the_power_of_the_loads_without_potential::<So3>(cloud(6).rotary());
}
#[test]
fn power_balances_on_se3() {
    energy_changes_by_the_power_of_the_loads_without_potential::<Se3>(cloud(6).spatial());
}

fn a_top_is_a_heavy_body_upright<G: Dynamics>() {
    let mut random = Random(7);
    let heavy =
        Gravity { weight_space: Vector3::new(0.0, 0.0, -40.0), center_body: Vector3::new(0.0, 0.0, 0.5) };
    for _ in 0..500 {
        let at = So3::kinematics(0.0, &pose::<So3>(&mut random), &Vector3::zeros());
        let (a, b) = (TOP.wrench(&at), heavy.wrench(&at));
        assert!((a.moment_body - b.moment_body).norm() < 2e-14);
        assert!((TOP.potential(&at).unwrap() - heavy.potential(&at).unwrap()).abs() < 2e-14);
        assert_eq!(a.force_body, Vector3::zeros());
        // At a position, the weight has a potential of its own; the moment about the reference point is the same.
        let placed =
            G::kinematics(0.0, &G::pose(&at.attitude, &random.vector()), &G::Vector::<f64>::origin());
        assert_eq!(TOP.wrench(&placed).moment_body, a.moment_body);
        let lifted = heavy.potential(&placed).unwrap() - TOP.potential(&placed).unwrap();
        assert!((lifted - 40.0 * placed.position.z).abs() < 4e-14);
    }
}

suite! {
    wrenches_are_minus_the_gradient_of_their_potential
    a_load_without_potential_leaves_the_sum_without
    sums_of_loads_add_their_wrenches
    a_top_is_a_heavy_body_upright
}

/// Point masses in body axes, away from the reference point.
struct Cloud(Vec<(f64, Vector3<f64>)>);

fn cloud(seed: u64) -> Cloud {
    let mut random = Random(seed);
    let offset = random.vector();
    Cloud((0..8).map(|_| (random.within(0.1, 2.0), random.vector() + offset)).collect())
}
impl Cloud {
    fn mass(&self) -> f64 {
        self.0.iter().map(|(m, _)| m).sum()
    }
    fn center(&self) -> Vector3<f64> {
        self.0.iter().map(|(m, r)| r * *m).sum::<Vector3<f64>>() / self.mass()
    }
    fn about_center(&self) -> Matrix3<f64> {
        let tilde = |r: Vector3<f64>| r.cross_matrix();
        self.0.iter().map(|(m, r)| -tilde(r - self.center()) * tilde(r - self.center()) * *m).sum()
    }
    fn spatial(&self) -> SpatialInertia<f64> {
        SpatialInertia::new(self.mass(), self.center(), self.about_center()).unwrap()
    }
    fn rotary(&self) -> RotaryInertia<f64> {
        RotaryInertia::from_center_of_mass(self.mass(), self.center(), self.about_center()).unwrap()
    }
    /// Linear momentum, angular momentum about the reference point, kinetic energy.
    fn motion(&self, v: &Vector3<f64>, omega: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>, f64) {
        self.0.iter().fold((Vector3::zeros(), Vector3::zeros(), 0.0), |(p, h, e), (m, r)| {
            let velocity = v + omega.cross(r);
            (p + velocity * *m, h + r.cross(&velocity) * *m, e + 0.5 * m * velocity.norm_squared())
        })
    }
}

#[test]
fn a_free_body_moves_like_its_point_masses() {
    let mut random = Random(8);
    for seed in 0..200 {
        let cloud = cloud(seed);
        let body = Body::<f64, Se3, _> { inertia: cloud.spatial(), load: NoLoad };
        let (at, v) = (pose::<Se3>(&mut random), vector::<Se3>(&mut random));
        let state = body.state(at, &v);
        let (p, h, e) = cloud.motion(&Se3::linear(&v), &Se3::angular(&v));
        assert!((Se3::linear(&state.momentum) - p).norm() < 1e-13);
        assert!((Se3::angular(&state.momentum) - h).norm() < 1e-13);
        assert!((body.kinetic_energy(&state) - e).abs() < 1e-13);
        assert!((body.velocity(&state) - v).norm() < 1e-13);
        assert!((Se3::momentum(&body.inertia, &body.velocity(&state)) - state.momentum).norm() < 1e-13);
        // From space, the angular momentum is about the origin of space.
        let Motion { attitude, position } = at;
        let space = state.momentum_space();
        assert!((Se3::linear(&space) - attitude.rotate(&p)).norm() < 1e-13);
        let about_origin = attitude.rotate(&h) + position.cross(&attitude.rotate(&p));
        assert!((Se3::angular(&space) - about_origin).norm() < 1e-13);
    }
}

#[test]
fn a_rotating_body_moves_like_its_point_masses() {
    let mut random = Random(9);
    for seed in 0..200 {
        let cloud = cloud(seed);
        let body = Body::<f64, So3, _> { inertia: cloud.rotary(), load: NoLoad };
        let (at, omega) = (pose::<So3>(&mut random), random.vector());
        let state = body.state(at, &omega);
        let (_, h, e) = cloud.motion(&Vector3::zeros(), &omega);
        assert!((state.momentum - h).norm() < 1e-13);
        assert!((body.kinetic_energy(&state) - e).abs() < 1e-13);
        assert!((body.velocity(&state) - omega).norm() < 1e-13);
        assert!((state.momentum_space() - at.rotate(&h)).norm() < 1e-13);
    }
}

#[test]
fn weight_at_the_centre_of_mass_is_weight_on_every_point() {
    let (cloud, mut random) = (cloud(10), Random(10));
    let g = Vector3::new(0.3, -0.5, -9.81);
    let heavy = Gravity { weight_space: g * cloud.mass(), center_body: cloud.center() };
    for _ in 0..200 {
        let at = Se3::kinematics(0.0, &pose::<Se3>(&mut random), &Vector6::zeros());
        let wrench = heavy.wrench(&at);
        let down = at.attitude.unrotate(&g);
        let moment: Vector3<f64> = cloud.0.iter().map(|(m, r)| r.cross(&down) * *m).sum();
        let potential: f64 =
            cloud.0.iter().map(|(m, r)| -m * g.dot(&(at.position + at.attitude.rotate(r)))).sum();
        assert!((wrench.force_body - down * cloud.mass()).norm() < 1e-12);
        assert!((wrench.moment_body - moment).norm() < 1e-12);
        assert!((heavy.potential(&at).unwrap() - potential).abs() < 1e-12);
    }
}

#[test]
fn constants_of_a_richer_scalar_keep_their_values() {
    let mut random = Random(11);
    let state = State::<f64, Se3> { pose: pose::<Se3>(&mut random), momentum: vector::<Se3>(&mut random) };
    let lifted = state.lift::<D>();
    assert_eq!(lifted.pose.attitude.q_wxyz().map(|x| x.re), state.pose.attitude.q_wxyz());
    assert_eq!(lifted.pose.position.map(|x| x.re), state.pose.position);
    let momentum: Vector6<D> = lift(&state.momentum);
    assert_eq!(lifted.momentum, momentum);
    assert_eq!(D::of(3.0), D::constant(3.0));
}
