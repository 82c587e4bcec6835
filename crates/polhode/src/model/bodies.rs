//! Bodies of a model file: mass, inertia, shape, and where they start.

use super::attitude::Attitude;
use super::build::Builder;
use super::keys::{BODY, FOLLOWS};
use super::number::{Number, Numbers, Scope, Values};
use super::place::{Fault, Span, Spot};
use super::shapes::{Masses, Part, Shape, Solid, composed};
use super::table::Table;
use super::tree::Kind;
use crate::body::{
    About, BauchauTrajectory, Dynamics, InertiaError, Loads, PrescribedMotion, PrescribedRotation,
    RotaryInertia, SpatialInertia, State, rates, steiner,
};
use crate::group::{Group, Rotation, Se3, So3};
use crate::lookup::plain;
use crate::multibody::{GROUND, Held, Rigid};
use crate::scalar::Scalar;
use nalgebra::Vector3;

/// A body as the file has it. There may be many, and most keys of most are left out: each of them takes little room.
#[derive(Clone, Debug)]
pub(super) struct BodyDraft {
    pub(super) name: String,
    pub(super) spot: Spot,
    pub(super) count: Option<Number>,
    mass: Option<Number>,
    density: Option<Number>,
    center: Option<Numbers>,
    inertia: Option<Numbers>,
    /// True if it is about the origin.
    about_origin: bool,
    shape: Option<Box<Shape>>,
    parts: Box<[Part]>,
    position: Option<Point>,
    velocity: Option<Point>,
    point: Option<Numbers>,
    attitude: Option<Box<Attitude>>,
    omega_body: Option<Numbers>,
    omega_space: Option<Numbers>,
    momentum_body: Option<Numbers>,
    fixed_point: bool,
    /// True if its origin is its centre of mass by what it is.
    centered: bool,
    follows: Option<Box<Follows>>,
}

/// A point in space, or how it moves.
#[derive(Clone, Debug)]
enum Point {
    Numbers(Numbers),
    /// That of a frame.
    Frame(Box<(String, Span)>),
}

/// A motion that the body is made to follow.
#[derive(Clone, Debug)]
struct Follows {
    frequency: Option<Number>,
    turn_rate: Number,
    about: Option<Number>,
    span: Span,
}

impl Point {
    fn read(table: &Table<'_>, key: &'static str, scope: &Scope<'_>) -> Result<Option<Point>, Fault> {
        let Some(entry) = table.entry(key) else { return Ok(None) };
        if let Kind::Text(text) = &entry.value.kind
            && !scope.parameters.iter().any(|parameter| parameter.name == text.trim())
        {
            return Ok(Some(Point::Frame(Box::new((text.trim().into(), entry.span())))));
        }
        Ok(Some(Point::Numbers(Numbers::read(key.into(), &entry.value, &[3], scope, 1.0)?)))
    }
}

