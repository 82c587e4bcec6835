//! Closed loops: four bars and a slider on a crank. What they keep over a turn and over a thousand steps, and that no
//! step allocates.

use crate::systems::FORMS;
use core::f64::consts::{FRAC_PI_2, TAU};
use nalgebra::{Matrix3, Vector3};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{ForceKind, GROUND, JointKind, Rigid, Simulation, System};

fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

fn none() -> Rotation<f64> {
    Rotation::identity()
}

fn about_z(angle: f64) -> Rotation<f64> {
    Rotation::from_rotation_vector(&(Vector3::z() * angle))
}

/// A bar between two points of the plane, turning about the first, with a frame at each end: `name 0` along the bar,
/// `name 1` across it.
fn bar(system: &mut System<f64>, name: &str, [from, to]: [Vector3<f64>; 2], speed: f64) {
    let along = to - from;
    let (length, attitude) = (along.norm(), about_z(along.y.atan2(along.x)));
    let slender = length * length / 12.0;
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.1 * slender, slender, slender)) * length;
    let body = Rigid::new(length, inertia).unwrap().at((from + to) / 2.0, attitude);
    let omega = Vector3::z() * speed;
    system.body(name, body.moving(omega.cross(&(along / 2.0)), omega)).unwrap();
    let half = Vector3::x() * (length / 2.0);
    system.frame(&format!("{name} 0"), name, -half, none()).unwrap();
    system.frame(&format!("{name} 1"), name, half, about_z(FRAC_PI_2)).unwrap();
}

/// Crank, coupler and rocker of 0.4, 1.3 and 1 m on posts 1.2 m apart: the crank can turn all the way round. It is
/// given a push, and all velocities are those that the joints leave of it.
fn four_bar(gravity: f64, speed: f64) -> System<f64> {
    let (crank, coupler, rocker, base): (f64, f64, f64, f64) = (0.4, 1.3, 1.0, 1.2);
    let angle: f64 = 0.8;
    let b = Vector3::new(angle.cos(), angle.sin(), 0.0) * crank;
    let d = Vector3::x() * base;
    // C from the two circles.
    let (span, reach) = (d - b, (d - b).norm());
    let along = (coupler * coupler - rocker * rocker + reach * reach) / (2.0 * reach);
    let up = (coupler * coupler - along * along).sqrt();
    let c = b + span * (along / reach) + Vector3::z().cross(&span) * (up / reach);
    let mut system = System::new(Vector3::new(0.0, -gravity, 0.0));
    bar(&mut system, "crank", [Vector3::zeros(), b], speed);
    bar(&mut system, "coupler", [b, c], 0.0);
    bar(&mut system, "rocker", [c, d], 0.0);
    system.frame("post", GROUND, d, none()).unwrap();
    system.joint("A", JointKind::Revolute, GROUND, "crank 0").unwrap();
    system.joint("B", JointKind::Revolute, "crank 1", "coupler 0").unwrap();
    system.joint("C", JointKind::Spherical, "coupler 1", "rocker 0").unwrap();
    system.joint("D", JointKind::Universal, "post", "rocker 1").unwrap();
    system
}

/// A crank of 0.3 m, a rod of 1 m and a slider along x.
fn slider_crank(gravity: f64, speed: f64) -> System<f64> {
    let (crank, rod): (f64, f64) = (0.3, 1.0);
    let angle: f64 = 0.5;
    let b = Vector3::new(angle.cos(), angle.sin(), 0.0) * crank;
    let c = Vector3::x() * (b.x + (rod * rod - b.y * b.y).sqrt());
    let mut system = System::new(Vector3::new(0.0, -gravity, 0.0));
    bar(&mut system, "crank", [Vector3::zeros(), b], speed);
    bar(&mut system, "rod", [b, c], 0.0);
    let slider = Rigid::new(0.5, Matrix3::identity() * 0.01).unwrap().at(c, none());
    system.body("slider", slider).unwrap();
    // The third axis along x.
    let rail = Rotation::from_rotation_vector(&(Vector3::y() * FRAC_PI_2));
    system.frame("rail", GROUND, Vector3::zeros(), rail).unwrap();
    system.frame("shoe", "slider", Vector3::zeros(), rail).unwrap();
    system.joint("A", JointKind::Revolute, GROUND, "crank 0").unwrap();
    system.joint("B", JointKind::Spherical, "crank 1", "rod 0").unwrap();
    system.joint("C", JointKind::Universal, "slider", "rod 1").unwrap();
    system.joint("D", JointKind::Prismatic, "rail", "shoe").unwrap();
    system
}

/// How far the crank turns from one attitude to the next.
fn turned(from: &Simulation<f64>, to: &Simulation<f64>) -> f64 {
    from.bodies()[0].attitude.inverse().compose(&to.bodies()[0].attitude).rotation_vector().z
}

