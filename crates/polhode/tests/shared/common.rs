//! What the suites share: bodies at any scalar from the data of the catalogue, and numbers as they are printed.
#![allow(dead_code)]

use nalgebra::{Matrix3, Vector3};
use polhode::body::{
    Body, Drag, Frame, Gravity, Harmonic, Loads, Moment, RotaryInertia, SoftWall, SpatialInertia, State,
    TopGravity,
};
use polhode::group::{Group, Rotation, Se3, So3};
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::scalar::Real;

/// A body with its start.
pub type Case<S, G> = (Body<S, G, Loads<S>>, State<S, G>);

/// True if the long campaigns are asked for, by the variable POLHODE_LONG.
pub fn long() -> bool {
    std::env::var_os("POLHODE_LONG").is_some()
}

pub fn method(id: &str) -> Method {
    Method::parse(id).unwrap()
}

/// The methods of Krysl 2006 by the names of its tables.
pub fn krysl(name: &str) -> Method {
    let id = match name {
        "MKRK4" => "mkrk:rk4".into(),
        "MKGauss2" => "mkrk:gauss2".into(),
        "fE" => "forward-euler".into(),
        "bE" => "backward-euler".into(),
        "fEM" => "forward-euler-m".into(),
        "bEM" => "backward-euler-m".into(),
        other => other.to_lowercase(),
    };
    method(&id)
}

/// A problem of the catalogue on SO(3), with its data as constants of `S`.
pub fn rotation<S: Real>(id: &str) -> Case<S, So3> {
    let problem = Problem::named(id).unwrap();
    let values = |name: &str| problem.data().iter().find(|d| d.name == name).map(|d| d.values.clone());
    let number = |name: &str| S::lift(values(name).unwrap()[0]);
    let vector = |name: &str| Vector3::from_vec(values(name).unwrap()).map(S::lift);
    let inertia = match values("inertia").unwrap()[..] {
        [a, b, c] => Matrix3::from_diagonal(&Vector3::new(a, b, c)),
        [a, b, c, ab, ac, bc] => Matrix3::new(a, ab, ac, ab, b, bc, ac, bc, c),
        _ => unreachable!(),
    };
    let load = match id {
        "slow-top" | "fast-top" => Loads::none().with(TopGravity { mgl: number("mgl") }),
        "soft-wall" | "soft-wall-attractive" => Loads::none().with(SoftWall {
            coulomb: number("coulomb"),
            wall: number("wall"),
            offset: number("offset"),
        }),
        "driven-body" => {
            let (frequency, phase) = (number("drive_frequency"), number("drive_phase"));
            let drive = |frame, amplitude| Harmonic { frame, amplitude, frequency, phase };
            Loads::none()
                .with(Gravity { weight_space: vector("weight"), center_body: vector("center") })
                .with(Moment { frame: Frame::Space, value: vector("moment_space") })
                .with(Moment { frame: Frame::Body, value: vector("moment_body") })
                .with(drive(Frame::Space, vector("drive_space")))
                .with(drive(Frame::Body, vector("drive_body")))
                .with(Drag { coefficient: number("drag") })
        }
        _ => Loads::none(),
    };
    let body = Body::<S, So3, _> { inertia: RotaryInertia::unchecked(inertia.map(S::lift)), load };
    let attitude = Rotation::from_rotation_vector(&vector("attitude"));
    let start = match values("momentum_body").unwrap()[..] {
        [] => body.state(attitude, &vector("omega_body")),
        _ => State { pose: attitude, momentum: vector("momentum_body") },
    };
    (body, start)
}

/// The free body of the catalogue, on SE(3).
pub fn motion<S: Real>() -> Case<S, Se3> {
    moving(0.0)
}

/// The same, falling slowly.
pub fn falling<S: Real>() -> Case<S, Se3> {
    moving(-1.0)
}

