//! Kinds of elements, each with its numbers listed once: their names, what they are, how they are lifted, varied and put side
//! by side follow from that list.

use std::borrow::Cow;

/// A number of an element, to be read or changed.
pub(super) struct Number<'a, S> {
    pub(super) name: Cow<'static, str>,
    /// What it is, with its unit.
    pub(super) help: &'static str,
    pub(super) value: &'a mut S,
}

/// What the numbers of a formula of one's own are.
const OWN: &str = "number of the formula, SI units";

/// The numbers of a formula of one's own.
pub(super) fn own_numbers<'a, S>(names: &[String], numbers: &'a mut [S]) -> Vec<Number<'a, S>> {
    let named = names.iter().cloned().map(Cow::from).zip(numbers);
    named.map(|(name, value)| Number { name, help: OWN, value }).collect()
}

/// An enum of kinds, the last of which is one's own.
macro_rules! kinds {
    (
        $(#[$doc:meta])*
        pub enum $kind:ident or $own:ident {
            $($(#[$about:meta])* $variant:ident = $name:literal $({ $($field:ident: $help:literal),+ $(,)? })?,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        // A tag of its own: one that hides in a pointer costs a step of a chain 6 % more instructions.
        #[repr(u8)]
        pub enum $kind<S: Real> {
            $($(#[$about])* $variant $({ $(#[doc = $help] $field: S,)+ })?,)+
            /// A formula of one's own, which takes more room than the others need.
            Own(Box<$own<S>>),
        }

        impl<S: Real> $kind<S> {
            /// The name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant $({ $($field: _),+ })? => $name,)+
                    Self::Own(own) => own.kind(),
                }
            }
            /// Its numbers, to be read or changed.
            pub(super) fn numbers_mut(&mut self) -> Vec<super::kinds::Number<'_, S>> {
                use super::kinds::Number;
                match self {
                    $(Self::$variant $({ $($field),+ })? => vec![
                        $($(Number { name: stringify!($field).into(), help: $help, value: $field },)+)?
                    ],)+
                    Self::Own(own) => own.numbers_mut(),
                }
            }
            /// The same with other numbers, each made of its place in the list and of the one that is there.
            #[allow(unused_mut, unused_variables, reason = "of kinds without numbers")]
            pub(super) fn rebuilt<T: Real>(&self, number: &mut dyn FnMut(usize, S) -> T) -> $kind<T> {
                let mut places = 0..;
                let mut next = |x: S| number(places.next().unwrap_or_default(), x);
                match self {
                    $(Self::$variant $({ $($field),+ })? =>
                        $kind::$variant $({ $($field: next(*$field)),+ })?,)+
                    Self::Own(own) => $kind::Own(Box::new(own.rebuilt(number))),
                }
            }
            /// Its numbers.
            pub fn numbers(&self) -> Vec<S> {
                let mut all = Vec::new();
                self.rebuilt(&mut |_, x| {
                    all.push(x);
                    x
                });
                all
            }
            /// The kind with every number as a constant of `T`.
            pub fn lift<T: Over<S>>(&self) -> $kind<T> {
                self.rebuilt(&mut |_, x| T::of(x))
            }
        }

        impl<S: Real> From<$own<S>> for $kind<S> {
            fn from(own: $own<S>) -> Self {
                Self::Own(Box::new(own))
            }
        }
    };
}
pub(super) use kinds;
