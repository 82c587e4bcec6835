//! Which columns of sparse factors are worked on together.
//!
//! Columns that follow each other and have the same rows, as those of a body or of a joint, are a group: their factors are small
//! full blocks, and rows are looked up once for all of them.

use super::search::Lists;
use crate::scalar::Real;
use core::ops::Range;

/// Consecutive rows of a group of columns. Blocks make rows come in such runs, and a run needs one index, not one per entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) start: u32,
    pub(super) length: u32,
}

impl Run {
    #[inline(always)]
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.length as usize
    }
}

/// How many columns are worked on together at most. More than this are shared out evenly: those of a body are twice three.
pub(super) const GROUP: usize = 4;

/// How many rows of U neighbours in a group may have alone, which are zeros in the other.
const UNLIKE: usize = 6;

/// How many zeros a column takes in to be like its neighbour.
const ZEROS: usize = 2;

/// Gives a column the rows that would make it like its neighbour, if it has almost all of them and no other: a zero
/// costs less than a column by itself.
fn pad(column: &mut Vec<u32>, alike: impl Iterator<Item = u32> + Clone) {
    let zeros = alike.clone().count().saturating_sub(column.len());
    let mut rest = alike.clone();
    if zeros <= ZEROS.min(column.len()) && column.iter().all(|row| rest.any(|other| other == *row)) {
        column.clear();
        column.extend(alike);
    }
}

/// The lower triangle that was found, from the last column back, each column with the places that its rows went to.
pub(super) fn backwards(found: &Lists, position: &[u32]) -> Lists {
    let n = found.len();
    let (mut backwards, mut column) = (Lists::new(n, found.items() + found.items() / 4), Vec::new());
    for k in (0..n).rev() {
        column.clear();
        column.extend(found.get(k).iter().map(|row| position[*row as usize]));
        column.sort_unstable();
        if k + 1 < n {
            let next = backwards.get(n - 2 - k).iter().copied();
            pad(&mut column, core::iter::once(k as u32 + 1).chain(next));
        }
        backwards.push(column.iter().copied());
    }
    backwards
}

/// How many numbers of two ascending lists are in one of them alone.
fn differences(a: impl Iterator<Item = u32>, b: impl Iterator<Item = u32>) -> usize {
    let (mut a, mut b, mut count) = (a.peekable(), b.peekable(), 0);
    loop {
        match (a.peek(), b.peek()) {
            (None, None) => return count,
            (Some(x), Some(y)) if x == y => {
                a.next();
                b.next();
            }
            (Some(x), Some(y)) if x < y => count += usize::from(a.next().is_some()),
            (_, Some(_)) => count += usize::from(b.next().is_some()),
            (Some(_), None) => count += usize::from(a.next().is_some()),
        }
    }
}

/// Where the part of a triangle that belongs to a group is: its first run, which often is all, and where the others and its
/// values start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) run: Run,
    pub(super) runs: u32,
    pub(super) values: u32,
}

/// A group of columns, which ends where the next one starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) first: u32,
    pub(super) lower: Part,
    pub(super) upper: Part,
}

impl Group {
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        self.first as usize
    }
}

/// A triangle without its diagonal, by groups of columns. Of each group the part inside of its diagonal block comes first, then,
/// row after row, the others.
#[derive(Clone, Debug)]
pub(super) struct Triangle<S> {
    pub(super) runs: Vec<Run>,
    pub(super) values: Vec<S>,
}

/// How many numbers a triangle without its diagonal has, and where a row of it starts.
pub(super) const fn inside(q: usize) -> usize {
    if q == 0 { 0 } else { q * (q - 1) / 2 }
}

impl<S: Real> Triangle<S> {
    pub(super) fn new() -> Self {
        Triangle { runs: vec![], values: vec![] }
    }

    /// Appends these rows, ascending, of so many columns from `part` on; where the next part starts.
    fn push(&mut self, rows: impl Iterator<Item = u32>, count: usize, part: &mut Part) -> Part {
        let mut length = 0;
        for row in rows {
            length += 1;
            let last = match self.runs[part.runs as usize..].last_mut() {
                Some(run) => run,
                None => &mut part.run,
            };
            match last.start + last.length == row || last.length == 0 {
                true if last.length == 0 => *last = Run { start: row, length: 1 },
                true => last.length += 1,
                false => self.runs.push(Run { start: row, length: 1 }),
            }
        }
        let values = part.values + (length * count + inside(count)) as u32;
        Part { run: Run::default(), runs: self.runs.len() as u32, values }
    }
    /// Makes room for so many values.
    fn make_room(&mut self, count: u32) {
        self.values = vec![S::zero(); count as usize];
        self.runs.shrink_to_fit();
    }

