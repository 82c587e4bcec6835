use super::*;
use crate::scalar::Dual;
use nalgebra::{DMatrix, DVector};

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
struct Mechanism {
    blocks: Vec<Block>,
    pairs: Vec<(usize, usize)>,
    entries: Vec<(usize, usize, f64)>,
    n: usize,
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
    fn chain(n: usize, rows: usize, closed: bool) -> Mechanism {
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

    /// A closed loop without ground.
    fn ring(n: usize, rows: usize) -> Mechanism {
        let (mut m, mut next) = (Mechanism::default(), noise(n as u64));
        let bodies: Vec<_> = (0..n).map(|_| m.body(1.5 + next(), &mut next)).collect();
        for i in 0..n {
            m.joint(rows, &[bodies[i], bodies[(i + 1) % n]], &mut next);
        }
        m
    }

    fn star(n: usize, rows: usize) -> Mechanism {
        let (mut m, mut next) = (Mechanism::default(), noise(n as u64));
        let hub = m.body(3.0, &mut next);
        for _ in 0..n {
            let leaf = m.body(1.5 + next(), &mut next);
            m.joint(rows, &[leaf, hub], &mut next);
        }
        m
    }

    /// The joint once more: the same rows.
    fn double(&mut self, joint: usize) -> usize {
        let Block { unknowns, role } = self.blocks[joint].clone();
        let shift = self.n - unknowns.start;
        let copy = self.block(unknowns.len(), role);
        for (i, j, value) in self.entries.clone() {
            if unknowns.contains(&i) {
                self.entries.push((i + shift, j, value));
            }
            if unknowns.contains(&j) {
                self.entries.push((i, j + shift, value));
            }
        }
        for (a, b) in self.pairs.clone() {
            if b == joint {
                self.pairs.push((a, copy));
            }
        }
        copy
    }

    fn pattern(&self) -> Pattern {
        Pattern::new(self.n, self.entries.iter().map(|e| (e.0, e.1)))
    }

    fn values(&self) -> Vec<f64> {
        let pattern = self.pattern();
        let mut values = vec![0.0; pattern.nonzeros()];
        for &(i, j, value) in &self.entries {
            values[pattern.position(i, j).unwrap()] += value;
        }
        values
    }

    fn order(&self) -> Vec<usize> {
        elimination_order(&self.blocks, &self.pairs)
    }
}

fn zoo() -> Vec<(String, Mechanism)> {
    let mut zoo = vec![];
    for rows in [3, 5] {
        for n in [1, 2, 3, 7, 20] {
            zoo.push((format!("chain of {n} with {rows} rows"), Mechanism::chain(n, rows, false)));
            zoo.push((format!("ring of {n} with {rows} rows"), Mechanism::ring(n + 6, rows)));
        }
        zoo.push((format!("star with {rows} rows"), Mechanism::star(16, rows)));
    }
    zoo.push(("suspended chain".into(), Mechanism::chain(20, 3, true)));
    zoo
}

fn full(pattern: &Pattern, values: &[f64]) -> DMatrix<f64> {
    let at = |i, j| pattern.position(i, j).map_or(0.0, |p| values[p]);
    DMatrix::from_fn(pattern.n(), pattern.n(), at)
}

/// Solves with both, forward and transposed: residuals, and the solution of an independent factorization.
fn check(name: &str, pattern: &Pattern, order: &[usize], values: &[f64], most: f64) {
    let n = pattern.n();
    let a = full(pattern, values);
    let mut next = noise(99);
    let b = DVector::from_fn(n, |_, _| next());
    for (kind, mut factors) in
        [("sparse", Factors::sparse(pattern, order)), ("dense", Factors::dense(pattern, order))]
    {
        factors.factor(values).unwrap_or_else(|e| panic!("{name}, {kind}: {e}"));
        let residual = |a: &DMatrix<f64>, x: &DVector<f64>| {
            let scale = a.map(f64::abs) * x.map(f64::abs) + b.map(f64::abs);
            (a * x - &b).amax() / scale.amax()
        };
        let mut x = b.clone();
        factors.solve(x.as_mut_slice());
        assert!(residual(&a, &x) <= most, "{name}, {kind}: residual {:e}", residual(&a, &x));
        let mut product = vec![0.0; n];
        pattern.multiply(values, x.as_slice(), &mut product);
        assert!((&a * &x - DVector::from_vec(product)).amax() <= 1e-12 * x.amax() * a.amax());
        // What is left, solved again, leaves rounding alone.
        let mut rest = &b - &a * &x;
        factors.solve(rest.as_mut_slice());
        x += rest;
        assert!(residual(&a, &x) <= 1e-15, "{name}, {kind}: refined, residual {:e}", residual(&a, &x));
        let y = a.clone().lu().solve(&b).unwrap();
        assert!((&x - &y).amax() <= 1e-9 * y.amax(), "{name}, {kind}: {:e}", (&x - &y).amax() / y.amax());
        let mut x = b.clone();
        factors.solve_transposed(x.as_mut_slice());
        let transposed = a.transpose();
        let r = residual(&transposed, &x);
        assert!(r <= most, "{name}, {kind}, transposed: residual {r:e}");
        assert_eq!(factors.searches(), 1);
        // A second time along the pivots: the same bits.
        let mut again = b.clone();
        factors.factor(values).unwrap();
        factors.solve_transposed(again.as_mut_slice());
        assert_eq!((again, factors.searches()), (x, 1), "{name}, {kind}");
    }
}

#[test]
fn a_pattern_finds_its_entries() {
    let entries = [(2, 0), (0, 0), (1, 2), (2, 0), (0, 2), (5, 0), (0, 5)];
    let pattern = Pattern::new(3, entries);
    assert_eq!((pattern.starts(), pattern.rows()), (&[0, 2, 2, 4][..], &[0, 2, 0, 1][..]));
    let places = [(2, 0), (1, 2), (0, 1), (5, 0), (0, 5)].map(|(i, j)| pattern.position(i, j));
    assert_eq!(places, [Some(1), Some(3), None, None, None]);
    let mut y = [9.0; 3];
    pattern.multiply(&[1.0, 2.0, 3.0, 4.0], &[1.0, 10.0, 100.0], &mut y);
    assert_eq!(y, [301.0, 400.0, 2.0]);
}

#[test]
fn a_chain_is_eliminated_from_its_free_end() {
    let m = Mechanism::chain(3, 3, false);
    assert_eq!(m.order(), (0..3).rev().flat_map(|i| 9 * i..9 * i + 9).collect::<Vec<_>>());
    // The numbering of the blocks does not matter: here the ground is at the last one.
    let blocks = m.blocks.iter().rev().cloned().collect::<Vec<_>>();
    let pairs: Vec<_> = m.pairs.iter().map(|&(a, b)| (5 - a, 5 - b)).collect();
    assert_eq!(elimination_order(&blocks, &pairs), m.order());
}

#[test]
fn orders_are_complete_and_fill_grows_with_the_number_of_bodies() {
    for (name, make, most) in [
        ("chain", (|n| Mechanism::chain(n, 3, false)) as fn(usize) -> Mechanism, 132),
        ("suspended chain", |n| Mechanism::chain(n, 3, true), 300),
        ("ring", |n| Mechanism::ring(n, 3), 300),
        ("star", |n| Mechanism::star(n, 3), 120),
    ] {
        for n in [50, 2000] {
            let m = make(n);
            let mut order = m.order();
            let mut lu = lu::SparseLu::new(Columns::new(m.pattern(), &order));
            lu.factor(&m.values()).unwrap();
            assert!(lu.entries() <= most * (n + 1), "{name} of {n}: {} entries per body", lu.entries() / n);
            order.sort_unstable();
            assert_eq!(order, (0..m.n).collect::<Vec<_>>(), "{name} of {n}");
        }
    }
}

#[test]
fn redundant_joints_wait_for_a_body_or_for_their_loop() {
    // A net of bars: each joint is between two of the bars that meet in a corner, and two corners are on the ground.
    let n = 6;
    let corner = |i: usize, j: usize| n * i + j;
    let mut meet = vec![vec![]; n * n];
    meet[corner(0, 0)].push(None);
    meet[corner(0, n - 1)].push(None);
    let mut blocks: Vec<Block> = vec![];
    let add = |size: usize, role: Role, blocks: &mut Vec<Block>| {
        let start = blocks.last().map_or(0, |block| block.unknowns.end);
        blocks.push(Block { unknowns: start..start + size, role });
        blocks.len() - 1
    };
    for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
        for (to, there) in [(corner(i, (j + 1) % n), j + 1 < n), (corner((i + 1) % n, j), i + 1 < n)] {
            if there {
                let bar = Some(add(6, Role::Free, &mut blocks));
                meet[corner(i, j)].push(bar);
                meet[to].push(bar);
            }
        }
    }
    let mut pairs = vec![];
    for list in &meet {
        for other in &list[1..] {
            let joint = add(5, Role::Redundant, &mut blocks);
            pairs.extend([list[0], *other].into_iter().flatten().map(|bar| (bar, joint)));
            // Bars are neighbours by the stiffness of their joint.
            pairs.extend(list[0].zip(*other));
        }
    }
    let order = elimination_order(&blocks, &pairs);
    let mut all = order.clone();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..order.len()));
    // Joints that are gone have a bar each, or close a loop of what is gone, with the ground as one more.
    let mut gone = vec![false; blocks.len()];
    let ground = blocks.len();
    for (b, block) in order
        .iter()
        .filter_map(|at| blocks.iter().position(|b| b.unknowns.start == *at).map(|b| (b, &blocks[b])))
    {
        gone[b] = true;
        if block.role == Role::Free {
            continue;
        }
        let mut sets = crate::solve::Sets::new(ground + 1);
        let (mut loops, mut joints) = (0, 0);
        for joint in (0..blocks.len()).filter(|j| gone[*j] && blocks[*j].role != Role::Free) {
            let mut ends: Vec<usize> = pairs.iter().filter(|(_, j)| *j == joint).map(|(a, _)| *a).collect();
            ends.resize(2, ground);
            joints += 1;
            if ends.iter().all(|a| *a == ground || gone[*a]) {
                loops += usize::from(!sets.join(ends[0], ends[1]));
            }
        }
        let bars = (0..blocks.len()).filter(|a| gone[*a] && blocks[*a].role == Role::Free).count();
        assert!(joints - loops <= bars, "{joints} joints, {loops} loops, {bars} bars");
    }
}

