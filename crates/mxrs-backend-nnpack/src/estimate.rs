//! How long a convolution should take, in multiply-adds of one thread at its peak: to choose by, not to predict.
//!
//! Weights count as read from memory, once a call, as they are where a network has more of them than caches hold. The constants
//! come from measurements on two cores with AVX-512, 570 GFLOP/s and 49 GB/s together.

use crate::filtering::n_tiles;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::winograd::Variant;

/// Part of the peak that products reach.
const PRODUCT: f64 = 0.88;
/// Part of the peak that a vendor library's direct convolutions reach, with stride 1 and with others.
const VENDOR: [f64; 2] = [0.87, 0.8];
/// Multiply-adds in the time that a byte takes from memory, all threads together: 285 G multiply-adds to 49 GB a second.
const PER_BYTE: f64 = 5.8;
/// Multiply-adds of one thread in the time that one number of a tile is transformed.
const PER_TRANSFORMED: f64 = 16.0;
/// Of two things that happen at a time, how much of the shorter shows.
const OVERLAP: f64 = 0.15;

/// Time of the direct sum in a vendor library.
pub fn vendor(p: &ConvProblem, threads: usize) -> f64 {
    let sum = p.flops() / 2.0 / VENDOR[usize::from(p.stride != (1, 1))] / threads as f64;
    both(sum, weights(p.c * p.k * p.kh * p.kw, threads))
}

/// Time of the direct sum over blocks of channels.
pub fn product(p: &ConvProblem, threads: usize) -> f64 {
    let (c, k) = (p.c.next_multiple_of(BLOCK), p.k.next_multiple_of(BLOCK));
    let sum = (p.n * p.pixels() * c * k * p.kh * p.kw) as f64 / PRODUCT / threads as f64;
    both(sum, weights(c * k * p.kh * p.kw, threads))
}

/// Time of one of Winograd's algorithms.
pub fn winograd(p: &ConvProblem, variant: Variant, threads: usize) -> f64 {
    let (c, k) = (p.c.next_multiple_of(BLOCK), p.k.next_multiple_of(BLOCK));
    let [down, across] = variant.inputs();
    let (products, tiles) = (down * across, n_tiles(p, variant));
    let sum = (tiles * products * c * k) as f64 / PRODUCT / threads as f64;
    let transforms = (tiles * products * (c + k)) as f64 * PER_TRANSFORMED / threads as f64;
    both(sum, weights(products * c * k, threads)) + transforms
}

/// Time to read so many weights from memory once; all threads read at a time.
fn weights(n: usize, threads: usize) -> f64 {
    // The bandwidth is that of two threads; more add little.
    (n * size_of::<f32>()) as f64 * PER_BYTE / threads.min(2) as f64
}

fn both(a: f64, b: f64) -> f64 {
    a.max(b) + OVERLAP * a.min(b)
}
