//! Elliptic integrals and Jacobi's elliptic functions of a real argument, in double-double numbers.
//!
//! Symbols: parameter m = k² with 0 ≤ m ≤ 1, m1 = 1 - m its complement (always passed along, so that an m next
//! to one keeps its digits), φ the amplitude, n the characteristic of the third kind and n1 = 1 - n.
//! Sources: duplication and series for R_F, R_C, R_J, R_D from Carlson, Numer. Algorithms 10 (1995) 13 and
//! DLMF 19.36; Legendre's integrals from them, DLMF 19.25; the amplitude by descending Landen steps, DLMF 22.20.

use crate::scalar::{Dd, Real};

/// Spread at which the series of degree 7 is exact to the last digit: its remainder is of degree 8.
const SPREAD: f64 = 3e-5;
/// More halvings than any argument in the range of `f64` asks for.
const STEPS: usize = 1200;

/// Carlson's R_F(x, y, z), for non-negative arguments of which at most one is zero.
pub fn carlson_rf(x: Dd, y: Dd, z: Dd) -> Dd {
    let mut v = [x, y, z];
    let mut mean = (x + y + z) / 3.0;
    for _ in 0..STEPS {
        if spread(&v, mean) < SPREAD {
            break;
        }
        let lambda = pairs(v.map(Real::sqrt));
        v = v.map(|t| (t + lambda) * 0.25);
        mean = (v[0] + v[1] + v[2]) / 3.0;
    }
    let (a, b) = (Dd::ONE - v[0] / mean, Dd::ONE - v[1] / mean);
    let c = -(a + b);
    let (e2, e3) = (a * b - c * c, a * b * c);
    let e22 = e2 * e2;
    let sum = e3 / 14.0 - e2 / 10.0 + e22 / 24.0 - e2 * e3 * 3.0 / 44.0 - e22 * e2 * 5.0 / 208.0
        + e3 * e3 * 3.0 / 104.0
        + e22 * e3 / 16.0;
    (sum + 1.0) / mean.sqrt()
}

/// Carlson's R_C(x, y), for x ≥ 0 and y > 0.
pub fn carlson_rc(x: Dd, y: Dd) -> Dd {
    let (mut x, mut y) = (x, y);
    let mut mean = (x + y * 2.0) / 3.0;
    for _ in 0..STEPS {
        if (Dd::ONE - y / mean).abs().to_f64() < SPREAD {
            break;
        }
        let lambda = x.sqrt() * y.sqrt() * 2.0 + y;
        x = (x + lambda) * 0.25;
        y = (y + lambda) * 0.25;
        mean = (x + y * 2.0) / 3.0;
    }
    let s = y / mean - 1.0;
    let tail = Dd::from(159.0) / 208.0 + s * 1.125;
    let tail = Dd::from(9.0) / 22.0 + s * tail;
    let tail = Dd::from(0.375) + s * tail;
    let tail = Dd::ONE / 7.0 + s * tail;
    let tail = Dd::from(3.0) / 10.0 + s * tail;
    (s * s * tail + 1.0) / mean.sqrt()
}

/// Carlson's R_J(x, y, z, p), for non-negative x, y, z of which at most one is zero, and p > 0.
pub fn carlson_rj(x: Dd, y: Dd, z: Dd, p: Dd) -> Dd {
    let (mut v, mut p) = ([x, y, z], p);
    let (mut sum, mut power) = (Dd::ZERO, 1.0);
    let mut mean = (x + y + z + p * 2.0) / 5.0;
    for _ in 0..STEPS {
        if spread(&v, mean).max((Dd::ONE - p / mean).abs().to_f64()) < SPREAD {
            break;
        }
        let root = v.map(Real::sqrt);
        let lambda = pairs(root);
        let rp = p.sqrt();
        let d = (rp + root[0]) * (rp + root[1]) * (rp + root[2]);
        let e = (p - v[0]) * (p - v[1]) * (p - v[2]) / (d * d);
        // e > -1, but next to -1 its distance from there is a product without cancellation.
        let one_plus_e = if e.to_f64() < -0.5 { beside_minus_one(root, rp, d) } else { e + 1.0 };
        sum += carlson_rc(Dd::ONE, one_plus_e) * power / d;
        power *= 0.25;
        v = v.map(|t| (t + lambda) * 0.25);
        p = (p + lambda) * 0.25;
        mean = (v[0] + v[1] + v[2] + p * 2.0) / 5.0;
    }
    let (a, b, c) = (Dd::ONE - v[0] / mean, Dd::ONE - v[1] / mean, Dd::ONE - v[2] / mean);
    sum * 6.0 + rj_series(a, b, c, -(a + b + c) * 0.5) * power / (mean * mean.sqrt())
}

