//! Packs the operands of the gradient of weights: pixels of 32 channels, transposed for the left operand and paired for the
//! right one.

use super::multiply::{PAIR_BYTES, POSITIONS};
use crate::low_precision::block::PANEL;
use std::arch::x86_64::*;

/// The channels of a panel that exist, as a mask.
fn mask_of(channels: usize) -> u32 {
    if channels >= PANEL { u32::MAX } else { (1 << channels) - 1 }
}

/// The channels that `mask` selects from channel `first` on of a pixel; zeros if the pixel is null.
///
/// # Safety
/// The pixel must be null or have these channels. The processor must have AVX-512 F and BW.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(pixel: *const u16, first: usize, mask: u32) -> __m512i {
    let mask = if pixel.is_null() { 0 } else { mask };
    // SAFETY: the caller promises the channels that the mask selects; others are not accessed.
    unsafe { _mm512_maskz_loadu_epi16(mask, pixel.wrapping_add(first).cast()) }
}

/// The order that interleaves channels 0 to 15 of a pair of pixels. Indices 0 to 31 are the channels of the first pixel, 32
/// to 63 those of the second one.
static LOW: [u16; 32] = indices(0);
/// The same for channels 16 to 31.
static HIGH: [u16; 32] = indices(16);

const fn indices(first: u16) -> [u16; 32] {
    let mut all = [0; 32];
    let mut i = 0;
    while i < 32 {
        all[i as usize] = i / 2 + i % 2 * 32 + first;
        i += 1;
    }
    all
}

/// The indices as a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn vector(indices: &[u16; 32]) -> __m512i {
    // SAFETY: 32 numbers of 16 bits have the 64 bytes that the load reads.
    unsafe { _mm512_loadu_si512(indices.as_ptr().cast()) }
}

/// Writes the pairs `(start, start + 1)`, `(start + 2, start + 3)` and so on of pixels, panel by panel. Panels are
/// `panel_bytes` apart, and hold the `channels.len()` channels from `channels.start` on, padded with zeros.
///
/// # Safety
/// Each pixel must be null or have the channels. `to` must be writable for all pairs of all panels. The processor must have
/// AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
pub unsafe fn pair(
    pixels: &[*const u16],
    start: usize,
    channels: std::ops::Range<usize>,
    to: *mut u8,
    panel_bytes: usize,
) {
    let (low, high) = (vector(&LOW), vector(&HIGH));
    for (i, pair) in pixels[start..].chunks_exact(2).enumerate() {
        for (panel, first) in channels.clone().step_by(PANEL).enumerate() {
            let mask = mask_of(channels.end - first);
            // SAFETY: the mask selects channels that the caller promises, and the pair is in the panel.
            unsafe {
                let (a, b) = (load(pair[0], first, mask), load(pair[1], first, mask));
                let to = to.add(panel * panel_bytes + i * PAIR_BYTES);
                _mm512_store_si512(to.cast(), _mm512_permutex2var_epi16(a, low, b));
                _mm512_store_si512(to.add(64).cast(), _mm512_permutex2var_epi16(a, high, b));
            }
        }
    }
}

/// Transposes 16 vectors of 16 numbers of 32 bits and stores them, `row_bytes` apart.
///
/// # Safety
/// `to` must be writable for 16 rows of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn store_transposed(r: &[__m512i; 16], to: *mut u8, row_bytes: usize) {
    let zero = _mm512_setzero_si512();
    let (mut t, mut u) = ([zero; 16], [zero; 16]);
    for i in 0..8 {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for i in 0..4 {
        u[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        u[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for j in 0..4 {
        let even = _mm512_shuffle_i32x4::<0x88>(u[j], u[4 + j]);
        let odd = _mm512_shuffle_i32x4::<0xdd>(u[j], u[4 + j]);
        let more_even = _mm512_shuffle_i32x4::<0x88>(u[8 + j], u[12 + j]);
        let more_odd = _mm512_shuffle_i32x4::<0xdd>(u[8 + j], u[12 + j]);
        // SAFETY: the caller promises the 16 rows.
        unsafe {
            let row = |i: usize| to.add((4 * i + j) * row_bytes).cast::<__m512i>();
            _mm512_storeu_si512(row(0), _mm512_shuffle_i32x4::<0x88>(even, more_even));
            _mm512_storeu_si512(row(1), _mm512_shuffle_i32x4::<0x88>(odd, more_odd));
            _mm512_storeu_si512(row(2), _mm512_shuffle_i32x4::<0xdd>(even, more_even));
            _mm512_storeu_si512(row(3), _mm512_shuffle_i32x4::<0xdd>(odd, more_odd));
        }
    }
}

/// Writes pixels transposed: a row of `row_bytes` for each of the channels, padded with rows of zeros to whole panels, with
/// its positions next to each other. The number of pixels is a multiple of 32.
///
/// # Safety
/// Each pixel must be null or have the channels. `to` must be writable for all rows. The processor must have AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
pub unsafe fn transpose(pixels: &[*const u16], channels: std::ops::Range<usize>, to: *mut u8, row_bytes: usize) {
    let (of_low, of_high) = (vector(&LOW), vector(&HIGH));
    for (i, pixels) in pixels.chunks_exact(POSITIONS).enumerate() {
        for (panel, first) in channels.clone().step_by(PANEL).enumerate() {
            let mask = mask_of(channels.end - first);
            let zero = _mm512_setzero_si512();
            let (mut low, mut high) = ([zero; 16], [zero; 16]);
            for j in 0..16 {
                // SAFETY: the mask selects channels that the caller promises.
                let (a, b) = unsafe { (load(pixels[2 * j], first, mask), load(pixels[2 * j + 1], first, mask)) };
                low[j] = _mm512_permutex2var_epi16(a, of_low, b);
                high[j] = _mm512_permutex2var_epi16(a, of_high, b);
            }
            // SAFETY: the rows are those of the panel, and the positions are those of its part `i`.
            unsafe {
                let to = to.add(panel * PANEL * row_bytes + i * 2 * POSITIONS);
                store_transposed(&low, to, row_bytes);
                store_transposed(&high, to.add(16 * row_bytes), row_bytes);
            }
        }
    }
}
