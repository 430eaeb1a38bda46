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

    /// Those of a processor with these instructions.
    pub fn of(isa: Isa, processor: &Processor) -> Self {
        let _ = (isa.set() == Set::Portable, processor.zen());
        Self::FULL_512
    }
}
