//! Estimates of how long a convolution takes, in multiply-adds of one thread at its peak. They serve to compare
//! algorithms, not to predict times.
//!
//! Weights count as read from memory once per call, as they are in a network with more weights than the caches hold.
//! The costs depend on the processor: [`Rates`].

use crate::filtering::n_tiles;
use crate::fourier::Tile;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::tiles::{Data, Factors};
use crate::winograd::Variant;

/// Time of a direct convolution in a vendor library.
pub fn vendor(p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
    // A bfloat16 instruction multiplies two values where a float32 instruction multiplies one.
    let in_a_number = match p.data {
        Data::Blocks => 1,
        Data::Bf16Pixels => 2,
    };
    let sum = p.flops() / 2.0 / rates.vendor[usize::from(p.stride != (1, 1))] / threads as f64;
    rates.both(sum / in_a_number as f64, rates.weights(p.c * p.k * p.kh * p.kw / in_a_number, threads))
}

/// Time of a direct convolution over blocks of channels.
pub fn product(p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
    let (c, k) = (p.c.next_multiple_of(BLOCK), p.k.next_multiple_of(BLOCK));
    let sum = (p.n * p.pixels() * c * k * p.kh * p.kw) as f64 / rates.product / threads as f64;
    rates.both(sum, rates.weights(c * k * p.kh * p.kw, threads))
}

/// Time of one of Winograd's algorithms.
pub fn winograd(p: &ConvProblem, variant: Variant, threads: usize, rates: &Rates) -> f64 {
    let products = variant.inputs().iter().product();
    in_tiles(p, n_tiles(p, variant.outputs()), Factors { real: products, complex: 0 }, threads, rates)
}

/// Factor by which products of Fourier transforms take longer than those of Winograd's algorithms. The weights of
/// Fourier transforms are several times larger and come from the last-level cache for every block of tiles.
const SPECTRA: f64 = 1.2;

/// Time of a convolution by Fourier transforms.
pub fn fourier(p: &ConvProblem, tile: Tile, threads: usize, rates: &Rates) -> f64 {
    SPECTRA * in_tiles(p, n_tiles(p, tile.outputs([p.kh, p.kw])), tile.factors(), threads, rates)
}

/// Multiply-adds of one thread in the time that it takes to transform and pack one value of the weights.
const PER_PACKED: f64 = 50.0;

/// Time to pack `numbers` values.
pub fn packing(numbers: usize, threads: usize) -> f64 {
    numbers as f64 * PER_PACKED / threads as f64
}

fn in_tiles(p: &ConvProblem, tiles: usize, factors: Factors, threads: usize, rates: &Rates) -> f64 {
    let (c, k) = (p.c.next_multiple_of(BLOCK), p.k.next_multiple_of(BLOCK));
    let sum = (tiles * factors.multiplications() * c * k) as f64 / rates.product / threads as f64;
    let transforms = (tiles * factors.numbers() * (c + k)) as f64 * rates.per_transformed / threads as f64;
    rates.both(sum, rates.weights(factors.numbers() * c * k, threads)) + transforms
}

impl Rates {
    /// Time to read `n` weights from memory once, with all threads reading.
    fn weights(&self, n: usize, threads: usize) -> f64 {
        // `per_byte` counts multiply-adds of two threads: one thread reads half as fast, more than two hardly faster.
        (n * size_of::<f32>()) as f64 * self.per_byte / threads.min(2) as f64
    }

    fn both(&self, a: f64, b: f64) -> f64 {
        a.max(b) + self.overlap * a.min(b)
    }
}
