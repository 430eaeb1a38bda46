//! Operators that move elements in long runs: copies with another shape, ranges of an axis, concatenation and splitting.

use super::{around, for_element};
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_rows;
use crate::tensors::{Sink, Source};
use crate::walk::{Axes, Axis, coalesce};
use mxrs_op::{KernelArgs, OpCall, View};
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_ops::shape::slice_axis::SliceAxisParams;
use mxrs_types::{DType, Result, Shape};

/// Runs of equal length that are copied from an input, or filled with zeros, to an output.
struct Runs {
    input: Option<usize>,
    output: usize,
    /// First elements in the input and in the output.
    starts: [usize; 2],
    axes: Axes<2>,
}

impl Runs {
    /// Makes `n` runs of `len` elements; `strides` are the distances between runs in the input and in the output.
    fn new(input: Option<usize>, output: usize, starts: [usize; 2], n: usize, strides: [usize; 2], len: usize) -> Self {
        let axes = coalesce([Axis { size: n, strides }, Axis { size: len, strides: [1, 1] }]);
        Self { input, output, starts, axes }
    }

    fn run<T: Element>(&self, args: &KernelArgs<'_>, dtype: DType) -> Result<()> {
        let to = Sink::<T>::of(args, self.output, dtype)?;
        let from = self.input.map(|input| Source::<T>::of(args, input));
        if !to.is_wanted() {
            return Ok(());
        }
        // Coalescing may have dropped the innermost axis because its size was 1. Then each run has one element, and an
        // innermost axis of size 1 is added again.
        let is_dense = self.axes.last().is_some_and(|inner| inner.strides == [1, 1]);
        let mut axes = self.axes.clone();
        if !is_dense {
            axes.push(Axis { size: 1, strides: [1, 1] });
        }
        in_rows(args.team, &axes, &|_, len, offsets| {
            let [source, start] = [0, 1].map(|t| offsets[t] + self.starts[t]);
            // SAFETY: runs are disjoint in the output and each belongs to one thread; `out_of_place` plans the kernel
            // without in place, so no input is in the output's memory.
            unsafe {
                to.write(start..start + len, |piece, to| match &from {
                    Some(from) => {
                        let at = source + piece.start - start;
                        to.copy_from_slice(from.slice(at..at + piece.len()));
                    }
                    None => to.fill(T::ZERO),
                });
            }
        });
        Ok(())
    }
}

/// Plans operators that only move elements.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    let dtype = call.outputs[0].dtype;
    let runs = match call.op.name {
        "slice_axis" => slice(call, false),
        "_backward_slice_axis" => slice(call, true),
        "Concat" => concat(call, false),
        "_backward_Concat" => concat(call, true),
        // At inference `Dropout` also writes a mask; see `dropout.rs`.
        "Dropout" => return None,
        _ if (call.op.view)(call.params, call.is_train) == View::No => return None,
        _ => Ok(vec![Runs::new(Some(0), 0, [0, 0], 1, [0, 0], call.outputs[0].shape.n_elements())]),
    };
    Some(runs.and_then(|runs| for_element!(call, dtype, T => of_runs::<T>(call, runs, dtype))))
}

fn of_runs<T: Element>(call: &OpCall<'_>, runs: Vec<Runs>, dtype: DType) -> Build {
    out_of_place(call, 0, move |args| runs.iter().try_for_each(|runs| runs.run::<T>(args, dtype)))
}

fn axis_of(axis: i32, shape: &Shape) -> std::result::Result<usize, String> {
    shape.axis(i64::from(axis)).map_err(|error| error.to_string())
}

/// The runs of `slice_axis`: forward, they copy the range from the whole tensor; backward, they write the whole tensor, with
/// zeros outside the range.
fn slice(call: &OpCall<'_>, is_back: bool) -> std::result::Result<Vec<Runs>, String> {
    let params = call.params.get::<SliceAxisParams>();
    let (whole, part) = if is_back {
        (&call.outputs[0].shape, &call.inputs[0].shape)
    } else {
        (&call.inputs[0].shape, &call.outputs[0].shape)
    };
    let axis = axis_of(params.axis, whole)?;
    let (outer, size, inner) = around(whole, axis);
    let begin = if params.begin < 0 { i64::from(params.begin) + size as i64 } else { i64::from(params.begin) };
    let begin =
        usize::try_from(begin).map_err(|_| format!("begin {} lies outside an axis of size {size}", params.begin))?;
    let len = part[axis];
    let (start, run, whole_run) = (begin * inner, len * inner, size * inner);
    if !is_back {
        return Ok(vec![Runs::new(Some(0), 0, [start, 0], outer, [whole_run, run], run)]);
    }
    let zeros = |start: usize, len: usize| Runs::new(None, 0, [0, start], outer, [0, whole_run], len);
    Ok(vec![
        zeros(0, start),
        Runs::new(Some(0), 0, [0, start], outer, [run, whole_run], run),
        zeros(start + run, whole_run - start - run),
    ])
}

/// The runs of a concatenation: forward, they copy the parts one after another along an axis of the whole tensor; backward,
/// they copy the parts from the whole tensor.
fn concat(call: &OpCall<'_>, is_back: bool) -> std::result::Result<Vec<Runs>, String> {
    let (whole, parts) =
        if is_back { (&call.inputs[0].shape, call.outputs) } else { (&call.outputs[0].shape, call.inputs) };
    let axis = axis_of(call.params.get::<ConcatParams>().dim, whole)?;
    let (outer, size, inner) = around(whole, axis);
    let mut start = 0;
    let mut runs = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let run = part.shape[axis] * inner;
        runs.push(if is_back {
            Runs::new(Some(0), i, [start, 0], outer, [size * inner, run], run)
        } else {
            Runs::new(Some(i), 0, [0, start], outer, [run, size * inner], run)
        });
        start += run;
    }
    Ok(runs)
}
