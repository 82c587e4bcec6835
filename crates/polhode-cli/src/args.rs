//! What can be written on the command line.

use crate::sweep::options::{MergeOptions, SweepOptions};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Structure-preserving time integration of rigid bodies.
#[derive(Debug, Parser)]
#[command(
    name = "polhode",
    version,
    about = "Structure-preserving time integration of rigid bodies",
    after_help = "Example:\n  polhode run fast-top --method akw --step 0.002\n\n\
                  Results go to stdout, everything else to stderr.\n\n\
                  Exit codes: 0 done, 2 a mistake in the command or an output that cannot be written, 3 invalid model, \
                  4 the solver failed or an error asked for is out of reach, 5 a drift beyond its limit, 130 interrupted \
                  (129 by SIGHUP, 143 by SIGTERM)."
)]
pub struct Arguments {
    /// No progress, notes or warnings; errors stay
    #[arg(long, short, global = true, conflicts_with = "verbose", display_order = 900)]
    pub quiet: bool,
    /// Say what was chosen and where the time goes
    #[arg(long, short, global = true, display_order = 901)]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a model with one method and report drift, error and cost
    #[command(
        after_help = "Example:\n  polhode run slow-top --method imidm --step 0.01 --until 20 \\\n          \
                      --out top.csv --every 10\n  \
                      polhode run four-bar --out motion.parquet --plot motion.svg \\\n          \
                      --plot-set rates,reactions --report motion.html\n\n\
                      `polhode problems` and `polhode methods` list problems and methods."
    )]
    Run(RunOptions),
    /// Make a page for browsers of a stored run: the motion in 3-D, curves, drift, reactions and settings
    #[command(
        after_help = "Example:\n  polhode run four-bar --out motion.npz\n  polhode view motion.npz --out motion.html\n\n\
                            `polhode run --report FILE.html` makes the same page at once."
    )]
    View(ViewOptions),
    /// Measure the order of methods: errors over a list of steps
    #[command(after_help = "Example:\n  polhode converge free-rotation --methods imidm,swc1 \\\n          \
                            --steps 0.5,0.2,0.1 --plot order.svg")]
    Converge(ConvergeOptions),
    /// Run methods side by side with the same step: drift, error, phase and cost
    #[command(after_help = "Example:\n  polhode compare flying-brick \\\n          \
                      --methods preserving:cayley,preserving:exp,akw --step 0.02\n  \
                      polhode compare slow-top --error 1e-3,1e-6 --plot work.svg\n\n\
                      With --error each method gets the step that it needs, and what that costs is shown.")]
    Compare(CompareOptions),
    /// Derivatives of a run with respect to parameters: exact ones of the discrete solution
    #[command(
        after_help = "Example:\n  polhode sensitivity heavy-top --parameters mass,center \\\n          \
                      --method linear-alpha --until 0.1 --check\n\n\
                      `polhode problems ID` lists the parameters of a problem. A vector or tensor by its name stands for \
                      all of its components. The derivative of an attitude R is W with R' = R spin(W), in body axes."
    )]
    Sensitivity(SensitivityOptions),
    /// Find parameters of a model from a measured motion, with their errors
    #[command(
        after_help = "Example:\n  polhode fit heavy-top --data top.csv --parameters inertia,center \\\n          \
                      --plot residuals.svg\n\n\
                      The data are a CSV file with a column t and columns as `polhode run --out` writes them, or as --map \
                      says; commas, semicolons or tabs between cells, gaps are left out. Angles in degrees have _deg after \
                      their names, as in --map omega_body_x_deg=gx. The fit starts at the data of the problem, which --set \
                      changes. Positions, attitudes and velocities are compared unless --columns names others; the noise of \
                      each column is estimated."
    )]
    Fit(FitOptions),
    /// Run a model many times with different parameters: a table with a row for each run
    #[command(
        after_help = "Example:\n  polhode sweep slow-top --vary mgl=uniform:10,20 --runs 1000 \\\n          \
                      --keep 'max(energy),q' --out runs.parquet --plot runs.svg\n  \
                      polhode sweep slow-top --vary mgl=grid:10,20,11 --part 2/5 --out 2.chunk\n\n\
                      Draws of run k depend on the seed and on k alone. A sweep that was ended, by whatever, is gone on with \
                      by --resume, to the same table. `polhode merge` joins parts."
    )]
    Sweep(SweepOptions),
    /// Join the parts of a sweep into one table, and make sure that none is missing
    #[command(after_help = "Example:\n  polhode merge part-*.chunk --out runs.parquet")]
    Merge(MergeOptions),
    /// Check a model without running it, and say what it is
    #[command(after_help = "Example:\n  polhode check satellite.toml")]
    Check(CheckOptions),
    /// Write a commented model file to start from: satellite, top, pendulum or mechanism
    #[command(after_help = "Example:\n  polhode new satellite\n  polhode run satellite.toml")]
    New(NewOptions),
    /// Turn a robot in URDF or MJCF into a model file, and tell what of it is left out
    #[command(after_help = "Example:\n  polhode convert robot.urdf model.toml\n  polhode run model.toml\n\n\
                      Commands that take a model take such a robot too.")]
    Convert(ConvertOptions),
    /// Print the keys of model files as a JSON Schema, for editors
    #[command(after_help = "Example:\n  polhode schema > polhode.schema.json")]
    Schema,
    /// Turn angular velocities, as a gyroscope gives them, into attitudes
    #[command(
        after_help = "Example:\n  polhode integrate gyro.csv --map t=time,omega_body_x_deg=gx \\\n          \
                      --map omega_body_y_deg=gy,omega_body_z_deg=gz --out attitudes.csv\n\n\
                      The file is a CSV file with the columns t and omega_body_x, omega_body_y, omega_body_z, in body axes and \
                      rad/s, or as --map says; _deg after a name stands for degrees. Times need not be equally far apart. From \
                      one sample to the next the body turns with the mean of both: the error falls with the square of the \
                      interval, and there is none for a fixed axis if the rate is linear in time."
    )]
    Integrate(IntegrateOptions),
    /// List the methods, or show one
    #[command(after_help = "Example:\n  polhode methods compose:akw:6\n  polhode methods swc1 --bibtex")]
    Methods(MethodsOptions),
    /// List the problems, or show one with its data
    #[command(after_help = "Example:\n  polhode problems fast-top")]
    Problems(ListOptions),
    /// Print the manual page
    #[command(after_help = "Example:\n  polhode man > ~/.local/share/man/man1/polhode.1")]
    Man,
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  polhode completions bash \\\n          \
                      > ~/.local/share/bash-completion/completions/polhode")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// `polhode run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// Id of the method [default: the model's own]
    #[arg(long, short, value_name = "ID")]
    pub method: Option<String>,
    /// Time step in s [default: the model's own]
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// Find the step whose error along the run is at most this: angles in rad, positions relative to the motion
    #[arg(long, value_name = "E", conflicts_with = "step", allow_hyphen_values = true, value_parser = positive)]
    pub error: Option<f64>,
    /// Time for that search in s
    #[arg(long, value_name = "S", default_value = "60", requires = "error", allow_hyphen_values = true, value_parser = positive)]
    pub budget: f64,
    /// Fail with exit code 5 if a drift is larger, as in energy=1e-9; may be repeated
    #[arg(long, value_name = "NAME=LIMIT", value_delimiter = ',', allow_hyphen_values = true)]
    pub max_drift: Vec<String>,
    /// End time in s [default: the model's own]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub until: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Write the motion to this file: .csv, .npz, .parquet or .mcap by its name, - for CSV on standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every N-th step (and always the last) [default: what the model says, or 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = every)]
    pub every: Option<u64>,
    /// Put the run aside in this file every S seconds [default: 60], for --resume after whatever ends the program
    #[arg(long, value_name = "FILE[,S]", conflicts_with = "error")]
    pub checkpoint: Option<String>,
    /// Go on from a checkpoint of the same run, with the same results to the last bit
    #[arg(long, value_name = "FILE", conflicts_with = "error")]
    pub resume: Option<PathBuf>,
    /// Write these columns, and t: names, quantities as omega_body, or patterns as 'upper.*'; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Write what is between two times in s, both included
    #[arg(long, value_name = "T1,T2", allow_hyphen_values = true, value_parser = between)]
    pub between: Option<(f64, f64)>,
    /// Plot the motion to this file, .svg or .png: attitude, rates and energy, unless other curves are asked for
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Plot these sets of curves, separated by commas
    #[arg(long, value_name = "SETS", value_delimiter = ',', requires = "plot", value_parser = crate::plot::SETS)]
    pub plot_set: Vec<String>,
    /// Plot these columns: names, quantities as omega_body, or patterns as 'upper.*'; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "plot")]
    pub plot_columns: Vec<String>,
    /// Plot against this column [default: t]
    #[arg(long, value_name = "NAME", requires = "plot")]
    pub plot_against: Option<String>,
    /// Write a page for browsers to this file: the motion in 3-D, curves, drift, reactions and settings
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Do not compute a reference solution
    #[arg(long)]
    pub no_reference: bool,
    /// Measure nutation, precession and tilt, or how often a free body turns over
    #[arg(long)]
    pub frequencies: bool,
    /// Compare the change of energy in each step with its estimate from the start of the step; --out has both
    #[arg(long)]
    pub estimate: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode view`.
#[derive(Debug, Args)]
pub struct ViewOptions {
    /// The run: .npz, .parquet or .mcap, as `polhode run --out` writes it
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the page to this file [default: the name of the run, with .html]
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

/// `polhode converge`.
#[derive(Debug, Args)]
pub struct ConvergeOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// Ids of methods, separated by commas, or all; may be repeated [default: the model's own]
    #[arg(long, short, value_name = "IDS", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Time steps in s, separated by commas [default: 4, 2, 1 and 1/2 times the model's own]
    #[arg(long, value_name = "H1,H2,...", value_delimiter = ',', allow_hyphen_values = true, value_parser = number)]
    pub steps: Vec<f64>,
    /// End time in s [default: the model's own]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub until: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Plot the errors over the step to this file, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode compare`.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// Ids of methods, separated by commas, or all; may be repeated [default: some that suit the model]
    #[arg(long, short, value_name = "IDS", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Time step in s [default: the model's own]
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// End time in s [default: the model's own]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub until: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Find the step that each method needs for these errors along the run, separated by commas
    #[arg(long, value_name = "E1,E2,...", value_delimiter = ',', conflicts_with = "step", allow_hyphen_values = true, value_parser = positive)]
    pub error: Vec<f64>,
    /// Time for each of these searches in s
    #[arg(long, value_name = "S", default_value = "20", requires = "error", allow_hyphen_values = true, value_parser = positive)]
    pub budget: f64,
    /// Plot errors over time and steps to this file, .svg or .png
    #[arg(long, value_name = "FILE", requires = "error")]
    pub plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode sensitivity`.
#[derive(Debug, Args)]
pub struct SensitivityOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// Names of parameters, separated by commas, as in mass,center_y,inertia; may be repeated
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub parameters: Vec<String>,
    /// Id of the method [default: the model's own]
    #[arg(long, short, value_name = "ID")]
    pub method: Option<String>,
    /// Time step in s [default: the model's own]
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// End time in s [default: the model's own]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub until: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Show backward, central and five-point differences beside the derivatives
    #[arg(long)]
    pub check: bool,
    /// Simplify the derivatives, to study what that costs: reference-free, without-k-g or symmetric
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Write the derivatives over the whole run to this CSV file, - for standard output
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode fit`.
#[derive(Debug, Args)]
pub struct FitOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// The measured motion: CSV with a column t, - for standard input
    #[arg(long, value_name = "FILE.csv")]
    pub data: PathBuf,
    /// Columns of the file by their names there, as in t=time,q_w=qw,omega_body_x_deg=gx; may be repeated
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',')]
    pub map: Vec<String>,
    /// Time in the file at which the motion of the problem starts, in s [default: 0]
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub t0: Option<f64>,
    /// Names of parameters, separated by commas, as in mass,center_y,inertia; may be repeated
    #[arg(long, short, value_name = "NAMES", value_delimiter = ',', required = true)]
    pub parameters: Vec<String>,
    /// Id of the method [default: the model's own]
    #[arg(long, short, value_name = "ID")]
    pub method: Option<String>,
    /// Time step in s [default: the largest that goes into the sampling interval, at most the model's own; for irregular
    /// samples that, or less if they are denser]
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = number)]
    pub step: Option<f64>,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Columns to compare, separated by commas: names, or quantities as omega_body [default: positions, attitudes, velocities]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Keep a parameter between bounds, as in mass=1:2 or mass=1: for a lower one only; may be repeated
    #[arg(long, value_name = "NAME=LO:HI", allow_hyphen_values = true)]
    pub bounds: Vec<String>,
    /// The known deviation of the noise of a column or quantity, as in omega_body=0.01; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub sigma: Vec<String>,
    /// Plot the residuals over time to this file, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write the residuals, model minus data, to this CSV file, - for standard output
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Model: id of a problem, or a file, - for standard input
    #[arg(value_name = "MODEL")]
    pub problem: String,
    /// Override a parameter, as in inertia=1,2,2.5; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `polhode integrate`.
