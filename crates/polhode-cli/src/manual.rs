//! The manual page, and scripts that complete command lines.

use crate::args::Arguments;
use crate::failure::Failure;
use crate::print;
use clap::builder::PossibleValuesParser;
use clap::{Arg, CommandFactory, ValueHint};
use clap_mangen::Man;
use polhode::method::{KINEMATIC, REGISTRY, SYSTEMS};
use polhode::problem::Problem;
use std::io;

/// Prints the manual page: one for the program and all its commands.
pub fn page() -> Result<(), Failure> {
    let text = written().map_err(|error| Failure::Usage(format!("the manual cannot be written: {error}")))?;
    print::result(&text)
}

fn written() -> io::Result<String> {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone()).manual("polhode").date("");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut text = String::from_utf8_lossy(&page).into_owned();
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        let mut section = Vec::new();
        // The usage of a part names the program already.
        let man = Man::new(part.clone());
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        man.render_extra_section(&mut section)?;
        let section = String::from_utf8_lossy(&section)
            .replace(".SH SYNOPSIS", ".PP")
            .replace(".SH DESCRIPTION", ".PP")
            .replace(".SH OPTIONS", ".SS Options")
            .replace(".SH EXTRA", ".SS Examples");
        text.push_str(&format!(".SH {}\n", part.get_name().to_uppercase()));
        // Definitions of the preprocessor stand once at the head.
        text.extend(section.lines().filter(|line| !is_preamble(line)).map(|line| format!("{line}\n")));
    }
    let mut last = Vec::new();
    man.render_extra_section(&mut last)?;
    man.render_version_section(&mut last)?;
    let last = String::from_utf8_lossy(&last).replace(".SH EXTRA", ".SH NOTES");
    text.extend(last.lines().filter(|line| !is_preamble(line)).map(|line| format!("{line}\n")));
    Ok(text)
}

/// The definitions with which each piece of a page begins.
fn is_preamble(line: &str) -> bool {
    line.starts_with(".ie ") || line.starts_with(".el ")
}

/// Prints a completion script. Ids of problems and methods are offered, and anything else is let through: both may be
/// names of files.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let problems: Vec<&str> = Problem::ids().collect();
    let methods: Vec<&str> = REGISTRY.iter().chain(SYSTEMS).chain(KINEMATIC).map(|row| row.id).collect();
    let with_ids = |argument: Arg, of: &str| -> Arg {
        match (argument.get_id().as_str(), of) {
            ("problem", _) | ("id", "problems") => {
                argument.value_parser(PossibleValuesParser::new(&problems))
            }
            ("method" | "methods", _) | ("id", "methods") => {
                argument.value_parser(PossibleValuesParser::new(&methods))
            }
            ("out" | "data" | "plot" | "report" | "robot" | "file" | "cases" | "parts", _) => {
                argument.value_hint(ValueHint::FilePath)
            }
            _ => argument,
        }
    };
    let mut command = Arguments::command().mut_subcommands(|part| {
        let name = part.get_name().to_string();
        part.mut_args(|argument| with_ids(argument, &name))
    });
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "polhode", &mut script);
    print::result(&with_files(shell, String::from_utf8_lossy(&script).into_owned(), &problems.join(" ")))
}

/// A script that offers model files beside the ids of problems: bash does so by itself where no id fits.
fn with_files(shell: clap_complete::Shell, script: String, ids: &str) -> String {
    use clap_complete::Shell;
    match shell {
        Shell::Zsh => {
            let own = format!(
                "_polhode_problems() {{\n    _alternative 'ids:problem:({ids})' 'files:model file:_files -g \"*.(toml|urdf|xml|mjcf)\"'\n}}\n\n"
            );
            let start = "if [ \"$funcstack[1]\"";
            script
                .replace(&format!(":({ids})'"), ":_polhode_problems'")
                .replace(start, &format!("{own}{start}"))
        }
        // It has nothing for arguments without a name, and offers files unless told not to.
        Shell::Fish => {
            let commands = "run converge compare sensitivity fit sweep check problems";
            let mut lines = script;
            lines.push_str(&format!(
                "complete -c polhode -n \"__fish_seen_subcommand_from {commands}\" -a \"{ids}\" -d problem\n"
            ));
            lines
        }
        _ => script,
    }
}
