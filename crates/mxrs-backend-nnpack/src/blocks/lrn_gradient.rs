//! The gradient of local response normalization across channels:
//! `ograd · norm^-beta - 2 · alpha · beta / nsize · x · Σ ograd' · x' · norm'^(-beta - 1)`. Here `norm` is what the
//! formula in [`super::lrn`] raises to the power `-beta`. The primed values are those of the neighboring channels: the sum runs over the same
//! neighborhoods as in the normalization, because these are symmetric.
//!
//! The kernel works on up to 16 pixels at a time, and reads neighborhoods as in [`super::lrn`]. It computes `norm` again from the
//! data.

use super::Fit;
use super::lrn::{Layer, TILE, clear_padding, over_neighbors};
use super::pass::{Memory, Pass};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::{BLOCK, blocked};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_processor::Isa;
use std::ops::Range;

/// A prepared gradient.
struct LrnGradient {
    layer: Layer,
    /// `2 · alpha · beta / nsize`.
    factor: f32,
    kernel: unsafe fn(&Tile<'_>),
}

/// Consecutive pixels of one image.
struct Tile<'a> {
    layer: &'a Layer,
    factor: f32,
    ograd: *const f32,
    data: *const f32,
    dst: *mut f32,
    pixels: usize,
    /// Squares of the data. Like `terms`, the terms of the sum in the gradient, they take [`Layer::stride`] values per
    /// pixel, with a block of zeros on each side.
    squares: *mut f32,
    terms: *mut f32,
}

for_each_set! {
    /// Returns the function that computes a tile of the gradient.
    fn gradient: unsafe fn(tile: &Tile<'_>) = gradient_of
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let (layer, sizes) = Layer::of(call)?;
    let p = call.params.get::<LrnParams>();
    let factor = (2.0 * f64::from(p.alpha) * f64::from(p.beta) / f64::from(p.nsize)) as f32;
    let layout = blocked(sizes);
    let pass = move || LrnGradient { layer, factor, kernel: gradient(isa) };
    Ok(Fit::new("lrn_gradient", [layout.clone(), layout], pass))
}

impl Pass for LrnGradient {
    fn pieces(&self) -> usize {
        self.layer.tiles()
    }

    fn numbers(&self) -> usize {
        TILE * self.layer.blocks() * BLOCK * (8 + 2 * self.layer.width)
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let [mut squares, mut terms] = [0, 1].map(|_| vec![0.0f32; TILE * self.layer.stride()]);
        for piece in pieces {
            let (at, pixels) = self.layer.tile(piece);
            // SAFETY: `piece < self.pieces()`, so the tile lies in the planes of its image, and in the output only this
            // piece writes it. Both vectors have `TILE * stride` values, whose first and last block of each pixel are 0.
            unsafe {
                (self.kernel)(&Tile {
                    layer: &self.layer,
                    factor: self.factor,
                    ograd: memory.inputs[0].add(at),
                    data: memory.inputs[1].add(at),
                    dst: memory.dst.add(at),
                    pixels,
                    squares: squares.as_mut_ptr(),
                    terms: terms.as_mut_ptr(),
                });
            }
        }
    }
}

/// # Safety
/// `tile.ograd`, `tile.data` and `tile.dst` must be valid in every block, `layer.pixels * BLOCK` values apart, for
/// `tile.pixels` pixels. `tile.squares` and `tile.terms` must have `layer.stride()` values per pixel, of which the outer
/// blocks are 0. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn gradient_of<L: Lanes>(tile: &Tile<'_>) {
    let layer = tile.layer;
    let (plane, stride, reach) = (layer.pixels * BLOCK, layer.stride(), layer.width / 2);
    let registers = || {
        let pixels = move |block| (0..tile.pixels).map(move |pixel| (block, pixel));
        let lanes = |(block, pixel)| (0..BLOCK).step_by(L::N).map(move |lane| (block, pixel, lane));
        (0..layer.blocks()).flat_map(pixels).flat_map(lanes)
    };
    // The two indices of a register's values: in the tensors, and in `squares` and `terms`.
    let at = |(block, pixel, lane): (usize, usize, usize)| {
        (block * plane + pixel * BLOCK + lane, pixel * stride + (block + 1) * BLOCK + lane)
    };
    // SAFETY: `block`, `pixel` and `lane + L::N <= BLOCK` stay within the memory that the caller promises. `Layer::of`
    // refuses `width / 2 > BLOCK`, so a neighborhood reaches at most into the zeros on either side.
    unsafe {
        for (at, kept) in registers().map(at) {
            let x = L::load(tile.data.add(at));
            x.mul(x).store(tile.squares.add(kept));
        }
        let (scale, base, one) = (L::splat(layer.scale), L::splat(layer.base), L::splat(1.0));
        for (at, kept) in registers().map(at) {
            let bracket = over_neighbors::<L>(tile.squares.add(kept - reach), layer.width).mul_add(scale, base);
            let through = L::load(tile.ograd.add(at)).mul(layer.power.of(bracket));
            through.store(tile.dst.add(at));
            through.mul(L::load(tile.data.add(at))).mul(one.div(bracket)).store(tile.terms.add(kept));
        }
        // A padding channel may have a `norm` of 0, which would make its term NaN.
        let used = (layer.channels - 1) % BLOCK + 1;
        for pixel in 0..tile.pixels {
            tile.terms.add(pixel * stride + layer.blocks() * BLOCK + used).write_bytes(0, BLOCK - used);
        }
        let factor = L::splat(tile.factor);
        for (at, kept) in registers().map(at) {
            let sum = over_neighbors::<L>(tile.terms.add(kept - reach), layer.width);
            let slope = L::load(tile.data.add(at)).mul(factor);
            slope.neg_mul_add(sum, L::load(tile.dst.add(at))).store(tile.dst.add(at));
        }
        clear_padding(layer, tile.dst, tile.pixels);
    }
}