#[derive(Debug, Args)]
pub struct IntegrateOptions {
    /// The angular velocities: CSV with columns t, omega_body_x, omega_body_y, omega_body_z; - for standard input
    #[arg(value_name = "GYRO.csv")]
    pub data: PathBuf,
    /// Columns of the file by their names there, as in t=time,omega_body_x_deg=gx; may be repeated
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',')]
    pub map: Vec<String>,
    /// Attitude at the first sample, body to space: rotation vector in rad, or unit quaternion w,x,y,z [default: 0,0,0]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub attitude: Option<String>,
    /// Id of the method: kinematic:exp, or another kinematic:<map>
    #[arg(long, short, value_name = "ID", default_value = "kinematic:exp")]
    pub method: String,
    /// Write the attitudes to this CSV file, - for standard output [default: -, unless --json is given]
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Print one JSON object: the last attitude, and how far the body has turned
    #[arg(long)]
    pub json: bool,
}

/// `polhode new`.
#[derive(Debug, Args)]
pub struct NewOptions {
    /// What: satellite, top, pendulum or mechanism
    pub kind: String,
    /// Where to, - for standard output [default: its name with .toml]
    pub file: Option<PathBuf>,
}

/// `polhode convert`.
#[derive(Debug, Args)]
pub struct ConvertOptions {
    /// The robot: a file in URDF or MJCF, - for standard input
    #[arg(value_name = "ROBOT")]
    pub robot: String,
    /// Where to, - for standard output [default: -]
    #[arg(value_name = "FILE.toml")]
    pub file: Option<PathBuf>,
    /// Let the root link of a URDF robot move freely; it is fixed to the ground otherwise
    #[arg(long)]
    pub floating_base: bool,
}

