//! A run that looks for events in each of its steps.

use super::{
    Drift, EnergyEstimate, Event, Item, Joints, Occurrence, RestoreError, Run, Saved, Snapshot, Turning,
};
use crate::archive::{Archive, Kept};
use crate::solve::{StepError, Work};

/// Where inside a step the motion is looked at, as parts of it.
const LOOKS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// What is smaller at the start, relative to the values of the first step, is a zero there.
const NOTHING: f64 = 1e-12;

/// A run with events: where one of their functions crosses zero inside a step, the step is taken anew up to there.
///
/// Crossings are found on the motion between the ends of a step ([`Run::between`]), several in one step where it shows them.
/// Each is then refined by steps from the start of this one, of the size that leads to it, so that its time and its state are
/// as exact as the method is and owe nothing to the interpolation. Generalized-alpha methods are of second order and do not bear
/// short steps well ([`Run::lands_between`]): there the interpolation, which is of higher order, is what counts. After that the run
/// goes on as if nobody had looked, to the bit; an event that stops leaves it where it happened instead, and it has ended.
///
/// A zero at the start is no crossing. One at the end of a step counts where the step reaches it, whatever comes then.
///
/// ```
/// use core::ops::ControlFlow;
/// use polhode::{method::Method, problem::Problem, run::{Direction, Event, Plan, Watched, begin, drive}};
/// let model = Problem::named("slow-top")?.model()?;
/// let run = begin(model.system(), &Method::parse("compose:akw:6")?)?;
/// // The axis of the top is highest where its height stops rising.
/// let rate = |seen: &polhode::run::Snapshot| {
///     let body = &seen.bodies[0];
///     body.attitude.rotate(&body.omega_body.cross(&nalgebra::Vector3::z())).z
/// };
/// let mut run = Watched::new(run, vec![Event::new("highest", rate).going(Direction::Down)]);
/// drive(&mut run, &Plan::new(0.01, 25.0)?, &mut |_, _| ControlFlow::Continue(()))?;
/// let times: Vec<f64> = run.found().iter().map(|found| found.state.t).collect();
/// // They are a nutation apart.
/// let apart: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
/// assert!(apart.len() > 2 && apart.iter().all(|x| (x / apart[0] - 1.0).abs() < 1e-6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watched {
    run: Box<dyn Run>,
    events: Vec<Event>,
    /// On which side of zero each function was last; zero where it was there.
    sides: Vec<f64>,
    begun: bool,
    found: Vec<Occurrence>,
    stopped: bool,
    /// The state now, if it was asked for.
    last: Option<Snapshot>,
    /// The ends of the step at hand.
    before: Saved,
    after: Saved,
}

/// Why a step could not be looked into.
fn unsaved(error: RestoreError) -> StepError {
    StepError::NoStart { reason: format!("events cannot be looked for: {error}") }
}

/// A crossing as the interpolation shows it.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    event: usize,
    /// The side that it comes from.
    side: f64,
    /// About when.
    t: f64,
    /// About how fast; zero if it is at the end of the step.
    slope: f64,
    /// Where it must lie.
    within: [f64; 2],
}

/// The numbers next to this one are so far away.
fn spacing(t: f64) -> f64 {
    t.abs().max(f64::MIN_POSITIVE) * f64::EPSILON
}

/// Where a parabola through three points has its vertex, and how high that is.
fn vertex([a, b, c]: [(f64, f64); 3]) -> Option<(f64, f64)> {
    let (first, second) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = (second - first) / (c.0 - a.0);
    let t = 0.5 * (a.0 + b.0) - 0.5 * first / bend;
    let height = a.1 + (t - a.0) * (first + bend * (t - b.0));
    (t > a.0 && t < c.0 && height.is_finite()).then_some((t, height))
}

impl Watched {
    /// Of a run.
    pub fn new(run: Box<dyn Run>, events: Vec<Event>) -> Self {
        Watched {
            run,
            sides: vec![0.0; events.len()],
            events,
            begun: false,
            found: Vec::new(),
            stopped: false,
            last: None,
            before: Saved::default(),
            after: Saved::default(),
        }
    }
    /// What is watched for.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
    /// What has happened, in the order of time.
    pub fn found(&self) -> &[Occurrence] {
        &self.found
    }
    /// The event that has ended the run, if one has.
    pub fn stopped(&self) -> Option<&Event> {
        let last = self.found.iter().rev().map(|found| &self.events[found.event]);
        last.filter(|_| self.stopped).find(|event| event.stops())
    }