#[test]
fn mechanisms_are_solved() {
    for (name, m) in zoo() {
        check(&name, &m.pattern(), &m.order(), &m.values(), 1e-13);
    }
}

#[test]
fn any_order_will_do() {
    let m = Mechanism::chain(5, 5, false);
    // Joints first, twice, and one that is not there.
    let joints: Vec<usize> =
        m.blocks.iter().filter(|b| b.role == Role::Tied).flat_map(|b| b.unknowns.clone()).collect();
    let order: Vec<usize> = joints.iter().chain(&joints).copied().chain([1000]).collect();
    check("joints first", &m.pattern(), &order, &m.values(), 1e-13);
    check("no order", &m.pattern(), &[], &m.values(), 1e-13);
    let tied: Vec<_> = m.blocks.iter().map(|b| Block { role: Role::Tied, ..b.clone() }).collect();
    check("all tied", &m.pattern(), &elimination_order(&tied, &m.pairs), &m.values(), 1e-13);
}

#[test]
fn random_matrices_with_zeros_on_the_diagonal_are_solved() {
    for seed in 0..40 {
        let mut next = noise(seed);
        let n = 3 + seed as usize * 2;
        // A cycle makes it regular; the rest is thrown in, and nothing on the diagonal.
        let mut entries: Vec<_> = (0..n).map(|i| ((i + 1) % n, i, 2.0 + next())).collect();
        for _ in 0..3 * n {
            let mut index = || ((next() + 1.0) * 0.5 * n as f64) as usize % n;
            let (i, j) = (index(), index());
            if i != j && i != (j + 1) % n {
                entries.push((i, j, 0.3 * next()));
            }
        }
        let m = Mechanism { entries, n, ..Default::default() };
        // Small pivots on the diagonal cost digits here, where almost all of it is fill.
        check(&format!("seed {seed}"), &m.pattern(), &[], &m.values(), 1e-10);
    }
}

