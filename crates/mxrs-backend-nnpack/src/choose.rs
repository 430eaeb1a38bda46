//! Which algorithm runs a convolution, and what it costs beside a vendor library's.

use crate::NnpackOptions;
use crate::convolve::Convolve;
use crate::direct::product::ProductConv;
use crate::direct::taps::TapConv;
use crate::layouts::{BLOCK, PackedForm};
use crate::problem::ConvProblem;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A product over blocks of channels and cells of the window.
    Product,
    /// A product over single cells, for few channels.
    Taps,
}

/// The choice for a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// What runs.
    pub algorithm: Algorithm,
    /// Time relative to a vendor library's.
    pub cost: f64,
}

impl Choice {
    /// The cheapest algorithm.
    pub fn new(p: &ConvProblem, _options: &NnpackOptions) -> Self {
        if p.c < BLOCK {
            return Self { algorithm: Algorithm::Taps, cost: 0.95 };
        }
        let used = |channels: usize| channels as f64 / channels.next_multiple_of(BLOCK) as f64;
        // Padding channels are multiplied like others.
        Self { algorithm: Algorithm::Product, cost: 0.97 / (used(p.c) * used(p.k)) }
    }

    /// Whether data are read row by row.
    pub fn reads_rows(&self) -> bool {
        self.algorithm == Algorithm::Taps
    }

    /// How it wants the weights.
    pub fn form(&self) -> PackedForm {
        match self.algorithm {
            Algorithm::Product => PackedForm::Blocks,
            Algorithm::Taps => PackedForm::Taps,
        }
    }

    /// Its name, for traces.
    pub fn name(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Product => "product",
            Algorithm::Taps => "taps",
        }
    }

    /// The algorithm prepared for this many threads.
    pub fn prepare(&self, problem: &ConvProblem, options: &NnpackOptions, threads: usize) -> Box<dyn Convolve> {
        match self.algorithm {
            Algorithm::Product => Box::new(ProductConv::new(*problem, options.isa, threads)),
            Algorithm::Taps => Box::new(TapConv::new(*problem, options.isa, threads)),
        }
    }
}
