//! Which quantities the exact motion keeps, and which of them a method promises to keep.

use super::catalogue::{Kind, Problem};
use crate::method::Claims;

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
fn symmetric(problem: &Problem) -> bool {
    // A cone has no inertia among its data.
    if problem.kind == Kind::Cone {
        return true;
    }
    match *problem.values("inertia") {
        [a, b, _] => a == b,
        [a, b, _, xy, xz, yz] => a == b && [xy, xz, yz] == [0.0; 3],
        [a, xy, xz, yx, b, yz, zx, zy, _] => a == b && [xy, xz, yx, yz, zx, zy] == [0.0; 6],
        _ => false,
    }
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
    /// Bodies and joints under gravity alone.
    Mechanism,
    /// Whatever else.
    Other,
}

fn setting(problem: &Problem) -> Setting {
    let still = |names: &[&str]| names.iter().all(|name| problem.values(name).iter().all(|x| *x == 0.0));
    let upright = matches!(*problem.values("weight"), [0.0, 0.0, _]);
    let driven = !still(&["moment_space", "moment_body", "drive_space", "drive_body", "drag"]);
    match problem.kind {
        Kind::FreeRotation => Setting::Free,
        Kind::Top if still(&["mgl"]) => Setting::Free,
        Kind::Top => Setting::Gravity,
        Kind::Cone if still(&["gravity"]) => Setting::Free,
        Kind::Cone => Setting::Gravity,
        Kind::SoftWall if still(&["coulomb", "wall"]) => Setting::Free,
        Kind::SoftWall => Setting::Wall,
        Kind::Spring if still(&["stiffness"]) => Setting::Free,
        Kind::Spring => Setting::Potential,
        Kind::Driven if !driven && still(&["weight"]) => Setting::Free,
        Kind::Driven if !driven && upright => Setting::Gravity,
        Kind::Driven if !driven => Setting::Potential,
        Kind::Driven => Setting::Other,
        Kind::FreeBody if still(&["gravity"]) => Setting::Flight,
        Kind::FreeBody => Setting::Fall,
        Kind::HeavyTop if still(&["gravity"]) => Setting::Free,
        Kind::HeavyTop if matches!(*problem.values("gravity"), [0.0, 0.0, _]) => Setting::Gravity,
        Kind::HeavyTop => Setting::Potential,
        Kind::PrescribedMotion | Kind::PrescribedRotation => Setting::Other,
        Kind::Pendulum
        | Kind::DoublePendulum
        | Kind::Chain
        | Kind::FourBar
        | Kind::SliderCrank
        | Kind::Gimbals => Setting::Mechanism,
    }
}

impl Problem {
    /// What is to be expected of the drift with this name (see [`crate::run::Drift::list`]) with the data as they are
    /// set.
    ///
    /// ```
    /// use polhode::{method::Method, problem::{Invariance, Problem}};
    /// let (top, akw) = (Problem::named("fast-top")?, Method::parse("akw")?);
    /// assert_eq!(top.invariance_of(akw.claims(), "energy"), Invariance::Promised);
    /// assert_eq!(top.invariance_of(akw.claims(), "momentum_space"), Invariance::NotInvariant);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn invariance_of(&self, claims: &Claims, quantity: &str) -> Invariance {
        use Setting::{Fall, Flight, Free, Gravity, Potential, Wall};
        let centered = self.values("center").iter().all(|x| *x == 0.0);
        // The axis of a top under gravity is its third one and holds its centre of mass.
        let top = symmetric(self) && matches!(*self.values("center"), [] | [0.0, 0.0, _]);
        let (invariant, claimed) = match (setting(self), quantity) {
            (Free | Flight, "energy") => (true, claims.free_energy),
            (Free | Flight, "momentum_space" | "momentum_vertical" | "linear_momentum_space") => {
                (true, claims.free_momentum)
            }
            (Free, "momentum_body") => (true, claims.free_norm),
            (Gravity, "energy") => (true, claims.gravity_energy),
            (Gravity, "momentum_vertical") => (true, claims.gravity_vertical),
            (Gravity, "momentum_axial") => (top, claims.gravity_axial),
            (Fall, "energy") => (true, claims.fall_energy),
            (Setting::Mechanism, "energy") => (true, false),
            (Wall | Potential, "energy") => (true, claims.potential_energy),
            (Wall, "momentum_vertical") => (true, claims.gravity_vertical),
            (Fall, "momentum_vertical") => (matches!(*self.values("gravity"), [0.0, 0.0, _]), false),
            (Free | Wall, "momentum_axial") => (symmetric(self), false),
            // About a reference point off the centre of mass the angular momentum is not of constant length.
            (Flight | Fall, "momentum_body") => (centered, false),
            _ => (false, false),
        };
        match (invariant, claimed) {
            (true, true) => Invariance::Promised,
            (true, false) => Invariance::NotPromised,
            (false, _) => Invariance::NotInvariant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;

    #[test]
    fn only_invariants_are_claimed() {
        let claims = *Method::parse("akw").unwrap().claims();
        let mut top = Problem::named("fast-top").unwrap();
        assert_eq!(top.invariance_of(&claims, "momentum_axial"), Invariance::Promised);
        assert_eq!(top.invariance_of(&claims, "momentum_space"), Invariance::NotInvariant);
        top.set("inertia", "5,4,1").unwrap();
        assert_eq!(top.invariance_of(&claims, "momentum_axial"), Invariance::NotInvariant);
        let mut body = Problem::named("free-body").unwrap();
        assert_eq!(body.invariance_of(&claims, "linear_momentum_space"), Invariance::Promised);
        body.set("gravity", "0,0,-9.81").unwrap();
        assert_eq!(body.invariance_of(&claims, "linear_momentum_space"), Invariance::NotInvariant);
        assert_eq!(body.invariance_of(&claims, "energy"), Invariance::NotPromised);
        let mut cone = Problem::named("steady-precession").unwrap();
        for quantity in ["energy", "momentum_vertical", "momentum_axial"] {
            assert_eq!(cone.invariance_of(&claims, quantity), Invariance::Promised);
        }
        assert_eq!(cone.invariance_of(&claims, "momentum_space"), Invariance::NotInvariant);
        cone.set("gravity", "0").unwrap();
        assert_eq!(cone.invariance_of(&claims, "momentum_space"), Invariance::Promised);
        top.set("mgl", "0").unwrap();
        assert_eq!(top.invariance_of(&claims, "momentum_space"), Invariance::Promised);
    }
}
