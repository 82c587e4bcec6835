//! Thousands of command lines with extreme values: the program answers in time, with a documented exit
//! code, without a panic, without a number that is not finite, and leaves no stray file.
//!
//! POLHODE_CASES sets how many (2000), POLHODE_SEED another start. A failing case is shown as a line for the shell.

use crate::common::{names, program};
use polhode::method::{KINEMATIC, REGISTRY, SYSTEMS};
use polhode::problem::Problem;
use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Numbers without order (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
    /// A number as text: often a plain one, sometimes of any size, sometimes at the edge of what is one.
    fn number(&mut self) -> String {
        const EDGES: [&str; 18] = [
            "0", "-0", "1", "-1", "1e-300", "5e-324", "1e-16", "1e16", "1e100", "1e200", "1e300", "-1e300",
            "1.7e308", "1e400", "nan", "inf", "-inf", "",
        ];
        match self.below(6) {
            0 => (*self.pick(&EDGES)).into(),
            1 | 2 => {
                let sign = if self.one_in(3) { "-" } else { "" };
                format!("{sign}{:e}", 10f64.powf(40.0 * self.unit() - 20.0))
            }
            _ => format!("{}", 4.0 * self.unit() - 1.0),
        }
    }
    fn method(&mut self) -> String {
        let rows: Vec<_> = REGISTRY.iter().chain(KINEMATIC).chain(SYSTEMS).collect();
        let row = *self.pick(&rows);
        let mut id = row.id.to_string();
        if !row.options.is_empty() && self.one_in(3) {
            let choice = self.pick(row.options);
            let value = match choice.words {
                [] => self.number(),
                words => (*self.pick(words)).into(),
            };
            id = format!("{id},{}={value}", choice.name);
        }
        match self.below(12) {
            0 => format!("compose:{id}:{}", self.pick(&["4", "6", "8", "5", ""])),
            1 => format!(
                "mkrk:{} {}; {} {} | 1/2 1/2",
                self.number(),
                self.number(),
                self.number(),
                self.number()
            ),
            2 => {
                (*self.pick(&["", ":", "mkrk:", "compose:", "compose::4", "akw,", "galpha:exp,rho=", "rk4"]))
                    .into()
            }
            _ => id,
        }
    }
}

/// A command, the files it may leave, and what it was asked to print.
struct Case {
    args: Vec<String>,
    out: Option<String>,
    /// Whether it has a plot and a page.
    drawn: bool,
    json: bool,
}

