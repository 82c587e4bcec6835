//! What a step works on: the prediction and the iterate of each body, weights, memory.

use super::eased::Eased;
use super::finite::Leap;
use super::history::{Guess, History, ORDER};
use super::joint::MOST_ROWS;
use super::layout::Layout;
use super::place::{Place, zero};
use super::split::AFTER;
use super::state::{BodyMotion, CoordinateState};
use super::stored::{StoredRow, none};
use super::system::{End, Rigid, System};
use super::tape::Matrix;
use crate::body::{Kinematics, Load, inward};
use crate::group::{MapKind, Rotation, Tangent, Vectorial};
use crate::method::{AlphaScheme, Form, SystemScheme};
use crate::scalar::{Over, Real, larger};
use crate::solve::{FactorError, ROUND_OFF, StepError};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// The step of one body: what was predicted, and the iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<S: Real> {
    pub(super) position: Vector3<S>,
    pub(super) velocity: Vector3<S>,
    pub(super) parameters: Vector3<S>,
    pub(super) parameters_rate: Vector3<S>,
    /// T_n, where the chart does not start at zero.
    pub(super) tangent: Matrix3<S>,
    /// g_α in the parameters of the step; of a step by finite derivatives the angular momentum at its start, in body axes and times
    /// half of the step.
    pub(super) carried: Vector3<S>,
    /// Of such a step, the part of the momentum that is about axes without inertia.
    pub(super) unseen: Vector3<S>,
    /// u.
    pub(super) change: [Vector3<S>; 2],
    /// p; the same in index 3.
    pub(super) moved: [Vector3<S>; 2],
    /// What corrections of position and attitude are compared with.
    pub(super) sizes: [S; 2],
}

/// A body at the iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now<S: Real> {
    pub(super) place: Place<S>,
    pub(super) attitude: Rotation<S>,
    pub(super) acceleration: Vector3<S>,
    pub(super) parameters: Vector3<S>,
    pub(super) parameters_rate: Vector3<S>,
    pub(super) parameters_acceleration: Vector3<S>,
    /// Of a parameterized form.
    pub(super) tangent: Option<Tangent<S>>,
    /// f_c: force in space, moment in body axes.
    pub(super) complementary: [Vector3<S>; 2],
    /// Ω by a change θ of the attitude at held rates of the parameters, and by θ of the rates at held attitude.
    pub(super) omega_slopes: [Matrix3<S>; 2],
}

/// What multiplies what, for one step size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights<S> {
    /// Velocity per change.
    pub(super) velocity: S,
    /// Acceleration per change.
    pub(super) acceleration: S,
    /// Of the acceleration forces.
    pub(super) inertial: S,
    /// Of the complementary forces.
    pub(super) complementary: S,
    /// Of the equations of motion.
    pub(super) scale: S,
    /// Multiplier per unknown.
    pub(super) multiplier: S,
}

