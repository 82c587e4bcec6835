//! From data to a body with its start, on the group where it moves, in any scalar.

use super::catalogue::{Kind, Problem};
use super::given::Given;
use super::model::ModelError;
use crate::body::{
    About, Body, Drag, Frame, Gravity, Harmonic, InertiaError, InverseDynamics, Loads, Moment, Path,
    PrescribedMotion, PrescribedRotation, RotaryInertia, RotationalSpring, SoftWall, SpatialInertia,
    StandardLoad, State, TopGravity, Winding,
};
use crate::group::{Group, Rotation, Se3, So3};
use crate::lookup::plain;
use crate::multibody::System;
use crate::reference::SteadyPrecession;
use crate::run::{Moving, Snapshot};
use crate::scalar::{Mask, Real, Scalar};
use nalgebra::{Matrix3, Vector3};

/// The start of a body: its state and the numbers it was made from, which a reference solution wants unrounded.
#[derive(Clone, Debug)]
pub(crate) struct Case<S: Real, G: Group> {
    pub(crate) body: Body<S, G, Loads<S>>,
    pub(crate) start: State<S, G>,
    /// Rotation vector, where the attitude was given so.
    pub(super) psi: Option<Vector3<S>>,
    /// Angular velocity, where it was given and not the momentum.
    pub(super) omega: Option<Vector3<S>>,
    /// Mass and centre of mass of a body on a fixed point, where they are known.
    pub(super) carried: Option<Carried<S>>,
}

/// Mass and centre of mass, in body axes from the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried<S> {
    pub(super) mass: S,
    pub(super) center: Vector3<S>,
}

/// A problem on its group.
#[derive(Clone, Debug)]
pub(crate) enum Cases<S: Real> {
    /// A body about a fixed point.
    Rotation(Case<S, So3>),
    /// A body free to move.
    Motion(Case<S, Se3>),
    /// Bodies and joints.
    System(System<S>),
}

impl Problem {
    /// The body and its start with a change of each parameter (by its number in [`Problem::parameters`]), which is added
    /// to its value. Of numbers with derivatives the values are checked.
    pub(crate) fn cases<S: Scalar>(&self, change: &dyn Fn(usize) -> S) -> Result<Cases<S>, ModelError> {
        let given = Given::new(self, change);
        given.complete(given.cases())
    }
    /// What the methods for systems run, in any scalar and with a change of each parameter (by its number in
    /// [`Problem::parameters`]) added to its value: the system of a problem that is one, a body about a fixed point on a
    /// joint, and nothing for a free one. Initial values follow the changes.
    ///
    /// ```
    /// use polhode::{problem::Problem, scalar::Dual};
    /// let linkage = Problem::named("four-bar")?;
    /// let crank = linkage.find_parameters(&["crank"])?[0];
    /// // Where the bodies are at the start, and how that depends on the length of the crank.
    /// let change = |i| Dual::<f64, 1> { re: 0.0, eps: [if i == crank { 1.0 } else { 0.0 }] };
    /// let system = linkage.jointed_system(&change)?.ok_or("a system")?;
    /// let position = system.bodies()[0].position;
    /// assert!((position.y.re - 0.15).abs() < 1e-15 && (position.y.eps[0] - 0.5).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jointed_system<S: Scalar>(
        &self,
        change: &dyn Fn(usize) -> S,
    ) -> Result<Option<System<S>>, ModelError> {
        let given = Given::new(self, change);
        if let Some(system) = given.complete(given.system())? {
            return Ok(Some(system));
        }
        Ok(match given.complete(given.cases())? {
            Cases::Rotation(case) => {
                Some(case.posed().map_err(|error| given.refused("data", error.to_string()))?)
            }
            Cases::System(system) => Some(system),
            Cases::Motion(_) => None,
        })
    }
}

