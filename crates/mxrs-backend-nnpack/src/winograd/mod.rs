//! Convolutions with stride 1 by Winograd's minimal filtering.
//!
//! The image is cut into tiles. Each tile of 16 channels is transformed to `N` values, called factors (`input`). The
//! factors of all tiles and channels are multiplied by transformed weights (`weights`), one matrix product per factor
//! ([`crate::gemm`]). The products are transformed to outputs (`output`), where bias, sum and bounds are applied.
//! `points` defines the constants and explains what rounding costs, `one_d` transforms along one axis, `kernels`
//! combines two one-dimensional transforms. `crate::tiles` applies all this to whole images, as for Fourier transforms.

pub(crate) mod gradient;
mod input;
mod kernels;
mod one_d;
mod output;
mod points;
mod search;
#[cfg(test)]
mod tests;
mod weights;

pub use crate::tiles::{Blocking, Data, Epilogue, Schedule, Shape};
pub use search::{Measured, search};

use crate::filters::Filters;
use crate::tiles::{Tiling, Transforms, Work};
use kernels::Kernels;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::{Error, Result};
pub(crate) use one_d::unrolled;

/// A variant of Winograd's algorithm: the size of a tile's outputs, and the size of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// 2x2 outputs of a 3x3 filter: 16 products instead of 36.
    F2,
    /// 3x3 outputs of a 3x3 filter: 25 products instead of 81.
    F3,
    /// 4x4 outputs of a 3x3 filter: 36 products instead of 144.
    F4,
    /// 5x5 outputs of a 3x3 filter: 49 products instead of 225.
    F5,
    /// 6x6 outputs of a 3x3 filter: 64 products instead of 324.
    F6,
    /// 3x3 outputs of a 5x5 filter: 49 products instead of 225.
    F3Of5,
    /// 4x4 outputs of a 5x5 filter: 64 products instead of 400.
    F4Of5,
    /// 4x4 outputs of a 4x4 filter: 49 products instead of 256.
    F4Of4,
    /// Four outputs in a row of a 1x3 filter: 6 products instead of 12.
    Row4Of3,
    /// Four outputs in a column of a 3x1 filter: 6 products instead of 12.
    Column4Of3,
    /// Three outputs in a row of a 1x7 filter: 9 products instead of 21.
    Row3Of7,
    /// Three outputs in a column of a 7x1 filter: 9 products instead of 21.
    Column3Of7,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 12] = [
        Self::F2,
        Self::F3,
        Self::F4,
        Self::F5,
        Self::F6,
        Self::F3Of5,
        Self::F4Of5,
        Self::F4Of4,
        Self::Row4Of3,
        Self::Column4Of3,
        Self::Row3Of7,
        Self::Column3Of7,
    ];

    /// The variant's name in traces, such as `f4x4_3x3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F2 => "f2x2_3x3",
            Self::F3 => "f3x3_3x3",
            Self::F4 => "f4x4_3x3",
            Self::F5 => "f5x5_3x3",
            Self::F6 => "f6x6_3x3",
            Self::F3Of5 => "f3x3_5x5",
            Self::F4Of5 => "f4x4_5x5",
            Self::F4Of4 => "f4x4_4x4",
            Self::Row4Of3 => "f1x4_1x3",
            Self::Column4Of3 => "f4x1_3x1",
            Self::Row3Of7 => "f1x3_1x7",
            Self::Column3Of7 => "f3x1_7x1",
        }
    }

    /// Bound of the error relative to the largest output, with 256 input channels of evenly distributed values; the
    /// tests check it. Direct summation in float32 has an error of about `5e-7`.
    pub fn error_bound(self) -> f64 {
        match self {
            Self::F2 => 2e-6,
            Self::F3 | Self::F4 | Self::F3Of5 | Self::F4Of4 => 8e-6,
            Self::Row4Of3 | Self::Column4Of3 | Self::Row3Of7 | Self::Column3Of7 => 8e-6,
            Self::F5 | Self::F6 | Self::F4Of5 => 5e-5,
        }
    }

    /// Height and width of the filters that the variant computes.
    pub fn kernel(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).r
    }

    /// Height and width of a tile's outputs.
    pub fn outputs(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).transforms.m
    }

    /// What the choice of a blocking depends on: the sizes of a transformed tile, the channels, and the number of
    /// tiles.
    fn work(self, shape: &Shape) -> Work {
        let Transforms { factors, m, .. } = Kernels::new(self, Isa::PORTABLE, Data::Blocks).transforms;
        Work::new(shape, factors, m)
    }

    /// Height and width of a tile's inputs, and of the transformed tile.
    pub fn inputs(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).transforms.n
    }
}

