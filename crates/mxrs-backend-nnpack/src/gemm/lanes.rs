//! A register of float32 values, by instruction set, so that a kernel is written once.

/// One register. All functions must be called from code compiled for the instructions (`#[target_feature]`), into which they
/// are inlined.
pub(crate) trait Lanes: Copy {
    /// Values in it.
    const N: usize;
    /// Reads `N` values; any alignment.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes `N` values; any alignment.
    unsafe fn store(self, to: *mut f32);
    /// `N` times the same value.
    unsafe fn splat(x: f32) -> Self;
    /// `self + y`.
    unsafe fn add(self, y: Self) -> Self;
    /// `self - y`.
    unsafe fn sub(self, y: Self) -> Self;
    /// `self * y`.
    unsafe fn mul(self, y: Self) -> Self;
    /// `self * y + z`, rounded once where the processor can.
    unsafe fn mul_add(self, y: Self, z: Self) -> Self;
    /// `z - self * y`, rounded once where the processor can.
    unsafe fn neg_mul_add(self, y: Self, z: Self) -> Self;
    /// `self / y`.
    unsafe fn div(self, y: Self) -> Self;
    /// The square root; not a number of negative ones.
    unsafe fn sqrt(self) -> Self;
    /// The larger of the two; not a number where one of them is none.
    unsafe fn max_or_nan(self, y: Self) -> Self;
    /// `self` where it lies within the bounds, else the bound; not-a-numbers stay.
    unsafe fn clamp(self, lo: Self, hi: Self) -> Self;
    /// Asks for a cache line in the second-level cache. Any address will do.
    fn prefetch(at: *const f32);
}

/// Eight values that any processor can work on.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 8]);

impl Plain {
    #[inline(always)]
    fn zip(self, y: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(y.0) {
            *x = f(*x, y);
        }
        Self(out)
    }
}

// SAFETY of the methods: `load` and `store` need `N` readable or writable values, the others nothing.
impl Lanes for Plain {
    const N: usize = 8;
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 8])
    }
    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        self.zip(y, |x, y| x + y)
    }
    #[inline(always)]
    unsafe fn sub(self, y: Self) -> Self {
        self.zip(y, |x, y| x - y)
    }
    #[inline(always)]
    unsafe fn mul(self, y: Self) -> Self {
        self.zip(y, |x, y| x * y)
    }
    #[inline(always)]
    unsafe fn mul_add(self, y: Self, z: Self) -> Self {
        self.zip(y, |x, y| x * y).zip(z, |xy, z| xy + z)
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, y: Self, z: Self) -> Self {
        self.zip(y, |x, y| x * y).zip(z, |xy, z| z - xy)
    }
    #[inline(always)]
    unsafe fn div(self, y: Self) -> Self {
        self.zip(y, |x, y| x / y)
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    unsafe fn max_or_nan(self, y: Self) -> Self {
        self.zip(y, |x, y| if x > y || x.is_nan() { x } else { y })
    }
    #[inline(always)]
    unsafe fn clamp(self, lo: Self, hi: Self) -> Self {
        self.zip(lo, |x, lo| if x < lo { lo } else { x }).zip(hi, |x, hi| if x > hi { hi } else { x })
    }
    #[inline(always)]
    fn prefetch(_: *const f32) {}
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    macro_rules! lanes {
        ($register:ty, $n:literal, $load:ident, $store:ident, $set1:ident, $add:ident, $sub:ident, $mul:ident, $fmadd:ident,
         $fnmadd:ident, $max:ident, $min:ident, $div:ident, $sqrt:ident, $or_nan:ident) => {
            // SAFETY of the methods: the caller is compiled for the instructions; `load` and `store` need `N` readable or
            // writable values, the others nothing.
            impl Lanes for $register {
                const N: usize = $n;
                #[inline(always)]
                unsafe fn load(from: *const f32) -> Self {
                    // SAFETY: the caller's promise.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut f32) {
                    // SAFETY: the caller's promise.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn splat(x: f32) -> Self {
                    // SAFETY: the caller has the instructions.
                    unsafe { $set1(x) }
                }
                #[inline(always)]
                unsafe fn add(self, y: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $add(self, y) }
                }
                #[inline(always)]
                unsafe fn sub(self, y: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $sub(self, y) }
                }
                #[inline(always)]
                unsafe fn mul(self, y: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $mul(self, y) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, y: Self, z: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fmadd(self, y, z) }
                }
                #[inline(always)]
                unsafe fn neg_mul_add(self, y: Self, z: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fnmadd(self, y, z) }
                }
                #[inline(always)]
                unsafe fn div(self, y: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $div(self, y) }
                }
                #[inline(always)]
                unsafe fn sqrt(self) -> Self {
                    // SAFETY: as above.
                    unsafe { $sqrt(self) }
                }
                #[inline(always)]
                unsafe fn max_or_nan(self, y: Self) -> Self {
                    // Where one is not a number, `max` gives the second: that leaves numbers of `self` that are none.
                    // SAFETY: as above.
                    unsafe { $or_nan(self, $max(self, y)) }
                }
                #[inline(always)]
                unsafe fn clamp(self, lo: Self, hi: Self) -> Self {
                    // Of the two operands the second is the result where one is not a number.
                    // SAFETY: as above.
                    unsafe { $min(hi, $max(lo, self)) }
                }
                #[inline(always)]
                fn prefetch(at: *const f32) {
                    // SAFETY: a prefetch reads nothing that can be seen, and every x86-64 processor has it.
                    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
                }
            }
        };
    }

    lanes!(
        __m256,
        8,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_fnmadd_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_div_ps,
        _mm256_sqrt_ps,
        nan_or_256
    );
    lanes!(
        __m512,
        16,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_fnmadd_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        _mm512_div_ps,
        _mm512_sqrt_ps,
        nan_or_512
    );

    /// `x` where it is not a number, else `y`.
    #[inline(always)]
    unsafe fn nan_or_256(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller is compiled for the instructions.
        unsafe { _mm256_blendv_ps(y, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)) }
    }

    /// As [`nan_or_256`].
    #[inline(always)]
    unsafe fn nan_or_512(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the caller is compiled for the instructions.
        unsafe { _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), x) }
    }
}
