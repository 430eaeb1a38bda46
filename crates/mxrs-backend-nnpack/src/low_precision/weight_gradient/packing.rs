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

/// Pairs the numbers of two pixels: channels 0 to 15, and channels 16 to 31.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn paired(a: __m512i, b: __m512i) -> [__m512i; 2] {
    let low: [u16; 32] = std::array::from_fn(|i| (i / 2 + i % 2 * 32) as u16);
    let high = low.map(|i| i + 16);
    // SAFETY: arrays of 32 numbers of 16 bits have the 64 bytes that the loads read.
    let [low, high] = [low, high].map(|index| unsafe { _mm512_loadu_si512(index.as_ptr().cast()) });
    [_mm512_permutex2var_epi16(a, low, b), _mm512_permutex2var_epi16(a, high, b)]
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
    for (i, pair) in pixels[start..].chunks_exact(2).enumerate() {
        for (panel, first) in channels.clone().step_by(PANEL).enumerate() {
            let mask = mask_of(channels.end - first);
            // SAFETY: the mask selects channels that the caller promises, and the pair is in the panel.
            unsafe {
                let [low, high] = paired(load(pair[0], first, mask), load(pair[1], first, mask));
                let to = to.add(panel * panel_bytes + i * PAIR_BYTES);
                _mm512_store_si512(to.cast(), low);
                _mm512_store_si512(to.add(64).cast(), high);
            }
        }
    }
}

/// Transposes 16 vectors of 16 numbers of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transposed(r: [__m512i; 16]) -> [__m512i; 16] {
    let zero = _mm512_setzero_si512();
    let (mut t, mut u, mut out) = ([zero; 16], [zero; 16], [zero; 16]);
    for i in 0..8 {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for i in 0..4 {
        let [a, b, c, d] = [t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]];
        u[4 * i] = _mm512_unpacklo_epi64(a, c);
        u[4 * i + 1] = _mm512_unpackhi_epi64(a, c);
        u[4 * i + 2] = _mm512_unpacklo_epi64(b, d);
        u[4 * i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    for j in 0..4 {
        let [a, b, c, d] = [u[j], u[4 + j], u[8 + j], u[12 + j]];
        let (even, odd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
        let (more_even, more_odd) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
        out[j] = _mm512_shuffle_i32x4::<0x88>(even, more_even);
        out[4 + j] = _mm512_shuffle_i32x4::<0x88>(odd, more_odd);
        out[8 + j] = _mm512_shuffle_i32x4::<0xdd>(even, more_even);
        out[12 + j] = _mm512_shuffle_i32x4::<0xdd>(odd, more_odd);
    }
    out
}

/// Writes pixels transposed: a row of `row_bytes` for each of the channels, padded with rows of zeros to whole panels, with
/// its positions next to each other. The number of pixels is a multiple of 32.
///
/// # Safety
/// Each pixel must be null or have the channels. `to` must be writable for all rows. The processor must have AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
pub unsafe fn transpose(pixels: &[*const u16], channels: std::ops::Range<usize>, to: *mut u8, row_bytes: usize) {
    for (i, pixels) in pixels.chunks_exact(POSITIONS).enumerate() {
        for (panel, first) in channels.clone().step_by(PANEL).enumerate() {
            let mask = mask_of(channels.end - first);
            let zero = _mm512_setzero_si512();
            let (mut low, mut high) = ([zero; 16], [zero; 16]);
            for (j, pair) in pixels.chunks_exact(2).enumerate() {
                // SAFETY: the mask selects channels that the caller promises.
                [low[j], high[j]] = unsafe { paired(load(pair[0], first, mask), load(pair[1], first, mask)) };
            }
            for (half, rows) in [low, high].into_iter().enumerate() {
                for (row, values) in transposed(rows).into_iter().enumerate() {
                    let row = panel * PANEL + half * 16 + row;
                    // SAFETY: the row is one of the panel's, and the positions are those of its part `i`.
                    unsafe { _mm512_storeu_si512(to.add(row * row_bytes + i * 2 * POSITIONS).cast(), values) }
                }
            }
        }
    }
}