/// All that a step works on. Allocated once, most of it in the first step.
#[derive(Clone, Debug)]
pub(super) struct Workspace<S: Real> {
    pub(super) layout: Arc<Layout>,
    /// That of the same step if it held positions alone.
    pub(super) small: Arc<Layout>,
    /// Whether B at the start of a step is kept, and both ends of it for each body.
    keeps: [bool; 2],
    has_room: bool,
    pub(super) scheme: AlphaScheme,
    /// None until the first matrix is written, which shows where its entries are.
    pub(super) matrix: Option<Matrix<S>>,
    /// The whole one of a stabilized step, if the factors in use are its own, and if the step begins with it.
    pub(super) whole: Option<Matrix<S>>,
    /// Those of a step from a discrete Lagrangian, in place of a matrix.
    pub(super) eased: Option<Box<Eased<S>>>,
    pub(super) in_whole: bool,
    pub(super) wants_whole: bool,
    /// Steps that still begin with it, because one did not go without.
    pub(super) whole_for: u64,
    /// How many the next time.
    pub(super) whole_after: u64,
    /// The unknowns of both levels, and how the rows of velocity change with the poses.
    pub(super) levels: [Vec<S>; 2],
    pub(super) slopes: Vec<[[Vector3<S>; 4]; MOST_ROWS]>,
    /// True if the unknowns of poses have the motion at the start of the step in them, of which guesses are made without.
    pub(super) from_motion: bool,
    /// True if velocities across joints may alternate from step to step.
    pub(super) alternates: bool,
    /// The highest order of extrapolation.
    pub(super) order: usize,
    /// The sizes of the last corrections of the step.
    pub(super) corrections: [f64; 2],
    pub(super) steps: Vec<Step<S>>,
    pub(super) now: Vec<Now<S>>,
    /// The multipliers at the iterate.
    pub(super) lambda: Vec<S>,
    /// Those of the velocity rows.
    pub(super) eta: Vec<S>,
    /// B at the start of the step, of the stabilized form and of a step from a discrete Lagrangian.
    pub(super) jacobians: Vec<StoredRow<S>>,
    /// Of a step from a discrete Lagrangian, the time at its end if they are those where bodies are then.
    pub(super) rows_at: Option<f64>,
    /// y*, ẏ*, u of the extra coordinates.
    pub(super) flat: Vec<[Vec<S>; 3]>,
    pub(super) residual: Vec<S>,
    /// Both ends of the step of each body, of a step by finite derivatives.
    pub(super) leaps: Vec<Leap<S>>,
    /// The multipliers of positions and of velocities as its equations have them.
    pub(super) scaled: [Vec<S>; 2],
    /// μ of each row of the joints that depend on each other, zero for the rest; empty without such joints.
    pub(super) softness: Vec<S>,
    /// The multipliers from which such rows of positions give way, of a step that keeps structure. Those of velocities are as
    /// small as the third power of the step, and give way from none.
    pub(super) held: Vec<S>,
    /// A typical mass.
    pub(super) mass: S,
    /// What counts as round-off of a correction: joints hand theirs on to each other, and in long chains they add up as in a random walk.
    pub(super) round_off: f64,
    /// Distances of the joints from the centre of mass of each body.
    pub(super) arms: Vec<S>,
    /// How far each body turns per displacement of its joints: their rounding is that of positions in space.
    pub(super) levers: Vec<S>,
    pub(super) trouble: Option<FactorError>,
    /// The angles by which bodies were turned since the matrix was written.
    pub(super) turned: S,
    /// The largest angle by which a body turns in the step.
    pub(super) angle: S,
    pub(super) history: History<S>,
}

/// The angle that counts as the motion of a step if that is less: rounding of the attitude is the limit of all corrections.
pub(super) const LEAST_MOTION: f64 = 1.0 / 16.0;
/// The part that counts of the angle of a step, and of the angle that rounding makes of the distances of joints.
pub(super) const ROUNDED: f64 = 0.25;

pub(super) fn lengths<S: Real>(v: &Vector3<S>) -> S {
    v[0].abs() + v[1].abs() + v[2].abs()
}

