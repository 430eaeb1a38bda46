//! One number for every element of an array: `out = src`.
//!
//! MXNet's operator takes the shape and the type of the array that it writes to. They are parameters here, `shape` and `dtype`;
//! an imperative call that gives only its output takes both from the output.
//!
//! Gradient: none, because there is nothing to differentiate.
//!
//! MXNet: `_set_value`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::{DTypeWord, MOVABLE, dtype_of};
use crate::families::filled;
use crate::inference::{bad_attribute, learn, learn_dtype};
use mxrs_op::param::{Field, ShapeAttr};
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{PartialShape, Result};

/// A number. MXNet's C API calls its type `real_t`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

impl Field for Real {
    fn type_name() -> String {
        "real_t".into()
    }
    fn parse(text: &str) -> std::result::Result<Self, String> {
        f64::parse(text).map(Self)
    }
    fn default_text(&self) -> String {
        self.0.default_text()
    }
    fn type_text(_: Option<&Self>) -> String {
        Self::type_name()
    }
}

op_params! {
    /// Parameters of `_set_value`.
    pub struct SetValueParams for "_set_value" {
        /// The value of every element.
        src: Real,
        /// Shape of the output; inferred from where the output is used if absent.
        shape: Option<ShapeAttr> = None,
        /// Element type of the output.
        dtype: DTypeWord = DTypeWord::F32,
    }
}

/// Defines the operator `_set_value`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = src",
        inputs: InputNames::Fixed(&[]),
        infer_shape,
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<SetValueParams>().dtype), "output")
        },
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, _| {
            filled::fill(&mut outputs[0], params.get::<SetValueParams>().src.0);
            Ok(())
        }),
        samples: || {
            let value = ("src", "2.5");
            vec![
                Sample::new("matrix", [value, ("shape", "(3, 5)")], &[]),
                Sample::new("scalar", [value, ("shape", "()")], &[]),
                Sample::new("integers", [value, ("shape", "(4,)"), ("dtype", "int32")], &[]),
                Sample::new("empty", [value, ("shape", "(0, 2)")], &[]),
            ]
        },
        ..OpDef::new("_set_value").params::<SetValueParams>()
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some(shape) = &params.get::<SetValueParams>().shape else { return Ok(()) };
    let size = |size: &i64| usize::try_from(*size).map(Some);
    let sizes: std::result::Result<Vec<_>, _> = shape.iter().map(size).collect();
    let sizes = sizes.map_err(|_| bad_attribute("_set_value", "shape", "no negative size", shape.to_text()))?;
    learn(&mut outputs[0], &PartialShape::new(sizes), "output")
}
