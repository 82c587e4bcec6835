//! The parameters of a system: every number of its bodies, joints, forces and extra coordinates by name, and how the
//! system changes with it.

use super::coordinate::StartsOf;
use super::kinds::Number;
use super::system::{End, Rigid, System};
use crate::body::RotaryInertia;
use crate::group::Rotation;
use crate::lookup::{ENTRIES, Names, ParameterError, Role, find};
use crate::scalar::Real;
use nalgebra::Vector3;
use std::collections::{HashMap, HashSet};

/// One number of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemParameter {
    /// Its name: `upper.mass`, `elbow.first_x`.
    pub name: String,
    /// Its value. Turns and shifts start from zero.
    pub value: f64,
    /// What it is, with its unit.
    pub help: &'static str,
    /// How much of its name is that of the vector, tensor or list that it is a component of.
    whole: usize,
    target: Target,
}

impl SystemParameter {
    /// The name of the vector, tensor or list that it is a component of.
    pub(crate) fn whole(&self) -> &str {
        &self.name[..self.whole]
    }
    /// True if it says how this body starts, or what its mass and inertia are. What is fixed to a body whose origin is its
    /// centre of mass moves when that is another point: then it is for later, when all of that is there.
    pub(crate) fn is_start_of<S: Real>(&self, body: usize, rigid: &Rigid<S>) -> bool {
        use OfBody::{Attitude, Center, Inertia, Mass, Omega, Position, Velocity};
        let starts = |part| match part {
            Mass | Inertia(..) | Position(_) | Attitude(_) | Velocity(_) | Omega(_) => true,
            Center(_) => !rigid.centered,
            _ => false,
        };
        matches!(self.target, Target::Body(b, part) if b == body && starts(part))
    }
    /// True if it is that of one of these bodies.
    pub(crate) fn starts_one_of<S: Real>(&self, bodies: &[Rigid<S>]) -> bool {
        let Target::Body(b, _) = self.target else { return false };
        bodies.get(b).is_some_and(|body| self.is_start_of(b, body))
    }
    /// The body whose mass or centre of mass it is.
    pub(crate) fn mass_of(&self) -> Option<usize> {
        match self.target {
            Target::Body(body, OfBody::Mass | OfBody::Center(_)) => Some(body),
            _ => None,
        }
    }
    /// What it is.
    pub(crate) fn role(&self) -> Role {
        match self.target {
            Target::Body(_, OfBody::Mass) => Role::Mass,
            Target::Body(_, OfBody::Inertia(i, j)) => Role::Inertia(i, j),
            _ => Role::Other,
        }
    }
}

/// What a parameter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Gravity(usize),
    Body(usize, OfBody),
    Joint(usize, OfEnds),
    /// Where a coordinate of a joint starts, or its rate.
    Start(usize, bool),
    /// A number of its kind, by its place in the list.
    OfJoint(usize, usize),
    Force(usize, OfEnds),
    OfForce(usize, usize),
    Extra(usize, OfExtra),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfBody {
    Mass,
    Inertia(usize, usize),
    Center(usize),
    Position(usize),
    Attitude(usize),
    Velocity(usize),
    Omega(usize),
    /// Load, field, component.
    Load(usize, usize, usize),
}

/// End and component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfEnds {
    Point(usize, usize),
    Axes(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfExtra {
    Mass(usize, usize),
    Damping(usize, usize),
    Stiffness(usize, usize),
    Force(usize),
    Amplitude(usize),
    Frequency,
    Phase,
    Position(usize),
    Velocity(usize),
}

const AXES: [&str; 3] = ["x", "y", "z"];
const ENDS: [&str; 2] = ["first", "second"];
const POINT: &str = "point of the end, in the axes of its body, m";
const TURN: &str = "turn of the axes of the end, about these axes, rad";

/// The list while it is made. There may be millions of parameters: names are remembered only where another could be the same.
struct List<'a> {
    take: &'a mut dyn FnMut(SystemParameter),
    /// How many elements have names that begin alike, up to the first point.
    beginnings: HashMap<&'a str, usize>,
    /// The names of elements that do not begin alone.
    shared: HashSet<String>,
    /// The names of the element at hand.
    own: HashSet<String>,
    /// Whether the element at hand begins alone, and whether its names are known to differ.
    alone: bool,
    differ: bool,
    /// What the element is, for a name that another element has too.
    kind: &'static str,
}

