//! Blocks without special instructions for bfloat16 and bytes: bfloat16 values are widened to float32, bytes to int32. The
//! compiler vectorizes the loops over the 16 columns of a square.

use super::block::{Block, SQUARE, SQUARE_BYTES, STEP, Sums, TILE};
use super::unit::{Factors, Unit};

/// Computes the sums of a block.
///
/// # Safety
/// The conditions of [`super::block::Session::run`] must hold.
pub unsafe fn run(unit: Unit, factors: Factors, block: &Block<'_>, sums: &mut Sums) {
    // SAFETY: the caller promises the operands. `Unit::Vector256` proves AVX2 and FMA.
    unsafe {
        match unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Vector256 => avx2(factors, block, sums),
            _ => by_factors::<false>(factors, block, sums),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(factors: Factors, block: &Block<'_>, sums: &mut Sums) {
    // SAFETY: the contract of this function is that of `by_factors`.
    unsafe { by_factors::<true>(factors, block, sums) }
}

#[inline(always)]
unsafe fn by_factors<const FMA: bool>(factors: Factors, block: &Block<'_>, sums: &mut Sums) {
    for (tile, n_rows) in block.n_rows.into_iter().enumerate() {
        for r in 0..n_rows {
            for square in 0..block.squares {
                // SAFETY: row `r` is a row of the tile, and `square` is a square of each step, for which the caller promises
                // the operands.
                let line = unsafe {
                    let row = block.rows[tile].add(r * block.row_bytes);
                    match factors {
                        Factors::Bf16 => pairs::<FMA>(block, row, square).map(f32::to_bits),
                        Factors::Unsigned => bytes(block, row, square, i32::from).map(|x| x as u32),
                        Factors::Signed => bytes(block, row, square, |x| i32::from(x as i8)).map(|x| x as u32),
                    }
                };
                sums.0[tile * TILE + r][square * SQUARE..][..SQUARE].copy_from_slice(&line);
            }
        }
    }
}

/// The sums of one row and one square for bfloat16.
///
/// # Safety
/// `row` must be a row of the block.
#[inline(always)]
unsafe fn pairs<const FMA: bool>(block: &Block<'_>, row: *const u8, square: usize) -> [f32; SQUARE] {
    let mut acc = [0.0f32; SQUARE];
    let fma = |a: f32, b: f32, c: f32| if FMA { a.mul_add(b, c) } else { a * b + c };
    for (step, &offset) in block.offsets.iter().enumerate() {
        for at in (0..STEP).step_by(4) {
            // SAFETY: the caller promises 64 bytes of the row at each offset and the squares of each step.
            let (x, line) = unsafe {
                let line = block.panel.add((step * block.squares + square) * SQUARE_BYTES + at * SQUARE);
                (row.add(offset + at).cast::<u32>().read_unaligned(), line.cast::<[u32; SQUARE]>().read())
            };
            let (low, high) = (f32::from_bits(x << 16), f32::from_bits(x & 0xffff_0000));
            for (acc, b) in acc.iter_mut().zip(line) {
                *acc = fma(high, f32::from_bits(b & 0xffff_0000), fma(low, f32::from_bits(b << 16), *acc));
            }
        }
    }
    acc
}

/// The sums of one row and one square for bytes; `widen` converts a byte of the row.
///
/// # Safety
/// `row` must be a row of the block.
#[inline(always)]
unsafe fn bytes(block: &Block<'_>, row: *const u8, square: usize, widen: impl Fn(u8) -> i32) -> [i32; SQUARE] {
    let mut acc = [0i32; SQUARE];
    for (step, &offset) in block.offsets.iter().enumerate() {
        for at in (0..STEP).step_by(4) {
            // SAFETY: the caller promises 64 bytes of the row at each offset and the squares of each step.
            let (x, line) = unsafe {
                let line = block.panel.add((step * block.squares + square) * SQUARE_BYTES + at * SQUARE);
                (row.add(offset + at).cast::<[u8; 4]>().read(), line.cast::<[u32; SQUARE]>().read())
            };
            let [a, b, c, d] = x.map(&widen);
            for (acc, w) in acc.iter_mut().zip(line) {
                let byte = |i: u32| (w << (24 - 8 * i)) as i32 >> 24;
                *acc = acc.wrapping_add(a * byte(0) + b * byte(1) + c * byte(2) + d * byte(3));
            }
        }
    }
    acc
}
