//! Chooses the algorithm of a convolution, and estimates its cost relative to a vendor library.

use crate::NnpackOptions;
use crate::candidate::{Candidate, thread_counts};
use crate::convolve::Convolve;
use crate::direct::product::ProductConv;
use crate::direct::taps::TapConv;
use crate::estimate;
use crate::filtering::{TileConv, shape};
use crate::fourier::Tile;
use crate::functions::{Apply, Function};
use crate::layouts::{BLOCK, PackedForm};
use crate::options::Weights;
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::winograd::{Blocking, Data, Variant};
use mxrs_types::Result;

/// An algorithm for convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A matrix product whose sums run over blocks of input channels and taps of the window.
    Product,
    /// A matrix product whose sums run over single channels and taps of the window, for few input channels.
    Taps,
    /// Winograd's algorithm with this variant.
    Winograd(Variant),
    /// Fourier transforms of tiles of this size.
    Fourier(Tile),
}

/// The algorithm chosen for a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Estimated time relative to a vendor library.
    pub cost: f64,
}

/// Cost of calls that were never measured against a vendor library, so that the vendor library is preferred.
pub const UNMEASURED: f64 = 1.5;
/// Smallest cost that an estimate returns. Estimates are not accurate enough to promise a larger speedup over a vendor
/// library.
const LEAST_COST: f64 = 0.2;
/// Tolerance of the choice by memory: among algorithms estimated within this factor of the fastest, the one with the
/// smallest packed weights wins. Estimates are hardly more accurate than this factor, and at batch 1 weights are most
/// of a network's memory.
const NEAR: f64 = 1.2;
/// Algorithms estimated to take longer than the fastest by this factor are not timed in tuning.
const HOPELESS: f64 = 1.5;

impl Algorithm {
    /// All algorithms.
    pub fn all() -> impl Iterator<Item = Self> {
        let transformed = Variant::ALL.map(Self::Winograd).into_iter().chain(Tile::ALL.map(Self::Fourier));
        [Self::Product, Self::Taps].into_iter().chain(transformed)
    }

    /// The algorithms that a problem and the settings allow.
    pub fn allowed(p: &ConvProblem, options: &NnpackOptions) -> Vec<Self> {
        if !p.is_dense() {
            return if p.data == Data::Blocks { vec![Self::Product] } else { Vec::new() };
        }
        if p.c < BLOCK {
            return vec![Self::Taps];
        }
        let fits = |variant: &Variant| p.stride == (1, 1) && variant.kernel() == [p.kh, p.kw];
        match p.data {
            Data::Blocks => {
                let takes = |tile: &Tile| p.stride == (1, 1) && tile.takes([p.kh, p.kw]);
                let variants = options.variants().filter(fits).map(Self::Winograd);
                let tiles = options.tiles().filter(takes).map(Self::Fourier);
                [Self::Product].into_iter().chain(variants).chain(tiles).collect()
            }
            // Bfloat16 results have about three decimal digits, and every variant is more accurate than that. `Product` is
            // not offered, because it computes in float32, and a vendor library with bfloat16 instructions takes half the
            // time.
            Data::Bf16Pixels if options.winograd => Variant::ALL.into_iter().filter(fits).map(Self::Winograd).collect(),
            Data::Bf16Pixels => Vec::new(),
        }
    }

    /// Estimated time, in multiply-adds of one thread at its peak.
    pub fn estimate(self, p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
        match self {
            Self::Product | Self::Taps => estimate::product(p, threads, rates),
            Self::Winograd(variant) => estimate::winograd(p, variant, threads, rates),
            Self::Fourier(tile) => estimate::fourier(p, tile, threads, rates),
        }
    }

    /// Whether the algorithm works on tiles, for which there are several blockings.
    pub fn is_in_tiles(self) -> bool {
        matches!(self, Self::Winograd(_) | Self::Fourier(_))
    }

    /// Whether the algorithm reads row-major data.
    pub fn reads_rows(self) -> bool {
        self == Self::Taps
    }

