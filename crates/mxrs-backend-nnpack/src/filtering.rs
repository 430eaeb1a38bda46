//! Winograd's and Fourier's algorithms as the backend's: the plan for a problem.

use crate::Isa;
use crate::convolve::{Convolve, Operands};
use crate::problem::ConvProblem;
use crate::tiles::{Blocking, Data, Epilogue, Shape, Tiling};
use crate::winograd::Variant;
use crate::{fourier, winograd};
use half::bf16;
use mxrs_sync::Team;
use mxrs_types::Result;
use mxrs_types::bfloat16::widen;

/// The convolution prepared.
pub struct TileConv {
    tiling: Tiling,
}

/// Tiles of a problem, across, down and of all images, that have so many outputs down and across.
pub fn n_tiles(p: &ConvProblem, [down, across]: [usize; 2]) -> usize {
    p.n * p.oh.div_ceil(down) * p.ow.div_ceil(across)
}

/// A problem as algorithms on tiles see it.
pub fn shape(p: &ConvProblem) -> Shape {
    Shape { n: p.n, c: p.c, k: p.k, size: [p.h, p.w], kernel: [p.kh, p.kw], pad: [p.pad.0, p.pad.1], out: [p.oh, p.ow] }
}

impl TileConv {
    /// Prepares one of Winograd's algorithms, cut like that.
    ///
    /// # Errors
    /// Where the variant is for other windows.
    pub fn winograd(p: &ConvProblem, variant: Variant, blocking: Blocking, isa: Isa) -> Result<Self> {
        let plan = winograd::Plan::with_data(shape(p), variant, blocking, isa, p.data)?;
        Ok(Self { tiling: *plan.tiling() })
    }

    /// Prepares Fourier transforms of tiles, cut like that.
    ///
    /// # Errors
    /// Where the tiles are for other windows.
    pub fn fourier(p: &ConvProblem, tile: fourier::Tile, blocking: Blocking, isa: Isa) -> Result<Self> {
        let plan = fourier::Plan::new(shape(p), tile, blocking, isa)?;
        Ok(Self { tiling: *plan.tiling() })
    }

    /// Numbers of the widened bias.
    fn n_widened(&self) -> usize {
        match self.tiling.data {
            Data::Blocks => 0,
            Data::ShortPixels => self.tiling.shape.k,
        }
    }
}

impl Convolve for TileConv {
    fn scratch_bytes(&self) -> usize {
        self.tiling.scratch_bytes() + self.n_widened() * size_of::<f32>()
    }

    fn takes_images_apart(&self) -> bool {
        self.tiling.data == Data::Blocks
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let k = self.tiling.shape.k;
        // SAFETY: the caller's promise: scratch memory of the planned size, only used here.
        let scratch = unsafe { std::slice::from_raw_parts_mut(o.scratch, self.scratch_bytes() / size_of::<f32>()) };
        let (widened, scratch) = scratch.split_at_mut(self.n_widened());
        let bias = match self.tiling.data {
            _ if o.bias.is_null() => None,
            // SAFETY: the caller's promise: a bias of `k` numbers, only read.
            Data::Blocks => Some(unsafe { std::slice::from_raw_parts(o.bias, k) }),
            Data::ShortPixels => {
                // SAFETY: as above, of 16 bits each.
                let short = unsafe { std::slice::from_raw_parts(o.bias.cast::<bf16>(), k) };
                widened.iter_mut().zip(short).for_each(|(to, x)| *to = widen(*x));
                Some(&*widened)
            }
        };
        let sum = (!o.sum.is_null()).then_some(o.sum.cast());
        let epilogue = Epilogue { bias, sum, lo: o.bounds.low, hi: o.bounds.high };
        let tiling = self.tiling.with_images_apart(o.dst_image);
        // SAFETY: the caller's promise.
        unsafe { tiling.run(o.src.cast(), o.weights, &epilogue, o.dst.cast(), scratch, team) }
    }
}
