//! Settings of the backend.

use crate::Isa;
use crate::winograd::Variant;
use std::num::NonZeroUsize;

/// How far results may be from those of a direct sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Within 8 millionths of the largest output, with 256 input channels.
    #[default]
    Close,
    /// Within 50 millionths: larger tiles, up to a tenth faster.
    Loose,
}

/// How the backend works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnpackOptions {
    /// Most threads of a team that one call uses.
    pub threads: NonZeroUsize,
    /// Whether Winograd's algorithms may be chosen, which round more than a direct sum does.
    pub winograd: bool,
    /// How far they may be from it.
    pub accuracy: Accuracy,
    /// Instructions of the kernels.
    pub isa: Isa,
}

impl Default for NnpackOptions {
    /// All threads, Winograd's algorithms that are close, the widest instructions.
    fn default() -> Self {
        Self { threads: NonZeroUsize::MAX, winograd: true, accuracy: Accuracy::default(), isa: Isa::best() }
    }
}

impl NnpackOptions {
    /// The algorithms of Winograd's that may be chosen.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Variant> {
        let bound = match self.accuracy {
            Accuracy::Close => 8e-6,
            Accuracy::Loose => 5e-5,
        };
        let may = self.winograd;
        Variant::ALL.into_iter().filter(move |variant| may && variant.error_bound() <= bound)
    }
}
