//! `polhode integrate`: attitudes from measured angular velocities.

mod report;

use crate::args::IntegrateOptions;
use crate::data::{self, Table, Unit};
use crate::failure::Failure;
use crate::files::Output;
use crate::{args, pick, print};
use nalgebra::Vector3;
use polhode::group::{Map, MapKind, Rotation, So3, Vectorial};
use polhode::method::Method;
use polhode::run::kinematic::{SampleError, from_samples};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A quaternion may be off unit length by this, as one with a few digits is.
const OFF_LENGTH: f64 = 1e-3;
/// The longest rotation vector, beyond which it has lost its digits modulo a turn.
const LONGEST: f64 = 1e6;
/// An error that somebody should hear of who reads the table only, in rad.
const LARGE: f64 = 0.02;

const OMEGA: [&str; 3] = ["omega_body_x", "omega_body_y", "omega_body_z"];

/// A motion from samples.
#[derive(Debug)]
pub struct Motion {
    /// The name of the file.
    pub data: String,
    /// The times of the samples.
    pub times: Vec<f64>,
    /// Angular velocities, in body axes.
    pub omega: Vec<Vector3<f64>>,
    /// Attitudes, body to space.
    pub attitudes: Vec<Rotation<f64>>,
    /// An estimate of the error of the last of them, in rad.
    pub error: Option<f64>,
}

impl Motion {
    /// The largest turn between two samples, and all of them together.
    pub fn turns(&self) -> (f64, f64) {
        let pairs = self.times.windows(2).zip(self.omega.windows(2));
        let turns = pairs.map(|(t, omega)| 0.5 * (omega[0] + omega[1]).norm() * (t[1] - t[0]));
        turns.fold((0.0, 0.0), |(most, all), turn| (f64::max(most, turn), all + turn))
    }
}

/// The map of a kinematic method.
fn map(id: &str) -> Result<(Method, Vectorial), Failure> {
    let method = pick::method(id)?;
    let words = method.id().strip_prefix("kinematic:").map(|rest| rest.split(',').collect::<Vec<_>>());
    let (true, Some(words)) = (method.is_kinematic(), words) else {
        let maps: Vec<String> =
            MapKind::ALL.iter().map(|kind| format!("kinematic:{}", Vectorial::from(*kind).name())).collect();
        return Err(Failure::Usage(format!(
            "{} is no method for given velocities; there are {}",
            method.id(),
            maps.join(", ")
        )));
    };
    if words.contains(&"velocity=midpoint") {
        let text = "samples have no velocity at half time; use velocity=mean, which is the default";
        return Err(Failure::Usage(format!("{}: {text}", method.id())));
    }
    let named = MapKind::ALL.into_iter().map(Vectorial::from).find(|map| map.name() == words[0]);
    let map = named.ok_or_else(|| Failure::Usage(format!("{}: the map is not known", method.id())))?;
    Ok((method, map))
}

/// An attitude as it is written: a rotation vector or a quaternion.
fn attitude(text: &str) -> Result<Rotation<f64>, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--attitude: {why}"));
    let number = |part: &str| match args::number(part) {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(wrong(format!("{} is not a finite number", part.trim()))),
        Err(why) => Err(wrong(format!("'{}' is {why}", part.trim()))),
    };
    let numbers = text.split(',').map(number).collect::<Result<Vec<f64>, _>>()?;
    match numbers[..] {
        [x, y, z] => {
            let turn = Vector3::new(x, y, z);
            match turn.norm() <= LONGEST {
                true => Ok(Rotation::from_rotation_vector(&turn)),
                false => {
                    Err(wrong(format!("a rotation vector has at most 1e6 rad, this one {:e}", turn.norm())))
                }
            }
        }
        [w, x, y, z] => {
            let length = (w * w + x * x + y * y + z * z).sqrt();
            match (length - 1.0).abs() <= OFF_LENGTH {
                true => Ok(Rotation::from_q_wxyz([w, x, y, z].map(|part| part / length))),
                false => {
                    let length = print::plain(length);
                    Err(wrong(format!("a quaternion w,x,y,z must have unit length, this one has {length}")))
                }
            }
        }
        _ => {
            let found = numbers.len();
            Err(wrong(format!("a rotation vector has 3 numbers, a quaternion w,x,y,z has 4; got {found}")))
        }
    }
}

