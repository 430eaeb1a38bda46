//! Softmax over an axis, its logarithm, the gradients of both, and the forward pass of `SoftmaxOutput`. With `LOG` a
//! function computes the logarithm.
//!
//! A row is the elements along the axis. Short rows of neighbors (`rows.rs`) and interleaved rows (`columns.rs`) are read
//! from memory once and stay in a cache until their sum is known. Rows that are longer than a cache (`long.rs`, `deep.rs`)
//! are read again. Each thread computes whole rows; a few long rows are shared among threads in blocks of fixed size, so
//! that results have the same bits on any number of threads.
//!
//! Accuracy in `f32`, with `u = 2^-24`, rows of `n` elements and `d = (largest - x) / t`: the relative error of a result of
//! softmax, and the error of a result of its logarithm, is at most `(4 d + 5 ln n + 8) u`; results of softmax below the
//! smallest normal number may be 0. The error of a gradient is at most `8 u` times the same formula on absolute values. Four
//! terms at a time are added in the type of the computation, and these sums of four are added in `f64`.

mod columns;
mod columns_gradient;
mod deep;
mod gradient;
mod long;
mod rows;

use super::around;
use crate::level::Level;
use crate::number::{Float, Stored};
use crate::plan::{Planned, row_major};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::softmax::SoftmaxParams;
use mxrs_types::{DType, Result};

/// At most this many interleaved rows are computed together.
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

    /// The flat position of element `k` of a row.
    fn at(self, (outer, column): (usize, usize), k: usize) -> usize {
        (outer * self.size + k) * self.inner + column
    }
}

/// A planned softmax or gradient.
#[derive(Clone, Copy)]
struct Problem {
    rows: Rows,
    level: Level,
    /// The inverse of the temperature.
    scale: f64,
    /// The input that has the number of used elements of each row, and its type.
    lengths: Option<(usize, DType)>,
    /// The type of the output.
    dtype: DType,
}

impl Problem {
    /// The number of used elements of a row of neighbors.
    fn length(&self, args: &KernelArgs<'_>, row: usize) -> usize {
        let Some((input, dtype)) = self.lengths else { return self.rows.size };
        let length = if dtype == DType::I32 {
            // SAFETY: an input of integers is not in the memory of an output of floats, so nothing writes it.
            i64::from(unsafe { Source::<i32>::of(args, input).at(row) })
        } else {
            // SAFETY: an input of integers is not in the memory of an output of floats, so nothing writes it.
            unsafe { Source::<i64>::of(args, input).at(row) }
        };
        usize::try_from(length).unwrap_or(0).min(self.rows.size)
    }
}

/// Plans `softmax` and `log_softmax`, their gradients, and `SoftmaxOutput`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let is_log = call.op.name.ends_with("log_softmax");
    let is_backward = call.op.name.starts_with("_backward");
    let (rows, scale) = match call.op.name {
        "SoftmaxOutput" => (super::softmax_loss::rows(call), 1.0),
        "softmax" | "_backward_softmax" | "log_softmax" | "_backward_log_softmax" => match axis_rows(call) {
            Ok((rows, temperature)) => (rows, 1.0 / temperature),
            Err(reason) => return Some(Err(reason)),
        },
        _ => return None,
    };
    // The gradient has the inputs ograd, output, data and length; data is not read, but has the type of the gradient.
    let at_length = if is_backward { 3 } else { 1 };
    let lengths = call.inputs.get(at_length).filter(|_| call.op.name != "SoftmaxOutput");
    let lengths = lengths.map(|desc| (at_length, desc.dtype));
    let problem = Problem { rows, level, scale, lengths, dtype: call.outputs[0].dtype };
    let from = call.inputs[0].dtype;
    if is_backward && call.inputs[1].dtype != from {
        return Some(Err(format!("{} of {from} and {}", call.op.name, call.inputs[1].dtype)));
    }
    let run = match (is_backward, is_log) {
        (false, false) => forward_of::<false>(from, problem.dtype),
        (false, true) => forward_of::<true>(from, problem.dtype),
        (true, false) => backward_of::<false>(from, problem.dtype),
        (true, true) => backward_of::<true>(from, problem.dtype),
    };
    let Some(run) = run else {
        return Some(Err(format!("no kernel for {} from {from} to {}", call.op.name, problem.dtype)));
    };
    if scale.is_nan() || scale <= 0.0 || scale.is_infinite() {
        return Some(Err(format!("no kernel for {} with the temperature {}", call.op.name, 1.0 / scale)));
    }
    if lengths.is_some() && rows.inner > 1 {
        return Some(Err(format!("no kernel for {} of a part of each of several interleaved rows", call.op.name)));
    }
    debug_assert_eq!(call.inputs[0].shape.n_elements(), rows.outer * rows.size * rows.inner);
    let scratch_bytes = if rows.inner == 1 { long::scratch_bytes(rows) } else { 0 };
    // Rows of neighbors may be long although there is none, if an axis behind the rows is empty.
    let has_elements = call.inputs[0].shape.n_elements() > 0;
    Some(Ok(row_major(call, scratch_bytes, move |args| if has_elements { run(args, &problem) } else { Ok(()) })))
}

