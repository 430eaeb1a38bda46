//! The conversions of [`super::finish`] with 512-bit instructions, sixteen channels at a time.

use super::block::{PANEL, SQUARE};
use super::finish::{Floats, Integers, Stored};
use half::bf16;
use std::arch::x86_64::*;

/// Sums that are read sixteen at a time.
pub trait Sums512 {
    /// Sixteen sums in float32.
    ///
    /// # Safety
    /// The processor must have AVX-512 F, BW, DQ and VL.
    unsafe fn wide(bits: __m512i) -> __m512;
}

/// A type that is read and written sixteen numbers at a time.
pub trait Number512: Copy {
    /// Reads the numbers that `mask` selects; the others are 0.
    ///
    /// # Safety
    /// `at` must be readable for these numbers. The processor must have AVX-512 F, BW, DQ and VL.
    unsafe fn read(at: *const Self, mask: __mmask16) -> __m512;
    /// Writes the numbers that `mask` selects, rounded to the nearest; integers saturate, and NaN becomes 0.
    ///
    /// # Safety
    /// `at` must be writable for these numbers. The processor must have AVX-512 F, BW, DQ and VL.
    unsafe fn write(x: __m512, at: *mut Self, mask: __mmask16);
}

impl Sums512 for Floats {
    #[inline(always)]
    unsafe fn wide(bits: __m512i) -> __m512 {
        // SAFETY: the caller promises the instructions.
        unsafe { _mm512_castsi512_ps(bits) }
    }
}

impl Sums512 for Integers {
    #[inline(always)]
    unsafe fn wide(bits: __m512i) -> __m512 {
        // SAFETY: the caller promises the instructions.
        unsafe { _mm512_cvtepi32_ps(bits) }
    }
}

impl Number512 for f32 {
    #[inline(always)]
    unsafe fn read(at: *const Self, mask: __mmask16) -> __m512 {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm512_maskz_loadu_ps(mask, at) }
    }

    #[inline(always)]
    unsafe fn write(x: __m512, at: *mut Self, mask: __mmask16) {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm512_mask_storeu_ps(at, mask, x) }
    }
}

impl Number512 for bf16 {
    #[inline(always)]
    unsafe fn read(at: *const Self, mask: __mmask16) -> __m512 {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe {
            let short = _mm256_maskz_loadu_epi16(mask, at.cast());
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(short)))
        }
    }

    #[inline(always)]
    unsafe fn write(x: __m512, at: *mut Self, mask: __mmask16) {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe {
            // Rounds as `mxrs_types::bfloat16::narrow` does.
            let bits = _mm512_castps_si512(x);
            let high = _mm512_srli_epi32::<16>(bits);
            let odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            let rounded = _mm512_srli_epi32::<16>(rounded);
            let short = _mm512_mask_or_epi32(rounded, is_nan, high, _mm512_set1_epi32(0x40));
            _mm256_mask_storeu_epi16(at.cast(), mask, _mm512_cvtepi32_epi16(short));
        }
    }
}

/// Sixteen numbers clamped to bounds of integers, and converted to int32; NaN becomes 0.
#[inline(always)]
unsafe fn to_integers(x: __m512, low: f32, high: f32) -> __m512i {
    // SAFETY: the caller promises the instructions.
    unsafe {
        let is_number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(x, x);
        let x = _mm512_maskz_max_ps(is_number, x, _mm512_set1_ps(low));
        _mm512_cvtps_epi32(_mm512_min_ps(x, _mm512_set1_ps(high)))
    }
}

impl Number512 for i8 {
    #[inline(always)]
    unsafe fn read(at: *const Self, mask: __mmask16) -> __m512 {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, at))) }
    }

    #[inline(always)]
    unsafe fn write(x: __m512, at: *mut Self, mask: __mmask16) {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm_mask_storeu_epi8(at, mask, _mm512_cvtepi32_epi8(to_integers(x, -128.0, 127.0))) }
    }
}

impl Number512 for u8 {
    #[inline(always)]
    unsafe fn read(at: *const Self, mask: __mmask16) -> __m512 {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, at.cast()))) }
    }

    #[inline(always)]
    unsafe fn write(x: __m512, at: *mut Self, mask: __mmask16) {
        // SAFETY: the caller promises instructions and memory; other numbers are not accessed.
        unsafe { _mm_mask_storeu_epi8(at.cast(), mask, _mm512_cvtepi32_epi8(to_integers(x, 0.0, 255.0))) }
    }
}