    /// The packed form of the algorithm's weights.
    pub fn form(self, weights: Weights) -> PackedForm {
        match self {
            Self::Product if weights == Weights::Bfloat16 => PackedForm::Bf16Blocks,
            Self::Product => PackedForm::Blocks,
            Self::Taps => PackedForm::Taps,
            Self::Winograd(variant) => PackedForm::Winograd(variant),
            Self::Fourier(tile) => PackedForm::Fourier(tile),
        }
    }

    /// The algorithm's name in traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Taps => "taps",
            Self::Winograd(variant) => variant.name(),
            Self::Fourier(tile) => tile.name(),
        }
    }
}

impl Choice {
    /// The algorithm with the lowest estimate. If a float32 call has at least as many weights as data, the algorithm with
    /// the smallest packed weights is chosen among those within a factor [`NEAR`] of the lowest estimate.
    pub fn new(p: &ConvProblem, options: &NnpackOptions, threads: usize, rates: &Rates) -> Self {
        let fastest = Self::fastest(p, options, threads, rates);
        let is_weights = p.data == Data::Blocks && p.n_weights() >= p.n_data();
        if !p.is_dense() || p.c < BLOCK || !is_weights {
            return fastest;
        }
        let limit = NEAR * fastest.algorithm.estimate(p, threads, rates);
        let near = Algorithm::allowed(p, options).into_iter().filter(|a| a.estimate(p, threads, rates) <= limit);
        let algorithm = near.min_by_key(|a| a.packed_len(p)).unwrap_or(fastest.algorithm);
        Self { algorithm, ..fastest }
    }

    /// The algorithm with the lowest estimate.
    pub fn fastest(p: &ConvProblem, options: &NnpackOptions, threads: usize, rates: &Rates) -> Self {
        if !p.is_dense() {
            return Self { algorithm: Algorithm::Product, cost: UNMEASURED };
        }
        if p.c < BLOCK {
            // Measured for few input channels: `Taps` takes nine tenths of a vendor library's time if the output channels
            // fill whole blocks of 16.
            let used = p.k as f64 / p.k.next_multiple_of(BLOCK) as f64;
            return Self { algorithm: Algorithm::Taps, cost: 0.9 / used };
        }
        let all = Algorithm::allowed(p, options).into_iter().map(|a| (a, a.estimate(p, threads, rates)));
        let (algorithm, time) = all
            .reduce(|best, next| if next.1 < best.1 { next } else { best })
            .unwrap_or((Algorithm::Product, estimate::product(p, threads, rates)));
        Self { algorithm, cost: (time / estimate::vendor(p, threads, rates)).max(LEAST_COST) }
    }
}

impl Choice {
    /// The algorithm with the lowest estimate if weights are packed in every call, as in training.
    pub fn with_packing(p: &ConvProblem, options: &NnpackOptions, threads: usize, rates: &Rates) -> Self {
        if !p.is_dense() || p.c < BLOCK {
            return Self::fastest(p, options, threads, rates);
        }
        let all = Algorithm::allowed(p, options).into_iter().map(|a| (a, a.estimate_with_packing(p, threads, rates)));
        let (algorithm, time) = all
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((Algorithm::Product, Algorithm::Product.estimate_with_packing(p, threads, rates)));
        Self { algorithm, cost: time / estimate::vendor(p, threads, rates) }
    }
}

impl Algorithm {
    /// Number of values of the packed weights.
    fn packed_len(self, p: &ConvProblem) -> usize {
        self.form(Weights::Float32).len([p.k, p.c, p.kh, p.kw])
    }

    /// Estimated time including the packing of weights.
    pub fn estimate_with_packing(self, p: &ConvProblem, threads: usize, rates: &Rates) -> f64 {
        self.estimate(p, threads, rates) + estimate::packing(self.packed_len(p), threads)
    }
}

