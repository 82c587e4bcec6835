//! Shapes of bodies, and bodies that are composed of parts.

use super::attitude::Attitude;
use super::keys::{PART, SHAPE};
use super::number::{Number, Numbers, Scope, Values};
use super::place::{Fault, Span};
use super::table::Table;
use super::tree::Kind;
use crate::body::steiner;
use crate::group::Rotation;
use crate::lookup::plain;
use crate::scalar::Scalar;
use core::f64::consts::PI;
use nalgebra::{Matrix3, Vector3};

/// A solid that a body consists of, for drawings of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// What it is, by its key in model files: `box`, `sphere`, `ellipsoid`, `cylinder`, `tube`, `cone` or `rod`.
    pub kind: &'static str,
    /// Its sizes, in the order of model files.
    pub sizes: Vec<f64>,
    /// Its origin, in body axes from the origin of the body.
    pub at: Vector3<f64>,
    /// Its axes, to those of the body.
    pub attitude: Rotation<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct Shape {
    kind: &'static str,
    sizes: Numbers,
}

/// Mass, centre of mass, and inertia about it.
pub(super) struct Masses<S> {
    pub(super) mass: S,
    pub(super) center: Vector3<S>,
    pub(super) inertia: Matrix3<S>,
    /// True if the inertia is in proportion to the mass.
    pub(super) solid: bool,
}

impl Shape {
    pub(super) fn read(table: &Table<'_>, scope: &Scope<'_>) -> Result<Option<Shape>, Fault> {
        let Some(entry) = table.entry("shape") else { return Ok(None) };
        let inner = entry.table("shape")?;
        inner.only(SHAPE)?;
        let [one] = inner.entries else {
            let names: Vec<&str> = SHAPE.iter().map(|key| key.name).collect();
            return Err(Fault::new(&entry.span(), format!("shape has one of {}", names.join(", "))));
        };
        let sizes: &'static [usize] = match &*one.key {
            "box" | "ellipsoid" | "tube" => &[3],
            "cylinder" | "cone" => &[2],
            _ => &[1],
        };
        let kind = SHAPE.iter().map(|key| key.name).find(|name| *name == one.key).unwrap_or("box");
        Ok(Some(Shape { kind, sizes: Numbers::read(one.called(kind), &one.value, sizes, scope, 1.0)? }))
    }
    /// As a solid at a place.
    pub(super) fn solid(
        &self,
        values: &Values<f64>,
        at: Vector3<f64>,
        attitude: Rotation<f64>,
    ) -> Result<Solid, Fault> {
        Ok(Solid { kind: self.kind, sizes: self.sizes.at(values)?, at, attitude })
    }
    /// Its volume (or length), centre of mass, and inertia about it per unit of mass.
    fn measures<S: Scalar>(&self, values: &Values<S>) -> Result<(S, Vector3<S>, Vector3<S>), Fault> {
        let sizes = self.sizes.at(values)?;
        let hollow = self.kind == "tube";
        for (i, x) in sizes.iter().enumerate() {
            let least = if hollow && i == 1 { x.value() >= 0.0 } else { x.value() > 0.0 };
            if !least {
                let message =
                    format!("the sizes of a {} must be positive, got {}", self.kind, plain(x.value()));
                return Err(self.sizes.fault(message));
            }
        }
        let of = S::lift;
        let squares = |a: S, b: S| a * a + b * b;
        let x = |i: usize| sizes.get(i).copied().unwrap_or(S::one());
        let (a, b, c, zero) = (x(0), x(1), x(2), S::zero());
        Ok(match self.kind {
            "box" => {
                let twelfth = of(1.0 / 12.0);
                let moments = Vector3::new(squares(b, c), squares(a, c), squares(a, b)) * twelfth;
                (a * b * c, Vector3::zeros(), moments)
            }
            "sphere" => {
                (of(4.0 / 3.0 * PI) * a * a * a, Vector3::zeros(), Vector3::from_element(of(0.4) * a * a))
            }
            "ellipsoid" => {
                let moments = Vector3::new(squares(b, c), squares(a, c), squares(a, b)) * of(0.2);
                (of(4.0 / 3.0 * PI) * a * b * c, Vector3::zeros(), moments)
            }
            "cylinder" | "tube" => {
                let (inner, length) = if hollow { (b, c) } else { (zero, b) };
                if inner.value() >= a.value() {
                    return Err(self
                        .sizes
                        .fault("the inner radius of a tube must be less than the outer one"));
                }
                let both = squares(a, inner);
                let across = (of(3.0) * both + length * length) / of(12.0);
                let volume = of(PI) * (a * a - inner * inner) * length;
                (volume, Vector3::zeros(), Vector3::new(across, across, both * of(0.5)))
            }
            "cone" => {
                let across = of(3.0 / 80.0) * (of(4.0) * a * a + b * b);
                let volume = of(PI / 3.0) * a * a * b;
                (
                    volume,
                    Vector3::new(zero, zero, of(0.75) * b),
                    Vector3::new(across, across, of(0.3) * a * a),
                )
            }
            _ => {
                let across = a * a / of(12.0);
                (a, Vector3::new(a * of(0.5), zero, zero), Vector3::new(zero, across, across))
            }
        })
    }
    /// Mass, centre of mass and inertia, with a mass or a density.
    pub(super) fn masses<S: Scalar>(
        &self,
        mass: Option<S>,
        density: Option<&Number>,
        values: &Values<S>,
        need: &dyn Fn() -> Fault,
    ) -> Result<Masses<S>, Fault> {
        let (volume, center, moments) = self.measures(values)?;
        let mass = match (mass, density) {
            (Some(mass), _) => mass,
            (None, Some(density)) => {
                let rho = density.at(values)?;
                if rho.value() <= 0.0 {
                    let message = format!("density must be positive, got {}", plain(rho.value()));
                    return Err(values.blamed(density.fault(message), density.parameter()));
                }
                rho * volume
            }
            (None, None) => return Err(need()),
        };
        let inertia = Matrix3::from_diagonal(&(moments * mass));
        Ok(Masses { mass, center, inertia, solid: true })
    }
}

