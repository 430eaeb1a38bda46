//! The settings of the backend.

use crate::fourier::Tile;
use crate::winograd::Variant;
use mxrs_processor::Isa;
use std::num::NonZeroUsize;

/// How much results may differ from those of a direct sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Results differ by at most 8 millionths of the largest output, for 256 input channels.
    #[default]
    Close,
    /// Results differ by at most 50 millionths of the largest output. This allows larger tiles, which are up to a tenth
    /// faster.
    Loose,
}

/// How weights that are packed once and read in every run are stored. The arithmetic is in float32 either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Weights are stored in float32.
    #[default]
    Float32,
    /// Weights are rounded to bfloat16 (about three decimal digits), which halves the bytes to read. This applies to
    /// fully-connected layers, and to convolutions by products with so few output pixels that memory bandwidth limits them.
    Bfloat16,
}

/// The settings of the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnpackOptions {
    /// Largest number of threads that one call uses.
    pub threads: NonZeroUsize,
    /// Whether Winograd's algorithms may be chosen. They round more than a direct sum.
    pub winograd: bool,
    /// Whether Fourier transforms of tiles may be chosen. They round about as much as a direct sum.
    pub fourier: bool,
    /// How much results of Winograd's algorithms may differ from a direct sum.
    pub accuracy: Accuracy,
    /// How the weights of layers limited by memory bandwidth are stored.
    pub weights: Weights,
    /// The instruction set of the kernels.
    pub isa: Isa,
}

impl Default for NnpackOptions {
    /// The default settings: all threads, Fourier transforms, the more accurate of Winograd's algorithms, and the
    /// widest instructions.
    fn default() -> Self {
        let accuracy = Accuracy::default();
        let weights = Weights::default();
        Self { threads: NonZeroUsize::MAX, winograd: true, fourier: true, accuracy, weights, isa: Isa::best() }
    }
}

impl NnpackOptions {
    /// The tiles that Fourier transforms may use.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Tile> {
        let may = self.fourier;
        Tile::ALL.into_iter().filter(move |_| may)
    }

    /// The variants of Winograd's algorithms that may be chosen.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Variant> {
        let bound = match self.accuracy {
            Accuracy::Close => 8e-6,
            Accuracy::Loose => 5e-5,
        };
        let may = self.winograd;
        Variant::ALL.into_iter().filter(move |variant| may && variant.error_bound() <= bound)
    }
}
