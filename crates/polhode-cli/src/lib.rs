//! The command line of polhode: runs the benchmark problems, compares methods, lists problems and methods.
//!
//! Results go to stdout, everything else to stderr. Exit codes are those of [`failure::Failure`].

mod args;
mod blocks;
mod check;
mod compare;
mod converge;
mod data;
mod failure;
mod files;
mod fit;
mod integrate;
mod interrupt;
mod list;
mod new;
mod phase;
mod pick;
mod print;
mod progress;
mod quantity;
mod reference;
mod run;
mod schema;
mod sensitivity;
mod timing;
mod usage;

use args::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use std::process::ExitCode;

/// Runs the program.
pub fn run_program() -> ExitCode {
    interrupt::listen();
    let parsed = Arguments::command()
        .term_width(print::width())
        .try_get_matches()
        .and_then(|found| Arguments::from_arg_matches(&found));
    let done = match parsed {
        Ok(arguments) => command(arguments.command),
        Err(error) => usage::answer(error),
    };
    match done {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            print::note(&format!("{}{failure}", failure.prefix()));
            ExitCode::from(failure.code())
        }
    }
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(options) => run::command(&options),
        Command::Converge(options) => converge::command(&options),
        Command::Compare(options) => compare::command(&options),
        Command::Sensitivity(options) => sensitivity::command(&options),
        Command::Fit(options) => fit::command(&options),
        Command::Check(options) => check::command(&options),
        Command::New(options) => new::command(&options),
        Command::Schema => schema::command(),
        Command::Integrate(options) => integrate::command(&options),
        Command::Methods(options) => list::methods(&options),
        Command::Problems(options) => list::problems(&options),
        Command::Completions { shell } => completions(shell),
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
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "polhode", &mut script);
    print::result(&String::from_utf8_lossy(&script))
}
