//! Frames by their names.

use super::system::End;
use crate::scalar::{Over, Real};
use nalgebra::{Matrix3, Vector3};

/// What a frame is by its name.
#[derive(Clone, Debug)]
pub(super) enum Frame<S: Real> {
    /// That of a body, or of the ground: at its origin, along its axes. There is one of each body, and it takes no room.
    Own(Option<usize>),
    /// A point and axes.
    Fixed(Box<End<S>>),
}

impl<S: Real> Frame<S> {
    pub(super) fn end(&self) -> End<S> {
        match self {
            Frame::Own(body) => End { body: *body, point: Vector3::zeros(), axes: Matrix3::identity() },
            Frame::Fixed(end) => **end,
        }
    }
    /// The same with every number as a constant of `T`.
    pub(super) fn lift<T: Over<S>>(&self) -> Frame<T> {
        match self {
            Frame::Own(body) => Frame::Own(*body),
            Frame::Fixed(end) => Frame::Fixed(Box::new(end.lift())),
        }
    }
}
