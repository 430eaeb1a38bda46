//! Convolutions with stride 1 by a transform of tiles, for any transform: [`crate::winograd`], [`crate::fourier`].
//!
//! The image is cut into tiles that overlap, because each output depends on a whole window. Each tile of 16 channels is
//! transformed to values that are called [`Factors`]; those of all tiles and channels are multiplied by transformed
//! weights; the products are transformed to outputs, where bias, sum and bounds are applied. This module has what all
//! transforms share: the sizes, the blocking, which says how much is processed at a time ([`Blocking`]), the loops of
//! the threads (`run`), the arguments of the transforms (`strip`), and the packing of weights by a team (`pack`).
//!
//! Results do not depend on the number of threads or on the blocking: each product is summed over the channels in the
//! same order.

mod blocking;
mod candidates;
#[cfg(test)]
pub(crate) mod cases;
mod cut;
pub(crate) mod image;
pub(crate) mod pack;
mod run;
pub(crate) mod strip;

pub use blocking::{Blocking, Schedule};
pub(crate) use candidates::Work;

use crate::filters::Filters;
use crate::functions::Apply;
use crate::gemm::{Gemm, PANEL};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::{Error, Result};

/// Channels that are stored together.
pub(crate) const BLOCK: usize = 16;

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
    /// Height and width of the outputs. Positions below and right of the image are read as zeros.
    pub out: [usize; 2],
}

impl Shape {
    /// Operations of the direct sum: twice the number of products.
    pub fn flops(&self) -> f64 {
        2.0 * [self.n, self.c, self.k, self.kernel[0], self.kernel[1], self.out[0], self.out[1]]
            .map(|x| x as f64)
            .iter()
            .product::<f64>()
    }
}

/// Dtype and layout of activations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Data {
    /// Float32 in blocks of 16 channels, `[n][C/16][h][w][16]`, the last block padded with zeros.
    #[default]
    Blocks,
    /// Bfloat16 with channels last, `[n][h][w][C]`, where C is a multiple of 16. Products and sums are float32.
    Bf16Pixels,
}

/// The operations that are applied to the outputs.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    /// Values that are added to the channels, one each: `K` values.
    pub bias: Option<&'a [f32]>,
    /// A tensor that is added. It has the shape and layout of the output, and may be the output itself.
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

/// The numbers of real and of complex values that a tile is transformed to. These values are called factors.
///
/// A plane holds one value of each tile and channel of a block. The inputs have one plane per real factor, then three
/// per complex factor: real part, imaginary part, and negated real part. So both parts of the product with a conjugated
/// weight are sums over the same packed weights:
///
/// ```text
/// x conj(w) = (re x re w + im x im w) + i (im x re w + (-re x) im w)
/// ```
///
/// The products have one plane per real factor, then the real and the imaginary part of each complex one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Factors {
    /// Number of values of a transformed tile that are real.
    pub real: usize,
    /// Number of values of a transformed tile that are complex.
    pub complex: usize,
}

impl Factors {
    /// Number of planes of the transformed inputs.
    pub fn planes(self) -> usize {
        self.real + 3 * self.complex
    }

    /// Number of planes of the products, which is also the number of values per weight.
    pub fn numbers(self) -> usize {
        self.real + 2 * self.complex
    }

    /// Number of multiplications per tile and pair of channels.
    pub fn multiplications(self) -> usize {
        self.real + 4 * self.complex
    }

    /// Number of values of a transformed tile; the real ones come first.
    fn count(self) -> usize {
        self.real + self.complex
    }

    /// Number of planes before the first plane of the value with index `factor` of a transformed tile, if a complex
    /// value has `per_complex` planes.
    fn before(self, factor: usize, per_complex: usize) -> usize {
        factor.min(self.real) + per_complex * factor.saturating_sub(self.real)
    }
}

/// A pair of two-dimensional transforms, compiled for one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Transforms {
    /// Transforms the inputs of tiles to the values that are multiplied by weights.
    pub input: unsafe fn(&strip::Inputs),
    /// Transforms products to outputs.
    pub output: unsafe fn(&strip::Outputs<'_>),
    /// Outputs of a tile, down and across.
    pub m: [usize; 2],
    /// Inputs of a tile, down and across.
    pub n: [usize; 2],
    /// The numbers of real and of complex values of a transformed tile.
    pub factors: Factors,
}

