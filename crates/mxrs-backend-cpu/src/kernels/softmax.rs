//! Softmax over an axis, its logarithm, the gradients of both, and the forward pass of `SoftmaxOutput`. With `LOG` a
//! function computes the logarithm.
//!
//! This file has the gradients, and the rows that `softmax_rows.rs` does not take: interleaved ones, because the axis is not
//! the last, and very long ones. Their data is read three times: for the largest element, for the sum of
//! `e^((x - largest) / t)`, and for the results. Sums are in `f64`.

use super::rows::{Fold, LANES, Lanes, Max, Sum, add_pairs_to_lanes, add_to_lanes, fold, fold_each, join_lanes};
use super::softmax_rows;
use super::{around, for_float};
use crate::level::{Level, Loop};
use crate::number::{Float, Number};
use crate::plan::{Planned, row_major};
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::softmax::SoftmaxParams;
use mxrs_types::{DType, Result};

/// At most this many interleaved rows are computed together. With fewer of them, an axis before large ones would touch a
/// new page of memory for every few elements.
const COLUMNS: usize = 1024;

/// Rows of `size` elements, of which `inner` rows are interleaved.
#[derive(Clone, Copy)]
pub struct Rows {
    pub outer: usize,
    pub size: usize,
    pub inner: usize,
}

impl Rows {
    /// Runs `body(outer, first, width)` for pieces of interleaved rows that cover all rows.
    pub fn in_pieces(self, args: &KernelArgs<'_>, body: &(dyn Fn(usize, usize, usize) + Sync)) {
        let n_pieces = self.inner.div_ceil(COLUMNS);
        // A row costs about as much as four passes over its elements.
        let cost = 4 * self.size * self.inner.min(COLUMNS);
        in_ranges(args.team, self.outer * n_pieces, cost, &|pieces| {
            for piece in pieces {
                let first = piece % n_pieces * COLUMNS;
                body(piece / n_pieces, first, (self.inner - first).min(COLUMNS));
            }
        });
    }
}

/// Plans `softmax` and `log_softmax`, their gradients, and `SoftmaxOutput`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let (shape, dtype) = (&call.inputs[0].shape, call.outputs[0].dtype);
    let rows = match call.op.name {
        "SoftmaxOutput" => Ok((super::softmax_loss::rows(call), 1.0)),
        "softmax" | "_backward_softmax" | "log_softmax" | "_backward_log_softmax" => axis_rows(call),
        _ => return None,
    };
    let is_log = call.op.name.ends_with("log_softmax");
    Some(rows.and_then(|(rows, temperature)| {
        if call.inputs.iter().chain(call.outputs).any(|desc| desc.dtype != dtype) {
            return Err(format!("no kernel for {} from one dtype to another", call.op.name));
        }
        debug_assert_eq!(shape.n_elements(), rows.outer * rows.size * rows.inner);
        if call.op.name.starts_with("_backward") {
            return for_float!(call, dtype, T => row_major(call, 0, move |args| {
                let run = if is_log { backward::<T, true> } else { backward::<T, false> };
                run(args, level, rows, T::from_f64(1.0 / temperature), dtype)
            }));
        }
        for_float!(call, dtype, T => row_major(call, 0, move |args| {
            let run = if is_log { forward::<T, true> } else { forward::<T, false> };
            run(args, level, rows, T::from_f64(1.0 / temperature), dtype)
        }))
    }))
}

/// Returns the rows of a softmax over an axis, and the temperature by which data is divided.
///
/// # Errors
/// Returns the reason why there is no kernel for the call.
pub fn axis_rows(call: &OpCall<'_>) -> std::result::Result<(Rows, f64), String> {
    let params = call.params.get::<SoftmaxParams>();
    if params.has_length() {
        return Err("no kernel for softmax of a part of each row".into());
    }
    let shape = &call.inputs[0].shape;
    let axis = shape.axis(i64::from(params.axis)).map_err(|error| error.to_string())?;
    let (outer, size, inner) = around(shape, axis);
    Ok((Rows { outer, size, inner }, params.temperature.unwrap_or(1.0)))
}

