//! What the parser of the command line has to say: help, the version, and mistakes.

use crate::failure::Failure;
use crate::print;
use clap::error::{ContextKind, ContextValue, ErrorKind};

const STEP: [&str; 6] = ["--dt", "--h", "--time-step", "--timestep", "--step-size", "--delta-t"];

/// Options as other programs call them, and what they are here.
const SYNONYMS: [(&str, &[&str]); 8] = [
    ("--step", &STEP),
    ("--steps", &STEP),
    ("--until", &["--t-end", "--tend", "--t-final", "--tf", "--end", "--end-time", "--time", "--duration"]),
    ("--method", &["--integrator", "--solver", "--scheme"]),
    ("--methods", &["--integrators", "--solvers", "--schemes"]),
    ("--out", &["--output", "--csv", "--file"]),
    ("--set", &["--override", "--data", "--param"]),
    ("--parameters", &["--wrt", "--params"]),
];

/// Prints help and version; anything else is a mistake.
pub fn answer(mut error: clap::Error) -> Result<(), Failure> {
    if !error.use_stderr() {
        return print::result(&error.to_string());
    }
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(known) = known(&error)
    {
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(known));
    }
    Err(Failure::Parser(error.to_string().trim_end().into()))
}

/// The option of this command that goes by the name that was written.
fn known(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(written)), Some(usage)) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::Usage))
    else {
        return None;
    };
    let written = written.split('=').next().unwrap_or(written);
    // The usage names the command, whose options the help lists.
    let command = usage.to_string();
    let all = <crate::args::Arguments as clap::CommandFactory>::command();
    let named = all.get_subcommands().find(|c| command.contains(&format!("polhode {}", c.get_name())))?;
    let has = |option: &str| named.get_arguments().any(|a| a.get_long() == option.strip_prefix("--"));
    let here = |(option, names): &&(&str, &[&str])| names.contains(&written) && has(option);
    SYNONYMS.iter().find(here).map(|(option, _)| (*option).into())
}
