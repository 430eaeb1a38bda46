//! What things cost on a kind of processor, in multiply-adds of one thread at its peak: constants, so that estimates, and with them
//! kernels, are the same in every process.

use crate::isa::Set;
use crate::{Isa, Processor};

/// Costs on one kind of processor. They come from timed layers of known networks, on two cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Part of the peak that products reach.
    pub product: f64,
    /// Part of the peak that a vendor library's direct convolutions reach, with stride 1 and with others.
    pub vendor: [f64; 2],
    /// Multiply-adds of two threads in the time that a byte takes from memory.
    pub per_byte: f64,
    /// Multiply-adds in the time that one number of a tile is transformed.
    pub per_transformed: f64,
    /// Of two things that happen at a time, how much of the shorter shows.
    pub overlap: f64,
}

impl Rates {
    /// Two full 512-bit units: 285 G multiply-adds to 49 GB a second for two cores.
    pub const FULL_512: Self =
        Self { product: 0.88, vendor: [0.87, 0.8], per_byte: 5.8, per_transformed: 16.0, overlap: 0.15 };

    /// 512-bit instructions in two halves, as on Zen 4: 117 G multiply-adds to 30 GB a second for two cores. Everything beside the
    /// products weighs less.
    pub const HALVED_512: Self =
        Self { product: 0.87, per_byte: 3.4, per_transformed: 6.0, overlap: 0.34, ..Self::FULL_512 };
    /// 256-bit instructions: as many multiply-adds a cycle as in halves, with half the registers to keep sums in.
    pub const AVX2: Self = Self { product: 0.8, ..Self::HALVED_512 };

    /// Those of a processor with these instructions.
    pub fn of(isa: Isa, processor: &Processor) -> Self {
        match (isa.set(), processor.zen()) {
            #[cfg(target_arch = "x86_64")]
            (Set::Avx512, Some(4)) => Self::HALVED_512,
            #[cfg(target_arch = "x86_64")]
            (Set::Avx512, _) => Self::FULL_512,
            #[cfg(target_arch = "x86_64")]
            (Set::Avx2, _) => Self::AVX2,
            // Slow as it is, only the number of multiplications counts.
            (Set::Portable, _) => Self { per_byte: 1.0, ..Self::HALVED_512 },
        }
    }
}