/// The name of an element up to the first point.
fn beginning(name: &str) -> &str {
    name.split_once('.').map_or(name, |(beginning, _)| beginning)
}

impl List<'_> {
    /// Goes on to another element, whose parameters may be known to have different names.
    fn begin(&mut self, element: &str, differ: bool) {
        self.own.clear();
        self.alone = self.beginnings.get(beginning(element)).is_none_or(|count| *count == 1);
        self.differ = differ;
    }
    /// Takes a parameter of an element: the name of a whole, the ending for the component, and the rest.
    fn add(
        &mut self,
        element: &str,
        (whole, part): (&str, &str),
        value: f64,
        help: &'static str,
        target: Target,
    ) {
        // Each is put together in one piece.
        let dot = if element.is_empty() { "" } else { "." };
        let under = if part.is_empty() { "" } else { "_" };
        let pieces = [element, dot, whole, under, part];
        let mut length = pieces[..3].iter().map(|piece| piece.len()).sum();
        let mut name = pieces.concat();
        if !(self.alone && self.differ) {
            let taken = if self.alone { &mut self.own } else { &mut self.shared };
            if taken.contains(&name) {
                length += self.kind.len() + 1;
                name = format!("{}.{name}", self.kind);
            }
            taken.insert(name.clone());
        }
        (self.take)(SystemParameter { name, value, help, whole: length, target });
    }
    fn three(
        &mut self,
        element: &str,
        whole: &str,
        value: [f64; 3],
        help: &'static str,
        target: impl Fn(usize) -> Target,
    ) {
        for (i, axis) in AXES.into_iter().enumerate() {
            self.add(element, (whole, axis), value[i], help, target(i));
        }
    }
    fn numbers<S: Real>(
        &mut self,
        element: &str,
        numbers: Vec<Number<'_, S>>,
        target: impl Fn(usize) -> Target,
    ) {
        for (k, number) in numbers.into_iter().enumerate() {
            self.add(element, (&number.name, ""), number.value.largest(), number.help, target(k));
        }
    }
    fn ends<S: Real>(
        &mut self,
        element: &str,
        ends: &[End<S>; 2],
        (points, axes): (bool, bool),
        target: impl Fn(OfEnds) -> Target,
    ) {
        for (e, (end, name)) in ends.iter().zip(ENDS).enumerate() {
            if points {
                self.three(element, name, values(&end.point), POINT, |i| target(OfEnds::Point(e, i)));
            }
            if axes {
                let name = format!("{name}_axes");
                self.three(element, &name, [0.0; 3], TURN, |i| target(OfEnds::Axes(e, i)));
            }
        }
    }
}

fn values<S: Real>(v: &Vector3<S>) -> [f64; 3] {
    v.map(Real::largest).into()
}

/// A turn about one axis.
fn turn<S: Real>(axis: usize, angle: S) -> Rotation<S> {
    Rotation::from_rotation_vector(&Vector3::from_fn(|i, _| if i == axis { angle } else { S::zero() }))
}

