//! Concatenates quantized tensors along one axis. Tensors with a smaller range are converted to the largest range.
//!
//! The inputs are arg0, arg1, … as in [`Concat`](crate::shape::concat), then their ranges arg0_min, arg0_max, arg1_min, …,
//! each `[1]`. out is u8 if all inputs are u8, else i8. Its range extends from the smallest minimum, or 0, to the largest
//! maximum, or 0.
//!
//! MXNet: `_contrib_quantized_concat`. Dtypes: i8 u8, which may differ between inputs.

use super::quantize_v2::extent;
use crate::families::indexing::around_axis;
use crate::families::quantized::{
    self, ACTIVATIONS, Range, floats, integers, learn_range_types, learn_ranges, range, require_type, sample,
    to_integer, write_ranges,
};
use crate::inference::{learn_dtype, resolve_axis};
use crate::numeric;
use crate::shape::concat::{self, ConcatParams};
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_quantized_concat`.
pub fn define() -> OpDef {
    OpDef {
        summary: "joins quantized inputs along an axis",
        inputs: InputNames::Grouped {
            prefix: "arg",
            suffixes: &["_min", "_max"],
            listed: "data",
            key: "num_args",
            count: concat::count,
        },
        infer_shape,
        infer_dtype,
        dtypes: ACTIVATIONS,
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantized_concat").params::<ConcatParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let (data, ranges) = inputs.split_at_mut(inputs.len() / 3);
    concat::infer_shape(params, data, &mut outputs[..1])?;
    learn_ranges(ranges)?;
    learn_ranges(&mut outputs[1..])
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let (data, ranges) = inputs.split_at_mut(inputs.len() / 3);
    learn_range_types(ranges.iter_mut().chain(&mut outputs[1..]))?;
    data.iter().enumerate().try_for_each(|(i, t)| require_type(*t, ACTIVATIONS, &format!("arg{i}")))?;
    if data.contains(&Some(DType::I8)) {
        learn_dtype(&mut outputs[0], DType::I8, "output")
    } else if data.contains(&None) {
        Ok(())
    } else {
        learn_dtype(&mut outputs[0], DType::U8, "output")
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (data, min_max) = inputs.split_at(inputs.len() / 3);
    let ranges = min_max.chunks_exact(2).map(|r| range(&r[0], &r[1])).collect::<Result<Vec<Range>>>()?;
    let ends: Vec<f64> = ranges.iter().flat_map(|r| [r.min, r.max]).chain([0.0]).collect();
    let joined = extent(&ends);
    let (shape, dtype) = (outputs[0].desc.shape.clone(), outputs[0].desc.dtype);
    let axis = resolve_axis(i64::from(params.get::<ConcatParams>().dim), shape.ndim(), "data")?;
    let (_, size, inner) = around_axis(&shape, axis);
    let mut out = vec![0.0; shape.n_elements()];
    let mut start = 0;
    for (input, range) in data.iter().zip(&ranges) {
        let len = input.desc.shape[axis];
        let scale = range.quantum(input.desc.dtype) * joined.per_unit(dtype);
        for (i, q) in numeric::read(input).into_iter().enumerate() {
            let (row, rest) = (i / (len * inner), i % (len * inner));
            out[(row * size + start) * inner + rest] = to_integer(dtype, q * scale);
        }
        start += len;
    }
    numeric::write(&mut outputs[0], &out);
    write_ranges(outputs, &[joined]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], parts: &[(&[usize], DType, f64, f64)]| {
        let mut inputs: Vec<_> = parts.iter().map(|(shape, dtype, ..)| integers(shape, *dtype)).collect();
        inputs.extend(parts.iter().flat_map(|(_, _, min, max)| [floats(&[*min]), floats(&[*max])]));
        sample(name, attrs, inputs)
    };
    let (i8, u8) = (DType::I8, DType::U8);
    let two = ("num_args", "2");
    vec![
        of("one_range", &[two], &[(&[2, 3, 4, 5], u8, 0.0, 1.0), (&[2, 5, 4, 5], u8, 0.0, 1.0)]),
        of("two_ranges", &[two], &[(&[2, 16, 4, 5], u8, 0.0, 1.0), (&[2, 32, 4, 5], u8, 0.0, 2.5)]),
        of("signed", &[two], &[(&[2, 3, 4, 5], i8, -1.0, 1.0), (&[2, 5, 4, 5], i8, -2.0, 1.5)]),
        of("mixed", &[two], &[(&[2, 3, 4, 5], u8, 0.0, 1.0), (&[2, 5, 4, 5], i8, -2.0, 1.5)]),
        of("rows", &[two, ("dim", "0")], &[(&[2, 3], i8, -1.0, 1.0), (&[4, 3], i8, -2.0, 1.5)]),
        of("one_input", &[("num_args", "1"), ("dim", "-1")], &[(&[2, 3], i8, -1.0, 1.0)]),
        of("an_empty_input", &[two], &[(&[2, 0], i8, -1.0, 1.0), (&[2, 3], i8, -1.0, 1.0)]),
    ]
}
