//! The backward operators of reductions, which compute the gradient of each element from the gradient of its result;
//! and the broadcast of a tensor to another shape.

use super::reduce::{bias_shape, kept_shape};
use super::{for_float, for_number};
use crate::chunks::{Compute, Storing, each};
use crate::level::{Level, Loop};
use crate::number::{Element, Float, Number};
use crate::plan::{Build, Planned, out_of_place};
use crate::pointwise::{Right, Times, Unary};
use crate::split::in_rows;
use crate::tensors::{Sink, Source};
use crate::walk::{Axes, broadcast, coalesce};
use mxrs_op::OpCall;
use mxrs_types::Shape;
use std::ops::Range;

/// Plans the gradient of a reduction, or a broadcast.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let (out, dtype) = (&call.outputs[0].shape, call.outputs[0].dtype);
    let from = match call.op.name {
        "_backward_sum" | "_backward_mean" | "_backward_max" => match kept_shape(call, out) {
            Ok(kept) => kept,
            Err(reason) => return Some(Err(reason)),
        },
        "_backward_broadcast_like" => call.inputs[0].shape.clone(),
        "_backward_backward_Convolution_bias" | "_backward_backward_FullyConnected_bias" => bias_shape(call, out),
        _ => return None,
    };
    let axes = coalesce(broadcast([&from], out));
    Some(match call.op.name {
        "_backward_mean" => for_float!(call, dtype, T => stretch::<T>(call, level, axes, by_count::<T>(out, &from))),
        "_backward_max" => for_number!(call, dtype, T => to_maxima::<T>(call, level, axes)),
        _ => for_number!(call, dtype, T => stretch::<T>(call, level, axes, Same)),
    })
}

#[derive(Clone, Copy)]
struct Same;

impl<T: Element> Unary<T> for Same {
    #[inline(always)]
    fn at(self, x: T) -> T {
        x
    }
}

/// Returns the function that multiplies by the inverse of the number of elements that each result reduces. A division would
/// take longer than reading and writing an element.
fn by_count<T: Float>(large: &Shape, small: &Shape) -> Right<Times, T> {
    Right(Times, T::from_f64(small.n_elements() as f64 / large.n_elements() as f64))
}

/// Computes `out[i] = f(data[r])`, where `r` is the index of the result that element `i` belongs to.
fn stretch<T: Number>(call: &OpCall<'_>, level: Level, axes: Axes<1>, f: impl Unary<T>) -> Build {
    let dtype = call.outputs[0].dtype;
    let moves = axes.last().is_none_or(|inner| inner.strides != [0]);
    out_of_place(call, 0, move |args| {
        let (data, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        in_rows(args.team, &axes, &|start, len, [from]| {
            let at = start..start + len;
            match moves {
                true => level.run(StoreLoop { out: &out, at, compute: Moving { f, data: &data, start, from } }),
                false => {
                    // SAFETY: `out_of_place` plans the kernel so that it never runs in place, so nothing writes the input.
                    let value = f.at(unsafe { data.at(from) });
                    level.run(StoreLoop { out: &out, at, compute: Constant(value) });
                }
            }
        });
        Ok(())
    })
}

/// Stores a row.
struct StoreLoop<'a, 'b, T, C> {
    out: &'b Sink<'a, T>,
    at: Range<usize>,
    compute: C,
}

impl<T: Element, C: Compute<T>> Loop for StoreLoop<'_, '_, T, C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: rows are disjoint and each belongs to one thread; `out_of_place` plans the kernel so that it never runs in
        // place, so no input is in the output's memory.
        unsafe { Storing::new(*self.out, self.at, self.compute).finish() };
    }
}

/// A row whose elements all belong to one result, so that all have the same value.
struct Constant<T>(T);

impl<T: Element> Compute<T> for Constant<T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, _: usize) -> [T; N] {
        [self.0; N]
    }
}

/// A row whose elements belong to neighboring results: element `start` belongs to result `from`, the next element to the
/// next result.
struct Moving<'a, 'b, T, F> {
    f: F,
    data: &'b Source<'a, T>,
    start: usize,
    from: usize,
}

impl<T: Element, F: Unary<T>> Compute<T> for Moving<'_, '_, T, F> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let x = unsafe { self.data.chunk::<N>(self.from + at - self.start) };
        each(T::ZERO, |l| self.f.at(x[l]))
    }
}

/// Computes the gradient of a maximum: nonzero at the elements that equal their maximum. If `ONE` is true, all elements of
/// the row belong to one result. Element `start` belongs to result `from`.
struct Maxima<'a, 'b, T, const ONE: bool> {
    ograd: &'b Source<'a, T>,
    data: &'b Source<'a, T>,
    max: &'b Source<'a, T>,
    start: usize,
    from: usize,
}

impl<T: Number, const ONE: bool> Compute<T> for Maxima<'_, '_, T, ONE> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        unsafe {
            let x = self.data.chunk::<N>(at);
            if ONE {
                let (g, max) = (self.ograd.at(self.from), self.max.at(self.from));
                return each(T::ZERO, |l| if x[l] == max { g } else { T::ZERO });
            }
            let result = self.from + at - self.start;
            let (g, max) = (self.ograd.chunk::<N>(result), self.max.chunk::<N>(result));
            each(T::ZERO, |l| if x[l] == max[l] { g[l] } else { T::ZERO })
        }
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.data.prefetch::<N>(at);
    }
}

fn to_maxima<T: Number>(call: &OpCall<'_>, level: Level, axes: Axes<1>) -> Build {
    let dtype = call.outputs[0].dtype;
    let moves = axes.last().is_none_or(|inner| inner.strides != [0]);
    out_of_place(call, 0, move |args| {
        let [ograd, data, max] = [0, 1, 2].map(|i| Source::<T>::of(args, i));
        let out = Sink::<T>::of(args, 0, dtype)?;
        in_rows(args.team, &axes, &|start, len, [from]| {
            let (at, ograd, data, max) = (start..start + len, &ograd, &data, &max);
            match moves {
                true => {
                    let compute = Maxima::<T, false> { ograd, data, max, start, from };
                    level.run(StoreLoop { out: &out, at, compute });
                }
                false => {
                    let compute = Maxima::<T, true> { ograd, data, max, start, from };
                    level.run(StoreLoop { out: &out, at, compute });
                }
            }
        });
        Ok(())
    })
}
