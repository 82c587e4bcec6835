use super::*;

/// A small deterministic source of numbers in (-1, 1).
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Bodies and joints, with the matrix [M Bᵀ; B 0].
#[derive(Default)]
pub(super) struct Mechanism {
    blocks: Vec<Block>,
    pairs: Vec<(usize, usize)>,
    entries: Vec<(usize, usize, f64)>,
    pub n: usize,
}

impl Mechanism {
    fn block(&mut self, size: usize, role: Role) -> usize {
        self.blocks.push(Block { unknowns: self.n..self.n + size, role });
        self.n += size;
        self.blocks.len() - 1
    }

    fn body(&mut self, mass: f64, next: &mut impl FnMut() -> f64) -> usize {
        let start = self.n;
        for i in 0..3 {
            self.entries.push((start + i, start + i, mass));
            for j in 0..3 {
                // Positive definite, and a gyroscopic part.
                let diagonal = if i == j { 1.0 } else { 0.0 };
                self.entries.push((start + 3 + i, start + 3 + j, mass * (diagonal + 0.2 * next())));
            }
        }
        self.block(6, Role::Free)
    }

    /// A joint of 3 rows, or of more that constrain rotations alone.
    fn joint(&mut self, rows: usize, bodies: &[usize], next: &mut impl FnMut() -> f64) -> usize {
        let start = self.n;
        let joint = self.block(rows, Role::Tied);
        for (&body, sign) in bodies.iter().zip([1.0, -1.0]) {
            self.pairs.push((body, joint));
            let column = self.blocks[body].unknowns.start;
            for i in 0..rows {
                if i < 3 {
                    self.both(start + i, column + i, sign);
                }
                for j in 0..3 {
                    self.both(start + i, column + 3 + j, next());
                }
            }
        }
        joint
    }

    fn both(&mut self, i: usize, j: usize, value: f64) {
        self.entries.push((i, j, value));
        self.entries.push((j, i, value));
    }

    /// Bodies hanging on each other, the first on the ground; closed: the last one too.
    pub fn chain(n: usize, rows: usize, closed: bool) -> Mechanism {
        let (mut m, mut next) = (Mechanism::default(), noise(n as u64));
        let mut last = None;
        for _ in 0..n {
            let body = m.body(1.5 + next(), &mut next);
            match last {
                Some(last) => m.joint(rows, &[body, last], &mut next),
                None => m.joint(rows, &[body], &mut next),
            };
            last = Some(body);
        }
        if let (true, Some(last)) = (closed, last) {
            m.joint(rows, &[last], &mut next);
        }
        m
    }

    pub fn pattern(&self) -> Pattern {
        Pattern::new(self.n, self.entries.iter().map(|e| (e.0, e.1)))
    }

    pub fn values(&self) -> Vec<f64> {
        let pattern = self.pattern();
        let mut values = vec![0.0; pattern.nonzeros()];
        for &(i, j, value) in &self.entries {
            values[pattern.position(i, j).unwrap()] += value;
        }
        values
    }

    pub fn order(&self) -> Vec<usize> {
        elimination_order(&self.blocks, &self.pairs)
    }
}