#[test]
fn tiny_systems() {
    let empty = Pattern::new(0, []);
    check("one unknown", &Pattern::new(1, [(0, 0)]), &[0], &[-4.0], 1e-15);
    check("an exchange", &Pattern::new(2, [(0, 1), (1, 0)]), &[0, 1], &[2.0, 3.0], 1e-15);
    for mut factors in [Factors::<f64>::sparse(&empty, &[]), Factors::dense(&empty, &[])] {
        assert_eq!(factors.factor(&[]), Ok(()));
        factors.solve(&mut []);
        factors.solve_transposed(&mut []);
    }
}

#[test]
fn redundant_joints_are_named() {
    for (mass, n) in [(1.0, 1), (1.0, 4), (1.0, 30), (1e-6, 4), (1e6, 4)] {
        let mut m = Mechanism::chain(n, 3, false);
        for entry in &mut m.entries {
            let inertial =
                |i: usize| m.blocks.iter().any(|b| b.role == Role::Free && b.unknowns.contains(&i));
            entry.2 *= if inertial(entry.0) && inertial(entry.1) { mass } else { 1.0 };
        }
        // The masses alone are no reason.
        let (pattern, values, order) = (m.pattern(), m.values(), m.order());
        assert_eq!(Factors::sparse(&pattern, &order).factor(&values), Ok(()), "masses of {mass}");
        assert_eq!(Factors::dense(&pattern, &order).factor(&values), Ok(()), "masses of {mass}");
        let joint = 2 * (n / 2) + 1;
        let copy = m.double(joint);
        let (pattern, values, order) = (m.pattern(), m.values(), m.order());
        for mut factors in [Factors::sparse(&pattern, &order), Factors::dense(&pattern, &order)] {
            let Err(FactorError::Singular { unknown, null }) = factors.factor(&values) else {
                panic!("chain of {n}, masses of {mass}: not found singular");
            };
            let at = |b: usize| m.blocks[b].unknowns.clone();
            assert!(at(joint).contains(&unknown) || at(copy).contains(&unknown));
            assert_eq!(null.iter().map(|x| x.abs()).fold(0.0, f64::max), 1.0);
            let part = |b: usize| null[at(b)].iter().map(|x| x.abs()).fold(0.0, f64::max);
            for b in 0..m.blocks.len() {
                let theirs = b == joint || b == copy;
                assert_eq!(part(b) > 0.0, theirs, "chain of {n}, masses of {mass}, block {b}: {}", part(b));
            }
            let residual = full(&pattern, &values) * DVector::from_vec(null);
            assert!(residual.amax() < 1e-9);
            // Without factors there is no solution, and no panic either.
            let mut x = vec![1.0; m.n];
            factors.solve(&mut x);
            assert!(x.iter().all(|x| x.is_nan()));
        }
    }
}

