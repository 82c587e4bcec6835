//! `polhode sweep` and `polhode merge`.

use super::chunk::{self, Chunk};
use super::join::Joined;
use super::options::{MergeOptions, SweepOptions};
use super::plan::{Plan, Request};
use super::stats::Statistics;
use super::work::{Folder, How, work};
use super::{one, page, plot, report};
use crate::failure::Failure;
use crate::files::{Format, NewFile, Output, reason};
use crate::print;
use std::path::{Path, PathBuf};

/// Threads that the machine runs at once.
fn machine() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// More threads than any machine has cores.
const MOST_THREADS: u64 = 4096;

fn request(options: &SweepOptions) -> Request {
    Request {
        set: options.set.clone(),
        vary: options.vary.clone(),
        cases: options.cases.clone(),
        runs: options.runs,
        seed: options.seed,
        sampling: options.sampling.clone(),
        keep: options.keep.clone(),
        method: options.method.clone(),
        step: options.step,
        until: options.until,
        limit: options.limit,
        trajectories: options.trajectories.clone(),
        every: options.every,
    }
}

/// What is to be written, opened so that a name that does not do is known before any work is done.
struct Files {
    table: Option<Output>,
    plot: Option<NewFile>,
    page: Option<NewFile>,
}

impl Files {
    fn open(
        out: Option<&PathBuf>,
        plot: Option<&PathBuf>,
        page: Option<&PathBuf>,
        json: bool,
    ) -> Result<Files, Failure> {
        let file =
            |path: Option<&PathBuf>, format| path.map(|path| NewFile::create(path, format)).transpose();
        Ok(Files {
            plot: file(plot, Format::Plot)?,
            page: file(page, Format::Html)?,
            table: out.map(|path| Output::of(path, Format::Table, json)).transpose()?,
        })
    }
}

/// Many runs.
pub fn sweep(options: &SweepOptions) -> Result<(), Failure> {
    one::quiet_panics();
    let plan = Plan::read(&options.problem, &request(options))?;
    let threads = options.threads.map_or_else(machine, |n| n.min(MOST_THREADS) as usize);
    let how = How { chunk: options.chunk.unwrap_or_else(|| plan.usual_chunk()), threads };
    print::detail(|| {
        let runs = print::count(plan.runs(), "run");
        format!(
            "plan: {}, {runs}, chunks of {}, {}",
            plan.hash(),
            how.chunk,
            print::count(threads as u64, "thread")
        )
    });
    if let Some((folder, _)) = &plan.trajectories {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Usage(format!("cannot make the folder {}: {}", folder.display(), reason(&error)))
        })?;
    }
    if let (Some(part), Some(out)) = (options.part, &options.out) {
        return share(&plan, part, out, options.resume, how);
    }
    let files =
        Files::open(options.out.as_ref(), options.plot.as_ref(), options.report.as_ref(), options.json)?;
    let folder = match &options.out {
        Some(path) if path.as_os_str() != "-" => Folder::of(path, options.resume)?,
        _ if options.resume => {
            return Err(Failure::Usage("--resume: give --out the same name of a file".into()));
        }
        _ => Folder::passing()?,
    };
    let done = work(&plan, &(0..plan.runs()), &folder, how)?;
    let timing = Some((done.computed, done.seconds, threads));
    let rows = Joined::of(done.chunks);
    let path = options.out.as_deref();
    let finished = finish(&rows, path, files, options.json, timing);
    kept_if_unfinished(finished, &folder, plan.runs())
}

/// Takes the chunks away, unless what was to be made of them is not there.
fn kept_if_unfinished(finished: Result<(), Failure>, folder: &Folder, runs: u64) -> Result<(), Failure> {
    let advice = || match folder.is_passing() {
        true => String::new(),
        false => format!(
            "; all {runs} runs are done and kept in {}: go on with the same command and --resume",
            folder.shown()
        ),
    };
    match finished {
        Err(Failure::Usage(text)) => Err(Failure::Usage(format!("{text}{}", advice()))),
        Err(Failure::Interrupted(text)) => Err(Failure::Interrupted(format!("{text}{}", advice()))),
        other => {
            folder.remove();
            other
        }
    }
}

/// One share of the runs.
fn share(plan: &Plan, part: [u64; 2], out: &Path, resume: bool, how: How) -> Result<(), Failure> {
    // A name that does not do is told before any work is done; what is written goes beside it first all the same.
    drop(NewFile::create(out, Format::Chunk)?);
    let runs = plan.part(part);
    let [i, n] = part;
    let all = match runs.is_empty() {
        true => "no run".to_string(),
        false => format!("runs {} to {}", runs.start, runs.end - 1),
    };
    let told = format!("part {i} of {n}: {all} of {}, in {}\n", plan.runs(), out.display());
    let head = plan.head(&runs, Some(part));
    // One that was finished is not computed again.
    let there = |chunk: Chunk| chunk.head.goes_with(&head) && chunk.head.range() == runs;
    if resume && Chunk::whole(out).is_ok_and(there) {
        return print::summary(&told, false);
    }
    let folder = Folder::of(out, resume)?;
    chunk::remove_unfinished(out);
    let done = work(plan, &runs, &folder, how)?;
    let written = Joined::of(done.chunks).write_chunk(out, &head);
    kept_if_unfinished(written, &folder, runs.end - runs.start)?;
    print::summary(&told, false)
}

/// Parts joined.
pub fn merge(options: &MergeOptions) -> Result<(), Failure> {
    let files =
        Files::open(options.out.as_ref(), options.plot.as_ref(), options.report.as_ref(), options.json)?;
    let joined = Joined::parts(&options.parts, options.partial)?;
    finish(&joined, options.out.as_deref(), files, options.json, None)
}

/// Writes and tells what there is.
fn finish(
    rows: &Joined,
    path: Option<&Path>,
    files: Files,
    json: bool,
    timing: Option<report::Timing>,
) -> Result<(), Failure> {
    let Some(head) = rows.head() else { return Err(Failure::Usage("there are no runs".into())) };
    let beside = files.table.as_ref().is_some_and(Output::is_standard);
    if let (Some(path), Some(table)) = (path, files.table) {
        rows.write(path, table)?;
    }
    let all = Statistics::of(rows, head.columns.len())?;
    let shown = path.map(|path| path.display().to_string());
    if let Some(plot) = files.plot {
        plot::drawing(rows, head, &all)?.write(plot)?;
    }
    if let Some(file) = files.page {
        file.write(page::html(rows, head, &all, shown.as_deref(), timing)?.as_bytes())?;
    }
    if json {
        print::json(&report::json(head, &all, shown.as_deref(), timing))?;
    } else {
        print::summary(&report::text(head, &all, timing), beside)?;
    }
    match (all.ok, all.failed.values().next()) {
        (0, Some((_, run, reason))) => Err(Failure::Solver(format!(
            "none of the {} runs came to its end; run {run}: {reason}",
            head.runs
        ))),
        _ => Ok(()),
    }
}
