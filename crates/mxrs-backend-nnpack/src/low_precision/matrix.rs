//! Blocks on the matrix units (AMX).
//!
//! Registers 0 to 3 hold the sums of two tiles of rows by two squares of columns, 4 and 5 the rows, 6 and 7 the weights. So
//! each load serves two products. The standard library has no stable functions for these instructions, so they are written in
//! assembly, a whole loop over the steps at a time. The compiler itself never uses the registers.

use super::block::{Block, Sums, TILE};
use super::unit::Factors;
use mxrs_processor::MatrixUnits;
use std::arch::asm;

/// Distance in bytes at which weights are fetched from memory before they are multiplied.
const AHEAD: usize = 12 << 10;

/// The shape of the registers, in the form that the instruction `ldtilecfg` reads.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    /// Bytes of a row of each register.
    row_bytes: [u16; 16],
    /// Rows of each register.
    rows: [u8; 16],
}

/// The matrix registers of this thread, set up for the tiles of the last block.
pub struct Tiles {
    rows: [usize; 2],
    units: MatrixUnits,
}

impl Tiles {
    /// Begins to use the registers. They are set up when the first block runs.
    pub fn new(units: MatrixUnits) -> Self {
        Self { rows: [0, 0], units }
    }

    /// Sets up the registers for tiles of these numbers of rows.
    pub(super) fn shape(&mut self, n_rows: [usize; 2]) {
        // A register without rows would be unusable, so an unused one keeps its number of rows.
        let second = if n_rows[1] == 0 { self.rows[1].max(1) } else { n_rows[1] };
        let rows = [n_rows[0].clamp(1, TILE), second.min(TILE)];
        if rows == self.rows {
            return;
        }
        self.rows = rows;
        let mut shapes = Shapes { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        let of = [rows[0], rows[0], rows[1], rows[1], rows[0], rows[1], TILE, TILE];
        for (register, rows) in of.into_iter().enumerate() {
            shapes.row_bytes[register] = 64;
            shapes.rows[register] = rows as u8;
        }
        let _: MatrixUnits = self.units;
        // SAFETY: `MatrixUnits` proves that the process may use the instruction. It reads the 64 bytes of `shapes`.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly, preserves_flags)) }
    }

    /// Computes the sums of a block.
    ///
    /// # Safety
    /// The conditions of [`super::block::Session::run`] must hold.
    pub unsafe fn run(&mut self, factors: Factors, block: &Block<'_>, sums: &mut Sums) {
        self.shape(block.n_rows);
        let two_tiles = block.n_rows[1] > 0;
        // SAFETY: the caller promises the operands; the registers have the shape of the block.
        unsafe {
            match (factors, two_tiles, block.squares > 1) {
                (Factors::Bf16, true, true) => bf16::two_by_two(block, sums),
                (Factors::Bf16, true, false) => bf16::two_by_one(block, sums),
                (Factors::Bf16, false, true) => bf16::one_by_two(block, sums),
                (Factors::Bf16, false, false) => bf16::one_by_one(block, sums),
                (Factors::Unsigned, true, true) => unsigned::two_by_two(block, sums),
                (Factors::Unsigned, true, false) => unsigned::two_by_one(block, sums),
                (Factors::Unsigned, false, true) => unsigned::one_by_two(block, sums),
                (Factors::Unsigned, false, false) => unsigned::one_by_one(block, sums),
                (Factors::Signed, true, true) => signed::two_by_two(block, sums),
                (Factors::Signed, true, false) => signed::two_by_one(block, sums),
                (Factors::Signed, false, true) => signed::one_by_two(block, sums),
                (Factors::Signed, false, false) => signed::one_by_one(block, sums),
            }
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: `MatrixUnits` proves that the process may use the instruction, which takes no operands.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) }
    }
}

