//! When tied blocks may be eliminated where some of them depend on others: joints that close loops.
//!
//! The column of such a joint keeps a small diagonal, whatever is eliminated before it. That is a good pivot where the whole
//! loop is gone, because all else in the column is then as small; before, it is not, and a pivot from elsewhere would undo the
//! order. A joint therefore waits for a body of its own, or until its loop is gone.

use super::order::{Block, Role};
use crate::solve::Sets;

pub(super) struct Loops {
    /// Free blocks that are gone, with those that tied blocks which used one of them join them to.
    supports: Sets,
    /// How many in each of these sets no tied block has used.
    spare: Vec<usize>,
    /// True for tied blocks that used one.
    uses: Vec<bool>,
    /// Free blocks that are gone and joined by tied blocks that are gone, and the ground, which is the last.
    joined: Sets,
}

/// The free blocks that a block ties.
fn ends<'a>(blocks: &'a [Block], near: &'a [usize]) -> impl Iterator<Item = usize> + Clone + 'a {
    near.iter().copied().filter(|&a| blocks[a].role == Role::Free)
}

impl Loops {
    pub fn new(count: usize) -> Loops {
        Loops {
            supports: Sets::new(count),
            spare: vec![0; count],
            uses: vec![false; count],
            joined: Sets::new(count + 1),
        }
    }

    /// A set with a free block to spare for a tied block with these neighbours.
    fn support(&mut self, blocks: &[Block], near: &[usize], gone: &[bool]) -> Option<usize> {
        let sets = ends(blocks, near).filter(|&a| gone[a]).map(|a| self.supports.root(a));
        let spare = &self.spare;
        sets.into_iter().find(|&set| spare[set] > 0)
    }

    /// What a tied block joins, the ground if it is one block, once all of it is gone.
    fn held(&self, blocks: &[Block], near: &[usize], gone: &[bool]) -> Option<[usize; 2]> {
        let mut ends = ends(blocks, near);
        if !ends.clone().all(|a| gone[a]) {
            return None;
        }
        Some([ends.next()?, ends.next().unwrap_or(gone.len())])
    }

    /// True if a tied block with these neighbours has a body of its own, or its loop is gone.
    pub fn eligible(&mut self, blocks: &[Block], near: &[usize], gone: &[bool]) -> bool {
        let closed = match self.held(blocks, near, gone) {
            Some([a, b]) => self.joined.root(a) == self.joined.root(b),
            None => near.iter().all(|&a| gone[a]),
        };
        closed || self.support(blocks, near, gone).is_some()
    }

    /// Takes up that a block is gone.
    pub fn eliminate(&mut self, b: usize, blocks: &[Block], original: &[Vec<usize>], gone: &[bool]) {
        if blocks[b].role != Role::Free {
            if let Some(set) = self.support(blocks, &original[b], gone) {
                self.spare[set] -= 1;
                self.uses[b] = true;
            }
            return self.join(b, blocks, &original[b], gone);
        }
        let set = self.supports.root(b);
        self.spare[set] += 1;
        for &tied in original[b].iter().filter(|&&a| blocks[a].role != Role::Free && gone[a]) {
            self.join(tied, blocks, &original[tied], gone);
        }
    }

    /// Joins what a tied block that is gone has between it.
    fn join(&mut self, tied: usize, blocks: &[Block], near: &[usize], gone: &[bool]) {
        if let Some([a, b]) = self.held(blocks, near, gone) {
            self.joined.join(a, b);
        }
        if !self.uses[tied] {
            return;
        }
        let mut ends = ends(blocks, near).filter(|&a| gone[a]);
        let Some(first) = ends.next() else { return };
        for other in ends {
            let sets = [self.supports.root(first), self.supports.root(other)];
            if self.supports.join(sets[0], sets[1]) {
                let spare = self.spare[sets[0]] + self.spare[sets[1]];
                let set = self.supports.root(first);
                self.spare[set] = spare;
            }
        }
    }
}
