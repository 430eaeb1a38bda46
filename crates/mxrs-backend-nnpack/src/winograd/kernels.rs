//! Selects the two-dimensional transforms by variant and instruction set.

use super::input::transform as transform_input;
use super::output::transform as transform_output;
use super::points::{Points, by_variant};
use super::{Data, Variant, weights};
use crate::dispatch::for_each_set;
use crate::gemm::element::Element;
use crate::tiles::strip::{Inputs, Outputs};
use crate::tiles::{Factors, Transforms};
use mxrs_processor::Isa;

/// A pair of one-dimensional transforms, compiled for one instruction set.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// The transforms of the inputs of tiles, and of products to outputs.
    pub transforms: Transforms,
    /// Makes the matrices that transform filters.
    pub weights: fn() -> weights::Matrices,
    /// Taps, down and across.
    pub r: [usize; 2],
}

impl Kernels {
    /// The transforms of a variant.
    pub fn new(variant: Variant, isa: Isa, data: Data) -> Self {
        by_variant!(variant, data => pair(isa))
    }
}

fn pair<V: Points, H: Points, E: Element>(isa: Isa) -> Kernels {
    let (input, output) = (input_of::<V, H, E>(isa), output_of::<V, H, E>(isa));
    let weights = || weights::Matrices::new::<V, H>();
    let factors = Factors { real: V::N * H::N, complex: 0 };
    let transforms = Transforms { input, output, m: [V::M, H::M], n: [V::N, H::N], factors };
    Kernels { transforms, weights, r: [V::R, H::R] }
}

for_each_set! {
    fn input_of[V: Points, H: Points, E: Element] [V, H, E]: unsafe fn(tiles: &Inputs) = transform_input
}

for_each_set! {
    fn output_of[V: Points, H: Points, E: Element] [V, H, E]: unsafe fn(tiles: &Outputs<'_>) = transform_output
}
