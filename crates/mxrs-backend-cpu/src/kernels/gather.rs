//! Operators that choose rows by the content of an input: `take`, `Embedding`, `gather_nd`, `pick`, the operators on
//! sequences, and their gradients.
//!
//! The definition of the operator ([`Moves::Rows`]) reads and checks the indices. Forward, rows are copied. Backward, the
//! indices are sorted by the row that they choose, and each row of the gradient is the sum of its terms in their order, so
//! the number of threads does not change the bits.

use super::for_element;
use crate::level::{Level, Loop};
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, MovedRows, Moves, OpCall, OpParams, RefInput, TensorDesc, elements};
use mxrs_types::{Error, Result};

/// Number of elements of a row that are added up at a time.
const COLUMNS: usize = 256;
/// A row is prefetched this many rows before it is copied.
const ROWS_AHEAD: usize = 4;

/// Plans operators that choose rows.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let Moves::Rows { rows, moved, is_backward } = call.op.moves else { return None };
    let dtype = call.outputs[0].dtype;
    let from = if is_backward { 0 } else { moved };
    if call.inputs[from].dtype != dtype {
        return Some(Err(format!("{} of {} gives {dtype}", call.op.name, call.inputs[from].dtype)));
    }
    let indices = Indices {
        rows,
        params: call.params.clone(),
        first: usize::from(is_backward),
        moved,
        descs: call.inputs.to_vec(),
        out: if is_backward { call.inputs[0].clone() } else { call.outputs[0].clone() },
    };
    Some(match is_backward {
        false => for_element!(call, dtype, T => forward::<T>(call, from, indices)),
        true => for_element!(call, dtype, T => backward::<T>(call, level, indices)),
    })
}

/// What the definition of the operator needs to find the chosen rows.
struct Indices {
    rows: mxrs_op::RowsFn,
    params: OpParams,
    /// Number of inputs before those of the forward operator, such as the gradient of its output.
    first: usize,
    /// The input whose rows are moved.
    moved: usize,
    descs: Vec<TensorDesc>,
    /// The tensor that has the chosen rows.
    out: TensorDesc,
}

impl Indices {
    /// The rows that a running call chooses.
    fn find(&self, args: &KernelArgs<'_>) -> Result<MovedRows> {
        let input = |i: usize| RefInput {
            desc: &self.descs[i],
            // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes an input while it runs.
            bytes: if i == self.moved { &[] } else { unsafe { args.inputs[i].bytes() } },
        };
        let inputs: Vec<RefInput<'_>> = (self.first..self.descs.len()).map(input).collect();
        let moved = (self.rows)(&self.params, &inputs, &self.out.shape)?;
        // The factors of an empty tensor may be large.
        let product = |n_rows: usize| moved.outer.saturating_mul(n_rows).saturating_mul(moved.len);
        let n = product(moved.rows.len());
        let is_whole = product(moved.n_rows) == self.descs[self.moved].shape.n_elements();
        let is_inside = is_whole && moved.rows.iter().flatten().all(|row| *row < moved.n_rows);
        if n != self.out.shape.n_elements() || !is_inside {
            return Err(Error::invalid("rows", n, format!("rows that give {} elements", self.out.shape.n_elements())));
        }
        Ok(moved)
    }
}

fn forward<T: Element>(call: &OpCall<'_>, from: usize, indices: Indices) -> Build {
    let dtype = call.outputs[0].dtype;
    out_of_place(call, 0, move |args| {
        let moved = indices.find(args)?;
        let mut constant = [T::ZERO];
        elements::write_f64(&[moved.constant], dtype, bytemuck::cast_slice_mut(&mut constant));
        let (data, out) = (Source::<T>::of(args, from), Sink::<T>::of(args, 0, dtype)?);
        let (n, len) = (moved.rows.len(), moved.len);
        if len == 0 || n == 0 {
            return Ok(());
        }
        let start = |row: usize| moved.rows[row % n].map(|from| (row / n * moved.n_rows + from) * len);
        in_ranges(args.team, moved.outer * n, len, &|rows| {
            let fill = |piece: std::ops::Range<usize>, mut to: &mut [T]| {
                let (mut row, mut column) = (piece.start / len, piece.start % len);
                while !to.is_empty() {
                    let (part, rest) = to.split_at_mut((len - column).min(to.len()));
                    if let Some(soon) = start(row + ROWS_AHEAD) {
                        data.prefetch::<COLUMNS>(soon);
                    }
                    match start(row) {
                        Some(from) => {
                            let at = from + column;
                            // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                            part.copy_from_slice(unsafe { data.slice(at..at + part.len()) });
                        }
                        None => part.fill(constant[0]),
                    }
                    (row, column, to) = (row + 1, 0, rest);
                }
            };
            let fill_elements = |piece: std::ops::Range<usize>, to: &mut [T]| {
                // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                let at = |row: usize| start(row).map_or(constant[0], |from| unsafe { data.at(from) });
                to.iter_mut().zip(piece).for_each(|(to, row)| *to = at(row));
            };
            let range = rows.start * len..rows.end * len;
            // SAFETY: ranges of rows are disjoint and each belongs to one thread. The input shares no memory with the
            // output.
            unsafe {
                match len {
                    1 => out.write(range, fill_elements),
                    _ => out.write(range, fill),
                }
            }
        });
        Ok(())
    })
}