fn case(dice: &mut Dice, folder: &Path) -> Case {
    let problems = Problem::all();
    let problem = dice.pick(&problems);
    let command = *dice.pick(&["run", "run", "run", "run", "sensitivity", "compare", "converge", "fit"]);
    let mut args = vec![command.to_string(), problem.id.to_string()];
    let mut add = |list: &[&str]| args.extend(list.iter().map(|text| text.to_string()));
    for _ in 0..dice.below(4) {
        let datum = dice.pick(problem.data());
        let size = *dice.pick(&datum.sizes);
        // Many data at once are refused at once; change one number of what is there.
        let mut values: Vec<String> = datum.values.iter().map(|x| format!("{x}")).collect();
        values.resize(size, "1".into());
        if dice.one_in(4) {
            values.iter_mut().for_each(|value| *value = dice.number());
        } else {
            let at = dice.below(size.max(1));
            if let Some(value) = values.get_mut(at) {
                *value = dice.number();
            }
        }
        add(&["--set", &format!("{}={}", datum.name, values.join(","))]);
    }
    let step = match dice.below(8) {
        0 => dice.number(),
        _ => format!("{}", problem.step * 10f64.powf(2.0 * dice.unit() - 1.0)),
    };
    let steps = 1.0 + dice.below(20) as f64;
    let usual = step.parse::<f64>().unwrap_or(problem.step) * steps;
    let until = match dice.number() {
        // Any time but one that takes its time to reach.
        any if dice.one_in(12) && !any.parse::<f64>().is_ok_and(|until| until > 100.0 * usual) => any,
        _ => format!("{usual:e}"),
    };
    match command {
        // A search has its limit, and so have drifts.
        "run" | "compare" if dice.one_in(10) => {
            add(&["--error", &dice.number(), "--budget", "1", "--until", &until]);
        }
        "converge" => {
            let coarse = step.parse::<f64>().unwrap_or(1.0) * 2.0;
            add(&["--steps", &format!("{coarse:e},{step}"), "--until", &until]);
        }
        // Nor a step that takes its time to get through the data.
        "fit" => match step.parse::<f64>() {
            Ok(tiny) if tiny > 1e-12 && tiny < 0.01 * problem.step => add(&["--step", &step, "--t0", "1e9"]),
            _ => add(&["--step", &step]),
        },
        _ => add(&["--step", &step, "--until", &until]),
    }
    match command {
        "compare" | "converge" if dice.one_in(2) => {
            add(&["--methods", &format!("{},{}", dice.method(), dice.method())]);
        }
        "run" | "sensitivity" | "fit" if !dice.one_in(3) => add(&["--method", &dice.method()]),
        _ => {}
    }
    if matches!(command, "sensitivity" | "fit") {
        let parameters = problem.parameters();
        let name = parameters.get(dice.below(parameters.len().max(1))).map_or("x", |p| p.name.as_str());
        add(&["--parameters", name]);
    }
    if command == "sensitivity" && dice.one_in(3) {
        add(&["--check"]);
    }
    if command == "run" {
        // A reference may take its time where data are extreme.
        if !dice.one_in(8) {
            add(&["--no-reference"]);
        }
        if dice.one_in(6) {
            add(&["--frequencies"]);
        }
        if dice.one_in(6) {
            add(&["--estimate"]);
        }
        if dice.one_in(6) {
            let name = *dice.pick(&["energy", "momentum_space", "momentum_body", "linear_momentum_space"]);
            add(&["--max-drift", &format!("{name}={}", dice.number())]);
        }
    }
    if command == "fit" {
        let path = folder.join("data.csv");
        std::fs::write(&path, table(dice)).unwrap();
        add(&["--data", &path.to_string_lossy()]);
    }
    let out = (matches!(command, "run" | "sensitivity" | "fit") && dice.one_in(4))
        .then(|| folder.join("out.csv").to_string_lossy().into_owned());
    if let Some(out) = &out {
        add(&["--out", out]);
    }
    // By dice of their own: the other cases stay what they are.
    let drawn = command == "run" && Dice(dice.0).one_in(4);
    if drawn {
        let [plot, page] =
            ["out.svg", "out.html"].map(|name| folder.join(name).to_string_lossy().into_owned());
        add(&["--plot", &plot, "--report", &page]);
    }
    let json = dice.one_in(2);
    if json {
        add(&["--json"]);
    }
    Case { args, out, drawn, json }
}

/// Measured motions, most of them with something wrong.
fn table(dice: &mut Dice) -> String {
    let columns =
        ["omega_body_x", "omega_body_y", "omega_body_z", "q_w", "q_x", "q_y", "q_z", "position_x", "x"];
    let count = 1 + dice.below(columns.len());
    let mut text = format!("t,{}\n", columns[..count].join(","));
    for i in 0..dice.below(12) {
        let cells: Vec<String> = (0..count)
            .map(|_| if dice.one_in(8) { dice.number() } else { format!("{}", dice.unit() - 0.5) })
            .collect();
        let odd = Some(dice.number()).filter(|_| dice.one_in(20));
        // Late times are refused or reached, and the latter takes its time.
        let odd = odd.filter(|t| !t.parse::<f64>().is_ok_and(|t| t > 1.0 && t < 1e13));
        let t = odd.unwrap_or_else(|| format!("{}", 0.01 * i as f64));
        text.push_str(&format!("{t},{}\n", cells.join(",")));
    }
    match dice.below(12) {
        0 => text.replace(',', ";"),
        1 => text.replace('\n', "\r"),
        2 => text[..text.len() / 2].into(),
        3 => String::new(),
        _ => text,
    }
}

/// The case as a line for the shell.
fn line(args: &[String]) -> String {
    let quoted =
        |text: &String| match text.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,:/+".contains(c)) {
            true if !text.is_empty() => text.clone(),
            _ => format!("'{}'", text.replace('\'', r"'\''")),
        };
    format!("polhode {}", args.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// Runs a case, if it ends in time.
fn run(args: &[String]) -> Option<Output> {
    let mut child = program()
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    // Read while it runs: a full pipe would stop it.
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        std::io::copy(&mut out, &mut text).unwrap();
        text
    });
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        std::io::copy(&mut err, &mut text).unwrap();
        text
    });
    let since = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if since.elapsed() > LIMIT => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let (stdout, stderr) = (reader.join().unwrap(), errors.join().unwrap());
    status.map(|status| Output { status, stdout, stderr })
}

