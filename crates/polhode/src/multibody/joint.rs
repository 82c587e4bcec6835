//! Joints: what they forbid, as rows of Φ(q) = 0 between a frame on one body and a frame on another.
//!
//! Symbols, for the ends A and B: x position and R attitude of the body, a and b the points of the frames in body axes,
//! u and w axes of the frames in body axes, U = R_A u and W = R_B w the same in space, d = p_B - p_A from one point to
//! the other. Φ̇ = B v with v = {ẋ, Ω} of both bodies; the reactions are -Bᵀ λ, so that the multipliers of a point are
//! the force of A on B in space. A change Θ of the attitude, Ṙ = R Θ̃, changes s·(R y) by Θ·(y × Rᵀ s).

use super::kinds::kinds;
use super::own::OwnJoint;
use super::place::{Place, outer, twice, zero};
use super::system::End;
use crate::group::spin;
use crate::scalar::{Over, Real, cross};
use nalgebra::{Matrix3, Vector3};

kinds! {
    /// What a joint allows.
    pub enum JointKind or OwnJoint {
        /// Every rotation about a common point: 3 rows.
        Spherical = "spherical",
        /// Rotation about the common third axis: 5 rows.
        Revolute = "revolute",
        /// Sliding along the common third axis: 5 rows.
        Prismatic = "prismatic",
        /// Rotation about and sliding along the common third axis: 4 rows.
        Cylindrical = "cylindrical",
        /// Rotation about the third axis of the first frame and the first axis of the second, which stay perpendicular: 4
        /// rows.
        Universal = "universal",
        /// Sliding in the plane across the third axis, and rotation about it: 3 rows.
        Planar = "planar",
        /// Nothing: 6 rows.
        Fixed = "fixed",
        /// The second point on the third axis of the first frame: 2 rows.
        PointOnLine = "point-on-line",
        /// The second point in the plane across the third axis of the first frame: 1 row.
        PointInPlane = "point-in-plane",
        /// Third axes that stay parallel: 2 rows.
        Parallel = "parallel",
        /// Third axes that keep an angle: 1 row.
        ConstantAngle = "constant-angle" { angle: "angle between the third axes, rad" },
        /// A rod of this length between the two points: 1 row.
        Distance = "distance" { length: "length of the rod, m" },
    }
}

/// A piece of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Feature {
    /// The points coincide: p_A - p_B, 3 rows in space axes.
    Point,
    /// Two axes of the frames stay perpendicular, or keep an angle: U·W - cos α.
    Perpendicular(usize, usize),
    /// The point of B stays in the plane through that of A across this axis: -U·d.
    InPlane(usize),
    /// The points keep their distance L: (L² - d·d)/2L, so that the multiplier is the force in the rod.
    Length,
}

impl Feature {
    #[inline(always)]
    pub(super) fn rows(&self) -> usize {
        if matches!(self, Feature::Point) { 3 } else { 1 }
    }
}