/// The terms of the gradient of each row: the indices of the output rows that chose the row, sorted by the chosen row.
struct Terms {
    /// Position in `order` of the first term of each row. The last element is the number of all terms.
    first: Vec<usize>,
    order: Vec<usize>,
}

impl Terms {
    fn new(moved: &MovedRows) -> Self {
        let mut first = vec![0; moved.n_rows + 1];
        moved.rows.iter().flatten().for_each(|row| first[row + 1] += 1);
        for row in 0..moved.n_rows {
            first[row + 1] += first[row];
        }
        let mut next = first.clone();
        let mut order = vec![0; first[moved.n_rows]];
        for (k, row) in moved.rows.iter().enumerate() {
            if let Some(row) = row {
                order[next[*row]] = k;
                next[*row] += 1;
            }
        }
        Self { first, order }
    }

    fn of(&self, row: usize) -> &[usize] {
        &self.order[self.first[row]..self.first[row + 1]]
    }
}

fn backward<T: Term>(call: &OpCall<'_>, level: Level, indices: Indices) -> Build {
    let dtype = call.outputs[0].dtype;
    out_of_place(call, 0, move |args| {
        let moved = indices.find(args)?;
        let (ograd, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        let (n_rows, n, len) = (moved.n_rows, moved.rows.len(), moved.len);
        if len == 0 || n_rows == 0 {
            return Ok(());
        }
        let terms = Terms::new(&moved);
        in_ranges(args.team, moved.outer * n_rows, len, &|rows| {
            let fill = |piece: std::ops::Range<usize>, mut to: &mut [T]| {
                let (mut row, mut column) = (piece.start / len, piece.start % len);
                while !to.is_empty() {
                    let (part, rest) = to.split_at_mut((len - column).min(to.len()));
                    let part_len = part.len();
                    let of_term = |k: &usize| {
                        let at = (row / n_rows * n + k) * len + column;
                        // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                        unsafe { ograd.slice(at..at + part_len) }
                    };
                    match terms.of(row % n_rows) {
                        [] => part.fill(T::ZERO),
                        [k] => part.copy_from_slice(of_term(k)),
                        several => {
                            for (i, to) in part.chunks_mut(COLUMNS).enumerate() {
                                let mut sums = [T::NONE; COLUMNS];
                                let sums = &mut sums[..to.len()];
                                for k in several {
                                    let term = &of_term(k)[i * COLUMNS..][..sums.len()];
                                    level.run(AddLoop { sums, term });
                                }
                                to.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::rounded(*sum));
                            }
                        }
                    }
                    (row, column, to) = (row + 1, 0, rest);
                }
            };
            // SAFETY: ranges of rows are disjoint and each belongs to one thread. The input shares no memory with the
            // output.
            unsafe { out.write(rows.start * len..rows.end * len, fill) };
        });
        Ok(())
    })
}

/// An element as a term of a sum.
trait Term: Element {
    /// The type of the sum.
    type Sum: Copy;
    /// The sum of no terms.
    const NONE: Self::Sum;
    /// Adds a term.
    fn added(sum: Self::Sum, term: Self) -> Self::Sum;
    /// The sum as an element: floats are rounded, integers keep the low bits.
    fn rounded(sum: Self::Sum) -> Self;
}

macro_rules! terms {
    ($($t:ident: $sum:ident, $none:literal, |$a:ident, $x:ident| $add:expr, |$s:ident| $rounded:expr;)*) => {$(
        impl Term for $t {
            type Sum = $sum;
            const NONE: $sum = $none;
            #[inline(always)]
            fn added($a: $sum, $x: Self) -> $sum {
                $add
            }
            #[inline(always)]
            fn rounded($s: $sum) -> Self {
                $rounded
            }
        }
    )*};
}
terms! {
    u8: i64, 0, |sum, x| sum.wrapping_add(i64::from(x)), |sum| sum as u8;
    i8: i64, 0, |sum, x| sum.wrapping_add(i64::from(x)), |sum| sum as i8;
    i32: i64, 0, |sum, x| sum.wrapping_add(i64::from(x)), |sum| sum as i32;
    i64: i64, 0, |sum, x| sum.wrapping_add(x), |sum| sum;
    f32: f64, 0.0, |sum, x| sum + f64::from(x), |sum| sum as f32;
    f64: f64, 0.0, |sum, x| sum + x, |sum| sum;
    f16: f64, 0.0, |sum, x| sum + x.to_f64(), |sum| f16::from_f64(sum);
    bf16: f64, 0.0, |sum, x| sum + x.to_f64(), |sum| bf16::from_f64(sum);
}

struct AddLoop<'a, T: Term> {
    sums: &'a mut [T::Sum],
    term: &'a [T],
}

impl<T: Term> Loop for AddLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.sums.iter_mut().zip(self.term).for_each(|(sum, x)| *sum = T::added(*sum, *x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_sorted_by_row_and_keep_their_order() {
        let rows = vec![Some(2), Some(0), None, Some(2), Some(3)];
        let terms = Terms::new(&MovedRows { outer: 1, n_rows: 5, len: 1, rows, constant: 0.0 });
        let found: Vec<&[usize]> = (0..5).map(|row| terms.of(row)).collect();
        assert_eq!(found, [&[1][..], &[], &[0, 3], &[4], &[]]);
    }
}
