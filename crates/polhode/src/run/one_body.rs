//! A run of one body under a one-step method.

use super::saved::{Identity, Keeps, restore, save};
use super::tracked::Tracked;
use super::{Drift, EnergyEstimate, RestoreError, Run, Saved, Snapshot, Switches, part};
use crate::archive::{Archive, Kept, keep_optional};
use crate::body::Dynamics;
use crate::body::{Body, Kinematics, Load, Loads, State, has_value, inward};
use crate::group::{Exponential, Passage, Passing, So3};
use crate::method::{Method, Stepper, Steps};
use crate::multibody::{LOOKS, Origin, Reduced, System, side};
use crate::solve::{StepError, Work};
use core::any::Any;
use std::sync::Arc;

/// A body under way with a one-step method. It lands on the times at which its load switches.
#[derive(Clone, Debug)]
pub struct BodyRun<G: Dynamics, L> {
    pub(super) identity: Identity,
    /// The system that it was made of, if it was.
    system: Option<Arc<System<f64>>>,
    pub(super) body: Body<f64, G, L>,
    /// How the origin of a body about a fixed point moves.
    origin: Option<Origin<f64>>,
    pub(super) stepper: Stepper<f64, G>,
    pub(super) switches: Switches<f64>,
    pub(super) tracked: Tracked,
    pub(super) state: State<f64, G>,
    pub(super) time: f64,
    /// Where the last step began.
    pub(super) before: Option<Began<G>>,
    /// What is between, once that is asked for.
    pub(super) passage: Option<Passage<G>>,
}

/// A run of a body about a fixed point, as [`begin`](super::begin) makes it.
pub type Turning = BodyRun<So3, Loads<f64>>;

/// A state and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Began<G: Dynamics>(pub(super) State<f64, G>, pub(super) f64);

impl<G: Dynamics> Kept for Began<G> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.0.keep(archive);
        self.1.keep(archive);
    }
}

impl<G: Steps<f64>, L: Load<f64>> BodyRun<G, L> {
    /// At t = 0.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use nalgebra::{Matrix3, Vector3};
    /// use polhode::body::{Body, NoLoad, RotaryInertia};
    /// use polhode::group::{Rotation, So3};
    /// use polhode::method::Method;
    /// use polhode::run::{BodyRun, Plan, drive};
    ///
    /// let inertia = RotaryInertia::about_fixed_point(Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)))?;
    /// let body = Body::<f64, So3, _> { inertia, load: NoLoad };
    /// let start = body.state(Rotation::identity(), &Vector3::new(0.1, 1.0, 0.2));
    /// let mut run = BodyRun::new(body, start, &Method::parse("akw")?);
    /// let end = drive(&mut run, &Plan::new(0.05, 10.0)?, &mut |_, _| ControlFlow::Continue(()))?;
    /// assert_eq!((end.last.t, end.steps), (10.0, 200));
    /// assert!(end.drift.momentum_space.unwrap() < 1e-13);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(body: Body<f64, G, L>, start: State<f64, G>, method: &Method) -> Self {
        BodyRun {
            identity: Identity::new(method.id()),
            system: None,
            origin: None,
            stepper: Stepper::new(method),
            switches: Switches::of(&body.load),
            tracked: Tracked::new(&body, &start),
            state: start,
            time: 0.0,
            before: None,
            passage: None,
            body,
        }
    }
    /// The state that it is in.
    pub fn state(&self) -> &State<f64, G> {
        &self.state
    }
    /// Why a step of size `h` from here failed: its load has no value on the way, as far as the velocity shows that, or what
    /// the solver says.
    fn blamed(&self, error: StepError, h: f64) -> StepError {
        if !error.is_of_solver() {
            return error;
        }
        let velocity = self.body.velocity(&self.state);
        let lost =
            LOOKS.into_iter().map(|part| (part, side(self.time, h, part))).find(|(part, (t, inward))| {
                let on = G::increment(Exponential, &(velocity * (part * h)));
                let at = G::kinematics(*t, &G::advance(&self.state.pose, &on), &velocity);
                !has_value(&self.body.load, &Kinematics { inward: *inward, ..at })
            });
        let Some((_, (t, _))) = lost else { return error };
        let name = self.system.as_ref().and_then(|system| Some(&system.bodies().first()?.name));
        let element = name.map_or("the load".into(), |name| format!("the load on the body '{name}'"));
        StepError::NoValue { element, t }
    }
    /// What is known at an end of a step, on the side where `inward` points.
    fn passing(&self, state: &State<f64, G>, t: f64, inward: f64) -> Passing<G> {
        let velocity = self.body.velocity(state);
        let load = self.body.load_inward((t, inward), &state.pose, &velocity);
        let rate = G::transport(&velocity, &state.momentum) + load;
        Passing { pose: state.pose, velocity, rate: Some(G::velocity(&self.body.inertia, &rate)) }
    }
}

