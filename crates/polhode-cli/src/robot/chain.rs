//! Joints one after another as one joint, where that is exact.

use nalgebra::Vector3;

/// What a joint lets its link do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Turn about its axis.
    Turn,
    /// Slide along its axis.
    Slide,
    /// Turn about its point.
    Ball,
    /// Move in the plane across its axis.
    Plane,
    /// Anything.
    Free,
}

/// A motion as it is drawn, at zero coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// What it is.
    pub motion: Motion,
    /// A point of its axis in space.
    pub point: Vector3<f64>,
    /// Its axis in space, of length one.
    pub axis: Vector3<f64>,
}

/// A joint of the model.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Its type; none for a body that moves freely.
    pub kind: Option<&'static str>,
    /// Its point in space.
    pub at: Vector3<f64>,
    /// Its axis, where its type has one.
    pub axis: Option<Vector3<f64>>,
    /// The second axis of a universal joint.
    pub axis2: Option<Vector3<f64>>,
}

/// How far from each other lengths and directions may be that are meant to be the same: files have rounded angles.
const CLOSE: f64 = 1e-6;

fn parallel(a: &Vector3<f64>, b: &Vector3<f64>) -> bool {
    a.cross(b).norm() < CLOSE
}

fn perpendicular(a: &Vector3<f64>, b: &Vector3<f64>) -> bool {
    a.dot(b).abs() < CLOSE
}

/// True if these directions span all of space.
fn independent(axes: &[Vector3<f64>]) -> bool {
    matches!(axes, [a, b, c] if a.cross(b).dot(c).abs() > 1e-3)
}

/// The point that is on the axes of all of these, if there is one.
fn common_point(turns: &[Drawn]) -> Option<Vector3<f64>> {
    let [first, second, ..] = turns else { return None };
    let across = first.axis.cross(&second.axis);
    let size = across.norm_squared();
    if size < CLOSE {
        return None;
    }
    // Where the first axis is nearest to the second.
    let apart = second.point - first.point;
    let point = first.point + first.axis * (apart.cross(&second.axis).dot(&across) / size);
    let off = |turn: &Drawn| (point - turn.point).cross(&turn.axis).norm();
    turns.iter().all(|turn| off(turn) < CLOSE * (1.0 + apart.norm())).then_some(point)
}

/// The joint that allows the same motions as these one after another, from the body before to the body behind.
pub fn whole(chain: &[Drawn]) -> Option<Whole> {
    let of = |motion: Motion| -> Vec<Drawn> {
        chain.iter().filter(|joint| joint.motion == motion).copied().collect()
    };
    let (turns, slides, balls) = (of(Motion::Turn), of(Motion::Slide), of(Motion::Ball));
    let others = chain.len() - turns.len() - slides.len() - balls.len();
    let along: Vec<Vector3<f64>> = slides.iter().map(|slide| slide.axis).collect();
    let about: Vec<Vector3<f64>> = turns.iter().map(|turn| turn.axis).collect();
    let joint = |kind, at: Vector3<f64>, axis: Vector3<f64>| Whole {
        kind: Some(kind),
        at,
        axis: Some(axis),
        axis2: None,
    };
    let free = |at: Vector3<f64>| Whole { kind: None, at, axis: None, axis2: None };
    let ball = |at: Vector3<f64>| Whole { kind: Some("spherical"), at, axis: None, axis2: None };
    match (turns.as_slice(), slides.as_slice(), balls.as_slice()) {
        _ if others > 0 => match chain {
            [one] if one.motion == Motion::Plane => Some(joint("planar", one.point, one.axis)),
            [one] => Some(free(one.point)),
            _ => None,
        },
        ([turn], [], []) => Some(joint("revolute", turn.point, turn.axis)),
        ([], [slide], []) => Some(joint("prismatic", slide.point, slide.axis)),
        ([], [], [one]) => Some(ball(one.point)),
        ([first, second], [], []) if perpendicular(&first.axis, &second.axis) => {
            let at = common_point(&turns)?;
            // Perpendicular to the last digit, which the model asks for.
            let axis2 = second.axis - first.axis * first.axis.dot(&second.axis);
            let axis2 = Some(axis2.normalize());
            Some(Whole { kind: Some("universal"), at, axis: Some(first.axis), axis2 })
        }
        ([_, _, _], [], []) if independent(&about) => common_point(&turns).map(ball),
        ([turn], [slide], []) if parallel(&turn.axis, &slide.axis) => {
            Some(joint("cylindrical", turn.point, turn.axis))
        }
        ([turn], [one, other], [])
            if perpendicular(&turn.axis, &one.axis)
                && perpendicular(&turn.axis, &other.axis)
                && one.axis.cross(&other.axis).norm() > 1e-3 =>
        {
            Some(joint("planar", turn.point, turn.axis))
        }
        ([], [_, _, _], [one]) if independent(&along) => Some(free(one.point)),
        ([turn, _, _], [_, _, _], []) if independent(&along) && independent(&about) => Some(free(turn.point)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Motion::{Ball, Plane, Slide, Turn};

    fn drawn(motion: Motion, point: [f64; 3], axis: [f64; 3]) -> Drawn {
        Drawn { motion, point: Vector3::from(point), axis: Vector3::from(axis).normalize() }
    }

    #[test]
    fn chains_are_one_joint_where_that_is_exact() {
        let (x, y, z, o) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]);
        let kind = |chain: &[Drawn]| whole(chain).map(|joint| joint.kind.unwrap_or("free"));
        // Axes that meet at (2, 3, 0).
        let (a, b) = (drawn(Turn, [5.0, 3.0, 0.0], x), drawn(Turn, [2.0, -7.0, 0.0], y));
        let universal = whole(&[a, b]).unwrap();
        assert_eq!(
            (universal.kind, universal.axis, universal.axis2),
            (Some("universal"), Some(a.axis), Some(b.axis))
        );
        assert!((universal.at - Vector3::new(2.0, 3.0, 0.0)).norm() < 1e-14);
        assert_eq!(kind(&[a, drawn(Turn, [2.0, -7.0, 0.1], y)]), None);
        assert_eq!(kind(&[a, drawn(Turn, [2.0, 3.0, 0.0], [1.0, 1.0, 0.0])]), None);
        assert_eq!(kind(&[a, b, drawn(Turn, [2.0, 3.0, 9.0], z)]), Some("spherical"));
        assert_eq!(kind(&[a, b, drawn(Turn, [2.0, 3.1, 9.0], z)]), None);
        assert_eq!(kind(&[drawn(Turn, o, z), drawn(Slide, o, [0.0, 0.0, -1.0])]), Some("cylindrical"));
        assert_eq!(kind(&[drawn(Turn, o, z), drawn(Slide, o, x)]), None);
        let slides = [x, y, z].map(|axis| drawn(Slide, o, axis));
        assert_eq!(kind(&[slides[0], slides[1], drawn(Turn, o, z)]), Some("planar"));
        assert_eq!(kind(&[slides[0], slides[1], drawn(Turn, o, y)]), None);
        assert_eq!(kind(&[slides[0], slides[0], drawn(Turn, o, z)]), None);
        assert_eq!(kind(&[slides[0], slides[1], slides[2], drawn(Ball, o, z)]), Some("free"));
        assert_eq!(kind(&[drawn(Plane, o, z)]), Some("planar"));
        assert_eq!(kind(&[drawn(Plane, o, z), slides[2]]), None);
    }
}