impl BodyDraft {
    pub(super) fn read(name: &str, table: &Table<'_>, scope: &Scope<'_>) -> Result<BodyDraft, Fault> {
        table.only(BODY)?;
        let scope = &scope.counted(table.entry("count").is_some());
        if let (Some(entry), None) = (table.entry("density"), table.entry("shape")) {
            let message = format!(
                "{} has a density but no shape; give it `shape`, or `mass` and `inertia`",
                table.name
            );
            return Err(Fault::new(&entry.key_span(), message));
        }
        for (one, other) in [
            ("inertia", "inertia_origin"),
            ("inertia", "shape"),
            ("inertia_origin", "shape"),
            ("center", "shape"),
            ("mass", "density"),
            ("parts", "shape"),
            ("parts", "mass"),
            ("parts", "center"),
            ("parts", "inertia"),
            ("parts", "inertia_origin"),
        ] {
            table.either(one, other)?;
        }
        let velocities = ["omega_body", "omega_space", "momentum_body"];
        for (i, one) in velocities.iter().enumerate() {
            for other in &velocities[i + 1..] {
                let parameter = |key: &str| {
                    let entry = table.entry(key)?;
                    matches!(entry.value.kind, Kind::Text(_)).then_some(())
                };
                // Parameters of which only one is set may both be named.
                if parameter(one).is_none() || parameter(other).is_none() {
                    table.either(one, other)?;
                }
            }
        }
        let follows = match table.entry("follows") {
            Some(entry) => {
                let inner = entry.table("follows")?;
                inner.only(FOLLOWS)?;
                let turn_rate = inner.number("turn_rate", scope)?;
                Some(Box::new(Follows {
                    frequency: inner.number("frequency", scope)?,
                    turn_rate: turn_rate
                        .ok_or_else(|| Fault::new(&entry.span(), "follows needs `turn_rate`"))?,
                    about: inner.number("moments_about", scope)?,
                    span: entry.span(),
                }))
            }
            None => None,
        };
        let about_origin = table.entry("inertia_origin").is_some();
        let inertia = if about_origin { "inertia_origin" } else { "inertia" };
        Ok(BodyDraft {
            name: name.into(),
            spot: Spot::new(&table.span, 0),
            count: table.number("count", scope)?,
            mass: table.number("mass", scope)?,
            density: table.number("density", scope)?,
            center: table.numbers("center", &[3], scope)?,
            inertia: table.numbers(inertia, &[3, 6, 9], scope)?,
            about_origin,
            shape: Shape::read(table, scope)?.map(Box::new),
            parts: Part::read_all(table, scope)?.into(),
            position: Point::read(table, "position", scope)?,
            velocity: Point::read(table, "velocity", scope)?,
            point: table.numbers("point", &[3], scope)?,
            attitude: Attitude::read(table, scope)?.map(Box::new),
            omega_body: table.angles("omega_body", &[3], scope)?,
            omega_space: table.angles("omega_space", &[3], scope)?,
            momentum_body: table.numbers("momentum_body", &[3], scope)?,
            fixed_point: table.flag("fixed_point")?,
            centered: table.flag("centered")?,
            follows,
        })
    }
    /// Refuses mass and inertia that were set otherwise.
    pub(super) fn check_again<S: Scalar>(&self, body: &Rigid<S>) -> Result<(), Fault> {
        let mass = body.mass.value();
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(self.fault(InertiaError::Mass { mass }.to_string()));
        }
        match RotaryInertia::about_fixed_point(*body.inertia.matrix()) {
            Err(InertiaError::NotPositive { moments }) if is_thin(moments) => Ok(()),
            // A motion is prescribed for any positive one.
            Err(InertiaError::Triangle { .. }) if self.follows() => Ok(()),
            Err(error) => Err(self.fault(error.to_string())),
            Ok(_) => Ok(()),
        }
    }
    /// True if it is made to follow a motion.
    pub(super) fn follows(&self) -> bool {
        self.follows.is_some()
    }
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(&self.spot.span(), format!("body '{}': {}", self.name, message.into()))
    }
    /// What is wrong with its mass or inertia.
    fn inertia_fault<S: Scalar>(&self, error: &InertiaError, values: &Values<S>) -> Fault {
        let message = error.to_string();
        match (&self.mass, &self.inertia) {
            (Some(mass), _) if matches!(error, InertiaError::Mass { .. }) => {
                values.blamed(mass.fault(message), mass.parameter())
            }
            (_, Some(inertia)) => values.blamed(inertia.fault(message), inertia.parameter()),
            _ => self.fault(message),
        }
    }
    /// The solids that it consists of, as far as they are given.
    pub(super) fn solids(&self, values: &Values<f64>) -> Result<Vec<Solid>, Fault> {
        let mut solids = Vec::new();
        if let Some(shape) = &self.shape {
            solids.push(shape.solid(values, Vector3::zeros(), Rotation::identity())?);
        }
        for part in &self.parts {
            solids.extend(part.solid(values)?);
        }
        Ok(solids)
    }
    /// Mass, centre of mass and inertia; nothing where the mass is not known.
    fn masses<S: Scalar>(&self, values: &Values<S>) -> Result<Option<Masses<S>>, Fault> {
        let mass = self.mass.as_ref().map(|mass| mass.at(values)).transpose()?;
        let center = self.center.as_ref().map_or(Ok(Vector3::zeros()), |center| center.vector(values))?;
        if !self.parts.is_empty() {
            return composed(&self.parts, values).map(Some);
        }
        if let Some(shape) = &self.shape {
            let need = || self.fault("a shape needs `mass`, or `density`");
            return shape.masses(mass, self.density.as_ref(), values, &need).map(Some);
        }
        let Some(inertia) = &self.inertia else {
            return Err(self.fault("it needs `inertia` (or `inertia_origin`, `shape` or `parts`)"));
        };
        let inertia = inertia.tensor(values)?;
        let Some(mass) = mass else { return Ok(None) };
        let about_center = match self.about_origin {
            true => inertia - steiner(mass, &center),
            false => inertia,
        };
        Ok(Some(Masses { mass, center, inertia: about_center, solid: false }))
    }
    /// The inertia about the centre of mass, which may have moments of zero where joints leave no motion.
    fn checked<S: Scalar>(&self, masses: &Masses<S>, values: &Values<S>) -> Result<RotaryInertia<S>, Fault> {
        let wrong = |error: &InertiaError| self.inertia_fault(error, values);
        if !(masses.mass.value() > 0.0 && masses.mass.value().is_finite()) {
            return Err(wrong(&InertiaError::Mass { mass: masses.mass.value() }));
        }
        let error = match RotaryInertia::about_fixed_point(masses.inertia) {
            Ok(inertia) => return Ok(inertia),
            Err(error) => error,
        };
        match error {
            InertiaError::NotPositive { moments: [a, b, c] } if is_thin([a, b, c]) => {
                Ok(RotaryInertia::unchecked(masses.inertia))
            }
            error => Err(wrong(&error)),
        }
    }

    pub(super) fn build<S: Scalar>(
        &self,
        name: &str,
        values: &Values<S>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let (psi, attitude) = match &self.attitude {
            Some(attitude) => attitude.at(values)?,
            None => (Some(Vector3::zeros()), Rotation::identity()),
        };
        if let Some(follows) = &self.follows {
            let body = self.following(follows, values)?;
            return builder.add_body(name, body, None, self);
        }
        let given = |numbers: &Option<Numbers>| match numbers {
            Some(numbers) if !numbers.is_unset(values) => numbers.vector(values).map(Some),
            _ => Ok(None),
        };
        let spin = match (given(&self.omega_body)?, given(&self.omega_space)?) {
            (Some(_), Some(_)) => {
                return Err(self.fault("it has both omega_body and omega_space; leave one of them out"));
            }
            (None, Some(omega)) => Some(attitude.unrotate(&omega)),
            (omega, None) => omega,
        };
        let momentum = given(&self.momentum_body)?;
        if spin.is_some() && momentum.is_some() {
            return Err(
                self.fault("it has both an angular velocity and momentum_body; leave one of them out")
            );
        }
        if momentum.is_some() && !self.fixed_point {
            return Err(
                self.fault("momentum_body is about a fixed point, and this body has none; give omega_body")
            );
        }
        let zero = Vector3::zeros();
        let omega = spin.unwrap_or(zero);
        let masses = self.masses(values)?;
        let position = builder.point(self.position.as_ref(), "position", values)?;
        let velocity = builder.velocity(self.velocity.as_ref(), "velocity", values)?;
        let Some(masses) = masses else {
            return self.pivoted(name, (psi, attitude), omega, momentum, (position, values), builder);
        };
        let inertia = self.checked(&masses, values)?;
        let omega = match momentum {
            Some(momentum) => {
                let about = RotaryInertia::unchecked(inertia.matrix() + steiner(masses.mass, &masses.center));
                So3::velocity(&about, &momentum)
            }
            None => omega,
        };
        // Position and velocity may be given for another point of the body than its origin.
        let (position, velocity) = match &self.point {
            Some(point) => {
                let point = point.vector(values)?;
                (position - attitude.rotate(&point), velocity - attitude.rotate(&omega.cross(&point)))
            }
            None => (position, velocity),
        };
        if self.fixed_point && velocity.map(Scalar::value) != Vector3::zeros() {
            return Err(
                self.fault("its origin is a fixed point and cannot have a velocity; remove one of them")
            );
        }
        let body = Rigid {
            name: String::new(),
            mass: masses.mass,
            center: masses.center,
            inertia,
            centered: self.centered,
            given: self.gives(),
            solid: masses.solid,
            position,
            attitude,
            velocity,
            omega_body: omega,
            loads: Loads::none(),
            held: if self.fixed_point { Held::Point } else { Held::Free },
        };
        builder.add_body(name, body, psi, self)
    }

    /// Whether velocity and angular velocity are given.
    fn gives(&self) -> [bool; 2] {
        let omega = [&self.omega_body, &self.omega_space, &self.momentum_body];
        [self.velocity.is_some(), omega.into_iter().any(Option::is_some)]
    }
    /// A body about a fixed point whose mass is not known.
    fn pivoted<S: Scalar>(
        &self,
        name: &str,
        (psi, attitude): (Option<Vector3<S>>, Rotation<S>),
        omega: Vector3<S>,
        momentum: Option<Vector3<S>>,
        (position, values): (Vector3<S>, &Values<S>),
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let gravity = builder.system.gravity().map(Scalar::value) != Vector3::zeros();
        if !self.fixed_point || !self.about_origin || gravity || self.center.is_some() {
            let reason = match () {
                _ if !self.fixed_point => "it is free to move",
                _ if gravity => "there is gravity",
                _ if self.center.is_some() => "it has a `center`",
                _ => "its inertia is about the centre of mass",
            };
            let more = "(`inertia_origin` with `fixed_point = true` and no gravity needs none)";
            return Err(self.fault(format!("it needs `mass`, because {reason} {more}")));
        }
        let Some(numbers) = &self.inertia else { return Err(self.fault("it needs `inertia_origin`")) };
        let inertia = RotaryInertia::about_fixed_point(numbers.tensor(values)?)
            .map_err(|error| self.inertia_fault(&error, values))?;
        let body = Rigid {
            name: String::new(),
            mass: S::one(),
            center: Vector3::zeros(),
            inertia,
            centered: false,
            given: self.gives(),
            solid: false,
            position,
            attitude,
            velocity: Vector3::zeros(),
            omega_body: momentum.map_or(omega, |momentum| So3::velocity(&inertia, &momentum)),
            loads: Loads::none(),
            held: Held::Pivot(momentum),
        };
        builder.add_body(name, body, psi, self)
    }

    /// A body that is made to follow a motion.
    fn following<S: Scalar>(&self, follows: &Follows, values: &Values<S>) -> Result<Rigid<S>, Fault> {
        let Some(numbers) = self.inertia.as_ref().filter(|_| self.about_origin) else {
            return Err(self.fault("a body that follows a motion needs `inertia_origin`"));
        };
        let moved = [
            self.position.is_some(),
            self.velocity.is_some(),
            self.attitude.is_some(),
            self.omega_body.is_some() || self.omega_space.is_some() || self.momentum_body.is_some(),
        ];
        if moved.contains(&true) {
            let message = "the motion that a body follows says where it starts; remove position, attitude and velocities";
            return Err(Fault::new(&follows.span, message));
        }
        let about = match &follows.about {
            None => About::Origin,
            Some(number) => match number.at(values)?.value() {
                0.0 => About::Origin,
                1.0 => About::ReferencePoint,
                x => {
                    let fault = number.fault(format!("it is 0 or 1, not {}", plain(x)));
                    return Err(values.blamed(fault, number.parameter()));
                }
            },
        };
        let motion = BauchauTrajectory {
            // Of a body on a fixed point only the rotation is there.
            frequency: follows.frequency.as_ref().map_or(Ok(S::zero()), |number| number.at(values))?,
            turn_rate: follows.turn_rate.at(values)?,
        };
        let tensor = numbers.tensor(values)?;
        if self.fixed_point {
            let inertia =
                RotaryInertia::positive(tensor).map_err(|error| self.inertia_fault(&error, values))?;
            let load = PrescribedRotation::new(inertia, motion, about);
            let State { pose, momentum } = load.state(S::zero());
            return Ok(Rigid {
                name: String::new(),
                mass: S::one(),
                center: Vector3::zeros(),
                inertia,
                centered: false,
                given: [true; 2],
                solid: false,
                position: Vector3::zeros(),
                attitude: pose,
                velocity: Vector3::zeros(),
                omega_body: So3::velocity(&inertia, &momentum),
                loads: Loads::none().with(load),
                held: Held::Pivot(Some(momentum)),
            });
        }
        let Some(mass) = &self.mass else { return Err(self.fault("it needs `mass`")) };
        let (mass, center) = (
            mass.at(values)?,
            self.center.as_ref().map_or(Ok(Vector3::zeros()), |center| center.vector(values))?,
        );
        let inertia = SpatialInertia::mass_matrix(mass, center, tensor)
            .map_err(|error| self.inertia_fault(&error, values))?;
        let (pose, velocity, _) = rates::<Se3, S>(&motion, S::zero());
        Ok(Rigid {
            name: String::new(),
            mass,
            center,
            inertia: RotaryInertia::unchecked(*inertia.about_center()),
            centered: false,
            given: [true; 2],
            solid: false,
            position: pose.position,
            attitude: pose.attitude,
            velocity: pose.attitude.rotate(&Se3::linear(&velocity)),
            omega_body: Se3::angular(&velocity),
            loads: Loads::none().with(PrescribedMotion::new(inertia, motion, about)),
            held: Held::Free,
        })
    }
}