/// A convolution prepared for one shape and one pair of transforms.
#[derive(Clone, Copy)]
pub(crate) struct Tiling {
    pub shape: Shape,
    pub data: Data,
    pub blocking: Blocking,
    pub transforms: Transforms,
    pub isa: Isa,
    gemm: Gemm,
    /// Blocks of 16 input channels.
    pub c_blocks: usize,
    /// Blocks of 16 output channels.
    pub k_blocks: usize,
    /// Tiles of an image, down and across.
    tiles: [usize; 2],
    /// Distance in values from one image of the output to the next, if the output is a part of a larger tensor.
    dst_image_stride: Option<usize>,
    /// The function that is applied to the outputs, in blocks of channels, after the epilogue.
    function: Option<Apply>,
}

impl Tiling {
    /// Prepares a convolution. The transforms must be for the window of the shape; the blocking is fitted to the shape.
    ///
    /// # Errors
    /// Fails if a size is zero, or if channels are last and their number is not a multiple of 16.
    pub fn new(shape: Shape, transforms: Transforms, blocking: Blocking, isa: Isa, data: Data) -> Result<Self> {
        let sizes = [shape.n, shape.c, shape.k, shape.size[0], shape.size[1], shape.out[0], shape.out[1]];
        if sizes.contains(&0) {
            return Err(Error::invalid("convolution sizes", format!("{sizes:?}"), "none of zero"));
        }
        if data == Data::Bf16Pixels && [shape.c, shape.k].iter().any(|n| !n.is_multiple_of(BLOCK)) {
            let got = format!("{} and {}", shape.c, shape.k);
            return Err(Error::invalid("channels", got, format!("multiples of {BLOCK}")));
        }
        let tiles = [0, 1].map(|i| shape.out[i].div_ceil(transforms.m[i]));
        let (c_blocks, k_blocks) = (shape.c.div_ceil(BLOCK), shape.k.div_ceil(BLOCK));
        let mut tiling = Self {
            shape,
            data,
            blocking,
            transforms,
            isa,
            gemm: Gemm::new(isa),
            c_blocks,
            k_blocks,
            tiles,
            dst_image_stride: None,
            function: None,
        };
        tiling.blocking = blocking.fitted(tiling.n_tiles(), tiling.panels());
        Ok(tiling)
    }

    /// Returns this tiling with another distance between the images of the output. The tensor to add is not affected.
    pub fn with_image_stride(self, dst_image_stride: Option<usize>) -> Self {
        Self { dst_image_stride, ..self }
    }

    /// Returns this tiling with a function that is applied to the outputs. These must be in blocks of channels.
    pub fn with_function(self, function: Option<Apply>) -> Self {
        debug_assert!(function.is_none() || self.data == Data::Blocks);
        Self { function, ..self }
    }

    /// Bytes of the packed weights.
    pub fn packed_bytes(&self) -> usize {
        self.transforms.factors.numbers() * self.c_blocks * BLOCK * self.k_blocks * BLOCK * size_of::<f32>()
    }

    /// Transforms filters in double precision and packs them.
    ///
    /// # Errors
    /// Fails if a slice does not have the length that the tiling needs.
    pub fn pack_weights(
        &self,
        transform: &impl pack::Transform,
        filters: Filters<'_>,
        packed: &mut [f32],
        team: &Team,
    ) -> Result<()> {
        let [kh, kw] = self.shape.kernel;
        check_len("weights", filters.len(), self.shape.k * self.shape.c * kh * kw)?;
        check_len("packed weights", packed.len(), self.packed_bytes() / size_of::<f32>())?;
        pack::pack(self, transform, filters, packed, team);
        Ok(())
    }

    /// Number of tiles of all images.
    pub fn n_tiles(&self) -> usize {
        self.shape.n * self.tiles[0] * self.tiles[1]
    }

    /// Number of panels of packed weights.
    fn panels(&self) -> usize {
        self.k_blocks.div_ceil(PANEL / BLOCK)
    }

    /// Number of columns of a panel.
    fn panel_width(&self, panel: usize) -> usize {
        PANEL.min(self.k_blocks * BLOCK - panel * PANEL)
    }

    /// Offset, in the packed weights, of a panel's weights for the value with index `factor` of a transformed tile.
    fn panel_offset(&self, panel: usize, factor: usize) -> usize {
        let (c, factors) = (self.c_blocks * BLOCK, self.transforms.factors);
        (panel * PANEL * factors.numbers() + factors.before(factor, 2) * self.panel_width(panel)) * c
    }
}

impl std::fmt::Debug for Tiling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shape, data, blocking, .. } = self;
        f.debug_struct("Tiling").field("shape", shape).field("data", data).field("blocking", blocking).finish()
    }
}

/// Returns an error if the length `got` is not `expected`.
fn check_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got == expected {
        Ok(())
    } else {
        Err(Error::invalid(what, format!("{got} values"), format!("{expected} values")))
    }
}
