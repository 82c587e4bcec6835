//! Rotations as a model file has them.

use super::keys::ATTITUDE;
use super::number::{Number, Numbers, Scope, Values};
use super::place::{Fault, Span};
use super::table::Table;
use super::tree::Kind;
use crate::group::Rotation;
use crate::lookup::plain;
use crate::scalar::Scalar;
use nalgebra::{Matrix3, Vector3};

/// How a rotation is given.
#[derive(Clone, Debug)]
pub(super) enum Attitude {
    /// A rotation vector, or a quaternion w x y z.
    Numbers(Numbers),
    AxisAngle(Numbers, Number),
    ScalarLast(Numbers),
    Matrix(Numbers),
    Euler(Vec<usize>, Numbers),
}

/// How far a quaternion or a matrix may be off.
const OFF: f64 = 1e-6;
/// A rotation vector that is longer has lost its digits modulo a turn.
const LONGEST: f64 = 1e6;

impl Attitude {
    pub(super) fn read(table: &Table<'_>, scope: &Scope<'_>) -> Result<Option<Attitude>, Fault> {
        let Some((entry, factor)) = table.angular("attitude")? else { return Ok(None) };
        if !matches!(entry.value.kind, Kind::Table(_)) {
            let sizes: &'static [usize] = if factor == 1.0 { &[3, 4] } else { &[3] };
            let numbers = Numbers::read(entry.called("attitude"), &entry.value, sizes, scope, factor)?;
            return Ok(Some(Attitude::Numbers(numbers)));
        }
        let span = entry.span();
        if factor != 1.0 {
            let message = "attitude_deg is a rotation vector; in a table give angle_deg or angles_deg";
            return Err(Fault::new(&span, message));
        }
        let table = entry.table("attitude")?;
        table.only(ATTITUDE)?;
        Attitude::of_table(&table, &span, scope).map(Some)
    }
    fn of_table(table: &Table<'_>, span: &Span, scope: &Scope<'_>) -> Result<Attitude, Fault> {
        let ways = [["axis", "angle"], ["q_xyzw", ""], ["matrix", ""], ["euler", "angles"]];
        for angle in ["angle", "angles"] {
            table.angular(angle)?;
        }
        let has = |name: &str| !name.is_empty() && matches!(table.angular(name), Ok(Some(_)));
        let used: Vec<&[&str; 2]> = ways.iter().filter(|way| way.iter().any(|name| has(name))).collect();
        let [way] = used.as_slice() else {
            let message = "attitude as a table has one of: axis and angle; q_xyzw; matrix; euler and angles";
            return Err(Fault::new(span, message));
        };
        if let Some(missing) = way.iter().find(|name| !name.is_empty() && !has(name)) {
            return Err(Fault::new(span, format!("attitude needs `{missing}` too")));
        }
        let missing = || Fault::new(span, format!("attitude needs `{}`", way[0]));
        Ok(match way[0] {
            "axis" => Attitude::AxisAngle(
                table.numbers("axis", &[3], scope)?.ok_or_else(missing)?,
                table.angle("angle", scope)?.ok_or_else(missing)?,
            ),
            "q_xyzw" => Attitude::ScalarLast(table.numbers("q_xyzw", &[4], scope)?.ok_or_else(missing)?),
            "matrix" => Attitude::Matrix(table.numbers("matrix", &[9], scope)?.ok_or_else(missing)?),
            _ => {
                let (letters, at) = table.text("euler")?.ok_or_else(missing)?;
                let axes: Option<Vec<usize>> = letters.chars().map(|c| "xyz".find(c)).collect();
                let turns =
                    axes.filter(|axes| axes.len() == 3 && axes.windows(2).all(|two| two[0] != two[1]));
                let Some(axes) = turns else {
                    let message = format!(
                        "euler is three letters x, y, z, no two neighbours alike, as \"zxz\" or \"zyx\"; got '{letters}'"
                    );
                    return Err(Fault::new(&at, message));
                };
                Attitude::Euler(axes, table.angles("angles", &[3], scope)?.ok_or_else(missing)?)
            }
        })
    }

