//! Which numbers are multiplied, and by which instructions.

use mxrs_processor::Isa;
#[cfg(target_arch = "x86_64")]
use mxrs_processor::{Feature, MatrixUnits, Processor, Set};

/// The types of the numbers that a product multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factors {
    /// Bfloat16 by bfloat16, summed in float32.
    Bf16,
    /// Unsigned by signed bytes, summed in int32.
    Unsigned,
    /// Signed by signed bytes, summed in int32.
    Signed,
}

/// Instructions for products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Matrix units.
    #[cfg(target_arch = "x86_64")]
    Matrix(MatrixUnits),
    /// 512-bit instructions for pairs of bfloat16 and groups of four bytes. A value is made only after detection.
    #[cfg(target_arch = "x86_64")]
    Vector512,
    /// Multiplications and additions of float32 and int32, compiled for AVX2. A value is made only after detection.
    #[cfg(target_arch = "x86_64")]
    Vector256,
    /// Multiplications and additions for any processor.
    Portable,
}

impl Unit {
    /// The fastest instructions for these factors that the instruction set `isa` allows. The widest set allows everything
    /// that the processor has.
    pub fn of(factors: Factors, isa: Isa) -> Self {
        Self::available(factors, isa).into_iter().next().unwrap_or(Self::Portable)
    }

    /// All instructions for these factors that the instruction set allows, the fastest first.
    pub fn available(factors: Factors, isa: Isa) -> Vec<Self> {
        let mut found = Vec::new();
        let _ = (factors, isa);
        #[cfg(target_arch = "x86_64")]
        {
            if isa.set() >= Set::Avx512 {
                found.extend(MatrixUnits::request().map(Self::Matrix));
                let of_factors = if factors == Factors::Bf16 { Feature::Avx512Bf16 } else { Feature::Avx512Vnni };
                if of_factors.is_there() && Feature::Avx512Core.is_there() {
                    found.push(Self::Vector512);
                }
            }
            if isa.set() >= Set::Avx2 {
                found.push(Self::Vector256);
            }
        }
        found.push(Self::Portable);
        found
    }

    /// Whether products of bfloat16 are faster than those of float32.
    pub fn beats_float32(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Matrix(_) => true,
            #[cfg(target_arch = "x86_64")]
            Self::Vector512 => Processor::vectors_multiply_bfloat16(),
            _ => false,
        }
    }

    /// Whether the products are those of matrix units.
    pub fn is_matrix(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Matrix(_) => true,
            _ => false,
        }
    }

    /// The name in traces.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Matrix(_) => "amx",
            #[cfg(target_arch = "x86_64")]
            Self::Vector512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Vector256 => "avx2",
            Self::Portable => "portable",
        }
    }
}
