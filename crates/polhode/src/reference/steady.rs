//! Steady precession of a symmetric heavy top: the axis keeps its tilt and turns about the vertical at a constant
//! rate while the body spins about the axis at another.
//!
//! With moments A, A, C about the fixed point, potential mgl R33 and R = Rz(φ) Rx(θ) Rz(ψ), θ and φ' stay constant if
//!   A φ'² cos θ - Π3 φ' + mgl = 0,  Π3 = C Ω3,  Ω3 = ψ' + φ' cos θ.

use super::attitude;
use crate::scalar::{Dd, Real};
use nalgebra::{Matrix3, Vector3};

/// A top in steady precession, with φ = ψ = 0 at t = 0.
///
/// ```
/// use polhode::reference::SteadyPrecession;
/// let top = SteadyPrecession::new(5.0, 1.0, 20.0, 0.7, 1.5)?;
/// let (attitude, momentum) = top.at(10.0);
/// // The axis is where 15 rad of precession lead it, and the momentum about it is constant.
/// assert!((attitude[(0, 2)] - 0.7f64.sin() * 15f64.sin()).abs() < 1e-15);
/// assert_eq!(momentum.z, top.omega_body().z);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct SteadyPrecession {
    across: f64,
    along: f64,
    tilt: f64,
    precession: f64,
    /// Ω3.
    axial: f64,
}

impl SteadyPrecession {
    /// From the moments `a` (twice) and `c`, the weight times the distance of the centre of mass `mgl`, the tilt θ and
    /// the rate of precession φ'. The angular velocity about the axis follows, and is rounded to f64 so that a run that
    /// starts from it starts on this motion.
    ///
    /// Fails if a moment is not positive, the precession is zero, or a value is not finite.
    pub fn new(a: f64, c: f64, mgl: f64, tilt: f64, precession: f64) -> Result<SteadyPrecession, String> {
        if !(a > 0.0 && c > 0.0 && a.is_finite() && c.is_finite()) {
            return Err("the moments of inertia of the top must be positive and finite".into());
        }
        if !(mgl.is_finite() && tilt.is_finite() && precession.is_finite()) {
            return Err("the weight, the tilt and the precession of the top must be finite".into());
        }
        if precession == 0.0 {
            return Err("a top whose axis stands still does not precess".into());
        }
        let (_, cos) = Dd::from(tilt).sin_cos();
        let momentum3 = cos * a * precession + Dd::from(mgl) / precession;
        let axial = (momentum3 / c).to_f64();
        if !axial.is_finite() {
            return Err("the spin of the top is beyond the range of f64".into());
        }
        Ok(SteadyPrecession { across: a, along: c, tilt, precession, axial })
    }

    /// The body angular velocity at t = 0.
    pub fn omega_body(&self) -> Vector3<f64> {
        let (sin, _) = Dd::from(self.tilt).sin_cos();
        Vector3::new(0.0, (sin * self.precession).to_f64(), self.axial)
    }

    /// The rate of precession φ', as given.
    pub fn precession_rate(&self) -> f64 {
        self.precession
    }

    /// The rate of spin ψ'.
    pub fn spin_rate(&self) -> f64 {
        self.spin().to_f64()
    }

    fn spin(&self) -> Dd {
        let (_, cos) = Dd::from(self.tilt).sin_cos();
        Dd::from(self.axial) - cos * self.precession
    }

    /// Attitude (body to space) and body angular momentum at time `t`, of either sign.
    pub fn at(&self, t: f64) -> (Matrix3<f64>, Vector3<f64>) {
        let (attitude, momentum) = self.at_dd(t);
        (attitude.map(Dd::to_f64), momentum.map(Dd::to_f64))
    }

    /// The same with all digits.
    pub fn at_dd(&self, t: f64) -> (Matrix3<Dd>, Vector3<Dd>) {
        let (phi, psi) = (Dd::from(self.precession) * t, self.spin() * t);
        let (s_sum, c_sum) = ((phi + psi) * 0.5).sin_cos();
        let (s_difference, c_difference) = ((phi - psi) * 0.5).sin_cos();
        let (s, c) = (Dd::from(self.tilt) * 0.5).sin_cos();
        let attitude = attitude::matrix(&[c * c_sum, s * c_difference, s * s_difference, c * s_sum]);
        let (s_psi, c_psi) = psi.sin_cos();
        let (sin, _) = Dd::from(self.tilt).sin_cos();
        let across = sin * self.precession * self.across;
        (attitude, Vector3::new(across * s_psi, across * c_psi, Dd::from(self.along) * self.axial))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{distance, integrated};
    use super::super::{LagrangeTop, SteadyPrecession};
    use crate::scalar::{Dd, Real};
    use nalgebra::{Matrix3, Vector3};

    #[test]
    fn solves_the_equations_of_motion() {
        let inertia = Matrix3::from_diagonal(&Vector3::new(5.0, 5.0, 1.0));
        for (mgl, tilt, rate) in [(20.0, 0.7, 1.5), (20.0, 2.5, -0.4), (-20.0, 1.2, 3.0), (0.0, 1.0, 2.0)] {
            let top = SteadyPrecession::new(5.0, 1.0, mgl, tilt, rate).unwrap();
            let other = LagrangeTop::from_rotation_vector(
                5.0,
                1.0,
                mgl,
                &Vector3::new(tilt, 0.0, 0.0),
                &top.omega_body(),
            );
            let start = top.at_dd(0.0);
            for t in [-2.0, 1.0, 4.0] {
                // As near as the rounding of the start lets the motions be.
                let integrated = integrated(&inertia, mgl, &start, t, 1e-25);
                assert!(distance(&top.at_dd(t), &integrated) < 2e-14, "mgl {mgl}, t {t}");
                let other = other.as_ref().unwrap().at_dd(t);
                assert!(distance(&top.at_dd(t), &other) < 2e-14, "mgl {mgl}, t {t}");
            }
            let turned = top.at_dd(1.0).0 * top.at_dd(1.0).1 - start.0 * start.1;
            assert!(turned.z.abs().to_f64() < 1e-29);
            assert!((start.1.map(Dd::to_f64) - inertia * top.omega_body()).amax() < 1e-14);
        }
    }

    #[test]
    fn what_does_not_precess_is_refused() {
        let refused = |a, c, mgl, tilt, rate| SteadyPrecession::new(a, c, mgl, tilt, rate).unwrap_err();
        assert!(refused(0.0, 1.0, 20.0, 0.3, 1.0).contains("moments"));
        assert!(refused(5.0, f64::NAN, 20.0, 0.3, 1.0).contains("moments"));
        assert!(refused(5.0, 1.0, f64::INFINITY, 0.3, 1.0).contains("finite"));
        assert!(refused(5.0, 1.0, 20.0, 0.3, 0.0).contains("precess"));
        assert!(refused(5.0, 1.0, 20.0, 0.3, 1e-320).contains("range"));
    }
}
