//! Limits for drifts, beyond which a command fails.

use crate::args;
use crate::failure::Failure;
use crate::print::{plain, small};
use polhode::problem::Model;
use polhode::run::{Drift, Run};
use serde::Serialize;

/// A drift and how large it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    name: &'static str,
    limit: f64,
}

/// A limit beside what it limits.
#[derive(Debug, Serialize)]
pub struct Gate {
    quantity: &'static str,
    limit: f64,
    drift: f64,
    exceeded: bool,
}

/// The limits of the command line, each written NAME=LIMIT.
pub fn limits(texts: &[String]) -> Result<Vec<Limit>, Failure> {
    let limit = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::Usage(format!(
                "--max-drift is written NAME=LIMIT, as in --max-drift energy=1e-9; got '{text}'"
            ))
        })?;
        let name = Drift::name(name.trim())?;
        match args::number(value) {
            Ok(limit) if limit >= 0.0 && limit.is_finite() => Ok(Limit { name, limit }),
            _ => {
                let value = value.trim();
                Err(Failure::Usage(format!(
                    "--max-drift {name}: the limit must be a finite number, at least 0, got '{value}'"
                )))
            }
        }
    };
    texts.iter().map(limit).collect()
}

/// Refuses limits for what a run does not have, before it begins.
pub fn check(limits: &[Limit], model: &Model, run: &dyn Run) -> Result<(), Failure> {
    let (start, drift) = (model.start(), run.drift());
    for Limit { name, .. } in limits {
        let reason = match *name {
            "energy" if drift.energy.is_none() => "a load has no potential, so that there is no energy",
            "energy" => continue,
            known if drift.list().iter().any(|(name, _)| *name == known) => continue,
            "linear_momentum_space" if start.is_single() => {
                "the body turns about a fixed point, which takes up linear momentum"
            }
            "momentum_body" | "momentum_axial" => "a system of several bodies has no body axes",
            _ => "what acts from outside on this system of bodies changes it",
        };
        return Err(Failure::Usage(format!("--max-drift {name}: {reason}")));
    }
    Ok(())
}

/// What became of the limits.
pub fn gates(limits: &[Limit], drift: &Drift) -> Vec<Gate> {
    let all = drift.list();
    let gate = |Limit { name, limit }: &Limit| {
        let (_, drift) = all.iter().find(|(known, _)| known == name)?;
        Some(Gate { quantity: name, limit: *limit, drift: *drift, exceeded: *drift > *limit })
    };
    limits.iter().filter_map(gate).collect()
}

/// An error that names what was exceeded, if something was.
pub fn verdict(gates: &[Gate], drift: &Drift) -> Result<(), Failure> {
    let sentence = |gate: &Gate| {
        let unit = match gate.quantity {
            "energy" => drift.energy.map_or("J", |energy| energy.unit()),
            "momentum_body" => "relative",
            "linear_momentum_space" => "kg m/s",
            _ => "kg m²/s",
        };
        let (found, limit) = (small(gate.drift), plain(gate.limit));
        format!("the drift of {} is {found} ({unit}), beyond its limit {limit}", gate.quantity)
    };
    let broken: Vec<String> = gates.iter().filter(|gate| gate.exceeded).map(sentence).collect();
    match broken.as_slice() {
        [] => Ok(()),
        _ => Err(Failure::Drift(broken.join("; "))),
    }
}
