//! Registers that select values by a comparison for equality.

use super::lanes::{Lanes, Plain};

/// A register that selects its values by comparing two others. The conditions are those of [`Lanes`].
pub(crate) trait Compare: Lanes {
    /// Splits the values: first those where `x == y`, then those where `x != y` or one of them is NaN. Elsewhere each
    /// part has zeros.
    unsafe fn split_by_equal(self, x: Self, y: Self) -> [Self; 2];
}

// SAFETY of the method: it has no conditions.
impl Compare for Plain {
    #[inline(always)]
    unsafe fn split_by_equal(self, x: Self, y: Self) -> [Self; 2] {
        let [mut values, mut xs, mut ys] = [[0.0; Self::N]; 3];
        let (mut equal, mut other) = ([0.0; Self::N], [0.0; Self::N]);
        // SAFETY: each array has `N` values, the number that a register loads and stores.
        unsafe {
            self.store(values.as_mut_ptr());
            x.store(xs.as_mut_ptr());
            y.store(ys.as_mut_ptr());
            for (i, value) in values.into_iter().enumerate() {
                if xs[i] == ys[i] {
                    equal[i] = value;
                } else {
                    other[i] = value;
                }
            }
            [Self::load(equal.as_ptr()), Self::load(other.as_ptr())]
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Compare;
    use std::arch::x86_64::*;

    impl Compare for __m256 {
        #[inline(always)]
        unsafe fn split_by_equal(self, x: Self, y: Self) -> [Self; 2] {
            // SAFETY: the instructions use only registers, and the caller is compiled for AVX2.
            unsafe {
                let equal = _mm256_cmp_ps::<_CMP_EQ_OQ>(x, y);
                [_mm256_and_ps(equal, self), _mm256_andnot_ps(equal, self)]
            }
        }
    }

    impl Compare for __m512 {
        #[inline(always)]
        unsafe fn split_by_equal(self, x: Self, y: Self) -> [Self; 2] {
            // SAFETY: the instructions use only registers, and the caller is compiled for AVX-512F.
            unsafe {
                let equal = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(x, y);
                [_mm512_maskz_mov_ps(equal, self), _mm512_maskz_mov_ps(!equal, self)]
            }
        }
    }
}