/// # Safety
/// The conditions of [`super::finish::Store`] must hold, and the processor must have AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub unsafe fn store<S: Sums512, A: Number512, O: Number512>(s: &Stored<'_>) {
    let o = s.output;
    let halves = s.width.div_ceil(SQUARE);
    let mask = |half: usize| -> __mmask16 {
        let n = (s.width - half * SQUARE).min(SQUARE);
        ((1u32 << n) - 1) as __mmask16
    };
    let (low, high) = (_mm512_set1_ps(o.low), _mm512_set1_ps(o.high));
    let sum_scale = _mm512_set1_ps(o.sum_scale);
    // SAFETY: scales and bias have values for whole squares of channels. The rows, pixels and channels are those that the
    // caller promises; the masks leave out channels that do not exist.
    unsafe {
        let last = halves - 1;
        let masks = [mask(0), mask(last)];
        let scales = [0, last].map(|half| _mm512_loadu_ps(o.scales.add(s.channel + half * SQUARE)));
        let bias = [0, last].map(|half| _mm512_loadu_ps(o.bias.add(s.channel + half * SQUARE)));
        let mut sums = s.sums;
        let mut at = s.pixel * o.channels + s.channel;
        for _ in 0..s.rows {
            for half in 0..halves {
                let at = at + half * SQUARE;
                let x = S::wide(_mm512_loadu_si512(sums.add(half * SQUARE).cast()));
                let mut x = _mm512_fmadd_ps(x, scales[half], bias[half]);
                if !o.sum.is_null() {
                    x = _mm512_fmadd_ps(A::read(o.sum.cast::<A>().add(at), masks[half]), sum_scale, x);
                }
                // For NaN, these instructions return their second operand, so a NaN in `x` stays a NaN.
                let x = _mm512_min_ps(high, _mm512_max_ps(low, x));
                O::write(x, o.dst.cast::<O>().add(at), masks[half]);
            }
            sums = sums.add(PANEL);
            at += o.row_step;
        }
    }
}

/// Stores sums of bfloat16 products as bfloat16, 32 channels at a time. Numbers whose absolute value is below the smallest
/// normal one become 0.
///
/// # Safety
/// As for [`store`]; the processor must also have AVX512_BF16.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")]
pub unsafe fn store_pairs(s: &Stored<'_>) {
    let o = s.output;
    if s.width < PANEL {
        // SAFETY: the contract of this function includes that of `store`.
        return unsafe { store::<Floats, bf16, bf16>(s) };
    }
    let (low, high) = (_mm512_set1_ps(o.low), _mm512_set1_ps(o.high));
    // SAFETY: the rows, pixels and channels are those that the caller promises. Bias and output have 32 channels from
    // `channel` on, because the panel is whole.
    unsafe {
        let bias = [0, SQUARE].map(|i| _mm512_loadu_ps(o.bias.add(s.channel + i)));
        let mut sums = s.sums.cast::<f32>();
        let mut at = s.pixel * o.channels + s.channel;
        for _ in 0..s.rows {
            let mut x = [_mm512_loadu_ps(sums), _mm512_loadu_ps(sums.add(SQUARE))];
            x = [_mm512_add_ps(x[0], bias[0]), _mm512_add_ps(x[1], bias[1])];
            if !o.sum.is_null() {
                let both = _mm512_loadu_si512(o.sum.cast::<bf16>().add(at).cast());
                let wide = |half: __m256i| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(half)));
                x[0] = _mm512_add_ps(x[0], wide(_mm512_castsi512_si256(both)));
                x[1] = _mm512_add_ps(x[1], wide(_mm512_extracti64x4_epi64::<1>(both)));
            }
            // For NaN, these instructions return their second operand, so a NaN in `x` stays a NaN.
            let [a, b] = [_mm512_min_ps(high, _mm512_max_ps(low, x[0])), _mm512_min_ps(high, _mm512_max_ps(low, x[1]))];
            let pairs: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(b, a));
            let to = o.dst.cast::<bf16>().add(at);
            if o.past_caches && to.addr().is_multiple_of(64) {
                _mm512_stream_si512(to.cast(), pairs);
            } else {
                _mm512_storeu_si512(to.cast(), pairs);
            }
            sums = sums.add(PANEL);
            at += o.row_step;
        }
    }
}
