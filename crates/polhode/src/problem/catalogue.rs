//! The list of problems.
//!
//! Sources: Krysl 2006, section 5; Bauchau et al. 2013, section 5; Krenk & Nielsen 2013, section 5; Brüls & Eberhard 2008,
//! section 6; data in correct reading.

use super::data::{DataError, Datum, Shape, set};
use crate::lookup::nearest;
use core::fmt;

/// What acts on the body, and on which group it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fixed point and no load.
    FreeRotation,
    /// A heavy top: V = mgl R₃₃.
    Top,
    /// A cone on its tip, in steady precession.
    Cone,
    /// Krysl's potential with a wall.
    SoftWall,
    /// A rotational spring.
    Spring,
    /// Gravity, constant and oscillating moments and drag.
    Driven,
    /// Free to move, uniform gravity.
    FreeBody,
    /// Free to move, made to follow a motion.
    PrescribedMotion,
    /// A fixed point, made to turn as a motion does.
    PrescribedRotation,
    /// Brüls & Eberhard's top: a body on a spherical joint.
    HeavyTop,
    /// A body on a revolute joint.
    Pendulum,
    /// Two bodies on spherical joints.
    DoublePendulum,
    /// Any number of bodies, one on the other.
    Chain,
    /// Crank, coupler and rocker.
    FourBar,
    /// Crank, rod and slider.
    SliderCrank,
    /// A gyroscope in gimbals.
    Gimbals,
}

/// A problem with its data and sensible defaults for a run.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The id.
    pub id: &'static str,
    /// One line of what it is.
    pub title: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// The default method of a run.
    pub method: &'static str,
    /// The default step of a run.
    pub step: f64,
    /// The default end time of a run.
    pub until: f64,
    pub(super) kind: Kind,
    data: Vec<Datum>,
}

/// No problem has this id.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemError {
    /// The id asked for.
    pub id: String,
    /// Ids that look like it.
    pub near: Vec<String>,
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no problem is called '{}'", self.id)?;
        match self.near.as_slice() {
            [] => write!(f, "; `polhode problems` lists them all"),
            near => write!(f, "; did you mean {}?", near.join(" or ")),
        }
    }
}

impl std::error::Error for ProblemError {}

fn datum(name: &'static str, values: &[f64], sizes: &'static [usize], help: &'static str) -> Datum {
    Datum { name, values: values.to_vec(), sizes, help, shape: Shape::of(sizes) }
}

/// Inertia, attitude and velocity: what nearly every problem has.
fn body(inertia: [f64; 3], attitude: [f64; 3], omega: &[f64], momentum: &[f64]) -> Vec<Datum> {
    vec![
        datum(
            "inertia",
            &inertia,
            &[3, 6, 9],
            "principal moments, or xx yy zz xy xz yz, or the nine entries by rows, kg m^2",
        ),
        datum(
            "attitude",
            &attitude,
            &[3, 4],
            "rotation vector in rad, or unit quaternion w x y z, body to space",
        ),
        datum("omega_body", omega, &[3], "initial angular velocity in body axes, rad/s"),
        datum(
            "momentum_body",
            momentum,
            &[3],
            "initial angular momentum in body axes, kg m^2/s, in place of omega_body",
        ),
    ]
}

const MGL: &str = "weight times distance of the centre of mass along the third body axis, N m";