impl<S: Real> JointKind<S> {
    /// How many rows it has.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        match self {
            JointKind::Fixed => 6,
            JointKind::Revolute | JointKind::Prismatic => 5,
            JointKind::Cylindrical | JointKind::Universal => 4,
            JointKind::Spherical | JointKind::Planar => 3,
            JointKind::PointOnLine | JointKind::Parallel => 2,
            JointKind::PointInPlane | JointKind::ConstantAngle { .. } | JointKind::Distance { .. } => 1,
            JointKind::Own(own) => own.rows(),
        }
    }
    #[inline(always)]
    pub(super) fn features(&self) -> &'static [Feature] {
        use Feature::{InPlane, Length, Perpendicular, Point};
        match self {
            JointKind::Spherical => &[Point],
            JointKind::Revolute => &[Point, Perpendicular(0, 2), Perpendicular(1, 2)],
            JointKind::Prismatic => {
                &[Perpendicular(0, 2), Perpendicular(1, 2), Perpendicular(0, 1), InPlane(0), InPlane(1)]
            }
            JointKind::Cylindrical => &[Perpendicular(0, 2), Perpendicular(1, 2), InPlane(0), InPlane(1)],
            JointKind::Universal => &[Point, Perpendicular(2, 0)],
            JointKind::Planar => &[Perpendicular(0, 2), Perpendicular(1, 2), InPlane(2)],
            JointKind::Fixed => &[Point, Perpendicular(0, 2), Perpendicular(1, 2), Perpendicular(0, 1)],
            JointKind::PointOnLine => &[InPlane(0), InPlane(1)],
            JointKind::PointInPlane => &[InPlane(2)],
            JointKind::Parallel => &[Perpendicular(0, 2), Perpendicular(1, 2)],
            JointKind::ConstantAngle { .. } => &[Perpendicular(2, 2)],
            JointKind::Distance { .. } => &[Length],
            // A formula is one piece.
            JointKind::Own(_) => &[],
        }
    }
    /// True if points and axes of its frames count.
    pub(super) fn uses(&self) -> (bool, bool) {
        let any = |counts: fn(&Feature) -> bool| self.own().is_some() || self.features().iter().any(counts);
        (
            any(|feature| !matches!(feature, Feature::Perpendicular(..))),
            any(|feature| !matches!(feature, Feature::Point | Feature::Length)),
        )
    }
    /// True if it keeps points together, and no other row sees them.
    pub(super) fn pins_points(&self) -> bool {
        let features = self.features();
        features.contains(&Feature::Point)
            && features.iter().all(|f| matches!(f, Feature::Point | Feature::Perpendicular(..)))
    }
    /// True if it keeps points together, and nothing else.
    pub(super) fn turns_alone(&self) -> bool {
        matches!(self.features(), [Feature::Point])
    }
    /// The formula of one's own, if it is one.
    #[inline(always)]
    pub(super) fn own(&self) -> Option<&OwnJoint<S>> {
        if let JointKind::Own(own) = self { Some(own) } else { None }
    }
    /// The force in N or the moment in N m of a multiplier of one. Axes that keep an angle α are held by λ sin α.
    pub(super) fn effort(&self) -> S {
        if let JointKind::ConstantAngle { angle } = self { angle.sin_cos().0 } else { S::one() }
    }
    /// L of a rod.
    #[inline(always)]
    pub(super) fn length(&self) -> S {
        if let JointKind::Distance { length } = self { *length } else { S::one() }
    }
}

/// The most rows that a joint has.
pub const MOST_ROWS: usize = 6;

/// One joint between two frames.
#[derive(Clone, Debug)]
pub struct Joint<S: Real> {
    /// Its name.
    pub name: String,
    /// What it allows.
    pub kind: JointKind<S>,
    /// The frames that it joins.
    pub ends: [End<S>; 2],
    /// The number of the joint that it belongs to, of a row that drives the coordinate of another joint.
    pub of: Option<usize>,
}

/// A frame's axis in body axes.
#[inline(always)]
pub(super) fn axis<S: Real, T: Over<S>>(end: &End<S>, i: usize) -> Vector3<T> {
    Vector3::new(T::of(end.axes[(0, i)]), T::of(end.axes[(1, i)]), T::of(end.axes[(2, i)]))
}

