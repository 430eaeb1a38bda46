//! Chooses the algorithm for the gradient of the weights, and estimates its cost.

use super::folded::{self, FoldedSums};
use super::patches::{self, PatchSums};
use super::pixels::PixelSums;
use super::tiles::TileSums;
use super::{BuildAlgorithm, Chosen, GradientContext};
use crate::choose::UNMEASURED;
use crate::convolve::Convolve;
use crate::direct::grouped::Groups;
use crate::filtering::n_tiles;
use crate::layouts::{BLOCK, blocked, image_layout};
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::winograd::{Data, Variant};
use mxrs_types::Layout;

/// Part of the processor's peak speed that a vendor library reaches: for 1x1 windows, for other windows, and for
/// strides other than 1.
const VENDOR: [f64; 3] = [0.63, 0.72, 0.54];
/// Speed of a vendor library in bfloat16, relative to the processor's peak speed in float32. The bfloat16 instruction
/// sums two products at a time, but the library has to pair the pixels first.
const BF16_VENDOR: f64 = 1.1;
/// Number of multiply-adds that take as long as reading one sum and writing it again.
const PER_KEPT: f64 = 12.0;
/// Number of multiply-adds that take as long as transforming one sum over tiles to the gradient.
const PER_FOLDED: f64 = 8.0;
/// Number of multiply-adds that take as long as copying one value of a patch.
const PER_COPIED: f64 = 6.0;

/// Chooses the algorithm for the gradient of the weights of `p`.
///
/// # Errors
/// Returns the reason as text if no algorithm supports the problem.
pub fn choose(p: &ConvProblem, context: &GradientContext<'_>) -> Result<Chosen, String> {
    let GradientContext { options, threads, rates } = *context;
    if p.c < BLOCK {
        return Ok(few_channels(p, context));
    }
    // Sums over bfloat16 pixels are left to a vendor library. Sums over bfloat16 tiles may use all tile sizes: larger tiles
    // round more, but bfloat16 values have only about three decimal digits anyway.
    let is_bf16 = p.data == Data::Bf16Pixels;
    let sums = if is_bf16 { f64::INFINITY } else { pixels(p, threads, rates) };
    let fits = |variant: &Variant| p.stride == (1, 1) && p.is_dense() && variant.kernel() == [p.kh, p.kw];
    let variants: Vec<Variant> = match is_bf16 {
        true => Variant::ALL.into_iter().filter(|_| options.winograd).collect(),
        false => options.variants().collect(),
    };
    let best =
        variants.into_iter().filter(fits).map(|v| (v, tiles(p, v, threads, rates))).min_by(|a, b| a.1.total_cmp(&b.1));
    let (p, isa) = (*p, options.isa);
    let (algorithm, name, time): (BuildAlgorithm, _, _) = match best {
        Some((variant, time)) if time < sums => {
            let build =
                move || TileSums::new(&p, variant, isa, threads).map(|sums| Box::new(sums) as Box<dyn Convolve>);
            (Box::new(build), variant.name(), time)
        }
        _ if is_bf16 => return Err("no kernel for the gradient of bfloat16 weights: no Winograd algorithm fits".into()),
        _ => (Box::new(move || Ok(Box::new(PixelSums::new(p, isa, threads)))), "pixels", sums),
    };
    let [data, ograd] = [[p.n, p.c, p.h, p.w], [p.n, p.k, p.oh, p.ow]];
    Ok(Chosen {
        algorithm,
        what: format!("weight_gradient_{name}"),
        layouts: [image_layout(p.data, ograd), image_layout(p.data, data), Layout::RowMajor],
        cost: time / vendor(&p, threads),
    })
}

/// The algorithm for a convolution in several groups.
pub fn grouped(p: &ConvProblem, groups: usize, context: &GradientContext<'_>) -> Chosen {
    let (p, isa, threads) = (*p, context.options.isa, context.threads);
    let merged = Groups::new(groups, p.c / groups, p.k / groups);
    Chosen {
        algorithm: Box::new(move || Ok(Box::new(PixelSums::grouped(p, merged, isa, threads)))),
        what: "weight_gradient_groups".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), blocked([p.n, p.c, p.h, p.w]), Layout::RowMajor],
        cost: UNMEASURED,
    }
}

/// The algorithm for fewer channels than a block has.
fn few_channels(p: &ConvProblem, context: &GradientContext<'_>) -> Chosen {
    let (p, isa, threads) = (*p, context.options.isa, context.threads);
    let [row, k] = [patches::row_len(&p), p.k.next_multiple_of(BLOCK)].map(|n| n as f64);
    let pixels = (p.n * p.pixels()) as f64;
    let time = pixels * row * (k / context.rates.product + PER_COPIED) / threads as f64;
    let (algorithm, what, time): (BuildAlgorithm, _, _) = match folded(&p, context) {
        Some((q, variant, folded)) if folded < time => {
            let build =
                move || FoldedSums::new(p, q, variant, isa, threads).map(|sums| Box::new(sums) as Box<dyn Convolve>);
            (Box::new(build), format!("weight_gradient_folded_{}", variant.name()), folded)
        }
        _ => (Box::new(move || Ok(Box::new(PatchSums::new(p, isa, threads)))), "weight_gradient_patches".into(), time),
    };
    let layouts = [image_layout(p.data, [p.n, p.k, p.oh, p.ow]), Layout::RowMajor, Layout::RowMajor];
    Chosen { algorithm, what, layouts, cost: time / vendor(&p, threads) }
}

/// The folded problem of `p`, the variant of Winograd's algorithms with the lowest estimate for it, and this estimate.
fn folded(p: &ConvProblem, context: &GradientContext<'_>) -> Option<(ConvProblem, Variant, f64)> {
    let GradientContext { options, threads, rates } = *context;
    let q = folded::problem(p)?;
    let copied = (q.n * q.h * q.w * q.c.next_multiple_of(BLOCK)) as f64 * PER_COPIED / threads as f64;
    let fits = options.variants().filter(|variant| variant.kernel() == [q.kh, q.kw]);
    let times = fits.map(|variant| (q, variant, tiles(&q, variant, threads, rates) + copied));
    times.min_by(|a, b| a.2.total_cmp(&b.2))
}

fn vendor(p: &ConvProblem, threads: usize) -> f64 {
    let rate = match (p.stride, p.kh * p.kw) {
        ((1, 1), 1) => VENDOR[0],
        ((1, 1), _) => VENDOR[1],
        _ => VENDOR[2],
    };
    let rate = if p.data == Data::Bf16Pixels { BF16_VENDOR } else { rate };
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
    // Estimated number of times that the sums are read and written.
    let blocks = (tiles / 64.0).min(tiles * factors * (c + k) * 4.0 / (8 << 20) as f64);
    let sums = factors * c * k * (blocks * PER_KEPT + PER_FOLDED);
    (products + transforms + sums) / threads as f64
}
