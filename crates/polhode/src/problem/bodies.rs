//! From data to a system, in any scalar: the problems of one body.

use super::catalogue::{Kind, Problem};
use super::given::VariedData;
use super::model::ModelError;
use crate::body::{
    About, BauchauTrajectory, Drag, Dynamics, Frame, Gravity, Harmonic, InertiaError, Load, Loads, Moment,
    PrescribedMotion, PrescribedRotation, RotaryInertia, RotationalSpring, SoftWall, SpatialInertia, State,
    TopGravity, rates,
};
use crate::group::{Group, Rotation, Se3, So3};
use crate::lookup::plain;
use crate::multibody::{Held, Rigid, System};
use crate::reference::SteadyPrecession;
use crate::scalar::{Mask, Real, Scalar};
use nalgebra::{Matrix3, Vector3};

/// A problem as a system, with what a reference solution wants unrounded.
#[derive(Clone, Debug)]
pub(super) struct Built<S: Real> {
    pub(super) system: System<S>,
    /// Rotation vector of the initial attitude of one body, where it was given so.
    pub(super) psi: Option<Vector3<S>>,
    /// The motion, where the start was made for it.
    pub(super) steady: Option<SteadyPrecession>,
}

impl<S: Real> From<System<S>> for Built<S> {
    fn from(system: System<S>) -> Self {
        Built { system, psi: None, steady: None }
    }
}

impl Problem {
    /// The system in any scalar and with a change of each parameter (by its number in [`Problem::parameters`]) added to its
    /// value. Initial values follow the changes; of numbers with derivatives the values are checked.
    ///
    /// ```
    /// use polhode::{problem::Problem, scalar::Dual};
    /// let linkage = Problem::named("four-bar")?;
    /// let crank = linkage.find_parameters(&["crank"])?[0];
    /// // Where the bodies are at the start, and how that depends on the length of the crank.
    /// let change = |i| Dual::<f64, 1> { re: 0.0, eps: [if i == crank { 1.0 } else { 0.0 }] };
    /// let position = linkage.system(&change)?.bodies()[0].position;
    /// assert!((position.y.re - 0.15).abs() < 1e-15 && (position.y.eps[0] - 0.5).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn system<S: Scalar>(&self, change: &dyn Fn(usize) -> S) -> Result<System<S>, ModelError> {
        Ok(self.built(change)?.system)
    }
    pub(super) fn built<S: Scalar>(&self, change: &dyn Fn(usize) -> S) -> Result<Built<S>, ModelError> {
        let given = VariedData::new(self, change);
        given.complete(given.built())
    }
}

