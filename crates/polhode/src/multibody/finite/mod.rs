//! Steps by finite derivatives in convected base vectors, the columns of the attitude matrices (after Krenk & Nielsen 2013):
//! energy, momentum, angular momentum and joints are kept to round-off.
//!
//! With the Cayley map R₁ = R₀ cay(a) the columns change by Δq_j = θ × q̄_j, where θ = R₀ a and q̄_j is the mean of both
//! ends. A row or strain e of at most second degree in positions and columns changes by its gradient at the mean times
//! their change, exactly. So joints at the mean do the work λ ΔΦ = 0, springs that of their energy, and
//!
//! Δx = h v̄, m Δv = h (f - Φ_xᵀ λ), a = h Ω̄, ΔL = h (M - Σ q̄_j × Φ_qⱼᵀ λ), Φ(q₁) = 0
//!
//! keeps all of it. The stabilized form adds B̃ᵀν to the changes of pose, B̃ the mean of B at both ends, and the finite
//! derivative of ν·B v to the momenta, so that B v = 0 holds at the end of the step too.

mod forces;
mod leap;
mod matrix;
mod piece;
mod relative;
mod rows;
mod stepping;
mod whole;

pub(super) use forces::Strain;
pub(super) use leap::Leap;
pub(super) use piece::Pull;
pub(super) use stepping::Leaping;
