//! The heavy top (109)-(111) in the paper's own variables: translation x of the centre of mass, rotation parameters of
//! the step, multipliers λ; its operators, its start, and the derivatives of both with respect to the mass.

use super::chart::*;
use nalgebra::{Matrix3x6, Matrix6, Matrix6x3, Vector6};

pub type V6 = Vector6<f64>;
pub type M6 = Matrix6<f64>;

/// Which of the paper's three algorithms runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Residual,
    Linear,
    Geometric,
}

pub fn pair(x: V3, r: V3) -> V6 {
    V6::new(x[0], x[1], x[2], r[0], r[1], r[2])
}
/// The translational part.
pub fn first(v: &V6) -> V3 {
    V3::new(v[0], v[1], v[2])
}
/// The rotational part.
pub fn second(v: &V6) -> V3 {
    V3::new(v[3], v[4], v[5])
}
fn blocks(x: M3, r: M3) -> M6 {
    let mut out = M6::zeros();
    out.fixed_view_mut::<3, 3>(0, 0).copy_from(&x);
    out.fixed_view_mut::<3, 3>(3, 3).copy_from(&r);
    out
}

pub struct Top {
    pub mass: f64,
    pub inertia: M3,
    pub x: V3,
    pub gravity: V3,
    pub omega: V3,
}

/// The data of section 6, with the sign of Ω₃ that lets the top pass its bottom.
pub fn heavy_top(mass: f64) -> Top {
    Top {
        mass,
        inertia: M3::from_diagonal(&V3::new(0.234375, 0.46875, 0.234375)),
        x: V3::new(0.0, 1.0, 0.0),
        gravity: V3::new(0.0, 0.0, -9.81),
        omega: V3::new(0.0, 150.0, -4.61538),
    }
}

/// Position and rates inside a step; the same quantities for the motion and for its derivative.
#[derive(Clone, Copy)]
pub struct Point {
    /// (x, φ), and (x, ψ) in the geometric form.
    pub q: V6,
    /// (ẋ, φ̇), and (ẋ, Ω) in the geometric form.
    pub v: V6,
    /// True acceleration; the residual form has none.
    pub vdot: V6,
    /// The acceleration variable of the Newmark formulae.
    pub a: V6,
    pub lambda: V3,
    /// The force kept for the next step, residual form only.
    pub g_alpha: V6,
}

/// The start: R = I, consistent accelerations and multipliers (112), (113), with the derivatives (116), (117).
pub fn start(top: &Top, alpha_m: f64, alpha_f: f64) -> (Point, Point) {
    let (m, x, w) = (top.mass, top.x, top.omega);
    let about_pivot = top.inertia - spin(&x) * spin(&x) * m;
    let inverse = about_pivot.try_inverse().expect("an inertia about the pivot has an inverse");
    let wdot = inverse * (x.cross(&top.gravity) * m - w.cross(&(about_pivot * w)));
    let xdd = wdot.cross(&x) + w.cross(&w.cross(&x));
    let lambda = (xdd - top.gravity) * m;
    let rates = pair(xdd, wdot);
    let f_a = pair(xdd * m, top.inertia * wdot);
    let motion = Point {
        q: pair(x, V3::zeros()),
        v: pair(w.cross(&x), w),
        vdot: rates,
        a: rates,
        lambda,
        g_alpha: f_a * (alpha_m - alpha_f),
    };
    let wdot_slope =
        inverse * (x.cross(&top.gravity) + x.cross(&x.cross(&wdot)) + w.cross(&x.cross(&x.cross(&w))));
    let xdd_slope = wdot_slope.cross(&x);
    let rates = pair(xdd_slope, wdot_slope);
    let f_a = pair(xdd + xdd_slope * m, top.inertia * wdot_slope);
    let slope = Point {
        q: V6::zeros(),
        v: V6::zeros(),
        vdot: rates,
        a: rates,
        lambda: (xdd - top.gravity) + xdd_slope * m,
        g_alpha: f_a * (alpha_m - alpha_f),
    };
    (motion, slope)
}

/// What is left out of the tangent: nothing for an exact one.
#[derive(Clone, Copy, Default)]
pub struct Reduced {
    /// k_G is taken to be zero in (65).
    pub without_k_g: bool,
    /// K_t is replaced by its symmetric part.
    pub symmetric: bool,
}

