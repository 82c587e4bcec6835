//! What came of it, for programs and for people.

use super::Motion;
use crate::print::{Align, count, plain, small, table};
use polhode::group::Rotation;
use polhode::method::Method;
use serde::Serialize;

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    data: &'a str,
    method: &'a str,
    samples: usize,
    t_start: f64,
    t: f64,
    q_wxyz: [f64; 4],
    attitude: [[f64; 3]; 3],
    omega_body: [f64; 3],
    angle: f64,
    largest_turn: f64,
    error_estimate: Option<f64>,
}

/// The last attitude.
fn last(motion: &Motion) -> Rotation<f64> {
    motion.attitudes.last().copied().unwrap_or(Rotation::identity())
}

impl<'a> Report<'a> {
    /// Of a motion.
    pub fn new(motion: &'a Motion, method: &'a Method) -> Self {
        let (last, (most, all)) = (last(motion), motion.turns());
        let matrix = last.matrix();
        Report {
            data: &motion.data,
            method: method.id(),
            samples: motion.times.len(),
            t_start: motion.times.first().copied().unwrap_or(0.0),
            t: motion.times.last().copied().unwrap_or(0.0),
            q_wxyz: last.q_wxyz(),
            attitude: [0, 1, 2].map(|i| [0, 1, 2].map(|j| matrix[(i, j)])),
            omega_body: motion.omega.last().map_or([0.0; 3], |omega| [omega.x, omega.y, omega.z]),
            angle: all,
            largest_turn: most,
            error_estimate: motion.error,
        }
    }
}

/// The same as a table.
pub fn text(motion: &Motion, method: &Method) -> String {
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let (first, end) = (motion.times.first().copied(), motion.times.last().copied());
    let (most, all) = motion.turns();
    let q = last(motion).q_wxyz().map(|x| format!("{x:.9}"));
    let rows = [
        row(
            "data",
            format!(
                "{}: {} from t = {} to {} s",
                motion.data,
                count(motion.times.len() as u64, "sample"),
                plain(first.unwrap_or(0.0)),
                plain(end.unwrap_or(0.0))
            ),
        ),
        row("method", format!("{}, {}", method.id(), method.title())),
        row("turned", format!("{all:.6} rad in all, at most {} between two samples", small(most))),
        row("attitude", format!("{} at the end, as a quaternion w,x,y,z", q.join(","))),
        row(
            "error",
            match motion.error {
                Some(error) => format!("about {} rad, by leaving out every other sample", small(error)),
                None => "not known from two samples".into(),
            },
        ),
    ];
    table(0, &[Align::Left; 2], &rows)
}
