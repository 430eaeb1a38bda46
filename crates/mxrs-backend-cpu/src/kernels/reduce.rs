//! Reductions over axes: sums, products, means, norms, maxima and minima, and the sums that are gradients of a broadcast or
//! of a bias.
//!
//! The axes form a loop nest of kept and reduced axes. If the innermost axis is reduced, the rows of one result are
//! folded into lanes (partial results). If it is kept, rows are folded elementwise into a row of results. If there are
//! few results, each of many elements, the elements are cut into blocks whose partial results are combined at the end.
//! Blocks and lanes depend only on the shape, so the number of threads does not change the bits.

use super::rows::{
    Fold, LANES, Max, Min, Product, ProductOfNumbers, Sum, SumOfMagnitudes, SumOfNumbers, SumOfSquares, fold_ahead,
    fold_each, fold_each_of_four, fold_into, fold_rows, join_lanes,
};
use super::{for_float, for_number};
use crate::level::Level;
use crate::number::{Float, Number};
use crate::plan::{Build, Planned, row_major};
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Scratch, Sink, Source};
use crate::walk::{Axes, Axis, Cursor, broadcast, coalesce, n_steps};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::ReduceParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::reduce::norm::NormParams;
use mxrs_types::{DType, Result, Shape};
use smallvec::SmallVec;

/// Largest number of results that are folded together.
const COLUMNS: usize = 2048;
/// Number of results that are folded together if each has few elements, so that partial results are not most of the work.
const FEW_COLUMNS: usize = 256;
/// Results that have at least this many elements are folded [`COLUMNS`] at a time.
const MANY_ELEMENTS: usize = 64;
/// Number of results that are folded one after the other before they are written together.
const ROWS: usize = 64;
/// Rows of at most this many bytes are prefetched before they are needed, if they are far apart.
const SHORT_ROW: usize = 8 << 10;
/// Such a row is prefetched this many rows before it is read.
const ROWS_AHEAD: usize = 4;
/// With at least this many units of work, each of which computes some results, a team of usual size is busy. The elements
/// that one unit reduces are then not divided among threads.
const ENOUGH_UNITS: usize = 32;
/// A block has at least this many elements.
const BLOCK_ELEMENTS: usize = 1 << 15;

/// Plans a reduction.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let (data, dtype) = (&call.inputs[0].shape, call.inputs[0].dtype);
    let small = match call.op.name {
        "sum" | "mean" | "max" | "min" | "prod" | "nansum" | "nanprod" => match kept_shape(call, data) {
            Ok(kept) => kept,
            Err(reason) => return Some(Err(reason)),
        },
        "norm" => match kept_by_norm(call, data) {
            Ok(kept) => kept,
            Err(reason) => return Some(Err(reason)),
        },
        "_backward_broadcast_sum_like" => call.outputs[0].shape.clone(),
        "_backward_Convolution_bias" | "_backward_FullyConnected_bias" => bias_shape(call, data),
        _ => return None,
    };
    let nest = Nest::new(data, &small);
    Some(match call.op.name {
        "max" => for_number!(call, dtype, T => reduce::<T, Max>(call, level, nest, |max, _| max)),
        "min" => for_number!(call, dtype, T => reduce::<T, Min>(call, level, nest, |min, _| min)),
        "prod" => for_number!(call, dtype, T => reduce::<T, Product>(call, level, nest, narrow::<T>)),
        "nansum" => for_number!(call, dtype, T => reduce::<T, SumOfNumbers>(call, level, nest, narrow::<T>)),
        "nanprod" => for_number!(call, dtype, T => reduce::<T, ProductOfNumbers>(call, level, nest, narrow::<T>)),
        "norm" if call.params.get::<NormParams>().ord == 1 => {
            for_float!(call, dtype, T => reduce::<T, SumOfMagnitudes>(call, level, nest, narrow::<T>))
        }
        "norm" => for_float!(call, dtype, T => reduce::<T, SumOfSquares>(call, level, nest, root::<T>)),
        "mean" => for_float!(call, dtype, T => reduce::<T, Sum>(call, level, nest, mean::<T>)),
        _ => for_number!(call, dtype, T => reduce::<T, Sum>(call, level, nest, |sum, _| T::narrow(sum))),
    })
}

