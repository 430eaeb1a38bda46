//! The functions of [`crate::fork`] for systems without `fork`, and for loom and Miri, which do not support it: guards
//! are accepted and never called.

use super::ForkGuard;
use crate::Rank;
use std::sync::Arc;

pub(super) fn add(_rank: Rank, _guard: &Arc<dyn ForkGuard>) -> u64 {
    0
}

pub(super) fn remove(_id: u64) {}

pub(super) fn watch() {}

#[inline]
pub(super) fn generation() -> u64 {
    0
}
