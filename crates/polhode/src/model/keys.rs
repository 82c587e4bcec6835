//! The keys of a model file: what each table may hold. Reading, messages and the schema that editors use follow from it.

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A number, or an expression of parameters.
    Number,
    /// An angle or a rate of one; the key may end in `_deg`.
    Angle,
    /// Three numbers, or the name of a vector parameter.
    Vector,
    /// Three numbers that are angles or rates; the key may end in `_deg`.
    AngularVector,
    /// Any numbers, or the name of a parameter.
    Numbers,
    /// An inertia: three, six or nine numbers, or three rows of three.
    Inertia,
    /// A rotation: a rotation vector, a quaternion w x y z, or a table; the key may end in `_deg`.
    Attitude,
    /// A point in space: three numbers, the name of a vector parameter, or of a frame or body above.
    Point,
    /// An expression of time and state.
    Expression,
    /// Three expressions of time and state, the name of a vector parameter, or a table from a file.
    Load,
    /// A name of something in the model.
    Name,
    /// Two names of bodies or frames.
    Pair,
    /// A parameter: a number, an expression, an array of these, or a table with one and what it is.
    Parameter,
    /// A table.
    Table(&'static [Key]),
    /// A table of tables by name.
    Named(&'static [Key]),
    /// What a number is drawn from, in tables by name.
    Spread,
    /// Texts.
    Texts,
    /// A table of values by name.
    Each(&'static Kind),
    /// A list of tables.
    List(&'static [Key]),
    /// Anything.
    Anything,
}

/// One key of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it is, with its unit.
    pub help: &'static str,
    /// True if it must be there.
    pub required: bool,
}

const fn key(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { name, kind, help, required: false }
}
const fn must(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { name, kind, help, required: true }
}

const COUNT: &str =
    "how many of it there are: NAME-1, NAME-2, ...; i counts them in expressions, {i} and {i-1} in names";

/// The keys of a parameter that says what it is.
pub const PARAMETER: &[Key] = &[
    must(
        "value",
        Kind::Numbers,
        "a number, an expression of parameters above, or an array; an empty array is not set",
    ),
    key("help", Kind::Text, "what it is, with its unit"),
    key(
        "kind",
        Kind::Word(&["number", "vector", "list", "inertia", "rotation", "choice"]),
        "what its numbers are",
    ),
    key("replaces", Kind::Name, "a parameter that is not set any more once this one is"),
];

/// The keys of a shape.
pub const SHAPE: &[Key] = &[
    key("box", Kind::Vector, "edges along x, y, z, m; centred on the origin"),
    key("sphere", Kind::Number, "radius, m; centred on the origin"),
    key("ellipsoid", Kind::Vector, "semi-axes along x, y, z, m; centred on the origin"),
    key("cylinder", Kind::Numbers, "radius and length along z, m; centred on the origin"),
    key("tube", Kind::Numbers, "outer radius, inner radius and length along z, m; centred on the origin"),
    key("cone", Kind::Numbers, "radius and height along z, m; its tip at the origin"),
    key("rod", Kind::Number, "length along x from the origin, m; without thickness, density per length"),
];

/// The keys of a part of a body.
pub const PART: &[Key] = &[
    key(
        "shape",
        Kind::Table(SHAPE),
        "a solid, with `mass` or `density`; left out without `inertia`: a point",
    ),
    key("mass", Kind::Number, "mass, kg"),
    key("density", Kind::Number, "density of its shape, in place of its mass, kg/m^3 (of a rod kg/m)"),
    key("inertia", Kind::Inertia, "inertia about its own centre of mass, which is at its origin, kg m^2"),
    key("at", Kind::Vector, "its origin in the body frame, m"),
    key(
        "attitude",
        Kind::Attitude,
        "its axes, part to body: rotation vector, unit quaternion w x y z, or a table",
    ),
];

/// The keys of a rotation given as a table.
pub const ATTITUDE: &[Key] = &[
    key("axis", Kind::Vector, "axis of the rotation, with `angle`"),
    key("angle", Kind::Angle, "angle about `axis`, rad"),
    key("q_xyzw", Kind::Numbers, "unit quaternion, scalar last"),
    key("matrix", Kind::Inertia, "matrix from body to space, three rows of three"),
    key("euler", Kind::Text, "axes of intrinsic turns in their order, as zxz, with `angles`"),
    key("angles", Kind::AngularVector, "angles of these turns, rad"),
];

/// The keys of a motion that a body is made to follow.
pub const FOLLOWS: &[Key] = &[
    key("frequency", Kind::Number, "circular frequency of the displacement, rad/s"),
    must("turn_rate", Kind::Number, "half the rotation angle is this times t, rad/s"),
    key(
        "moments_about",
        Kind::Number,
        "point that the moments are about: 0 the origin of space, 1 that of the body",
    ),
];

/// The keys of a body.
pub const BODY: &[Key] = &[
    key("mass", Kind::Number, "mass, kg"),
    key("density", Kind::Number, "density of a shape, in place of its mass, kg/m^3 (of a rod kg/m)"),
    key("center", Kind::Vector, "centre of mass in the body frame, m; its origin if left out"),
    key(
        "inertia",
        Kind::Inertia,
        "inertia about the centre of mass in body axes, kg m^2: principal moments, or xx yy zz xy xz yz, or three rows of three",
    ),
    key(
        "inertia_origin",
        Kind::Inertia,
        "inertia about the origin of the body frame, in place of `inertia`, kg m^2",
    ),
    key("shape", Kind::Table(SHAPE), "a solid, in place of inertia and center"),
    key("parts", Kind::List(PART), "what it is composed of, in place of mass, center, inertia and shape"),
    key("position", Kind::Point, "initial position of the origin (or of `point`) in space, m"),
    key(
        "attitude",
        Kind::Attitude,
        "initial attitude, body to space: rotation vector, unit quaternion w x y z, or a table",
    ),
    key("velocity", Kind::Point, "initial velocity of the origin (or of `point`) in space, m/s"),
    key("omega_body", Kind::AngularVector, "initial angular velocity in body axes, rad/s"),
    key("omega_space", Kind::AngularVector, "initial angular velocity in space axes, rad/s"),
    key(
        "momentum_body",
        Kind::Vector,
        "initial angular momentum about a fixed point in body axes, in place of omega_body, kg m^2/s",
    ),
    key("fixed_point", Kind::Flag, "true: the origin of the body frame never moves"),
    key(
        "centered",
        Kind::Flag,
        "true: the origin of the body frame is the centre of mass, and moves with it when `NAME.center` is changed",
    ),
    key(
        "point",
        Kind::Vector,
        "a point in the body frame that `position` and `velocity` are of, in place of the origin, m",
    ),
    key(
        "follows",
        Kind::Table(FOLLOWS),
        "a motion that the body is made to follow, by loads from inverse dynamics",
    ),
    key("count", Kind::Number, COUNT),
];

/// The keys of a frame.
pub const FRAME: &[Key] = &[
    must("body", Kind::Name, "the body that it sits on, or ground"),
    key("at", Kind::Vector, "its origin in the body frame, m"),
    key(
        "attitude",
        Kind::Attitude,
        "its axes, frame to body: rotation vector, unit quaternion w x y z, or a table",
    ),
    key("count", Kind::Number, COUNT),
];

/// The types of joints.
pub const JOINT_TYPES: &[&str] = &[
    "spherical",
    "revolute",
    "universal",
    "cylindrical",
    "prismatic",
    "planar",
    "fixed",
    "distance",
    "point-on-line",
    "point-in-plane",
    "parallel",
    "constant-angle",
    "screw",
    "gear",
];

/// The keys of a joint.
pub const JOINT: &[Key] = &[
    must("type", Kind::Word(JOINT_TYPES), "what it allows"),
    must("between", Kind::Pair, "the two bodies or frames"),
    key(
        "at",
        Kind::Vector,
        "its point in space, the bodies standing as they start, m; left out: the two frames are to coincide",
    ),
    key("axis", Kind::Vector, "its third axis in space"),
    key(
        "axis2",
        Kind::Vector,
        "of a universal joint, the first axis of its second frame in space; of a gear, the axle of the second wheel",
    ),
    key("length", Kind::Number, "of a distance: its length, m; the drawn one if left out"),
    key("pitch", Kind::Number, "of a screw: how far one turn goes along the axis, m"),
    key("teeth", Kind::Numbers, "of a gear: the teeth of its two wheels; negative: inside a ring"),
    key(
        "angle",
        Kind::Angle,
        "initial angle, rad; of a constant-angle: the angle, the drawn one if left out",
    ),
    key("distance", Kind::Number, "initial distance, m"),
    key("rate", Kind::Angle, "initial rate of the coordinate, rad/s or m/s"),
    key("speed", Kind::Number, "of a cylindrical joint, initial rate of the distance, m/s"),
    key("stiffness", Kind::Number, "a spring in the free direction, N m/rad or N/m"),
    key("damping", Kind::Number, "its damping, N m s/rad or N s/m"),
    key("rest", Kind::Angle, "where the spring is at rest, rad or m"),
    key("moment", Kind::Expression, "a motor of a revolute joint, N m"),
    key("force", Kind::Expression, "a motor of a prismatic joint, N"),
    key("drive", Kind::Expression, "its coordinate as a function of time"),
    key("choose", Kind::Number, "a number from 0 that chooses among several types"),
    key("count", Kind::Number, COUNT),
];

/// The keys of a force.
pub const FORCE: &[Key] = &[
    must("type", Kind::Word(&["spring", "torsion-spring", "line", "bushing"]), "what it does"),
    must("between", Kind::Pair, "the two bodies or frames"),
    key(
        "stiffness",
        Kind::Numbers,
        "of a spring, N/m; of a torsion spring, N m/rad; of a bushing six numbers: along and about x, y, z of its first frame",
    ),
    key("damping", Kind::Numbers, "its damping, N s/m or N m s/rad; of a bushing six numbers"),
    key("length", Kind::Number, "of a spring: length without force, m"),
    key("angle", Kind::Angle, "of a torsion spring: angle without moment, rad"),
    key("force", Kind::Expression, "of a line: the pull, of length, rate and t, N"),
    key("potential", Kind::Expression, "of a line, in place of force: the energy as a function of length, J"),
];

/// The keys of a table of numbers in a file.
pub const TABLE: &[Key] = &[
    must("table", Kind::Text, "CSV file with a header, relative to the model"),
    key("time", Kind::Name, "its column of times, s; t if left out"),
    must("columns", Kind::Anything, "the names of the three columns"),
];

/// The types of loads that the library has beside expressions.
pub const LOAD_TYPES: &[&str] = &["top-gravity", "soft-wall", "rotational-spring", "drag", "harmonic"];

/// The keys of a load.
pub const LOAD: &[Key] = &[
    must("body", Kind::Name, "the body that it acts on"),
    key(
        "name",
        Kind::Name,
        "a name, of a load that a controller sets between steps; its value here is that at the start",
    ),
    key("moment_body", Kind::Load, "moment in body axes, N m"),
    key("moment_space", Kind::Load, "moment in space axes, N m"),
    key("force_body", Kind::Load, "force in body axes, N"),
    key("force_space", Kind::Load, "force in space axes, N"),
    key("at", Kind::Vector, "where the force acts, in the body frame, m; the centre of mass if left out"),
    key("potential", Kind::Expression, "an energy of the pose, J: the load is its negative derivative"),
    key("from", Kind::Number, "the load is off before, s"),
    key("until", Kind::Number, "the load is off after, s"),
    key("type", Kind::Word(LOAD_TYPES), "a load of the library"),
    key(
        "mgl",
        Kind::Number,
        "of top-gravity: weight times distance of the centre of mass along the third axis, N m",
    ),
    key("coulomb", Kind::Number, "of soft-wall: strength of the 1/s term, s = offset + attitude_zz, N m"),
    key("wall", Kind::Number, "of soft-wall: strength of the -1/s^10 term, N m"),
    key("offset", Kind::Number, "of soft-wall: added to attitude_zz"),
    key("stiffness", Kind::Vector, "of rotational-spring: stiffness about each axis, N m/rad"),
    key("coefficient", Kind::Number, "of drag: the moment is -coefficient omega, N m s"),
    key("frame", Kind::Word(&["body", "space"]), "of harmonic: where the moment keeps its direction"),
    key("amplitude", Kind::Vector, "of harmonic: amplitude of the moment, N m"),
    key("frequency", Kind::Number, "of harmonic: circular frequency, rad/s"),
    key("phase", Kind::Angle, "of harmonic: phase at t = 0, rad"),
];

/// The keys of coordinates in R^n.
pub const COORDINATES: &[Key] = &[
    must("mass", Kind::Numbers, "mass matrix by rows, or its diagonal"),
    must("position", Kind::Numbers, "initial positions"),
    key("velocity", Kind::Numbers, "initial velocities"),
    key("damping", Kind::Numbers, "damping matrix by rows, or its diagonal"),
    key("stiffness", Kind::Numbers, "stiffness matrix by rows, or its diagonal"),
    key("force", Kind::Numbers, "constant force"),
    key("amplitude", Kind::Numbers, "amplitude of the oscillating force"),
    key("frequency", Kind::Number, "its circular frequency, rad/s"),
    key("phase", Kind::Angle, "its phase at t = 0, rad"),
];

/// The keys of an event.
pub const EVENT: &[Key] = &[
    must("when", Kind::Expression, "a zero crossing of this expression"),
    key("direction", Kind::Word(&["up", "down", "both"]), "which crossings count"),
    key("stop", Kind::Flag, "true: the run ends at the event, which is its last row"),
];

/// The keys of a condition that parameters must meet.
pub const CHECK: &[Key] = &[
    must("that", Kind::Text, "a comparison of parameters and definitions"),
    must("otherwise", Kind::Text, "what to say if it does not hold; {name} is the value of a parameter"),
    key("of", Kind::Name, "the parameter that is wrong then"),
];

/// The keys of how to run it.
pub const RUN: &[Key] = &[
    key("method", Kind::Text, "id of the method"),
    key("step", Kind::Number, "time step, s"),
    key("until", Kind::Number, "end time, s"),
    key("every", Kind::Number, "every how many steps a file has a row"),
];

/// The keys of what a number is drawn from.
pub const SPREAD: &[Key] = &[
    key("uniform", Kind::Numbers, "evenly between two numbers"),
    key("normal", Kind::Numbers, "mean and standard deviation"),
    key("log-uniform", Kind::Numbers, "between two positive numbers, with an even logarithm"),
    key("grid", Kind::Numbers, "two ends and how many numbers there are, all of which are met"),
    key("list", Kind::Numbers, "these numbers, all of which are met"),
];

/// The keys of many runs.
pub const SWEEP: &[Key] = &[
    key("vary", Kind::Each(&Kind::Spread), "what changes from run to run, by the names that `--set` takes"),
    key("sampling", Kind::Word(&["random", "sobol", "latin"]), "how draws are spread over the runs"),
    key(
        "file",
        Kind::Text,
        "CSV or Parquet file with a row for each run and names that `--set` takes above its columns",
    ),
    key("runs", Kind::Number, "how many runs; all combinations of grids and lists if left out"),
    key("seed", Kind::Number, "whole number from which all draws follow; 0 if left out"),
    key(
        "keep",
        Kind::Texts,
        "what a row has of its run; outputs (or the last state), events and drift if left out",
    ),
];

/// The keys of a model file.
pub const MODEL: &[Key] = &[
    key("format", Kind::Number, "version of the format: 1"),
    key("title", Kind::Text, "one line of what it is"),
    key("notes", Kind::Text, "anything to be remembered"),
    key("source", Kind::Text, "where it comes from"),
    key("gravity", Kind::Vector, "acceleration of gravity in space, m/s^2; none if left out"),
    key("parameters", Kind::Each(&Kind::Parameter), "named numbers and vectors, which may use those above"),
    key("definitions", Kind::Each(&Kind::Number), "named expressions of parameters and of definitions above"),
    key("checks", Kind::List(CHECK), "conditions that parameters must meet"),
    key("bodies", Kind::Named(BODY), "the bodies by name"),
    key("frames", Kind::Named(FRAME), "frames on bodies by name"),
    key("joints", Kind::Named(JOINT), "the joints by name"),
    key("forces", Kind::Named(FORCE), "forces between bodies by name"),
    key("loads", Kind::List(LOAD), "what acts on bodies"),
    key("coordinates", Kind::Named(COORDINATES), "extra coordinates in R^n by name"),
    key(
        "outputs",
        Kind::Each(&Kind::Expression),
        "named quantities: columns, and targets of sensitivities and fits",
    ),
    key("events", Kind::Named(EVENT), "zero crossings by name"),
    key(
        "set",
        Kind::Each(&Kind::Numbers),
        "numbers that are set as --set does, by the name of a parameter or the path of an element, in quotes: \"top.mass\" = 2",
    ),
    key("run", Kind::Table(RUN), "how to run it"),
    key("sweep", Kind::Table(SWEEP), "many runs of it"),
];