    /// The value of an event, which must be a number.
    fn value(&self, event: usize, state: &Snapshot) -> Result<f64, StepError> {
        match self.events[event].value(state) {
            x if x.is_finite() => Ok(x),
            _ => Err(StepError::NoEvent { event: self.events[event].name().into(), t: state.t }),
        }
    }
    /// The value of an event inside the step, if it has one there.
    fn inside(&mut self, event: usize, t: f64) -> Option<f64> {
        let seen = self.run.between(t)?;
        Some(self.events[event].value(&seen)).filter(|x| x.is_finite())
    }

    /// The crossings of an event that its values over a step show.
    fn crossings(&mut self, event: usize, mut points: Vec<(f64, f64)>, all: &mut Vec<Crossing>) {
        let ends = [points[0].0, points[points.len() - 1].0];
        // Where the function turns round between two looks, it may cross zero twice there.
        let mut turns = Vec::new();
        for three in points.windows(3) {
            let same = three.iter().all(|(_, x)| x * three[0].1 > 0.0);
            if let Some((t, height)) = vertex([three[0], three[1], three[2]])
                && same
                && height * three[0].1 <= 0.0
                && let Some(x) = self.inside(event, t)
            {
                turns.push((t, x));
            }
        }
        points.extend(turns);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);

        let first = all.len();
        let mut last: Option<(f64, f64)> = None;
        for (t, x) in points {
            if x == 0.0 {
                if t == ends[1] && self.sides[event] != 0.0 {
                    all.push(Crossing { event, side: self.sides[event], t, slope: 0.0, within: [t; 2] });
                    self.sides[event] = 0.0;
                }
                continue;
            }
            let side = x.signum();
            if let Some(last) = last
                && side * self.sides[event] < 0.0
            {
                let (t, slope) = self.on_the_way(event, last, (t, x));
                all.push(Crossing { event, side: -side, t, slope, within: ends });
            }
            self.sides[event] = side;
            last = Some((t, x));
        }
        // Each lies between the middles to its neighbours.
        for k in first + 1..all.len() {
            let middle = 0.5 * (all[k - 1].t + all[k].t);
            (all[k - 1].within[1], all[k].within[0]) = (middle, all[k].within[0].max(middle));
        }
        let counts = |crossing: &Crossing| self.events[event].direction().counts(crossing.side);
        let kept: Vec<Crossing> = all.drain(first..).filter(counts).collect();
        all.extend(kept);
    }

    /// A zero of the interpolation between two points on both sides of it, and the slope there.
    fn on_the_way(&mut self, event: usize, mut a: (f64, f64), mut b: (f64, f64)) -> (f64, f64) {
        let (slope, enough) = ((b.1 - a.1) / (b.0 - a.0), 1e-7 * (b.0 - a.0));
        let mut slope = slope;
        // The point that stays counts half (the rule of Illinois).
        let mut kept = 0.0;
        for _ in 0..50 {
            let t = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
            let t = if t > a.0 && t < b.0 { t } else { 0.5 * (a.0 + b.0) };
            let Some(x) = self.inside(event, t) else { break };
            let (near, far) = if x * a.1 > 0.0 { (&mut a, &mut b) } else { (&mut b, &mut a) };
            if near.0 != t {
                slope = (x - near.1) / (t - near.0);
            }
            let moved = (near.0 - t).abs();
            let which = near.0 - far.0;
            *near = (t, x);
            if x == 0.0 || moved < enough {
                return (t, slope);
            }
            if which * kept > 0.0 {
                far.1 *= 0.5;
            }
            kept = which;
        }
        (0.5 * (a.0 + b.0), slope)
    }

    /// The state at a time inside the step: of a step that is taken anew, up to there, or as the interpolation has it
    /// where short steps are not to be trusted.
    fn redo(&mut self, t: f64) -> Result<Snapshot, StepError> {
        if self.run.lands_between() {
            return self.run.between(t).ok_or_else(|| unsaved(RestoreError::Unsupported));
        }
        self.run.restore(&self.before).map_err(unsaved)?;
        let from = self.run.time();
        self.run.step(t - from, t)?;
        Ok(self.run.snapshot())
    }

    /// The state at a crossing of a step between these ends, refined by steps up to it; none where those do not cross.
    fn refined(&mut self, crossing: &Crossing, ends: [f64; 2]) -> Result<Option<Snapshot>, StepError> {
        let Crossing { event, side, mut t, mut slope, within: [mut low, mut high] } = *crossing;
        // Whether the function was seen on both sides; at the ends of the step it is known to be.
        let mut met = [low == ends[0], high == ends[1]];
        let mut last: Option<(f64, f64)> = None;
        let mut best: Option<(f64, Snapshot)> = None;
        for _ in 0..100 {
            let state = self.redo(t)?;
            let x = self.value(event, &state)?;
            if best.as_ref().is_none_or(|(least, _)| x.abs() < *least) {
                best = Some((x.abs(), state));
            }
            if x == 0.0 {
                met = [true; 2];
                break;
            }
            if x * side > 0.0 {
                (low, met[0]) = (t, true)
            } else {
                (high, met[1]) = (t, true)
            }
            if let Some((at, was)) = last
                && (t - at).abs() > 64.0 * spacing(t)
            {
                slope = (x - was) / (t - at);
            }
            last = Some((t, x));
            let next = t - x / slope;
            // A correction that is all rounding: the time is as good as it gets.
            if (next - t).abs() <= 2.0 * spacing(t) || high - low <= 2.0 * spacing(high) {
                break;
            }
            t = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        // A side that was not met may not be there: the interpolation is not the motion.
        for (k, sign) in [side, -side].into_iter().enumerate() {
            if !met[k] {
                let state = self.redo(crossing.within[k])?;
                met[k] = self.value(event, &state)? * sign > 0.0;
            }
        }
        Ok(best.map(|(_, state)| state).filter(|_| met == [true; 2]))
    }

    /// What happens in the step that was taken, which leads from one state to another.
    fn look(&mut self, from: &Snapshot, to: &Snapshot) -> Result<(), StepError> {
        let (ends, h) = ([from.t, to.t], to.t - from.t);
        let looks = LOOKS.map(|part| from.t + part * h);
        let seen: Vec<Snapshot> = looks.iter().filter_map(|t| self.run.between(*t)).collect();
        let mut all = Vec::new();
        for event in 0..self.events.len() {
            let (x0, x1) = (self.value(event, from)?, self.value(event, to)?);
            let inner = seen.iter().map(|state| (state.t, self.events[event].value(state)));
            let mut points: Vec<(f64, f64)> = inner.filter(|(_, x)| x.is_finite()).collect();
            points.insert(0, (from.t, x0));
            points.push((to.t, x1));
            if !self.begun {
                let largest = points.iter().fold(0.0, |most: f64, (_, x)| most.max(x.abs()));
                if x0.abs() <= NOTHING * largest {
                    points[0].1 = 0.0;
                }
            }
            self.crossings(event, points, &mut all);
        }
        self.begun = true;
        if all.is_empty() {
            return Ok(());
        }
        let by_steps = !self.run.lands_between();
        if by_steps {
            self.run.save_in(&mut self.after).map_err(unsaved)?;
        }
        let mut new = Vec::new();
        for crossing in &all {
            let state = match crossing.t == ends[1] {
                true => Some(to.clone()),
                false => self.refined(crossing, ends)?,
            };
            let rising = crossing.side < 0.0;
            new.extend(state.map(|state| Occurrence { event: crossing.event, rising, state }));
        }
        new.sort_by(|a, b| a.state.t.total_cmp(&b.state.t));
        let stop = new.iter().find(|found| self.events[found.event].stops()).map(|found| found.state.t);
        match stop.filter(|t| *t != ends[1]) {
            Some(t) if !by_steps => self.run.land(&self.before, t).map_err(unsaved)?,
            Some(t) => drop(self.redo(t)?),
            None if by_steps => self.run.restore(&self.after).map_err(unsaved)?,
            None => {}
        }
        new.retain(|found| stop.is_none_or(|stop| found.state.t <= stop));
        self.stopped = stop.is_some();
        self.found.append(&mut new);
        Ok(())
    }

    /// What belongs to the events.
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.sides.keep(archive);
        self.begun.keep(archive);
        self.stopped.keep(archive);
        let mut count = self.found.len();
        count.keep(archive);
        // States have the same numbers in them throughout a run.
        let state = self.run.snapshot();
        self.found.truncate(count);
        for k in 0..count {
            if k == self.found.len() {
                self.found.push(Occurrence { event: 0, rising: false, state: state.clone() });
            }
            self.found[k].keep(archive);
            if archive.is_broken() {
                break;
            }
        }
    }
}

