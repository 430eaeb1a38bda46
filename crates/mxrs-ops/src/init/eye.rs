//! A matrix of zeros with ones on a diagonal: `out[i, i + k] = 1`. The shape is [N, M], or [N, N] if M is 0.
//!
//! Gradient: none, because there is nothing to differentiate.
//!
//! MXNet: `_eye`. Dtypes: f32 f64 f16 u8 i8 i32 i64.
// MXNet's parameters N and M are written in upper case.
#![allow(non_snake_case)]

use crate::dtypes::NUMBERS;
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::param::Choice;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, Sample, op_enum, op_params};
use mxrs_types::{PartialShape, Result};

op_enum! {
    /// Element type of the output.
    pub enum EyeDtype {
        F16 = "float16",
        F32 = "float32",
        F64 = "float64",
        I32 = "int32",
        I64 = "int64",
        I8 = "int8",
        U8 = "uint8",
    }
}

op_params! {
    /// Parameters of `_eye`.
    pub struct EyeParams for "_eye" {
        /// Number of rows.
        N: i64,
        /// Number of columns; that of rows if 0.
        M: i64 = 0,
        /// The diagonal: 0 is the main one, positive numbers are above it.
        k: i64 = 0,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: EyeDtype = EyeDtype::F32,
    }
}

/// Defines the operator `_eye`.
pub fn define() -> OpDef {
    OpDef {
        summary: "ones on a diagonal",
        inputs: InputNames::Fixed(&[]),
        infer_shape,
        infer_dtype: |params, _, outputs| {
            let dtype = params.get::<EyeParams>().dtype.to_word().parse().unwrap_or_default();
            learn_dtype(&mut outputs[0], dtype, "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, _| {
            let (k, shape) = (params.get::<EyeParams>().k, &outputs[0].desc.shape);
            let at = |place: usize| (place / shape[1], place % shape[1]);
            let is_one = |(row, column): (usize, usize)| (row as i64).saturating_add(k) == column as i64;
            let values: Vec<f64> = (0..shape.n_elements()).map(|place| f64::from(is_one(at(place)))).collect();
            numeric::write(&mut outputs[0], &values);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::new("square", [("N", "3")], &[]),
                Sample::new("above", [("N", "3"), ("M", "5"), ("k", "1")], &[]),
                Sample::new("below", [("N", "4"), ("M", "2"), ("k", "-2"), ("dtype", "int32")], &[]),
                Sample::new("outside", [("N", "2"), ("k", "7")], &[]),
            ]
        },
        ..OpDef::new("_eye").params::<EyeParams>()
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<EyeParams>();
    let columns = if params.M == 0 { params.N } else { params.M };
    let (Ok(rows), Ok(columns)) = (usize::try_from(params.N), usize::try_from(columns)) else {
        return Err(bad_attribute("_eye", "N and M", "no negative number", format!("{}, {}", params.N, params.M)));
    };
    learn(&mut outputs[0], &PartialShape::new([Some(rows), Some(columns)]), "output")
}