impl Candidate {
    /// The candidates that tuning times, the chosen algorithm first.
    pub fn candidates(p: &ConvProblem, options: &NnpackOptions, threads: usize, rates: &Rates) -> Vec<Self> {
        let first = Choice::new(p, options, threads, rates).algorithm;
        let best = first.estimate(p, threads, rates);
        let mut algorithms = Algorithm::allowed(p, options);
        algorithms.retain(|a| *a != first && a.estimate(p, threads, rates) < HOPELESS * best);
        algorithms.insert(0, first);
        let mut candidates = Vec::new();
        for algorithm in algorithms {
            for threads in thread_counts(threads, p.flops() / 2.0) {
                candidates.push(Self { algorithm, blocking: None, threads });
                let blockings = match algorithm {
                    Algorithm::Winograd(variant) => Blocking::candidates(&shape(p), variant, threads),
                    Algorithm::Fourier(tile) => tile.candidates(&shape(p), threads),
                    Algorithm::Product | Algorithm::Taps => Vec::new(),
                };
                // The first blocking is the suggested one, which `blocking: None` above stands for.
                let others = blockings.into_iter().skip(1);
                candidates.extend(others.map(|blocking| Self { algorithm, blocking: Some(blocking), threads }));
            }
        }
        candidates
    }

    /// Whether the problem and the settings allow this candidate.
    pub fn is_allowed(&self, p: &ConvProblem, options: &NnpackOptions, threads: usize) -> bool {
        self.threads <= threads && Algorithm::allowed(p, options).contains(&self.algorithm)
    }

    /// Prepares the algorithm. Only products may have bfloat16 weights.
    ///
    /// # Errors
    /// Does not fail if the problem [allows](Self::is_allowed) this candidate.
    pub fn prepare(&self, p: &ConvProblem, weights: Weights, options: &NnpackOptions) -> Result<Box<dyn Convolve>> {
        self.prepare_with(p, weights, None, options)
    }