fn moving<S: Real>(gravity: f64) -> Case<S, Se3> {
    let problem = Problem::named("free-body").unwrap();
    let vector = |name: &str| {
        let datum = problem.data().iter().find(|d| d.name == name).unwrap();
        Vector3::from_fn(|i, _| S::lift(datum.values[i.min(datum.values.len() - 1)]))
    };
    let about_center = Matrix3::from_diagonal(&vector("inertia"));
    let inertia = SpatialInertia::unchecked(vector("mass").x, vector("center"), about_center);
    let weight_space = Vector3::new(0.0, 0.0, gravity).map(S::lift) * inertia.mass();
    let load = match gravity {
        0.0 => Loads::none(),
        _ => Loads::none().with(Gravity { weight_space, center_body: vector("center") }),
    };
    let body = Body::<S, Se3, _> { inertia, load };
    let attitude = Rotation::from_rotation_vector(&vector("attitude"));
    let velocity = Se3::vector(&attitude.unrotate(&vector("velocity")), &vector("omega_body"));
    let start = body.state(Se3::pose(&attitude, &vector("position")), &velocity);
    (body, start)
}

/// True if `value` rounds to the number as it is printed: within half a unit of its last digit, and `slack`.
pub fn prints_as(value: f64, printed: &str, slack: f64) -> bool {
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len() as i32);
    let unit = 10f64.powi(exponent.parse::<i32>().unwrap() - decimals);
    (value - printed.parse::<f64>().unwrap()).abs() <= 0.5 * unit * (1.0 + 1e-9) + slack
}

/// The rows of a table, each a name and its cells, `|` between them.
pub fn rows(table: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    table.lines().map(|line| line.trim().trim_matches('|')).filter(|line| !line.is_empty()).map(|line| {
        let mut cells = line.split('|').map(str::trim);
        (cells.next().unwrap(), cells.collect())
    })
}

/// The two numbers of a cell `a / b`.
pub fn pair(cell: &str) -> [&str; 2] {
    let (a, b) = cell.split_once('/').unwrap();
    [a.trim(), b.trim()]
}

/// The compositions to this order of every method that can be composed.
pub fn composed(order: u32) -> Vec<Method> {
    let lifted = |m: Method| Method::parse(&format!("compose:{}:{order}", m.id())).ok();
    Method::all().into_iter().filter_map(lifted).collect()
}

/// The methods with options, each option at every word or at some numbers of its range that are not its default.
pub fn variants() -> Vec<Method> {
    let mut ids = Vec::new();
    for method in Method::all().iter().filter(|m| !m.id().starts_with("compose:")) {
        for choice in method.options() {
            let values: &[&str] = match choice.name {
                "rho" => &["1", "0.5", "0"],
                "alpha" => &["0", "1"],
                "beta" => &["1/6", "0.3025"],
                "gamma" => &["0.6"],
                // The plain iteration of the paper fails at large steps, and what it keeps depends on its tolerance.
                "stop" | "tolerance" => &[],
                _ => choice.words,
            };
            let given = values.iter().filter(|value| **value != choice.default);
            ids.extend(given.map(|value| format!("{},{}={value}", method.id(), choice.name)));
        }
    }
    ids.extend(
        ["rotation-vector,residual=collocated,gamma=0.6", "euler-parameters,beta=1/6,moment=jump"]
            .map(String::from),
    );
    // The two pairs of map and load that keep the energy of a falling body.
    ids.push("preserving:cayley,load=mean,reading=hom4".into());
    ids.iter().map(|id| method(id)).collect()
}

/// The step and the maps that the message recommends.
pub fn advice(error: &polhode::solve::StepError) -> (f64, Vec<String>) {
    let text = error.to_string();
    let (_, text) = text.split_once("try a step below ").unwrap();
    let (step, maps) = text.split_once(", or a method with the map ").unwrap();
    (step.parse().unwrap(), maps.split(" or ").map(String::from).collect())
}
