//! Local response normalization across channels, `x · (knorm + alpha / nsize · Σ x'²)^-beta`.
//!
//! A piece is a few pixels of an image. The squares of all their channels are written one after the other, so that a
//! neighborhood of channels across blocks is a load from a place that is not aligned.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::Isa;
use crate::gemm::lanes::Lanes;
use crate::isa::for_each_set;
use crate::layouts::{BLOCK, blocked, image};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use std::ops::Range;

/// Pixels of a piece.
const TILE: usize = 16;

/// How a bracket becomes a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Power {
    /// To the power of -3/4.
    ThreeQuarters,
    /// To the power of -1/2.
    Half,
    /// To the power of this.
    Any(f32),
}

/// The normalization prepared.
struct Lrn {
    images: usize,
    channels: usize,
    pixels: usize,
    /// Channels in a neighborhood.
    width: usize,
    scale: f32,
    base: f32,
    power: Power,
    kernel: unsafe fn(&Tile<'_>),
}

/// Some pixels of an image.
struct Tile<'a> {
    layer: &'a Lrn,
    /// The first pixel's place in the first block, and that of the output.
    src: *const f32,
    dst: *mut f32,
    pixels: usize,
    /// Squares of the channels of each pixel, between zeros.
    squares: *mut f32,
}

for_each_set! {
    /// Code for a tile.
    fn normalize: unsafe fn(tile: &Tile<'_>) = normalize_tile
}

/// The kernel of a call, or why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<LrnParams>();
    let Some(sizes @ [images, channels, h, w]) = image(&call.inputs[0]) else { return Err("not an image".into()) };
    let width = p.nsize as usize;
    if width / 2 > BLOCK {
        return Err(format!("neighborhoods of {width} channels"));
    }
    let power = match p.beta {
        0.75 => Power::ThreeQuarters,
        0.5 => Power::Half,
        beta => Power::Any(-beta),
    };
    let pass = Lrn {
        images,
        channels,
        pixels: h * w,
        width,
        scale: (f64::from(p.alpha) / f64::from(p.nsize)) as f32,
        base: p.knorm,
        power,
        kernel: normalize(isa),
    };
    let layout = blocked(sizes);
    Ok(Fit { pass: Box::new(pass), what: "lrn", data: layout.clone(), out: layout, can_run_inplace: false })
}

impl Lrn {
    fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Numbers of squares per pixel: a block of zeros on each side.
    fn stride(&self) -> usize {
        (self.blocks() + 2) * BLOCK
    }
}

impl Pass for Lrn {
    fn pieces(&self) -> usize {
        self.images * self.pixels.div_ceil(TILE)
    }

    fn numbers(&self) -> usize {
        TILE * self.blocks() * BLOCK * (4 + self.width)
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let tiles = self.pixels.div_ceil(TILE);
        let mut squares = vec![0.0f32; TILE * self.stride()];
        for piece in pieces {
            let (image, first) = (piece / tiles, piece % tiles * TILE);
            let at = image * self.blocks() * self.pixels * BLOCK + first * BLOCK;
            // SAFETY: pixels of an image, which are this piece's alone in the output.
            unsafe {
                (self.kernel)(&Tile {
                    layer: self,
                    src: memory.inputs[0].add(at),
                    dst: memory.dst.add(at),
                    pixels: (self.pixels - first).min(TILE),
                    squares: squares.as_mut_ptr(),
                });
            }
        }
    }
}

/// # Safety
/// The pointers lead to the pixels and the squares, and the instructions of `L` are there.
#[inline(always)]
unsafe fn normalize_tile<L: Lanes>(tile: &Tile<'_>) {
    let layer = tile.layer;
    let (plane, stride, reach) = (layer.pixels * BLOCK, layer.stride(), layer.width / 2);
    // SAFETY: the caller's promise; a neighborhood reaches at most a block of zeros on each side.
    unsafe {
        for block in 0..layer.blocks() {
            for pixel in 0..tile.pixels {
                for lane in (0..BLOCK).step_by(L::N) {
                    let x = L::load(tile.src.add(block * plane + pixel * BLOCK + lane));
                    x.mul(x).store(tile.squares.add(pixel * stride + (block + 1) * BLOCK + lane));
                }
            }
        }
        let (scale, base, one) = (L::splat(layer.scale), L::splat(layer.base), L::splat(1.0));
        for block in 0..layer.blocks() {
            for pixel in 0..tile.pixels {
                let at = block * plane + pixel * BLOCK;
                for lane in (0..BLOCK).step_by(L::N) {
                    let from = tile.squares.add(pixel * stride + (block + 1) * BLOCK + lane - reach);
                    let mut sum = L::load(from);
                    for channel in 1..layer.width {
                        sum = sum.add(L::load(from.add(channel)));
                    }
                    let bracket = sum.mul_add(scale, base);
                    let x = L::load(tile.src.add(at + lane));
                    let y = match layer.power {
                        Power::ThreeQuarters => {
                            let root = bracket.sqrt();
                            x.mul(one.div(root.mul(root.sqrt())))
                        }
                        Power::Half => x.mul(one.div(bracket.sqrt())),
                        Power::Any(power) => {
                            let mut factors = [0.0f32; BLOCK];
                            bracket.store(factors.as_mut_ptr());
                            factors[..L::N].iter_mut().for_each(|factor| *factor = factor.powf(power));
                            x.mul(L::load(factors.as_ptr()))
                        }
                    };
                    y.store(tile.dst.add(at + lane));
                }
            }
        }
        // What is no number or infinite in a neighborhood may have reached channels of padding.
        let used = (layer.channels - 1) % BLOCK + 1;
        if used < BLOCK {
            let last = tile.dst.add((layer.blocks() - 1) * plane);
            for pixel in 0..tile.pixels {
                last.add(pixel * BLOCK + used).write_bytes(0, BLOCK - used);
            }
        }
    }
}
