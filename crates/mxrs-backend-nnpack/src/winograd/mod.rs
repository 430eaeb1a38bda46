//! Convolutions with stride 1 by Winograd's minimal filtering.
//!
//! The image is cut into tiles; each tile of 16 channels is transformed to `N` factors (`input`), the factors of all tiles and
//! channels are multiplied by transformed weights (`weights`), one matrix product per factor ([`crate::gemm`]), and the
//! products are transformed to outputs (`output`), where bias, sum and bounds are applied. `points` says where the numbers come
//! from and what rounding costs, `one_d` transforms along one axis, `kernels` puts two of them together, [`Blocking`] says how
//! many tiles are worked on at a time, `run` does it.
//!
//! Results do not depend on the number of threads or on the blocking: each product is summed over the channels in one order.

mod blocking;
mod candidates;
mod image;
mod input;
mod kernels;
mod one_d;
mod output;
mod points;
mod run;
mod search;
#[cfg(test)]
mod tests;
mod weights;

pub use blocking::{Blocking, Schedule};
pub use search::{Measured, search};

use crate::Isa;
use crate::gemm::{Gemm, PANEL};
use kernels::Kernels;
use mxrs_sync::Team;
use mxrs_types::{Error, Result};

/// Channels that lie together.
const BLOCK: usize = 16;

/// Sizes of a convolution with stride 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Images.
    pub n: usize,
    /// Input channels.
    pub c: usize,
    /// Output channels.
    pub k: usize,
    /// Height and width of the inputs.
    pub size: [usize; 2],
    /// Height and width of the filters.
    pub kernel: [usize; 2],
    /// Rows above and columns left of the image that are read as zeros.
    pub pad: [usize; 2],
    /// Height and width of the outputs; what they need below and right of the image is read as zeros.
    pub out: [usize; 2],
}

impl Shape {
    /// Operations of the convolution done directly: twice the products.
    pub fn flops(&self) -> f64 {
        2.0 * [self.n, self.c, self.k, self.kernel[0], self.kernel[1], self.out[0], self.out[1]]
            .map(|x| x as f64)
            .iter()
            .product::<f64>()
    }
}

/// What numbers activations are, and how they lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Data {
    /// Float32 in blocks of 16 channels, `[n][C/16][h][w][16]`, the last padded with zeros.
    #[default]
    Blocks,
    /// Bfloat16 with channels last, `[n][h][w][C]`, in multiples of 16 channels. Products and sums are float32.
    ShortPixels,
}

/// How large the tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// 2x2 outputs of a 3x3 filter: 16 products for 36.
    F2,
    /// 3x3 outputs: 25 products for 81.
    F3,
    /// 4x4 outputs: 36 products for 144.
    F4,
    /// 5x5 outputs: 49 products for 225.
    F5,
    /// 6x6 outputs: 64 products for 324.
    F6,
    /// 3x3 outputs of a 5x5 filter: 49 products for 225.
    F3Of5,
    /// 4x4 outputs of a 5x5 filter: 64 products for 400.
    F4Of5,
    /// Four outputs in a row of a 1x3 filter: 6 products for 12.
    Row4Of3,
    /// Four outputs in a column of a 3x1 filter.
    Column4Of3,
    /// Three outputs in a row of a 1x7 filter: 9 products for 21.
    Row3Of7,
    /// Three outputs in a column of a 7x1 filter.
    Column3Of7,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::F2,
        Self::F3,
        Self::F4,
        Self::F5,
        Self::F6,
        Self::F3Of5,
        Self::F4Of5,
        Self::Row4Of3,
        Self::Column4Of3,
        Self::Row3Of7,
        Self::Column3Of7,
    ];

    /// Its name, for traces: `f4x4_3x3`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F2 => "f2x2_3x3",
            Self::F3 => "f3x3_3x3",
            Self::F4 => "f4x4_3x3",
            Self::F5 => "f5x5_3x3",
            Self::F6 => "f6x6_3x3",
            Self::F3Of5 => "f3x3_5x5",
            Self::F4Of5 => "f4x4_5x5",
            Self::Row4Of3 => "f1x4_1x3",
            Self::Column4Of3 => "f4x1_3x1",
            Self::Row3Of7 => "f1x3_1x7",
            Self::Column3Of7 => "f3x1_7x1",
        }
    }

    /// Largest error relative to the largest output, with 256 input channels of evenly spread numbers: what the tests hold the
    /// variant to. Direct summation in float32 has about `5e-7`.
    pub fn error_bound(self) -> f64 {
        match self {
            Self::F2 => 2e-6,
            Self::F3 | Self::F4 | Self::F3Of5 => 8e-6,
            Self::Row4Of3 | Self::Column4Of3 | Self::Row3Of7 | Self::Column3Of7 => 8e-6,
            Self::F5 | Self::F6 | Self::F4Of5 => 5e-5,
        }
    }

    /// Height and width of the filters it is for.
    pub fn kernel(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).r
    }

    /// Height and width of a tile's outputs.
    pub fn outputs(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).m
    }

    /// Height and width of a tile's inputs, and of its factors.
    pub fn inputs(self) -> [usize; 2] {
        Kernels::new(self, Isa::PORTABLE, Data::Blocks).n
    }
}

