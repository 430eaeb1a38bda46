//! `out = 0` everywhere, of a shape and an element type that follow from where the output is used, unless the parameters name
//! them. No inputs.
//!
//! MXNet: `_zeros_without_dtype`, the zero gradients of its executor. `dtype` is the number of a type: 0 is float32, and -1
//! leaves the type open. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use super::full::ShapeOrNone;
use super::zeros;
use crate::dtypes::{DTypeWord, MOVABLE};
use crate::families::filled::{self, InitParams};
use crate::inference::{bad_attribute, learn_dtype};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};
use std::sync::{Arc, LazyLock};

op_params! {
    /// Parameters of `_zeros_without_dtype`.
    pub struct OpenZerosParams for "_zeros_without_dtype" {
        /// Shape of the output. A size of 0, or an empty shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Number of the element type; inferred from where the output is used if -1.
        dtype: i32 = -1,
    }
}

/// The operator whose kernels compute this one. They fill outputs of any shape and type.
static TYPED: LazyLock<(Arc<OpDef>, OpParams)> = LazyLock::new(|| {
    let params = InitParams { shape: ShapeAttr::default(), ctx: String::new(), dtype: DTypeWord::F32 };
    (Arc::new(zeros::define()), OpParams::new(params))
});

/// Defines the operator `_zeros_without_dtype`.
pub fn define() -> OpDef {
    let init = filled::define("_zeros_without_dtype", "out = 0, of any type").params::<OpenZerosParams>();
    OpDef {
        infer_shape,
        infer_dtype,
        same_as: Some(|_| Some(TYPED.clone())),
        reference: Some(|_, _, outputs, _| {
            filled::fill(&mut outputs[0], 0.0);
            Ok(())
        }),
        samples,
        ..init
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    filled::learn_shape(params.get::<OpenZerosParams>().shape.0.as_deref().unwrap_or(&[]), &mut outputs[0])
}

fn infer_dtype(params: &OpParams, _: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let number = params.get::<OpenZerosParams>().dtype;
    if number == -1 {
        return Ok(());
    }
    match DType::from_flag(number).filter(|dtype| MOVABLE.contains(dtype)) {
        Some(dtype) => learn_dtype(&mut outputs[0], dtype, "output"),
        None => Err(bad_attribute("_zeros_without_dtype", "dtype", "-1 or the number of an element type", number)),
    }
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("matrix", [("shape", "(3, 5)"), ("dtype", "0")], &[]),
        Sample::new("one", [("shape", "(1,)"), ("dtype", "1")], &[]),
        Sample::new("float16", [("shape", "(2, 3, 4)"), ("dtype", "2")], &[]),
        Sample::new("int64", [("shape", "(7,)"), ("dtype", "6"), ("ctx", "cpu(0)")], &[]),
    ]
}
