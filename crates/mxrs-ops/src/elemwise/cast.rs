//! `out = data` converted to another element type, elementwise. Floats round to nearest even; float to integer truncates
//! toward zero and saturates, and NaN becomes 0; integer to integer keeps the low bits. In a conversion to bool, 0 is false
//! and every other number is true.
//!
//! Gradient: `ograd` converted to data's type.
//!
//! MXNet: `Cast`, also `_npi_cast`, `_npx_cast`, `cast`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool, on both sides.

use crate::dtypes::{DTypeWord, MOVABLE, dtype_of};
use crate::families::gradients::Answers;
use crate::inference::{learn_dtype, unify_all, unify_dtypes};
use crate::numeric::{self, reference};
use mxrs_op::{
    Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, Pointwise, Precision, RefInput, RefOutput, Sample,
    op_params,
};
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

/// Defines the operator `Cast`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_cast", "_npx_cast", "cast"],
        summary: "out = data as another dtype",
        infer_dtype,
        dtypes: MOVABLE,
        pointwise: Pointwise::Yes,
        gradient: Gradient::By(|_, scope| cast_back(scope)),
        companions: || vec![backward()],
        reference: reference!(convert),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("Cast").params::<CastParams>()
    }
}

const BACKWARD: &str = "_backward_cast";

/// The gradient of an operator that converts input 0: the gradient of output 0 converted to the type of that input. The
/// other inputs have no gradient.
pub(super) fn cast_back(scope: &mut dyn GradientScope) -> Answers {
    let (head, like) = (scope.out_grad(0)?, scope.input(0));
    let mut answers = vec![None; scope.n_inputs()];
    answers[0] = Some(scope.call_one(BACKWARD, &[head, like])?);
    Ok(answers)
}

/// Defines the backward operator: it takes (ograd, data) and returns ograd converted to data's type. The content of data is
/// not read.
fn backward() -> OpDef {
    OpDef {
        summary: "ograd as data's dtype",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |_, inputs, outputs| unify_all(inputs, outputs, "data"),
        infer_dtype: |_, inputs, outputs| unify_dtypes([&mut inputs[1], &mut outputs[0]], "data"),
        dtypes: MOVABLE,
        pointwise: Pointwise::Yes,
        ignored_inputs: &[1],
        gradient: Gradient::By(|_, scope| cast_back(scope)),
        reference: reference!(convert),
        samples: || {
            let to = |name, shape: &[usize], dtype| Sample::plain(name, &[shape, shape]).dtype(1, dtype);
            vec![
                to("to_float32", &[3, 5], DType::F32),
                to("to_float16", &[2, 3, 4], DType::F16),
                to("to_float64", &[7], DType::F64),
                to("to_int32", &[7], DType::I32),
                to("empty", &[0, 2], DType::BF16),
            ]
        },
        ..OpDef::new(BACKWARD)
    }
}

pub(super) fn convert(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
    if inputs[0].desc.dtype.is_float() {
        numeric::map_float(inputs, outputs, |x| x);
    } else {
        let values = numeric::read_integers(&inputs[0]);
        numeric::write_integers(&mut outputs[0], &values);
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
        Sample::new("special", [("dtype", "float16")], &[&[8]])
            .fill(0, Fill::Values(crate::families::unary::special_values())),
    ]
}
