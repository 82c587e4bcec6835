//! The columns that model and samples are compared in.

use super::{IdentifyError, Samples};
use crate::method::nearest;

/// Quantities that are used unless others are asked for.
const KINEMATIC: [&str; 4] = ["position", "q", "velocity", "omega_body"];

/// A column that is compared.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Its place in a row of the model.
    pub(super) at: usize,
    pub(super) data: Vec<f64>,
    /// For a component of an attitude, which one.
    attitude: Option<String>,
}

/// The quantity that a column is a component of, with the body before it: `upper.q` of `upper.q_w`.
pub(super) fn quantity(name: &str) -> &str {
    ["_w", "_x", "_y", "_z"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Without the body.
fn bare(quantity: &str) -> &str {
    quantity.rsplit('.').next().unwrap_or(quantity)
}

impl Column {
    fn new(name: &str, at: usize, data: &[f64]) -> Self {
        let whole = quantity(name);
        let attitude = (bare(whole) == "q" && whole != name).then(|| whole.to_string());
        Column { name: name.into(), at, data: data.to_vec(), attitude }
    }

    /// q and -q are the same attitude: the sign with which a sample is nearer to the model.
    pub(super) fn sign(&self, columns: &[Column], row: &[f64], sample: usize) -> f64 {
        if self.attitude.is_none() {
            return 1.0;
        }
        let alike = columns.iter().filter(|other| other.attitude == self.attitude);
        let product: f64 = alike.map(|other| row[other.at] * other.data[sample]).sum();
        if product < 0.0 { -1.0 } else { 1.0 }
    }
}

/// What a column with nothing but rounding in it has at most, in SI units.
const NOTHING: f64 = 1e-15;

/// How large each column is: as the largest one of the same quantity of any body, or one if that is no more than rounding.
pub(super) fn sizes(columns: &[Column]) -> Vec<f64> {
    let size = |column: &Column| {
        let same = |other: &&Column| bare(quantity(&other.name)) == bare(quantity(&column.name));
        let largest = columns.iter().filter(same).map(|c| rms(&c.data)).fold(0.0, f64::max);
        if largest > NOTHING { largest } else { 1.0 }
    };
    columns.iter().map(size).collect()
}

/// Root mean square.
pub(super) fn rms(data: &[f64]) -> f64 {
    (data.iter().map(|x| x * x).sum::<f64>() / data.len() as f64).sqrt()
}

/// Whether a name, of a column or of a quantity of one or all bodies, means this column. An attitude is its quaternion.
pub(super) fn means(name: &str, column: &str) -> bool {
    let attitude = name.strip_suffix("attitude").filter(|body| body.is_empty() || body.ends_with('.'));
    let name = attitude.map_or_else(|| name.to_string(), |body| format!("{body}q"));
    let name = name.as_str();
    let whole = quantity(column);
    name == column || name == whole || (!name.contains('.') && whole != column && name == bare(whole))
}

/// Columns and quantities that look like a name.
pub(super) fn near(name: &str, columns: &[&str]) -> Vec<String> {
    nearest(name, columns.iter().flat_map(|column| [*column, quantity(column)]))
}

/// The columns to compare, and those of the samples that are left out.
pub(super) fn columns(
    model: &[String],
    samples: &Samples,
    wanted: Option<&[&str]>,
) -> Result<(Vec<Column>, Vec<String>), IdentifyError> {
    let measured = |name: &str| samples.names().iter().any(|n| n == name);
    // Time is not a measurement of a motion.
    let model: Vec<(usize, &String)> = model.iter().enumerate().skip(1).collect();
    let mut taken = vec![false; model.len()];
    match wanted {
        None => {
            for (i, (_, name)) in model.iter().enumerate() {
                let whole = quantity(name);
                taken[i] = measured(name) && whole != name.as_str() && KINEMATIC.contains(&bare(whole));
            }
            if !taken.contains(&true) {
                let useful = model.iter().filter(|(_, name)| KINEMATIC.contains(&bare(quantity(name))));
                let model = useful.map(|(_, name)| name.to_string()).collect();
                return Err(IdentifyError::NoColumn { model, samples: samples.names().to_vec() });
            }
        }
        Some(names) => {
            for wanted in names {
                let mut found = false;
                for (i, (_, name)) in model.iter().enumerate() {
                    if means(wanted, name) && measured(name) {
                        (taken[i], found) = (true, true);
                    }
                }
                if !found {
                    let unmeasured = model.iter().any(|(_, name)| means(wanted, name));
                    let known = model.iter().map(|(_, name)| name.as_str()).filter(|name| measured(name));
                    let known: Vec<&str> = known.collect();
                    let near = near(wanted, &known);
                    return Err(IdentifyError::Column {
                        name: wanted.to_string(),
                        near,
                        known: known.into_iter().map(String::from).collect(),
                        unmeasured,
                    });
                }
            }
        }
    }
    let used = model.iter().zip(&taken).filter(|(_, taken)| **taken);
    let columns: Vec<Column> = used
        .filter_map(|((at, name), _)| samples.column(name).map(|data| Column::new(name, *at, data)))
        .collect();
    let unused = samples.names().iter().filter(|name| columns.iter().all(|column| column.name != **name));
    let unused = unused.cloned().collect();
    attitudes(&columns)?;
    Ok((columns, unused))
}

/// Sees to it that whole quaternions are nearly of unit length.
fn attitudes(columns: &[Column]) -> Result<(), IdentifyError> {
    for first in columns {
        let Some(whole) = first.attitude.as_ref().filter(|_| first.name.ends_with("_w")) else { continue };
        let parts: Vec<&Column> = columns.iter().filter(|c| c.attitude.as_ref() == Some(whole)).collect();
        if parts.len() < 4 {
            continue;
        }
        for sample in 0..first.data.len() {
            let length = parts.iter().map(|c| c.data[sample] * c.data[sample]).sum::<f64>().sqrt();
            if !(0.5..2.0).contains(&length) {
                return Err(IdentifyError::Samples(format!(
                    "the quaternion {whole} of sample {} has length {length:e}; that of an attitude is one",
                    sample + 1
                )));
            }
        }
    }
    Ok(())
}