impl Run for Watched {
    fn time(&self) -> f64 {
        self.run.time()
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        if self.events.is_empty() {
            return self.run.step(h, to);
        }
        if h.is_nan() || h <= 0.0 {
            return Err(StepError::NoStart {
                reason: "events are looked for in steps forward in time".into(),
            });
        }
        if let Some(event) = self.stopped() {
            let reason = format!("the event '{}' has ended the run", event.name());
            return Err(StepError::NoStart { reason });
        }
        let from = self.last.take().unwrap_or_else(|| self.run.snapshot());
        self.run.save_in(&mut self.before).map_err(unsaved)?;
        self.run.step(h, to)?;
        let (sides, begun) = (self.sides.clone(), self.begun);
        let end = self.run.snapshot();
        let looked = self.look(&from, &end);
        match looked {
            Ok(()) => self.last = Some(end).filter(|_| !self.stopped),
            Err(_) => {
                (self.sides, self.begun) = (sides, begun);
                self.run.restore(&self.before).map_err(unsaved)?;
            }
        }
        looked
    }
    fn loads_changed(&mut self) -> Result<(), StepError> {
        self.last = None;
        self.run.loads_changed()
    }
    fn turning(&mut self) -> Option<&mut Turning> {
        if self.events.is_empty() { self.run.turning() } else { None }
    }
    fn snapshot(&self) -> Snapshot {
        self.run.snapshot()
    }
    fn motion(&self) -> Snapshot {
        self.run.motion()
    }
    fn needs_forces(&self, item: &Item) -> bool {
        self.run.needs_forces(item)
    }
    fn row(&self, row: &mut Vec<f64>) {
        self.run.row(row);
    }
    fn between(&mut self, t: f64) -> Option<Snapshot> {
        self.run.between(t)
    }
    fn ended(&self) -> bool {
        self.stopped || self.run.ended()
    }
    fn save_in(&mut self, saved: &mut Saved) -> Result<(), RestoreError> {
        self.run.save_in(saved)?;
        if self.events.is_empty() {
            return Ok(());
        }
        let mut archive = Archive::writing();
        self.keep(&mut archive);
        let own = archive.words();
        // Their number comes last, and tells where they begin.
        saved.words.extend_from_slice(&own);
        saved.words.push(own.len() as u64);
        Ok(())
    }
    fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        if self.events.is_empty() {
            return self.run.restore(saved);
        }
        let (count, rest) = saved.words.split_last().ok_or(RestoreError::Damaged)?;
        let at = usize::try_from(*count).ok().and_then(|count| rest.len().checked_sub(count));
        let (run, own) = rest.split_at(at.ok_or(RestoreError::Damaged)?);
        let before = self.run.save()?;
        self.run.restore(&Saved { words: run.to_vec(), ..saved.clone() })?;
        let kept = (self.sides.clone(), self.begun, self.stopped, self.found.clone());
        let mut archive = Archive::reading(own);
        self.keep(&mut archive);
        self.last = None;
        if archive.fits() && self.found.iter().all(|found| found.event < self.events.len()) {
            return Ok(());
        }
        (self.sides, self.begun, self.stopped, self.found) = kept;
        self.run.restore(&before)?;
        Err(RestoreError::Damaged)
    }
    fn work(&self) -> Work {
        self.run.work()
    }
    fn drift(&self) -> Drift {
        self.run.drift()
    }
    fn overflow(&self) -> Option<&'static str> {
        self.run.overflow()
    }
    fn joints(&self) -> Option<Joints> {
        self.run.joints()
    }
    fn estimate_energy(&mut self) -> bool {
        self.last = None;
        self.run.estimate_energy()
    }
    fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        self.run.energy_estimate()
    }
}
