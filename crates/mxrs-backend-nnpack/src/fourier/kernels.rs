//! Selects the two-dimensional transforms by size and instruction set.

use super::{Tile, input, output};
use crate::tiles::Transforms;
use crate::tiles::strip::{Inputs, Outputs};
use mxrs_processor::{Isa, Set};

type Input = unsafe fn(&Inputs);
type Output = unsafe fn(&Outputs<'_>);

/// Returns the transforms of a tile, for a window that it takes.
pub(super) fn transforms(tile: Tile, kernel: [usize; 2], isa: Isa) -> Transforms {
    let (input, output) = match tile {
        Tile::Eight => of::<8>(isa),
        Tile::Sixteen => of::<16>(isa),
    };
    Transforms { input, output, m: tile.outputs(kernel), n: [tile.size(); 2], factors: tile.factors() }
}

fn of<const N: usize>(isa: Isa) -> (Input, Output) {
    match isa.set() {
        Set::Portable => (input_portable::<N>, output_portable::<N>),
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => (input_avx2::<N>, output_avx2::<N>),
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => (input_avx512::<N>, output_avx512::<N>),
    }
}

macro_rules! compiled {
    ($(#[$with:meta])* $lanes:ty, $input:ident, $output:ident) => {
        /// # Safety
        /// The conditions of [`input::transform`] must hold.
        $(#[$with])*
        unsafe fn $input<const N: usize>(tiles: &Inputs) {
            // SAFETY: the contract of this function is that of `input::transform`, and this function is compiled for
            // the instructions of the register type.
            unsafe { input::transform::<$lanes, N>(tiles) }
        }
        /// # Safety
        /// The conditions of [`output::transform`] must hold.
        $(#[$with])*
        unsafe fn $output<const N: usize>(tiles: &Outputs<'_>) {
            // SAFETY: the contract of this function is that of `output::transform`, and this function is compiled for
            // the instructions of the register type.
            unsafe { output::transform::<$lanes, N>(tiles) }
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