impl<G: Steps<f64>> BodyRun<G, Loads<f64>> {
    /// Of a system of one body.
    pub(super) fn of(reduced: &Reduced<f64, G>, system: &Arc<System<f64>>, method: &Method) -> Self {
        BodyRun {
            system: Some(system.clone()),
            switches: Switches::at(reduced.body.load.landings(method.order())),
            origin: reduced.origin,
            ..BodyRun::new(reduced.body.clone(), reduced.start, method)
        }
    }
}

impl<G: Steps<f64>, L: Load<f64>> Keeps for BodyRun<G, L> {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    fn system(&self) -> Option<&System<f64>> {
        self.system.as_deref()
    }
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.state.keep(archive);
        self.time.keep(archive);
        self.tracked.keep(archive);
        self.stepper.keep(&self.state, archive);
        keep_optional(&mut self.before, || Began(self.state, self.time), archive);
        self.passage = None;
    }
}

impl<G: Steps<f64>, L: Load<f64> + Send + 'static> Run for BodyRun<G, L> {
    fn time(&self) -> f64 {
        self.time
    }
    fn step(&mut self, h: f64, to: f64) -> Result<(), StepError> {
        let next = self.switches.step(&mut self.stepper, &self.body, &self.state, self.time, h);
        let next = next.map_err(|error| self.blamed(error, h))?;
        self.tracked.update(&self.body, (&self.state, self.time), h, (&next, to));
        (self.before, self.passage) = (Some(Began(self.state, self.time)), None);
        (self.state, self.time) = (next, to);
        Ok(())
    }
    fn snapshot(&self) -> Snapshot {
        let snapshot = Snapshot::of_body(&self.body, self.origin.as_ref(), &self.state, self.time);
        Snapshot { estimate: self.tracked.seen(), ..snapshot }
    }
    fn row(&self, row: &mut Vec<f64>) {
        let now = (self.time, self.tracked.seen());
        Snapshot::row_of_body(&self.body, self.origin.as_ref(), &self.state, now, row);
    }
    fn between(&mut self, t: f64) -> Option<Snapshot> {
        let Began(before, began) = self.before?;
        let (h, part) = part(began, self.time, t)?;
        let passage = self.passage.unwrap_or_else(|| {
            let from = self.passing(&before, began, inward(began, h));
            let to = self.passing(&self.state, self.time, -inward(self.time, h));
            Passage::new(&from, &to, h)
        });
        self.passage = Some(passage);
        let (pose, velocity) = passage.at(part);
        let state = self.body.state(pose, &velocity);
        Some(Snapshot::of_body(&self.body, self.origin.as_ref(), &state, t))
    }
    fn save_in(&mut self, saved: &mut Saved) -> Result<(), RestoreError> {
        save(self, saved);
        Ok(())
    }
    fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        restore(self, saved)
    }
    fn loads_changed(&mut self) -> Result<(), StepError> {
        self.stepper.forget();
        Ok(())
    }
    fn turning(&mut self) -> Option<&mut Turning> {
        let run: &mut dyn Any = self;
        run.downcast_mut()
    }
    fn work(&self) -> Work {
        self.stepper.work
    }
    fn drift(&self) -> Drift {
        self.tracked.drift()
    }
    fn overflow(&self) -> Option<&'static str> {
        self.tracked.overflow()
    }
    fn estimate_energy(&mut self) -> bool {
        self.tracked.estimate(self.body.potential_energy(&self.state, self.time).is_some());
        true
    }
    fn energy_estimate(&self) -> Option<&EnergyEstimate> {
        self.tracked.energy_estimate()
    }
}
