//! Concatenates tensors along one axis: for `dim` 1, inputs [N, Ci, …] give [N, ΣCi, …].
//!
//! Gradient: each input gets the part of `ograd` at the positions where the input was copied to.
//!
//! MXNet: `Concat`, also `_sparse_concat`, `concat`. Inputs are `arg0`, `arg1`, …; `dim` may be negative. Dtypes: f32
//! f64 f16 bf16 u8 i8 i32 i64 bool, the same for all inputs.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::gradients::{self, params_of};
use crate::families::indexing::around_axis;
use crate::inference::{bad_attribute, learn, learn_dim, resolve_axis, unify, unify_dtypes};
use mxrs_op::{
    Combines, Gradient, GradientScope, InputNames, Moves, OpDef, OpParams, OutputCount, Precision, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `Concat`.
    pub struct ConcatParams for "Concat" {
        /// Number of inputs.
        num_args: i32,
        /// Axis to concatenate along.
        dim: i32 = 1,
    }
}

/// Defines the operator `Concat`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_concat", "concat"],
        summary: "joins inputs along an axis",
        inputs: InputNames::Variable { prefix: "arg", listed: "data", key: "num_args", count },
        infer_shape,
        infer_dtype,
        dtypes: MOVABLE,
        is_costly: true,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        companions: || vec![backward()],
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
        combines: Combines::Concatenation,
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = along::lens(inputs, axis(params, outputs[0])?);
            Ok(Some(along::joined(0, outer, &lens)))
        }),
        samples,
        precision_float16: Some(Precision::widest),
        ..OpDef::new("Concat").params::<ConcatParams>()
    }
}

/// The axis to concatenate along.
fn axis(params: &OpParams, whole: &Shape) -> Result<usize> {
    resolve_axis(i64::from(params.get::<ConcatParams>().dim), whole.ndim(), "data")
}

/// Number of tensors to concatenate.
pub(crate) fn count(params: &OpParams) -> usize {
    usize::try_from(params.get::<ConcatParams>().num_args).unwrap_or(0)
}

const BACKWARD: &str = "_backward_Concat";

fn gradient(scope: &mut dyn GradientScope) -> gradients::Answers {
    let mut inputs = vec![scope.out_grad(0)?];
    inputs.extend((0..scope.n_inputs()).map(|i| scope.input(i)));
    let attrs = params_of(scope);
    Ok(scope.call(BACKWARD, attrs, &inputs)?.into_iter().map(Some).collect())
}

/// Positions 1, 2, … of the inputs whose content is not read. The list is longer than the largest concatenation of any
/// network.
const DATA: [usize; 1024] = {
    let mut positions = [0; 1024];
    let mut i = 0;
    while i < positions.len() {
        positions[i] = i + 1;
        i += 1;
    }
    positions
};

/// Defines the backward operator: it takes (ograd, arg0, arg1, …) and returns for each argument its range of ograd. The
/// content of the arguments is not read.
fn backward() -> OpDef {
    OpDef {
        summary: "splits ograd like the arguments",
        inputs: InputNames::ByParams {
            all: &["ograd", "data"],
            // Parameters are parsed before the number of inputs is checked. The limit keeps an invalid number from making a
            // huge list.
            chosen: |params| {
                let n_data = count(params).min(mxrs_op::MAX_TENSORS);
                std::iter::once("ograd").chain(std::iter::repeat_n("data", n_data)).collect()
            },
        },
        n_outputs: OutputCount::ByParams(count),
        n_visible: OutputCount::ByParams(count),
        infer_shape: |params, inputs, outputs| {
            let Some((ograd, data)) = inputs.split_first_mut() else { return Ok(()) };
            data.iter_mut().zip(outputs.iter_mut()).try_for_each(|(data, out)| unify(data, out, "data"))?;
            infer_shape(params, data, std::slice::from_mut(ograd))?;
            data.iter_mut().zip(outputs).try_for_each(|(data, out)| unify(data, out, "data"))
        },
        infer_dtype,
        dtypes: MOVABLE,
        ignored_inputs: &DATA,
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = along::lens(outputs, axis(params, inputs[0])?);
            Ok(Some(along::cut(outer, &lens)))
        }),
        gradient: Gradient::By(|_, scope| {
            let n_outputs = scope.n_inputs() - 1;
            let heads = (0..n_outputs).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
            let attrs = params_of(scope);
            let mut answers = vec![None; n_outputs + 1];
            answers[0] = Some(scope.call("Concat", attrs, &heads)?[0]);
            Ok(answers)
        }),
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let axis = resolve_axis(i64::from(params.get::<ConcatParams>().dim), shape.ndim(), "data")?;
            let (outer, size, inner) = around_axis(shape, axis);
            let cell = inner * inputs[0].desc.dtype.size_of();
            let mut start = 0;
            for out in outputs {
                let len = out.desc.shape[axis];
                for i in 0..outer {
                    let from = &inputs[0].bytes[(i * size + start) * cell..][..len * cell];
                    out.bytes[i * len * cell..][..len * cell].copy_from_slice(from);
                }
                start += len;
            }
            Ok(())
        }),
        samples: || gradients::samples_after(&define()),
        ..OpDef::new(BACKWARD).params::<ConcatParams>()
    }
}

pub(crate) fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ConcatParams>();
    if inputs.is_empty() {
        return Err(bad_attribute("Concat", "num_args", "at least 1", params.num_args));
    }
    let Some(ndim) = inputs.iter().chain(outputs.iter()).find_map(PartialShape::ndim) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.dim), ndim, "data")?;
    // The sizes that all tensors share: those of all axes but the concatenated one.
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
