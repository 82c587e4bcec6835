//! The command line of polhode: runs the benchmark problems, compares methods, lists problems and methods.
//!
//! Results go to stdout, everything else to stderr. Exit codes are those of [`failure::Failure`].

mod args;
mod blocks;
mod check;
mod checkpoint;
mod compare;
mod converge;
mod data;
mod error_control;
mod failure;
mod files;
mod fit;
mod gate;
pub mod host;
mod integrate;
mod interrupt;
mod list;
mod manual;
mod new;
mod phase;
mod pick;
mod plot;
mod print;
mod progress;
mod quantity;
mod reference;
mod report;
mod robot;
mod run;
mod schema;
mod sensitivity;
pub mod sweep;
mod table;
mod timing;
mod usage;
mod view;

use args::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use print::Talk;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

/// Runs the program.
pub fn run_program() -> ExitCode {
    ExitCode::from(run_words(std::env::args_os().collect()))
}

/// Runs the program with these words for its command line, its own name first; its exit code.
pub fn run_words(words: Vec<OsString>) -> u8 {
    interrupt::listen();
    let started = Instant::now();
    // Of mistakes that keep the command line from being read too.
    let json = words.iter().any(|word| word == "--json");
    let parsed = Arguments::command()
        .term_width(print::width())
        .try_get_matches_from(words)
        .and_then(|found| Arguments::from_arg_matches(&found));
    let done = match parsed {
        Ok(arguments) => {
            print::talk(match (arguments.quiet, arguments.verbose) {
                (true, _) => Talk::Quiet,
                (_, true) => Talk::Verbose,
                _ => Talk::Usual,
            });
            command(arguments.command)
        }
        Err(error) => usage::answer(error),
    };
    let written = print::end_of_json(done.as_ref().err(), json);
    print::detail(|| format!("done in {}", print::duration(started.elapsed().as_secs_f64())));
    // What went wrong first counts.
    match done.and(written) {
        Ok(()) | Err(Failure::ClosedPipe) => 0,
        Err(failure) => {
            print::error(&format!("{}{failure}", failure.prefix()));
            failure.code()
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(options) => run::command(&options),
        Command::View(options) => view::command(&options),
        Command::Converge(options) => converge::command(&options),
        Command::Compare(options) => compare::command(&options),
        Command::Sensitivity(options) => sensitivity::command(&options),
        Command::Fit(options) => fit::command(&options),
        Command::Sweep(options) => sweep::command::sweep(&options),
        Command::Merge(options) => sweep::command::merge(&options),
        Command::Check(options) => check::command(&options),
        Command::New(options) => new::command(&options),
        Command::Convert(options) => robot::command(&options),
        Command::Schema => schema::command(),
        Command::Integrate(options) => integrate::command(&options),
        Command::Methods(options) => list::methods(&options),
        Command::Problems(options) => list::problems(&options),
        Command::Man => manual::page(),
        Command::Completions { shell } => manual::completions(shell),
    }
}

/// Readers of files, for fuzzing; nothing else should need them.
#[doc(hidden)]
pub mod readers {
    /// Reads a measured motion; true if there is one.
    pub fn csv(bytes: &[u8]) -> bool {
        let table = crate::data::Table::parse("data", bytes.to_vec());
        table.is_ok_and(|table| table.measured(&[], &|_| Some(crate::data::Unit::Angle)).is_ok())
    }
    /// Reads a tableau; true if it is one.
    pub fn toml(text: &str) -> bool {
        crate::pick::tableau_of("tableau", text).is_ok()
    }
    /// The model file of a robot in URDF or MJCF, or what is wrong with it.
    pub fn robot(text: &str) -> Result<String, String> {
        match crate::robot::converted("robot", text, false) {
            Ok(made) => Ok(made.text),
            Err(failure) => Err(failure.to_string()),
        }
    }
}
