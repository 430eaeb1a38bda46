//! Convolutions with stride 1 by Fourier transforms of tiles of 8x8 or 16x16 inputs, as in NNPACK (Mathieu, Henaff and
//! LeCun, arXiv:1312.5851; Vasilache and others, arXiv:1412.7580).
//!
//! A tile with `N` inputs along an axis gives `N + 1 - r` outputs of a window with `r` taps: those that a cyclic
//! correlation computes correctly (overlap and save). A tile of 16 channels is transformed as real numbers (`input`). 4
//! of its frequencies are real, and half of the complex ones are conjugates of the other half, which leaves 30 complex
//! ones of 64 frequencies (126 of 256). Each frequency is multiplied by the conjugate of the filter's frequency. The
//! products are summed over the channels ([`crate::gemm`]), and the sums are transformed back (`output`).
//!
//! Of the other modules, `real` transforms along one axis, `pairs` makes complex spectra of two real ones, `weights`
//! transforms filters, and `kernels` compiles the transforms for instruction sets. `crate::tiles` runs these steps over
//! an image, as for Winograd's algorithms.
//!
//! With tiles of 16x16, a 7x7 window gives 100 outputs from 4 real and 126 complex frequencies. This takes 508
//! multiplications, 5 per output, where the direct sum takes 49. Unlike Winograd's, these transforms hardly add rounding
//! errors: their matrices are orthogonal up to a factor.

mod input;
mod kernels;
mod output;
mod pairs;
mod real;
#[cfg(test)]
mod tests;
mod weights;

use crate::filters::Filters;
pub use crate::tiles::{Blocking, Epilogue, Schedule, Shape};
use crate::tiles::{Data, Factors, Tiling, Work};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::{Error, Result};

/// Size of the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tile {
    /// 8x8 inputs, for windows up to 5x5.
    Eight,
    /// 16x16 inputs, for windows up to 11x11.
    Sixteen,
}

impl Tile {
    /// All sizes.
    pub const ALL: [Self; 2] = [Self::Eight, Self::Sixteen];

    /// The tile's name in traces, such as `fft8x8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eight => "fft8x8",
            Self::Sixteen => "fft16x16",
        }
    }

    /// Inputs along each axis.
    pub fn size(self) -> usize {
        match self {
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }

    /// Whether tiles of this size support windows of this height and width: the longer side must be 3 to 5 (8x8), or 3 to
    /// 11 (16x16).
    pub fn takes(self, kernel: [usize; 2]) -> bool {
        let most = match self {
            Self::Eight => 5,
            Self::Sixteen => 11,
        };
        let longest = kernel[0].max(kernel[1]);
        !kernel.contains(&0) && (3..=most).contains(&longest)
    }

    /// Height and width of a tile's outputs, for a window that it [supports](Self::takes).
    pub fn outputs(self, kernel: [usize; 2]) -> [usize; 2] {
        kernel.map(|taps| self.size() + 1 - taps)
    }

    /// Bound of the error relative to the largest output, with 256 input channels of evenly distributed values; the
    /// tests check it. Direct summation in float32 has an error of about `5e-7`.
    pub fn error_bound(self) -> f64 {
        1e-6
    }

    /// The numbers of real and of complex frequencies that a tile is transformed to.
    pub(crate) fn factors(self) -> Factors {
        pairs::factors(self.size())
    }

    fn work(self, shape: &Shape) -> Work {
        Work::new(shape, self.factors(), self.outputs(shape.kernel))
    }

    /// The blocking to use without tuning, for a window that this tile supports.
    pub fn suggested(self, shape: &Shape, threads: usize) -> Blocking {
        self.work(shape).suggested(threads)
    }

    /// The blockings worth timing, the suggested one first.
    pub fn candidates(self, shape: &Shape, threads: usize) -> Vec<Blocking> {
        self.work(shape).candidates(threads)
    }
}

/// A convolution prepared for one shape. Activations are in blocks of 16 channels, the last block padded with zeros.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    tiling: Tiling,
    tile: Tile,
}

impl Plan {
    /// Prepares a convolution with these tiles. The blocking is adjusted to the shape.
    ///
    /// # Errors
    /// Fails if the tile does not support the window, or a size is zero.
    pub fn new(shape: Shape, tile: Tile, blocking: Blocking, isa: Isa) -> Result<Self> {
        if !tile.takes(shape.kernel) {
            return Err(Error::invalid(
                "filter size",
                format!("{:?}", shape.kernel),
                format!("one that fits {}", tile.name()),
            ));
        }
        let transforms = kernels::transforms(tile, shape.kernel, isa);
        Ok(Self { tiling: Tiling::new(shape, transforms, blocking, isa, Data::Blocks)?, tile })
    }

    /// The size of the tiles.
    pub fn tile(&self) -> Tile {
        self.tile
    }

    /// The tiling that runs the convolution.
    pub(crate) fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// Bytes of the packed weights.
    pub fn packed_bytes(&self) -> usize {
        self.tiling.packed_bytes()
    }

    /// Bytes of scratch memory that [`run`](Self::run) needs.
    pub fn scratch_bytes(&self) -> usize {
        self.tiling.scratch_bytes()
    }

    /// Transforms weights (`[K][C][kh][kw]`) in double precision and packs them.
    ///
    /// # Errors
    /// Fails if a slice does not have the length that the plan needs.
    pub fn pack_weights(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()> {
        let Shape { c, kernel, .. } = self.tiling.shape;
        let filters = Filters::plain(weights, c, kernel.iter().product());
        self.tiling.pack_weights(&weights::Waves::new(self.tile.size()), filters, packed, team)
    }

    /// Computes the convolution. `src` and `dst` are in blocks of channels; `weights` come from
    /// [`pack_weights`](Self::pack_weights). Channels of `src` beyond C must be zeros; channels of `dst` beyond K
    /// become zeros.
    ///
    /// # Errors
    /// Fails if the scratch memory is too short, or the bias does not have K values.
    ///
    /// # Safety
    /// All addresses, including that of the sum, must be valid for tensors of the plan's shape. During the call no other
    /// thread may write these tensors or use the output. `src` and `dst` must not overlap. The scratch memory should be
    /// aligned to 64 bytes, for speed.
    pub unsafe fn run(
        &self,
        src: *const f32,
        weights: *const f32,
        epilogue: &Epilogue<'_>,
        dst: *mut f32,
        scratch: &mut [f32],
        team: &Team,
    ) -> Result<()> {
        // SAFETY: the contract of this function is that of `Tiling::run`.
        unsafe { self.tiling.run(src.cast(), weights, epilogue, dst.cast(), scratch, team) }
    }
}