/// Plans the sums of the first input, seen as a tensor of the shape `data`, over the axes that have size 1 in `small`.
pub fn sum_of(call: &OpCall<'_>, level: Level, data: &Shape, small: &Shape) -> Planned {
    let nest = Nest::new(data, small);
    for_number!(call, call.inputs[0].dtype, T => reduce::<T, Sum>(call, level, nest, |sum, _| T::narrow(sum)))
}

/// The shape of data in which every reduced axis has size 1.
pub fn kept_shape(call: &OpCall<'_>, data: &Shape) -> std::result::Result<Shape, String> {
    let reduced = call.params.get::<ReduceParams>().reduced(data.ndim()).map_err(|error| error.to_string())?;
    Ok(data.iter().zip(reduced).map(|(size, is_reduced)| if is_reduced { 1 } else { *size }).collect())
}

/// The shape of a product's result in which every axis except the bias's axis has size 1. The bias's axis is that of the
/// channels: the second one for a convolution with channels before space, otherwise the last.
pub fn bias_shape(call: &OpCall<'_>, shape: &Shape) -> Shape {
    let is_second = call.op.name.contains("Convolution") && !call.params.get::<ConvolutionParams>().is_channels_last();
    let bias_axis = if is_second { 1 } else { shape.ndim().saturating_sub(1) };
    shape.iter().enumerate().map(|(axis, size)| if axis == bias_axis { *size } else { 1 }).collect()
}

/// The shape of data in which every axis that `norm` reduces has size 1.
fn kept_by_norm(call: &OpCall<'_>, data: &Shape) -> std::result::Result<Shape, String> {
    let (from, to) = (call.inputs[0].dtype, call.outputs[0].dtype);
    if from != to {
        return Err(format!("norm of {from} that gives {to}"));
    }
    let reduced = call.params.get::<NormParams>().reduced(data.ndim()).map_err(|error| error.to_string())?;
    Ok(data.iter().zip(reduced).map(|(size, is_reduced)| if is_reduced { 1 } else { *size }).collect())
}

fn narrow<T: Number>(sum: T::Wide, _: usize) -> T {
    T::narrow(sum)
}

fn root<T: Float>(sum: f64, _: usize) -> T {
    T::from_f64(sum.sqrt())
}

fn mean<T: Float>(sum: f64, count: usize) -> T {
    T::from_f64(sum / count as f64)
}

/// The loop nest of a reduction: loops over the results, and loops over the elements that are folded into one result.
struct Nest {
    /// Axes of the results except the innermost axis, with their strides in the input.
    kept: Axes<1>,
    /// Number of neighboring results whose elements are also neighbors; 1 if the innermost axis is reduced.
    width: usize,
    /// Reduced axes except the innermost axis, with their strides in the input.
    reduced: Axes<1>,
    /// Number of neighboring elements that are folded into one result; 1 if the innermost axis is kept.
    row: usize,
    /// Number of neighboring results that are folded together.
    columns: usize,
    n_blocks: usize,
}