impl<S: Real> Joint<S> {
    /// A joint between two ends.
    pub fn new(name: &str, kind: impl Into<JointKind<S>>, ends: [End<S>; 2]) -> Self {
        Joint { name: name.into(), kind: kind.into(), ends, of: None }
    }
    /// True for the row that makes a cylindrical joint a screw.
    pub(super) fn is_thread(&self) -> bool {
        self.kind.own().is_some_and(|own| own.kind() == "thread")
    }
    /// The bodies that it joins; `None` is the ground.
    #[inline(always)]
    pub fn bodies(&self) -> [Option<usize>; 2] {
        [self.ends[0].body, self.ends[1].body]
    }
    /// From the point of A to that of B.
    #[inline(always)]
    fn span<T: Over<S>>(&self, [a, b]: [&Place<T>; 2]) -> Vector3<T> {
        let point = |end: usize, at: &Place<T>| at.x + at.to_space(&self.ends[end].point.map(T::of));
        point(1, b) - point(0, a)
    }
    /// True if both points are the same to the last digits.
    pub(super) fn points_coincide(&self, places: [&Place<S>; 2]) -> bool {
        let far = |at: &Place<S>| at.x.dot(&at.x).largest();
        let arm = |end: &End<S>| end.point.dot(&end.point).largest();
        let size = [far(places[0]), far(places[1]), arm(&self.ends[0]), arm(&self.ends[1])];
        let d = self.span(places);
        d.dot(&d).largest() <= 1e-28 * size.into_iter().fold(0.0, f64::max)
    }
    /// Its velocity, and the part of its acceleration that the angular velocities alone make.
    #[inline(always)]
    fn span_rates<T: Over<S>>(&self, [a, b]: [&Place<T>; 2]) -> (Vector3<T>, Vector3<T>) {
        let rates = |end: usize, at: &Place<T>| at.rates(&self.ends[end].point.map(T::of));
        let ((va, aa), (vb, ab)) = (rates(0, a), rates(1, b));
        (b.v - a.v + vb - va, ab - aa)
    }

    /// Rows of axes are linear in those of the first frame. So for each axis of the second frame that they have, in axes of its
    /// body, there is one vector in those of the first body that they are together, times multipliers.
    #[inline(always)]
    pub(super) fn crossed<T: Over<S>>(
        &self,
        multipliers: &[T],
        mut each: impl FnMut(&Vector3<T>, &Vector3<T>),
    ) {
        let (features, mut row, mut sum) = (self.kind.features(), 0, None);
        if let [Feature::Point] = features {
            return;
        }
        for feature in features {
            if let Feature::Perpendicular(i, j) = *feature {
                let first = axis::<S, T>(&self.ends[0], i) * multipliers[row];
                sum = match sum {
                    Some((at, sum)) if at == j => Some((j, sum + first)),
                    other => {
                        if let Some((at, sum)) = other {
                            each(&sum, &axis(&self.ends[1], at));
                        }
                        Some((j, first))
                    }
                };
            }
            row += feature.rows();
        }
        if let Some((at, sum)) = sum {
            each(&sum, &axis(&self.ends[1], at));
        }
    }

    /// Φ.
    #[inline(always)]
    pub fn constraint<T: Over<S>>(&self, time: T, places: [&Place<T>; 2], out: &mut [T]) {
        if let Some(own) = self.kind.own() {
            return own.constraint(&self.ends, time, places, out);
        }
        let mut row = 0;
        let [a, b] = places;
        // The last axis of the second frame, in axes of the first body.
        let mut second = (MOST_ROWS, zero());
        for feature in self.kind.features() {
            match *feature {
                Feature::Point => {
                    let d = self.span(places);
                    for i in 0..3 {
                        out[row + i] = -d[i];
                    }
                }
                Feature::Perpendicular(i, j) => {
                    if second.0 != j {
                        second = (j, a.to_body(&b.to_space(&axis(&self.ends[1], j))));
                    }
                    out[row] = axis(&self.ends[0], i).dot(&second.1);
                    if let JointKind::ConstantAngle { angle } = self.kind {
                        out[row] -= T::of(angle).sin_cos().1;
                    }
                }
                Feature::InPlane(i) => {
                    out[row] = -a.to_space(&axis(&self.ends[0], i)).dot(&self.span(places));
                }
                Feature::Length => {
                    let (d, length) = (self.span(places), T::of(self.kind.length()));
                    out[row] = (length * length - d.dot(&d)) / (length + length);
                }
            }
            row += feature.rows();
        }
    }

