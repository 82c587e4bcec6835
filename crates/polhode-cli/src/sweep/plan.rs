//! What a sweep computes, to the last number: the model, what varies in it, how it runs and what is kept.

use super::cases::Cases;
use super::chunk::Head;
use super::keep::{self, Keep, Known};
use crate::failure::Failure;
use crate::files::{self, EMPTY};
use crate::table;
use crate::{args, pick};
use polhode::draw::{Design, Sampling, Spread};
use polhode::method::Method;
use polhode::model::{ModelFileError, Sweep};
use polhode::problem::{Model, Problem, Setter};
use polhode::run::{self, Run};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is asked for beside what the model says; what is left out is as the model has it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Parameters that are set, as `NAME=VALUE`.
    pub set: Vec<String>,
    /// What varies, as `NAME=uniform:1,2`; in place of what the model says of that name.
    pub vary: Vec<String>,
    /// A file with a row for each run.
    pub cases: Option<PathBuf>,
    /// How many runs.
    pub runs: Option<u64>,
    /// What all draws follow from.
    pub seed: Option<u64>,
    /// `random`, `sobol` or `latin`.
    pub sampling: Option<String>,
    /// What is kept of each run; in place of what the model says.
    pub keep: Vec<String>,
    /// Id of the method.
    pub method: Option<String>,
    /// Step in s.
    pub step: Option<f64>,
    /// End time in s.
    pub until: Option<f64>,
    /// The most time of a run, in s of the clock on the wall.
    pub limit: Option<f64>,
    /// A folder for the whole motion of every run, and every how many steps it has a row.
    pub trajectories: Option<PathBuf>,
    /// Every how many steps these have a row.
    pub every: Option<u64>,
}

/// A sweep, ready to be computed: wherever that is done, its rows are the same.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) problem: Problem,
    pub(super) method: Method,
    pub(super) steps: run::Plan,
    pub(super) setters: Vec<Setter>,
    names: Vec<String>,
    design: Option<Design>,
    cases: Option<Cases>,
    pub(super) keep: Keep,
    /// True if runs go side by side in lanes.
    pub(super) abreast: bool,
    pub(super) limit: Option<f64>,
    /// A folder for whole motions, and every how many steps they have a row.
    pub(super) trajectories: Option<(PathBuf, u64)>,
    hash: u64,
    about: Value,
    /// The same as text.
    told: String,
}

/// Columns that are always there.
pub const RUN: &str = "run";
#[allow(missing_docs, reason = "see above")]
pub const STATUS: &str = "status";

impl From<ModelFileError> for Failure {
    fn from(error: ModelFileError) -> Self {
        Failure::Model(error.to_string())
    }
}

/// `NAME=uniform:1,2`.
fn vary(text: &str) -> Result<(String, Spread), Failure> {
    let form =
        "--vary is written NAME=uniform:a,b, normal:mean,sigma, log-uniform:a,b, grid:a,b,n or list:x,y,...";
    let parts = text.split_once('=').and_then(|(name, rest)| Some((name.trim(), rest.split_once(':')?)));
    let Some((name, (kind, numbers))) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Err(Failure::Usage(format!("{form}; got '{text}'")));
    };
    let wrong = |why: String| Failure::Usage(format!("--vary {name}: {why}"));
    let read = |text: &str| args::number(text).map_err(|why| wrong(format!("'{}' is {why}", text.trim())));
    let numbers = numbers.split(',').map(read).collect::<Result<Vec<f64>, _>>()?;
    let spread = Spread::of(kind.trim(), &numbers).map_err(|error| wrong(error.to_string()))?;
    Ok((name.into(), spread))
}

/// The number of a text behind that of others.
fn add(sum: u64, text: &str) -> u64 {
    files::sum(&[0], files::sum(text.as_bytes(), sum))
}

impl Plan {
    /// The plan of a model: the id of a problem, or a file.
    pub fn read(model: &str, request: &Request) -> Result<Plan, Failure> {
        let (problem, sum) = pick::problem_and_sum(model, &request.set)?;
        let folder = Path::new(model).parent().unwrap_or(Path::new(""));
        Plan::new(problem, sum, folder, request)
    }
    /// The same of a text; files that it speaks of are looked for in a folder.
    pub fn from_text(name: &str, text: &str, folder: &Path, request: &Request) -> Result<Plan, Failure> {
        let (problem, sum) = pick::read_text(name, text, folder)?;
        let problem = pick::overridden(problem, &request.set)?;
        Plan::new(problem, sum, folder, request)
    }