/// A whole turn of the crank from the start, the last step made to end there. Also the largest relative change of the
/// kinetic energy on the way.
fn one_turn(system: &System<f64>, id: &str, h: f64) -> (Simulation<f64>, f64) {
    let mut run = Simulation::new(system, &method(id)).unwrap();
    let (mut angle, first, mut most) = (0.0, run.kinetic_energy(), 0f64);
    loop {
        let mut next = run.clone();
        next.step(h).unwrap();
        let step = turned(&run, &next);
        most = most.max((next.kinetic_energy() / first - 1.0).abs());
        assert!(step > 0.0, "{id}: the crank turns back");
        if angle + step < TAU {
            (run, angle) = (next, angle + step);
            continue;
        }
        // The part of the step that is left, by Newton's method on the angle.
        let mut part = h * (TAU - angle) / step;
        loop {
            let mut last = run.clone();
            last.step(part).unwrap();
            let miss = TAU - angle - turned(&run, &last);
            if miss.abs() < 1e-13 {
                return (last, most);
            }
            part += miss / last.bodies()[0].omega_body.z;
        }
    }
}

#[test]
fn mechanisms_return_to_where_they_began() {
    for (name, system) in [("four bars", four_bar(0.0, 40.0)), ("slider", slider_crank(0.0, 10.0))] {
        let start = Simulation::new(&system, &method("linear-alpha")).unwrap();
        let speed = start.bodies()[0].omega_body.z;
        let time = TAU / speed;
        for form in FORMS {
            let mut errors = Vec::new();
            for n in [200.0, 400.0, 800.0, 1600.0] {
                let (end, energy) = one_turn(&system, form, time / n);
                let (mut place, mut pace): (f64, f64) = (0.0, 0.0);
                for (now, then) in end.bodies().iter().zip(start.bodies()) {
                    place = place.max((now.position - then.position).norm());
                    place = place.max(now.attitude.distance(&then.attitude));
                    pace = pace.max((now.omega_body - then.omega_body).norm() / speed);
                }
                // One degree of freedom: the angle of the crank says all, and its speed follows from the energy.
                assert!(place < 1e-12, "{name}, {form}: {place:e}");
                println!("{name}, {form}, {n} steps: speed {pace:.2e}, energy {energy:.2e}");
                assert!(pace < 2.0 * energy, "{name}, {form}: {pace:e}");
                errors.push(energy);
            }
            let slopes: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
            println!("{name}, {form}: {slopes:.3?}");
            match form {
                // First order, with a small factor: seen as something between.
                "residual-alpha" => assert!(slopes[2] > 0.85, "{name}, {form}: {slopes:?}"),
                _ => assert!((slopes[2] - 2.0).abs() < 0.15, "{name}, {form}: {slopes:?}"),
            }
        }
    }
}

/// Kinetic energy over twenty turns or so, relative to that of the start: the least and the most of the first and of
/// the last quarter.
fn energies(system: &System<f64>, id: &str) -> [[f64; 2]; 2] {
    let mut run = Simulation::new(system, &method(id)).unwrap();
    let (first, time) = (run.kinetic_energy(), TAU / run.bodies()[0].omega_body.z);
    let steps = 4000;
    let mut range = [[f64::INFINITY, 0.0]; 2];
    for n in 0..steps {
        run.step(time / 200.0).unwrap();
        let energy = run.kinetic_energy() / first;
        let quarter = if n < steps / 4 { 0 } else { 1 };
        if n < steps / 4 || n >= 3 * steps / 4 {
            let [least, most] = &mut range[quarter];
            (*least, *most) = (least.min(energy), most.max(energy));
        }
    }
    range
}

#[test]
fn energy_is_bounded_or_decays() {
    for (name, system) in [("four bars", four_bar(0.0, 40.0)), ("slider", slider_crank(0.0, 10.0))] {
        for form in FORMS {
            for (rho, constraints) in
                [("1", "stabilized"), ("0.8", "index3"), ("0.8", "stabilized"), ("0.3", "index3")]
            {
                let id = format!("{form},rho={rho},constraints={constraints}");
                let [early, late] = energies(&system, &id);
                println!("{name}, {id}: {early:.6?} {late:.6?}");
                assert!(early[0] > 0.98 && early[1] < 1.01, "{name}, {id}: {early:?}");
                let change = late[1] - early[1];
                match (form, rho) {
                    // Up and down with every turn, and no further.
                    (_, "1") => assert!(change.abs() < 1e-5, "{name}, {id}: {change:e}"),
                    // Each step of the residual form adds h (γ - 1/2) of something.
                    ("residual-alpha", _) => {
                        assert!(0.0 < change && change < 0.01, "{name}, {id}: {change:e}")
                    }
                    (_, "0.8") => assert!(-1e-3 < change && change < -3e-5, "{name}, {id}: {change:e}"),
                    _ => assert!(-0.02 < change && change < -5e-3, "{name}, {id}: {change:e}"),
                }
            }
        }
    }
}