    /// The runs of a group after its first.
    #[inline(always)]
    pub(super) fn others(&self, part: &Part, next: &Part) -> &[Run] {
        match part.runs == next.runs {
            true => &[],
            false => &self.runs[part.runs as usize..next.runs as usize],
        }
    }
    /// All runs of a group, and its values.
    #[inline(always)]
    pub(super) fn part(&self, part: &Part, next: &Part) -> (Runs<'_>, &[S]) {
        let runs = Runs { now: Some(part.run), others: self.others(part, next).iter() };
        (runs, &self.values[part.values as usize..next.values as usize])
    }
    #[inline(always)]
    pub(super) fn part_mut(&mut self, part: &Part, next: &Part) -> (Runs<'_>, &mut [S]) {
        let others = self.runs[part.runs as usize..next.runs as usize].iter();
        (Runs { now: Some(part.run), others }, &mut self.values[part.values as usize..next.values as usize])
    }
}

/// The runs of a group.
pub(super) struct Runs<'a> {
    pub(super) now: Option<Run>,
    pub(super) others: core::slice::Iter<'a, Run>,
}

impl Iterator for Runs<'_> {
    type Item = Run;
    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        let run = self.now?;
        self.now = self.others.next().copied();
        Some(run)
    }
}

/// Which columns are worked on together, and where their factors are.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The groups in the order of elimination, and their end.
    pub(super) groups: Vec<Group>,
    /// The group of each column.
    pub(super) group_of: Vec<u32>,
}

impl Shape {
    pub(super) fn new() -> Self {
        Shape { groups: vec![Group::default()], group_of: vec![] }
    }
    /// The groups of the columns that were found, with room for their factors.
    pub(super) fn of<S: Real>(lower: &Lists, upper: &Lists) -> (Self, Triangle<S>, Triangle<S>) {
        let n = upper.len();
        let below = |k: usize| lower.get(n - 1 - k).iter().copied();
        // True if a column is like the next one in both triangles.
        let alike = |k: usize| {
            let here = k as u32;
            k + 1 < n
                && below(k).eq(core::iter::once(here + 1).chain(below(k + 1)))
                && differences(upper.get(k).iter().copied().chain([here]), upper.get(k + 1).iter().copied())
                    <= UNLIKE
        };
        let mut shape = Shape { groups: vec![Group::default()], group_of: Vec::with_capacity(n) };
        let (mut l, mut u) = (Triangle::new(), Triangle::new());
        let (mut rows, mut start, mut now) = (Vec::new(), 0, Group::default());
        while start < n {
            let mut end = start + 1;
            while alike(end - 1) {
                end += 1;
            }
            let mut parts = (end - start).div_ceil(GROUP);
            while parts > 0 {
                let count = (end - start).div_ceil(parts);
                let last = start + count - 1;
                rows.clear();
                for k in start..=last {
                    let above = upper.get(k).iter().take_while(|row| (**row as usize) < start);
                    rows.extend(above.map(|row| shape.group_of[*row as usize]));
                }
                rows.sort_unstable();
                rows.dedup();
                let whole = rows.iter().flat_map(|group| {
                    let group = *group as usize;
                    shape.groups[group].first..shape.groups.get(group + 1).map_or(0, |next| next.first)
                });
                let upper = u.push(whole, count, &mut now.upper);
                let lower = l.push(below(last), count, &mut now.lower);
                if let Some(group) = shape.groups.last_mut() {
                    *group = now;
                }
                now = Group { first: (last + 1) as u32, lower, upper };
                shape.group_of.extend(core::iter::repeat_n(shape.groups.len() as u32 - 1, count));
                shape.groups.push(now);
                (start, parts) = (last + 1, parts - 1);
            }
        }
        l.make_room(now.lower.values);
        u.make_room(now.upper.values);
        shape.groups.shrink_to_fit();
        (shape, l, u)
    }
}

/// The function of this name for so many columns.
macro_rules! of_columns {
    ($count:expr, $function:ident::<$($type:tt),*>, $arguments:tt) => {
        match $count {
            1 => $function::<$($type,)* 1> $arguments,
            2 => $function::<$($type,)* 2> $arguments,
            3 => $function::<$($type,)* 3> $arguments,
            _ => $function::<$($type,)* { $crate::solve::sparse::shape::GROUP }> $arguments,
        }
    };
}
pub(super) use of_columns;