/// What is done to the outputs, and where they are added to.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    /// Added to each channel: `K` values.
    pub bias: Option<&'a [f32]>,
    /// Added: a tensor like the output, which may be the output itself.
    pub sum: Option<*const u8>,
    /// Lower bound; negative infinity for none.
    pub lo: f32,
    /// Upper bound; infinity for none.
    pub hi: f32,
}

impl Default for Epilogue<'_> {
    fn default() -> Self {
        Self { bias: None, sum: None, lo: f32::NEG_INFINITY, hi: f32::INFINITY }
    }
}

/// A convolution prepared for one shape.
#[derive(Clone, Copy)]
pub struct Plan {
    shape: Shape,
    variant: Variant,
    data: Data,
    blocking: Blocking,
    kernels: Kernels,
    isa: Isa,
    gemm: Gemm,
    /// Blocks of 16 input channels.
    c_blocks: usize,
    /// Blocks of 16 output channels.
    k_blocks: usize,
    /// Tiles of an image, down and across.
    tiles: [usize; 2],
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shape, variant, data, blocking, .. } = self;
        f.debug_struct("Plan")
            .field("shape", shape)
            .field("variant", variant)
            .field("data", data)
            .field("blocking", blocking)
            .finish()
    }
}

impl Plan {
    /// Prepares a variant with a blocking (made to fit: [`Plan::blocking`]) for instructions and [blocks](Data::Blocks).
    ///
    /// # Errors
    /// If the variant is for other filters, or a size is zero.
    pub fn new(shape: Shape, variant: Variant, blocking: Blocking, isa: Isa) -> Result<Self> {
        Self::with_data(shape, variant, blocking, isa, Data::Blocks)
    }

    /// The same for any data.
    ///
    /// # Errors
    /// As [`Self::new`]; channels last that are no multiples of 16.
    pub fn with_data(shape: Shape, variant: Variant, blocking: Blocking, isa: Isa, data: Data) -> Result<Self> {
        if shape.kernel != variant.kernel() {
            return Err(Error::invalid(
                "filter size",
                format!("{:?}", shape.kernel),
                format!("{:?}", variant.kernel()),
            ));
        }
        let sizes = [shape.n, shape.c, shape.k, shape.size[0], shape.size[1], shape.out[0], shape.out[1]];
        if sizes.contains(&0) {
            return Err(Error::invalid("convolution sizes", format!("{sizes:?}"), "none of zero"));
        }
        if data == Data::ShortPixels && [shape.c, shape.k].iter().any(|n| !n.is_multiple_of(BLOCK)) {
            let got = format!("{} and {}", shape.c, shape.k);
            return Err(Error::invalid("channels", got, format!("multiples of {BLOCK}")));
        }
        let kernels = Kernels::new(variant, isa, data);
        let tiles = [0, 1].map(|i| shape.out[i].div_ceil(kernels.m[i]));
        let (c_blocks, k_blocks) = (shape.c.div_ceil(BLOCK), shape.k.div_ceil(BLOCK));
        let mut plan =
            Self { shape, variant, data, blocking, kernels, isa, gemm: Gemm::new(isa), c_blocks, k_blocks, tiles };
        plan.blocking = blocking.fitted(plan.n_tiles(), plan.panels());
        Ok(plan)
    }

    /// What it is for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The tiles.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// How many are worked on at a time.
    pub fn blocking(&self) -> Blocking {
        self.blocking
    }

    /// Bytes of the packed weights.
    pub fn packed_bytes(&self) -> usize {
        self.products() * self.c_blocks * BLOCK * self.k_blocks * BLOCK * size_of::<f32>()
    }

    /// Transforms and packs weights (`[K][C][kh][kw]`), in double.
    ///
    /// # Errors
    /// If a slice has another length than the plan needs.
    pub fn pack_weights(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()> {
        let [kh, kw] = self.shape.kernel;
        check_len("weights", weights.len(), self.shape.k * self.shape.c * kh * kw)?;
        check_len("packed weights", packed.len(), self.packed_bytes() / size_of::<f32>())?;
        weights::pack(self, weights, packed, team);
        Ok(())
    }

    /// Products per tile.
    fn products(&self) -> usize {
        self.kernels.n[0] * self.kernels.n[1]
    }

    /// Tiles of all images.
    fn n_tiles(&self) -> usize {
        self.shape.n * self.tiles[0] * self.tiles[1]
    }

    /// Panels of packed weights.
    fn panels(&self) -> usize {
        self.k_blocks.div_ceil(PANEL / BLOCK)
    }

    /// Columns of a panel.
    fn panel_width(&self, panel: usize) -> usize {
        PANEL.min(self.k_blocks * BLOCK - panel * PANEL)
    }

    /// Where a panel's factors for a product begin in the packed weights.
    fn panel_offset(&self, panel: usize, product: usize) -> usize {
        let c = self.c_blocks * BLOCK;
        (panel * PANEL * self.products() + product * self.panel_width(panel)) * c
    }
}

/// Compares lengths.
fn check_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got == expected {
        Ok(())
    } else {
        Err(Error::invalid(what, format!("{got} values"), format!("{expected} values")))
    }
}
