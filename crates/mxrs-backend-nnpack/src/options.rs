//! Settings of the backend.

use crate::Isa;
use crate::fourier::Tile;
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

/// How weights are kept that are packed once and read in every run. Arithmetic is in float32 either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// As they are.
    #[default]
    Float32,
    /// Rounded to bfloat16, to three digits: those of fully-connected layers, and of convolutions as products with so few
    /// output pixels that they wait for weights. Half of the bytes are read.
    Bfloat16,
}

/// How the backend works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnpackOptions {
    /// Most threads of a team that one call uses.
    pub threads: NonZeroUsize,
    /// Whether Winograd's algorithms may be chosen, which round more than a direct sum does.
    pub winograd: bool,
    /// Whether Fourier transforms of tiles may be chosen, which round about as much as a direct sum.
    pub fourier: bool,
    /// How far Winograd's may be from a direct sum.
    pub accuracy: Accuracy,
    /// How weights of layers that wait for them are kept.
    pub weights: Weights,
    /// Instructions of the kernels.
    pub isa: Isa,
}

impl Default for NnpackOptions {
    /// All threads, Fourier transforms, Winograd's algorithms that are close, the widest instructions.
    fn default() -> Self {
        let accuracy = Accuracy::default();
        let weights = Weights::default();
        Self { threads: NonZeroUsize::MAX, winograd: true, fourier: true, accuracy, weights, isa: Isa::best() }
    }
}

impl NnpackOptions {
    /// The tiles that may be transformed by Fourier's.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Tile> {
        let may = self.fourier;
        Tile::ALL.into_iter().filter(move |_| may)
    }

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
