//! Frequencies of the exact motion, where it has a closed form.

use super::known::Known;
use super::model::Model;
use crate::multibody::Reduction;
use nalgebra::Vector3;

/// What an exact motion repeats, and how often. To be compared with what [`crate::check::Nutation`] and
/// [`crate::check::Crossings`] see of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExactFrequencies {
    /// Circular frequency of the nutation of a top.
    pub nutation: Option<f64>,
    /// Mean rate of precession of a top.
    pub precession: Option<f64>,
    /// How a free body turns over.
    pub flip: Option<Flip>,
}

/// How a free body turns over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flip {
    /// The axis of the middle moment, in the body.
    pub axis: Vector3<f64>,
    /// The time from one change of sign of the momentum about this axis to the next.
    pub interval: f64,
}

impl Model {
    /// The frequencies of the exact motion: of a symmetric top under gravity, and of a free rotation about a fixed
    /// point. `None` for every other motion, and for one that does not repeat anything.
    ///
    /// ```
    /// use polhode::problem::Problem;
    /// let top = Problem::named("spinning-top")?.model()?.frequencies().unwrap();
    /// assert!((top.nutation.unwrap() - 9.209424558206173).abs() < 1e-14);
    /// assert!((top.precession.unwrap() - 0.4164250362354776).abs() < 1e-15);
    /// let brick = Problem::named("flying-brick")?.model()?.frequencies().unwrap();
    /// assert!((brick.flip.unwrap().interval - 2.7231207686955517).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frequencies(&self) -> Option<ExactFrequencies> {
        if let Some(steady) = &self.steady {
            let precession = Some(steady.precession_rate());
            return Some(ExactFrequencies { precession, ..Default::default() });
        }
        let Some(Reduction::Rotation(one)) = &self.reduction else { return None };
        let exact = self.exact(one);
        match self.known {
            Known::FreeRotation => {
                let free = exact.free_rotation();
                let flip = Flip { axis: free.middle_axis(), interval: free.flip_interval()? };
                Some(ExactFrequencies { flip: Some(flip), ..Default::default() })
            }
            Known::Top(top) if top.turned.is_none() => {
                let top = exact.lagrange_top(&top)?;
                // Zero where the axis stays vertical or comes to rest there.
                let nutation = Some(top.nutation_frequency()).filter(|x| *x > 0.0)?;
                let precession = Some(top.precession_rate());
                Some(ExactFrequencies { nutation: Some(nutation), precession, flip: None })
            }
            _ => None,
        }
    }
}