impl Nest {
    fn new(data: &Shape, small: &Shape) -> Self {
        let axes = coalesce(broadcast([data, small], data));
        let is_reduced = |axis: &Axis<2>| axis.strides[1] == 0;
        let (mut width, mut row) = (1, 1);
        let mut outer = &axes[..];
        if let Some((inner, rest)) = axes.split_last() {
            *(if is_reduced(inner) { &mut row } else { &mut width }) = inner.size;
            outer = rest;
        }
        let of = |wanted: bool| -> Axes<1> {
            let chosen = outer.iter().filter(|axis| is_reduced(axis) == wanted);
            chosen.map(|axis| Axis { size: axis.size, strides: [axis.strides[0]] }).collect()
        };
        let mut nest = Self { kept: of(false), width, reduced: of(true), row, columns: FEW_COLUMNS, n_blocks: 1 };
        if nest.count() >= MANY_ELEMENTS {
            nest.columns = COLUMNS;
        }
        let most = nest.count() * width * n_steps(&nest.kept) / BLOCK_ELEMENTS;
        nest.n_blocks = ENOUGH_UNITS.div_ceil(nest.n_groups().max(1)).min(most).max(1);
        nest
    }

    /// Number of elements that are folded into each result.
    fn count(&self) -> usize {
        n_steps(&self.reduced) * self.row
    }

    /// Number of groups of results. One pass over the elements computes all results of a group, side by side.
    fn n_groups(&self) -> usize {
        n_steps(&self.kept) * self.width.div_ceil(self.columns)
    }

    /// Returns the first result of a group, its number of results, and the offset of its first element.
    fn group(&self, group: usize) -> (usize, usize, usize) {
        let n_pieces = self.width.div_ceil(self.columns);
        let (outer, first) = (group / n_pieces, group % n_pieces * self.columns);
        let offset = Cursor::new(&self.kept, outer).offsets[0] + first;
        (outer * self.width + first, (self.width - first).min(self.columns), offset)
    }

    /// Folds one block of the elements of a group into `parts`, which has one partial result per result of the group.
    fn fold_block<T: Number, F: Fold<T>>(
        &self,
        level: Level,
        data: &Source<'_, T>,
        (group, block): (usize, usize),
        parts: &mut [F::Part],
    ) {
        let (_, n_results, offset) = self.group(group);
        // If the innermost axis is reduced, each block begins at a multiple of the number of lanes.
        let per_block = self.count().div_ceil(self.n_blocks).next_multiple_of(if self.row > 1 { LANES } else { 1 });
        let end = self.count().min((block + 1) * per_block);
        let mut at = block * per_block;
        if at >= end {
            return;
        }
        let mut rows = Cursor::new(&self.reduced, at / self.row);
        let mut soon = Cursor::new(&self.reduced, at / self.row);
        (0..ROWS_AHEAD - 1).for_each(|_| soon.advance());
        let len_row = if self.row > 1 { self.row } else { n_results };
        let is_far = len_row * size_of::<T>() <= SHORT_ROW && !self.reduced.is_empty();
        let mut lanes = [F::EMPTY; LANES];
        let mut waiting: SmallVec<[&[T]; 4]> = SmallVec::new();
        while at < end {
            let column = at % self.row;
            let start = offset + rows.offsets[0] + column;
            let len = (self.row - column).min(end - at);
            // SAFETY: if the input is the output's memory, it also has the output's shape. Then each result is folded
            // from the element at the same index, which is written only after its group is folded.
            let elements = unsafe { data.slice(start..start + if self.row > 1 { len } else { n_results }) };
            if is_far {
                soon.advance();
                let next = offset + soon.offsets[0];
                // SAFETY: no other thread writes these elements before this group is folded; they are only prefetched here,
                // not read.
                prefetch(unsafe { data.slice(next..next + len_row) });
            }
            if self.row == 1 {
                waiting.push(elements);
                if let [a, b, c, d] = waiting[..] {
                    fold_each_of_four::<T, F>(level, parts, [a, b, c, d]);
                    waiting.clear();
                }
            } else if is_far {
                fold_into::<T, F>(level, &mut lanes, elements);
            } else {
                fold_ahead::<T, F>(level, &mut lanes, elements);
            }
            at += len;
            rows.advance();
        }
        waiting.iter().for_each(|elements| fold_each::<T, F>(level, parts, elements));
        if self.row > 1 {
            parts[0] = F::join(parts[0], join_lanes::<T, F>(lanes));
        }
    }
}