/// Reads angular velocities and integrates them.
fn motion(options: &IntegrateOptions, map: Vectorial, start: &Rotation<f64>) -> Result<Motion, Failure> {
    let table = Table::read(&options.data)?;
    let wrong = |text: String| Failure::Usage(format!("{}: {text}", table.name));
    let unit = |name: &str| OMEGA.contains(&name).then_some(Unit::Angle);
    let mut found = table.measured(&options.map, &unit)?;
    let mut omega = Vec::new();
    for name in OMEGA {
        let Some(i) = found.columns.iter().position(|(own, _)| own == name) else {
            let names = found.others.join(", ");
            let has = if names.is_empty() { String::new() } else { format!(" (it also has {names})") };
            return Err(wrong(format!(
                "there is no column {name} in rad/s, nor {name}_deg in deg/s; --map {name}=COLUMN says which it is{has}"
            )));
        };
        omega.push(found.columns.swap_remove(i).1);
    }
    let omega: Vec<Vector3<f64>> =
        (0..found.times.len()).map(|i| Vector3::new(omega[0][i], omega[1][i], omega[2][i])).collect();
    // A velocity is whole or none: the mean of its neighbours bridges the gap.
    let whole: Vec<bool> = omega.iter().map(|omega| omega.iter().all(|x| !x.is_nan())).collect();
    let rows: Vec<usize> = (0..omega.len()).filter(|i| whole[*i]).collect();
    if rows.len() < 2 {
        let (left, gaps) = (rows.len(), data::without(&found.gaps));
        return Err(wrong(format!("there are too few samples: {left}{gaps}, at least 2 are needed")));
    }
    let lines: Vec<usize> = rows.iter().map(|i| found.lines[*i]).collect();
    let times: Vec<f64> = rows.iter().map(|i| found.times[*i]).collect();
    let omega: Vec<Vector3<f64>> = rows.iter().map(|i| omega[*i]).collect();
    let attitudes = from_samples::<So3>(map, start, &times, &omega).map_err(|error| match error {
        SampleError::Step { sample, error } => wrong(format!("after line {}: {error}", lines[sample])),
        SampleError::Time { sample, .. } => wrong(format!("line {}: the time is too large", lines[sample])),
        SampleError::Velocity { sample } => {
            wrong(format!("line {}: the angular velocity is too large; check its unit", lines[sample]))
        }
        error @ SampleError::Length { .. } => wrong(error.to_string()),
    })?;
    if !found.gaps.is_empty() {
        let (gaps, left) =
            (found.gaps.join("; "), print::count((table.rows.len() - rows.len()) as u64, "row"));
        print::note(&format!("note: {}: gaps: {gaps}; {left} left out and bridged", table.name));
    }
    let error = halved(map, start, &times, &omega, &attitudes);
    Ok(Motion { data: table.name.clone(), times, omega, attitudes, error })
}

/// A third of what the last attitude changes by if every other sample is left out: with order two, the error that is left.
fn halved(
    map: Vectorial,
    start: &Rotation<f64>,
    times: &[f64],
    omega: &[Vector3<f64>],
    attitudes: &[Rotation<f64>],
) -> Option<f64> {
    let last = times.len().checked_sub(1).filter(|last| *last >= 2)?;
    let kept = |i: &usize| i.is_multiple_of(2) || *i == last;
    let rows = || (0..=last).filter(kept);
    let (times, omega): (Vec<f64>, Vec<Vector3<f64>>) = rows().map(|i| (times[i], omega[i])).unzip();
    let coarse = from_samples::<So3>(map, start, &times, &omega).ok()?;
    let turn = coarse.last()?.inverse().compose(attitudes.last()?);
    Some(turn.shorter().rotation_vector().norm() / 3.0)
}

/// Does it.
pub fn command(options: &IntegrateOptions) -> Result<(), Failure> {
    let (method, map) = map(&options.method)?;
    let start = options.attitude.as_deref().map_or(Ok(Rotation::identity()), attitude)?;
    if let (Some(out), Ok(data)) = (&options.out, fs::canonicalize(&options.data))
        && fs::canonicalize(out).is_ok_and(|out| out == data)
    {
        let text = format!("{} are the data; give the result a file of its own", out.display());
        return Err(Failure::Usage(text));
    }
    let out = match (&options.out, options.json) {
        (Some(path), json) => Some(Output::create(path, json)?),
        (None, true) => None,
        (None, false) => Some(Output::create(Path::new("-"), false)?),
    };
    let motion = motion(options, map, &start)?;
    if let Some(error) = motion.error.filter(|error| *error > LARGE) {
        print::note(&format!(
            "note: the last attitude may be wrong by about {error:.2} rad: without every other sample it would be another by \
             three times that; denser samples are needed"
        ));
    }
    let beside_table = out.as_ref().is_some_and(Output::is_standard);
    if let Some(mut out) = out {
        table(&mut out, &motion).map_err(|error| out.trouble(&error))?;
        out.finish()?;
    }
    match options.json {
        true => print::json(&report::Report::new(&motion, &method)),
        // The table is the result.
        false if beside_table => Ok(()),
        false => print::result(&report::text(&motion, &method)),
    }
}

/// A row for each sample.
fn table(out: &mut Output, motion: &Motion) -> io::Result<()> {
    writeln!(out, "t,q_w,q_x,q_y,q_z,{}", OMEGA.join(","))?;
    for ((t, omega), attitude) in motion.times.iter().zip(&motion.omega).zip(&motion.attitudes) {
        // Debug is the shortest text that reads back to the same bits.
        write!(out, "{t:?}")?;
        for x in attitude.q_wxyz().iter().chain(omega.iter()) {
            write!(out, ",{x:?}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