#[test]
fn singular_and_infinite_matrices_are_told_apart() {
    let pattern = Pattern::new(3, (0..9).map(|i| (i % 3, i / 3)));
    let good = [2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 4.0];
    for make in [Factors::<f64>::sparse, Factors::dense] {
        let mut factors = make(&pattern, &[]);
        for warm in [false, true] {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for place in 0..9 {
                    let mut values = good;
                    values[place] = bad;
                    if warm {
                        assert_eq!(factors.factor(&good), Ok(()));
                    }
                    let error = factors.factor(&values);
                    assert!(matches!(error, Err(FactorError::NotFinite { .. })), "{place}: {error:?}");
                }
            }
            // Overflow, and a column of nothing.
            assert!(factors.factor(&good.map(|x| x * 1e-320)).is_err());
            if warm {
                assert_eq!(factors.factor(&good), Ok(()));
            }
            let mut values = good;
            values[3..6].fill(0.0);
            let null = vec![0.0, 1.0, 0.0];
            assert_eq!(factors.factor(&values), Err(FactorError::Singular { unknown: 1, null }));
        }
        assert_eq!(factors.factor(&good), Ok(()));
    }
    let nothing = Pattern::new(2, [(0, 0), (1, 0)]);
    let error = Factors::sparse(&nothing, &[]).factor(&[1.0, 2.0]);
    assert_eq!(error, Err(FactorError::Singular { unknown: 1, null: vec![0.0, 1.0] }));
    let names = [error.unwrap_err(), FactorError::NotFinite { unknown: 4 }].map(|e| e.to_string());
    assert!(names[0].contains("unknown 1 depends") && names[1].contains("unknown 4 that is not finite"));
}

