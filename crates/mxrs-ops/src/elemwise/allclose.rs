//! Whether two tensors are equal up to a tolerance: 1 if `|a - b| <= atol + rtol · |b|` for all elements, else 0. Infinities
//! are close to themselves, and NaN to NaN with `equal_nan`. The output has no axes, and the type uint8.
//!
//! Gradient: zero.
//!
//! MXNet: `_contrib_allclose`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::inference::{learn, learn_dtype, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, Sample, op_params};
use mxrs_types::{DType, Shape};

op_params! {
    /// Parameters of `_contrib_allclose`.
    pub struct AllcloseParams for "_contrib_allclose" {
        /// Relative tolerance.
        rtol: f32 = 1e-5,
        /// Absolute tolerance.
        atol: f32 = 1e-8,
        /// Whether NaN is close to NaN.
        equal_nan: bool = true,
    }
}

/// Defines the operator `_contrib_allclose`.
pub fn define() -> OpDef {
    OpDef {
        summary: "1 if a and b are equal up to a tolerance",
        inputs: InputNames::Fixed(&["a", "b"]),
        infer_shape: |_, inputs, outputs| {
            unify_all(inputs, &mut [], "b")?;
            learn(&mut outputs[0], &Shape::from([0usize; 0]).into(), "output")
        },
        infer_dtype: |_, inputs, outputs| {
            unify_dtypes(inputs.iter_mut(), "b")?;
            learn_dtype(&mut outputs[0], DType::U8, "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let AllcloseParams { rtol, atol, equal_nan } = params.get();
            let (rtol, atol) = (f64::from(*rtol), f64::from(*atol));
            let is_close = |(a, b): (f64, f64)| {
                a == b
                    || (*equal_nan && a.is_nan() && b.is_nan())
                    || (b.is_finite() && (a - b).abs() <= atol + rtol * b.abs())
            };
            let all = numeric::read(&inputs[0]).into_iter().zip(numeric::read(&inputs[1])).all(is_close);
            numeric::write(&mut outputs[0], &[f64::from(all)]);
            Ok(())
        }),
        samples: || {
            let same = |name, values: &[f64]| {
                let fill = Fill::Values(values.to_vec());
                Sample::plain(name, &[&[values.len()], &[values.len()]]).fill(0, fill.clone()).fill(1, fill)
            };
            vec![
                Sample::plain("different", &[&[3, 5], &[3, 5]]),
                same("same", &[1.0, -2.0, 3.0]),
                same("special", &[f64::INFINITY, f64::NAN, 0.0]),
                same("empty", &[]),
            ]
        },
        ..OpDef::new("_contrib_allclose").params::<AllcloseParams>()
    }
}
