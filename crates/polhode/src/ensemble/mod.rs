//! Many single bodies of one kind at once: four in the lanes of vector registers, and groups of them on several threads.
//!
//! Each body gets the bits of its own run. A body whose step fails is a failure of its own: its neighbours are run again
//! without it.
//!
//! ```
//! use nalgebra::{Matrix3, Vector3};
//! use polhode::body::{Body, RotaryInertia, State, TopGravity};
//! use polhode::ensemble::{Family, Members, run};
//! use polhode::group::{Rotation, So3};
//! use polhode::{method::Method, run::Plan, scalar::Real};
//!
//! /// Tops that differ in weight and spin.
//! struct Tops;
//! impl Family<So3> for Tops {
//!     type Load<S: Real> = TopGravity<S>;
//!     fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> (Body<S, So3, TopGravity<S>>, State<S, So3>) {
//!         let moments = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0)).map(S::lift);
//!         let top = Body { inertia: RotaryInertia::unchecked(moments), load: TopGravity { mgl: number(0) } };
//!         let tilt = Rotation::from_rotation_vector(&Vector3::new(0.3, 0.0, 0.0).map(S::lift));
//!         let start = top.state(tilt, &Vector3::new(S::zero(), S::zero(), number(1)));
//!         (top, start)
//!     }
//! }
//!
//! let numbers: Vec<f64> = (0..100).flat_map(|k| [10.0 + 0.1 * f64::from(k), 50.0]).collect();
//! let members = Members::new(&numbers, 2);
//! let (method, plan) = (Method::parse("akw")?, Plan::new(1e-3, 0.1)?);
//! let mut ends = Vec::new();
//! run(&Tops, &members, &method, &plan, 2, &mut |_, end| ends.push(end));
//! let mut alone = Vec::new();
//! run(&Tops, &Members::new(&numbers[14..16], 2), &method, &plan, 1, &mut |_, end| alone.push(end));
//! assert_eq!((ends.len(), &ends[7]), (100, &alone[0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod group;

pub use group::Together;

use crate::body::{Body, Dynamics, Load, State};
use crate::method::Method;
use crate::run::Plan;
use crate::scalar::Real;
use crate::solve::StepError;
use group::Group;
use nalgebra::Vector3;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// A body and its start.
pub type Member<S, G, L> = (Body<S, G, L>, State<S, G>);

/// Bodies that differ in some numbers: inertia, load, where they start.
pub trait Family<G: Dynamics>: Sync {
    /// What acts on them.
    type Load<S: Real>: Load<S>;
    /// A body and its start, from its numbers by their places.
    fn member<S: Real>(&self, number: &dyn Fn(usize) -> S) -> Member<S, G, Self::Load<S>>;
}

/// The numbers of many bodies, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Members<'a> {
    numbers: &'a [f64],
    width: usize,
}

impl<'a> Members<'a> {
    /// So many numbers for each; what is left over at the end belongs to none.
    pub fn new(numbers: &'a [f64], width: usize) -> Self {
        Members { numbers, width: width.max(1) }
    }
    /// How many bodies.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.width
    }
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    fn number(&self, member: usize, i: usize) -> f64 {
        if i < self.width { self.numbers[member * self.width + i] } else { f64::NAN }
    }
}

/// Where a body is at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Attitude, body to space, scalar first.
    pub q_wxyz: [f64; 4],
    /// Position of its origin in space; zero about a fixed point.
    pub position: Vector3<f64>,
    /// Angular momentum, body axes.
    pub momentum_body: Vector3<f64>,
    /// Linear momentum, body axes; zero about a fixed point.
    pub linear_momentum_body: Vector3<f64>,
}

/// Bodies that a thread takes at once.
const GROUP: usize = 64;

/// Runs all members over the steps of a plan, on several threads, and shows the end of each, in their order. What waits to be
/// shown is little, however many they are.
pub fn run<G: Together, F: Family<G>>(
    family: &F,
    members: &Members<'_>,
    method: &Method,
    plan: &Plan,
    threads: usize,
    see: &mut dyn FnMut(usize, Result<End, StepError>),
) {
    let groups = members.len().div_ceil(GROUP);
    let range = |g: usize| g * GROUP..members.len().min((g + 1) * GROUP);
    let shown = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    // None runs far ahead of what is shown.
    let ahead = 8 * threads.max(1);
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        for _ in 0..threads.max(1) {
            let (tell, next, shown) = (tell.clone(), &next, &shown);
            scope.spawn(move || {
                loop {
                    let g = next.fetch_add(1, Ordering::Relaxed);
                    if g >= groups {
                        break;
                    }
                    while g > shown.load(Ordering::Acquire) + ahead {
                        std::thread::yield_now();
                    }
                    let group = Group { family, members, range: range(g), method, plan };
                    if tell.send((g, G::ends(&group))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        let mut waiting = std::collections::BTreeMap::new();
        let mut due = 0;
        for (g, ends) in told {
            waiting.insert(g, ends);
            while let Some(ends) = waiting.remove(&due) {
                ends.into_iter().zip(range(due)).for_each(|(end, k)| see(k, end));
                due += 1;
                shown.store(due, Ordering::Release);
            }
        }
    });
}
