//! Local response normalization across channels, `x · (knorm + alpha / nsize · Σ x'²)^-beta`, where `x'` are the values of
//! the `nsize` channels around that of `x`.
//!
//! A thread processes up to 16 pixels of an image at a time. For each pixel, the squares of all channels are first stored
//! contiguously. So a neighborhood that crosses a border between blocks of channels is contiguous too, and is read by
//! unaligned loads.

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
pub const TILE: usize = 16;

/// How the bracket of the formula is raised to the power `-beta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Power {
    /// Raise to the power of -3/4, by square roots.
    ThreeQuarters,
    /// Raise to the power of -1/2, by a square root.
    Half,
    /// Raise to this power.
    Any(f32),
}

/// Sizes and numbers of a normalization.
#[derive(Clone, Copy)]
pub struct Layer {
    pub images: usize,
    pub channels: usize,
    pub pixels: usize,
    /// Channels in a neighborhood.
    pub width: usize,
    pub scale: f32,
    pub base: f32,
    pub power: Power,
}

/// A prepared normalization.
struct Lrn {
    layer: Layer,
    kernel: unsafe fn(&Tile<'_>),
}

/// Up to [`TILE`] consecutive pixels of one image.
struct Tile<'a> {
    layer: &'a Layer,
    /// Address of the first pixel in the first block of the input. `dst` is the same pixel in the output.
    src: *const f32,
    dst: *mut f32,
    pixels: usize,
    /// Squares of the channels of each pixel, [`Layer::stride`] values per pixel, with a block of zeros on each side.
    squares: *mut f32,
}

for_each_set! {
    /// Returns the function that normalizes a tile.
    fn normalize: unsafe fn(tile: &Tile<'_>) = normalize_tile
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let (layer, sizes) = Layer::of(call)?;
    let layout = blocked(sizes);
    Ok(Fit::new("lrn", [layout.clone(), layout], move || Lrn { layer, kernel: normalize(isa) }))
}

impl Layer {
    /// The normalization of a call, and the sizes of its first input.
    ///
    /// # Errors
    /// Returns the reason as text if there is no kernel for it.
    pub fn of(call: &OpCall<'_>) -> Result<(Self, [usize; 4]), String> {
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
        let scale = (f64::from(p.alpha) / f64::from(p.nsize)) as f32;
        Ok((Self { images, channels, pixels: h * w, width, scale, base: p.knorm, power }, sizes))
    }

    pub fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Number of squares stored per pixel: all blocks of channels, and a block of zeros on each side.
    pub fn stride(&self) -> usize {
        (self.blocks() + 2) * BLOCK
    }

    /// Number of tiles of all images.
    pub fn tiles(&self) -> usize {
        self.images * self.pixels.div_ceil(TILE)
    }

    /// The index of the first value of tile `i`, and its number of pixels.
    pub fn tile(&self, i: usize) -> (usize, usize) {
        let tiles = self.pixels.div_ceil(TILE);
        let (image, first) = (i / tiles, i % tiles * TILE);
        (image * self.blocks() * self.pixels * BLOCK + first * BLOCK, (self.pixels - first).min(TILE))
    }
}

impl Pass for Lrn {
    fn pieces(&self) -> usize {
        self.layer.tiles()
    }

    fn numbers(&self) -> usize {
        TILE * self.layer.blocks() * BLOCK * (4 + self.layer.width)
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let mut squares = vec![0.0f32; TILE * self.layer.stride()];
        for piece in pieces {
            let (at, pixels) = self.layer.tile(piece);
            // SAFETY: `piece < self.pieces()`, so the tile lies in the planes of its image, and in the output only this
            // piece writes it. `squares` has `TILE * stride` values, and its first and last block of each pixel are 0.
            unsafe {
                (self.kernel)(&Tile {
                    layer: &self.layer,
                    src: memory.inputs[0].add(at),
                    dst: memory.dst.add(at),
                    pixels,
                    squares: squares.as_mut_ptr(),
                });
            }
        }
    }
}

impl Power {
    /// `bracket` to the power `-beta`.
    ///
    /// # Safety
    /// The processor must have the instructions of `L`.
    #[inline(always)]
    pub unsafe fn of<L: Lanes>(self, bracket: L) -> L {
        // SAFETY: the loads and stores use an array of `BLOCK` values, and `L::N <= BLOCK`.
        unsafe {
            let one = L::splat(1.0);
            match self {
                Self::ThreeQuarters => {
                    let root = bracket.sqrt();
                    one.div(root.mul(root.sqrt()))
                }
                Self::Half => one.div(bracket.sqrt()),
                Self::Any(power) => {
                    let mut factors = [0.0f32; BLOCK];
                    bracket.store(factors.as_mut_ptr());
                    factors[..L::N].iter_mut().for_each(|factor| *factor = factor.powf(power));
                    L::load(factors.as_ptr())
                }
            }
        }
    }
}

/// Sums `width` neighboring values from `from` on, each load one value further.
///
/// # Safety
/// `from` must be readable for `width - 1 + L::N` values. The processor must have the instructions of `L`.
#[inline(always)]
pub unsafe fn over_neighbors<L: Lanes>(from: *const f32, width: usize) -> L {
    // SAFETY: the caller promises the values.
    unsafe { (1..width).fold(L::load(from), |sum, channel| sum.add(L::load(from.add(channel)))) }
}

/// Sets the padding channels of a tile of the output to 0. A NaN or an infinity in a neighborhood may have made them NaN.
///
/// # Safety
/// `dst` must be writable in the last block for `pixels` pixels.
pub unsafe fn clear_padding(layer: &Layer, dst: *mut f32, pixels: usize) {
    let used = (layer.channels - 1) % BLOCK + 1;
    if used < BLOCK {
        // SAFETY: the last block begins `blocks - 1` planes behind the first; `used` is less than a block.
        unsafe {
            let last = dst.add((layer.blocks() - 1) * layer.pixels * BLOCK);
            (0..pixels).for_each(|pixel| last.add(pixel * BLOCK + used).write_bytes(0, BLOCK - used));
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
        let (scale, base) = (L::splat(layer.scale), L::splat(layer.base));
        for block in 0..layer.blocks() {
            for pixel in 0..tile.pixels {
                let at = block * plane + pixel * BLOCK;
                for lane in (0..BLOCK).step_by(L::N) {
                    let from = tile.squares.add(pixel * stride + (block + 1) * BLOCK + lane - reach);
                    let bracket = over_neighbors::<L>(from, layer.width).mul_add(scale, base);
                    let x = L::load(tile.src.add(at + lane));
                    x.mul(layer.power.of(bracket)).store(tile.dst.add(at + lane));
                }
            }
        }
        clear_padding(layer, tile.dst, tile.pixels);
    }
}