/// The first null in a result that the documentation does not allow.
fn stray_null(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Null => Some(path.into()),
        Value::Array(list) => {
            list.iter().enumerate().find_map(|(i, x)| stray_null(x, &format!("{path}[{i}]")))
        }
        Value::Object(map) => map.iter().find_map(|(key, x)| {
            let has = |key: &str| map.get(key).is_some_and(|x| !x.is_null());
            let missing = |key: &str| map.get(key).is_none_or(Value::is_null);
            let allowed = match key.as_str() {
                // Unknown where a load has no potential, and then everywhere.
                "energy" if map.contains_key("energy_error") => missing("energy_error"),
                "energy" => path.ends_with(".drift"),
                "energy_error" | "energy_unit" => missing("energy"),
                "energy_estimate" => missing("energy"),
                "error" | "reference" => has("no_reference") || has("failure") || map.contains_key("failure"),
                // Frequencies that a run has not.
                _ if path.ends_with(".frequencies") => true,
                "frequencies" | "failure" | "ratio" | "edge" => true,
                "drift" | "newton" => has("failure"),
                "ns_per_step" => has("failure") || has("error"),
                "order_attitude" | "order_momentum" | "order_position" => true,
                "attitude" | "attitude_angle" | "attitude_frobenius" | "momentum" => has("error"),
                _ => {
                    path.ends_with(".standard_errors")
                        || path.ends_with(".intervals")
                        || path.contains(".correlation")
                }
            };
            if x.is_null() && allowed { None } else { stray_null(x, &format!("{path}.{key}")) }
        }),
        _ => None,
    }
}