/// `polhode methods`.
#[derive(Debug, Args)]
pub struct MethodsOptions {
    /// Show this one in detail
    pub id: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "bibtex")]
    pub json: bool,
    /// Print the works that it comes from, or all, as BibTeX
    #[arg(long)]
    pub bibtex: bool,
}

/// `polhode problems`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// Show this one in detail
    pub id: Option<String>,
    /// Print it as a model file, to be changed and run
    #[arg(long, requires = "id", conflicts_with = "json")]
    pub toml: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A number; what is beyond the largest one would silently be infinite.
pub fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(x) if x.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
            Err("too large for a number: the largest is 1.79e308".into())
        }
        Ok(x) => Ok(x),
        Err(_) => Err("not a number".into()),
    }
}

/// A number that something can be at most.
pub fn positive(text: &str) -> Result<f64, String> {
    match number(text)? {
        x if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("it must be a positive finite number".into()),
    }
}

/// Two times.
fn between(text: &str) -> Result<(f64, f64), String> {
    let form = "two times in s, the earlier first, as in 0.5,2";
    let (from, to) = text.split_once(',').ok_or(form)?;
    match (number(from)?, number(to)?) {
        (from, to) if from <= to => Ok((from, to)),
        _ => Err(format!("it must be {form}")),
    }
}

fn every(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(0) | Err(_) => Err("it must be a whole number of steps, at least 1".into()),
        Ok(n) => Ok(n),
    }
}
