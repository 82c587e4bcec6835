//! The order of elimination: minimum degree on blocks, with joints after a body that makes them non-singular.

use super::loops::Loops;
use core::cmp::Reverse;
use core::ops::Range;
use std::collections::BinaryHeap;

/// What the diagonal block of a block of unknowns is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Non-singular as it stands: a body.
    Free,
    /// Zero until a neighbour is eliminated: a joint.
    Tied,
    /// The same, and almost singular even then: a joint that forbids what others forbid too.
    Redundant,
}

/// Unknowns that are eliminated together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The unknowns.
    pub unknowns: Range<usize>,
    /// What their diagonal block is like.
    pub role: Role,
}

/// The order in which to eliminate the unknowns of these blocks; `pairs` are the neighbours.
///
/// The block with the fewest neighbouring unknowns goes first. A tied block waits for a free neighbour that no other
/// tied block has used up, or until all its neighbours are gone: then there is nothing left to wait for. A chain is
/// eliminated from its free end, and the work is proportional to its length. If some blocks are redundant, tied ones wait
/// until a free block can be had for each of them, or until the loop that they close is gone.
pub fn elimination_order(blocks: &[Block], pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut graph = Graph::new(blocks, pairs);
    let mut order = Vec::with_capacity(blocks.iter().map(|b| b.unknowns.len()).sum());
    // Among equals a tied block first: it closes what its body opened.
    let mut ready = BinaryHeap::new();
    let mut waiting = BinaryHeap::new();
    let key = |graph: &Graph, b: usize| Reverse((graph.degree[b], blocks[b].role == Role::Free, b));
    for b in 0..blocks.len() {
        if graph.eligible(b) { &mut ready } else { &mut waiting }.push(key(&graph, b));
    }
    loop {
        let (b, forced) = match (ready.pop(), waiting.is_empty()) {
            (Some(Reverse((degree, _, b))), _) => (Some((degree, b)), false),
            (None, false) => (waiting.pop().map(|Reverse((degree, _, b))| (degree, b)), true),
            (None, true) => break,
        };
        let Some((degree, b)) = b else { break };
        // Entries of the heaps are not removed when they are out of date.
        if graph.gone[b] || degree != graph.degree[b] {
            continue;
        }
        if !forced && !graph.eligible(b) {
            waiting.push(key(&graph, b));
            continue;
        }
        order.extend(blocks[b].unknowns.clone());
        for v in graph.eliminate(b) {
            if graph.eligible(v) { &mut ready } else { &mut waiting }.push(key(&graph, v));
        }
    }
    order
}

/// The blocks not yet eliminated.
struct Graph<'a> {
    blocks: &'a [Block],
    /// Neighbours in the matrix.
    original: Vec<Vec<usize>>,
    /// Neighbours with fill; may hold blocks that are gone.
    near: Vec<Vec<usize>>,
    /// Unknowns in the neighbours that are not gone.
    degree: Vec<usize>,
    gone: Vec<bool>,
    /// Free blocks that a tied block has used.
    used: Vec<bool>,
    /// The same where some are redundant.
    loops: Option<Loops>,
    /// Marks of the last visit.
    mark: Vec<usize>,
    visit: usize,
}

impl<'a> Graph<'a> {
    fn new(blocks: &'a [Block], pairs: &[(usize, usize)]) -> Self {
        let count = blocks.len();
        let mut original = vec![vec![]; count];
        for &(a, b) in pairs.iter().filter(|&&(a, b)| a != b && a < count && b < count) {
            original[a].push(b);
            original[b].push(a);
        }
        for list in &mut original {
            list.sort_unstable();
            list.dedup();
        }
        let size = |b: &usize| blocks[*b].unknowns.len();
        let degree = original.iter().map(|list| list.iter().map(size).sum()).collect();
        Graph {
            blocks,
            near: original.clone(),
            original,
            degree,
            gone: vec![false; count],
            used: vec![false; count],
            loops: blocks.iter().any(|block| block.role == Role::Redundant).then(|| Loops::new(count)),
            mark: vec![0; count],
            visit: 0,
        }
    }

    /// The free neighbour that makes a tied block non-singular.
    fn support(&self, b: usize) -> Option<usize> {
        let supports = |&a: &usize| self.gone[a] && !self.used[a] && self.blocks[a].role == Role::Free;
        self.original[b].iter().copied().find(supports)
    }

    fn eligible(&mut self, b: usize) -> bool {
        if self.blocks[b].role == Role::Free {
            return true;
        }
        match &mut self.loops {
            Some(loops) => loops.eligible(self.blocks, &self.original[b], &self.gone),
            None => self.support(b).is_some() || self.original[b].iter().all(|&a| self.gone[a]),
        }
    }

    /// Makes the neighbours of a block neighbours of each other; they, and tied blocks whose turn may have come, have
    /// to be looked at again.
    fn eliminate(&mut self, b: usize) -> Vec<usize> {
        if self.blocks[b].role == Role::Tied
            && let Some(a) = self.support(b)
        {
            self.used[a] = true;
        }
        self.gone[b] = true;
        if let Some(loops) = &mut self.loops {
            loops.eliminate(b, self.blocks, &self.original, &self.gone);
        }
        let mut near = core::mem::take(&mut self.near[b]);
        near.retain(|&v| !self.gone[v]);
        for &v in &near {
            self.degree[v] -= self.blocks[b].unknowns.len();
            // A single neighbour gets no fill; its list, which may be that of a hub, is not walked.
            if near.len() == 1 {
                break;
            }
            self.visit += 1;
            self.mark[v] = self.visit;
            let mut list = core::mem::take(&mut self.near[v]);
            list.retain(|&u| !self.gone[u]);
            for &u in &list {
                self.mark[u] = self.visit;
            }
            for &u in near.iter().filter(|&&u| self.mark[u] != self.visit) {
                self.degree[v] += self.blocks[u].unknowns.len();
                list.push(u);
            }
            self.near[v] = list;
        }
        // Every original neighbour that is left is among them.
        near
    }
}
