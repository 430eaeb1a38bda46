//! Local response normalization across channels, `x · (knorm + alpha / nsize · Σ x'²)^-beta`.
//!
//! A piece is up to 16 pixels of an image. The squares of all channels of a pixel are first stored contiguously. A
//! neighborhood that crosses blocks is then a contiguous, though unaligned, load.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::{BLOCK, blocked, image};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_processor::Isa;
use std::ops::Range;

/// Largest number of pixels of a piece.
const TILE: usize = 16;

/// How the bracket of the formula is raised to the power `-beta`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Power {
    /// Raise to the power of -3/4, by square roots.
    ThreeQuarters,
    /// Raise to the power of -1/2, by a square root.
    Half,
    /// Raise to this power.
    Any(f32),
}

/// A prepared normalization.
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

/// Up to [`TILE`] consecutive pixels of one image.
struct Tile<'a> {
    layer: &'a Lrn,
    /// Address of the first pixel in the first block of the input. `dst` is the same pixel in the output.
    src: *const f32,
    dst: *mut f32,
    pixels: usize,
    /// Squares of the channels of each pixel, [`Lrn::stride`] values per pixel, with a block of zeros on each side.
    squares: *mut f32,
}

for_each_set! {
    /// Returns the function that normalizes a tile.
    fn normalize: unsafe fn(tile: &Tile<'_>) = normalize_tile
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<LrnParams>();
    let Some(sizes @ [images, channels, h, w]) = image(&call.inputs[0]) else {
        return Err("the data have no four axes".into());
    };
    let width = p.nsize as usize;
    if width / 2 > BLOCK {
        return Err(format!("no kernel for neighborhoods of {width} channels"));
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
    Ok(Fit::new("lrn", [layout.clone(), layout], || pass))
}

impl Lrn {
    fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Number of squares stored per pixel: all blocks of channels, and a block of zeros on each side.
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
            // SAFETY: `piece < self.pieces()`, so `image < images` and `first + pixels <= self.pixels`. The tile
            // therefore lies in the planes of this image, and in the output only this piece writes it. `squares` has
            // `TILE * stride` values, and its first and last block of each pixel are 0.
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
/// `tile.src` and `tile.dst` must be valid in every block, `layer.pixels * BLOCK` values apart, for `tile.pixels`
/// pixels. `tile.squares` must have `layer.stride()` values per pixel, of which the outer blocks are 0. The processor
/// must have the instructions of `L`.
#[inline(always)]
unsafe fn normalize_tile<L: Lanes>(tile: &Tile<'_>) {
    let layer = tile.layer;
    let (plane, stride, reach) = (layer.pixels * BLOCK, layer.stride(), layer.width / 2);
    // SAFETY: `block`, `pixel` and `lane + L::N <= BLOCK` stay within the memory that the caller promises. `fit`
    // refuses `width / 2 > BLOCK`, so a neighborhood reaches at most `BLOCK` channels to either side, into the zeros of
    // `squares`.
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
        // A NaN or an infinity in a neighborhood may have made the padding channels NaN, so they are set to 0 again.
        let used = (layer.channels - 1) % BLOCK + 1;
        if used < BLOCK {
            let last = tile.dst.add((layer.blocks() - 1) * plane);
            for pixel in 0..tile.pixels {
                last.add(pixel * BLOCK + used).write_bytes(0, BLOCK - used);
            }
        }
    }
}
