//! Selects the two-dimensional transforms by variant and instruction set.

use super::points::{Points, by_variant};
use super::{Data, Variant, input, output, weights};
use crate::gemm::element::Element;
use crate::tiles::strip::{Inputs, Outputs};
use crate::tiles::{Factors, Transforms};
use mxrs_processor::{Isa, Set};

type Input = unsafe fn(&Inputs);
type Output = unsafe fn(&Outputs<'_>);

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
    let (input, output): (Input, Output) = match isa.set() {
        Set::Portable => (input_portable::<V, H, E>, output_portable::<V, H, E>),
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => (input_avx2::<V, H, E>, output_avx2::<V, H, E>),
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => (input_avx512::<V, H, E>, output_avx512::<V, H, E>),
    };
    let weights = || weights::Matrices::new::<V, H>();
    let factors = Factors { real: V::N * H::N, complex: 0 };
    let transforms = Transforms { input, output, m: [V::M, H::M], n: [V::N, H::N], factors };
    Kernels { transforms, weights, r: [V::R, H::R] }
}

macro_rules! compiled {
    ($(#[$with:meta])* $lanes:ty, $input:ident, $output:ident) => {
        /// # Safety
        /// The conditions of [`input::transform`] must hold.
        $(#[$with])*
        unsafe fn $input<V: Points, H: Points, E: Element>(tiles: &Inputs) {
            // SAFETY: the contract of this function is that of `input::transform`, and this function is compiled for
            // the instructions of the register type.
            unsafe { input::transform::<$lanes, V, H, E>(tiles) }
        }
        /// # Safety
        /// The conditions of [`output::transform`] must hold.
        $(#[$with])*
        unsafe fn $output<V: Points, H: Points, E: Element>(tiles: &Outputs<'_>) {
            // SAFETY: the contract of this function is that of `output::transform`, and this function is compiled for
            // the instructions of the register type.
            unsafe { output::transform::<$lanes, V, H, E>(tiles) }
        }
    };
}

compiled!(crate::gemm::lanes::Plain, input_portable, output_portable);
compiled!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    std::arch::x86_64::__m256,
    input_avx2,
    output_avx2
);
compiled!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,fma")]
    std::arch::x86_64::__m512,
    input_avx512,
    output_avx512
);
