//! The systems among the problems: the heavy top as a body on a joint, and a small library of mechanisms.
//!
//! None of them is redundant: a planar four-bar with four revolute joints forbids three motions twice, so that one joint is
//! spherical and one universal here, and likewise in the slider-crank.

use super::bodies::Built;
use super::catalogue::Kind;
use super::given::VariedData;
use super::model::ModelError;
use crate::body::{Force, Frame, InertiaError};
use crate::group::Rotation;
use crate::lookup::plain;
use crate::multibody::{GROUND, JointKind, Rigid, System, SystemError};
use crate::scalar::{Mask, Real, Scalar};
use core::f64::consts::FRAC_PI_2;
use nalgebra::{Matrix3, Vector3};

/// The longest chain that is not a mistake.
const LONGEST: f64 = 1e5;

/// The square of a distance from a flat position, relative to a length of the linkage, that counts as flat.
const FLAT: f64 = 1e-12;

/// A rotation by this angle about an axis.
fn about<S: Real>(axis: Vector3<S>, angle: S) -> Rotation<S> {
    Rotation::from_rotation_vector(&(axis * angle))
}

/// The frame whose third axis is the y axis.
fn along_y<S: Real>() -> Rotation<S> {
    about(Vector3::x(), S::lift(-FRAC_PI_2))
}

/// A slender bar of this mass and length along its first axis.
fn bar<S: Scalar>(mass: S, length: S) -> Result<Rigid<S>, InertiaError> {
    let across = mass * length * length / S::lift(12.0);
    Rigid::new(mass, Matrix3::from_diagonal(&Vector3::new(S::lift(0.01) * across, across, across)))
}

/// Where a bar in the plane of x and y begins, its angle, and their rates.
struct Line<S> {
    from: Vector3<S>,
    angle: S,
    rate: S,
    velocity: Vector3<S>,
}

/// A point in the plane of x and y.
fn plane<S: Real>(x: S, y: S) -> Vector3<S> {
    Vector3::new(x, y, S::zero())
}

/// A vector along x.
fn along_x<S: Real>(x: S) -> Vector3<S> {
    plane(x, S::zero())
}

