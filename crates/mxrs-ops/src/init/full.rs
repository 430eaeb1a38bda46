//! `out = value` everywhere, of the shape and dtype in the parameters. No inputs.
//!
//! MXNet: `_full`, also `_npi_full`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; an integer type truncates the value.

use crate::dtypes::{DTypeWord, dtype_of};
use crate::families::filled;
use crate::inference::learn_dtype;
use mxrs_op::param::{Field, ShapeAttr};
use mxrs_op::{OpDef, OpParams, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

/// A shape that may be `None`. MXNet's C API lists its type as a plain shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeOrNone(pub Option<ShapeAttr>);

impl Field for ShapeOrNone {
    fn type_name() -> String {
        ShapeAttr::type_name()
    }
    fn parse(text: &str) -> Result<Self, String> {
        Option::<ShapeAttr>::parse(text).map(Self)
    }
    fn default_text(&self) -> String {
        self.0.default_text()
    }
}

op_params! {
    /// Parameters of `_full`.
    pub struct FullParams for "_full" {
        /// Shape of the output. A size of 0, or an empty shape, is inferred from where the output is used.
        shape: ShapeOrNone = ShapeOrNone(None),
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: DTypeWord = DTypeWord::F32,
        /// The value of every element.
        value: f64,
    }
}

/// Defines the operator `_full`.
pub fn define() -> OpDef {
    let init = filled::define("_full", "out = value").params::<FullParams>();
    OpDef {
        aliases: &["_npi_full"],
        infer_shape,
        infer_dtype,
        reference: Some(|params, _, outputs, _| {
            filled::fill(&mut outputs[0], params.get::<FullParams>().value);
            Ok(())
        }),
        samples,
        ..init
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    filled::learn_shape(params.get::<FullParams>().shape.0.as_deref().unwrap_or(&[]), &mut outputs[0])
}

fn infer_dtype(params: &OpParams, _: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    learn_dtype(&mut outputs[0], dtype_of(params.get::<FullParams>().dtype), "output")
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("matrix", [("shape", "(3, 5)"), ("value", "2.5")], &[]),
        Sample::new("one", [("shape", "(1,)"), ("value", "-1")], &[]),
        Sample::new("integers", [("shape", "(4,)"), ("value", "2.9"), ("dtype", "int32")], &[]),
        Sample::new("infinity", [("shape", "(4,)"), ("value", "inf"), ("dtype", "float16")], &[]),
    ]
}