/// What is wrong with an answer.
fn fault(case: &Case, output: Option<&Output>, folder: &Path) -> Option<String> {
    let Some(output) = output else { return Some(format!("no answer in {LIMIT:?}")) };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if err.contains("panicked") || err.contains("RUST_BACKTRACE") {
        return Some(format!("a panic: {err}"));
    }
    let code = output.status.code();
    if !matches!(code, Some(0 | 2 | 3 | 4 | 5)) {
        return Some(format!("exit code {code:?}: {err}"));
    }
    if code != Some(0) && !err.starts_with("error: ") && !err.contains("\nerror: ") {
        return Some(format!("exit code {code:?} without a reason: {err}"));
    }
    if err.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 40) {
        return Some(format!("a number of many digits: {err}"));
    }
    let left: Vec<String> = names(folder).into_iter().filter(|name| name != "data.csv").collect();
    let all = [("out.csv", case.out.is_some()), ("out.html", case.drawn), ("out.svg", case.drawn)];
    let done = matches!(code, Some(0 | 5));
    let expected: Vec<&str> = all.iter().filter(|(_, asked)| *asked && done).map(|(name, _)| *name).collect();
    // A fit that does not converge has its residuals nevertheless.
    if left != expected && !(case.args[0] == "fit" && code == Some(4) && left == ["out.csv"]) {
        return Some(format!("files {left:?}, exit code {code:?}"));
    }
    if code != Some(0) {
        let told = |found: Value| {
            ["error", "failure"].iter().any(|key| found[key]["code"].as_i64() == code.map(i64::from))
        };
        let told = serde_json::from_str::<Value>(&out).is_ok_and(told);
        return (case.json && !told).then(|| format!("exit code {code:?} is not in the JSON: {out}"));
    }
    for name in ["out.svg", "out.html"].into_iter().filter(|_| case.drawn) {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let drawing =
            text.split_once("<svg").map_or("", |(_, rest)| rest.split("</svg>").next().unwrap_or(""));
        if !text.trim_end().ends_with('>') || drawing.contains("NaN") || drawing.contains("inf") {
            return Some(format!("{name} is not whole, or has numbers that are none"));
        }
    }
    if let Some(path) = &case.out {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let width = text.lines().next().map_or(0, |line| line.split(',').count());
        for (i, line) in text.lines().enumerate().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            // Residuals have gaps where the data have them.
            let gap = |cell: &str| case.args[0] == "fit" && cell.is_empty();
            let wrong =
                cells.iter().find(|cell| !gap(cell) && !cell.parse::<f64>().is_ok_and(f64::is_finite));
            if cells.len() != width || wrong.is_some() {
                return Some(format!("line {} of the file: {wrong:?} in {line}", i + 1));
            }
        }
    }
    if case.json {
        return match serde_json::from_str::<Value>(&out) {
            Ok(value) => stray_null(&value, "").map(|path| format!("{path} is null")),
            Err(error) => Some(format!("not JSON: {error}")),
        };
    }
    let words = out.split(|c: char| !c.is_ascii_alphabetic());
    words.into_iter().find(|word| matches!(*word, "NaN" | "inf")).map(|word| format!("{word} in: {out}"))
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn no_command_line_breaks_the_program() {
    let (cases, seed) = (setting("POLHODE_CASES", 2000), setting("POLHODE_SEED", 1));
    let (next, faults) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    // How many were done, refused for the command, refused for the model, and failed.
    let ends = [const { AtomicU64::new(0) }; 4];
    let workers = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= cases {
                        return;
                    }
                    let folder = tempfile::tempdir().unwrap();
                    let case =
                        case(&mut Dice(seed.wrapping_mul(0x1_0000_0001).wrapping_add(i)), folder.path());
                    let output = run(&case.args);
                    let code = output.as_ref().and_then(|output| output.status.code());
                    let end = [0, 2, 3, 4].iter().position(|known| Some(*known) == code);
                    if let Some(end) = end {
                        ends[end].fetch_add(1, Ordering::Relaxed);
                    }
                    if let Some(fault) = fault(&case, output.as_ref(), folder.path()) {
                        let data =
                            std::fs::read_to_string(folder.path().join("data.csv")).unwrap_or_default();
                        let data = if data.is_empty() { data } else { format!("\n  with data {data:?}") };
                        let fault: String = fault.chars().take(600).collect();
                        faults.lock().unwrap().push(format!("{}\n  {fault}{data}", line(&case.args)));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    // A campaign in which all is refused at once would show nothing.
    let ends = ends.map(AtomicU64::into_inner);
    assert!(ends[0] > cases / 5 && ends.iter().all(|n| *n > cases / 100), "{ends:?} of {cases}");
    assert!(faults.is_empty(), "{} of {cases} cases:\n\n{}\n", faults.len(), faults.join("\n\n"));
}

#[test]
#[cfg(unix)]
fn a_signal_at_any_moment_leaves_a_whole_file_or_none() {
    use crate::common::hears;
    use std::os::unix::process::ExitStatusExt;
    let mut dice = Dice(setting("POLHODE_SEED", 1));
    for _ in 0..setting("POLHODE_CASES", 2000) / 40 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let out = path.to_string_lossy();
        let all: [&[&str]; 4] = [
            &["run", "fast-top", "--step", "1e-6", "--out", &out, "--every", "10"],
            &["run", "four-bar", "--step", "1e-6", "--out", &out],
            &["sensitivity", "fast-top", "-p", "mgl", "--step", "1e-6", "--out", &out],
            &["run", "soft-wall", "--step", "1", "--until", "4000", "--out", &out],
        ];
        let args = *dice.pick(&all);
        let (name, signal) = *dice.pick(&[("-INT", 2), ("-TERM", 15), ("-HUP", 1)]);
        if !hears(name) {
            continue;
        }
        let child = program().args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let pause = 10f64.powf(2.5 * dice.unit());
        thread::sleep(Duration::from_secs_f64(1e-3 * pause));
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
        let since = Instant::now();
        let output = child.wait_with_output().unwrap();
        let shown =
            format!("{args:?}, {name} after {pause:.1} ms: {}", String::from_utf8_lossy(&output.stderr));
        assert!(since.elapsed() < Duration::from_secs(10), "{shown}");
        // Before anything is begun the signal itself may end it.
        let ended = output.status.code() == Some(128 + signal) || output.status.signal() == Some(signal);
        assert!(ended, "{:?} {shown}", output.status);
        let left = names(folder.path());
        assert!(left.is_empty() || left == ["out.csv"], "{left:?} {shown}");
        if left == ["out.csv"] {
            assert!(!crate::common::csv(&path).1.is_empty(), "{shown}");
        }
    }
}