impl<S: Scalar> VariedData<'_, S> {
    fn built(&self) -> Result<Built<S>, ModelError> {
        match self.problem.kind {
            Kind::HeavyTop => self.heavy_top(),
            Kind::Cone => self.cone(),
            Kind::FreeBody => self.free_body(),
            Kind::PrescribedRotation => self.prescribed_rotation(),
            Kind::PrescribedMotion => self.prescribed_motion(),
            _ => match self.mechanism()? {
                Some(system) => Ok(system.into()),
                None => self.turning_body(),
            },
        }
    }

    /// A system of this body alone.
    fn alone(&self, gravity: Vector3<S>, body: Rigid<S>) -> Result<System<S>, ModelError> {
        let vectors =
            [("omega_body", &body.omega_body), ("position", &body.position), ("velocity", &body.velocity)];
        for (name, v) in vectors {
            let not_finite = v.iter().position(|x| !x.is_finite().all());
            if let Some(axis) = not_finite.and_then(|i| ["x", "y", "z"].get(i)) {
                let reason = format!("{name}_{axis} is not finite at the start; use smaller numbers");
                return Err(self.refused("data", reason));
            }
        }
        let mut system = System::under(gravity);
        system.body("body", body).map_err(|error| self.refused("data", error.to_string()))?;
        Ok(system)
    }

    /// A body about a fixed point whose mass is not known.
    fn pivoted(
        inertia: RotaryInertia<S>,
        attitude: Rotation<S>,
        omega_body: Vector3<S>,
        momentum: Option<Vector3<S>>,
        loads: Loads<S>,
    ) -> Rigid<S> {
        Rigid {
            name: String::new(),
            mass: S::one(),
            center: Vector3::zeros(),
            inertia,
            position: Vector3::zeros(),
            attitude,
            velocity: Vector3::zeros(),
            omega_body: momentum.map_or(omega_body, |momentum| So3::velocity(&inertia, &momentum)),
            loads,
            held: Held::Pivot(momentum),
        }
    }

    fn rotary(&self, error: InertiaError) -> ModelError {
        self.refused("inertia", error.to_string())
    }
    fn spatial(&self, error: InertiaError) -> ModelError {
        let datum = if matches!(error, InertiaError::Mass { .. }) { "mass" } else { "inertia" };
        self.refused(datum, error.to_string())
    }

    /// A body about a fixed point that is made to follow a motion.
    fn prescribed_rotation(&self) -> Result<Built<S>, ModelError> {
        let inertia = RotaryInertia::positive(self.tensor("inertia")).map_err(|error| self.rotary(error))?;
        let load = PrescribedRotation::new(inertia, self.winding(), About::Origin);
        let State { pose, momentum } = load.state(S::zero());
        let loads = Loads::none().with(load);
        let body = Self::pivoted(inertia, pose, Vector3::zeros(), Some(momentum), loads);
        Ok(self.alone(Vector3::zeros(), body)?.into())
    }

    /// A free body that is made to follow a motion.
    fn prescribed_motion(&self) -> Result<Built<S>, ModelError> {
        let (mass, center) = (self.number("mass"), self.three("center"));
        let inertia = SpatialInertia::mass_matrix(mass, center, self.tensor("inertia"))
            .map_err(|error| self.spatial(error))?;
        let about = match self.choice("moments_about") {
            0.0 => About::Origin,
            1.0 => About::ReferencePoint,
            x => return Err(self.refused("moments_about", format!("it is 0 or 1, not {}", plain(x)))),
        };
        let load = PrescribedMotion::new(inertia, self.winding(), about);
        let (pose, velocity, _) = rates::<Se3, S>(&self.winding(), S::zero());
        let body = Rigid {
            name: String::new(),
            mass,
            center,
            inertia: RotaryInertia::unchecked(*inertia.about_center()),
            position: pose.position,
            attitude: pose.attitude,
            velocity: pose.attitude.rotate(&Se3::linear(&velocity)),
            omega_body: Se3::angular(&velocity),
            loads: Loads::none().with(load),
            held: Held::Free,
        };
        Ok(self.alone(Vector3::zeros(), body)?.into())
    }

    /// A body in flight.
    fn free_body(&self) -> Result<Built<S>, ModelError> {
        let (psi, attitude) = self.turned("attitude")?;
        let (mass, center) = (self.number("mass"), self.three("center"));
        let inertia =
            SpatialInertia::new(mass, center, self.tensor("inertia")).map_err(|error| self.spatial(error))?;
        let body = Rigid {
            name: String::new(),
            mass,
            center,
            inertia: RotaryInertia::unchecked(*inertia.about_center()),
            position: self.three("position"),
            attitude,
            velocity: self.three("velocity"),
            omega_body: self.three("omega_body"),
            loads: Loads::none(),
            held: Held::Free,
        };
        Ok(Built { psi, ..self.alone(self.three("gravity"), body)?.into() })
    }

    /// A body about a fixed point.
    fn turning_body(&self) -> Result<Built<S>, ModelError> {
        let (psi, attitude) = self.turned("attitude")?;
        let omega = self.three("omega_body");
        let inertia =
            RotaryInertia::about_fixed_point(self.tensor("inertia")).map_err(|error| self.rotary(error))?;
        let loads = self.loads();
        if self.problem.kind == Kind::SoftWall {
            let at = So3::kinematics(S::zero(), &attitude, &omega);
            if loads.potential(&at).is_none_or(|energy: S| !energy.is_finite().all()) {
                let reason = "the start lies on the singularity s = offset + R33 = 0".into();
                return Err(self.refused("offset", reason));
            }
        }
        let body = Self::pivoted(inertia, attitude, omega, self.optional("momentum_body"), loads);
        Ok(Built { psi, ..self.alone(Vector3::zeros(), body)?.into() })
    }

    fn winding(&self) -> BauchauTrajectory<S> {
        // Of a body on a fixed point only the rotation is there.
        let frequency = match self.problem.kind {
            Kind::PrescribedRotation => S::zero(),
            _ => self.number("frequency"),
        };
        BauchauTrajectory { frequency, turn_rate: self.number("turn_rate") }
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

    /// A solid cone that stands on its tip, with the spin that keeps its tilt, and its exact motion.
    fn cone(&self) -> Result<Built<S>, ModelError> {
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
        // A φ'² cos θ - C Ω₃ φ' + mgl = 0, with the values as the exact motion has rounded them.
        let (sin, cos) = tilt.sin_cos();
        let spin = (across * precession * cos + mgl / precession) / along;
        let omega = Vector3::new(S::zero(), sin * precession, spin);
        let omega = omega.zip_map(&steady.omega_body(), |x, known| x + of(known - x.largest()));
        let psi = Vector3::new(tilt, S::zero(), S::zero());
        let (attitude, loads) =
            (Rotation::from_rotation_vector(&psi), Loads::none().with(TopGravity { mgl }));
        let body = Self::pivoted(inertia, attitude, omega, None, loads);
        let system = self.alone(Vector3::zeros(), body)?;
        Ok(Built { system, psi: Some(psi), steady: Some(steady) })
    }
}