impl<S: Real> System<S> {
    /// Every parameter: of gravity, then of each body, joint, force and of the extra coordinates, by the name of the element
    /// and what it is of it. A name that two elements would share has `joints`, `forces` or `coordinates` before it.
    ///
    /// Of a body: `mass`, `inertia_xy` (with `inertia_yx`), `center_x` (moves the centre of mass within the body, and with it
    /// the origin if that is there: what is fixed to the body stays where it is, and the inertia about the centre stays),
    /// `position_x`, `velocity_x`, `omega_body_x`, `attitude_x` (a turn in body axes), and `load_1.value_x` for the fields of
    /// its loads. Of a joint or force: `first_x` and `second_x` (the points), `first_axes_x` (turns the axes), `length`, `stiffness`, `damping`,
    /// `angle`. Of coordinates: `mass_12` (with `mass_21`), `damping_12`, `stiffness_12`, `force_1` and so on. What has no
    /// effect is left out: axes at points, points of torsion springs.
    ///
    /// Initial values do not follow a change of a joint: see [`Simulation::assembled`](super::Simulation::assembled).
    ///
    /// ```
    /// use polhode::{method::Method, multibody::Simulation, problem::Problem, scalar::Dual};
    /// let model = Problem::named("heavy-top")?.model()?;
    /// let mut system = model.system().lift::<Dual<f64, 1>>();
    /// let [mass] = system.find_parameters(&["top.mass"])?[..] else { return Err("one".into()) };
    /// let mass = system.parameters().swap_remove(mass);
    /// assert_eq!(mass.value, 15.0);
    /// system.vary(&mass, Dual { re: 0.0, eps: [1.0] });
    /// let mut simulation = Simulation::new(&system, &Method::parse("linear-alpha")?)?;
    /// for _ in 0..50 {
    ///     simulation.step(Dual::constant(2e-3))?;
    /// }
    /// assert!((simulation.bodies()[0].position.x.eps[0] - 0.002_561_650_582_058_097).abs() < 1e-13);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parameters(&self) -> Vec<SystemParameter> {
        let mut all = Vec::new();
        self.each_parameter(&mut |parameter| all.push(parameter));
        all
    }
    /// The same, one by one.
    pub(crate) fn each_parameter(&self, take: &mut dyn FnMut(SystemParameter)) {
        let mut list = List {
            take,
            beginnings: HashMap::new(),
            shared: HashSet::new(),
            own: HashSet::new(),
            alone: true,
            differ: true,
            kind: "system",
        };
        let names = self.bodies.iter().map(|body| &body.name);
        let names = names.chain(self.joints.iter().map(|joint| &joint.name));
        let names = names.chain(self.forces.iter().map(|force| &force.name));
        for name in names.chain(self.extra.iter().map(|extra| &extra.name)) {
            *list.beginnings.entry(beginning(name)).or_default() += 1;
        }
        let help = "acceleration of gravity in space, m/s^2";
        list.three("", "gravity", values(&self.gravity), help, Target::Gravity);
        self.list_bodies(&mut list);
        list.kind = "joints";
        let starts = StartsOf::new(&self.starts);
        for (j, joint) in self.joints.iter().enumerate() {
            let starts = starts.joint(j);
            list.begin(&joint.name, starts.is_empty() && joint.kind.own().is_none());
            // What acts in a joint has its frames.
            if joint.of.is_none() {
                list.ends(&joint.name, &joint.ends, joint.kind.uses(), |part| Target::Joint(j, part));
            }
            // The pitch of a screw is a number of that.
            let screw = joint.of.filter(|_| joint.is_thread()).and_then(|j| self.joints.get(j));
            let name = &screw.unwrap_or(joint).name;
            list.numbers(name, joint.kind.clone().numbers_mut(), |k| Target::OfJoint(j, k));
            for &(k, start) in starts.iter().filter(|(_, start)| !start.is_driven) {
                let (value, rate) = start.names(joint);
                if let Some(x) = start.value {
                    let help = "initial coordinate of the joint, rad or m";
                    list.add(&joint.name, (value, ""), x.largest(), help, Target::Start(k, false));
                }
                if let Some(x) = start.rate {
                    let help = "its initial rate, rad/s or m/s";
                    list.add(&joint.name, (rate, ""), x.largest(), help, Target::Start(k, true));
                }
            }
        }
        list.kind = "forces";
        for (f, force) in self.forces.iter().enumerate() {
            list.begin(&force.name, false);
            if force.of.is_none() {
                list.ends(&force.name, &force.ends, force.kind.uses(), |part| Target::Force(f, part));
            }
            list.numbers(&force.name, force.kind.clone().numbers_mut(), |k| Target::OfForce(f, k));
        }
        list.kind = "coordinates";
        self.list_extra(&mut list);
    }

    fn list_bodies(&self, list: &mut List<'_>) {
        list.kind = "bodies";
        for (b, body) in self.bodies.iter().enumerate() {
            let (name, of) = (&body.name, |part| Target::Body(b, part));
            list.begin(name, body.loads.list().is_empty());
            list.add(name, ("mass", ""), body.mass.largest(), "mass, kg", of(OfBody::Mass));
            for (i, j, part) in ENTRIES {
                let (value, help) =
                    (body.inertia.matrix()[(i, j)].largest(), "inertia about the centre of mass, kg m^2");
                list.add(name, ("inertia", part), value, help, of(OfBody::Inertia(i, j)));
            }
            let help = "centre of mass from the origin, in body axes, m";
            list.three(name, "center", values(&body.center), help, |i| of(OfBody::Center(i)));
            let help = "initial position of the origin in space, m";
            list.three(name, "position", values(&body.position), help, |i| of(OfBody::Position(i)));
            let help = "turn in body axes that follows the initial attitude, rad";
            list.three(name, "attitude", [0.0; 3], help, |i| of(OfBody::Attitude(i)));
            let help = "initial velocity of the origin in space, m/s";
            list.three(name, "velocity", values(&body.velocity), help, |i| of(OfBody::Velocity(i)));
            let help = "initial angular velocity in body axes, rad/s";
            list.three(name, "omega_body", values(&body.omega_body), help, |i| of(OfBody::Omega(i)));
            for (l, load) in body.loads.list().iter().enumerate() {
                let mut load = load.clone();
                for (k, (field, mut number)) in load.numbers().into_iter().enumerate() {
                    let (whole, parts) = (format!("load_{}.{field}", l + 1), number.parts());
                    for (i, value) in parts.iter().enumerate() {
                        let part = if parts.len() == 1 { "" } else { AXES[i] };
                        let help = "number of a load on the body, SI units";
                        list.add(name, (&whole, part), value.largest(), help, of(OfBody::Load(l, k, i)));
                    }
                }
            }
        }
    }

    fn list_extra(&self, list: &mut List<'_>) {
        for (e, extra) in self.extra.iter().enumerate() {
            list.begin(&extra.name, false);
            let (name, n, of) = (&extra.name, extra.len(), |part| Target::Extra(e, part));
            type Entry = fn(usize, usize) -> OfExtra;
            let matrices: [(&str, &[S], Entry, &'static str); 3] = [
                ("mass", &extra.mass, OfExtra::Mass, "entry of the mass matrix, kg"),
                ("damping", &extra.damping, OfExtra::Damping, "entry of the damping matrix, N s/m"),
                ("stiffness", &extra.stiffness, OfExtra::Stiffness, "entry of the stiffness matrix, N/m"),
            ];
            for (whole, matrix, entry, help) in matrices {
                // The mass matrix stays symmetric.
                let first = |i: usize| if whole == "mass" { i } else { 0 };
                for (i, j) in (0..n).flat_map(|i| (first(i)..n).map(move |j| (i, j))) {
                    let apart = if n < 10 { "" } else { "_" };
                    let part = format!("{}{apart}{}", i + 1, j + 1);
                    list.add(name, (whole, &part), matrix[i * n + j].largest(), help, of(entry(i, j)));
                }
            }
            type Item = fn(usize) -> OfExtra;
            let lists: [(&str, &[S], Item, &'static str); 4] = [
                ("force", &extra.force, OfExtra::Force, "constant force, N"),
                ("amplitude", &extra.amplitude, OfExtra::Amplitude, "amplitude of the oscillating force, N"),
                ("position", &extra.position, OfExtra::Position, "initial position, m"),
                ("velocity", &extra.velocity, OfExtra::Velocity, "initial velocity, m/s"),
            ];
            for (whole, values, item, help) in lists {
                for (i, value) in values.iter().enumerate() {
                    list.add(name, (whole, &format!("{}", i + 1)), value.largest(), help, of(item(i)));
                }
            }
            let (frequency, phase) = (extra.frequency.largest(), extra.phase.largest());
            let help = "circular frequency of the oscillating force, rad/s";
            list.add(name, ("frequency", ""), frequency, help, of(OfExtra::Frequency));
            list.add(name, ("phase", ""), phase, "its phase at t = 0, rad", of(OfExtra::Phase));
        }
    }

    /// The numbers of these parameters in [`System::parameters`]. A name is that of one parameter, or without its component
    /// for all of them: `upper.center`. `upper.center.y` and `upper.center[1]` (from zero) are `upper.center_y`.
    pub fn find_parameters(&self, names: &[&str]) -> Result<Vec<usize>, ParameterError> {
        let all = self.parameters();
        let known: Vec<Names<'_>> = all.iter().map(|p| Names { own: &p.name, whole: p.whole() }).collect();
        find("the system", &known, names)
    }

    /// The value of a parameter of this system, or of one with the same elements; not a number where there is none. Turns
    /// start from zero.
    pub(crate) fn value_of(&self, parameter: &SystemParameter) -> S {
        let ends = |ends: &[End<S>; 2], part: OfEnds| match part {
            OfEnds::Point(end, i) => ends[end].point[i],
            OfEnds::Axes(..) => S::zero(),
        };
        let found = match parameter.target {
            Target::Gravity(i) => Some(self.gravity[i]),
            Target::Body(b, part) => self.bodies.get(b).and_then(|body| match part {
                OfBody::Mass => Some(body.mass),
                OfBody::Inertia(i, j) => Some(body.inertia.matrix()[(i, j)]),
                OfBody::Center(i) => Some(body.center[i]),
                OfBody::Position(i) => Some(body.position[i]),
                OfBody::Attitude(_) => Some(S::zero()),
                OfBody::Velocity(i) => Some(body.velocity[i]),
                OfBody::Omega(i) => Some(body.omega_body[i]),
                OfBody::Load(l, k, i) => {
                    let mut load = body.loads.list().get(l)?.clone();
                    load.numbers()
                        .into_iter()
                        .nth(k)
                        .and_then(|(_, mut number)| number.parts().get(i).copied())
                }
            }),
            Target::Joint(j, part) => self.joints.get(j).map(|joint| ends(&joint.ends, part)),
            Target::OfJoint(j, k) => {
                self.joints.get(j).and_then(|joint| joint.kind.numbers().get(k).copied())
            }
            Target::Start(k, rate) => {
                self.starts.get(k).and_then(|start| if rate { start.rate } else { start.value })
            }
            Target::Force(f, part) => self.forces.get(f).map(|force| ends(&force.ends, part)),
            Target::OfForce(f, k) => {
                self.forces.get(f).and_then(|force| force.kind.numbers().get(k).copied())
            }
            Target::Extra(e, part) => self.extra.get(e).and_then(|extra| {
                let n = extra.len();
                match part {
                    OfExtra::Mass(i, j) => extra.mass.get(i * n + j).copied(),
                    OfExtra::Damping(i, j) => extra.damping.get(i * n + j).copied(),
                    OfExtra::Stiffness(i, j) => extra.stiffness.get(i * n + j).copied(),
                    OfExtra::Force(i) => extra.force.get(i).copied(),
                    OfExtra::Amplitude(i) => extra.amplitude.get(i).copied(),
                    OfExtra::Position(i) => extra.position.get(i).copied(),
                    OfExtra::Velocity(i) => extra.velocity.get(i).copied(),
                    OfExtra::Frequency => Some(extra.frequency),
                    OfExtra::Phase => Some(extra.phase),
                }
            }),
        };
        found.unwrap_or(S::lift(f64::NAN))
    }

    /// Adds a change to a parameter of this system, or of one with the same elements. Nothing is checked again.
    pub fn vary(&mut self, parameter: &SystemParameter, change: S) {
        match parameter.target {
            Target::Gravity(i) => self.gravity[i] += change,
            Target::Body(b, part) => self.vary_body(b, part, change),
            Target::Joint(j, part) => {
                vary_ends(self.joints.get_mut(j).map(|joint| &mut joint.ends), part, change);
                // What acts in it has the same frames.
                for drive in self.joints.iter_mut().filter(|drive| drive.of == Some(j)) {
                    vary_ends(Some(&mut drive.ends), part, change);
                }
                for effort in self.forces.iter_mut().filter(|effort| effort.of == Some(j)) {
                    vary_ends(Some(&mut effort.ends), part, change);
                }
            }
            Target::Start(k, rate) => {
                let start = self.starts.get_mut(k);
                let number =
                    start.and_then(|start| if rate { start.rate.as_mut() } else { start.value.as_mut() });
                if let Some(number) = number {
                    *number += change;
                }
            }
            Target::OfJoint(j, k) => {
                vary_number(self.joints.get_mut(j).map(|joint| joint.kind.numbers_mut()), k, change)
            }
            Target::Force(f, part) => {
                vary_ends(self.forces.get_mut(f).map(|force| &mut force.ends), part, change)
            }
            Target::OfForce(f, k) => {
                vary_number(self.forces.get_mut(f).map(|force| force.kind.numbers_mut()), k, change)
            }
            Target::Extra(e, part) => self.vary_extra(e, part, change),
        }
    }

    fn vary_body(&mut self, b: usize, part: OfBody, change: S) {
        let Some(body) = self.bodies.get_mut(b) else { return };
        match part {
            OfBody::Mass => {
                if body.solid {
                    let larger = change / body.mass;
                    body.inertia = RotaryInertia::unchecked(body.inertia.matrix().map(|x| x + x * larger));
                }
                body.mass += change;
            }
            OfBody::Inertia(i, j) => {
                let mut matrix = *body.inertia.matrix();
                matrix[(i, j)] += change;
                if i != j {
                    matrix[(j, i)] += change;
                }
                body.inertia = RotaryInertia::unchecked(matrix);
            }
            OfBody::Center(i) => {
                let follows = body.centered;
                body.center[i] += change;
                if follows {
                    self.center_bodies(b..b + 1);
                }
            }
            OfBody::Position(i) => body.position[i] += change,
            OfBody::Attitude(i) => body.attitude = body.attitude.compose(&turn(i, change)),
            OfBody::Velocity(i) => {
                body.velocity[i] += change;
                body.given[0] |= !change.is_zero();
            }
            OfBody::Omega(i) => {
                body.omega_body[i] += change;
                body.given[1] |= !change.is_zero();
            }
            OfBody::Load(l, k, i) => {
                if let Some(load) = body.loads.list_mut().get_mut(l)
                    && let Some((_, mut number)) = load.numbers().into_iter().nth(k)
                    && let Some(x) = number.parts().get_mut(i)
                {
                    *x += change;
                }
            }
        }
    }

    fn vary_extra(&mut self, e: usize, part: OfExtra, change: S) {
        let Some(extra) = self.extra.get_mut(e) else { return };
        let n = extra.len();
        let (list, at) = match part {
            OfExtra::Mass(i, j) => {
                if i != j
                    && let Some(x) = extra.mass.get_mut(j * n + i)
                {
                    *x += change;
                }
                (&mut extra.mass, i * n + j)
            }
            OfExtra::Damping(i, j) => (&mut extra.damping, i * n + j),
            OfExtra::Stiffness(i, j) => (&mut extra.stiffness, i * n + j),
            OfExtra::Force(i) => (&mut extra.force, i),
            OfExtra::Amplitude(i) => (&mut extra.amplitude, i),
            OfExtra::Position(i) => (&mut extra.position, i),
            OfExtra::Velocity(i) => (&mut extra.velocity, i),
            OfExtra::Frequency => return extra.frequency += change,
            OfExtra::Phase => return extra.phase += change,
        };
        if let Some(x) = list.get_mut(at) {
            *x += change;
        }
    }
}

fn vary_number<S: Real>(numbers: Option<Vec<Number<'_, S>>>, k: usize, change: S) {
    if let Some(number) = numbers.and_then(|all| all.into_iter().nth(k)) {
        *number.value += change;
    }
}

fn vary_ends<S: Real>(ends: Option<&mut [End<S>; 2]>, part: OfEnds, change: S) {
    let Some(ends) = ends else { return };
    match part {
        OfEnds::Point(end, i) => ends[end].point[i] += change,
        OfEnds::Axes(end, i) => ends[end].axes *= turn(i, change).matrix(),
    }
}
