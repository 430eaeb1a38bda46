//! Blocks on 512-bit instructions: pairs of bfloat16 (`vdpbf16ps`) and groups of four bytes (`vpdpbusd`).
//!
//! The byte instruction multiplies unsigned by signed bytes. Signed data are moved up by 128 with one exclusive or, and 128
//! times the sum of the weights is subtracted from each sum.

use super::block::{Block, PANEL, SQUARE, SQUARE_BYTES, STEP, Sums, TILE};
use super::unit::Factors;
use std::arch::x86_64::*;

/// Number of rows that are computed together: the sums of eight rows by two registers leave room for the weights.
const GROUP: usize = 8;

/// Computes the sums of a block.
///
/// # Safety
/// The conditions of [`super::block::Session::run`] must hold. The processor must have AVX-512F, and AVX512_BF16 for bfloat16
/// or AVX512_VNNI for bytes.
pub unsafe fn run(factors: Factors, block: &Block<'_>, sums: &mut Sums) {
    for tile in 0..2 {
        for first in (0..block.n_rows[tile]).step_by(GROUP) {
            let rows = (block.n_rows[tile] - first).min(GROUP);
            // SAFETY: rows `first..first + rows` are rows of the tile, for which the caller promises the operands. `sums`
            // has a row for each of them.
            unsafe {
                let a = block.rows[tile].add(first * block.row_bytes);
                let c = sums.0[tile * TILE + first..].as_mut_ptr().cast::<u32>();
                match factors {
                    Factors::Bf16 => of_pairs(rows, block, a, c),
                    Factors::Unsigned => of_bytes::<false>(rows, block, a, c),
                    Factors::Signed => of_bytes::<true>(rows, block, a, c),
                }
            }
        }
    }
}

/// Calls `$kernel` with the constant number of rows `$rows`.
macro_rules! by_rows {
    ($rows:expr, $kernel:ident $(, $signed:ident)?; $($arg:expr),*) => {
        match $rows {
            1 => $kernel::<1 $(, $signed)?>($($arg),*),
            2 => $kernel::<2 $(, $signed)?>($($arg),*),
            3 => $kernel::<3 $(, $signed)?>($($arg),*),
            4 => $kernel::<4 $(, $signed)?>($($arg),*),
            5 => $kernel::<5 $(, $signed)?>($($arg),*),
            6 => $kernel::<6 $(, $signed)?>($($arg),*),
            7 => $kernel::<7 $(, $signed)?>($($arg),*),
            _ => $kernel::<8 $(, $signed)?>($($arg),*),
        }
    };
}

unsafe fn of_pairs(rows: usize, block: &Block<'_>, a: *const u8, c: *mut u32) {
    // SAFETY: the contract of this function is that of the kernels.
    unsafe { by_rows!(rows, pairs; block, a, c) }
}

unsafe fn of_bytes<const SIGNED: bool>(rows: usize, block: &Block<'_>, a: *const u8, c: *mut u32) {
    // SAFETY: the contract of this function is that of the kernels.
    unsafe { by_rows!(rows, bytes, SIGNED; block, a, c) }
}

/// # Safety
/// `a` must be `N` rows of the block, and `c` `N` rows of sums.
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn pairs<const N: usize>(block: &Block<'_>, a: *const u8, c: *mut u32) {
    // SAFETY: the caller promises `N` rows, readable for a step at each offset, and the squares of each step. `vdpbf16ps`
    // reads registers only.
    unsafe {
        let mut acc = [[_mm512_setzero_ps(); 2]; N];
        let mut b = block.panel;
        for &offset in block.offsets {
            for at in (0..STEP).step_by(4) {
                let line = b.add(at * SQUARE);
                let low = as_pairs(_mm512_loadu_si512(line.cast()));
                let high =
                    if block.squares > 1 { as_pairs(_mm512_loadu_si512(line.add(SQUARE_BYTES).cast())) } else { low };
                for r in 0..N {
                    let x = a.add(r * block.row_bytes + offset + at).cast::<i32>().read_unaligned();
                    let x = as_pairs(_mm512_set1_epi32(x));
                    acc[r][0] = _mm512_dpbf16_ps(acc[r][0], x, low);
                    acc[r][1] = _mm512_dpbf16_ps(acc[r][1], x, high);
                }
            }
            b = b.add(block.squares * SQUARE_BYTES);
        }
        for r in 0..N {
            for half in 0..2 {
                _mm512_storeu_ps(c.add(r * PANEL + half * SQUARE).cast(), acc[r][half]);
            }
        }
    }
}

/// The same bits as pairs of bfloat16.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn as_pairs(x: __m512i) -> __m512bh {
    // SAFETY: both types are 64 bytes without invalid values.
    unsafe { std::mem::transmute(x) }
}

/// # Safety
/// `a` must be `N` rows of the block, and `c` `N` rows of sums.
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn bytes<const N: usize, const SIGNED: bool>(block: &Block<'_>, a: *const u8, c: *mut u32) {
    // SAFETY: the caller promises `N` rows, readable for a step at each offset, the squares of each step, and the corrections
    // if the factors are signed. There are `16 * squares` corrections.
    unsafe {
        let start = |half: usize| {
            if SIGNED {
                let half = half.min(block.squares - 1);
                _mm512_sub_epi32(
                    _mm512_setzero_si512(),
                    _mm512_loadu_si512(block.corrections.add(half * SQUARE).cast()),
                )
            } else {
                _mm512_setzero_si512()
            }
        };
        let mut acc = [[start(0), start(1)]; N];
        let mut b = block.panel;
        for &offset in block.offsets {
            for at in (0..STEP).step_by(4) {
                let line = b.add(at * SQUARE);
                let low = _mm512_loadu_si512(line.cast());
                let high = if block.squares > 1 { _mm512_loadu_si512(line.add(SQUARE_BYTES).cast()) } else { low };
                for r in 0..N {
                    let x = a.add(r * block.row_bytes + offset + at).cast::<u32>().read_unaligned();
                    let x = _mm512_set1_epi32((if SIGNED { x ^ 0x8080_8080 } else { x }) as i32);
                    acc[r][0] = _mm512_dpbusd_epi32(acc[r][0], x, low);
                    acc[r][1] = _mm512_dpbusd_epi32(acc[r][1], x, high);
                }
            }
            b = b.add(block.squares * SQUARE_BYTES);
        }
        for r in 0..N {
            for half in 0..2 {
                _mm512_storeu_si512(c.add(r * PANEL + half * SQUARE).cast(), acc[r][half]);
            }
        }
    }
}