/// A function that runs a call.
type Run = fn(&KernelArgs<'_>, &Problem) -> Result<()>;

/// The function that runs `softmax` from one type to another, or with `LOG` its logarithm.
fn forward_of<const LOG: bool>(from: DType, to: DType) -> Option<Run> {
    Some(match (from, to) {
        (DType::F32, DType::F32) => forward::<f32, f32, LOG>,
        (DType::F64, DType::F64) => forward::<f64, f64, LOG>,
        (DType::F16, DType::F16) => forward::<f16, f16, LOG>,
        (DType::BF16, DType::BF16) => forward::<bf16, bf16, LOG>,
        (DType::F16, DType::F32) => forward::<f16, f32, LOG>,
        (DType::BF16, DType::F32) => forward::<bf16, f32, LOG>,
        _ => return None,
    })
}

/// The function that runs the gradient, from the type of the output of the forward call to the type of its data.
fn backward_of<const LOG: bool>(from: DType, to: DType) -> Option<Run> {
    Some(match (from, to) {
        (DType::F32, DType::F32) => backward::<f32, f32, LOG>,
        (DType::F64, DType::F64) => backward::<f64, f64, LOG>,
        (DType::F16, DType::F16) => backward::<f16, f16, LOG>,
        (DType::BF16, DType::BF16) => backward::<bf16, bf16, LOG>,
        (DType::F32, DType::F16) => backward::<f32, f16, LOG>,
        (DType::F32, DType::BF16) => backward::<f32, bf16, LOG>,
        _ => return None,
    })
}

fn forward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let tensors = (&Source::<I>::of(args, 0), &Sink::<O>::of(args, 0, p.dtype)?);
    match p.rows {
        rows if rows.inner > 1 && rows.size > columns::DEEPEST => deep::forward::<I, O, LOG>(args, p, tensors),
        rows if rows.inner > 1 => columns::forward::<I, O, LOG>(args, p, tensors),
        rows if rows.size > rows::LONGEST => long::forward::<I, O, LOG>(args, p, tensors),
        _ => rows::forward::<I, O, LOG>(args, p, tensors),
    }
    Ok(())
}

fn backward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let [ograd, output] = [0, 1].map(|input| Source::<I>::of(args, input));
    let tensors = (&ograd, &output, &Sink::<O>::of(args, 0, p.dtype)?);
    match p.rows {
        rows if rows.inner > 1 => columns_gradient::backward::<I, O, LOG>(args, p, tensors),
        rows if rows.size > rows::LONGEST => long::backward::<I, O, LOG>(args, p, tensors),
        _ => gradient::backward::<I, O, LOG>(args, p, tensors),
    }
    Ok(())
}

/// Returns the rows of a softmax over an axis, and the temperature by which data is divided.
///
/// # Errors
/// Returns the reason why there is no kernel for the call.
pub fn axis_rows(call: &OpCall<'_>) -> std::result::Result<(Rows, f64), String> {
    let params = call.params.get::<SoftmaxParams>();
    let shape = &call.inputs[0].shape;
    let axis = shape.axis(i64::from(params.axis)).map_err(|error| error.to_string())?;
    let (outer, size, inner) = around(shape, axis);
    Ok((Rows { outer, size, inner }, params.temperature.unwrap_or(1.0)))
}

/// Computes `e^((x - largest) / t)`; `scale` is `1 / t`, and `x` is at most `largest`.
#[inline(always)]
fn power<T: Float>(x: T, largest: T, scale: T) -> T {
    x.minus(largest).times(scale).exp_below()
}

/// What the results are computed with: the inverse of the sum, with `LOG` its logarithm.
fn from_sum<const LOG: bool>(sum: f64) -> f64 {
    if LOG { sum.ln() } else { 1.0 / sum }
}
