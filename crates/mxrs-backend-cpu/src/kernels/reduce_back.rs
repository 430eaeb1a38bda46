//! The backward operators of reductions, which compute the gradient of each element from the gradient of its result;
//! and the broadcast of a tensor to another shape.

use super::reduce::{bias_shape, kept_shape};
use super::{for_float, for_number};
use crate::level::{Level, Loop};
use crate::number::{Element, Float, Number};
use crate::plan::{Build, Planned, out_of_place};
use crate::pointwise::{Right, Times, Unary, map_slice};
use crate::split::in_rows;
use crate::tensors::{Sink, Source};
use crate::walk::{Axes, broadcast, coalesce};
use mxrs_op::OpCall;
use mxrs_types::Shape;

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
/// take longer than the memory.
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
            // SAFETY: rows are disjoint and each belongs to one thread; `out_of_place` plans the kernel without in
            // place, so no input is in the output's memory.
            unsafe {
                out.write(start..start + len, |piece, to| {
                    let at = from + piece.start - start;
                    match moves {
                        true => map_slice(level, f, data.slice(at..at + to.len()), to),
                        false => to.fill(f.at(data.at(from))),
                    }
                });
            }
        });
        Ok(())
    })
}

/// Computes the gradient of a maximum: nonzero at the elements that equal their maximum. If `ONE` is true, all elements of
/// the row belong to one result.
struct MaximaLoop<'a, T, const ONE: bool> {
    ograd: &'a [T],
    data: &'a [T],
    max: &'a [T],
    to: &'a mut [T],
}

impl<T: Number, const ONE: bool> Loop for MaximaLoop<'_, T, ONE> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        if ONE {
            let (g, max) = (self.ograd[0], self.max[0]);
            for (to, x) in self.to.iter_mut().zip(self.data) {
                *to = if *x == max { g } else { T::ZERO };
            }
        } else {
            for (((to, x), g), max) in self.to.iter_mut().zip(self.data).zip(self.ograd).zip(self.max) {
                *to = if *x == *max { *g } else { T::ZERO };
            }
        }
    }
}

fn to_maxima<T: Number>(call: &OpCall<'_>, level: Level, axes: Axes<1>) -> Build {
    let dtype = call.outputs[0].dtype;
    let moves = axes.last().is_none_or(|inner| inner.strides != [0]);
    out_of_place(call, 0, move |args| {
        let [ograd, data, max] = [0, 1, 2].map(|i| Source::<T>::of(args, i));
        let out = Sink::<T>::of(args, 0, dtype)?;
        in_rows(args.team, &axes, &|start, len, [from]| {
            // SAFETY: rows are disjoint and each belongs to one thread; `out_of_place` plans the kernel without in
            // place, so no input is in the output's memory.
            unsafe {
                out.write(start..start + len, |piece, to| {
                    let data = data.slice(piece.clone());
                    if moves {
                        let results = from + piece.start - start..from + piece.end - start;
                        let (ograd, max) = (ograd.slice(results.clone()), max.slice(results));
                        level.run(MaximaLoop::<T, false> { ograd, data, max, to });
                    } else {
                        let (ograd, max) = (ograd.slice(from..from + 1), max.slice(from..from + 1));
                        level.run(MaximaLoop::<T, true> { ograd, data, max, to });
                    }
                });
            }
        });
        Ok(())
    })
}
