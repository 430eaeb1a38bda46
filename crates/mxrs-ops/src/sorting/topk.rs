//! The `k` first elements along an axis in descending, or ascending, order; all of them if `k` is below 1. `ret_typ` says
//! what the outputs are: the places (`indices`), the elements (`value`), the elements and the places (`both`), or a mask of
//! data's shape with 1 at those elements (`mask`). Without an axis, the data is flattened.
//!
//! Gradient: each of the elements gets its `ograd`, others 0. Places and masks have no gradient.
//!
//! MXNet: `topk`, also `_npx_topk`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; places as `dtype` says.

use super::argsort::PlaceDtype;
use crate::dtypes::{NUMBERS, dtype_of};
use crate::families::backward::samples_of;
use crate::families::gradients::params_of;
use crate::families::sorted::{Axis, ranks};
use crate::inference::{OP, learn, learn_dtype, product, resolve_axis, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_enum,
    op_params,
};
use mxrs_types::{Error, PartialShape, Result};

op_enum! {
    /// What the outputs are.
    pub enum ReturnType { Value = "value", Indices = "indices", Mask = "mask", Both = "both" }
}

op_params! {
    /// Parameters of `topk`.
    pub struct TopkParams for "topk" {
        /// Axis along which to search; the flattened data if absent.
        axis: Option<i32> = Some(-1),
        /// Number of elements; all if it is below 1.
        k: i32 = 1,
        /// What the outputs are.
        ret_typ: ReturnType = ReturnType::Indices,
        /// Whether the smallest elements come first.
        is_ascend: bool = false,
        /// Element type of the places.
        dtype: PlaceDtype = PlaceDtype::F32,
    }
}

impl TopkParams {
    /// The number of elements to take of an axis of this size.
    fn count(&self, size: usize) -> Result<usize> {
        match usize::try_from(self.k) {
            Ok(k) if k > size => Err(Error::shape(OP, "data", format!("{k} elements on the axis"), format!("{size}"))),
            Ok(k) if k > 0 => Ok(k),
            _ => Ok(size),
        }
    }

    fn has_values(&self) -> bool {
        matches!(self.ret_typ, ReturnType::Value | ReturnType::Both)
    }
}

const BACKWARD: &str = "_backward_topk";

/// Defines the operator `topk`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_topk"],
        summary: "first elements along an axis in sorted order",
        n_outputs: OutputCount::ByParams(|params| match params.get::<TopkParams>().ret_typ {
            ReturnType::Value | ReturnType::Both => 2,
            _ => 1,
        }),
        n_visible: OutputCount::ByParams(|params| match params.get::<TopkParams>().ret_typ {
            ReturnType::Both => 2,
            _ => 1,
        }),
        output_names: &["output0", "output1"],
        infer_shape,
        infer_dtype: |params, inputs, outputs| {
            let params: &TopkParams = params.get();
            if params.ret_typ == ReturnType::Indices {
                return learn_dtype(&mut outputs[0], dtype_of(params.dtype), "output");
            }
            unify_dtypes([&mut inputs[0], &mut outputs[0]], "output")?;
            outputs.iter_mut().skip(1).try_for_each(|places| learn_dtype(places, dtype_of(params.dtype), "output"))
        },
        dtypes: NUMBERS,
        gradient: Gradient::By(|params, scope| {
            if !params.get::<TopkParams>().has_values() {
                return Ok(vec![None]);
            }
            let (head, data) = (scope.out_grad(0)?, scope.input(0));
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &[head, data])?[0])])
        }),
        companions: || vec![backward()],
        reference: Some(run),
        samples,
        ..OpDef::new("topk").params::<TopkParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &TopkParams = params.get();
    if params.ret_typ == ReturnType::Mask {
        return unify(&mut inputs[0], &mut outputs[0], "output");
    }
    let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
    match params.axis {
        Some(axis) => {
            let axis = resolve_axis(i64::from(axis), dims.len(), "data")?;
            dims[axis] = dims[axis].map(|size| params.count(size)).transpose()?;
        }
        None => dims = vec![product(&dims).map(|size| params.count(size)).transpose()?],
    }
    let out = PartialShape::new(dims);
    outputs.iter_mut().try_for_each(|output| learn(output, &out, "output"))
}

/// Calls `visit` with the position of each chosen element in data, its position in the output, and its place on the axis.
fn visit_chosen(params: &TopkParams, data: &RefInput<'_>, mut visit: impl FnMut(usize, usize, usize)) -> Result<()> {
    let axis = Axis::of(&data.desc.shape, params.axis)?;
    let k = params.count(axis.size)?;
    for (line, places) in ranks(data, axis, params.is_ascend).into_iter().enumerate() {
        for (rank, place) in places.into_iter().take(k).enumerate() {
            visit(axis.position(line, place, axis.size), axis.position(line, rank, k), place);
        }
    }
    Ok(())
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &TopkParams = params.get();
    let size = inputs[0].desc.dtype.size_of();
    let mut places = vec![0.0; outputs[outputs.len() - 1].desc.shape.n_elements()];
    let is_mask = params.ret_typ == ReturnType::Mask;
    visit_chosen(params, &inputs[0], |from, to, place| {
        match is_mask {
            true => places[from] = 1.0,
            false => places[to] = place as f64,
        }
        if params.has_values() {
            outputs[0].bytes[to * size..][..size].copy_from_slice(&inputs[0].bytes[from * size..][..size]);
        }
    })?;
    if let Some(output) = outputs.last_mut() {
        numeric::write(output, &places);
    }
    Ok(())
}

/// Takes (ograd, data) and returns the gradient of data.
fn backward() -> OpDef {
    OpDef {
        summary: "gradient of topk",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |params, inputs, outputs| {
            crate::families::gradients::infer_shape_by(infer_shape, params, inputs, outputs)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: NUMBERS,
        accuracy: Accuracy::Exact,
        reference: Some(|params, inputs, outputs, _| {
            let ograd = numeric::read(&inputs[0]);
            let mut gradient = vec![0.0; outputs[0].desc.shape.n_elements()];
            visit_chosen(params.get(), &inputs[1], |from, to, _| gradient[from] = ograd[to])?;
            numeric::write(&mut outputs[0], &gradient);
            Ok(())
        }),
        samples: || {
            let mut samples = samples_of(&define(), |sample, outputs| Some([&outputs[..1], &sample.inputs].concat()));
            samples.retain(|sample| sample.attrs.get("ret_typ").is_some_and(|word| word == "value" || word == "both"));
            samples
        },
        ..OpDef::new(BACKWARD).params::<TopkParams>()
    }
}

fn samples() -> Vec<Sample> {
    let value = ("ret_typ", "value");
    vec![
        Sample::new("values", [value, ("k", "2")], &[&[3, 5]]),
        Sample::new("both", [("ret_typ", "both"), ("k", "3"), ("axis", "0"), ("is_ascend", "True")], &[&[4, 3]]),
        Sample::new("flat", [value, ("k", "2"), ("axis", "None")], &[&[2, 3]]),
        Sample::new("places", [("k", "2"), ("dtype", "int32")], &[&[2, 4]]),
        Sample::new("mask", [("ret_typ", "mask"), ("k", "2")], &[&[2, 4]]),
        Sample::new("all", [value, ("k", "0")], &[&[2, 3]]),
        Sample::new("empty", [value, ("axis", "1")], &[&[0, 3]]),
    ]
}
