//! `out = data` as another element type, elementwise. Floats round to nearest even; float to integer truncates toward
//! zero and saturates, NaN becomes 0; integer to integer keeps the low bits; anything but 0 is true.
//!
//! MXNet: `Cast`, also `_npi_cast`, `_npx_cast`, `cast`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool, on both sides.

use crate::dtypes::{DTypeWord, MOVABLE, dtype_of};
use crate::inference::learn_dtype;
use crate::numeric;
use mxrs_op::{Fill, OpDef, OpParams, Sample, op_params};
use mxrs_types::{DType, Result};

op_params! {
    /// Parameters of `Cast`.
    pub struct CastParams for "Cast" {
        /// Element type of the output.
        dtype: DTypeWord,
    }
}

impl CastParams {
    /// Element type of the output.
    pub fn output_dtype(&self) -> DType {
        dtype_of(self.dtype)
    }
}

/// `Cast`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_cast", "_npx_cast", "cast"],
        summary: "out = data as another dtype",
        infer_dtype,
        dtypes: MOVABLE,
        reference: Some(|_, inputs, outputs, _| {
            if inputs[0].desc.dtype.is_float() {
                numeric::map_float(inputs, outputs, |x| x);
            } else {
                let values = numeric::read_integers(&inputs[0]);
                numeric::write_integers(&mut outputs[0], &values);
            }
            Ok(())
        }),
        samples,
        ..OpDef::new("Cast").params::<CastParams>()
    }
}

fn infer_dtype(params: &OpParams, _: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    learn_dtype(&mut outputs[0], params.get::<CastParams>().output_dtype(), "output")
}

fn samples() -> Vec<Sample> {
    let wide = Fill::Uniform(-9.0, 9.0);
    vec![
        Sample::new("to_float32", [("dtype", "float32")], &[&[3, 5]]).fill(0, wide.clone()),
        Sample::new("to_float16", [("dtype", "float16")], &[&[2, 3, 4, 5]]).fill(0, wide.clone()),
        Sample::new("to_bfloat16", [("dtype", "bfloat16")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("to_float64", [("dtype", "float64")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("to_int32", [("dtype", "int32")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("to_int64", [("dtype", "int64")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("to_uint8", [("dtype", "uint8")], &[&[7]]).fill(0, Fill::Integers(0, 9)),
        Sample::new("to_bool", [("dtype", "bool")], &[&[7]]).fill(0, Fill::Integers(0, 2)),
        Sample::new("empty", [("dtype", "float16")], &[&[0, 2]]),
        Sample::new("special", [("dtype", "float16")], &[&[8]]).fill(0, Fill::Values(crate::unary::special_values())),
    ]
}
