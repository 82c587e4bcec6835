//! The columns that model and samples are compared in.

use super::{IdentifyError, Samples};
use crate::lookup::nearest;
use crate::run::{self, Quantity};

/// Quantities that are used unless others are asked for.
const KINEMATIC: [Quantity; 4] =
    [Quantity::Position, Quantity::Quaternion, Quantity::Velocity, Quantity::OmegaBody];

/// A column that is compared.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) of: run::Column,
    /// Its place in a row of the model.
    pub(super) at: usize,
    /// NaN where nothing was measured.
    pub(super) data: Vec<f64>,
}

impl Column {
    pub(super) fn name(&self) -> &str {
        &self.of.name
    }
    /// What was measured.
    pub(super) fn measured(&self) -> impl Iterator<Item = f64> {
        measured(&self.data)
    }
    /// The components of the same attitude, of a column that is one of them.
    fn attitude<'a>(&self, columns: &'a [Column]) -> Option<impl Iterator<Item = &'a Column>> {
        let item = self.of.item;
        (item.quantity == Quantity::Quaternion)
            .then(|| columns.iter().filter(move |other| other.of.item == item))
    }

    /// q and -q are the same attitude: the sign with which a sample is nearer to the model.
    pub(super) fn sign(&self, columns: &[Column], row: &[f64], sample: usize) -> f64 {
        let Some(alike) = self.attitude(columns) else { return 1.0 };
        let products = alike.map(|other| row[other.at] * other.data[sample]);
        let product: f64 = products.filter(|product| !product.is_nan()).sum();
        if product < 0.0 { -1.0 } else { 1.0 }
    }
}

/// What a column with nothing but rounding in it has at most, in SI units.
const NOTHING: f64 = 1e-15;

/// How large each column is: as the largest one of the same quantity of any body, or one if that is no more than rounding.
pub(super) fn sizes(columns: &[Column]) -> Vec<f64> {
    let size = |column: &Column| {
        let same = |other: &&Column| other.of.item.quantity == column.of.item.quantity;
        let largest = columns.iter().filter(same).map(|c| rms(c.measured())).fold(0.0, f64::max);
        if largest > NOTHING { largest } else { 1.0 }
    };
    columns.iter().map(size).collect()
}

/// The numbers that are there.
pub(super) fn measured(data: &[f64]) -> impl Iterator<Item = f64> {
    data.iter().copied().filter(|x| !x.is_nan())
}

/// Root mean square.
pub(super) fn rms(data: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = data.fold((0.0, 0u64), |(sum, count), x| (sum + x * x, count + 1));
    (sum / count as f64).sqrt()
}

/// Whether a name, of a column or of a quantity of one or all bodies, means this column. An attitude is its quaternion.
pub(super) fn means(name: &str, column: &run::Column) -> bool {
    let Some(whole) = &column.whole else { return name == column.name };
    let bare = column.item.quantity.facts().column;
    let attitude = (column.item.quantity == Quantity::Quaternion)
        .then(|| Quantity::Attitude.facts().column)
        .filter(|attitude| name.strip_suffix(attitude) == whole.strip_suffix(bare) || name == *attitude);
    attitude.is_some() || name == column.name || name == whole || name == bare
}

/// Columns and quantities that look like a name.
pub(super) fn near<'a>(name: &str, columns: impl Iterator<Item = &'a run::Column>) -> Vec<String> {
    nearest(
        name,
        columns.flat_map(|column| [Some(&column.name), column.whole.as_ref()]).flatten().map(String::as_str),
    )
}

/// The columns to compare, and those of the samples that are left out.
pub(super) fn columns(
    model: &[run::Column],
    samples: &Samples,
    wanted: Option<&[&str]>,
) -> Result<(Vec<Column>, Vec<String>), IdentifyError> {
    let measured = |column: &run::Column| {
        samples.column(&column.name).is_some_and(|data| measured(data).next().is_some())
    };
    // Time is not a measurement of a motion.
    let model: Vec<(usize, &run::Column)> = model.iter().enumerate().skip(1).collect();
    let mut taken = vec![false; model.len()];
    match wanted {
        None => {
            let useful = |column: &run::Column| KINEMATIC.contains(&column.item.quantity);
            for (i, (_, column)) in model.iter().enumerate() {
                taken[i] = measured(column) && useful(column);
            }
            if !taken.contains(&true) {
                let useful = model.iter().filter(|(_, column)| useful(column));
                let model = useful.map(|(_, column)| column.name.clone()).collect();
                return Err(IdentifyError::NoColumn { model, samples: samples.names().to_vec() });
            }
        }
        Some(names) => {
            for wanted in names {
                let mut found = false;
                for (i, (_, column)) in model.iter().enumerate() {
                    if means(wanted, column) && measured(column) {
                        (taken[i], found) = (true, true);
                    }
                }
                if !found {
                    let unmeasured = model.iter().any(|(_, column)| means(wanted, column));
                    let known = model.iter().map(|(_, column)| *column).filter(|column| measured(column));
                    return Err(IdentifyError::Column {
                        name: wanted.to_string(),
                        near: near(wanted, known.clone()),
                        known: known.map(|column| column.name.clone()).collect(),
                        unmeasured,
                    });
                }
            }
        }
    }
    let used = model.iter().zip(&taken).filter(|(_, taken)| **taken);
    let columns: Vec<Column> = used
        .filter_map(|((at, of), _)| {
            let data = samples.column(&of.name)?.to_vec();
            Some(Column { of: (*of).clone(), at: *at, data })
        })
        .collect();
    let unused = samples.names().iter().filter(|name| columns.iter().all(|column| column.name() != **name));
    let unused = unused.cloned().collect();
    attitudes(&columns)?;
    Ok((columns, unused))
}

/// Sees to it that whole quaternions are nearly of unit length.
fn attitudes(columns: &[Column]) -> Result<(), IdentifyError> {
    for first in columns {
        let Some(parts) = first.attitude(columns).filter(|_| first.of.component == 0) else { continue };
        let (parts, whole): (Vec<&Column>, _) = (parts.collect(), first.of.whole.as_deref().unwrap_or("q"));
        if parts.len() < 4 {
            continue;
        }
        for sample in 0..first.data.len() {
            let length = parts.iter().map(|c| c.data[sample] * c.data[sample]).sum::<f64>().sqrt();
            if !length.is_nan() && !(0.5..2.0).contains(&length) {
                return Err(IdentifyError::Samples(format!(
                    "the quaternion {whole} of sample {} has length {length:e}; that of an attitude is one",
                    sample + 1
                )));
            }
        }
    }
    Ok(())
}