/// Defines the loops over the steps, with the product instruction `$product`.
macro_rules! loops {
    ($module:ident, $product:literal) => {
        mod $module {
            use super::{Block, Sums, asm};
            use crate::low_precision::block::{PANEL, SQUARE_BYTES, TILE};

            /// # Safety
            /// The conditions of [`super::Tiles::run`] must hold, and the registers must have the shape of the block.
            pub unsafe fn two_by_two(block: &Block<'_>, sums: &mut Sums) {
                // SAFETY: the loads read 64 bytes of each row at each offset and the squares of each step; the stores write
                // the 32 rows of `sums`. The caller promises that these reads are valid.
                unsafe {
                    asm!(
                        "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                        "test {n}, {n}", "jz 3f",
                        "2:",
                        "mov {offset}, qword ptr [{offsets}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "lea {at}, [{a0} + {offset}]",
                        "tileloadd tmm4, [{at} + {stride}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        "lea {at}, [{a1} + {offset}]",
                        "tileloadd tmm5, [{at} + {stride}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        concat!($product, " tmm3, tmm5, tmm7"),
                        ".set line, 0", ".rept 32", "prefetcht0 [{b} + {ahead} + line]", ".set line, line + 64", ".endr",
                        "add {offsets}, 8",
                        "add {b}, {step}",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "tilestored [{c} + {row}], tmm0",
                        "tilestored [{c} + {row} + 64], tmm1",
                        "tilestored [{c} + {row} + {half}], tmm2",
                        "tilestored [{c} + {row} + {half} + 64], tmm3",
                        a0 = in(reg) block.rows[0],
                        a1 = in(reg) block.rows[1],
                        stride = in(reg) block.row_bytes,
                        offsets = inout(reg) block.offsets.as_ptr() => _,
                        n = inout(reg) block.offsets.len() => _,
                        b = inout(reg) block.panel => _,
                        ahead = const super::AHEAD,
                        step = const 2 * SQUARE_BYTES,
                        half = const TILE * PANEL * 4,
                        line = in(reg) 64usize,
                        row = in(reg) PANEL * 4,
                        c = in(reg) sums as *mut Sums,
                        offset = out(reg) _,
                        at = out(reg) _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As for [`two_by_two`].
            pub unsafe fn two_by_one(block: &Block<'_>, sums: &mut Sums) {
                // SAFETY: as in `two_by_two`, with one square per step and the first 16 columns of `sums`.
                unsafe {
                    asm!(
                        "tilezero tmm0", "tilezero tmm2",
                        "test {n}, {n}", "jz 3f",
                        "2:",
                        "mov {offset}, qword ptr [{offsets}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "lea {at}, [{a0} + {offset}]",
                        "tileloadd tmm4, [{at} + {stride}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "lea {at}, [{a1} + {offset}]",
                        "tileloadd tmm5, [{at} + {stride}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        ".set line, 0", ".rept 16", "prefetcht0 [{b} + {ahead} + line]", ".set line, line + 64", ".endr",
                        "add {offsets}, 8",
                        "add {b}, {step}",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "tilestored [{c} + {row}], tmm0",
                        "tilestored [{c} + {row} + {half}], tmm2",
                        a0 = in(reg) block.rows[0],
                        a1 = in(reg) block.rows[1],
                        stride = in(reg) block.row_bytes,
                        offsets = inout(reg) block.offsets.as_ptr() => _,
                        n = inout(reg) block.offsets.len() => _,
                        b = inout(reg) block.panel => _,
                        ahead = const super::AHEAD,
                        step = const SQUARE_BYTES,
                        half = const TILE * PANEL * 4,
                        line = in(reg) 64usize,
                        row = in(reg) PANEL * 4,
                        c = in(reg) sums as *mut Sums,
                        offset = out(reg) _,
                        at = out(reg) _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As for [`two_by_two`].
            pub unsafe fn one_by_two(block: &Block<'_>, sums: &mut Sums) {
                // SAFETY: as in `two_by_two`, with one tile and the first 16 rows of `sums`.
                unsafe {
                    asm!(
                        "tilezero tmm0", "tilezero tmm1",
                        "test {n}, {n}", "jz 3f",
                        "2:",
                        "mov {offset}, qword ptr [{offsets}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "lea {at}, [{a0} + {offset}]",
                        "tileloadd tmm4, [{at} + {stride}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        ".set line, 0", ".rept 32", "prefetcht0 [{b} + {ahead} + line]", ".set line, line + 64", ".endr",
                        "add {offsets}, 8",
                        "add {b}, {step}",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "tilestored [{c} + {row}], tmm0",
                        "tilestored [{c} + {row} + 64], tmm1",
                        a0 = in(reg) block.rows[0],
                        stride = in(reg) block.row_bytes,
                        offsets = inout(reg) block.offsets.as_ptr() => _,
                        n = inout(reg) block.offsets.len() => _,
                        b = inout(reg) block.panel => _,
                        ahead = const super::AHEAD,
                        step = const 2 * SQUARE_BYTES,
                        line = in(reg) 64usize,
                        row = in(reg) PANEL * 4,
                        c = in(reg) sums as *mut Sums,
                        offset = out(reg) _,
                        at = out(reg) _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As for [`two_by_two`].
            pub unsafe fn one_by_one(block: &Block<'_>, sums: &mut Sums) {
                // SAFETY: as in `two_by_two`, with one tile and one square per step.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "test {n}, {n}", "jz 3f",
                        "2:",
                        "mov {offset}, qword ptr [{offsets}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        "lea {at}, [{a0} + {offset}]",
                        "tileloadd tmm4, [{at} + {stride}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        ".set line, 0", ".rept 16", "prefetcht0 [{b} + {ahead} + line]", ".set line, line + 64", ".endr",
                        "add {offsets}, 8",
                        "add {b}, {step}",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "tilestored [{c} + {row}], tmm0",
                        a0 = in(reg) block.rows[0],
                        stride = in(reg) block.row_bytes,
                        offsets = inout(reg) block.offsets.as_ptr() => _,
                        n = inout(reg) block.offsets.len() => _,
                        b = inout(reg) block.panel => _,
                        ahead = const super::AHEAD,
                        step = const SQUARE_BYTES,
                        line = in(reg) 64usize,
                        row = in(reg) PANEL * 4,
                        c = in(reg) sums as *mut Sums,
                        offset = out(reg) _,
                        at = out(reg) _,
                        options(nostack),
                    );
                }
            }
        }
    };
}

loops!(bf16, "tdpbf16ps");
loops!(unsigned, "tdpbusd");
loops!(signed, "tdpbssd");
