//! Writes finished sums to the row-major weights.

use super::multiply::BLOCK;
use crate::low_precision::block::PANEL;
use crate::low_precision::number::Number;
use std::ops::Range;

/// To which weights the sums belong.
#[derive(Clone, Copy)]
pub struct Place {
    /// Number of output channels, and number of input channels or, if the data are planes, of values of a filter.
    pub sizes: [usize; 2],
    /// Taps of the window.
    pub taps: usize,
    /// Whether the rows of sums are input channels, not output channels.
    pub swapped: bool,
}

/// Writes the sums of a panel of rows by panels of columns: for each panel of columns and each tap, a block of sums.
///
/// # Safety
/// `sums` must have the blocks of these columns, and `to` the weights. No other thread may use these weights.
pub unsafe fn write<T: Number>(place: &Place, sums: *const f32, row: usize, columns: Range<usize>, to: *mut u8) {
    let (to, taps) = (to.cast::<T>(), place.taps);
    let [n_rows, n_columns] = if place.swapped { [place.sizes[1], place.sizes[0]] } else { place.sizes };
    let rows = (n_rows - row * PANEL).min(PANEL);
    for (i, column) in columns.enumerate() {
        let (first, n) = (column * PANEL, (n_columns - column * PANEL).min(PANEL));
        // SAFETY: the caller promises the blocks of this panel of columns.
        let sums = unsafe { sums.add(i * taps * BLOCK) };
        // Weights are written in their order: by output channel, then by input channel.
        let [outer, inner] = if place.swapped { [n, rows] } else { [rows, n] };
        for a in 0..outer {
            for b in 0..inner {
                let (k, c, at) = match place.swapped {
                    true => (first + a, row * PANEL + b, b * PANEL + a),
                    false => (row * PANEL + a, first + b, a * PANEL + b),
                };
                let start = (k * place.sizes[1] + c) * taps;
                for tap in 0..taps {
                    // SAFETY: `k` and `c` are channels, so the weight exists, and `at` is a sum of the block.
                    unsafe { *to.add(start + tap) = T::of(*sums.add(tap * BLOCK + at)) }
                }
            }
        }
    }
}
