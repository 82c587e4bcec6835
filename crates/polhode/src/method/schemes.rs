//! The list of implicit schemes. It stands here alone: the steps, the derivatives of steps and the rows of the registry
//! take their schemes from it.

use super::convected::Convected;
use super::euler::{BackwardMomentum, BackwardRate};
use super::galpha::Galpha;
use super::intrinsic::{Decaying, Preserving};
use super::midpoint::{Akw, Swc1};
use super::newmark::Newmark;
use super::scheme::Scheme;
use super::trapezoid::Trapezoid;
use crate::group::Vectorial;

/// What can be done with any scheme, whichever it is.
pub(super) trait Visitor {
    type Output;
    fn visit<E: Scheme>(self, scheme: &E) -> Self::Output;
}

macro_rules! schemes {
    (@visit $scheme:ident, $visitor:ident) => { $visitor.visit($scheme) };
    (@visit $scheme:ident, $visitor:ident, $how:path) => { $how($scheme, $visitor) };
    ($($name:ident: $scheme:ty $(as $how:path)?),* $(,)?) => {
        /// One of the implicit schemes, with its options.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) enum AnyScheme {
            $($name($scheme),)*
        }
        impl AnyScheme {
            /// Shows the scheme to a visitor as what it is.
            #[inline(always)]
            pub(super) fn visited_by<V: Visitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(AnyScheme::$name(scheme) => schemes!(@visit scheme, visitor $(, $how)?),)*
                }
            }
        }
    };
}
schemes!(
    BackwardRate: BackwardRate,
    BackwardMomentum: BackwardMomentum,
    Swc1: Swc1,
    Akw: Akw,
    BbTrap: Trapezoid<false>,
    BbTrapWd: Trapezoid<true>,
    Preserving: Preserving<Vectorial> as Preserving::visited_by,
    Decaying: Decaying,
    Galpha: Galpha,
    Newmark: Newmark,
    Convected: Convected,
);