/// Carlson's R_D(x, y, z) = R_J(x, y, z, z), for x, y ≥ 0 not both zero, and z > 0.
pub fn carlson_rd(x: Dd, y: Dd, z: Dd) -> Dd {
    let mut v = [x, y, z];
    let (mut sum, mut power) = (Dd::ZERO, 1.0);
    let mut mean = (x + y + z * 3.0) / 5.0;
    for _ in 0..STEPS {
        if spread(&v, mean) < SPREAD {
            break;
        }
        let root = v.map(Real::sqrt);
        let lambda = pairs(root);
        sum += Dd::from(power) / (root[2] * (v[2] + lambda));
        power *= 0.25;
        v = v.map(|t| (t + lambda) * 0.25);
        mean = (v[0] + v[1] + v[2] * 3.0) / 5.0;
    }
    let (a, b) = (Dd::ONE - v[0] / mean, Dd::ONE - v[1] / mean);
    let c = -(a + b) / 3.0;
    sum * 3.0 + rj_series(a, b, c, c) * power / (mean * mean.sqrt())
}

/// The largest relative distance from the mean.
fn spread(v: &[Dd; 3], mean: Dd) -> f64 {
    v.iter().map(|t| (Dd::ONE - *t / mean).abs().to_f64()).fold(0.0, f64::max)
}

fn pairs(r: [Dd; 3]) -> Dd {
    r[0] * r[1] + r[1] * r[2] + r[2] * r[0]
}

/// 1 + e of the R_J duplication. With r the roots and q = √p, d² + (p - x)(p - y)(p - z) is d times
/// Π(q + r) + Π(q - r) = 2q (p + Σ r r').
fn beside_minus_one(r: [Dd; 3], q: Dd, d: Dd) -> Dd {
    q * (q * q + pairs(r)) * 2.0 / d
}

/// The series common to R_J and R_D in the relative deviations a, b, c and (twice) p.
fn rj_series(a: Dd, b: Dd, c: Dd, p: Dd) -> Dd {
    let abc = a * b * c;
    let pp = p * p;
    let e2 = a * b + a * c + b * c - pp * 3.0;
    let e3 = abc + e2 * p * 2.0 + pp * p * 4.0;
    let e4 = (abc * 2.0 + e2 * p + pp * p * 3.0) * p;
    let e5 = abc * pp;
    let e22 = e2 * e2;
    Dd::ONE - e2 * 3.0 / 14.0 + e3 / 6.0 + e22 * 9.0 / 88.0 - e4 * 3.0 / 22.0 - e2 * e3 * 9.0 / 52.0
        + e5 * 3.0 / 26.0
        - e22 * e2 / 16.0
        + e3 * e3 * 3.0 / 40.0
        + e2 * e4 * 3.0 / 20.0
        + e22 * e3 * 45.0 / 272.0
        - (e3 * e4 + e2 * e5) * 9.0 / 68.0
}

/// Jacobi's functions of one argument.
#[derive(Clone, Copy, Debug)]
pub struct Jacobi {
    /// sn(u|m).
    pub sn: Dd,
    /// cn(u|m).
    pub cn: Dd,
    /// dn(u|m).
    pub dn: Dd,
    /// The amplitude am(u|m), which grows by π with every 2K.
    pub am: Dd,
}

/// Jacobi's functions for any real u and 0 ≤ m ≤ 1.
pub fn jacobi(u: Dd, m: Dd, m1: Dd) -> Jacobi {
    let am = amplitude(u, m, m1);
    let (sn, mut cn) = am.sin_cos();
    if m1.to_f64() <= 0.0 {
        // sech directly: far out, the cosine of an angle next to π/2 has no digits left.
        let decay = (-u.abs()).exp();
        cn = decay * 2.0 / (decay * decay + 1.0);
    }
    Jacobi { sn, cn, dn: (m1 + m * cn * cn).sqrt(), am }
}

/// am(u|m) by descending Landen steps: the amplitude is doubled along an arithmetic-geometric mean until the
/// parameter is zero, and halved back.
fn amplitude(u: Dd, m: Dd, m1: Dd) -> Dd {
    if m1.to_f64() <= 0.0 {
        // The Gudermannian, 2 atan tanh(u/2).
        let e = exp_minus_one(u.abs());
        let am = e.atan2(e + 2.0) * 2.0;
        return if u.to_f64() < 0.0 { -am } else { am };
    }
    let (mut a, mut b, mut c) = (Dd::ONE, m1.sqrt(), m.sqrt());
    // Per step: the ratios c/a and b/a.
    let mut ratios = [(Dd::ZERO, Dd::ZERO); 16];
    let mut count = 0;
    let mut doubling = 1.0;
    while count < ratios.len() && (c / a).to_f64() > 1e-34 {
        let mean = (a + b) * 0.5;
        let geometric = (a * b).sqrt();
        // (a - b)/2 without the cancellation.
        c = c * c * 0.25 / mean;
        a = mean;
        b = geometric;
        ratios[count] = (c / a, b / a);
        count += 1;
        doubling *= 2.0;
    }
    let mut phi = u * a * doubling;
    for &(k, k1) in ratios[..count].iter().rev() {
        let (s, co) = phi.sin_cos();
        let (x, y) = (k1 * s, co);
        // asin(k s), through a tangent because k is next to one when m is.
        phi = (phi + (k * s).atan2((x * x + y * y).sqrt())) * 0.5;
    }
    phi
}

