//! Algorithms 2, 3 and 4 and their direct differentiation. One step serves all three forms, and the motion and its
//! derivative go through the same prediction and correction, as the paper has it.

use super::chart::*;
use super::top::*;
use nalgebra::{SMatrix, SVector};

type M9 = SMatrix<f64, 9, 9>;
type V9 = SVector<f64, 9>;

/// Mistakes and simplifications of the differentiated algorithm; the motion is never touched.
#[derive(Clone, Copy, Default)]
pub struct Mistakes {
    /// W_ref forced to zero after each step by (97): the paper's simplified update.
    pub reference_free: bool,
    /// (65) without k_G.
    pub tangent_without_k_g: bool,
    /// (T⁻ᵀ)' g_α left out of (96).
    pub covector_without_slope: bool,
    /// Symmetric part of K_t in the differentiated equations.
    pub symmetric_equations: bool,
    /// Symmetric part of K_t in the iteration matrix.
    pub symmetric_matrix: bool,
    /// R_incᵀ W_ref missing in the differentiated constraint.
    pub constraint_without_reference: bool,
    /// W_ref carried on without R_incᵀ.
    pub reference_not_turned: bool,
    /// g_ref missing in (69).
    pub without_g_ref: bool,
    /// Ṫ' φ̇ missing in (96).
    pub without_tangent_rate_slope: bool,
    /// The derivative of the new φ̈ as a scan of (96) shows it, T φ̈' + T' φ̇ + Ṫ' φ̇; that of a is right.
    pub scrambled_acceleration: bool,
}

/// The coefficients (114) with the step.
#[derive(Clone, Copy)]
struct Weights {
    form: Form,
    h: f64,
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

impl Weights {
    fn new(form: Form, h: f64, rho: f64) -> Weights {
        let alpha_f = rho / (rho + 1.0);
        let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
        let gamma = 0.5 + alpha_f - alpha_m;
        Weights { form, h, alpha_m, alpha_f, beta: 0.25 * (1.0 + alpha_f - alpha_m).powi(2), gamma }
    }

    /// The lines before the loop.
    fn predict(&self, p: &Point) -> Point {
        let Weights { h, alpha_m, alpha_f, beta, gamma, .. } = *self;
        let mut next = *p;
        next.q += p.v * h + p.a * (h * h * (0.5 - beta));
        next.v += p.a * (h * (1.0 - gamma));
        if self.form == Form::Residual {
            next.a = V6::zeros();
        } else {
            next.a = (p.vdot * alpha_f - p.a * alpha_m) / (1.0 - alpha_m);
            next.q += next.a * (beta * h * h);
            next.v += next.a * (gamma * h);
            next.vdot = V6::zeros();
        }
        next
    }

    /// Adds a correction of (q, βh² λ).
    fn correct(&self, p: &mut Point, by: &V9) {
        let Weights { h, alpha_m, alpha_f, beta, gamma, .. } = *self;
        let dq: V6 = by.fixed_rows::<6>(0).into_owned();
        p.q += dq;
        p.v += dq * (gamma / (beta * h));
        p.lambda += by.fixed_rows::<3>(6) / (beta * h * h);
        if self.form == Form::Residual {
            p.a += dq / (beta * h * h);
        } else {
            p.vdot += dq * ((1.0 - alpha_m) / (1.0 - alpha_f) / (beta * h * h));
        }
    }

    /// The line after the loop: what the next step needs.
    fn close(&self, p: &mut Point, f_a: &V6, f_c: &V6) {
        if self.form == Form::Residual {
            p.g_alpha = f_a * self.alpha_m + f_c * self.alpha_f;
        } else {
            p.a += p.vdot * ((1.0 - self.alpha_f) / (1.0 - self.alpha_m));
        }
    }

    /// r of the loop, from the forces at the end of the step, or from their derivatives.
    fn balance(&self, p: &Point, f_a: &V6, f_c: &V6) -> V6 {
        if self.form == Form::Residual {
            f_a * (1.0 - self.alpha_m) + f_c * (1.0 - self.alpha_f) + p.g_alpha
        } else {
            f_a + f_c
        }
    }

