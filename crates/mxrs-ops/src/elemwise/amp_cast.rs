//! `out = data` converted to `dtype`, if data is float32, float16 or bfloat16. Other types, such as float64, are not
//! changed. Mixed precision inserts this operator between calls.
//!
//! Gradient: `ograd` converted to data's type.
//!
//! MXNet: `amp_cast`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool for data.

use super::cast::{cast_back, convert};
use crate::dtypes::{MOVABLE, NumberWord, dtype_of};
use crate::families::amp_scale_gradient;
use crate::inference::learn_dtype;
use crate::numeric::{self, reference};
use mxrs_op::{Fill, Gradient, OpDef, OpParams, Pointwise, Precision, RefInput, RefOutput, Sample, op_params};
use mxrs_types::{DType, Result};

op_params! {
    /// Parameters of `amp_cast`.
    pub struct AmpCastParams for "amp_cast" {
        /// Element type of the output, where data is float32, float16 or bfloat16.
        dtype: NumberWord,
    }
}

/// Defines the operator `amp_cast`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data as another dtype, where data is float32, float16 or bfloat16",
        infer_dtype,
        dtypes: MOVABLE,
        pointwise: Pointwise::Yes,
        gradient: Gradient::By(|_, scope| cast_back(scope)),
        companions: || vec![amp_scale_gradient::define()],
        reference: reference!(pass_or_convert),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("amp_cast").params::<AmpCastParams>()
    }
}

/// Whether mixed precision converts elements of this type.
pub(super) fn is_converted(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
}

/// Computes the first output from the first input: a copy if the type stays the same, else a conversion.
pub(super) fn pass_or_convert(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
    match inputs[0].desc.dtype == outputs[0].desc.dtype {
        true => numeric::copy_bytes(inputs, outputs),
        false => convert(inputs, outputs),
    }
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let Some(from) = inputs[0] else { return Ok(()) };
    let to = if is_converted(from) { dtype_of(params.get::<AmpCastParams>().dtype) } else { from };
    learn_dtype(&mut outputs[0], to, "output")
}

fn samples() -> Vec<Sample> {
    let wide = Fill::Uniform(-9.0, 9.0);
    vec![
        Sample::new("to_bfloat16", [("dtype", "bfloat16")], &[&[3, 5]]).fill(0, wide.clone()),
        Sample::new("to_float16", [("dtype", "float16")], &[&[2, 3, 4, 5]]).fill(0, wide.clone()),
        Sample::new("to_float32", [("dtype", "float32")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("to_float64", [("dtype", "float64")], &[&[7]]).fill(0, wide.clone()),
        Sample::new("widens", [("dtype", "float32")], &[&[7]]).fill(0, wide).dtype(0, DType::BF16),
        Sample::new("integers", [("dtype", "bfloat16")], &[&[7]]).fill(0, Fill::Integers(0, 9)).dtype(0, DType::I32),
        Sample::new("empty", [("dtype", "bfloat16")], &[&[0, 2]]),
    ]
}
