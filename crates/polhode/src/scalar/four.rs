//! Four numbers side by side as this processor does them best, for work that is done one by one where it has no registers for that.

#[cfg(target_arch = "x86_64")]
pub(crate) use super::avx::{Avx4 as Four, run};

/// Elsewhere every processor has the same registers.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use super::F64x4 as Four;

/// Runs a task with such numbers, if they are quick here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run<T: super::Task>(task: T) -> Option<T::Output> {
    Some(task.run())
}
