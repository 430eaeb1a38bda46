//! The product of a few rows with one panel of packed weights, on any processor.
//!
//! A *step* is 64 bytes of a row: 32 bfloat16 or 64 bytes. A *panel* is 32 columns, or 16 in the last panel if 16 suffice.
//! For each step it holds one or two *squares* of 1024 bytes, one per 16 columns. A square has 16 lines of 64 bytes; line
//! `i` holds, for each of the 16 columns, the weights of bytes `4 i` to `4 i + 3` of the step. Matrix units and the vector
//! instructions for pairs and for groups of four read this form.

use super::portable;
use super::unit::{Factors, Unit};
#[cfg(target_arch = "x86_64")]
use super::{matrix, vector};

/// Bytes of a row that one step multiplies.
pub const STEP: usize = 64;
/// Columns of a square.
pub const SQUARE: usize = 16;
/// Bytes of a square.
pub const SQUARE_BYTES: usize = STEP * SQUARE;
/// Columns of a whole panel.
pub const PANEL: usize = 2 * SQUARE;
/// Largest number of rows of a tile.
pub const TILE: usize = 16;
/// Rows of the sums of a block: two tiles.
pub const ROWS: usize = 2 * TILE;

/// The sums of a block: float32 for bfloat16, else int32. Row `r` of tile `t` is row `16 t + r`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Sums(pub [[u32; PANEL]; ROWS]);

/// The operands of one block: up to two tiles of rows, times one panel.
pub struct Block<'a> {
    /// The first row of each tile.
    pub rows: [*const u8; 2],
    /// Number of rows of each tile, at most [`TILE`]. The first tile has at least one row, the second may have none.
    pub n_rows: [usize; 2],
    /// Distance in bytes from one row of a tile to the next.
    pub row_bytes: usize,
    /// For each step, the distance in bytes of its part of a row from the start of the row.
    pub offsets: &'a [usize],
    /// The panel.
    pub panel: *const u8,
    /// Squares of the panel per step: 1 or 2.
    pub squares: usize,
    /// For each column of the panel, the sum of its weights times 128. Read only for signed data on processors that
    /// multiply unsigned bytes: there, 128 is added to the data, and this product is subtracted from the sum.
    pub corrections: *const i32,
}

/// A thread's use of the instructions for products. Matrix units are released when it is dropped.
pub enum Session {
    /// Matrix units.
    #[cfg(target_arch = "x86_64")]
    Matrix(matrix::Tiles),
    /// Other instructions.
    Other(Unit),
}

impl Session {
    /// Starts to use these instructions on this thread.
    pub fn new(unit: Unit) -> Self {
        match unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Matrix(units) => Self::Matrix(matrix::Tiles::new(units)),
            other => Self::Other(other),
        }
    }

    /// Computes the sums of a block.
    ///
    /// # Safety
    /// Each row of each tile must be readable for 64 bytes at each offset. The panel must hold `offsets.len()` steps of
    /// `squares` squares. `corrections` must hold the columns of the panel if the factors are signed.
    #[inline]
    pub unsafe fn run(&mut self, factors: Factors, block: &Block<'_>, sums: &mut Sums) {
        // SAFETY: the caller promises the operands. A `Unit` proves that the processor has its instructions.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Matrix(tiles) => tiles.run(factors, block, sums),
                #[cfg(target_arch = "x86_64")]
                Self::Other(Unit::Vector512) => vector::run(factors, block, sums),
                Self::Other(unit) => portable::run(*unit, factors, block, sums),
            }
        }
    }
}