impl Blocking {
    /// The blocking to use without tuning.
    pub fn suggested(shape: &Shape, variant: Variant, threads: usize) -> Self {
        variant.work(shape).suggested(threads)
    }

    /// The blockings worth timing, [`Blocking::suggested`] first.
    pub fn candidates(shape: &Shape, variant: Variant, threads: usize) -> Vec<Self> {
        variant.work(shape).candidates(threads)
    }
}

/// A convolution prepared for one shape.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    tiling: Tiling,
    variant: Variant,
}

impl Plan {
    /// Prepares a variant for activations in [blocks](Data::Blocks). The blocking is fitted to the shape; see
    /// [`Plan::blocking`].
    ///
    /// # Errors
    /// Fails if the variant is for other filters, or a size is zero.
    pub fn new(shape: Shape, variant: Variant, blocking: Blocking, isa: Isa) -> Result<Self> {
        Self::with_data(shape, variant, blocking, isa, Data::Blocks)
    }

    /// Prepares a variant for activations of any dtype and layout.
    ///
    /// # Errors
    /// Fails if the variant is for other filters, if a size is zero, or if channels are last and their number is not a
    /// multiple of 16.
    pub fn with_data(shape: Shape, variant: Variant, blocking: Blocking, isa: Isa, data: Data) -> Result<Self> {
        if shape.kernel != variant.kernel() {
            return Err(Error::invalid(
                "filter size",
                format!("{:?}", shape.kernel),
                format!("{:?}", variant.kernel()),
            ));
        }
        let transforms = Kernels::new(variant, isa, data).transforms;
        Ok(Self { tiling: Tiling::new(shape, transforms, blocking, isa, data)?, variant })
    }

    /// The shape that the plan is prepared for.
    pub fn shape(&self) -> &Shape {
        &self.tiling.shape
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The blocking, fitted to the shape.
    pub fn blocking(&self) -> Blocking {
        self.tiling.blocking
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
        self.pack_filters(Filters::plain(weights, self.tiling.shape.c, self.cells()), packed, team)
    }

    /// Transforms and packs weights like [`Self::pack_weights`], for a plan that computes the gradient of another
    /// convolution's data; `weights` (`[C][K][kh][kw]`) are the weights of that convolution.
    ///
    /// # Errors
    /// Fails if a slice does not have the length that the plan needs.
    pub fn pack_flipped_weights(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()> {
        let Shape { k, c, .. } = self.tiling.shape;
        self.pack_filters(Filters::flipped(weights, [k, c], self.cells()), packed, team)
    }

    fn cells(&self) -> usize {
        self.tiling.shape.kernel.iter().product()
    }

    fn pack_filters(&self, filters: Filters<'_>, packed: &mut [f32], team: &Team) -> Result<()> {
        let matrices = (Kernels::new(self.variant, self.tiling.isa, self.tiling.data).weights)();
        self.tiling.pack_weights(&matrices, filters, packed, team)
    }

    /// Computes the convolution. The layout of `src` and `dst` is that of the plan's [`Data`]; `weights` come from
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
        src: *const u8,
        weights: *const f32,
        epilogue: &Epilogue<'_>,
        dst: *mut u8,
        scratch: &mut [f32],
        team: &Team,
    ) -> Result<()> {
        // SAFETY: the contract of this function is that of `Tiling::run`.
        unsafe { self.tiling.run(src, weights, epilogue, dst, scratch, team) }
    }
}
