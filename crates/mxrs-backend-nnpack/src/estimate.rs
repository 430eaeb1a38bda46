//! How long a convolution should take, in multiply-adds of one thread at its peak: to choose by, not to predict.
//!
//! Weights count as read from memory, once a call, as they are where a network has more of them than caches hold. What things
//! cost is a matter of the processor: [`Rates`].

use crate::filtering::n_tiles;
use crate::fourier::Tile;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::tiles::{Data, Factors};
use crate::winograd::Variant;

/// Time of the direct sum in a vendor library.
pub fn vendor(p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
    // Numbers of half the length are multiplied two at a time.
    let in_a_number = match p.data {
        Data::Blocks => 1,
        Data::ShortPixels => 2,
    };
    let sum = p.flops() / 2.0 / rates.vendor[usize::from(p.stride != (1, 1))] / threads as f64;
    rates.both(sum / in_a_number as f64, rates.weights(p.c * p.k * p.kh * p.kw / in_a_number, threads))
}

/// Time of the direct sum over blocks of channels.
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

/// How much longer products of Fourier transforms take than Winograd's: their weights, several times as many, come from the last cache
/// for every block of tiles.
const SPECTRA: f64 = 1.2;

/// Time by Fourier transforms.
pub fn fourier(p: &ConvProblem, tile: Tile, threads: usize, rates: &Rates) -> f64 {
    SPECTRA * in_tiles(p, n_tiles(p, tile.outputs([p.kh, p.kw])), tile.factors(), threads, rates)
}

/// Multiply-adds in the time that one number of the weights is transformed and packed, by one thread.
const PER_PACKED: f64 = 50.0;

/// Time to pack so many numbers.
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
    /// Time to read so many weights from memory once; all threads read at a time.
    fn weights(&self, n: usize, threads: usize) -> f64 {
        // The bandwidth is that of two threads; more add little.
        (n * size_of::<f32>()) as f64 * self.per_byte / threads.min(2) as f64
    }

    fn both(&self, a: f64, b: f64) -> f64 {
        a.max(b) + self.overlap * a.min(b)
    }
}