impl<S: Real> Workspace<S> {
    /// Of a system with its layout where positions alone are held, if that is known.
    pub(super) fn new(
        system: &System<S>,
        scheme: &SystemScheme,
        softness: Vec<S>,
        small: Option<&Arc<Layout>>,
    ) -> Self {
        let stabilized = scheme.is_stabilized();
        let layout = |stabilized: bool| {
            let mut layout = Layout::new(system, stabilized);
            layout.mark_redundant(&softness);
            Arc::new(layout)
        };
        let small = small.map_or_else(|| layout(false), Arc::clone);
        let layout = if stabilized { layout(true) } else { small.clone() };
        let alternates = matches!(scheme, SystemScheme::Conserving(_)) && !stabilized;
        let from_motion = !matches!(scheme, SystemScheme::Alpha(_));
        // Corrections make derivatives exact, not guesses.
        let smooth = S::DEPTH == 0 && !matches!(scheme, SystemScheme::Alpha(_));
        let order = if smooth { ORDER } else { 3 };
        let mut plain = AlphaScheme::default();
        plain.stabilized = stabilized;
        let (scheme, keeps) = match scheme {
            SystemScheme::Alpha(scheme) => (scheme, [scheme.stabilized, false]),
            SystemScheme::Conserving(_) => (&plain, [false, true]),
            SystemScheme::Variational(_) => (&plain, [true, false]),
        };
        let reach = |ends: &mut dyn Iterator<Item = &End<S>>| {
            let mut arms: Vec<S> = vec![S::zero(); system.bodies.len()];
            for end in ends {
                if let Some(body) = end.body {
                    arms[body] = arms[body].max(lengths(&end.point));
                }
            }
            arms
        };
        let mut levers = reach(&mut system.joints.iter().flat_map(|j| &j.ends));
        let mut arms = reach(&mut system.forces.iter().flat_map(|f| &f.ends));
        for (b, body) in system.bodies.iter().enumerate() {
            let (square, arm) = (body.inertia.matrix().trace() / body.mass, levers[b]);
            arms[b] = arms[b].max(arm).max(square.sqrt());
            let inert = arm * arm + square;
            levers[b] = S::select(S::zero().below(inert), arm / inert, S::zero());
        }
        let mass = system.typical_mass();
        let flat = |len: usize| [vec![S::zero(); len], vec![S::zero(); len], vec![S::zero(); len]];
        Workspace {
            scheme: *scheme,
            matrix: None,
            whole: None,
            eased: None,
            in_whole: false,
            wants_whole: false,
            whole_for: 0,
            whole_after: AFTER,
            levels: [Vec::new(), Vec::new()],
            slopes: Vec::new(),
            from_motion,
            alternates,
            order,
            corrections: [f64::NAN; 2],
            steps: Vec::new(),
            now: Vec::new(),
            lambda: Vec::new(),
            eta: Vec::new(),
            jacobians: Vec::new(),
            rows_at: None,
            flat: system.extra.iter().map(|e| flat(e.len())).collect(),
            residual: Vec::new(),
            leaps: Vec::new(),
            scaled: [Vec::new(), Vec::new()],
            held: vec![S::zero(); softness.len()],
            softness,
            mass,
            round_off: ROUND_OFF.max(0.25 * f64::EPSILON * (system.joints.len() as f64).sqrt()),
            arms,
            levers,
            trouble: None,
            turned: S::zero(),
            angle: S::zero(),
            history: History {
                h: f64::NAN,
                differences: Vec::new(),
                guess: Guess::default(),
                tied: Guess::default(),
                known: 0,
                extra: 0,
                served: 0,
                failed: 0,
                wait: 0,
                began: false,
                made: false,
            },
            layout,
            small,
            keeps,
            has_room: false,
        }
    }
    /// Room for steps, which a system that is only looked at does without.
    pub(super) fn make_room(&mut self, system: &System<S>) {
        if core::mem::replace(&mut self.has_room, true) {
            return;
        }
        let (bodies, joints) = (system.bodies.len(), system.joints.len());
        let still = Step {
            position: zero(),
            velocity: zero(),
            parameters: zero(),
            parameters_rate: zero(),
            tangent: Matrix3::identity(),
            carried: zero(),
            unseen: zero(),
            change: [zero(); 2],
            moved: [zero(); 2],
            sizes: [S::one(); 2],
        };
        let now = Now {
            place: Place::ground(),
            attitude: Rotation::identity(),
            acceleration: zero(),
            parameters: zero(),
            parameters_rate: zero(),
            parameters_acceleration: zero(),
            tangent: None,
            complementary: [zero(); 2],
            omega_slopes: [Matrix3::zeros(); 2],
        };
        self.steps = vec![still; bodies];
        self.now = vec![now; bodies];
        let zeros = |count: usize| vec![S::zero(); count];
        let [keeps_rows, leaps] = self.keeps;
        let Layout { n, rows, .. } = *self.layout;
        if self.scheme.stabilized {
            self.levels = [zeros(self.small.n), zeros(self.small.n)];
            self.slopes = vec![[[zero(); 4]; MOST_ROWS]; joints];
        }
        if keeps_rows {
            self.jacobians = vec![[none(); 2]; rows];
        }
        (self.residual, self.lambda, self.eta) = (zeros(n), zeros(rows), zeros(rows));
        if leaps {
            self.leaps = vec![Leap::ground(); bodies];
            self.scaled = [zeros(rows), zeros(rows)];
        }
        self.history.differences = vec![[S::zero(); ORDER + 1]; n];
    }
    /// Puts a vector of forces and one of moments into the residual.
    #[inline(always)]
    pub(super) fn put(&mut self, row: usize, [force, moment]: [Vector3<S>; 2]) {
        for i in 0..3 {
            self.residual[row + i] = force[i];
            self.residual[row + 3 + i] = moment[i];
        }
    }
    /// μ of a row, by its number among all multipliers, if it gives way.
    #[inline(always)]
    pub(super) fn soft(&self, row: usize) -> Option<S> {
        self.softness.get(row).copied().filter(|soft| soft.largest() > 0.0)
    }
    /// The map of the form.
    pub(super) fn map(&self) -> Vectorial {
        match self.scheme.form {
            Form::Geometric => MapKind::Exponential.into(),
            _ => self.scheme.map.into(),
        }
    }
    /// The largest parameters of the step that was solved: squared length.
    pub(super) fn largest_parameters(&self) -> f64 {
        self.now.iter().map(|now| now.parameters.dot(&now.parameters).largest()).fold(0.0, larger)
    }
}

/// One step under way.
pub(super) struct Stepping<'a, S: Real> {
    pub(super) system: &'a System<S>,
    pub(super) bodies: &'a [BodyMotion<S>],
    pub(super) extra: &'a [CoordinateState<S>],
    /// The multipliers at the start.
    pub(super) lambda: &'a [S],
    /// The angles that those of the joints are near to at the end of the step.
    pub(super) angles: &'a [f64],
    pub(super) work: &'a mut Workspace<S>,
    pub(super) t: S,
    pub(super) h: S,
    pub(super) whole: S,
    pub(super) weights: Weights<S>,
}

