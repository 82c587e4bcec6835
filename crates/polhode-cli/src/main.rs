//! The program `polhode`.

use std::process::ExitCode;

fn main() -> ExitCode {
    polhode_cli::run_program()
}
