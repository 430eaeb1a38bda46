//! A register of float32 values, one type per instruction set, so that a kernel is written once.

use half::bf16;
use mxrs_types::bfloat16::{narrow, widen};

/// One register.
///
/// All functions must be called from code compiled for the instructions of the register type (`#[target_feature]`), into
/// which they are inlined. Functions that read or write memory need `N` readable or writable values at the address; the
/// other functions have no further conditions.
pub(crate) trait Lanes: Copy {
    /// Values in a register.
    const N: usize;
    /// Reads `N` values at any alignment.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes `N` values at any alignment.
    unsafe fn store(self, to: *mut f32);
    /// Writes `N` values directly to memory, bypassing the caches, if the processor can. Meant for values that are not read
    /// soon. `to` must be aligned to the register. Other threads see the values after [`Self::drain`].
    #[inline(always)]
    unsafe fn store_past(self, to: *mut f32) {
        // SAFETY: the caller promises `N` writable values, which is the contract of `store`.
        unsafe { self.store(to) }
    }
    /// Waits until the values of [`Self::store_past`] are visible to other threads.
    #[inline(always)]
    fn drain() {}
    /// Reads `N` bfloat16 values at any alignment.
    unsafe fn load_bf16(from: *const u16) -> Self;
    /// Writes `N` values as bfloat16, rounded to the nearest, at any alignment.
    unsafe fn store_bf16(self, to: *mut u16);
    /// `N` copies of a value.
    unsafe fn splat(x: f32) -> Self;
    /// `self + y`.
    unsafe fn add(self, y: Self) -> Self;
    /// `self - y`.
    unsafe fn sub(self, y: Self) -> Self;
    /// `self * y`.
    unsafe fn mul(self, y: Self) -> Self;
    /// `self * y + z`, rounded once if the processor can.
    unsafe fn mul_add(self, y: Self, z: Self) -> Self;
    /// `z - self * y`, rounded once if the processor can.
    unsafe fn neg_mul_add(self, y: Self, z: Self) -> Self;
    /// `self / y`.
    unsafe fn div(self, y: Self) -> Self;
    /// The square root; NaN for negative values.
    unsafe fn sqrt(self) -> Self;
    /// The larger of the two; NaN if one of them is NaN.
    unsafe fn max_or_nan(self, y: Self) -> Self;
    /// `self` clamped to the bounds. A NaN stays a NaN.
    unsafe fn clamp(self, lo: Self, hi: Self) -> Self;
    /// `self` where `y > 0` or `y` is NaN, else 0.
    unsafe fn where_above_zero(self, y: Self) -> Self;
    /// Prefetches a cache line to the second-level cache. Any address is allowed.
    fn prefetch(at: *const f32);
    /// Prefetches a cache line to the first-level cache. Any address is allowed.
    fn prefetch_near(at: *const f32);
}

/// Eight values in an array, for any processor.
#[derive(Clone, Copy)]
pub(crate) struct Plain([f32; 8]);

impl Plain {
    #[inline(always)]
    pub(crate) fn zip(self, y: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(y.0) {
            *x = f(*x, y);
        }
        Self(out)
    }
}