/// The equations at one point and their derivatives, (52), (65)-(67), (71), (72) with the pivot's constraint.
pub struct Operators {
    /// Inertia forces of the accelerations.
    pub f_a: V6,
    /// All other forces, that of the pivot included.
    pub f_c: V6,
    /// R X - x.
    pub gap: V3,
    pub j: M6,
    pub c: M6,
    pub k: M6,
    pub k_a: M6,
    /// The multipliers' column.
    pub column: Matrix6x3<f64>,
    /// The constraint's row.
    pub row: Matrix3x6<f64>,
    /// ∂/∂m of `f_a` and of `f_c`.
    pub f_a_mass: V6,
    pub f_c_mass: V6,
    /// T of the parameters of the step, and the rotation that they give.
    pub tangent: M3,
    pub increment: M3,
    /// What W_ref, turned into the frame at the end, does to the forces and to the constraint.
    pub reference_force: M3,
    pub reference_gap: M3,
}

impl Operators {
    pub fn at(top: &Top, form: Form, reference: &M3, p: &Point, reduced: Reduced) -> Operators {
        let (phi, rate) = (second(&p.q), second(&p.v));
        let acceleration = if form == Form::Residual { p.a } else { p.vdot };
        let (a_x, a) = (first(&acceleration), second(&acceleration));
        let inertia = top.inertia;
        // The geometric form sees velocities themselves: its "T" of the rates is one and does not change.
        let parameters = form != Form::Geometric;
        let (increment, tangent) = if parameters {
            (rotation(&phi), self::tangent(&phi))
        } else {
            (exponential(&phi), exponential_tangent(&phi))
        };
        let (t, tdot, tddot) = if parameters {
            (tangent, tangent_slope(&phi, &rate), tangent_curvature(&phi, &rate, &rate, &a))
        } else {
            (M3::identity(), M3::zeros(), M3::zeros())
        };
        let r = reference * increment;
        let (omega, omega_dot) = (t * rate, t * a + tdot * rate);
        let lever = spin(&top.x);
        let force = r.transpose() * p.lambda;
        let moment = inertia * omega_dot + omega.cross(&(inertia * omega)) + lever * force;
        let stiffness = lever * spin(&force);
        let stiffness = if reduced.symmetric { (stiffness + stiffness.transpose()) / 2.0 } else { stiffness };
        let damping = spin(&omega) * inertia - spin(&(inertia * omega));
        let tt = t.transpose();
        let (c, k, k_a) = if parameters {
            let geometric = if reduced.without_k_g { M3::zeros() } else { k_g(&phi, &moment) };
            let rest = inertia * (tddot + spin(&omega) * tdot + spin(&omega_dot) * t)
                + damping * (tdot + spin(&omega) * t)
                + stiffness * t;
            (
                tt * (inertia * (tdot * 2.0 + spin(&omega) * t) + damping * t),
                geometric + tt * rest,
                k_g(&phi, &(inertia * t * a)) + tt * inertia * k_t(&phi, &a),
            )
        } else {
            (damping, stiffness * tangent, M3::zeros())
        };
        let j = tt * inertia * t;
        let gap_slope = -(r * lever);
        let mut column = Matrix6x3::zeros();
        column.fixed_view_mut::<3, 3>(0, 0).copy_from(&-M3::identity());
        column.fixed_view_mut::<3, 3>(3, 0).copy_from(&(tt * lever * r.transpose()));
        let mut row = Matrix3x6::zeros();
        row.fixed_view_mut::<3, 3>(0, 0).copy_from(&-M3::identity());
        row.fixed_view_mut::<3, 3>(0, 3).copy_from(&(gap_slope * tangent));
        let f_a = pair(a_x * top.mass, j * a);
        Operators {
            f_a,
            f_c: pair(a_x * top.mass - p.lambda - top.gravity * top.mass, tt * moment) - f_a,
            gap: r * top.x - first(&p.q),
            j: blocks(M3::identity() * top.mass, j),
            c: blocks(M3::zeros(), c),
            k: blocks(M3::zeros(), k),
            k_a: blocks(M3::zeros(), k_a),
            column,
            row,
            f_a_mass: pair(a_x, V3::zeros()),
            f_c_mass: pair(-top.gravity, V3::zeros()),
            tangent,
            increment,
            reference_force: tt * stiffness,
            reference_gap: gap_slope,
        }
    }
}