/// Without damping index 3 has no hold on velocities: what is left of their constraint grows from turn to turn, however
/// well positions are kept. With damping or with constraints on velocities it does not.
#[test]
fn undamped_index_3_loses_its_velocities() {
    let system = four_bar(0.0, 40.0);
    let worst = |id: &str| {
        let mut run = Simulation::new(&system, &method(id)).unwrap();
        let h = TAU / run.bodies()[0].omega_body.z / 200.0;
        let mut halves = [0f64; 2];
        for half in &mut halves {
            for _ in 0..100 {
                run.step(h).unwrap();
                assert!(run.violation().position < 1e-15, "{id}");
                *half = half.max(run.violation().velocity);
            }
        }
        halves
    };
    for form in FORMS {
        let [early, late] = worst(&format!("{form},rho=1"));
        println!("{form}, rho = 1: {early:.1e} {late:.1e}");
        assert!(late > 10.0 * early, "{form}: {early:e} {late:e}");
        let [early, late] = worst(&format!("{form},rho=0.8"));
        println!("{form}, rho = 0.8: {early:.1e} {late:.1e}");
        assert!(late < 10.0 * early, "{form}: {early:e} {late:e}");
        let [early, late] = worst(&format!("{form},rho=1,constraints=stabilized"));
        assert!(early.max(late) < 1e-14, "{form}: {early:e} {late:e}");
        // It ends in an error, and until then all is finite.
        let mut run = Simulation::new(&system, &method(&format!("{form},rho=1"))).unwrap();
        let h = TAU / run.bodies()[0].omega_body.z / 200.0;
        let steps = (0..5000).take_while(|_| run.step(h).is_ok()).count();
        assert!((200..5000).contains(&steps), "{form}: {steps}");
        assert!(
            run.kinetic_energy().is_finite() && run.all_multipliers().iter().all(|l| l.is_finite()),
            "{form}"
        );
    }
}

#[test]
fn joints_stay_closed_for_a_thousand_steps() {
    for (name, system) in [("four bars", four_bar(9.81, 60.0)), ("slider", slider_crank(9.81, 20.0))] {
        for form in FORMS {
            for constraints in ["index3", "stabilized"] {
                let id = format!("{form},constraints={constraints}");
                let mut run = Simulation::new(&system, &method(&id)).unwrap();
                let (mut position, mut velocity): (f64, f64) = (0.0, 0.0);
                for _ in 0..1000 {
                    run.step(2e-3).unwrap();
                    let now = run.violation();
                    (position, velocity) = (position.max(now.position), velocity.max(now.velocity));
                }
                println!("{name}, {id}: {position:.1e} {velocity:.1e}");
                // Positions of a metre or so.
                assert!(position < 2e-15, "{name}, {id}: {position:e}");
                match constraints {
                    // Velocities of some 10 m/s.
                    "stabilized" => assert!(velocity < 3e-13, "{name}, {id}: {velocity:e}"),
                    _ => assert!(velocity > 1e-9, "{name}, {id}: {velocity:e}"),
                }
            }
        }
    }
}

#[test]
fn no_step_allocates_after_the_first() {
    let boxed = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1.0f64))));
    assert_eq!(boxed.count_total, 1, "the counter does not count");
    let mut system = four_bar(9.81, 20.0);
    let spring = ForceKind::SpringDamper { stiffness: 50.0, damping: 1.0, length: 0.5 };
    system.force("spring", spring, GROUND, "coupler").unwrap();
    let options = ["", ",constraints=stabilized", ",rho=1"];
    let forms = FORMS.iter().flat_map(|form| options.map(|rest| format!("{form}{rest}")));
    let finite = ["conserving", "conserving,index3", "decaying", "compose:conserving:4"].map(String::from);
    let mut undamped = four_bar(9.81, 20.0);
    let spring = ForceKind::SpringDamper { stiffness: 50.0, damping: 0.0, length: 0.5 };
    undamped.force("spring", spring, GROUND, "coupler").unwrap();
    let varied = ["variational", "compose:variational:4"].map(String::from);
    let all = forms.chain(finite).map(|id| (id, &system)).chain(varied.map(|id| (id, &undamped)));
    for (id, system) in all {
        let mut run = Simulation::new(system, &method(&id)).unwrap();
        run.step(1e-3).unwrap();
        for h in [1e-3, 0.02] {
            let info = allocation_counter::measure(|| {
                for _ in 0..20 {
                    run.step(h).unwrap();
                }
            });
            assert_eq!(info.count_total, 0, "{id}, h = {h}");
        }
    }
}

/// From any attitude of the crank, through both dead points of the slider: where rod and crank are in line the crank
/// still determines everything.
#[test]
fn a_slider_passes_its_dead_points() {
    let system = slider_crank(9.81, 20.0);
    for form in FORMS {
        let mut run = Simulation::new(&system, &method(form)).unwrap();
        let (mut least, mut most) = (f64::INFINITY, 0f64);
        for _ in 0..2000 {
            run.step(1e-3).unwrap();
            let x = run.position("slider").unwrap().x;
            (least, most) = (least.min(x), most.max(x));
        }
        assert!((least - 0.7).abs() < 1e-3 && (most - 1.3).abs() < 1e-3, "{form}: {least} {most}");
    }
}