impl<S: Scalar> Given<'_, S> {
    fn cases(&self) -> Result<Cases<S>, ModelError> {
        let spatial = |error: InertiaError| {
            let datum = if matches!(error, InertiaError::Mass { .. }) { "mass" } else { "inertia" };
            self.refused(datum, error.to_string())
        };
        let rotary = |error: InertiaError| self.refused("inertia", error.to_string());
        let kind = self.problem.kind;
        match kind {
            Kind::PrescribedRotation => {
                let inertia = RotaryInertia::positive(self.tensor("inertia")).map_err(rotary)?;
                let load = PrescribedRotation::new(inertia, self.winding(), About::Origin);
                return Ok(Cases::Rotation(Case::following(inertia, load)));
            }
            Kind::PrescribedMotion => {
                let (mass, center) = (self.number("mass"), self.three("center"));
                let inertia =
                    SpatialInertia::mass_matrix(mass, center, self.tensor("inertia")).map_err(spatial)?;
                let about = match self.choice("moments_about") {
                    0.0 => About::Origin,
                    1.0 => About::ReferencePoint,
                    x => return Err(self.refused("moments_about", format!("it is 0 or 1, not {}", plain(x)))),
                };
                let load = PrescribedMotion::new(inertia, self.winding(), about);
                return Ok(Cases::Motion(Case::following(inertia, load)));
            }
            Kind::Cone => return Ok(Cases::Rotation(self.cone()?.0)),
            Kind::HeavyTop => return Ok(Cases::Rotation(self.about_tip()?)),
            _ => {}
        }
        if let Some(system) = self.system()? {
            return Ok(Cases::System(system));
        }
        let (psi, attitude) = self.turned("attitude")?;
        let omega = self.three("omega_body");
        if kind == Kind::FreeBody {
            let (center, mass) = (self.three("center"), self.number("mass"));
            let inertia = SpatialInertia::new(mass, center, self.tensor("inertia")).map_err(spatial)?;
            let gravity = Gravity { weight_space: self.three("gravity") * mass, center_body: center };
            let body = Body::<S, Se3, _> { inertia, load: Loads::none().with(gravity) };
            let velocity = Se3::vector(&attitude.unrotate(&self.three("velocity")), &omega);
            let start = body.state(Se3::pose(&attitude, &self.three("position")), &velocity);
            return Ok(Cases::Motion(Case { body, start, psi, omega: Some(omega), carried: None }));
        }
        let inertia = RotaryInertia::about_fixed_point(self.tensor("inertia")).map_err(rotary)?;
        let body = Body::<S, So3, _> { inertia, load: self.loads() };
        let (start, omega) = match self.optional("momentum_body") {
            None => (body.state(attitude, &omega), Some(omega)),
            Some(momentum) => (State { pose: attitude, momentum }, None),
        };
        if kind == Kind::SoftWall
            && body.energy(&start, S::zero()).is_none_or(|energy| !energy.is_finite().all())
        {
            let reason = "the start lies on the singularity s = offset + R33 = 0".into();
            return Err(self.refused("offset", reason));
        }
        Ok(Cases::Rotation(Case { body, start, psi, omega, carried: None }))
    }

    fn winding(&self) -> Winding<S> {
        // Of a body on a fixed point only the rotation is there.
        let frequency = match self.problem.kind {
            Kind::PrescribedRotation => S::zero(),
            _ => self.number("frequency"),
        };
        Winding { frequency, turn_rate: self.number("turn_rate") }
    }

    /// What acts on a body about a fixed point.
    fn loads(&self) -> Loads<S> {
        match self.problem.kind {
            Kind::FreeRotation
            | Kind::FreeBody
            | Kind::Cone
            | Kind::PrescribedMotion
            | Kind::PrescribedRotation
            | Kind::HeavyTop
            | Kind::Pendulum
            | Kind::DoublePendulum
            | Kind::Chain
            | Kind::FourBar
            | Kind::SliderCrank
            | Kind::Gimbals => Loads::none(),
            Kind::Top => Loads::none().with(TopGravity { mgl: self.number("mgl") }),
            Kind::SoftWall => Loads::none().with(SoftWall {
                coulomb: self.number("coulomb"),
                wall: self.number("wall"),
                offset: self.number("offset"),
            }),
            Kind::Spring => Loads::none().with(RotationalSpring { stiffness: self.three("stiffness") }),
            Kind::Driven => {
                let (frequency, phase) = (self.number("drive_frequency"), self.number("drive_phase"));
                let drive =
                    |frame, name: &str| Harmonic { frame, amplitude: self.three(name), frequency, phase };
                let steady = |frame, name: &str| Moment { frame, value: self.three(name) };
                Loads::none()
                    .with(Gravity { weight_space: self.three("weight"), center_body: self.three("center") })
                    .with(steady(Frame::Space, "moment_space"))
                    .with(steady(Frame::Body, "moment_body"))
                    .with(drive(Frame::Space, "drive_space"))
                    .with(drive(Frame::Body, "drive_body"))
                    .with(Drag { coefficient: self.number("drag") })
            }
        }
    }

    /// The heavy top as a body about its fixed point.
    fn about_tip(&self) -> Result<Case<S, So3>, ModelError> {
        let (psi, attitude) = self.turned("attitude")?;
        let (mass, center, omega) = (self.number("mass"), self.three("center"), self.three("omega_body"));
        let inertia = RotaryInertia::from_center_of_mass(mass, center, self.tensor("inertia"));
        let inertia = inertia.map_err(|error| self.refused("inertia", error.to_string()))?;
        let weight = Gravity { weight_space: self.three("gravity") * mass, center_body: center };
        let body = Body::<S, So3, _> { inertia, load: Loads::none().with(weight) };
        let start = body.state(attitude, &omega);
        Ok(Case { body, start, psi, omega: Some(omega), carried: Some(Carried { mass, center }) })
    }

    /// A solid cone that stands on its tip, with the spin that keeps its tilt, and its exact motion.
    pub(super) fn cone(&self) -> Result<(Case<S, So3>, SteadyPrecession), ModelError> {
        let wrong = |datum, reason: &str| self.refused(datum, reason.into());
        let of = S::lift;
        self.positive(&["height", "density"])?;
        let [height, density, gravity] = ["height", "density", "gravity"].map(|name| self.number(name));
        let [tilt, precession] = ["tilt", "precession"].map(|name| self.number(name));
        if tilt.largest().abs() > core::f64::consts::PI {
            let reason = format!("it must be an angle from -pi to pi, got {}", plain(tilt.largest()));
            return Err(wrong("tilt", &reason));
        }
        if precession.largest() == 0.0 {
            return Err(wrong("precession", "it must not be zero: no spin keeps the axis of a top still"));
        }
        let radius = height / of(2.0);
        let mass = density * of(core::f64::consts::PI) * radius * radius * height / of(3.0);
        let center = of(0.75) * height;
        let across =
            of(3.0 / 80.0) * mass * (of(4.0) * radius * radius + height * height) + mass * center * center;
        let along = of(0.3) * mass * radius * radius;
        let moments = Matrix3::from_diagonal(&Vector3::new(across, across, along));
        let inertia = RotaryInertia::about_fixed_point(moments).map_err(|_| {
            wrong("height", "with this density its moments of inertia are beyond the range of f64")
        })?;
        let mgl = mass * gravity * center;
        let [a, c, weight, theta, rate] = [across, along, mgl, tilt, precession].map(Real::largest);
        let steady =
            SteadyPrecession::new(a, c, weight, theta, rate).map_err(|why| wrong("precession", &why))?;
        let body = Body::<S, So3, _> { inertia, load: Loads::none().with(TopGravity { mgl }) };
        // A φ'² cos θ - C Ω₃ φ' + mgl = 0, with the values as the exact motion has rounded them.
        let (sin, cos) = tilt.sin_cos();
        let spin = (across * precession * cos + mgl / precession) / along;
        let omega = Vector3::new(S::zero(), sin * precession, spin);
        let omega = omega.zip_map(&steady.omega_body(), |x, known| x + of(known - x.largest()));
        let psi = Vector3::new(tilt, S::zero(), S::zero());
        let start = body.state(Rotation::from_rotation_vector(&psi), &omega);
        Ok((Case { body, start, psi: Some(psi), omega: Some(omega), carried: None }, steady))
    }
}