/// True of moments that a rod or a point has: none is negative, and the larger two are alike or zero.
fn is_thin([a, b, c]: [f64; 3]) -> bool {
    let slack = 1e-9 * c.abs();
    a.abs() <= slack && b >= -slack && (c - b).abs() <= slack
}

impl<S: Scalar> Builder<'_, S> {
    fn point(&self, point: Option<&Point>, key: &str, values: &Values<S>) -> Result<Vector3<S>, Fault> {
        match point {
            None => Ok(Vector3::zeros()),
            Some(Point::Numbers(numbers)) => numbers.vector(values),
            Some(Point::Frame(frame)) => Ok(self.moving_point(&frame.0, &frame.1, key)?.0),
        }
    }
    fn velocity(&self, point: Option<&Point>, key: &str, values: &Values<S>) -> Result<Vector3<S>, Fault> {
        match point {
            None => Ok(Vector3::zeros()),
            Some(Point::Numbers(numbers)) => numbers.vector(values),
            Some(Point::Frame(frame)) => Ok(self.moving_point(&frame.0, &frame.1, key)?.1),
        }
    }
    /// Position and velocity of a frame of a body that stands above.
    fn moving_point(&self, name: &str, span: &Span, key: &str) -> Result<(Vector3<S>, Vector3<S>), Fault> {
        let (body, point) = match self.frame_above(name)? {
            Some(found) => found,
            None => {
                let message = format!(
                    "{key} is 3 numbers, the name of a vector parameter, or that of a frame or body above; '{name}' is none"
                );
                return Err(Fault::new(span, message));
            }
        };
        if body == GROUND {
            return Ok((point, Vector3::zeros()));
        }
        let Some(rigid) = self.system.bodies().iter().find(|rigid| rigid.name == body) else {
            let message =
                format!("{key} is that of '{name}', whose body '{body}' stands further down; move it up");
            return Err(Fault::new(span, message));
        };
        let place = rigid.position + rigid.attitude.rotate(&point);
        Ok((place, rigid.velocity + rigid.attitude.rotate(&rigid.omega_body.cross(&point))))
    }
}
