//! Which quantities the exact motion keeps, and which of them a method promises to keep.

use super::known::{active, weight};
use super::model::Model;
use crate::body::{Load, Loads, StandardLoad};
use crate::method::{Claims, Method, SystemClaims};
use crate::multibody::{Reduction, Symmetry};
use nalgebra::{Matrix3, Vector3};

/// What is to be expected of a quantity over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariance {
    /// An invariant that the method claims to keep.
    Promised,
    /// An invariant, but the method makes no claim.
    NotPromised,
    /// The exact motion changes it too.
    NotInvariant,
}

/// True if the inertia is that of a top about its third axis.
fn symmetric(m: &Matrix3<f64>) -> bool {
    let diagonal = [(0, 1), (0, 2), (1, 2)].iter().all(|(i, j)| m[(*i, *j)] == 0.0);
    diagonal && m[(0, 0)] == m[(1, 1)]
}

/// What acts on the body, as far as invariants care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// A fixed point and nothing else.
    Free,
    /// A fixed point and weight along the third space axis.
    Gravity,
    /// A fixed point and a potential of the height of the third body axis.
    Wall,
    /// A fixed point and some other potential.
    Potential,
    /// A moving body without gravity.
    Flight,
    /// A moving body that falls.
    Fall,
    /// Bodies and joints.
    Mechanism(Symmetry),
    /// Whatever else.
    Other,
}

/// What acts on a body about a fixed point.
fn on_point(loads: &Loads<f64>, has_potential: bool) -> Setting {
    let zero = Vector3::zeros();
    let Some(list) = active(loads) else {
        return if has_potential { Setting::Potential } else { Setting::Other };
    };
    let heavy = |load: &&&StandardLoad<f64>| !weight(load).is_some_and(|(_, center)| center == zero);
    let upright = |load: &&StandardLoad<f64>| {
        weight(load).is_some_and(|(weight, _)| weight.x == 0.0 && weight.y == 0.0)
    };
    let list: Vec<&StandardLoad<f64>> = list.iter().filter(heavy).copied().collect();
    match list.as_slice() {
        [] => Setting::Free,
        [StandardLoad::SoftWall(_)] => Setting::Wall,
        all if all.iter().all(upright) => Setting::Gravity,
        _ if has_potential => Setting::Potential,
        _ => Setting::Other,
    }
}

impl Model {
    fn setting(&self) -> Setting {
        match &self.reduction {
            Some(Reduction::Rotation(one)) => {
                let has_potential = one.body.potential_energy(&one.start, 0.0).is_some();
                match one.body.load.motion(0.0).is_some() {
                    true => Setting::Other,
                    false => on_point(&one.body.load, has_potential),
                }
            }
            Some(Reduction::Motion(one)) => {
                let has_potential = one.body.potential_energy(&one.start, 0.0).is_some();
                let center = *one.body.inertia.center();
                match active(&one.body.load) {
                    _ if one.body.load.motion(0.0).is_some() => Setting::Other,
                    Some(list) if list.is_empty() => Setting::Flight,
                    Some(list)
                        if list.iter().all(|load| weight(load).is_some_and(|(_, at)| at == center)) =>
                    {
                        Setting::Fall
                    }
                    _ if has_potential => Setting::Potential,
                    _ => Setting::Other,
                }
            }
            // What is done by motors, drives and dampers is counted.
            None => Setting::Mechanism(self.system().symmetry()),
        }
    }
}