/// Computes `e^((x - largest) / t)`; `scale` is `1 / t`.
#[inline(always)]
pub fn power<T: Float>(x: T, largest: T, scale: T) -> T {
    x.minus(largest).times(scale).exp()
}

struct SumLoop<'a, T> {
    row: &'a [T],
    largest: T,
    scale: T,
}

impl<T: Float> Loop for SumLoop<'_, T> {
    type Output = Lanes<f64>;
    #[inline(always)]
    fn run(self) -> Lanes<f64> {
        let mut lanes = [0.0; LANES];
        add_to_lanes(&mut lanes, self.row, |sum, x| sum + power(x, self.largest, self.scale).widen());
        lanes
    }
}

/// Computes the result from an element and the inverse of the sum of its row, with `LOG` from the logarithm of the sum.
#[inline(always)]
fn result<T: Float, const LOG: bool>(x: T, largest: T, scale: T, sum: T) -> T {
    if LOG { x.minus(largest).times(scale).minus(sum) } else { power(x, largest, scale).times(sum) }
}

/// What the results are computed with: the inverse of the sum, with `LOG` its logarithm.
fn from_sum<const LOG: bool>(sum: f64) -> f64 {
    if LOG { sum.ln() } else { 1.0 / sum }
}

struct QuotientLoop<'a, T, const LOG: bool> {
    row: &'a [T],
    largest: T,
    scale: T,
    /// As [`from_sum`] returns it.
    sum: T,
    to: &'a mut [T],
}

impl<T: Float, const LOG: bool> Loop for QuotientLoop<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (to, x) in self.to.iter_mut().zip(self.row) {
            *to = result::<T, LOG>(*x, self.largest, self.scale, self.sum);
        }
    }
}

/// What a pass over interleaved rows computes.
enum Columns<'a, T> {
    /// The sums of the powers.
    Sums(&'a mut [f64]),
    /// The sums of the powers, and the powers.
    Powers(&'a mut [f64], &'a mut [T]),
    /// The results, from what [`from_sum`] returns for each row.
    Results(&'a [T], &'a mut [T]),
    /// The same, in place of the powers.
    Scaled(&'a [T], &'a mut [T]),
}

/// One pass over element `k` of several interleaved rows.
struct ColumnsLoop<'a, T, const LOG: bool> {
    row: &'a [T],
    largest: &'a [T],
    scale: T,
    /// What is computed.
    what: Columns<'a, T>,
}

impl<T: Float, const LOG: bool> Loop for ColumnsLoop<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (row, largest, scale) = (self.row, self.largest, self.scale);
        match self.what {
            Columns::Sums(sums) => {
                for ((x, largest), sum) in row.iter().zip(largest).zip(sums) {
                    *sum += power(*x, *largest, scale).widen();
                }
            }
            Columns::Powers(sums, to) => keep_powers(row, largest, scale, sums, to),
            Columns::Results(from, to) => {
                for (((x, largest), from), to) in row.iter().zip(largest).zip(from).zip(to) {
                    *to = result::<T, LOG>(*x, *largest, scale, *from);
                }
            }
            Columns::Scaled(from, to) => to.iter_mut().zip(from).for_each(|(to, from)| *to = to.times(*from)),
        }
    }
}

/// The slices are arguments, so that the compiler knows that they do not overlap.
#[inline(always)]
fn keep_powers<T: Float>(row: &[T], largest: &[T], scale: T, sums: &mut [f64], to: &mut [T]) {
    for (((x, largest), sum), to) in row.iter().zip(largest).zip(sums).zip(to) {
        *to = power(*x, *largest, scale);
        *sum += to.widen();
    }
}

