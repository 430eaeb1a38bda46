//! The definition that operators without inputs share: the parameters `shape`, `ctx` and `dtype`, and one value for every
//! element.

use crate::dtypes::{DTypeWord, MOVABLE, dtype_of};
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, RefOutput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `_zeros` and `_ones`.
    pub struct InitParams for "init" {
        /// Shape of the output. A size of 0, or an empty shape, is inferred from where the output is used.
        shape: ShapeAttr = ShapeAttr::default(),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: DTypeWord = DTypeWord::F32,
    }
}

/// Defines an operator without inputs.
pub fn define(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::Fixed(&[]),
        infer_shape,
        infer_dtype,
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        samples,
        ..OpDef::new(name).params::<InitParams>()
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    learn_shape(&params.get::<InitParams>().shape, &mut outputs[0])
}

fn infer_dtype(params: &OpParams, _: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    learn_dtype(&mut outputs[0], dtype_of(params.get::<InitParams>().dtype), "output")
}

/// Infers the output's shape from the parameter. An empty shape means that the shape is unknown, and a size of 0 means
/// that this size is unknown.
pub fn learn_shape(shape: &[i64], output: &mut PartialShape) -> Result<()> {
    if shape.is_empty() {
        return Ok(());
    }
    if let Some(negative) = shape.iter().find(|size| **size < 0) {
        return Err(bad_attribute("init", "shape", "no negative size", negative));
    }
    let sizes = shape.iter().map(|size| usize::try_from(*size).ok().filter(|size| *size > 0));
    learn(output, &PartialShape::new(sizes), "output")
}

/// Writes one value to every element.
pub fn fill(output: &mut RefOutput<'_>, value: f64) {
    let n = output.desc.shape.n_elements();
    numeric::write(output, &vec![value; n]);
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("matrix", [("shape", "(3, 5)")], &[]),
        Sample::new("one", [("shape", "(1,)")], &[]),
        Sample::new("float16", [("shape", "(2, 3, 4)"), ("dtype", "float16")], &[]),
        Sample::new("int64", [("shape", "(7,)"), ("dtype", "int64")], &[]),
        Sample::new("on_device", [("shape", "(2, 2)"), ("ctx", "cpu(0)")], &[]),
    ]
}