    /// B: for each row the derivatives with respect to x_A, Θ_A, x_B, Θ_B.
    #[inline(always)]
    pub fn jacobian(&self, time: S, places: [&Place<S>; 2], out: &mut [[Vector3<S>; 4]]) {
        if let Some(own) = self.kind.own() {
            return own.jacobian(&self.ends, time, places, out);
        }
        let (mut row, [a, b]) = (0, places);
        let [pa, pb] = [self.ends[0].point, self.ends[1].point];
        for feature in self.kind.features() {
            match *feature {
                Feature::Point => {
                    for i in 0..3 {
                        let mut e = zero();
                        e[i] = S::one();
                        out[row + i] = [e, cross(&pa, &a.base(i)), -e, cross(&b.base(i), &pb)];
                    }
                }
                Feature::Perpendicular(i, j) => {
                    let (u, w) = (axis(&self.ends[0], i), axis(&self.ends[1], j));
                    out[row] = [zero(), a.arm(&u, &b.to_space(&w)), zero(), b.arm(&w, &a.to_space(&u))];
                }
                Feature::InPlane(i) => {
                    let u = axis(&self.ends[0], i);
                    let (up, d) = (a.to_space(&u), self.span(places));
                    out[row] = [up, cross(&pa, &u) - a.arm(&u, &d), -up, -b.arm(&pb, &up)];
                }
                Feature::Length => {
                    let d = self.span(places) / self.kind.length();
                    out[row] = [d, a.arm(&pa, &d), -d, -b.arm(&pb, &d)];
                }
            }
            row += feature.rows();
        }
    }

    /// Bᵀ λ: force in space and moment in body axes for each end.
    #[inline(always)]
    pub fn reaction<T: Over<S>>(&self, time: T, places: [&Place<T>; 2], lambda: &[T]) -> [Vector3<T>; 4] {
        if let Some(own) = self.kind.own() {
            return own.reaction(&self.ends, time, places, lambda);
        }
        let (mut row, [a, b]) = (0, places);
        let [pa, pb] = [self.ends[0].point.map(T::of), self.ends[1].point.map(T::of)];
        let mut sum = [zero(); 4];
        // A force f of A's point on that of B, with the opposite on A.
        let mut force = |f: &Vector3<T>| {
            sum[0] += f;
            sum[1] += a.arm(&pa, f);
            sum[2] -= f;
            sum[3] -= b.arm(&pb, f);
        };
        // Moments on both in space: u × Rᵀ W = Rᵀ (U × W).
        let mut moments = [zero(); 2];
        let mut turned = false;
        self.crossed(lambda, |u, w| {
            let moment = cross(&a.to_space(u), &b.to_space(w));
            moments[0] += moment;
            moments[1] -= moment;
            turned = true;
        });
        for feature in self.kind.features() {
            let l = lambda[row];
            match *feature {
                Feature::Point => force(&Vector3::new(l, lambda[row + 1], lambda[row + 2])),
                Feature::Perpendicular(..) => {}
                Feature::InPlane(i) => {
                    let u = axis(&self.ends[0], i);
                    let (up, d) = (a.to_space(&u), self.span(places));
                    force(&(up * l));
                    moments[0] -= cross(&up, &d) * l;
                    turned = true;
                }
                Feature::Length => force(&(self.span(places) * (l / T::of(self.kind.length())))),
            }
            row += feature.rows();
        }
        if turned {
            sum[1] += a.to_body(&moments[0]);
            sum[3] += b.to_body(&moments[1]);
        }
        sum
    }