    pub(super) fn new(
        problem: Problem,
        tables: u64,
        folder: &Path,
        request: &Request,
    ) -> Result<Plan, Failure> {
        let none = Sweep::default();
        let file = problem.file().clone();
        let said = file.sweep().unwrap_or(&none);
        let at = |span: &Range<usize>, why: String| Failure::from(file.sweep_error(span, &why));

        // What varies: by the file, and by the command in its place or beside it.
        let mut varied: Vec<(String, Spread, Option<Range<usize>>)> =
            said.vary.iter().map(|v| (v.name.clone(), v.spread.clone(), Some(v.span.clone()))).collect();
        let cases = match (&request.cases, &said.file) {
            (Some(path), _) => Some(Cases::read(path)?),
            (None, Some((path, _))) => Some(Cases::read(&folder.join(path))?),
            (None, None) => None,
        };
        if let (Some(_), Some(cases)) = (&request.cases, &cases) {
            varied.retain(|(name, _, _)| !cases.names.contains(name));
        }
        let mut given: Vec<String> = Vec::new();
        for text in &request.vary {
            let (name, spread) = vary(text)?;
            if given.contains(&name) {
                return Err(Failure::Usage(format!("--vary has {name} twice; leave one of them out")));
            }
            given.push(name.clone());
            match varied.iter_mut().find(|(known, _, _)| *known == name) {
                Some(place) => *place = (name, spread, None),
                None => varied.push((name, spread, None)),
            }
        }
        if varied.is_empty() && cases.is_none() {
            return Err(Failure::Usage(format!(
                "nothing varies from run to run: give --vary NAME=uniform:1,2 (or normal, log-uniform, grid, list) or --cases \
                 FILE, or [sweep] in the model {}",
                problem.id
            )));
        }
        let mut names: Vec<String> = cases.iter().flat_map(|cases| cases.names.iter().cloned()).collect();
        let mut setters = Vec::new();
        for name in &names {
            let setter = problem.setter(name);
            setters.push(setter.map_err(|error| Failure::Usage(format!("a column of the cases: {error}")))?);
        }
        for (name, _, span) in &varied {
            if names.contains(name) {
                return Err(Failure::Usage(format!("{name} is varied twice: the cases have a column of it")));
            }
            let setter = problem.setter(name).map_err(|error| match span {
                Some(span) => at(span, error.to_string()),
                None => Failure::Usage(format!("--vary {name}: {error}")),
            });
            setters.push(setter?);
            names.push(name.clone());
        }
        if let Some(name) = names.iter().find(|name| [RUN, STATUS].contains(&name.as_str())) {
            let text = format!("a column of the table is called {name}: give the parameter another name");
            return Err(Failure::Usage(text));
        }

        // How many runs, and what is drawn in them.
        let sampling = match &request.sampling {
            Some(word) => Some(Sampling::named(word).ok_or_else(|| {
                Failure::Usage(format!("--sampling is one of random, sobol, latin; got '{word}'"))
            })?),
            None => said.sampling,
        };
        let sampling = sampling.unwrap_or_default();
        let runs = request.runs.or(said.runs);
        let spreads: Vec<Spread> = varied.into_iter().map(|(_, spread, _)| spread).collect();
        let seed = request.seed.or(said.seed).unwrap_or(0);
        let runs = match (&cases, runs) {
            (Some(cases), Some(runs)) if cases.runs() != runs => {
                return Err(Failure::Usage(format!(
                    "the cases have {} rows, each of them a run, and the runs are {runs}; leave --runs out",
                    cases.runs()
                )));
            }
            (Some(_), _) if spreads.iter().any(|spread| spread.count().is_some()) => {
                return Err(Failure::Usage(
                    "grids and lists have combinations of their own, and the cases have theirs; write all of them into the \
                     file of cases"
                        .into(),
                ));
            }
            (Some(cases), _) => Some(cases.runs()),
            (None, runs) => runs,
        };
        let design = match spreads.is_empty() {
            true => None,
            false => Some(Design::new(spreads, sampling, runs, seed).map_err(|error| {
                let hint = if runs.is_none() { ": give --runs N, or `runs` under [sweep]" } else { "" };
                Failure::Usage(format!("{error}{hint}"))
            })?),
        };

        // How it runs.
        let method = pick::method(request.method.as_deref().unwrap_or(&problem.method))?;
        let steps = pick::plan(&problem, request.step, request.until)?;
        let mut plan = Plan {
            method,
            steps,
            setters,
            names,
            design,
            cases,
            keep: Keep::none(),
            abreast: false,
            limit: request.limit,
            trajectories: request
                .trajectories
                .clone()
                .map(|folder| (folder, request.every.or(problem.every).unwrap_or(1))),
            hash: 0,
            about: Value::Null,
            told: String::new(),
            problem,
        };
        let model = plan.sample()?;
        pick::covers(&model, steps.until())?;
        pick::suits_as_asked(&plan.problem, &model, &plan.method, request.method.is_some())?;

        // What is kept.
        let words = match (&request.keep[..], &said.keep) {
            ([], None) => None,
            ([], Some(words)) => Some(words.iter().map(|(word, _)| word.clone()).collect()),
            (words, _) => Some(words.to_vec()),
        };
        let heads = table::Head::all(&model.start());
        let mut begun =
            model.watched(&plan.method).map_err(|failure| Failure::Solver(failure.to_string()))?;
        plan.abreast = run::goes_abreast(&mut begun);
        let drifts = begun.drift().list().into_iter().map(|(name, _)| name);
        let mut taken = vec![RUN.to_string(), STATUS.to_string()];
        taken.extend(plan.names.iter().cloned());
        let known = Known {
            heads: &heads,
            events: &model.events(),
            drifts: drifts.collect(),
            until: steps.until(),
            taken: &taken,
        };
        plan.keep = Keep::new(words.as_deref(), &known).map_err(|(i, why)| {
            match (&request.keep[..], &said.keep) {
                ([], Some(words)) => at(&words[i].1, why),
                (words, _) => keep::refused(words.get(i).map_or("", |word| word.trim()), &why),
            }
        })?;
        plan.describe(tables, request);
        Ok(plan)
    }