fn reduce<T: Number + 'static, F: Fold<T>>(
    call: &OpCall<'_>,
    level: Level,
    nest: Nest,
    finish: fn(F::Part, usize) -> T,
) -> Build {
    let dtype = call.outputs[0].dtype;
    let n_parts = if nest.n_blocks > 1 { nest.n_groups() * nest.n_blocks * nest.width.min(nest.columns) } else { 0 };
    row_major(call, n_parts * size_of::<F::Part>(), move |args| run::<T, F>(args, level, &nest, finish, dtype))
}

fn run<T: Number, F: Fold<T>>(
    args: &KernelArgs<'_>,
    level: Level,
    nest: &Nest,
    finish: fn(F::Part, usize) -> T,
    dtype: DType,
) -> Result<()> {
    let (data, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
    // Writes the results of a group and of those after it, one for each partial result.
    let write = |group: usize, parts: &[F::Part]| {
        let (first, ..) = nest.group(group);
        let results = first..first + parts.len();
        // SAFETY: groups have disjoint results, and `in_ranges`, or this thread alone after it, calls `write` once per
        // group.
        unsafe {
            out.write(results, |piece, to| {
                let parts = &parts[piece.start - first..];
                to.iter_mut().zip(parts).for_each(|(to, part)| *to = finish(*part, nest.count()));
            });
        }
    };
    let (n_groups, n_blocks) = (nest.n_groups(), nest.n_blocks);
    if n_blocks == 1 && nest.row > 1 && nest.reduced.is_empty() {
        // Each result is one row, and the rows follow each other.
        in_ranges(args.team, n_groups, nest.row, &|groups| {
            let mut parts = [F::EMPTY; ROWS];
            for first in groups.clone().step_by(ROWS) {
                let parts = &mut parts[..(groups.end - first).min(ROWS)];
                let elements = first * nest.row..(first + parts.len()) * nest.row;
                // SAFETY: an input in the output's memory has the output's shape. Then each result is folded from the
                // element at the same index before that element is written.
                fold_rows::<T, F>(level, unsafe { data.slice(elements) }, nest.row, parts);
                write(first, parts);
            }
        });
        return Ok(());
    }
    let cost = nest.count() * nest.width.min(nest.columns) / n_blocks;
    if n_blocks == 1 {
        in_ranges(args.team, n_groups, cost.max(1), &|groups| {
            for group in groups {
                let mut parts = [F::EMPTY; COLUMNS];
                let parts = &mut parts[..nest.width.min(nest.columns)];
                nest.fold_block::<T, F>(level, &data, (group, 0), parts);
                write(group, &parts[..nest.group(group).1]);
            }
        });
        return Ok(());
    }
    let width = nest.width.min(nest.columns);
    let all_parts = Scratch::<F::Part>::of(args, 0, n_groups * n_blocks * width);
    in_ranges(args.team, n_groups * n_blocks, cost, &|units| {
        for unit in units {
            // SAFETY: a unit is one block of one group, so `unit < n_groups * n_blocks`. Each unit has its own `width`
            // partial results, and `in_ranges` gives each unit to one thread.
            let parts = unsafe { all_parts.slice(unit * width..(unit + 1) * width) };
            parts.fill(F::EMPTY);
            nest.fold_block::<T, F>(level, &data, (unit / n_blocks, unit % n_blocks), parts);
        }
    });
    for group in 0..n_groups {
        // SAFETY: all threads of the team have finished, so only this thread uses the partial results; `group < n_groups`.
        let parts = unsafe { all_parts.slice(group * n_blocks * width..(group + 1) * n_blocks * width) };
        let (sum, rest) = parts.split_at_mut(width);
        for parts in rest.chunks_exact(width) {
            sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum = F::join(*sum, *part));
        }
        write(group, &sum[..nest.group(group).1]);
    }
    Ok(())
}