fn forward<T: Float + 'static, const LOG: bool>(
    args: &KernelArgs<'_>,
    level: Level,
    rows: Rows,
    scale: T,
    dtype: DType,
) -> Result<()> {
    let (data, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
    if rows.inner == 1 && rows.size <= softmax_rows::LONGEST {
        softmax_rows::forward::<T, LOG>(args, level, rows, scale, (&data, &out));
        return Ok(());
    }
    rows.in_pieces(args, &|outer, first, width| {
        let at = |k: usize| (outer * rows.size + k) * rows.inner + first;
        if rows.inner == 1 {
            let start = at(0);
            // SAFETY: each row belongs to one thread. If the data is in the output's memory, the slices of the whole
            // row are no longer used when `fill` runs, and each piece is read before it is written.
            let row = |from: usize, to: usize| unsafe { data.slice(start + from..start + to) };
            let largest = fold::<T, Max>(level, row(0, rows.size));
            let lanes = level.run(SumLoop { row: row(0, rows.size), largest, scale });
            let sum = T::narrow(from_sum::<LOG>(join_lanes::<T, Sum>(lanes)));
            let fill = |piece: std::ops::Range<usize>, to: &mut [T]| {
                let row = row(piece.start - start, piece.end - start);
                level.run(QuotientLoop::<_, LOG> { row, largest, scale, sum, to });
            };
            // SAFETY: `in_pieces` gives this row to this thread alone. `fill` reads each piece of the data before the
            // piece is written.
            unsafe { out.write(start..start + rows.size, fill) };
            return;
        }
        let (mut largest, mut sums) = ([<Max as Fold<T>>::EMPTY; COLUMNS], [0.0; COLUMNS]);
        let (largest, sums) = (&mut largest[..width], &mut sums[..width]);
        // SAFETY: `in_pieces` gives each piece of columns to one thread. If the data is in the output's memory, an
        // element is last read by the `write` that overwrites it, before the write.
        let row = |k: usize| unsafe { data.slice(at(k)..at(k) + width) };
        for k in 0..rows.size {
            prefetch(row((k + 2).min(rows.size - 1)));
            fold_each::<T, Max>(level, largest, row(k));
        }
        // The powers are kept in the output, unless it has the data or old values.
        let keeps = !LOG && out.mode().is_free();
        // SAFETY: `in_pieces` gives these elements to this thread alone, and no input is in the output's memory.
        let kept = |k: usize| unsafe { out.slice_mut(at(k)..at(k) + width) };
        for k in 0..rows.size {
            let what = if keeps { Columns::Powers(sums, kept(k)) } else { Columns::Sums(sums) };
            level.run(ColumnsLoop::<_, LOG> { row: row(k), largest, scale, what });
        }
        let mut from = [T::ZERO; COLUMNS];
        from.iter_mut().zip(&*sums).for_each(|(from, sum)| *from = T::narrow(from_sum::<LOG>(*sum)));
        let from = &from[..width];
        for k in 0..rows.size {
            if keeps {
                let what = Columns::Scaled(from, kept(k));
                level.run(ColumnsLoop::<_, LOG> { row: row(k), largest, scale, what });
                continue;
            }
            let fill = |_: std::ops::Range<usize>, to: &mut [T]| {
                let what = Columns::Results(from, to);
                level.run(ColumnsLoop::<_, LOG> { row: row(k), largest, scale, what });
            };
            // SAFETY: this thread alone uses these columns. `width <= COLUMNS` elements are one piece of `write`, so a
            // single call of `fill` reads them before they are written.
            unsafe { out.write(at(k)..at(k) + width, fill) };
        }
    });
    Ok(())
}

/// The factor of a gradient in the sum of its row: the result, or 1 for the logarithm.
#[inline(always)]
fn weight<T: Float, const LOG: bool>(y: T) -> f64 {
    if LOG { 1.0 } else { y.widen() }
}

struct DotLoop<'a, T, const LOG: bool>(&'a [T], &'a [T]);

impl<T: Float, const LOG: bool> Loop for DotLoop<'_, T, LOG> {
    type Output = Lanes<f64>;
    #[inline(always)]
    fn run(self) -> Lanes<f64> {
        let mut lanes = [0.0; LANES];
        add_pairs_to_lanes(&mut lanes, self.0, self.1, |sum, g: T, y| g.widen().mul_add(weight::<T, LOG>(y), sum));
        lanes
    }
}

