//! Copies of pixels that are a stride apart, so that they become neighbors.

use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;

/// A row of pixels, of 16 channels each.
pub struct Gather {
    /// The first pixel.
    pub from: *const f32,
    /// Distance in values from one pixel to the next.
    pub step: usize,
    /// Number of pixels of zeros before the first pixel.
    pub before: usize,
    /// Number of pixels to copy.
    pub len: usize,
    /// Number of pixels of zeros after the last pixel.
    pub after: usize,
    /// Where all these pixels are written.
    pub to: *mut f32,
}

for_each_set! {
    /// Returns the function that copies a row. `from` must be readable for `len` pixels, and `to` must have room for all
    /// pixels, which no other thread uses.
    pub fn gather: unsafe fn(row: &Gather) = gather_of
}

/// # Safety
/// The conditions of [`gather`] must hold, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn gather_of<L: Lanes>(row: &Gather) {
    for lane in (0..BLOCK).step_by(L::N) {
        // SAFETY: the pixels are those of the row, and `lane + L::N <= BLOCK`.
        unsafe {
            let to = row.to.add(lane);
            for i in 0..row.before {
                L::splat(0.0).store(to.add(i * BLOCK));
            }
            for i in 0..row.len {
                L::load(row.from.add(i * row.step + lane)).store(to.add((row.before + i) * BLOCK));
            }
            for i in row.before + row.len..row.before + row.len + row.after {
                L::splat(0.0).store(to.add(i * BLOCK));
            }
        }
    }
}