impl<S: Scalar> VariedData<'_, S> {
    fn rigid(&self, mass: S, inertia: &'static str) -> Result<Rigid<S>, ModelError> {
        Rigid::new(mass, self.tensor(inertia)).map_err(|error| {
            let datum = if matches!(error, InertiaError::Mass { .. }) { "mass" } else { inertia };
            self.refused(datum, error.to_string())
        })
    }

    /// The bodies and joints of a problem that has some.
    pub(super) fn mechanism(&self) -> Result<Option<System<S>>, ModelError> {
        let built = match self.problem.kind {
            Kind::Pendulum => self.pendulum(),
            Kind::DoublePendulum => self.double_pendulum(),
            Kind::Chain => self.chain(),
            Kind::FourBar => self.four_bar(),
            Kind::SliderCrank => self.slider_crank(),
            Kind::Gimbals => self.gimbals(),
            _ => return Ok(None),
        };
        built.map(Some)
    }
    /// What the elements of a mechanism refuse, told of the problem.
    fn wrong(&self) -> impl Fn(SystemError) -> ModelError + '_ {
        |error| self.refused("data", error.to_string())
    }
    /// Adds a bar in the plane of x and y, with frames at its ends.
    fn bar(
        &self,
        system: &mut System<S>,
        name: &str,
        mass: S,
        length: S,
        Line { from, angle, rate, velocity }: Line<S>,
    ) -> Result<(), ModelError> {
        let wrong = self.wrong();
        let body = bar(mass, length).map_err(|error| self.refused("mass", error.to_string()))?;
        let (sin, cos) = angle.sin_cos();
        let half = plane(cos, sin) * (S::lift(0.5) * length);
        let turn = Vector3::z() * rate;
        let body =
            body.at(from + half, about(Vector3::z(), angle)).moving(velocity + turn.cross(&half), turn);
        system.body(name, body).map_err(&wrong)?;
        let half = along_x(S::lift(0.5) * length);
        system.frame(&format!("{name}.begin"), name, -half, Rotation::identity()).map_err(&wrong)?;
        system.frame(&format!("{name}.end"), name, half, Rotation::identity()).map_err(&wrong)
    }

    /// The body of Brüls & Eberhard's section 6: centre of mass coordinates and a spherical joint at the tip.
    pub(super) fn heavy_top(&self) -> Result<Built<S>, ModelError> {
        let wrong = self.wrong();
        let (center, omega) = (self.three("center"), self.three("omega_body"));
        let (psi, attitude) = self.turned("attitude")?;
        let body = self.rigid(self.number("mass"), "inertia")?.at(attitude.rotate(&center), attitude);
        let mut system = System::under(self.three("gravity"));
        let velocity = attitude.rotate(&omega.cross(&center));
        system.body("top", body.moving(velocity, omega)).map_err(&wrong)?;
        system.frame("tip", "top", -center, Rotation::identity()).map_err(&wrong)?;
        system.joint("pivot", JointKind::Spherical, GROUND, "tip").map_err(&wrong)?;
        Ok(Built { psi, ..system.into() })
    }

    /// A body that swings about the y axis; the angle is from the downward vertical.
    fn pendulum(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        self.positive(&["length"])?;
        let (length, angle, rate) = (self.number("length"), self.number("angle"), self.number("rate"));
        let arm = Vector3::new(S::zero(), S::zero(), -length);
        let attitude = about(Vector3::y(), -angle);
        let omega = Vector3::new(S::zero(), -rate, S::zero());
        let body = self.rigid(self.number("mass"), "inertia")?.at(attitude.rotate(&arm), attitude);
        let mut system = System::under(self.three("gravity"));
        system.body("bob", body.moving(attitude.rotate(&omega.cross(&arm)), omega)).map_err(&wrong)?;
        system.frame("hook", GROUND, Vector3::zeros(), along_y()).map_err(&wrong)?;
        system.frame("eye", "bob", -arm, along_y()).map_err(&wrong)?;
        system.joint("pivot", JointKind::Revolute, "hook", "eye").map_err(&wrong)?;
        Ok(system)
    }

    /// Two bodies on spherical joints, each along its first axis.
    fn double_pendulum(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        let (mass, center) = (self.list::<2>("mass"), self.list::<2>("center"));
        let reach = self.number("length");
        let (upper, lower) = (self.rotation("attitude_upper")?, self.rotation("attitude_lower")?);
        let (o1, o2) = (self.three("omega_upper"), self.three("omega_lower"));
        let (c1, c2, tip) = (along_x(center[0]), along_x(center[1]), along_x(reach));
        let elbow = upper.rotate(&tip);
        let elbow_velocity = upper.rotate(&o1.cross(&tip));
        let first = self.rigid(mass[0], "inertia_upper")?.at(upper.rotate(&c1), upper);
        let second = self.rigid(mass[1], "inertia_lower")?.at(elbow + lower.rotate(&c2), lower);
        let mut system = System::under(self.three("gravity"));
        system.body("upper", first.moving(upper.rotate(&o1.cross(&c1)), o1)).map_err(&wrong)?;
        let velocity = elbow_velocity + lower.rotate(&o2.cross(&c2));
        system.body("lower", second.moving(velocity, o2)).map_err(&wrong)?;
        let mut frame =
            |name, body, point| system.frame(name, body, point, Rotation::identity()).map_err(&wrong);
        frame("upper.top", "upper", -c1)?;
        frame("upper.end", "upper", tip - c1)?;
        frame("lower.top", "lower", -c2)?;
        system.joint("shoulder", JointKind::Spherical, GROUND, "upper.top").map_err(&wrong)?;
        system.joint("elbow", JointKind::Spherical, "upper.end", "lower.top").map_err(&wrong)?;
        Ok(system)
    }

    /// A straight chain along the x axis that turns about the vertical.
    fn chain(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        self.positive(&["length"])?;
        let (bodies, length, spin) = (self.choice("bodies"), self.number("length"), self.number("spin"));
        if !(1.0..=LONGEST).contains(&bodies) || bodies.fract() != 0.0 {
            let reason = format!("it must be a whole number from 1 to {LONGEST}, got {}", plain(bodies));
            return Err(self.refused("bodies", reason));
        }
        let kind = match self.choice("joint") {
            0.0 => JointKind::Spherical,
            1.0 => JointKind::Revolute,
            x => return Err(self.refused("joint", format!("it is 0 or 1, not {}", plain(x)))),
        };
        let mut system = System::under(self.three("gravity"));
        system.frame("hook", GROUND, Vector3::zeros(), along_y()).map_err(&wrong)?;
        let (omega, half) = (Vector3::z() * spin, along_x(S::lift(0.5) * length));
        let mut above = String::from("hook");
        for i in 0..bodies as usize {
            let center = half + along_x(length * S::lift(i as f64));
            let body = self.rigid(self.number("mass"), "inertia")?.at(center, Rotation::identity());
            let name = format!("link-{}", i + 1);
            system.body(&name, body.moving(omega.cross(&center), omega)).map_err(&wrong)?;
            let (begin, end) = (format!("{name}.begin"), format!("{name}.end"));
            system.frame(&begin, &name, -half, along_y()).map_err(&wrong)?;
            system.frame(&end, &name, half, along_y()).map_err(&wrong)?;
            system.joint(&format!("joint-{}", i + 1), kind.clone(), &above, &begin).map_err(&wrong)?;
            above = end;
        }
        Ok(system)
    }

    /// Crank, coupler and rocker in the plane of x and y, the crank about the origin, the rocker about (ground, 0).
    fn four_bar(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        self.positive(&["crank", "coupler", "rocker", "ground", "mass"])?;
        let [crank, coupler, rocker, ground] =
            ["crank", "coupler", "rocker", "ground"].map(|n| self.number(n));
        let (angle, rate, mass) = (self.number("angle"), self.number("rate"), self.list::<3>("mass"));
        let (sin, cos) = angle.sin_cos();
        let (pin, pivot) = (plane(crank * cos, crank * sin), along_x(ground));
        // The other pin is where two circles meet, above the line from the first pin to the pivot.
        let line = pivot - pin;
        let distance = line.dot(&line).sqrt();
        let along = (coupler * coupler - rocker * rocker + distance * distance) / (distance + distance);
        let square = coupler * coupler - along * along;
        if square.largest().abs() <= FLAT * (coupler * coupler).largest() {
            let angle = plain(angle.largest());
            let reason = format!(
                "with the crank at {angle} rad coupler and rocker lie in one line, from where the linkage can go on in two ways; \
                 choose another angle"
            );
            return Err(self.refused("angle", reason));
        }
        if square.largest() <= 0.0 {
            let [angle, distance, coupler, rocker] =
                [angle, distance, coupler, rocker].map(|x| plain(x.largest()));
            let reason = format!(
                "with the crank at {angle} rad its pin is {distance} m from the pivot of the rocker, which coupler \
                 ({coupler} m) and rocker ({rocker} m) do not reach"
            );
            return Err(self.refused("coupler", reason));
        }
        let unit = line / distance;
        let joint = pin + unit * along + Vector3::z().cross(&unit) * square.sqrt();
        let turned = |from: Vector3<S>, to: Vector3<S>| (to.y - from.y).atan2(to.x - from.x);
        let (phi, psi) = (turned(pin, joint), turned(pivot, joint));
        // Both pins move across their bars: rates of coupler and rocker from the velocity of the common one.
        let across = |bar: Vector3<S>| Vector3::z().cross(&bar);
        let (v, b, c) = (across(pin) * rate, across(joint - pin), across(joint - pivot));
        let determinant = b.x * c.y - b.y * c.x;
        let (phi_rate, psi_rate) =
            ((c.x * v.y - c.y * v.x) / determinant, (b.x * v.y - b.y * v.x) / determinant);
        if !phi_rate.is_finite().and(psi_rate.is_finite()).all() {
            return Err(
                self.refused("angle", "coupler and rocker are in line there, the linkage can jam".into())
            );
        }
        let mut system = System::under(self.three("gravity"));
        let still = Vector3::zeros();
        self.bar(&mut system, "crank", mass[0], crank, Line { from: still, angle, rate, velocity: still })?;
        let line = Line { from: pin, angle: phi, rate: phi_rate, velocity: v };
        self.bar(&mut system, "coupler", mass[1], coupler, line)?;
        let line = Line { from: pivot, angle: psi, rate: psi_rate, velocity: still };
        self.bar(&mut system, "rocker", mass[2], rocker, line)?;
        // The second arm of the universal joint lies across the rocker.
        let quarter = about(Vector3::z(), S::lift(FRAC_PI_2));
        let half = along_x(S::lift(0.5) * rocker);
        system.frame("rocker.foot", "rocker", -half, quarter).map_err(&wrong)?;
        system.frame("rocker.pivot", GROUND, pivot, Rotation::identity()).map_err(&wrong)?;
        let mut join = |name, kind, a, b| system.joint(name, kind, a, b).map_err(&wrong);
        join("crank-pivot", JointKind::Revolute, GROUND, "crank.begin")?;
        join("crank-pin", JointKind::Revolute, "crank.end", "coupler.begin")?;
        join("coupler-pin", JointKind::Spherical, "coupler.end", "rocker.end")?;
        join("rocker-pivot", JointKind::Universal, "rocker.pivot", "rocker.foot")?;
        Ok(system)
    }

    /// Crank about the origin in the plane of x and y, a rod, and a slider on the x axis.
    fn slider_crank(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        self.positive(&["crank", "rod", "mass"])?;
        let (crank, rod) = (self.number("crank"), self.number("rod"));
        let (angle, rate, mass) = (self.number("angle"), self.number("rate"), self.list::<3>("mass"));
        let (sin, cos) = angle.sin_cos();
        let pin = plane(crank * cos, crank * sin);
        let square = rod * rod - pin.y * pin.y;
        if square.largest().abs() <= FLAT * (rod * rod).largest() {
            let angle = plain(angle.largest());
            let reason = format!(
                "with the crank at {angle} rad the rod stands across the rail, a dead point; choose another angle"
            );
            return Err(self.refused("angle", reason));
        }
        if square.largest() <= 0.0 {
            let rod = plain(rod.largest());
            let reason = format!(
                "the rod ({rod} m) does not reach from the pin of the crank, {} m off the line, to the slider",
                plain(pin.y.largest().abs())
            );
            return Err(self.refused("rod", reason));
        }
        let slider = along_x(pin.x + square.sqrt());
        let across = |bar: Vector3<S>| Vector3::z().cross(&bar);
        let v = across(pin) * rate;
        let reach = slider - pin;
        // The slider does not leave its line.
        let rod_rate = -v.y / across(reach).y;
        let tilt = reach.y.atan2(reach.x);
        let mut system = System::under(self.three("gravity"));
        let still = Vector3::zeros();
        self.bar(&mut system, "crank", mass[0], crank, Line { from: still, angle, rate, velocity: still })?;
        let line = Line { from: pin, angle: tilt, rate: rod_rate, velocity: v };
        self.bar(&mut system, "rod", mass[1], rod, line)?;
        // The second arm of the universal joint lies across the rod.
        let half = along_x(S::lift(0.5) * rod);
        system.frame("rod.arm", "rod", half, about(Vector3::z(), S::lift(FRAC_PI_2))).map_err(&wrong)?;
        let block =
            bar(mass[2], S::lift(0.2) * rod).map_err(|error| self.refused("mass", error.to_string()))?;
        let block = block.at(slider, Rotation::identity());
        let velocity = v + across(reach) * rod_rate;
        system.body("slider", block.moving(velocity, Vector3::zeros())).map_err(&wrong)?;
        // It slides along its x axis, the third of these frames.
        let rail = about(Vector3::y(), S::lift(FRAC_PI_2));
        system.frame("rail", GROUND, Vector3::zeros(), rail).map_err(&wrong)?;
        system.frame("shoe", "slider", Vector3::zeros(), rail).map_err(&wrong)?;
        let mut join = |name, kind, a, b| system.joint(name, kind, a, b).map_err(&wrong);
        join("crank-pivot", JointKind::Revolute, GROUND, "crank.begin")?;
        join("crank-pin", JointKind::Spherical, "crank.end", "rod.begin")?;
        join("slider-pin", JointKind::Universal, "slider", "rod.arm")?;
        join("slider-rail", JointKind::Prismatic, "rail", "shoe")?;
        Ok(system)
    }

    /// A rotor about its y axis in an inner gimbal about x in an outer gimbal about z, with a weight on the rotor's axis.
    fn gimbals(&self) -> Result<System<S>, ModelError> {
        let wrong = self.wrong();
        let [outer, inner, spin] = ["outer_rate", "inner_rate", "spin"].map(|n| self.number(n));
        let (mass, weight, arm) = (self.number("mass"), self.number("weight"), self.number("arm"));
        let mut system = System::under(Vector3::zeros());
        // Angles are zero at the start, so that all axes are those of space.
        let omegas = [
            Vector3::new(S::zero(), S::zero(), outer),
            Vector3::new(inner, S::zero(), outer),
            Vector3::new(inner, spin, outer),
        ];
        let inertias = ["inertia_outer", "inertia_inner", "inertia_rotor"];
        for ((name, inertia), omega) in ["outer", "inner", "rotor"].into_iter().zip(inertias).zip(omegas) {
            let mut body = self.rigid(mass, inertia)?.moving(Vector3::zeros(), omega);
            if name == "inner" {
                let (point_body, value) = (Vector3::y() * arm, Vector3::z() * -weight);
                body = body.with(Force { frame: Frame::Space, point_body, value });
            }
            system.body(name, body).map_err(&wrong)?;
        }
        let rail = about(Vector3::y(), S::lift(FRAC_PI_2));
        for (body, name, axes) in [
            ("outer", "outer.x", rail),
            ("inner", "inner.x", rail),
            ("inner", "inner.y", along_y()),
            ("rotor", "rotor.y", along_y()),
        ] {
            system.frame(name, body, Vector3::zeros(), axes).map_err(&wrong)?;
        }
        let mut join = |name, a, b| system.joint(name, JointKind::Revolute, a, b).map_err(&wrong);
        join("outer-bearing", GROUND, "outer")?;
        join("inner-bearing", "outer.x", "inner.x")?;
        join("rotor-bearing", "inner.y", "rotor.y")?;
        Ok(system)
    }
}
