//! Motions whose exact solution is known, recognised from the system, whoever wrote it.

use crate::body::{Force, Frame, Gravity, Load, Loads, StandardLoad, TopGravity};
use crate::group::{Se3, So3};
use crate::multibody::{Reduced, Reduction};
use nalgebra::{Matrix3, Vector3};

/// What is known of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// A rotation about a fixed point without a moment.
    FreeRotation,
    /// A symmetric body on a fixed point under gravity along its axis.
    Top(Top),
    /// A free body, whose centre of mass falls with this acceleration.
    Flight,
    /// A motion that the load was made for.
    Prescribed,
    /// Nothing.
    Nothing,
}

/// A symmetric top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Top {
    /// Moments across the axis and along it.
    pub(super) moments: [f64; 2],
    /// The potential energy at its greatest height.
    pub(super) mgl: f64,
    /// The axes of the body in which its own is the third, and of space in which up is: nothing where they are so already.
    pub(super) turned: Option<Turned>,
}

/// Axes of a body and of space, columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turned {
    pub(super) body: Matrix3<f64>,
    pub(super) space: Matrix3<f64>,
}

/// How far a body may be from symmetric, relative to its moments.
const SYMMETRIC: f64 = 1e-13;

/// True for a load that does nothing, with the numbers that it has.
pub(super) fn is_idle(load: &StandardLoad<f64>) -> bool {
    let zero = Vector3::zeros();
    match load {
        StandardLoad::Gravity(load) => load.weight_space == zero,
        StandardLoad::TopGravity(load) => load.mgl == 0.0,
        StandardLoad::Moment(load) => load.value == zero,
        StandardLoad::Harmonic(load) => load.amplitude == zero,
        StandardLoad::Force(load) => load.value == zero,
        StandardLoad::HarmonicForce(load) => load.amplitude == zero,
        StandardLoad::Drag(load) => load.coefficient == 0.0,
        StandardLoad::SoftWall(load) => load.coulomb == 0.0 && load.wall == 0.0,
        StandardLoad::RotationalSpring(load) => load.stiffness == zero,
        StandardLoad::SwitchedLoad(load) => is_idle(&load.load),
        StandardLoad::Own(_) | StandardLoad::PrescribedMotion(_) | StandardLoad::PrescribedRotation(_) => {
            false
        }
    }
}

/// The loads that do something; nothing where they are seen from elsewhere.
pub(super) fn active(loads: &Loads<f64>) -> Option<Vec<&StandardLoad<f64>>> {
    let list: Vec<_> = loads.list().iter().filter(|load| !is_idle(load)).collect();
    (list.is_empty() || loads.offset() == Vector3::zeros()).then_some(list)
}

/// A weight and where it acts, of a load that is one.
pub(super) fn weight(load: &StandardLoad<f64>) -> Option<(Vector3<f64>, Vector3<f64>)> {
    match load {
        StandardLoad::Gravity(Gravity { weight_space, center_body }) => Some((*weight_space, *center_body)),
        StandardLoad::Force(Force { frame: Frame::Space, point_body, value }) => Some((*value, *point_body)),
        StandardLoad::TopGravity(TopGravity { mgl }) => Some((-Vector3::z() * *mgl, Vector3::z())),
        _ => None,
    }
}

/// Axes whose third is given: those of space, turned the shortest way.
fn upright(third: &Vector3<f64>) -> Matrix3<f64> {
    if *third == Vector3::z() {
        return Matrix3::identity();
    }
    let side = if third.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let first = (side - third * third.dot(&side)).normalize();
    Matrix3::from_columns(&[first, third.cross(&first), *third])
}

impl Top {
    fn of(inertia: &Matrix3<f64>, weight: &Vector3<f64>, center: &Vector3<f64>) -> Option<Top> {
        let upright_already =
            weight.xy() == nalgebra::Vector2::zeros() && center.xy() == nalgebra::Vector2::zeros();
        let axis = if upright_already { Vector3::z() } else { center.normalize() };
        let along = axis.dot(&(inertia * axis));
        let across = 0.5 * (inertia.trace() - along);
        // I = A (1 - n nᵀ) + C n nᵀ.
        let outer = axis * axis.transpose();
        let gap = (inertia - (Matrix3::identity() - outer) * across - outer * along).abs().max();
        if gap.is_nan() || gap > SYMMETRIC * inertia.abs().max() {
            return None;
        }
        let turned =
            (!upright_already).then(|| Turned { body: upright(&axis), space: upright(&-weight.normalize()) });
        let mgl = match &turned {
            None => -weight.dot(center),
            Some(_) => weight.norm() * center.norm(),
        };
        // Exactly symmetric bodies keep their very numbers.
        let moments = if upright_already { [inertia[(0, 0)], inertia[(2, 2)]] } else { [across, along] };
        Some(Top { moments, mgl, turned })
    }
}

fn of_rotation(one: &Reduced<f64, So3>) -> Known {
    if one.body.load.motion(0.0).is_some() {
        return Known::Prescribed;
    }
    let Some(loads) = active(&one.body.load) else { return Known::Nothing };
    match loads.as_slice() {
        [] => Known::FreeRotation,
        [load] => match weight(load) {
            Some((_, center)) if center == Vector3::zeros() => Known::FreeRotation,
            Some((weight, center)) => {
                Top::of(one.body.inertia.matrix(), &weight, &center).map_or(Known::Nothing, Known::Top)
            }
            None => Known::Nothing,
        },
        _ => Known::Nothing,
    }
}

fn of_motion(one: &Reduced<f64, Se3>) -> Known {
    if one.body.load.motion(0.0).is_some() {
        return Known::Prescribed;
    }
    let center = one.body.inertia.center();
    let falls = |load: &&StandardLoad<f64>| weight(load).is_some_and(|(_, at)| at == *center);
    match active(&one.body.load) {
        Some(loads) if loads.iter().all(falls) => Known::Flight,
        _ => Known::Nothing,
    }
}

/// What is known of the motion of a system of one body.
pub(super) fn known(reduction: Option<&Reduction<f64>>) -> Known {
    match reduction {
        Some(Reduction::Rotation(one)) => of_rotation(one),
        Some(Reduction::Motion(one)) => of_motion(one),
        None => Known::Nothing,
    }
}
