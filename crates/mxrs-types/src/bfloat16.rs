//! Conversions of bfloat16 without branches, which compilers can vectorize. The conversions of the crate `half` first branch
//! on NaN, which prevents that.
//!
//! ```
//! use mxrs_types::bfloat16::{narrow, widen};
//!
//! assert_eq!(widen(narrow(1.0 + 1.0 / 256.0)), 1.0);
//! ```

use half::bf16;

/// Converts a bfloat16 to float32, which is exact.
#[inline(always)]
pub fn widen(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds a float32 to the nearest bfloat16, ties to even. NaN becomes a quiet NaN.
#[inline(always)]
pub fn narrow(x: f32) -> bf16 {
    const QUIET: u32 = 0x40;
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let kept = bits >> 16 | QUIET;
    bf16::from_bits(if x.is_nan() { kept } else { rounded } as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_16_bits_survives() {
        for bits in 0..=u16::MAX {
            let x = bf16::from_bits(bits);
            assert!(widen(x) == x.to_f32() || x.is_nan() && widen(x).is_nan());
            assert!(narrow(widen(x)) == x || x.is_nan() && narrow(widen(x)).is_nan());
        }
    }

    #[test]
    fn rounding_is_that_of_half() {
        let mut bits = 1u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for last in [bits, bits & !0xffff | 0x8000, bits & !0xffff | 0x7fff, bits & !0xffff | 0x8001] {
                let x = f32::from_bits(last);
                let (ours, theirs) = (narrow(x), bf16::from_f32(x));
                assert!(
                    ours.to_bits() == theirs.to_bits() || x.is_nan() && ours.is_nan(),
                    "{x:?}: {ours:?}, {theirs:?}"
                );
            }
        }
    }
}
