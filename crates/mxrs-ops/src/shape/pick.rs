//! Picks one element of each row along an axis: `out[…] = data[…, index[…], …]`. Data `[a, b]` with index `[a]` gives
//! `[a]`. With `keepdims` the axis is kept with size 1 in index and out; without `keepdims`, index may still have the axis.
//! Without an axis, the flattened data is one row, of which one element is picked.
//!
//! Indices outside the axis are limited to its ends (mode `clip`) or wrap around (`wrap`); fractional indices are truncated.
//!
//! Gradient: `ograd` at the elements that were picked, 0 elsewhere; an index has no gradient.
//!
//! MXNet: `pick`, also `choose_element_0index`, `_npx_pick`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; index any of these.

use crate::dtypes::NUMBERS;
use crate::families::gradients::{Answers, call_with_params};
use crate::families::indexing::{around_axis, gather_positions};
use crate::inference::{OP, learn, resolve_axis, unify};
use crate::numeric;
use mxrs_op::{
    Fill, Gradient, GradientScope, InputNames, MovedRows, Moves, OpDef, OpParams, Precision, RefInput, Sample, op_enum,
    op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// How to treat indices outside the axis.
    pub enum PickMode { Clip = "clip", Wrap = "wrap" }
}

op_params! {
    /// Parameters of `pick`.
    pub struct PickParams for "pick" {
        /// Axis to pick along; the flattened data if absent.
        axis: Option<i32> = Some(-1),
        /// Whether the axis is kept with size 1.
        keepdims: bool = false,
        /// How to treat indices outside the axis.
        mode: PickMode = PickMode::Clip,
    }
}

/// Defines the operator `pick`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_pick", "choose_element_0index"],
        summary: "one element of each row",
        inputs: InputNames::Fixed(&["data", "index"]),
        infer_shape,
        infer_dtype,
        dtypes: NUMBERS,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(|params, inputs, outputs, _| {
            let from = positions(params.get::<PickParams>(), &inputs[0].desc.shape, &inputs[1])?;
            gather_positions(&inputs[0], &mut outputs[0], &from);
            Ok(())
        }),
        moves: Moves::Rows { rows, moved: 0, is_backward: false },
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("pick").params::<PickParams>()
    }
}

const BACKWARD: &str = "_backward_pick";

/// Defines the backward operator: it takes (ograd, data, index) and returns ograd at the elements that were picked, 0
/// elsewhere. The content of data is not read.
fn define_backward() -> OpDef {
    OpDef {
        summary: "ograd where it was picked",
        inputs: InputNames::Fixed(&["ograd", "data", "index"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, data, index] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "output")?;
            let mut forward = [std::mem::take(data), std::mem::take(index)];
            let result = infer_shape(params, &mut forward, std::slice::from_mut(ograd));
            [*data, *index] = forward;
            result?;
            learn(&mut outputs[0], data, "output")
        },
        infer_dtype: |params, inputs, outputs| {
            let [ograd, data, index] = inputs else { return Ok(()) };
            infer_dtype(params, &mut [*data, *index], outputs)?;
            crate::inference::unify_dtypes([ograd, data].into_iter().chain(outputs), "data")
        },
        dtypes: NUMBERS,
        ignored_inputs: &[1],
        moves: Moves::Rows { rows, moved: 1, is_backward: true },
        gradient: Gradient::By(|_, scope| {
            let index = scope.input(2);
            let ograd = call_with_params(scope, "pick", &[index])?;
            Ok(vec![Some(ograd), None, None])
        }),
        reference: Some(|params, inputs, outputs, _| {
            let out = &mut outputs[0];
            let size = out.desc.dtype.size_of();
            out.bytes.fill(0);
            let to = positions(params.get::<PickParams>(), &out.desc.shape, &inputs[2])?;
            for (from, to) in inputs[0].bytes.chunks_exact(size).zip(to) {
                out.bytes[to * size..][..size].copy_from_slice(from);
            }
            Ok(())
        }),
        samples: || {
            let all = samples().into_iter().map(|mut sample| {
                let mut ograd = sample.inputs[0].clone();
                ograd.shape = sample.inputs[1].shape.clone();
                sample.inputs.insert(0, ograd);
                sample
            });
            // ograd gets the shape of the index here. So the sample whose index has another shape than the output is
            // left out.
            all.filter(|sample| sample.name != "kept_in_index").collect()
        },
        ..OpDef::new(BACKWARD).params::<PickParams>()
    }
}

fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let saved = [scope.input(0), scope.input(1)];
    Ok(vec![Some(call_with_params(scope, BACKWARD, &saved)?), None])
}

/// The elements to pick, as rows of one element.
fn rows(params: &OpParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
    let shape = &inputs[0].desc.shape;
    let rows = positions(params.get(), shape, &inputs[1])?.into_iter().map(Some).collect();
    Ok(MovedRows { outer: 1, n_rows: shape.n_elements(), len: 1, rows, constant: 0.0 })
}

/// Flat positions of the elements to pick.
fn positions(params: &PickParams, shape: &Shape, index: &RefInput<'_>) -> Result<Vec<usize>> {
    let (outer, size, inner) = match params.axis {
        Some(axis) => around_axis(shape, resolve_axis(i64::from(axis), shape.ndim(), "data")?),
        None => (1, shape.n_elements(), 1),
    };
    let n_rows = outer * inner;
    if n_rows > 0 && size == 0 {
        return Err(Error::shape(OP, "data", "at least one element to pick from", shape));
    }
    let picked = numeric::read(index).into_iter().take(n_rows).enumerate().map(|(row, index)| {
        let place = match params.mode {
            // The cast from float saturates, and makes NaN 0.
            PickMode::Clip => (index as i64).clamp(0, size as i64 - 1),
            PickMode::Wrap => (index as i64).rem_euclid(size as i64),
        };
        (row / inner * size + place as usize) * inner + row % inner
    });
    Ok(picked.collect())
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<PickParams>();
    let [data, index] = inputs else { return Ok(()) };
    let Some(ndim) = data.ndim() else { return Ok(()) };
    let Some(axis) = params.axis else {
        let one = PartialShape::new(vec![Some(1); if params.keepdims { ndim } else { 1 }]);
        learn(&mut outputs[0], &one, "output")?;
        return learn(index, &one, "index");
    };
    let axis = resolve_axis(i64::from(axis), ndim, "data")?;
    let mut kept = data.dims().unwrap_or_default().to_vec();
    kept[axis] = Some(1);
    let mut picked = kept.clone();
    picked.remove(axis);
    if picked.is_empty() {
        picked.push(Some(1));
    }
    let out = PartialShape::new(if params.keepdims { kept.clone() } else { picked.clone() });
    learn(&mut outputs[0], &out, "output")?;
    // An index may have the axis even if the output does not.
    let has_axis = index.ndim() == Some(ndim) || (index.ndim().is_none() && params.keepdims);
    learn(index, &PartialShape::new(if has_axis { kept } else { picked }), "index")
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [data, index] = inputs else { return Ok(()) };
    crate::inference::unify_dtypes([&mut *data, &mut outputs[0]], "output")?;
    *index = index.or(*data);
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("rows", &[&[3, 5], &[3]]).fill(1, Fill::Values(vec![4.0, 0.0, 2.0])),
        Sample::new("middle", [("axis", "1")], &[&[2, 3, 4], &[2, 4]]).fill(1, Fill::Integers(0, 3)),
        Sample::new("kept", [("keepdims", "True"), ("axis", "0")], &[&[4, 3], &[1, 3]]).fill(1, Fill::Integers(0, 4)),
        Sample::plain("kept_in_index", &[&[3, 5], &[3, 1]]).fill(1, Fill::Integers(0, 5)),
        Sample::plain("clipped", &[&[4, 3], &[4]]).fill(1, Fill::Values(vec![-2.0, 7.0, 1.9, 2.0])),
        Sample::new("around", [("mode", "wrap")], &[&[4, 3], &[4]]).fill(1, Fill::Values(vec![-1.0, 7.0, -4.0, 2.0])),
        Sample::new("flat", [("axis", "None")], &[&[2, 3], &[1]]).fill(1, Fill::Values(vec![4.0])),
        Sample::plain("no_rows", &[&[0, 3], &[0]]),
    ]
}
