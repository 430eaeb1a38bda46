//! Joins tensors along one axis: [N, Ci, …] for each input give [N, ΣCi, …] for `dim` 1.
//!
//! MXNet: `Concat`, also `_sparse_concat`, `concat`. Inputs are `arg0`, `arg1`, …; `dim` may be negative. Dtypes: f32
//! f64 f16 bf16 u8 i8 i32 i64 bool, all inputs alike.

use crate::dtypes::MOVABLE;
use crate::inference::{bad_attribute, learn, learn_dim, resolve_axis, unify_dtypes};
use mxrs_op::{InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `Concat`.
    pub struct ConcatParams for "Concat" {
        /// Number of inputs.
        num_args: i32,
        /// Axis to join along.
        dim: i32 = 1,
    }
}

/// `Concat`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_concat", "concat"],
        summary: "joins inputs along an axis",
        inputs: InputNames::Variable {
            prefix: "arg",
            listed: "data",
            key: "num_args",
            count: |params| usize::try_from(params.get::<ConcatParams>().num_args).unwrap_or(0),
        },
        infer_shape,
        infer_dtype,
        dtypes: MOVABLE,
        reference: Some(|params, inputs, outputs, _| {
            let out = &mut outputs[0];
            let axis = resolve_axis(i64::from(params.get::<ConcatParams>().dim), out.desc.shape.ndim(), "data")?;
            let size = out.desc.dtype.size_of();
            let outer: usize = out.desc.shape[..axis].iter().product();
            let chunk = |shape: &[usize]| shape[axis..].iter().product::<usize>() * size;
            let row = chunk(&out.desc.shape);
            let mut start = 0;
            for input in inputs {
                let len = chunk(&input.desc.shape);
                for i in 0..outer {
                    out.bytes[i * row + start..][..len].copy_from_slice(&input.bytes[i * len..][..len]);
                }
                start += len;
            }
            Ok(())
        }),
        samples,
        ..OpDef::new("Concat").params::<ConcatParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ConcatParams>();
    if inputs.is_empty() {
        return Err(bad_attribute("Concat", "num_args", "at least 1", params.num_args));
    }
    let Some(ndim) = inputs.iter().chain(outputs.iter()).find_map(PartialShape::ndim) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.dim), ndim, "data")?;
    // What all tensors share: every size but the joined one.
    let without_axis = |shape: &PartialShape| match shape.dims() {
        None => PartialShape::of_rank(ndim),
        Some(dims) => PartialShape::new(dims.iter().enumerate().map(|(i, d)| if i == axis { None } else { *d })),
    };
    let mut shared = PartialShape::of_rank(ndim);
    for (i, shape) in inputs.iter().chain(outputs.iter()).enumerate() {
        learn(&mut shared, &without_axis(shape), &format!("arg{i}"))?;
    }
    for (i, shape) in inputs.iter_mut().enumerate() {
        learn(shape, &shared, &format!("arg{i}"))?;
    }
    learn(&mut outputs[0], &shared, "output")?;
    let sizes: Vec<Option<usize>> = inputs.iter().map(|s| s.dim(axis)).collect();
    let known: usize = sizes.iter().flatten().fold(0, |sum, size| sum.saturating_add(*size));
    let unknown: Vec<usize> = (0..sizes.len()).filter(|i| sizes[*i].is_none()).collect();
    match (unknown.as_slice(), outputs[0].dim(axis)) {
        ([], _) => learn_dim(&mut outputs[0], axis, Some(known), "output")?,
        ([last], Some(total)) if total >= known => {
            learn_dim(&mut inputs[*last], axis, Some(total - known), &format!("arg{last}"))?;
        }
        _ => {}
    }
    Ok(())
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs.iter_mut().chain(outputs), "data")
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("channels", [("num_args", "3")], &[&[2, 3, 4, 5], &[2, 1, 4, 5], &[2, 7, 4, 5]]),
        Sample::new("blocks", [("num_args", "2")], &[&[1, 16, 3, 3], &[1, 32, 3, 3]]),
        Sample::new("rows", [("num_args", "2"), ("dim", "0")], &[&[2, 3], &[4, 3]]),
        Sample::new("last", [("num_args", "2"), ("dim", "-1")], &[&[2, 3, 4], &[2, 3, 1]]),
        Sample::new("one_input", [("num_args", "1")], &[&[2, 3]]),
        Sample::new("an_empty_input", [("num_args", "2")], &[&[2, 0], &[2, 3]]),
        Sample::new("empty", [("num_args", "2")], &[&[0, 1], &[0, 3]]),
    ]
}