    /// The derivative of Bᵀ λ, λ held, as blocks (row, column) of x_A, Θ_A, x_B, Θ_B. It is not symmetric: the rows are
    /// components in a frame that turns.
    #[inline(always)]
    pub fn stiffness(
        &self,
        time: S,
        places: [&Place<S>; 2],
        lambda: &[S],
        mut add: impl FnMut(usize, usize, Matrix3<S>),
    ) {
        if let Some(own) = self.kind.own() {
            return own.stiffness(&self.ends, time, places, lambda, &mut add);
        }
        let (mut row, [a, b]) = (0, places);
        let (pa, pb) = (spin(&self.ends[0].point), spin(&self.ends[1].point));
        // Of points and axes: on both attitudes by themselves, and across.
        let (mut own, mut across) = ([None; 2], None);
        let sum = |sum: &mut Option<Matrix3<S>>, m: Matrix3<S>| *sum = Some(sum.map_or(m, |sum| sum + m));
        self.crossed(lambda, |u, w| {
            let (u_b, w_a) = (b.to_body(&a.to_space(u)), a.to_body(&b.to_space(w)));
            // ũ R_Aᵀ R_B w̃ = R_Aᵀ Ũ W̃ R_B.
            sum(&mut across, a.r.tr_mul(&b.r) * u.dot(&w_a) - outer(&w_a, &u_b));
            sum(&mut own[0], twice(u, &w_a));
            sum(&mut own[1], twice(w, &u_b));
        });
        for feature in self.kind.features() {
            let l = lambda[row];
            match *feature {
                Feature::Point => {
                    let f = Vector3::new(l, lambda[row + 1], lambda[row + 2]);
                    sum(&mut own[0], twice(&self.ends[0].point, &a.to_body(&f)));
                    sum(&mut own[1], -twice(&self.ends[1].point, &b.to_body(&f)));
                }
                Feature::Perpendicular(..) => {}
                Feature::InPlane(i) => {
                    let u = axis(&self.ends[0], i);
                    let (us, d) = (a.to_space(&u), self.span(places));
                    let (u, turned) = (spin(&u) * l, a.r.tr_mul(&b.r));
                    let (ru, ur) = (a.r * u, u * a.r.transpose());
                    add(0, 1, -ru);
                    add(2, 1, ru);
                    add(1, 0, ur);
                    add(1, 2, -ur);
                    add(1, 1, -(u * (spin(&a.to_body(&d)) + pa)));
                    add(1, 3, u * turned * pb);
                    add(3, 3, -(pb * spin(&b.to_body(&us)) * l));
                    add(3, 1, pb * turned.transpose() * u);
                }
                Feature::Length => {
                    let (d, k) = (self.span(places), l / self.kind.length());
                    let unit = Matrix3::from_diagonal_element(k);
                    let turned = a.r.tr_mul(&b.r) * k;
                    let (ra, rb) = (a.r * pa * k, b.r * pb * k);
                    for (sign, to) in [(S::one(), 0), (-S::one(), 2)] {
                        add(to, 0, unit * -sign);
                        add(to, 2, unit * sign);
                        add(to, 1, ra * sign);
                        add(to, 3, rb * -sign);
                    }
                    add(1, 1, pa * (spin(&a.to_body(&d)) + pa) * k);
                    add(1, 0, ra.transpose());
                    add(1, 2, -ra.transpose());
                    add(1, 3, -(pa * turned * pb));
                    add(3, 3, -(pb * (spin(&b.to_body(&d)) - pb) * k));
                    add(3, 0, -rb.transpose());
                    add(3, 2, rb.transpose());
                    add(3, 1, -(pb * turned.transpose() * pa));
                }
            }
            row += feature.rows();
        }
        for (end, own) in own.into_iter().enumerate() {
            own.into_iter().for_each(|m| add(2 * end + 1, 2 * end + 1, m));
        }
        if let Some(across) = across {
            add(1, 3, across);
            add(3, 1, across.transpose());
        }
    }

