//! Adds the product of two packed operands to 32 x 32 sums, on the matrix units.

use crate::low_precision::block::{PANEL, STEP, TILE};
use crate::low_precision::matrix::Tiles;
use std::arch::asm;

/// Positions that one step multiplies.
pub const POSITIONS: usize = 32;
/// Bytes of a pair of positions of a panel of the right operand: two numbers for each of 32 columns.
pub const PAIR_BYTES: usize = 4 * PANEL;
/// Sums of a block.
pub const BLOCK: usize = PANEL * PANEL;

/// The operands of one block: `sums[row][column]` grows by the sum over positions of `left[row] * right[column]`.
pub struct Operands {
    /// 32 rows of bfloat16; the positions of a row are neighbors.
    pub left: *const u8,
    /// Distance in bytes between the rows of the left operand.
    pub row_bytes: usize,
    /// For each pair of positions, the two numbers of each of 32 columns.
    pub right: *const u8,
    /// Number of steps of 32 positions.
    pub steps: usize,
}

/// Adds a product to sums. First sets up the registers for whole tiles of 16 rows.
///
/// # Safety
/// The left operand must be readable for 32 rows of `64 * steps` bytes, and the right operand for `16 * steps` pairs. `sums`
/// must have 1024 values that no other thread uses.
pub unsafe fn add(tiles: &mut Tiles, operands: &Operands, sums: *mut f32) {
    tiles.shape([TILE, TILE]);
    // SAFETY: the registers have 16 rows of 64 bytes. The loads read 16 rows of the left operand and 16 pairs of the right one
    // for each step; loads and stores of `sums` are the 32 rows of 128 bytes. The caller promises them.
    unsafe {
        asm!(
            "tileloadd tmm0, [{c} + {line}]",
            "tileloadd tmm1, [{c} + {line} + 64]",
            "tileloadd tmm2, [{c} + {line} + {half}]",
            "tileloadd tmm3, [{c} + {line} + {half} + 64]",
            "test {n}, {n}", "jz 3f",
            "2:",
            "tileloadd tmm6, [{b} + {line}]",
            "tileloadd tmm4, [{a0} + {stride}]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{b} + {line} + 64]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{a1} + {stride}]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {a0}, {step}",
            "add {a1}, {step}",
            "add {b}, {pairs}",
            "dec {n}",
            "jnz 2b",
            "3:",
            "tilestored [{c} + {line}], tmm0",
            "tilestored [{c} + {line} + 64], tmm1",
            "tilestored [{c} + {line} + {half}], tmm2",
            "tilestored [{c} + {line} + {half} + 64], tmm3",
            a0 = inout(reg) operands.left => _,
            a1 = inout(reg) operands.left.wrapping_add(TILE * operands.row_bytes) => _,
            stride = in(reg) operands.row_bytes,
            n = inout(reg) operands.steps => _,
            b = inout(reg) operands.right => _,
            step = const STEP,
            pairs = const POSITIONS / 2 * PAIR_BYTES,
            half = const TILE * PANEL * 4,
            line = in(reg) PAIR_BYTES,
            c = in(reg) sums,
            options(nostack),
        );
    }
}
