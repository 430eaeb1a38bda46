//! Which algorithm makes the gradient of the weights, and what it costs.

use super::pixels::PixelSums;
use super::tiles::TileSums;
use super::{Means, Prepared};
use crate::convolve::Convolve;
use crate::filtering::n_tiles;
use crate::layouts::{BLOCK, image_layout};
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::winograd::{Data, Variant};
use mxrs_types::Layout;

/// Parts of the peak that a vendor library reaches: in windows of one cell, in others, and in those with another stride than 1.
const VENDOR: [f64; 3] = [0.63, 0.72, 0.54];
/// The same of factors in bfloat16: sums of two products at a time, and pixels to be paired before.
const SHORT_VENDOR: f64 = 1.1;
/// Multiply-adds in the time that a sum is read and written once more.
const PER_KEPT: f64 = 12.0;
/// Multiply-adds in the time that one sum over tiles becomes part of a gradient.
const PER_FOLDED: f64 = 8.0;

/// Prepares the gradient of the weights of `p`.
///
/// # Errors
/// In words, why there is none.
pub fn prepare(p: &ConvProblem, means: &Means<'_>) -> Result<Prepared, String> {
    let Means { options, threads, rates } = *means;
    if p.c < BLOCK {
        return Err(format!("gradients of weights of {} input channels", p.c));
    }
    // Sums over pixels of bfloat16 are left to a vendor library; of tiles all sizes are allowed, as the factors have three digits.
    let is_short = p.data == Data::ShortPixels;
    let sums = if is_short { f64::INFINITY } else { pixels(p, threads, rates) };
    let fits = |variant: &Variant| p.stride == (1, 1) && p.is_dense() && variant.kernel() == [p.kh, p.kw];
    let variants: Vec<Variant> = match is_short {
        true => Variant::ALL.into_iter().filter(|_| options.winograd).collect(),
        false => options.variants().collect(),
    };
    let best =
        variants.into_iter().filter(fits).map(|v| (v, tiles(p, v, threads, rates))).min_by(|a, b| a.1.total_cmp(&b.1));
    let (algorithm, name, time): (Box<dyn Convolve>, _, _) = match best {
        Some((variant, time)) if time < sums => {
            let tiles = TileSums::new(p, variant, options.isa, threads).map_err(|error| error.to_string())?;
            (Box::new(tiles), variant.name(), time)
        }
        _ if is_short => return Err("gradients of weights in bfloat16 where no algorithm of Winograd's fits".into()),
        _ => (Box::new(PixelSums::new(*p, options.isa, threads)), "pixels", sums),
    };
    let [data, ograd] = [[p.n, p.c, p.h, p.w], [p.n, p.k, p.oh, p.ow]];
    Ok(Prepared {
        algorithm,
        what: format!("weight_gradient_{name}"),
        layouts: [image_layout(p.data, ograd), image_layout(p.data, data), Layout::RowMajor],
        cost: time / vendor(p, threads),
    })
}

fn vendor(p: &ConvProblem, threads: usize) -> f64 {
    let rate = match (p.stride, p.kh * p.kw) {
        ((1, 1), 1) => VENDOR[0],
        ((1, 1), _) => VENDOR[1],
        _ => VENDOR[2],
    };
    let rate = if p.data == Data::ShortPixels { SHORT_VENDOR } else { rate };
    p.flops() / 2.0 / rate / threads as f64
}

fn padded(p: &ConvProblem) -> [f64; 2] {
    [p.c, p.k].map(|n| n.next_multiple_of(BLOCK) as f64)
}

/// Time of the sums over pixels.
fn pixels(p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
    let [c, k] = padded(p);
    (p.n * p.pixels() * p.kh * p.kw) as f64 * c * k / rates.product / threads as f64
}

/// Time of the sums over tiles.
fn tiles(p: &ConvProblem, variant: Variant, threads: usize, rates: &Rates) -> f64 {
    let [c, k] = padded(p);
    let factors = variant.inputs().iter().product::<usize>() as f64;
    let tiles = n_tiles(p, variant.outputs()) as f64;
    let products = tiles * factors * c * k / rates.product;
    let transforms = tiles * factors * (c + k) * rates.per_transformed;
    // About how often sums are read and written.
    let blocks = (tiles / 64.0).min(tiles * factors * (c + k) * 4.0 / (8 << 20) as f64);
    let sums = factors * c * k * (blocks * PER_KEPT + PER_FOLDED);
    (products + transforms + sums) / threads as f64
}