// SAFETY of the methods: `load` and `store` need `N` readable or writable values; the other methods have no conditions.
impl Lanes for Plain {
    const N: usize = 8;
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller promises eight readable values, and `read_unaligned` accepts any alignment.
        Self(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller promises eight writable values, and `write_unaligned` accepts any alignment.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_bf16(from: *const u16) -> Self {
        // SAFETY: the caller promises eight readable values. A `bf16` has the size of a `u16`, every bit pattern is
        // valid, and `read_unaligned` accepts any alignment.
        Self(unsafe { from.cast::<[bf16; 8]>().read_unaligned() }.map(widen))
    }
    #[inline(always)]
    unsafe fn store_bf16(self, to: *mut u16) {
        // SAFETY: the caller promises eight writable values. A `bf16` has the size of a `u16`, and `write_unaligned`
        // accepts any alignment.
        unsafe { to.cast::<[bf16; 8]>().write_unaligned(self.0.map(narrow)) }
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
    unsafe fn where_above_zero(self, y: Self) -> Self {
        self.zip(y, |x, y| if y <= 0.0 { 0.0 } else { x })
    }
    #[inline(always)]
    fn prefetch(_: *const f32) {}
    #[inline(always)]
    fn prefetch_near(_: *const f32) {}
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    macro_rules! lanes {
        ($register:ty, $n:literal, $load:ident, $store:ident, $stream:ident, $set1:ident, $add:ident, $sub:ident, $mul:ident, $fmadd:ident,
         $fnmadd:ident, $max:ident, $min:ident, $widen:ident, $narrow:ident, $div:ident, $sqrt:ident, $or_nan:ident, $above:ident) => {
            // SAFETY of the methods: the caller is compiled for the instructions; `load` and `store` need `N` readable
            // or writable values; the other methods have no further conditions.
            impl Lanes for $register {
                const N: usize = $n;
                #[inline(always)]
                unsafe fn load(from: *const f32) -> Self {
                    // SAFETY: the caller promises `N` readable values and is compiled for the instruction, which takes
                    // any alignment.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut f32) {
                    // SAFETY: the caller promises `N` writable values and is compiled for the instruction, which takes
                    // any alignment.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn store_past(self, to: *mut f32) {
                    // SAFETY: the caller promises `N` writable values, aligned to the register as the instruction
                    // requires, and is compiled for it.
                    unsafe { $stream(to, self) }
                }
                #[inline(always)]
                fn drain() {
                    // SAFETY: every x86-64 processor has this instruction, and it accesses no memory itself.
                    unsafe { _mm_sfence() }
                }
                #[inline(always)]
                unsafe fn load_bf16(from: *const u16) -> Self {
                    // SAFETY: the caller promises `N` readable values and is compiled for the instructions.
                    unsafe { $widen(from) }
                }
                #[inline(always)]
                unsafe fn store_bf16(self, to: *mut u16) {
                    // SAFETY: the caller promises `N` writable values and is compiled for the instructions.
                    unsafe { $narrow(self, to) }
                }
                #[inline(always)]
                unsafe fn splat(x: f32) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $set1(x) }
                }
                #[inline(always)]
                unsafe fn add(self, y: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $add(self, y) }
                }
                #[inline(always)]
                unsafe fn sub(self, y: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $sub(self, y) }
                }
                #[inline(always)]
                unsafe fn mul(self, y: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $mul(self, y) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, y: Self, z: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $fmadd(self, y, z) }
                }
                #[inline(always)]
                unsafe fn neg_mul_add(self, y: Self, z: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $fnmadd(self, y, z) }
                }
                #[inline(always)]
                unsafe fn div(self, y: Self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $div(self, y) }
                }
                #[inline(always)]
                unsafe fn sqrt(self) -> Self {
                    // SAFETY: the instruction uses only registers, and the caller is compiled for it.
                    unsafe { $sqrt(self) }
                }
                #[inline(always)]
                unsafe fn max_or_nan(self, y: Self) -> Self {
                    // `max` returns its second operand if one is NaN, which keeps the NaNs of `y`. `$or_nan` puts the
                    // NaNs of `self` back.
                    // SAFETY: the instructions use only registers, and the caller is compiled for them.
                    unsafe { $or_nan(self, $max(self, y)) }
                }
                #[inline(always)]
                unsafe fn clamp(self, lo: Self, hi: Self) -> Self {
                    // `max` and `min` return their second operand if one is NaN, which keeps the NaNs of `self`.
                    // SAFETY: the instructions use only registers, and the caller is compiled for them.
                    unsafe { $min(hi, $max(lo, self)) }
                }
                #[inline(always)]
                unsafe fn where_above_zero(self, y: Self) -> Self {
                    // SAFETY: the instructions use only registers, and the caller is compiled for them.
                    unsafe { $above(self, y) }
                }
                #[inline(always)]
                fn prefetch(at: *const f32) {
                    // SAFETY: a prefetch has no visible effect and accepts any address, and every x86-64 processor has
                    // it.
                    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
                }
                #[inline(always)]
                fn prefetch_near(at: *const f32) {
                    // SAFETY: a prefetch has no visible effect and accepts any address, and every x86-64 processor has
                    // it.
                    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
                }
            }
        };
    }

    /// Reads 8 bfloat16 values.
    #[inline(always)]
    unsafe fn widen_8(from: *const u16) -> __m256 {
        // SAFETY: the caller promises 8 readable values (16 bytes), and is compiled for AVX2. The load takes any
        // alignment.
        unsafe {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
        }
    }

    /// Writes 8 values as bfloat16. Adds half the value of the last kept bit, or just less than half if that bit is 0 (ties
    /// round to even), and cuts off the lower 16 bits. A NaN gets its quiet bit set, so that it is still a NaN afterward.
    #[inline(always)]
    unsafe fn narrow_8(x: __m256, to: *mut u16) {
        // SAFETY: the caller promises 8 writable values (16 bytes), and is compiled for AVX2. The store takes any
        // alignment.
        unsafe {
            let bits = _mm256_castps_si256(x);
            let last = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
            let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
            let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
            let kept = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, is_nan));
            let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(kept, kept));
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(packed));
        }
    }

    /// Reads 16 bfloat16 values.
    #[inline(always)]
    unsafe fn widen_16(from: *const u16) -> __m512 {
        // SAFETY: the caller promises 16 readable values (32 bytes), and is compiled for AVX-512F. The load takes any
        // alignment.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        }
    }

    /// Writes 16 values as bfloat16, as [`narrow_8`] does.
    #[inline(always)]
    unsafe fn narrow_16(x: __m512, to: *mut u16) {
        // SAFETY: the caller promises 16 writable values (32 bytes), and is compiled for AVX-512F. The store takes any
        // alignment.
        unsafe {
            let bits = _mm512_castps_si512(x);
            let last = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7fff)));
            let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
            let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            let kept = _mm512_srli_epi32::<16>(_mm512_mask_blend_epi32(is_nan, rounded, quiet));
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(kept));
        }
    }

    lanes!(
        __m256,
        8,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_stream_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_fnmadd_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        widen_8,
        narrow_8,
        _mm256_div_ps,
        _mm256_sqrt_ps,
        nan_or_256,
        above_256
    );
    lanes!(
        __m512,
        16,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_stream_ps,
        _mm512_set1_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_fnmadd_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        widen_16,
        narrow_16,
        _mm512_div_ps,
        _mm512_sqrt_ps,
        nan_or_512,
        above_512
    );

    /// `x` where it is NaN, else `y`.
    #[inline(always)]
    unsafe fn nan_or_256(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the instructions use only registers, and the caller is compiled for AVX2.
        unsafe { _mm256_blendv_ps(y, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)) }
    }

    /// `x` where `y > 0` or `y` is NaN, else 0.
    #[inline(always)]
    unsafe fn above_256(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the instructions use only registers, and the caller is compiled for AVX2.
        unsafe { _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_NLE_UQ>(y, _mm256_setzero_ps())) }
    }

    /// `x` where `y > 0` or `y` is NaN, else 0.
    #[inline(always)]
    unsafe fn above_512(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the instructions use only registers, and the caller is compiled for AVX-512F.
        unsafe { _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(y, _mm512_setzero_ps()), x) }
    }

    /// `x` where it is NaN, else `y`.
    #[inline(always)]
    unsafe fn nan_or_512(x: __m512, y: __m512) -> __m512 {
        // SAFETY: the instructions use only registers, and the caller is compiled for AVX-512F.
        unsafe { _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), x) }
    }
}