/// e^x - 1 for x ≥ 0; large arguments are cut where tanh(x/2) is one.
fn exp_minus_one(x: Dd) -> Dd {
    let x = if x.to_f64() > 160.0 { Dd::from(160.0) } else { x };
    if x.to_f64() > 0.5 {
        return x.exp() - 1.0;
    }
    let (mut term, mut sum) = (x, x);
    for n in 2..28 {
        term = term * x / f64::from(n);
        sum += term;
    }
    sum
}

/// The complete integral of the first kind K(m), from m1 = 1 - m; infinite at m1 = 0.
pub fn complete_first(m1: Dd) -> Dd {
    if m1.to_f64() <= 0.0 { Dd::from(f64::INFINITY) } else { carlson_rf(Dd::ZERO, m1, Dd::ONE) }
}

/// The integral of the first kind F(φ|m) for any φ, or for |φ| < π/2 when m1 = 0.
pub fn first(phi: Dd, m1: Dd) -> Dd {
    let (turns, s, c) = half_turns(phi);
    // 1 - m s² as a sum of positive terms.
    let part = s * carlson_rf(c * c, c * c + m1 * s * s, Dd::ONE);
    if turns == 0.0 { part } else { part + complete_first(m1) * (2.0 * turns) }
}

/// The integral of the third kind Π(n; φ|m) for any φ and n < 1 (or |φ| < π/2), with n1 = 1 - n; for |φ| < π/2
/// when m1 = 0.
pub fn third(n: Dd, n1: Dd, phi: Dd, m1: Dd) -> Dd {
    first(phi, m1) + excess(n, n1, half_turns(phi), m1)
}

/// Π(n; am u|m) - u, that is ∫ n sn²/(1 - n sn²) du, from u and its Jacobi functions; n < 1, any u, and m1 = 0
/// as well.
pub fn third_excess(n: Dd, n1: Dd, u: Dd, f: &Jacobi, m1: Dd) -> Dd {
    if m1.to_f64() > 0.0 {
        let (turns, ..) = half_turns(f.am);
        let sign = if turns.rem_euclid(2.0) == 1.0 { -1.0 } else { 1.0 };
        return excess(n, n1, (turns, f.sn * sign, f.cn * sign), m1);
    }
    // sn = tanh: elementary, where the amplitude next to π/2 would have lost its digits.
    let root = n.abs().sqrt();
    let inner = root * f.sn;
    if n.to_f64() <= 0.0 {
        (inner.atan2(Dd::ONE) - root * u) * root / n1
    } else {
        (root * u - ((inner + 1.0) / (Dd::ONE - inner)).ln() * 0.5) * root / n1
    }
}

/// Π(n; am u|m) from u and its Jacobi functions; n < 1, any u, and m1 = 0 as well. Keeps its relative accuracy
/// for a large negative n, where [`third_excess`] is close to -u.
pub fn third_at(n: Dd, n1: Dd, u: Dd, f: &Jacobi, m: Dd, m1: Dd) -> Dd {
    if n.to_f64() >= -1.0 {
        return u + third_excess(n, n1, u, f, m1);
    }
    if m1.to_f64() <= 0.0 {
        let root = (-n).sqrt();
        return (u + root * (root * f.sn).atan2(Dd::ONE)) / n1;
    }
    // The transformation to the characteristic (m - n)/(1 - n) in (0, 1), a sum of positive terms at 0 < u < K
    // (Abramowitz, Stegun 17.7.15).
    let d = m - n;
    let ratio = -n / (n1 * d);
    let inner = u + third_excess(d / n1, m1 / n1, u, f, m1);
    let angle = (d * ratio.sqrt() * f.sn * f.cn).atan2(f.dn);
    ratio * m1 * inner + m / d * u + ratio.sqrt() * angle
}

/// Π(n; φ|m) - F(φ|m) from the parts of φ.
fn excess(n: Dd, n1: Dd, (turns, s, c): (f64, Dd, Dd), m1: Dd) -> Dd {
    let (ss, cc) = (s * s, c * c);
    let part = s * ss * carlson_rj(cc, cc + m1 * ss, Dd::ONE, cc + n1 * ss);
    let whole = if turns == 0.0 { Dd::ZERO } else { carlson_rj(Dd::ZERO, m1, Dd::ONE, n1) * (2.0 * turns) };
    (part + whole) * n / 3.0
}

/// φ = π·turns + r with |r| ≤ π/2: the turns, and the sine and cosine of r.
fn half_turns(phi: Dd) -> (f64, Dd, Dd) {
    let turns = (phi.to_f64() * core::f64::consts::FRAC_1_PI).round();
    let (s, c) = phi.sin_cos();
    // Sine and cosine reduce the full angle with more digits of π than a subtraction here would.
    if turns.rem_euclid(2.0) == 1.0 { (turns, -s, -c) } else { (turns, s, c) }
}

#[cfg(test)]
mod tests;