/// A part of a body.
#[derive(Clone, Debug)]
pub(super) struct Part {
    span: Span,
    shape: Option<Shape>,
    mass: Option<Number>,
    density: Option<Number>,
    inertia: Option<Numbers>,
    at: Option<Numbers>,
    attitude: Option<Attitude>,
}

impl Part {
    /// The parts of a body, in their order.
    pub(super) fn read_all(table: &Table<'_>, scope: &Scope<'_>) -> Result<Vec<Part>, Fault> {
        let Some(entry) = table.entry("parts") else { return Ok(Vec::new()) };
        let Kind::Array(list) = &entry.value.kind else {
            let message = format!("parts is a list of tables, not {}", entry.value.what());
            return Err(Fault::new(&entry.span(), message));
        };
        if list.is_empty() {
            return Err(Fault::new(&entry.span(), format!("{} has an empty list of parts", table.name)));
        }
        let mut parts = Vec::new();
        for (i, value) in list.iter().enumerate() {
            let Kind::Table(entries) = &value.kind else {
                let message = format!("a part is a table, not {}", value.what());
                return Err(Fault::new(&value.span(), message));
            };
            let name = format!("part {} of {}", i + 1, table.name).into();
            parts.push(Part::read(&Table { name, span: value.span(), entries }, scope)?);
        }
        Ok(parts)
    }
    fn read(table: &Table<'_>, scope: &Scope<'_>) -> Result<Part, Fault> {
        table.only(PART)?;
        for (one, other) in [("shape", "inertia"), ("mass", "density")] {
            table.either(one, other)?;
        }
        if let (Some(entry), None) = (table.entry("density"), table.entry("shape")) {
            return Err(Fault::new(&entry.key_span(), format!("{} has a density but no shape", table.name)));
        }
        Ok(Part {
            span: table.span.clone(),
            shape: Shape::read(table, scope)?,
            mass: table.number("mass", scope)?,
            density: table.number("density", scope)?,
            inertia: table.numbers("inertia", &[3, 6, 9], scope)?,
            at: table.numbers("at", &[3], scope)?,
            attitude: Attitude::read(table, scope)?,
        })
    }
    /// As a solid in the frame of the body; nothing of a point, or of one known by its inertia.
    pub(super) fn solid(&self, values: &Values<f64>) -> Result<Option<Solid>, Fault> {
        let Some(shape) = &self.shape else { return Ok(None) };
        let at = self.at.as_ref().map_or(Ok(Vector3::zeros()), |at| at.vector(values))?;
        let attitude = self.attitude.as_ref().map(|attitude| attitude.at(values)).transpose()?;
        shape.solid(values, at, attitude.map_or(Rotation::identity(), |(_, turn)| turn)).map(Some)
    }
    /// Mass, centre of mass and inertia in the frame of the body.
    fn masses<S: Scalar>(&self, values: &Values<S>) -> Result<Masses<S>, Fault> {
        let need = || Fault::new(&self.span, "a part needs `mass`, or a shape with `density`");
        let mass = self.mass.as_ref().map(|mass| mass.at(values)).transpose()?;
        if let (Some(number), Some(mass)) = (&self.mass, mass)
            && !(mass.value() > 0.0 && mass.value().is_finite())
        {
            let message = format!("the mass of a part must be positive, got {}", plain(mass.value()));
            return Err(values.blamed(number.fault(message), number.parameter()));
        }
        let own = match &self.shape {
            Some(shape) => shape.masses(mass, self.density.as_ref(), values, &need)?,
            // Without a shape and an inertia it is a point.
            None => Masses {
                mass: mass.ok_or_else(need)?,
                center: Vector3::zeros(),
                inertia: self
                    .inertia
                    .as_ref()
                    .map_or(Ok(Matrix3::zeros()), |inertia| inertia.tensor(values))?,
                solid: false,
            },
        };
        let at = self.at.as_ref().map_or(Ok(Vector3::zeros()), |at| at.vector(values))?;
        let Some(attitude) = &self.attitude else { return Ok(Masses { center: own.center + at, ..own }) };
        let turn = attitude.at(values)?.1.matrix();
        Ok(Masses { center: turn * own.center + at, inertia: turn * own.inertia * turn.transpose(), ..own })
    }
}

/// All parts as one body.
pub(super) fn composed<S: Scalar>(parts: &[Part], values: &Values<S>) -> Result<Masses<S>, Fault> {
    let parts = parts.iter().map(|part| part.masses(values)).collect::<Result<Vec<_>, _>>()?;
    let mass = parts.iter().fold(S::zero(), |sum, part| sum + part.mass);
    let moment = parts.iter().fold(Vector3::zeros(), |sum, part| sum + part.center * part.mass);
    let center = moment / mass;
    let inertia = parts
        .iter()
        .fold(Matrix3::zeros(), |sum, part| sum + part.inertia + steiner(part.mass, &(part.center - center)));
    Ok(Masses { mass, center, inertia, solid: false })
}