/// Computes `y (g - sum) / t`, with `LOG` `(g - e^y sum) / t`, with one sum for all elements or one sum for each element.
struct GradientLoop<'a, T, const LOG: bool> {
    g: &'a [T],
    y: &'a [T],
    sums: &'a [f64],
    scale: T,
    to: &'a mut [T],
}

impl<T: Float, const LOG: bool> Loop for GradientLoop<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let through = |g: T, y: T, sum: T| if LOG { g.minus(y.exp().times(sum)) } else { y.times(g.minus(sum)) };
        let elements = self.to.iter_mut().zip(self.g).zip(self.y);
        if let [sum] = self.sums {
            let sum = T::narrow(*sum);
            for ((to, g), y) in elements {
                *to = through(*g, *y, sum).times(self.scale);
            }
        } else {
            for (((to, g), y), sum) in elements.zip(self.sums) {
                *to = through(*g, *y, T::narrow(*sum)).times(self.scale);
            }
        }
    }
}

struct DotColumnsLoop<'a, T, const LOG: bool>(&'a [T], &'a [T], &'a mut [f64]);

impl<T: Float, const LOG: bool> Loop for DotColumnsLoop<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((g, y), sum) in self.0.iter().zip(self.1).zip(self.2) {
            *sum = g.widen().mul_add(weight::<T, LOG>(*y), *sum);
        }
    }
}

fn backward<T: Float + 'static, const LOG: bool>(
    args: &KernelArgs<'_>,
    level: Level,
    rows: Rows,
    scale: T,
    dtype: DType,
) -> Result<()> {
    let (ograd, output, out) = (Source::<T>::of(args, 0), Source::<T>::of(args, 1), Sink::<T>::of(args, 0, dtype)?);
    rows.in_pieces(args, &|outer, first, width| {
        let at = |k: usize| (outer * rows.size + k) * rows.inner + first;
        // SAFETY: `in_pieces` gives these elements to this thread alone, which reads each element before it overwrites
        // it.
        let read = |start: usize, end: usize| unsafe { (ograd.slice(start..end), output.slice(start..end)) };
        let (mut one, mut many);
        let sums: &mut [f64] = if rows.inner == 1 {
            one = [0.0];
            &mut one
        } else {
            many = [0.0; COLUMNS];
            &mut many[..width]
        };
        // One write of a contiguous row, or for interleaved rows, `size` writes of one element of each row.
        let (n_writes, len) = if rows.inner == 1 { (1, rows.size) } else { (rows.size, width) };
        for k in 0..n_writes {
            let (g, y) = read(at(k), at(k) + len);
            if rows.inner > 1 {
                let soon = at((k + 2).min(n_writes - 1));
                let (g, y) = read(soon, soon + len);
                prefetch(g);
                prefetch(y);
            }
            if rows.inner == 1 {
                sums[0] = join_lanes::<T, Sum>(level.run(DotLoop::<_, LOG>(g, y)));
            } else {
                level.run(DotColumnsLoop::<_, LOG>(g, y, sums));
            }
        }
        for k in 0..n_writes {
            let fill = |piece: std::ops::Range<usize>, to: &mut [T]| {
                let (g, y) = read(piece.start, piece.end);
                level.run(GradientLoop::<_, LOG> { g, y, sums, scale, to });
            };
            // SAFETY: `in_pieces` gives these elements of the output to this thread alone. `fill` reads each piece
            // before the piece is written.
            unsafe { out.write(at(k)..at(k) + len, fill) };
        }
    });
    Ok(())
}