#[test]
fn derivatives_of_the_solution() {
    for m in [Mechanism::chain(1, 3, false), Mechanism::chain(6, 5, false), Mechanism::ring(9, 3)] {
        let (pattern, values, order) = (m.pattern(), m.values(), m.order());
        let mut next = noise(5);
        let slopes: Vec<f64> = values.iter().map(|_| next()).collect();
        let duals: Vec<_> = values.iter().zip(&slopes).map(|(&re, &d)| Dual { re, eps: [d, 0.0] }).collect();
        let b: Vec<_> = (0..m.n).map(|_| Dual { re: next(), eps: [next(), next()] }).collect();
        for transposed in [false, true] {
            for mut factors in [Factors::sparse(&pattern, &order), Factors::dense(&pattern, &order)] {
                // The second time along the recorded pivots.
                factors.factor(&duals).unwrap();
                factors.factor(&duals).unwrap();
                let mut x = b.clone();
                let (mut a, mut slope) = (full(&pattern, &values), full(&pattern, &slopes));
                if transposed {
                    factors.solve_transposed(&mut x);
                    (a, slope) = (a.transpose(), slope.transpose());
                } else {
                    factors.solve(&mut x);
                }
                // A x' = b' - A' x, in both directions.
                let part = |f: &dyn Fn(&Dual<f64, 2>) -> f64, x: &[Dual<f64, 2>]| {
                    DVector::from_iterator(m.n, x.iter().map(f))
                };
                let re = part(&|x| x.re, &x);
                let right = [part(&|x| x.eps[0], &b) - slope * re, part(&|x| x.eps[1], &b)];
                let lu = a.lu();
                for (i, right) in right.iter().enumerate() {
                    let (expected, got) = (lu.solve(right).unwrap(), part(&|x| x.eps[i], &x));
                    assert!((&got - &expected).amax() <= 1e-8 * expected.amax());
                }
            }
        }
    }
    // A derivative that is not a number is not a matrix either.
    let mut factors = Factors::sparse(&Pattern::new(1, [(0, 0)]), &[]);
    let error = factors.factor(&[Dual { re: 1.0, eps: [f64::NAN] }]);
    assert_eq!(error, Err(FactorError::NotFinite { unknown: 0 }));
}