impl Problem {
    /// Every problem, with its own data.
    pub fn all() -> Vec<Problem> {
        let problem = |id, title, citation, method, step, until, kind, data| Problem {
            id,
            title,
            citation,
            method,
            step,
            until,
            kind,
            data,
        };
        let top = |tilt: f64, spin: f64| {
            let mut data = body([5.0, 5.0, 1.0], [tilt, 0.0, 0.0], &[0.0, 0.0, spin], &[]);
            data.push(datum("mgl", &[20.0], &[1], MGL));
            data
        };
        let cone = vec![
            datum("height", &[0.1], &[1], "height of the cone, m; its radius is half of it"),
            datum("density", &[2700.0], &[1], "density, kg/m^3"),
            datum("gravity", &[9.81], &[1], "acceleration of gravity, downward, m/s^2"),
            datum("tilt", &[core::f64::consts::FRAC_PI_3], &[1], "angle of the axis from the vertical, rad"),
            datum("precession", &[10.0], &[1], "rate at which the axis turns about the vertical, rad/s"),
        ];
        let wall = |sign: f64| {
            let mut data = body([2.0, 3.0, 4.5], [0.0; 3], &[], &[2.0, 2.0, 2.0]);
            data.push(datum("coulomb", &[sign], &[1], "strength of the 1/s term of the potential, N m"));
            data.push(datum(
                "wall",
                &[0.001 * sign],
                &[1],
                "strength of the -1/s^10 term of the potential, N m",
            ));
            data.push(datum("offset", &[1.1], &[1], "s = offset + R33"));
            data
        };
        let mut driven = body([1.0, 1.3, 0.7], [0.3, -0.2, 0.5], &[0.4, -0.7, 1.5], &[]);
        // A full tensor, so that no method profits from principal axes.
        driven[0].values = vec![1.0, 1.3, 0.7, 0.05, -0.1, 0.08];
        driven.extend([
            datum("weight", &[0.0, 0.0, -2.0], &[3], "weight in space, N"),
            datum("center", &[0.1, 0.2, 0.5], &[3], "centre of mass in body axes, m"),
            datum("moment_space", &[0.1, 0.0, -0.05], &[3], "constant moment in space, N m"),
            datum("moment_body", &[0.0, 0.05, 0.0], &[3], "constant moment in body axes, N m"),
            datum("drive_space", &[0.3, 0.2, 0.4], &[3], "amplitude of the oscillating moment in space, N m"),
            datum(
                "drive_body",
                &[0.2, -0.1, 0.3],
                &[3],
                "amplitude of the oscillating moment in body axes, N m",
            ),
            datum("drive_frequency", &[2.0], &[1], "circular frequency of both oscillating moments, rad/s"),
            datum("drive_phase", &[0.4], &[1], "their phase at t = 0, rad"),
            datum("drag", &[0.02], &[1], "coefficient of the moment -drag omega, N m s"),
        ]);
        let mut flying = body([1.0, 2.0, 2.5], [0.3, -0.2, 0.5], &[0.3, 2.0, 0.4], &[]);
        flying.extend([
            datum("mass", &[2.0], &[1], "mass, kg"),
            datum(
                "center",
                &[0.1, -0.2, 0.3],
                &[3],
                "centre of mass in body axes from the reference point, m",
            ),
            datum("position", &[0.0; 3], &[3], "initial position of the reference point in space, m"),
            datum(
                "velocity",
                &[0.5, 0.1, -0.2],
                &[3],
                "initial velocity of the reference point in space, m/s",
            ),
            datum("gravity", &[0.0; 3], &[3], "acceleration of gravity in space, m/s^2"),
        ]);
        flying[0].help =
            "inertia about the centre of mass: principal moments, or xx yy zz xy xz yz, or nine by rows";
        flying.retain(|d| d.name != "momentum_body");
        let mut spring = body([1.0, 1.2, 0.8], [0.001, 0.0, 0.5], &[0.0; 3], &[]);
        spring.push(datum(
            "stiffness",
            &[1e6, 1.2e6, 3.2],
            &[3],
            "stiffness about each axis, N m/rad; potential of the rotation vector",
        ));
        let prescribed = |moving: bool| {
            let mut data = vec![datum(
                "inertia",
                &[1.25, 1.56, 2.54, 0.57, -0.23, 0.34],
                &[3, 6, 9],
                "about the reference point: principal moments, or xx yy zz xy xz yz, or nine by rows, kg m^2; any positive definite one",
            )];
            if moving {
                data.extend([
                    datum("mass", &[6.0], &[1], "mass, kg"),
                    datum(
                        "center",
                        &[0.25, -0.03, 0.12],
                        &[3],
                        "centre of mass in body axes from the reference point, m",
                    ),
                    datum("frequency", &[2.0], &[1], "circular frequency of the displacement, rad/s"),
                ]);
            }
            data.push(datum("turn_rate", &[2.0], &[1], "half the rotation angle is this times t, rad/s"));
            if moving {
                let help = "point that the moments are about: 0 the origin of space, 1 the reference point of the body";
                let choice = Shape::Switch("a choice of a point has no derivative");
                data.push(Datum { shape: choice, ..datum("moments_about", &[0.0], &[1], help) });
            }
            data
        };
        let gravity =
            |value: [f64; 3]| datum("gravity", &value, &[3], "acceleration of gravity in space, m/s^2");
        let down = [0.0, 0.0, -9.81];
        let mut heavy = body([0.234375, 0.46875, 0.234375], [0.0; 3], &[0.0, 150.0, -4.61538], &[]);
        heavy[0].help = "inertia about the centre of mass: principal moments, or xx yy zz xy xz yz, or nine by rows, kg m^2";
        heavy.retain(|d| d.name != "momentum_body");
        heavy.extend([
            datum("mass", &[15.0], &[1], "mass, kg"),
            datum("center", &[0.0, 1.0, 0.0], &[3], "centre of mass in body axes from the tip, m"),
            gravity(down),
        ]);
        let moments =
            "principal moments about the centre of mass, or xx yy zz xy xz yz, or nine by rows, kg m^2";
        let turned = "rotation vector in rad, or unit quaternion w x y z, body to space";
        let rates = "initial angular velocity in body axes, rad/s";
        let pendulum = vec![
            datum("mass", &[1.0], &[1], "mass, kg"),
            datum("inertia", &[0.085, 0.085, 0.005], &[3, 6, 9], moments),
            datum("length", &[0.5], &[1], "distance of the centre of mass from the pivot, m"),
            datum("angle", &[1.0], &[1], "initial angle from the downward vertical, rad"),
            datum("rate", &[0.0], &[1], "its initial rate, rad/s"),
            gravity(down),
        ];
        let double_pendulum = vec![
            datum("mass", &[1.0, 2.0], &[2], "masses of the upper and the lower body, kg"),
            datum("inertia_upper", &[0.0042, 0.0868, 0.085], &[3, 6, 9], moments),
            datum("inertia_lower", &[0.0096, 0.112, 0.1085], &[3, 6, 9], moments),
            datum(
                "center",
                &[0.5, 0.4],
                &[2],
                "distances of the centres of mass from the upper ends, along x, m",
            ),
            datum("length", &[1.0], &[1], "distance of the joints of the upper body, m"),
            datum("attitude_upper", &[0.0; 3], &[3, 4], turned),
            datum("attitude_lower", &[0.2, 0.4, 0.4, 0.8], &[3, 4], turned),
            datum("omega_upper", &[0.5, 2.0, -1.0], &[3], rates),
            datum("omega_lower", &[-1.5, 0.7, 2.5], &[3], rates),
            gravity(down),
        ];
        let bodies = datum("bodies", &[16.0], &[1], "number of bodies");
        let joint = datum("joint", &[0.0], &[1], "0 for spherical joints, 1 for revolute joints about y");
        let chain = vec![
            Datum { shape: Shape::Switch("the number of bodies has no derivative"), ..bodies },
            Datum { shape: Shape::Switch("a choice of joints has no derivative"), ..joint },
            datum("mass", &[1.0], &[1], "mass of a body, kg"),
            datum("inertia", &[0.005, 0.085, 0.085], &[3, 6, 9], moments),
            datum("length", &[1.0], &[1], "length of a body, along x, m"),
            datum("spin", &[0.0], &[1], "initial rate of the straight chain about the vertical, rad/s"),
            gravity(down),
        ];
        let bars = |last: &[(&'static str, f64, &'static str)], masses: &'static str, rate: f64| {
            let mut data: Vec<Datum> =
                last.iter().map(|(name, x, help)| datum(name, &[*x], &[1], help)).collect();
            data.push(Datum { shape: Shape::List, ..datum("mass", &[1.0, 2.0, 1.5], &[3], masses) });
            data.push(datum(
                "angle",
                &[core::f64::consts::FRAC_PI_2],
                &[1],
                "initial angle of the crank from x, rad",
            ));
            data.push(datum("rate", &[rate], &[1], "its initial rate, rad/s"));
            data.push(gravity([0.0; 3]));
            data
        };
        let four_bar = bars(
            &[
                ("crank", 0.3, "length of the crank, m"),
                ("coupler", 1.0, "length of the coupler, m"),
                // From (1, 0) to (0.96, 0.58).
                ("rocker", 0.581_377_674_149_945_3, "length of the rocker, m"),
                ("ground", 1.0, "distance of the pivots, along x, m"),
            ],
            "masses of crank, coupler and rocker, kg",
            6.0,
        );
        let slider_crank = bars(
            &[("crank", 0.3, "length of the crank, m"), ("rod", 0.5, "length of the rod, m")],
            "masses of crank, rod and slider, kg",
            8.0,
        );
        let gimbals = vec![
            datum("inertia_outer", &[0.02, 0.025, 0.03], &[3, 6, 9], moments),
            datum("inertia_inner", &[0.01, 0.012, 0.014], &[3, 6, 9], moments),
            datum("inertia_rotor", &[0.02, 0.035, 0.02], &[3, 6, 9], moments),
            datum("mass", &[1.0], &[1], "mass of each body, kg; their centres do not move"),
            datum("weight", &[5.0], &[1], "weight at the end of the rotor's axis, downward, N"),
            datum("arm", &[0.2], &[1], "its distance from the centre, m"),
            datum("outer_rate", &[0.5], &[1], "initial rate of the outer gimbal about z, rad/s"),
            datum("inner_rate", &[1.0], &[1], "initial rate of the inner gimbal about x, rad/s"),
            datum("spin", &[60.0], &[1], "initial rate of the rotor about y, rad/s"),
        ];
        vec![
            problem(
                "free-rotation",
                "torque-free asymmetric body",
                "Krysl 2006, section 5.1; McLachlan & Zanna 2003",
                "swc1",
                0.1,
                100.0,
                Kind::FreeRotation,
                body([0.9144, 1.098, 1.66], [0.0; 3], &[0.45549, 0.82623, 0.03476], &[]),
            ),
            problem(
                "flying-brick",
                "torque-free body that turns over again and again: started next to the axis of its middle moment",
                "Krenk & Nielsen 2013, section 5.1",
                "convected-reduced",
                0.01,
                20.0,
                Kind::FreeRotation,
                body([13.0, 5.0, 10.0], [0.0; 3], &[0.0, 0.05, 10.0], &[]),
            ),
            problem(
                "slow-top",
                "slow symmetric top under gravity",
                "Krysl 2006, section 5.2",
                "imidm",
                0.01,
                20.0,
                Kind::Top,
                top(0.05, 5.0),
            ),
            problem(
                "fast-top",
                "fast symmetric top under gravity",
                "Krysl 2006, section 5.3; Simo & Wong 1991",
                "imidm",
                0.001,
                20.0,
                Kind::Top,
                top(0.3, 50.0),
            ),
            problem(
                "spinning-top",
                "the fast top from its cusp, over some fifteen nutations",
                "Kasti, section 6; Simo & Wong 1991",
                "euler-parameters",
                0.001,
                10.0,
                Kind::Top,
                top(0.3, 50.0),
            ),
            problem(
                "steady-precession",
                "solid cone on its tip under gravity: constant tilt, constant precession",
                "Krenk & Nielsen 2013, section 5.2",
                "convected-reduced",
                0.005,
                10.0,
                Kind::Cone,
                cone,
            ),
            problem(
                "soft-wall",
                "body in a Coulomb potential with a soft wall, torque as printed",
                "Krysl 2006, section 5.4",
                "imidm",
                0.5,
                20000.0,
                Kind::SoftWall,
                wall(1.0),
            ),
            problem(
                "soft-wall-attractive",
                "body in a Coulomb well with a soft wall: the sign that the text of the paper describes",
                "Krysl 2006, section 5.4",
                "imidm",
                0.02,
                800.0,
                Kind::SoftWall,
                wall(-1.0),
            ),
            problem(
                "stiff-spring",
                "body on a rotational spring that is soft about one axis (2 rad/s) and stiff about two (1000 rad/s)",
                "manufactured here: steps far longer than the fast period",
                "decaying:exp",
                0.02,
                10.0,
                Kind::Spring,
                spring,
            ),
            problem(
                "driven-body",
                "full inertia on a fixed point: gravity, constant and oscillating moments, drag",
                "manufactured here to exercise every load",
                "mkrk:gauss2",
                0.01,
                10.0,
                Kind::Driven,
                driven,
            ),
            problem(
                "free-body",
                "free body with six degrees of freedom, reference point off the centre of mass",
                "manufactured here; closed form",
                "swc1",
                0.01,
                10.0,
                Kind::FreeBody,
                flying,
            ),
            problem(
                "prescribed-motion",
                "free body made to follow a given motion: loads by inverse dynamics, exact solution known",
                "Bauchau et al. 2013, section 5",
                "preserving:exp",
                0.001,
                2.0,
                Kind::PrescribedMotion,
                prescribed(true),
            ),
            problem(
                "prescribed-rotation",
                "the rotation of prescribed-motion, about a fixed point",
                "after Bauchau et al. 2013, section 5",
                "preserving:exp",
                0.001,
                2.0,
                Kind::PrescribedRotation,
                prescribed(false),
            ),
            problem(
                "heavy-top",
                "fast top that passes its lowest point: a body on a spherical joint, which all methods run",
                "Brüls & Eberhard 2008, section 6; Cardona & Géradin",
                "linear-alpha",
                0.002,
                1.0,
                Kind::HeavyTop,
                heavy,
            ),
            problem(
                "simple-pendulum",
                "body on a revolute joint",
                "manufactured here",
                "linear-alpha",
                0.01,
                10.0,
                Kind::Pendulum,
                pendulum,
            ),
            problem(
                "double-pendulum",
                "two bodies on spherical joints, in space",
                "manufactured here",
                "linear-alpha",
                0.005,
                2.0,
                Kind::DoublePendulum,
                double_pendulum,
            ),
            problem(
                "chain",
                "chain of any number of bodies, let go while straight",
                "manufactured here: the cost of a step over the number of bodies",
                "geometric-alpha",
                0.001,
                0.5,
                Kind::Chain,
                chain,
            ),
            problem(
                "four-bar",
                "crank, coupler and rocker: revolute, revolute, spherical and universal joints",
                "manufactured here: returns to its start with every turn",
                "linear-alpha",
                0.001,
                0.881_437_646_515_601_5,
                Kind::FourBar,
                four_bar,
            ),
            problem(
                "slider-crank",
                "crank, rod and slider: revolute, spherical, universal and prismatic joints",
                "manufactured here: returns to its start with every turn",
                "linear-alpha",
                0.001,
                0.616_360_815_846_795_9,
                Kind::SliderCrank,
                slider_crank,
            ),
            problem(
                "gyroscope",
                "rotor in two gimbals with a weight at the end of its axis",
                "manufactured here",
                "linear-alpha",
                0.001,
                1.0,
                Kind::Gimbals,
                gimbals,
            ),
        ]
    }

    /// The problem with this id.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let mut problem = Problem::named("fast-top")?;
    /// problem.set("mgl", "10")?;
    /// assert_eq!(problem.data().last().map(|d| d.values[0]), Some(10.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(id: &str) -> Result<Problem, ProblemError> {
        let mut all = Problem::all();
        match all.iter().position(|p| p.id == id) {
            Some(i) => Ok(all.swap_remove(i)),
            None => Err(ProblemError { id: id.into(), near: nearest(id, all.iter().map(|p| p.id)) }),
        }
    }

    /// The data, as they are set.
    pub fn data(&self) -> &[Datum] {
        &self.data
    }

    /// Overrides one datum from text. An initial momentum replaces the initial angular velocity and the other way
    /// round.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), DataError> {
        set(self.id, &mut self.data, name, text)?;
        let other = match name {
            "omega_body" => "momentum_body",
            "momentum_body" => "omega_body",
            _ => return Ok(()),
        };
        if let Some(datum) = self.data.iter_mut().find(|d| d.name == other) {
            datum.values.clear();
        }
        Ok(())
    }

    /// The values of a datum; empty if it is not set.
    pub(super) fn values(&self, name: &str) -> &[f64] {
        self.data.iter().find(|d| d.name == name).map_or(&[], |d| &d.values)
    }
}
