//! What a run is made of, written number by number and read back in the same order.

use nalgebra::{Matrix3, Vector3};

/// Numbers on their way out of a run, or back into it.
pub(crate) struct Archive<'a> {
    words: Words<'a>,
    broken: bool,
}

enum Words<'a> {
    Written(Vec<u64>),
    Read(core::slice::Iter<'a, u64>),
}

impl<'a> Archive<'a> {
    /// Takes down what it is shown.
    pub(crate) fn writing() -> Self {
        Self::writing_in(Vec::new())
    }
    /// The same in the room of a list that is not needed any more.
    pub(crate) fn writing_in(mut words: Vec<u64>) -> Self {
        words.clear();
        Archive { words: Words::Written(words), broken: false }
    }
    /// Puts these words in place of what it is shown.
    pub(crate) fn reading(words: &'a [u64]) -> Self {
        Archive { words: Words::Read(words.iter()), broken: false }
    }
    /// True if what it is shown is replaced.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.words, Words::Read(_))
    }
    /// What it is shown does not fit what was written.
    pub(crate) fn reject(&mut self) {
        self.broken = true;
    }
    /// True if words are missing for what it was shown.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }
    /// What was written.
    pub(crate) fn words(self) -> Vec<u64> {
        match self.words {
            Words::Written(words) => words,
            Words::Read(_) => Vec::new(),
        }
    }
    /// True if everything that was to be read has been, and nothing else.
    pub(crate) fn fits(&self) -> bool {
        !self.broken && matches!(&self.words, Words::Read(rest) if rest.as_slice().is_empty())
    }
    fn word(&mut self, word: &mut u64) {
        match &mut self.words {
            Words::Written(words) => words.push(*word),
            Words::Read(rest) => match rest.next() {
                Some(known) => *word = *known,
                None => self.broken = true,
            },
        }
    }
}

/// The numbers of something.
pub(crate) fn numbers_of(part: &mut impl Kept) -> Vec<u64> {
    let mut archive = Archive::writing();
    part.keep(&mut archive);
    archive.words()
}

/// Puts numbers in their places, if they fit; true if they do.
pub(crate) fn put_numbers(part: &mut (impl Kept + Clone), words: &[u64]) -> bool {
    let (mut new, mut archive) = (part.clone(), Archive::reading(words));
    new.keep(&mut archive);
    let fits = archive.fits();
    if fits {
        *part = new;
    }
    fits
}

/// What is part of a run that is saved.
pub(crate) trait Kept {
    /// Shows all of it, in an order that depends on nothing but what was shown before.
    fn keep(&mut self, archive: &mut Archive<'_>);
}

impl Kept for u64 {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        archive.word(self);
    }
}
impl Kept for usize {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        let mut word = *self as u64;
        archive.word(&mut word);
        *self = word as usize;
    }
}
impl Kept for bool {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        let mut word = u64::from(*self);
        archive.word(&mut word);
        *self = word != 0;
    }
}
impl Kept for f64 {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        let mut word = self.to_bits();
        archive.word(&mut word);
        *self = f64::from_bits(word);
    }
}
impl<T: Kept> Kept for [T] {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.iter_mut().for_each(|part| part.keep(archive));
    }
}
impl<T: Kept, const N: usize> Kept for [T; N] {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.as_mut_slice().keep(archive);
    }
}
/// Of a length that does not change.
impl<T: Kept> Kept for Vec<T> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.as_mut_slice().keep(archive);
    }
}
impl<T: Kept + Default> Kept for Option<T> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        keep_optional(self, T::default, archive);
    }
}
impl<T: Kept> Kept for Box<T> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.as_mut().keep(archive);
    }
}
/// A value and its rate.
impl Kept for (f64, f64) {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.0.keep(archive);
        self.1.keep(archive);
    }
}
impl Kept for Vector3<f64> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.as_mut_slice().keep(archive);
    }
}
impl Kept for Matrix3<f64> {
    fn keep(&mut self, archive: &mut Archive<'_>) {
        self.as_mut_slice().keep(archive);
    }
}
/// What may be there or not.
pub(crate) fn keep_optional<T: Kept>(
    part: &mut Option<T>,
    empty: impl FnOnce() -> T,
    archive: &mut Archive<'_>,
) {
    let mut there = part.is_some();
    there.keep(archive);
    match (there, &mut *part) {
        (false, _) => *part = None,
        (true, Some(part)) => part.keep(archive),
        (true, None) => part.insert(empty()).keep(archive),
    }
}

/// Keeps these fields of a type, in this order.
macro_rules! kept {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl $crate::archive::Kept for $name {
            fn keep(&mut self, archive: &mut $crate::archive::Archive<'_>) {
                $(self.$field.keep(archive);)*
            }
        }
    };
}
pub(crate) use kept;