impl<S: Real, G: Group> Case<S, G> {
    /// A body that follows a motion, from where the motion is at t = 0.
    fn following<M: Path<S>>(inertia: G::Inertia<S>, load: InverseDynamics<S, G, M>) -> Self
    where
        InverseDynamics<S, G, M>: Into<StandardLoad<S>>,
    {
        let start = load.state(S::zero());
        let body = Body { inertia, load: Loads::none().with(load) };
        Case { body, start, psi: None, omega: None, carried: None }
    }
    /// The state in plain numbers; a body on a fixed point whose centre of mass is known has the position of that.
    pub(crate) fn snapshot(&self, state: &State<S, G>, t: S) -> Snapshot<S> {
        let mut snapshot = Snapshot::of(&self.body, state, t);
        if let Some(Carried { mass, center }) = self.carried {
            let (attitude, omega) = (snapshot.attitude, snapshot.omega_body);
            let velocity = attitude.rotate(&omega.cross(&center));
            let turning = snapshot.omega_rate.cross(&center) + omega.cross(&omega.cross(&center));
            snapshot.moving = Some(Moving {
                position: attitude.rotate(&center),
                velocity,
                acceleration: attitude.rotate(&turning),
                linear_momentum_space: velocity * mass,
            });
        }
        snapshot
    }
}
