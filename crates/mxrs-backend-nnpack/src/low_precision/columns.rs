//! Writes columns of bfloat16 weights into a panel ([`super::block`]).

use super::block::{PANEL, SQUARE, STEP};

/// How many bfloat16 values a step of the product consumes. A step has [`STEP`] bytes.
pub const STEP_NUMBERS: usize = STEP / 2;
/// An offset that stands for the value 0, which is not read from the weights.
pub const ZERO: usize = usize::MAX;

/// Writes a panel. Value `i` of column `j` is `from[offsets[i] + j * apart]`; it is 0 if the offset is [`ZERO`]. The number
/// of offsets must be a multiple of [`STEP_NUMBERS`]. Columns from `columns` on are zeros.
pub fn fill_panel(from: &[u16], offsets: &[usize], apart: usize, columns: usize, to: &mut [u16]) {
    let squares = columns.div_ceil(SQUARE).min(PANEL / SQUARE);
    let lines = to.chunks_exact_mut(STEP_NUMBERS);
    for (i, line) in lines.enumerate() {
        // A line holds a pair of values of each column of a square.
        let (square, pair) = (i / SQUARE % squares, i / SQUARE / squares * SQUARE + i % SQUARE);
        let first = square * SQUARE;
        let n = (columns - first).min(SQUARE);
        let pair = &offsets[2 * pair..][..2];
        match (pair[0] != ZERO && pair[1] != ZERO && n == SQUARE, apart) {
            (true, 1) => {
                let [a, b] = [pair[0], pair[1]].map(|at| &from[at + first..][..SQUARE]);
                line.chunks_exact_mut(2).zip(a.iter().zip(b)).for_each(|(to, (a, b))| {
                    to[0] = *a;
                    to[1] = *b;
                });
            }
            (true, _) => {
                let [a, b] = [pair[0], pair[1]].map(|at| from[at + first * apart..].iter().step_by(apart));
                line.chunks_exact_mut(2).zip(a.zip(b)).for_each(|(to, (a, b))| {
                    to[0] = *a;
                    to[1] = *b;
                });
            }
            (false, _) => {
                line.fill(0);
                for (half, at) in pair.iter().enumerate().filter(|(_, at)| **at != ZERO) {
                    let column = from[at + first * apart..].iter().step_by(apart);
                    line.chunks_exact_mut(2).take(n).zip(column).for_each(|(to, x)| to[half] = *x);
                }
            }
        }
    }
}
