//! Settings of the backend.

use crate::Isa;
use std::num::NonZeroUsize;

/// How the backend works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnpackOptions {
    /// Most threads of a team that one call uses.
    pub threads: NonZeroUsize,
    /// Whether Winograd's algorithms may be chosen, which round more than a direct sum does.
    pub winograd: bool,
    /// Instructions of the kernels.
    pub isa: Isa,
}

impl Default for NnpackOptions {
    /// All threads, Winograd's algorithms, the widest instructions.
    fn default() -> Self {
        Self { threads: NonZeroUsize::MAX, winograd: true, isa: Isa::best() }
    }
}