/// The places of both ends of a joint or force; the ground is still.
#[inline(always)]
pub(super) fn ends<'a, S: Real>(
    now: &'a [Now<S>],
    ground: &'a Place<S>,
    ends: [Option<usize>; 2],
) -> [&'a Place<S>; 2] {
    ends.map(|body| body.map_or(ground, |b| &now[b].place))
}

/// Force in space and moment in body axes of the loads of a body, on one side of a time, see [`Kinematics::inward`].
pub(super) fn loads<S: Real, T: Over<S>>(
    body: &Rigid<S>,
    (t, inward): (T, f64),
    attitude: &Rotation<T>,
    place: &Place<T>,
) -> [Vector3<T>; 2] {
    let kinematics = Kinematics {
        time: t,
        attitude: *attitude,
        position: place.x,
        velocity_body: attitude.unrotate(&place.v),
        omega_body: place.omega,
        inward,
    };
    let wrench = body.loads.wrench(&kinematics);
    [attitude.rotate(&wrench.force_body), wrench.moment_body]
}

impl<S: Real> Weights<S> {
    pub(super) fn new(work: &Workspace<S>, h: S) -> Self {
        let (alpha, number) = (work.scheme.weights, S::lift);
        let per = (number(alpha.beta) * h * h).recip();
        let (inertial, complementary, acceleration) = match work.scheme.form {
            Form::Residual => (number(1.0 - alpha.m), number(1.0 - alpha.f), per),
            _ => (S::one(), S::one(), per * number((1.0 - alpha.m) / (1.0 - alpha.f))),
        };
        let force = inertial * acceleration * work.mass;
        Weights {
            velocity: number(alpha.gamma / alpha.beta) / h,
            acceleration,
            inertial,
            complementary,
            scale: force.recip(),
            multiplier: force / complementary,
        }
    }
}

impl<'a, S: Real> Stepping<'a, S> {
    /// A step of size `h` from `t`.
    pub(super) fn new(
        system: &'a System<S>,
        (bodies, extra, lambda): (&'a [BodyMotion<S>], &'a [CoordinateState<S>], &'a [S]),
        angles: &'a [f64],
        work: &'a mut Workspace<S>,
        t: S,
        h: S,
    ) -> Self {
        work.make_room(system);
        let weights = Weights::new(work, h);
        Stepping { system, bodies, extra, lambda, angles, work, t, h, whole: h, weights }
    }
    /// Lets rows that depend on each other give way from the multipliers that they have now, or, at the beginning of a step, from
    /// none.
    pub(super) fn hold(&mut self, begun: bool) {
        let work = &mut *self.work;
        for (held, now) in work.held.iter_mut().zip(&work.lambda) {
            *held = if begun { *now } else { S::zero() };
        }
    }
    /// Takes the unknowns that were found elsewhere into its own.
    pub(super) fn take_up(&mut self, found: &Workspace<f64>, take: impl Fn(&mut S, f64)) {
        let work = &mut *self.work;
        for (step, found) in work.steps.iter_mut().zip(&found.steps) {
            for i in 0..3 {
                for part in 0..2 {
                    take(&mut step.change[part][i], found.change[part][i]);
                    take(&mut step.moved[part][i], found.moved[part][i]);
                }
            }
        }
        let list = |own: &mut [S], found: &[f64]| {
            own.iter_mut().zip(found).for_each(|(own, found)| take(own, *found));
        };
        list(&mut work.lambda, &found.lambda);
        list(&mut work.eta, &found.eta);
        for (own, found) in work.flat.iter_mut().zip(&found.flat) {
            list(&mut own[2], &found[2]);
        }
    }
    /// Tells what was wrong with the Newton matrix.
    pub(super) fn check(&self) -> Result<(), StepError> {
        let (t, h) = (self.t.largest(), self.whole.largest());
        match &self.work.trouble {
            None => Ok(()),
            Some(FactorError::Singular { null, .. }) => {
                let joints = match &self.work.eased {
                    Some(eased) => eased.unknowns.named(self.system, null),
                    None => self.work.layout.named(self.system, null),
                };
                Err(StepError::Singular { t, h, joints })
            }
            Some(_) => Err(StepError::NotFinite { t, h }),
        }
    }
    /// The end of the step, on the side where the step is: what switches there is not yet on.
    pub(super) fn end(&self) -> (S, f64) {
        (self.t + self.h, -inward(self.t, self.h))
    }
}