    /// S with the constraint, its first rows times βh²: all entries then have the size of a mass or of one.
    fn matrix(&self, o: &Operators) -> M9 {
        let Weights { h, alpha_m, alpha_f, beta, gamma, .. } = *self;
        let (s, weight) = if self.form == Form::Residual {
            let k = o.k * (1.0 - alpha_f) + o.k_a * (alpha_f - alpha_m);
            (o.j * (1.0 - alpha_m) + o.c * ((1.0 - alpha_f) * gamma * h) + k * (beta * h * h), 1.0 - alpha_f)
        } else {
            (o.j * ((1.0 - alpha_m) / (1.0 - alpha_f)) + o.c * (gamma * h) + o.k * (beta * h * h), 1.0)
        };
        let mut out = M9::zeros();
        out.fixed_view_mut::<6, 6>(0, 0).copy_from(&s);
        out.fixed_view_mut::<6, 3>(0, 6).copy_from(&(o.column * weight));
        out.fixed_view_mut::<3, 6>(6, 0).copy_from(&o.row);
        out
    }

    fn right_side(&self, balance: &V6, gap: &V3) -> V9 {
        let mut out = V9::zeros();
        out.fixed_rows_mut::<6>(0).copy_from(&(balance * -(self.beta * self.h * self.h)));
        out.fixed_rows_mut::<3>(6).copy_from(&-gap);
        out
    }
}

/// Position of the centre of mass at the end and its derivative with respect to the mass.
pub struct Answer {
    pub x: V3,
    pub slope: V3,
}

/// Runs `steps` steps to `end`, and the differentiated algorithm along with it.
pub fn run(top: &Top, form: Form, end: f64, steps: usize, mistakes: &Mistakes) -> Answer {
    let weights = Weights::new(form, end / steps as f64, 0.8);
    let (mut p, mut d) = start(top, weights.alpha_m, weights.alpha_f);
    let (mut reference, mut w_ref) = (M3::identity(), V3::zeros());
    for _ in 0..steps {
        p = solve(top, &weights, &reference, &p);
        let o = Operators::at(top, form, &reference, &p, Reduced::default());
        d = differentiate(top, &weights, (&reference, &w_ref), &p, &d, mistakes);
        weights.close(&mut p, &o.f_a, &o.f_c);
        let turned = if mistakes.reference_not_turned { w_ref } else { o.increment.transpose() * w_ref };
        let w = turned + o.tangent * second(&d.q);
        if form != Form::Geometric {
            d = new_chart_slope(&p, &d, mistakes);
            p = new_chart(&p);
        }
        reference *= o.increment;
        p.q = pair(first(&p.q), V3::zeros());
        // The reference-free update leaves W in the parameters, all others move it into the reference.
        if form == Form::Geometric || !mistakes.reference_free {
            w_ref = w;
            d.q = pair(first(&d.q), V3::zeros());
        }
    }
    Answer { x: first(&p.q), slope: first(&d.q) }
}

/// The motion of a step up to the end of its loop.
fn solve(top: &Top, weights: &Weights, reference: &M3, before: &Point) -> Point {
    let mut p = weights.predict(before);
    for _ in 0..30 {
        let o = Operators::at(top, weights.form, reference, &p, Reduced::default());
        let r = weights.right_side(&weights.balance(&p, &o.f_a, &o.f_c), &o.gap);
        let by = weights.matrix(&o).lu().solve(&r).expect("the iteration matrix of the top is regular");
        weights.correct(&mut p, &by);
        // Quadratic convergence: after a correction of this size only round-off is left.
        if by.fixed_rows::<6>(0).norm() < 1e-11 {
            return p;
        }
    }
    panic!("Newton's method does not converge");
}

/// The derivative of a step: one pass of the same loop for (69), (74) and (76).
fn differentiate(
    top: &Top,
    weights: &Weights,
    (reference, w_ref): (&M3, &V3),
    p: &Point,
    before: &Point,
    mistakes: &Mistakes,
) -> Point {
    let reduced = |symmetric| Reduced { without_k_g: mistakes.tangent_without_k_g, symmetric };
    let at = |symmetric| Operators::at(top, weights.form, reference, p, reduced(symmetric));
    let (o, matrix) = (at(mistakes.symmetric_equations), weights.matrix(&at(mistakes.symmetric_matrix)));
    let turned = o.increment.transpose() * w_ref;
    let g_ref = if mistakes.without_g_ref { V3::zeros() } else { o.reference_force * turned };
    let gap_ref = if mistakes.constraint_without_reference { V3::zeros() } else { o.reference_gap * turned };
    let forces = |d: &Point| {
        let acceleration = if weights.form == Form::Residual { d.a } else { d.vdot };
        let f_a = o.j * acceleration + o.k_a * d.q + o.f_a_mass;
        let f_c =
            o.c * d.v + (o.k - o.k_a) * d.q + o.column * d.lambda + pair(V3::zeros(), g_ref) + o.f_c_mass;
        (f_a, f_c)
    };
    let mut d = weights.predict(before);
    let (f_a, f_c) = forces(&d);
    let r = weights.right_side(&weights.balance(&d, &f_a, &f_c), &(o.row * d.q + gap_ref));
    let by = matrix.lu().solve(&r).expect("the iteration matrix of the top is regular");
    weights.correct(&mut d, &by);
    let (f_a, f_c) = forces(&d);
    weights.close(&mut d, &f_a, &f_c);
    d
}

/// (92)-(95): rates and forces in the chart at the end of the step.
fn new_chart(p: &Point) -> Point {
    let (phi, rate) = (second(&p.q), second(&p.v));
    let centrifugal = tangent_slope(&phi, &rate) * rate;
    let mut new = turned(&phi, p);
    new.vdot += pair(V3::zeros(), centrifugal);
    new.a += pair(V3::zeros(), centrifugal);
    new
}

/// (96), and (97)-(99) for the reference-free update.
fn new_chart_slope(p: &Point, d: &Point, mistakes: &Mistakes) -> Point {
    let phi = second(&p.q);
    let mut new = turned(&phi, d);
    let more = Changes::of(p, d, mistakes);
    new.v += more.v;
    new.vdot += more.vdot;
    new.a += more.a;
    new.g_alpha += more.g_alpha;
    if mistakes.reference_free {
        // The same relations at the new parameters, which are zero, so that T is one: solved for the new derivatives,
        // velocities first.
        let hat = Point { q: pair(first(&p.q), V3::zeros()), ..new_chart(p) };
        new.q = pair(first(&d.q), tangent(&phi) * second(&d.q));
        new.v -= Changes::of(&hat, &new, mistakes).v;
        let less = Changes::of(&hat, &new, mistakes);
        new.vdot -= less.vdot;
        new.a -= less.a;
        new.g_alpha -= less.g_alpha;
    }
    new
}

/// T times rates, T⁻ᵀ times forces.
fn turned(phi: &V3, p: &Point) -> Point {
    let t = tangent(phi);
    let turn = |m: &M3, v: &V6| pair(first(v), m * second(v));
    Point {
        q: p.q,
        v: turn(&t, &p.v),
        vdot: turn(&t, &p.vdot),
        a: turn(&t, &p.a),
        lambda: p.lambda,
        g_alpha: turn(&cotangent(&t), &p.g_alpha),
    }
}

fn cotangent(t: &M3) -> M3 {
    t.transpose().try_inverse().expect("an increment is far from the singularity")
}

/// What the change of T adds to the derivatives of Ω, Ω̇, A and G_α.
struct Changes {
    v: V6,
    vdot: V6,
    a: V6,
    g_alpha: V6,
}

impl Changes {
    fn of(p: &Point, d: &Point, mistakes: &Mistakes) -> Changes {
        let (phi, rate) = (second(&p.q), second(&p.v));
        let (dphi, drate) = (second(&d.q), second(&d.v));
        let (slope, tdot) = (tangent_slope(&phi, &dphi), tangent_slope(&phi, &rate));
        let mut tdot_slope = tangent_curvature(&phi, &rate, &dphi, &drate);
        if mistakes.without_tangent_rate_slope {
            tdot_slope = M3::zeros();
        }
        let acceleration = |a: &V6| slope * second(a) + tdot * drate + tdot_slope * rate;
        let mut vdot = acceleration(&p.vdot);
        if mistakes.scrambled_acceleration {
            vdot = slope * rate + tdot_slope * rate;
        }
        let inverse = cotangent(&tangent(&phi));
        let mut force = -(inverse * k_g(&phi, &(inverse * second(&p.g_alpha))) * dphi);
        if mistakes.covector_without_slope {
            force = V3::zeros();
        }
        let rotational = |r: V3| pair(V3::zeros(), r);
        Changes {
            v: rotational(slope * rate),
            vdot: rotational(vdot),
            a: rotational(acceleration(&p.a)),
            g_alpha: rotational(force),
        }
    }
}
