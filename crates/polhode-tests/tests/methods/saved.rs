//! A run that is saved and gone on with, here and in another process, has the bits of the undisturbed one.

use crate::common::{composed, variants};
use core::fmt::Write;
use polhode::method::Method;
use polhode::problem::{Model, Problem};
use polhode::run::{RestoreError, Run, Saved};
use std::process::Command;

/// Steps, of which two are of another size than the rest.
const STEPS: u64 = 60;
const PATH: &str = "POLHODE_SAVED";

/// Problems with what changes the run: data, and step.
fn models() -> Vec<(&'static str, Model, f64)> {
    let named = |id: &'static str, set: &[(&str, &str)], step: f64| {
        let mut problem = Problem::named(id).unwrap();
        set.iter().for_each(|(name, value)| problem.set(name, value).unwrap());
        (id, problem.model().unwrap(), step)
    };
    vec![
        named("driven-body", &[], 0.1),
        named("free-body", &[("gravity", "0,1,-9.81")], 0.05),
        named("prescribed-motion", &[], 0.01),
        named("heavy-top", &[], 1e-3),
        named("double-pendulum", &[], 5e-3),
        named("chain", &[("bodies", "12"), ("joint", "1")], 2e-3),
        named("four-bar", &[], 2e-3),
        named("gyroscope", &[], 1e-3),
    ]
}

fn methods() -> Vec<Method> {
    let forms = ["geometric-alpha", "linear-alpha", "residual-alpha"].into_iter();
    let stabilized = forms.clone().map(|form| format!("{form},constraints=stabilized"));
    let ids = forms.map(String::from).chain(stabilized).chain(["linear-alpha,chart=rescaled".into()]);
    let kept = ["conserving", "conserving,index3", "decaying", "variational", "compose:variational:4"];
    let ids = ids.chain(kept.map(String::from));
    let systems = ids.map(|id| Method::parse(&id).unwrap());
    Method::all().into_iter().chain(variants()).chain(composed(6)).chain(systems).collect()
}

fn step(run: &mut dyn Run, h: f64, n: u64) -> bool {
    // A change of the step makes systems forget what they have learnt of the last ones.
    let size = if n == 25 || n == 26 { 0.7 * h } else { h };
    run.step(size, run.time() + size).is_ok()
}

/// All pairs of a model and a method that it runs with.
fn pairs() -> Vec<(&'static str, Model, f64, Method)> {
    let mut all = Vec::new();
    for (id, model, h) in models() {
        for method in methods() {
            let fits = !method.is_kinematic() || model.follows_motion();
            if fits && model.begin(&method).is_ok() {
                all.push((id, model.clone(), h, method));
            }
        }
    }
    all
}

/// Everything that a run has to say.
fn said(run: &mut dyn Run) -> (Vec<u64>, String) {
    (run.save().unwrap().words, format!("{:?} {:?} {:?}", run.snapshot(), run.drift(), run.work()))
}

#[test]
fn what_is_restored_goes_on_with_the_same_bits() {
    let mut random = 7u64;
    let (mut tried, mut lines) = (0, String::new());
    let mut ends = Vec::new();
    for (id, model, h, method) in pairs() {
        let mut run = model.begin(&method).unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = random >> 33;
        let at = at % (STEPS - 2) + 1;
        let mut saved: Option<Saved> = None;
        let good = (0..STEPS).all(|n| {
            if n == at {
                saved = Some(run.save().unwrap());
            }
            step(&mut *run, h, n)
        });
        // An explicit method at this step may leave all numbers behind.
        let (Some(saved), true) = (saved, good) else { continue };
        let mut other = model.begin(&method).unwrap();
        // From the start, and from a run that has gone elsewhere.
        for _ in 0..2 {
            other.restore(&saved).unwrap();
            for n in at..STEPS {
                assert!(step(&mut *other, h, n), "{id} {} from {at}", method.id());
            }
            assert_eq!(said(&mut *other), said(&mut *run), "{id} {} from {at}", method.id());
        }
        let words: Vec<String> = saved.words.iter().map(|word| format!("{word:x}")).collect();
        writeln!(lines, "{id}\t{}\t{at}\t{:x}\t{}", method.id(), saved.model, words.join(" ")).unwrap();
        ends.push(said(&mut *run).1);
        tried += 1;
    }
    assert!(tried > 150, "{tried}");
    // The same in another process.
    let path = std::env::temp_dir().join(format!("polhode-saved-{}", std::process::id()));
    std::fs::write(&path, lines).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "saved::in_another_process", "--nocapture"])
        .env(PATH, &path)
        .output()
        .unwrap();
    let text = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success(), "{text}");
    let answered = std::fs::read_to_string(path.with_extension("out")).unwrap();
    assert!(answered.lines().eq(ends.iter().map(String::as_str)));
    for file in [path.with_extension("out"), path] {
        std::fs::remove_file(file).unwrap();
    }
}

/// What the other process does; nothing by itself.
#[test]
fn in_another_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let path = std::path::PathBuf::from(path);
    let (pairs, mut out) = (pairs(), String::new());
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let [id, method, at, model, words] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let saved =
            Saved { method: method.into(), model: hex(model), words: words.split(' ').map(hex).collect() };
        let (_, model, h, method) =
            pairs.iter().find(|(known, _, _, own)| *known == id && own.id() == method).unwrap();
        let mut run = model.begin(method).unwrap();
        run.restore(&saved).unwrap();
        for n in at.parse().unwrap()..STEPS {
            assert!(step(&mut *run, *h, n));
        }
        out += &said(&mut *run).1;
        out.push('\n');
    }
    std::fs::write(path.with_extension("out"), out).unwrap();
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let model = |id: &str| Problem::named(id).unwrap().model().unwrap();
    let (top, pendulum) = (model("fast-top"), model("double-pendulum"));
    for (model, own, other) in [(&top, "imidm", "akw"), (&pendulum, "linear-alpha", "geometric-alpha")] {
        let begin = |id: &str| model.begin(&Method::parse(id).unwrap()).unwrap();
        let (mut run, mut elsewhere) = (begin(own), begin(other));
        for n in 0..5 {
            assert!(step(&mut *run, 1e-3, n) && step(&mut *elsewhere, 1e-3, n));
        }
        let before = said(&mut *run);
        let saved = run.save().unwrap();
        let refused = run.restore(&elsewhere.save().unwrap()).unwrap_err();
        assert!(matches!(refused, RestoreError::Method { .. }), "{refused}");
        let strange = Saved { model: saved.model ^ 1, ..saved.clone() };
        assert_eq!(run.restore(&strange), Err(RestoreError::Model));
        for length in [0, 1, saved.words.len() - 1] {
            let short = Saved { words: saved.words[..length].to_vec(), ..saved.clone() };
            assert_eq!(run.restore(&short), Err(RestoreError::Damaged));
            assert_eq!(said(&mut *run), before);
        }
        let long = Saved { words: [&saved.words[..], &[0]].concat(), ..saved };
        assert_eq!(run.restore(&long), Err(RestoreError::Damaged));
        assert_eq!(said(&mut *run), before);
    }
    // The same problem with another number is another model.
    let mut problem = Problem::named("fast-top").unwrap();
    let method = Method::parse("imidm").unwrap();
    let saved = top.begin(&method).unwrap().save().unwrap();
    problem.set("mgl", "20.000000000000004").unwrap();
    let refused = problem.model().unwrap().begin(&method).unwrap().restore(&saved);
    assert_eq!(refused, Err(RestoreError::Model));
}
