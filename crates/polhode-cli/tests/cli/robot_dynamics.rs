//! Mass matrices M and biases h of the robots in URDF, M(q) v̇ + h(q, v) = τ, as pinocchio has them.
//!
//! The numbers in tests/robots/dynamics.json are of pinocchio 4.1.0, three states of each robot: displacements of the neutral
//! configuration (`integrate`) by uniform numbers between -2 and 2, rates v between -3 and 3; M by `crba`, h by
//! `nonLinearEffects`, to which damping times rate is added, because pinocchio leaves it out; poses and velocities of links
//! by `forwardKinematics`. Coordinates are in the order of pinocchio, and those of floating and planar joints along the axes
//! of the second link, as there.
//!
//! Here they are read off accelerations, without any forces (-M⁻¹ h) and under one of size one along each coordinate (columns of M⁻¹).

use crate::robots::{numbers, robot, text};
use nalgebra::{DMatrix, DVector, Vector3};
use polhode::body::{Force, Frame, Moment};
use polhode::group::Rotation;
use polhode::method::Method;
use polhode::multibody::{BodyMotion, Rigid, Simulation, System};
use polhode::problem::Problem;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq)]
enum Along {
    Slide,
    Turn,
}
use Along::{Slide, Turn};

/// A coordinate between two links: how it moves the second one, along which axis, and the link in which that axis is given.
/// Points are the origin of the second link.
struct Coordinate(&'static str, &'static str, Along, [f64; 3], &'static str);

const NOTHING: &str = "ground";
const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

#[rustfmt::skip]
const ARM: [Coordinate; 6] = [
    Coordinate(NOTHING, "link_1", Turn, Z, "link_1"),
    Coordinate("link_1", "link_2", Turn, Z, "link_2"),
    Coordinate("link_2", "link_3", Turn, [0.0, 0.0, -1.0], "link_3"),
    Coordinate("link_3", "link_4", Turn, Z, "link_4"),
    Coordinate("link_4", "link_5", Turn, [0.1, 0.2, 1.0], "link_5"),
    Coordinate("link_5", "link_6", Turn, Z, "link_6"),
];
#[rustfmt::skip]
const ROVER: [Coordinate; 10] = [
    Coordinate(NOTHING, "base_footprint", Slide, X, "base_footprint"),
    Coordinate(NOTHING, "base_footprint", Slide, Y, "base_footprint"),
    Coordinate(NOTHING, "base_footprint", Slide, Z, "base_footprint"),
    Coordinate(NOTHING, "base_footprint", Turn, X, "base_footprint"),
    Coordinate(NOTHING, "base_footprint", Turn, Y, "base_footprint"),
    Coordinate(NOTHING, "base_footprint", Turn, Z, "base_footprint"),
    Coordinate("base_footprint", "caster_fork", Turn, Z, "caster_fork"),
    Coordinate("caster_fork", "caster_wheel", Turn, Y, "caster_wheel"),
    Coordinate("base_footprint", "left_wheel", Turn, Z, "left_wheel"),
    Coordinate("base_footprint", "right_wheel", Turn, Z, "right_wheel"),
];
#[rustfmt::skip]
const TORSO: [Coordinate; 8] = [
    Coordinate(NOTHING, "chest", Slide, Z, "chest"),
    Coordinate("chest", "head", Turn, Z, "chest"),
    Coordinate("chest", "head", Turn, Y, "head"),
    Coordinate("chest", "left_arm", Turn, [0.0, 1.0, 0.3], "left_arm"),
    Coordinate("chest", "right_arm", Turn, [0.0, 1.0, -0.3], "right_arm"),
    Coordinate("right_arm", "right_puck", Slide, X, "right_puck"),
    Coordinate("right_arm", "right_puck", Slide, Y, "right_puck"),
    Coordinate("right_arm", "right_puck", Turn, Z, "right_puck"),
];

fn vector(value: &Value) -> Vector3<f64> {
    numbers::<3>(value).into()
}

/// The robot as it moves in a state.
fn posed(file: &str, state: &Value) -> System<f64> {
    let problem = Problem::from_text(file, &text(file)).expect("a model");
    let mut system = System::clone(problem.model().expect("a model").system());
    for body in system.bodies_mut() {
        let known = &state["bodies"][&body.name];
        *body = Rigid {
            position: vector(&known["position"]),
            attitude: Rotation::from_q_wxyz(numbers::<4>(&known["q_wxyz"])),
            ..body.clone()
        }
        .moving(vector(&known["velocity"]), vector(&known["omega_body"]));
    }
    system
}

/// A system at its start.
struct Start {
    system: System<f64>,
    bodies: Vec<BodyMotion<f64>>,
}

impl Start {
    fn of(system: System<f64>) -> Self {
        let method = Method::parse("geometric-alpha").expect("a method");
        let bodies = Simulation::new(&system, &method).expect("a start").bodies().to_vec();
        Start { system, bodies }
    }
    fn link(&self, name: &str) -> Option<(&Rigid<f64>, &BodyMotion<f64>)> {
        let b = self.system.index(name)?;
        Some((&self.system.bodies()[b], &self.bodies[b]))
    }
    /// The angular velocity of a link, in space.
    fn omega(&self, name: &str) -> Vector3<f64> {
        self.link(name).map_or(Vector3::zeros(), |(_, at)| at.attitude.rotate(&at.omega_body))
    }
    /// The accelerations of a link, of its point at a place and angular, in space.
    fn accelerations(&self, name: &str, place: Vector3<f64>) -> [Vector3<f64>; 2] {
        let Some((_, at)) = self.link(name) else { return [Vector3::zeros(); 2] };
        let (omega, turning) = (self.omega(name), at.attitude.rotate(&at.omega_rate));
        let arm = place - at.position;
        [at.acceleration + turning.cross(&arm) + omega.cross(&omega.cross(&arm)), turning]
    }
}

impl Coordinate {
    /// The axis, in space.
    fn axis(&self, start: &Start) -> Vector3<f64> {
        let (_, at) = start.link(self.4).expect("the link is there");
        at.attitude.rotate(&Vector3::from(self.3).normalize())
    }
    fn place(&self, start: &Start) -> Vector3<f64> {
        start.link(self.1).expect("the link is there").0.position
    }
    /// Its acceleration v̇: what one link is accelerated against the other along the axis, less what the motion of the axes
    /// has in that.
    fn acceleration(&self, all: &[Coordinate], rates: &[f64], start: &Start) -> f64 {
        let &Coordinate(first, second, along, ..) = self;
        let place = self.place(start);
        let [one, other] = [first, second].map(|name| start.accelerations(name, place));
        let same = all.iter().zip(rates).filter(|(of, _)| of.0 == first && of.1 == second && of.2 == along);
        let moving = |(of, rate): (&Coordinate, &f64)| {
            let with =
                if along == Slide { start.omega(first) + start.omega(second) } else { start.omega(of.4) };
            with.cross(&(of.axis(start) * *rate))
        };
        let moving: Vector3<f64> = same.map(moving).sum();
        let relative = if along == Slide { other[0] - one[0] } else { other[1] - one[1] };
        self.axis(start).dot(&(relative - moving))
    }
    /// Pushes the second link with size one, and the first one back.
    fn push(&self, start: &Start) -> System<f64> {
        let (mut system, axis, place) = (start.system.clone(), self.axis(start), self.place(start));
        for (name, value) in [(self.0, -axis), (self.1, axis)] {
            let Some(b) = system.index(name) else { continue };
            let body = system.bodies()[b].clone();
            let point_body = body.attitude.unrotate(&(place - body.position));
            system.bodies_mut()[b] = match self.2 {
                Slide => body.with(Force { frame: Frame::Space, point_body, value }),
                Turn => body.with(Moment { frame: Frame::Space, value }),
            };
        }
        system
    }
}

#[test]
fn mass_matrices_and_biases_are_those_of_pinocchio() {
    let known = std::fs::read_to_string(robot("dynamics.json")).expect("the numbers");
    let known: Vec<Value> = serde_json::from_str(&known).expect("a list");
    assert_eq!(known.len(), 9);
    for state in &known {
        let file = state["robot"].as_str().expect("a robot");
        let all: &[Coordinate] = match file {
            "arm.urdf" => &ARM,
            "rover.urdf" => &ROVER,
            _ => &TORSO,
        };
        let n = all.len();
        let list = |value: &Value| -> Vec<f64> {
            value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
        };
        let rates = list(&state["rates"]);
        let accelerations = |start: &Start| {
            DVector::from_iterator(n, all.iter().map(|of| of.acceleration(all, &rates, start)))
        };
        let start = Start::of(posed(file, state));
        let alone = accelerations(&start);
        let columns: Vec<DVector<f64>> =
            all.iter().map(|of| accelerations(&Start::of(of.push(&start))) - &alone).collect();
        let mass = DMatrix::from_columns(&columns).try_inverse().expect("a mass matrix");
        let bias = -&mass * alone;
        let exact = DMatrix::from_row_iterator(n, n, list_of_rows(&state["mass"]));
        let size = exact.diagonal().map(f64::sqrt);
        let off = (&mass - &exact).component_div(&(&size * size.transpose())).amax();
        let exact = DVector::from(list(&state["bias"]));
        let off_bias = (bias - &exact).component_div(&size).amax() / exact.component_div(&size).amax();
        assert!(off < 1e-9 && off_bias < 1e-9, "{file}: {off:e} {off_bias:e}");
    }
}

fn list_of_rows(value: &Value) -> impl Iterator<Item = f64> + '_ {
    let rows = value.as_array().expect("rows").iter();
    rows.flat_map(|row| row.as_array().expect("a row")).map(|x| x.as_f64().expect("a number"))
}
