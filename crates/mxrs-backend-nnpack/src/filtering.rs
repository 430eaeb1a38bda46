//! Winograd's and Fourier's algorithms behind the backend's [`Convolve`] interface.

use crate::convolve::{Convolve, Operands};
use crate::functions::Apply;
use crate::problem::ConvProblem;
use crate::tiles::{Blocking, Data, Epilogue, Shape, Tiling};
use crate::winograd::Variant;
use crate::{fourier, winograd};
use half::bf16;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use mxrs_types::bfloat16::widen;

/// A prepared convolution on tiles.
pub struct TileConv {
    tiling: Tiling,
}

/// Number of tiles of all images, if a tile has `down` by `across` outputs.
pub fn n_tiles(p: &ConvProblem, [down, across]: [usize; 2]) -> usize {
    p.n * p.oh.div_ceil(down) * p.ow.div_ceil(across)
}

/// The sizes of a problem, in the form that the algorithms on tiles expect.
pub fn shape(p: &ConvProblem) -> Shape {
    Shape { n: p.n, c: p.c, k: p.k, size: [p.h, p.w], kernel: [p.kh, p.kw], pad: [p.pad.0, p.pad.1], out: [p.oh, p.ow] }
}

impl TileConv {
    /// Prepares one of Winograd's algorithms with this blocking.
    ///
    /// # Errors
    /// Fails if the variant is for a window of another size.
    pub fn winograd(p: &ConvProblem, variant: Variant, blocking: Blocking, isa: Isa) -> Result<Self> {
        let plan = winograd::Plan::with_data(shape(p), variant, blocking, isa, p.data)?;
        Ok(Self { tiling: *plan.tiling() })
    }

    /// Prepares Fourier transforms of tiles with this blocking.
    ///
    /// # Errors
    /// Fails if the tile does not support this window.
    pub fn fourier(p: &ConvProblem, tile: fourier::Tile, blocking: Blocking, isa: Isa) -> Result<Self> {
        let plan = fourier::Plan::new(shape(p), tile, blocking, isa)?;
        Ok(Self { tiling: *plan.tiling() })
    }

    /// Returns this convolution with a function that is applied to its outputs, which must be in blocks of channels.
    pub fn with_function(self, function: Option<Apply>) -> Self {
        Self { tiling: self.tiling.with_function(function) }
    }

    /// Number of values of the bias that are widened to float32: none if the bias is float32 already.
    fn n_widened(&self) -> usize {
        match self.tiling.data {
            Data::Blocks => 0,
            Data::Bf16Pixels => self.tiling.shape.k,
        }
    }
}

impl Convolve for TileConv {
    fn scratch_bytes(&self) -> usize {
        self.tiling.scratch_bytes() + self.n_widened() * size_of::<f32>()
    }

    fn supports_strided_output(&self) -> bool {
        self.tiling.data == Data::Blocks
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let k = self.tiling.shape.k;
        // SAFETY: by the contract of `Convolve::run` the scratch memory has `scratch_bytes()` bytes, is aligned to 64
        // bytes, and is used by this call alone.
        let scratch = unsafe { std::slice::from_raw_parts_mut(o.scratch, self.scratch_bytes() / size_of::<f32>()) };
        let (widened, scratch) = scratch.split_at_mut(self.n_widened());
        let bias = match self.tiling.data {
            _ if o.bias.is_null() => None,
            // SAFETY: the caller passes a bias of `k` values that nothing writes during the call.
            Data::Blocks => Some(unsafe { std::slice::from_raw_parts(o.bias, k) }),
            Data::Bf16Pixels => {
                // SAFETY: the caller passes a bias that nothing writes during the call. In a bfloat16 problem it has
                // `k` values of 16 bits.
                let short = unsafe { std::slice::from_raw_parts(o.bias.cast::<bf16>(), k) };
                widened.iter_mut().zip(short).for_each(|(to, x)| *to = widen(*x));
                Some(&*widened)
            }
        };
        let sum = (!o.sum.is_null()).then_some(o.sum.cast());
        let epilogue = Epilogue { bias, sum, lo: o.bounds.low, hi: o.bounds.high };
        let tiling = self.tiling.with_image_stride(o.dst_image_stride);
        // SAFETY: the caller passes tensors of the problem, whose sizes are those of the tiling's shape. `scratch` has
        // `tiling.scratch_bytes()` bytes: `scratch_bytes()` without the `n_widened()` values that were split off.
        unsafe { tiling.run(o.src.cast(), o.weights, &epilogue, o.dst.cast(), scratch, team) }
    }
}