    /// The rotation, with the rotation vector where it was given so and is not changed.
    pub(super) fn at<S: Scalar>(
        &self,
        values: &Values<S>,
    ) -> Result<(Option<Vector3<S>>, Rotation<S>), Fault> {
        match self {
            Attitude::Numbers(numbers) => {
                let turn = numbers.turn(values).filter(|turn| turn.iter().any(|x| !x.is_zero()));
                let (psi, first) = match numbers.at(values)?.as_slice() {
                    [w, x, y, z] => (None, quaternion([*w, *x, *y, *z], numbers, values)?),
                    list => {
                        let psi = Vector3::from_fn(|i, _| list.get(i).copied().unwrap_or(S::zero()));
                        let length = psi.map(Scalar::value).norm();
                        if length > LONGEST {
                            let message = format!(
                                "a rotation vector of length {length:e} has lost its digits modulo a turn; use one of at most 1e6"
                            );
                            return Err(values.blamed(numbers.fault(message), numbers.parameter()));
                        }
                        (Some(psi), Rotation::from_rotation_vector(&psi))
                    }
                };
                Ok(match turn {
                    Some(turn) => (None, first.compose(&Rotation::from_rotation_vector(&turn))),
                    None => (psi, first),
                })
            }
            Attitude::AxisAngle(axis, angle) => {
                let psi = direction(axis, values)? * angle.at(values)?;
                Ok((Some(psi), Rotation::from_rotation_vector(&psi)))
            }
            Attitude::ScalarLast(numbers) => match numbers.at(values)?.as_slice() {
                [x, y, z, w] => Ok((None, quaternion([*w, *x, *y, *z], numbers, values)?)),
                _ => Err(numbers.fault("a quaternion has four numbers")),
            },
            Attitude::Matrix(numbers) => {
                let matrix = numbers.tensor(values)?;
                let plain_matrix = matrix.map(Scalar::value);
                let gap = (plain_matrix.transpose() * plain_matrix - Matrix3::identity()).abs().max();
                if gap.is_nan() || gap > OFF || plain_matrix.determinant() < 0.0 {
                    let message = format!(
                        "a matrix of a rotation has perpendicular rows of unit length and the determinant 1; this one is off by {gap:.1e}, its determinant is {}",
                        plain(plain_matrix.determinant())
                    );
                    return Err(numbers.fault(message));
                }
                Ok((None, Rotation::from_matrix(&matrix).normalized()))
            }
            Attitude::Euler(axes, angles) => {
                let mut rotation = Rotation::identity();
                for (axis, angle) in axes.iter().zip(angles.at(values)?) {
                    let turn = Vector3::from_fn(|i, _| if i == *axis { angle } else { S::zero() });
                    rotation = rotation.compose(&Rotation::from_rotation_vector(&turn));
                }
                Ok((None, rotation))
            }
        }
    }
}

fn quaternion<S: Scalar>(q: [S; 4], numbers: &Numbers, values: &Values<S>) -> Result<Rotation<S>, Fault> {
    let square = q.iter().fold(S::zero(), |sum, x| sum + *x * *x);
    let length = square.value().sqrt();
    if length.is_nan() || (length - 1.0).abs() > OFF {
        let message = format!("a quaternion w x y z must have unit length, this one has {}", plain(length));
        return Err(values.blamed(numbers.fault(message), numbers.parameter()));
    }
    Ok(Rotation::from_q_wxyz(q))
}

/// A unit vector along these numbers.
pub(super) fn direction<S: Scalar>(numbers: &Numbers, values: &Values<S>) -> Result<Vector3<S>, Fault> {
    let v = numbers.vector(values)?;
    let length = v.dot(&v).sqrt();
    match length.value() {
        x if x > 0.0 && x.is_finite() => Ok(if x == 1.0 && is_unit_axis(&v) { v } else { v / length }),
        _ => Err(numbers.fault("a direction must not be zero")),
    }
}

/// True for a coordinate axis without derivatives in it, whose division by its length would change nothing.
fn is_unit_axis<S: Scalar>(v: &Vector3<S>) -> bool {
    (0..3).any(|axis| (0..3).all(|i| v[i] == if i == axis { S::one() } else { S::zero() }))
}