    /// A model whose columns are those of every run: the one of the file, or of an early run if that of the file is invalid.
    fn sample(&self) -> Result<Model, Failure> {
        const TRIED: u64 = 16;
        let own = self.problem.model();
        let Err(error) = own else { return Ok(own?) };
        let first = (0..self.runs().min(TRIED)).find_map(|k| {
            let values = self.values(k);
            self.problem.with(&self.setters, &values).ok()?.model().ok()
        });
        first.ok_or(Failure::from(error))
    }

    /// What it says of itself, and the number that tells it from others.
    fn describe(&mut self, tables: u64, request: &Request) {
        // Grids and lists draw nothing.
        let draws = |design: &&Design| design.spreads().iter().any(|spread| spread.count().is_none());
        let drawing = self.design.as_ref().filter(draws);
        let (seed, sampling) = (drawing.map(Design::seed), drawing.map(|design| design.sampling().name()));
        let spreads: Vec<String> =
            self.design.iter().flat_map(|design| design.spreads()).map(ToString::to_string).collect();
        let drawn = self.names.len() - spreads.len();
        let vary: Map<String, Value> = self
            .names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let how = i.checked_sub(drawn).and_then(|i| spreads.get(i));
                (name.clone(), Value::from(how.map_or("cases", String::as_str)))
            })
            .collect();
        let exact = format!("{:?}", self.design.as_ref().map(Design::spreads));
        let problem = &self.problem;
        let mut sum = add(EMPTY, env!("CARGO_PKG_VERSION"));
        sum = add(sum, problem.file().text());
        sum = files::sum(&tables.to_le_bytes(), sum);
        sum = request.set.iter().fold(sum, |sum, text| add(sum, text));
        sum = add(sum, self.method.id());
        sum = add(sum, &format!("{:?} {:?}", self.method, self.steps));
        sum = self.names.iter().fold(sum, |sum, name| add(sum, name));
        sum = add(sum, &format!("{exact} {seed:?} {sampling:?} {} {:?}", self.runs(), self.limit));
        sum = add(sum, &format!("{:?}", self.cases.as_ref().map(|cases| cases.sum)));
        sum = self.keep.list.iter().fold(sum, |sum, kept| add(sum, &format!("{kept:?}")));
        sum = add(sum, &format!("{:?}", self.trajectories.as_ref().map(|(_, every)| every)));
        self.hash = sum;
        let parameters: Map<String, Value> =
            problem.data().iter().map(|datum| (datum.name.clone(), json!(datum.values))).collect();
        let units: Map<String, Value> = self
            .keep
            .list
            .iter()
            .filter(|kept| !kept.unit.is_empty())
            .map(|kept| (kept.name.clone(), Value::from(kept.unit.as_str())))
            .collect();
        let times: Map<String, Value> = self
            .keep
            .list
            .iter()
            .filter_map(|kept| {
                let (column, t) = kept.at.as_ref()?;
                Some((kept.name.clone(), json!([column, t])))
            })
            .collect();
        self.about = json!({
            "polhode": env!("CARGO_PKG_VERSION"),
            "problem": problem.id,
            "title": problem.title,
            "parameters": parameters,
            "set": request.set,
            "method": self.method.id(),
            "step": self.steps.step(),
            "until": self.steps.until(),
            "runs": self.runs(),
            "vary": vary,
            "sampling": sampling,
            "seed": seed,
            "plan": self.hash(),
            "units": units,
            "times": times,
        });
        self.told = self.about.to_string();
    }

    /// A number that no other plan has, as text: two plans with the same one have the same rows.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.hash)
    }
    /// How many runs it has.
    pub fn runs(&self) -> u64 {
        let cases = self.cases.as_ref().map(Cases::runs);
        cases.or(self.design.as_ref().map(Design::runs)).unwrap_or(0)
    }
    /// The columns of the table: the number of the run, what was varied, what is kept, and the status.
    pub fn columns(&self) -> Vec<String> {
        let mut columns = vec![RUN.to_string()];
        columns.extend(self.numbers());
        columns.push(STATUS.into());
        columns
    }
    /// How many of the columns are numbers of the run.
    pub(super) fn width(&self) -> usize {
        self.names.len() + self.keep.list.len()
    }
    /// The columns that are numbers of the run.
    fn numbers(&self) -> Vec<String> {
        let kept = self.keep.list.iter().map(|kept| kept.name.clone());
        self.names.iter().cloned().chain(kept).collect()
    }
    /// What is said of the whole, as it stands in tables.
    pub fn about(&self) -> &Value {
        &self.about
    }
    /// How many runs a chunk has where nothing is said: there are five hundred chunks, or more where runs are very many, and
    /// whole groups of runs that go side by side.
    pub fn usual_chunk(&self) -> u64 {
        const CHUNKS: u64 = 500;
        const LARGEST: u64 = 1 << 16;
        self.runs().div_ceil(CHUNKS).clamp(1, LARGEST).next_multiple_of(self.together())
    }
    /// The runs of part `i` of `n`, counted from one.
    pub fn part(&self, [i, n]: [u64; 2]) -> Range<u64> {
        let end = |i: u64| (u128::from(self.runs()) * u128::from(i) / u128::from(n)) as u64;
        end(i - 1)..end(i)
    }
    /// What the head of a chunk of it says.
    pub(super) fn head(&self, runs: &Range<u64>, part: Option<[u64; 2]>) -> Head {
        Head {
            plan: self.hash(),
            version: env!("CARGO_PKG_VERSION").into(),
            first: runs.start,
            last: runs.end,
            runs: self.runs(),
            part,
            inputs: self.names.len(),
            columns: self.numbers(),
            about: self.told.clone(),
        }
    }
    /// What varies, as it is in run `k`.
    pub fn values(&self, k: u64) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.names.len());
        let mut drawn = Vec::new();
        if let Some(cases) = &self.cases {
            values.extend_from_slice(cases.row(k));
        }
        if let Some(design) = &self.design {
            design.values(k, &mut drawn);
            values.append(&mut drawn);
        }
        values
    }
}
