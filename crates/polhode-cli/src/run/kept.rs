//! Which quantities the exact motion keeps, and which of them a method promises to keep.

use polhode::method::Claims;
use polhode::problem::Problem;

/// What is to be expected of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// An invariant that the method claims to keep.
    Claimed,
    /// An invariant, but the method makes no claim.
    Unclaimed,
    /// The exact motion changes it too.
    Changes,
}

fn values<'a>(problem: &'a Problem, name: &str) -> &'a [f64] {
    problem.data().iter().find(|d| d.name == name).map_or(&[], |d| &d.values)
}

/// True if the inertia is that of a top about its third axis.
fn symmetric(problem: &Problem) -> bool {
    match *values(problem, "inertia") {
        [a, b, _] => a == b,
        [a, b, _, xy, xz, yz] => a == b && [xy, xz, yz] == [0.0; 3],
        [a, xy, xz, yx, b, yz, zx, zy, _] => a == b && [xy, xz, yx, yz, zx, zy] == [0.0; 6],
        _ => false,
    }
}

/// What is to be expected of the drift with this name.
pub fn kept(problem: &Problem, claims: &Claims, quantity: &str) -> Kept {
    let still = |name: &str| values(problem, name).iter().all(|x| *x == 0.0);
    let (invariant, claimed) = match (problem.id, quantity) {
        ("free-rotation", "energy") => (true, claims.free_energy),
        ("free-rotation", "momentum_space" | "momentum_vertical") => (true, claims.free_momentum),
        ("free-rotation", "momentum_body") => (true, claims.free_norm),
        ("free-body", "energy") => (true, claims.free_energy && still("gravity")),
        ("free-body", "momentum_space" | "momentum_vertical" | "linear_momentum_space") => {
            (still("gravity"), claims.free_momentum)
        }
        // About a reference point off the centre of mass the angular momentum is not of constant length.
        ("free-body", "momentum_body") => (still("center"), false),
        ("slow-top" | "fast-top", "energy") => (true, claims.gravity_energy),
        ("slow-top" | "fast-top", "momentum_vertical") => (true, claims.gravity_vertical),
        ("slow-top" | "fast-top", "momentum_axial") => (symmetric(problem), claims.gravity_axial),
        ("soft-wall" | "soft-wall-attractive", "energy" | "momentum_vertical") => (true, false),
        ("free-rotation" | "soft-wall" | "soft-wall-attractive", "momentum_axial") => {
            (symmetric(problem), false)
        }
        _ => (false, false),
    };
    match (invariant, claimed) {
        (true, true) => Kept::Claimed,
        (true, false) => Kept::Unclaimed,
        (false, _) => Kept::Changes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use polhode::method::Method;

    #[test]
    fn only_invariants_are_claimed() {
        let claims = *Method::parse("akw").unwrap().claims();
        let mut top = Problem::named("fast-top").unwrap();
        assert_eq!(kept(&top, &claims, "momentum_axial"), Kept::Claimed);
        assert_eq!(kept(&top, &claims, "momentum_space"), Kept::Changes);
        top.set("inertia", "5,4,1").unwrap();
        assert_eq!(kept(&top, &claims, "momentum_axial"), Kept::Changes);
        let mut body = Problem::named("free-body").unwrap();
        assert_eq!(kept(&body, &claims, "linear_momentum_space"), Kept::Claimed);
        body.set("gravity", "0,0,-9.81").unwrap();
        assert_eq!(kept(&body, &claims, "linear_momentum_space"), Kept::Changes);
        assert_eq!(kept(&body, &claims, "energy"), Kept::Unclaimed);
    }
}