impl Model {
    /// What is to be expected of the drift with this name (see [`crate::run::Drift::list`]).
    ///
    /// ```
    /// use polhode::{method::Method, problem::{Invariance, Problem}};
    /// let (top, akw) = (Problem::named("fast-top")?.model()?, Method::parse("akw")?);
    /// assert_eq!(top.invariance_of(&akw, "energy"), Invariance::Promised);
    /// assert_eq!(top.invariance_of(&akw, "momentum_space"), Invariance::NotInvariant);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn invariance_of(&self, method: &Method, quantity: &str) -> Invariance {
        match self.kept(method.claims(), &method.keeps().unwrap_or_default(), quantity) {
            (true, true) => Invariance::Promised,
            (true, false) => Invariance::NotPromised,
            (false, _) => Invariance::NotInvariant,
        }
    }
    /// True if the exact motion keeps the quantity of the drift with this name.
    pub fn is_invariant(&self, quantity: &str) -> bool {
        self.kept(&Claims::default(), &SystemClaims::default(), quantity).0
    }
    /// Whether the exact motion keeps a quantity, and whether a method of these claims says that it does.
    fn kept(&self, claims: &Claims, keeps: &SystemClaims, quantity: &str) -> (bool, bool) {
        use Setting::{Fall, Flight, Free, Gravity, Mechanism, Potential, Wall};
        let (inertia, center) = match &self.reduction {
            Some(Reduction::Rotation(one)) => {
                let weights = active(&one.body.load).unwrap_or_default();
                let heavy = weights.first().and_then(|load| weight(load));
                (*one.body.inertia.matrix(), heavy.map_or(Vector3::zeros(), |(_, center)| center))
            }
            Some(Reduction::Motion(one)) => (*one.body.inertia.about_center(), *one.body.inertia.center()),
            None => (Matrix3::zeros(), Vector3::zeros()),
        };
        let vertical = {
            let g = self.system().gravity();
            g.x == 0.0 && g.y == 0.0
        };
        let centered = center == Vector3::zeros();
        // The axis of a top under gravity is its third one and holds its centre of mass.
        let top = symmetric(&inertia) && center.x == 0.0 && center.y == 0.0;
        match (self.setting(), quantity) {
            (Free | Flight, "energy") => (true, claims.free_energy),
            (Free | Flight, "momentum_space" | "momentum_vertical" | "linear_momentum_space") => {
                (true, claims.free_momentum)
            }
            (Free, "momentum_body") => (true, claims.free_norm),
            (Gravity, "energy") => (true, claims.gravity_energy),
            (Gravity, "momentum_vertical") => (true, claims.gravity_vertical),
            (Gravity, "momentum_axial") => (top, claims.gravity_axial),
            (Fall, "energy") => (true, claims.fall_energy),
            (Mechanism(_), "energy") => (true, keeps.energy),
            (Mechanism(symmetry), "linear_momentum_space") => (symmetry == Symmetry::Full, keeps.momentum),
            (Mechanism(symmetry), "momentum_space") => (symmetry == Symmetry::Full, keeps.angular_momentum),
            (Mechanism(symmetry), "momentum_vertical") => {
                (symmetry != Symmetry::None, keeps.angular_momentum)
            }
            (Wall | Potential, "energy") => (true, claims.potential_energy),
            (Wall, "momentum_vertical") => (true, claims.gravity_vertical),
            (Fall, "momentum_vertical") => (vertical, false),
            (Free | Wall, "momentum_axial") => (symmetric(&inertia), false),
            // About a reference point off the centre of mass the angular momentum is not of constant length.
            (Flight | Fall, "momentum_body") => (centered, false),
            _ => (false, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::problem::Problem;

    #[test]
    fn only_invariants_are_claimed() {
        let akw = Method::parse("akw").unwrap();
        let mut top = Problem::named("fast-top").unwrap();
        assert_eq!(top.model().unwrap().invariance_of(&akw, "momentum_axial"), Invariance::Promised);
        assert_eq!(top.model().unwrap().invariance_of(&akw, "momentum_space"), Invariance::NotInvariant);
        top.set("inertia", "5,4,1").unwrap();
        assert_eq!(top.model().unwrap().invariance_of(&akw, "momentum_axial"), Invariance::NotInvariant);
        let mut body = Problem::named("free-body").unwrap();
        assert_eq!(body.model().unwrap().invariance_of(&akw, "linear_momentum_space"), Invariance::Promised);
        body.set("gravity", "0,0,-9.81").unwrap();
        assert_eq!(
            body.model().unwrap().invariance_of(&akw, "linear_momentum_space"),
            Invariance::NotInvariant
        );
        assert_eq!(body.model().unwrap().invariance_of(&akw, "energy"), Invariance::NotPromised);
        let mut cone = Problem::named("steady-precession").unwrap();
        for quantity in ["energy", "momentum_vertical", "momentum_axial"] {
            assert_eq!(cone.model().unwrap().invariance_of(&akw, quantity), Invariance::Promised);
        }
        assert_eq!(cone.model().unwrap().invariance_of(&akw, "momentum_space"), Invariance::NotInvariant);
        cone.set("gravity", "0").unwrap();
        assert_eq!(cone.model().unwrap().invariance_of(&akw, "momentum_space"), Invariance::Promised);
        top.set("mgl", "0").unwrap();
        assert_eq!(top.model().unwrap().invariance_of(&akw, "momentum_space"), Invariance::Promised);
    }
}