    /// As [`prepare`](Self::prepare), with a function that is applied to the outputs.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_with(
        &self,
        p: &ConvProblem,
        weights: Weights,
        function: Option<Function>,
        options: &NnpackOptions,
    ) -> Result<Box<dyn Convolve>> {
        let function = function.map(|function| Apply::new(function, options.isa));
        Ok(match self.algorithm {
            Algorithm::Product => {
                let product = ProductConv::new(*p, options.isa, self.threads);
                Box::new(product.with_weights(weights, options.isa).with_function(function))
            }
            Algorithm::Taps => Box::new(TapConv::new(*p, function, options.isa, self.threads)),
            Algorithm::Winograd(variant) => {
                let blocking = self.blocking.unwrap_or_else(|| Blocking::suggested(&shape(p), variant, self.threads));
                Box::new(TileConv::winograd(p, variant, blocking, options.isa)?.with_function(function))
            }
            Algorithm::Fourier(tile) => {
                let blocking = self.blocking.unwrap_or_else(|| tile.suggested(&shape(p), self.threads));
                Box::new(TileConv::fourier(p, tile, blocking, options.isa)?.with_function(function))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem([n, c, size, window, stride]: [usize; 5]) -> ConvProblem {
        let (pad, out) = (window / 2, size.div_ceil(stride));
        ConvProblem {
            n,
            c,
            k: 64.max(c),
            h: size,
            w: size,
            oh: out,
            ow: out,
            kh: window,
            kw: window,
            stride: (stride, stride),
            pad: (pad, pad),
            data: Data::Blocks,
            dilate: (1, 1),
        }
    }

    fn chosen(n: usize, c: usize, size: usize, window: usize, stride: usize, options: &NnpackOptions) -> Choice {
        Choice::new(&problem([n, c, size, window, stride]), options, 2, &Rates::FULL_512)
    }

    fn fastest([n, c, size]: [usize; 3], options: &NnpackOptions) -> Algorithm {
        Choice::fastest(&problem([n, c, size, 3, 1]), options, 2, &Rates::FULL_512).algorithm
    }

    #[test]
    fn tiles_are_smaller_where_reading_weights_takes_longest() {
        let options = NnpackOptions::default();
        let variant = |n, c, size| fastest([n, c, size], &options);
        assert_eq!(variant(1, 64, 56), Algorithm::Winograd(Variant::F4));
        assert_eq!(variant(1, 256, 14), Algorithm::Winograd(Variant::F3));
        assert_eq!(variant(1, 512, 14), Algorithm::Winograd(Variant::F3));
        assert_eq!(variant(1, 512, 7), Algorithm::Winograd(Variant::F2));
        assert_eq!(variant(32, 512, 7), Algorithm::Winograd(Variant::F4));
        let loose = NnpackOptions { accuracy: crate::Accuracy::Loose, ..options };
        assert_eq!(fastest([32, 64, 224], &loose), Algorithm::Winograd(Variant::F6));
    }

    #[test]
    fn weights_are_fewer_where_they_are_more_than_the_data_and_it_takes_little_longer() {
        let options = NnpackOptions::default();
        let mut n_fewer = 0;
        for (n, c, size) in
            [(1, 256, 14), (1, 192, 7), (1, 512, 7), (1, 512, 14), (1, 64, 56), (32, 256, 14), (32, 512, 7)]
        {
            let p = problem([n, c, size, 3, 1]);
            let (fastest, chosen) = (fastest([n, c, size], &options), chosen(n, c, size, 3, 1, &options).algorithm);
            let time = |a: Algorithm| a.estimate(&p, 2, &Rates::FULL_512);
            assert!(chosen.packed_len(&p) <= fastest.packed_len(&p) && time(chosen) <= NEAR * time(fastest), "{p:?}");
            assert!(chosen == fastest || p.n_weights() >= p.n_data(), "{p:?}");
            n_fewer += usize::from(chosen != fastest);
        }
        assert!(n_fewer >= 2, "it makes a difference");
        assert_eq!(chosen(1, 256, 14, 3, 1, &options).algorithm, Algorithm::Winograd(Variant::F2));
        assert_eq!(chosen(1, 192, 7, 3, 1, &options).algorithm, Algorithm::Product);
    }

    #[test]
    fn what_winograd_does_not_fit_is_a_direct_sum() {
        let options = NnpackOptions::default();
        for (window, stride) in [(1, 1), (1, 2), (3, 2), (7, 2)] {
            let choice = chosen(1, 64, 56, window, stride, &options);
            assert_eq!(choice.algorithm, Algorithm::Product);
            assert!(choice.cost < 1.0, "{choice:?}");
        }
        assert_eq!(chosen(1, 3, 224, 7, 2, &options).algorithm, Algorithm::Taps);
        let direct = NnpackOptions { winograd: false, fourier: false, ..options };
        assert_eq!(chosen(1, 64, 56, 3, 1, &direct).algorithm, Algorithm::Product);
    }

    #[test]
    fn large_windows_are_transformed_and_small_ones_are_not() {
        let options = NnpackOptions::default();
        for (n, window) in [1, 32].into_iter().flat_map(|n| [7, 9, 11].map(|window| (n, window))) {
            let choice = chosen(n, 64, 56, window, 1, &options);
            assert_eq!(choice.algorithm, Algorithm::Fourier(Tile::Sixteen), "{n} {window}");
            assert!(choice.cost < 0.5, "{choice:?}");
        }
        for (n, c, size) in [(1, 64, 224), (1, 256, 56), (32, 64, 56), (32, 512, 14)] {
            let algorithm = chosen(n, c, size, 3, 1, &options).algorithm;
            assert!(matches!(algorithm, Algorithm::Winograd(_)), "{n} {c} {size}: {algorithm:?}");
        }
        // A small image of many channels has few tiles, so reading the spectra of the weights would take longer than the
        // direct sum.
        assert_eq!(chosen(1, 1024, 7, 7, 1, &options).algorithm, Algorithm::Product);
        let direct = NnpackOptions { fourier: false, ..options };
        assert_eq!(chosen(1, 64, 56, 7, 1, &direct).algorithm, Algorithm::Product);
    }

    #[test]
    fn winograd_costs_less_than_half_of_a_vendor_library() {
        for (n, c, size) in [(1, 64, 224), (1, 256, 56), (32, 128, 28)] {
            let cost = chosen(n, c, size, 3, 1, &NnpackOptions::default()).cost;
            assert!((LEAST_COST..0.5).contains(&cost), "{n} {c} {size}: {cost}");
        }
    }
}
