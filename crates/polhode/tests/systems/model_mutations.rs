//! Mutated model files: each is refused at a line, or runs, and nothing else happens.

use core::ops::ControlFlow;
use polhode::method::Method;
use polhode::problem::Problem;
use polhode::run::Plan;
use std::time::{Duration, Instant};

/// Xorshift, so that every case can be made again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const VALUES: [&str; 36] = [
    "0",
    "-1",
    "1e300",
    "1e-300",
    "1e400",
    "nan",
    "inf",
    "\"1/0\"",
    "\"sqrt(-1)\"",
    "\"t\"",
    "\"omega_body_x\"",
    "\"((((((((1))))))))\"",
    "\"1 +\"",
    "\"if(1 < 2, 3, 4)\"",
    "\"mass\"",
    "\"inertia\"",
    "\"i\"",
    "\"\"",
    "\"ground\"",
    "\"body\"",
    "true",
    "[]",
    "[1]",
    "[1, 2, 3]",
    "[0, 0, 0]",
    "[1, 1, 1, 0.5, 0.5, 0.5]",
    "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    "[\"a\", \"b\"]",
    "{}",
    "{ axis = [0, 0, 0], angle = 1 }",
    "{ box = [1, 1, 1] }",
    "{ value = [], kind = \"vector\" }",
    "2026-11-17",
    "\"\"\"\n\"\"\"",
    "'é'",
    "9007199254740993",
];

const LINES: [&str; 24] = [
    "[bodies.new]",
    "[bodies.ground]",
    "[joints.new]\ntype = \"revolute\"\nbetween = [\"ground\", \"body\"]\nat = [0, 0, 0]\naxis = [0, 0, 1]",
    "[joints.other]\ntype = \"fixed\"\nbetween = [\"ground\", \"top\"]\nat = [0, 0, 0]",
    "[forces.new]\ntype = \"line\"\nbetween = [\"ground\", \"body\"]\nforce = \"1 / length\"",
    "[forces.more]\ntype = \"spring\"\nbetween = [\"ground\", \"top\"]\nstiffness = 1e9",
    "[[loads]]\nbody = \"body\"\nmoment_body = [\"1 / t\", 0, 0]",
    "[[loads]]\nbody = \"body\"\npotential = \"log(attitude_zz)\"",
    "[[loads]]\nbody = \"body\"\nforce_body = [1, 1, 1]\nfrom = 0.001",
    "[[loads]]\nbody = \"top\"\nmoment_space = { table = \"x.csv\", columns = [\"a\", \"b\", \"c\"] }",
    "[outputs]\nodd = \"1 / (t - 0.001)\"",
    "[outputs]\nodd = \"body.position_x + link-1.position_y\"",
    "[events.e]\nwhen = \"t\"",
    "[coordinates.c]\nmass = 1\nposition = 2",
    "[definitions]\nx = \"x\"",
    "[[checks]]\nthat = \"1 < 0\"\notherwise = \"never {mass}\"",
    "count = 3",
    "fixed_point = true",
    "follows = { turn_rate = 1 }",
    "shape = { rod = 1 }",
    "[sweep]",
    "format = 1",
    "density = 3",
    "]",
];

/// A text with a few changes: of lines, of values, of bytes.
fn mutated(dice: &mut Dice, seed: &str) -> String {
    let mut lines: Vec<String> = seed.lines().map(String::from).collect();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(lines.len());
        match dice.below(9) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[dice.below(lines.len())].clone()),
            2 => lines.insert(at, dice.pick(&LINES).into()),
            3 => {
                let other = dice.below(lines.len());
                lines.swap(at, other);
            }
            4..=6 => {
                // The value of a key.
                if let Some((key, _)) = lines[at].clone().split_once('=') {
                    lines[at] = format!("{key}= {}", dice.pick(&VALUES));
                }
            }
            7 => {
                // A number in it.
                let from = lines[at].find(|c: char| c.is_ascii_digit()).unwrap_or(0);
                let rest = lines[at][from..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
                lines[at]
                    .replace_range(from..from + rest, dice.pick(&["0", "-3", "1e9", "1e-9", "7", "1e308"]));
            }
            _ => {
                let mut bytes = lines[at].clone().into_bytes();
                if !bytes.is_empty() {
                    let place = dice.below(bytes.len());
                    bytes[place] = dice.below(128) as u8;
                }
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

/// Bodies beyond which a case takes its time for good reasons.
const MANY: usize = 100;

fn try_out(text: &str) -> &'static str {
    let problem = match Problem::from_text("model", text) {
        Ok(problem) => problem,
        Err(error) => {
            let said = error.to_string();
            assert!(
                error.place.is_some_and(|place| place.line >= 1) && !error.reason.is_empty(),
                "{said}\n{text}"
            );
            return "refused by the reader";
        }
    };
    let model = match problem.model() {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.reason.is_empty());
            return "refused as a model";
        }
    };
    if model.system().bodies().len() > MANY {
        return "large";
    }
    let Ok(method) = Method::parse(&problem.method) else { return "no such method" };
    let Ok(plan) = Plan::new(problem.step, 3.0 * problem.step) else { return "no such plan" };
    match model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())) {
        Err(_) => "failed in a step",
        Ok(end) => {
            let mut row = Vec::new();
            end.last.row(&mut row);
            assert!(row.iter().all(|x| x.is_finite()), "{row:?}\n{text}");
            "ran"
        }
    }
}

#[test]
fn mutated_files_are_refused_at_a_line_or_run() {
    let cases: u64 = std::env::var("POLHODE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let seeds: Vec<String> = Problem::all()
        .iter()
        .map(|problem| problem.file().text().replace("value = 16", "value = 3"))
        .collect();
    let mut seen = std::collections::BTreeMap::new();
    for case in 0..cases {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (case + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        let seed = dice.below(seeds.len());
        let text = mutated(&mut dice, &seeds[seed]);
        let started = Instant::now();
        let ended =
            std::panic::catch_unwind(|| try_out(&text)).unwrap_or_else(|_| panic!("case {case}:\n{text}"));
        assert!(started.elapsed() < Duration::from_secs(5), "case {case}: {:?}\n{text}", started.elapsed());
        *seen.entry(ended).or_insert(0u64) += 1;
    }
    // The campaign reaches every stage.
    for stage in ["refused by the reader", "refused as a model", "ran"] {
        assert!(seen.get(stage).is_some_and(|count| *count > cases / 100), "{seen:?}");
    }
}

#[test]
fn many_bodies_are_read_fast() {
    let mut text = String::from("gravity = [0, 0, -9.81]\n");
    for b in 0..20_000 {
        text.push_str(&format!(
            "[bodies.b{b}]\nmass = 1.5\ninertia = [0.1, 0.2, 0.25]\nposition = [{b}, 0, 0]\nomega_body = [0, 0.1, 0]\n"
        ));
    }
    let started = Instant::now();
    let problem =
        Problem::from_text("many", &format!("{text}[run]\nmethod = \"geometric-alpha\"\n")).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let per_megabyte = seconds / (text.len() as f64 / 1e6);
    // A sixth of a second on a quiet machine; what is not linear in the number of bodies takes far longer.
    assert!(per_megabyte < 3.0, "{seconds} s for {} bytes", text.len());
    assert_eq!(problem.system(&|_| 0.0).unwrap().bodies().len(), 20_000);
}