#[test]
fn values_may_change_by_orders_of_magnitude() {
    let m = Mechanism::chain(12, 3, false);
    let (pattern, order) = (m.pattern(), m.order());
    for mut factors in [Factors::sparse(&pattern, &order), Factors::dense(&pattern, &order)] {
        let mut next = noise(3);
        for power in [0, 3, -3, 8, -8, 0] {
            // Bodies grow, every one by itself; joints stay.
            let mut other = Mechanism { n: m.n, entries: m.entries.clone(), ..Default::default() };
            let factor: Vec<f64> = (0..m.n).map(|_| 10f64.powi(power) * (1.0 + 0.5 * next())).collect();
            for entry in &mut other.entries {
                entry.2 *= if entry.0 % 9 < 6 && entry.1 % 9 < 6 { factor[entry.0 / 9] } else { 1.0 };
            }
            let values = other.values();
            factors.factor(&values).unwrap();
            let mut x = DVector::from_fn(m.n, |_, _| next());
            let (a, b) = (full(&pattern, &values), x.clone());
            factors.solve(x.as_mut_slice());
            let scale = a.map(f64::abs) * x.map(f64::abs) + b.map(f64::abs);
            let residual = (a * x - b).amax() / scale.amax();
            assert!(residual <= 1e-13, "10^{power}: {residual:e}");
        }
    }
}

#[test]
fn bad_pivots_are_searched_again() {
    let pattern = Pattern::new(2, [(0, 0), (1, 0), (0, 1), (1, 1)]);
    let mut factors = Factors::sparse(&pattern, &[]);
    let mut searches = [0; 5];
    for (count, corner) in searches.iter_mut().zip([1.0, 0.1, 1e-4, 1e-9, 0.0]) {
        factors.factor(&[corner, 1.0, 1.0, 0.0]).unwrap();
        let mut x = [1.0, 2.0];
        factors.solve(&mut x);
        assert!((x[0] - 2.0).abs() + (x[1] + 2.0 * corner - 1.0).abs() < 1e-11, "{corner}: {x:?}");
        *count = factors.searches();
    }
    // Kept down to a millionth; the pivots found then are good for the rest.
    assert_eq!(searches, [1, 1, 1, 2, 2]);
}

#[test]
fn nothing_is_allocated_after_the_search() {
    for n in [1, 20] {
        let m = Mechanism::chain(n, 3, false);
        let (pattern, values, order) = (m.pattern(), m.values(), m.order());
        let mut b = vec![1.0; m.n];
        for mut factors in [Factors::sparse(&pattern, &order), Factors::dense(&pattern, &order)] {
            factors.factor(&values).unwrap();
            let info = allocation_counter::measure(|| {
                factors.factor(&values).unwrap();
                factors.solve(&mut b);
                factors.solve_transposed(&mut b);
                pattern.multiply(&values, &[], &mut b);
            });
            assert_eq!(info.count_total, 0);
        }
    }
}

/// Plain numbers are worked on in wide registers where there are some, numbers with derivatives never.
#[test]
fn wide_registers_change_no_bit() {
    for (name, mechanism) in zoo() {
        let (pattern, order, values) = (mechanism.pattern(), mechanism.order(), mechanism.values());
        let mut next = noise(7);
        let right: Vec<f64> = (0..mechanism.n).map(|_| next()).collect();
        let mut wide = Factors::<f64>::new(&pattern, &order);
        let mut narrow = Factors::<Dual<f64, 1>>::new(&pattern, &order);
        // The second time along the pivots that were found.
        for scale in [1.0, 1.25] {
            let values: Vec<f64> = values.iter().map(|value| value * scale).collect();
            let constants: Vec<Dual<f64, 1>> = values.iter().map(|value| Dual::constant(*value)).collect();
            wide.factor(&values).unwrap();
            narrow.factor(&constants).unwrap();
            let mut x = right.clone();
            let mut y: Vec<Dual<f64, 1>> = right.iter().map(|b| Dual::constant(*b)).collect();
            wide.solve(&mut x);
            narrow.solve(&mut y);
            let alike = x.iter().zip(&y).all(|(x, y)| x.to_bits() == y.re.to_bits());
            assert!(alike, "{name}, times {scale}");
        }
    }
}