    /// Φ̇ = B v and, if it is asked for, the second-order term Ḃ v: with it, Φ̈ = B v̇ + Ḃ v. Where Φ depends on time, both with what that adds.
    #[inline(always)]
    pub fn rates<T: Over<S>>(
        &self,
        time: T,
        places: [&Place<T>; 2],
        rate: &mut [T],
        mut quadratic: Option<&mut [T]>,
    ) {
        if let Some(own) = self.kind.own() {
            let room = &mut [T::zero(); MOST_ROWS];
            return own.rates(&self.ends, time, places, rate, quadratic.unwrap_or(room));
        }
        let mut second = |row: usize, value: T| {
            if let Some(quadratic) = &mut quadratic {
                quadratic[row] = value;
            }
        };
        let (mut row, [a, b]) = (0, places);
        for feature in self.kind.features() {
            let (d1, d2) = self.span_rates(places);
            match *feature {
                Feature::Point => {
                    for i in 0..3 {
                        rate[row + i] = -d1[i];
                        second(row + i, -d2[i]);
                    }
                }
                Feature::Perpendicular(i, j) => {
                    let (u, w) = (axis(&self.ends[0], i), axis(&self.ends[1], j));
                    let ((u1, u2), (w1, w2)) = (a.rates(&u), b.rates(&w));
                    let (u, w) = (a.to_space(&u), b.to_space(&w));
                    rate[row] = u1.dot(&w) + u.dot(&w1);
                    second(row, u2.dot(&w) + u1.dot(&w1) * T::lift(2.0) + u.dot(&w2));
                }
                Feature::InPlane(i) => {
                    let u = axis(&self.ends[0], i);
                    let (u1, u2) = a.rates(&u);
                    let (u, d) = (a.to_space(&u), self.span(places));
                    rate[row] = -(u1.dot(&d) + u.dot(&d1));
                    second(row, -(u2.dot(&d) + u1.dot(&d1) * T::lift(2.0) + u.dot(&d2)));
                }
                Feature::Length => {
                    let (d, length) = (self.span(places), T::of(self.kind.length()));
                    rate[row] = -d.dot(&d1) / length;
                    second(row, -(d1.dot(&d1) + d.dot(&d2)) / length);
                }
            }
            row += feature.rows();
        }
    }

    /// The derivatives of Φ̇ with respect to x_A, Θ_A, x_B, Θ_B, the velocities held.
    pub fn rate_slopes(&self, time: S, places: [&Place<S>; 2], out: &mut [[Vector3<S>; 4]]) {
        if let Some(own) = self.kind.own() {
            return own.rate_slopes(&self.ends, time, places, out);
        }
        let (mut row, [a, b]) = (0, places);
        let [pa, pb] = [self.ends[0].point, self.ends[1].point];
        // The derivative of s·(R y)˙ with respect to Θ, s held.
        let late = |at: &Place<S>, y: &Vector3<S>, s: &Vector3<S>| at.arm(&cross(&at.omega, y), s);
        for feature in self.kind.features() {
            let (d1, _) = self.span_rates(places);
            match *feature {
                Feature::Point => {
                    for i in 0..3 {
                        let mut e = zero();
                        e[i] = S::one();
                        out[row + i] = [zero(), late(a, &pa, &e), zero(), -late(b, &pb, &e)];
                    }
                }
                Feature::Perpendicular(i, j) => {
                    let (u, w) = (axis(&self.ends[0], i), axis(&self.ends[1], j));
                    let ((u1, _), (w1, _)) = (a.rates(&u), b.rates(&w));
                    let to_u = late(a, &u, &b.to_space(&w)) + a.arm(&u, &w1);
                    let to_w = late(b, &w, &a.to_space(&u)) + b.arm(&w, &u1);
                    out[row] = [zero(), to_u, zero(), to_w];
                }
                Feature::InPlane(i) => {
                    let u = axis(&self.ends[0], i);
                    let (u1, _) = a.rates(&u);
                    let (us, d) = (a.to_space(&u), self.span(places));
                    let to_a = late(a, &u, &d) - a.arm(&pa, &u1) + a.arm(&u, &d1) - late(a, &pa, &us);
                    out[row] = [u1, -to_a, -u1, -(b.arm(&pb, &u1) + late(b, &pb, &us))];
                }
                Feature::Length => {
                    let length = self.kind.length();
                    let (d, d1) = (self.span(places) / length, d1 / length);
                    let to = |at: &Place<S>, p: &Vector3<S>| at.arm(p, &d1) + late(at, p, &d);
                    out[row] = [d1, to(a, &pa), -d1, -to(b, &pb)];
                }
            }
            row += feature.rows();
        }
    }
}
