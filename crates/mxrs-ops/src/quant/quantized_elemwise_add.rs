//! The sum of two quantized tensors of the same shape, and its range.
//!
//! lhs, rhs and out have the same shape; lhs_min, lhs_max, rhs_min, rhs_max, min_output and max_output are `[1]`. With a
//! calibrated range, out has 8 bits (u8 if both sides are u8, else i8), and its range is the calibrated range. Without a
//! calibrated range, out is i32, and its range extends to ± the sum of the largest absolute values of both sides.
//!
//! MXNet: `_contrib_quantized_elemwise_add`. If the sides have different types, MXNet rounds the u8 side one extra time;
//! this operator rounds sums once. Dtypes: i8 u8, which may differ between the sides.

use super::quantize_v2::extent;
use crate::families::quantized::{
    self, ACTIVATIONS, Range, floats, integers, learn_range_types, learn_ranges, range, require_type, sample,
    to_integer, write_ranges,
};
use crate::inference::{learn_dtype, unify_all};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_quantized_elemwise_add`.
    pub struct QuantizedAddParams for "_contrib_quantized_elemwise_add" {
        /// Smallest sum seen in calibration.
        min_calib_range: Option<f32> = None,
        /// Largest sum seen in calibration.
        max_calib_range: Option<f32> = None,
    }
}

impl QuantizedAddParams {
    /// The calibrated range, if there is one.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if only one end is given, or if the two ends are not a range.
    pub fn calibrated(&self) -> Result<Option<Range>> {
        Range::of_params("_contrib_quantized_elemwise_add", self.min_calib_range, self.max_calib_range)
    }
}

/// Names of the inputs.
pub(crate) const INPUTS: &[&str] = &["lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"];

/// Name of the operator.
pub const NAME: &str = "_contrib_quantized_elemwise_add";

/// Defines the operator `_contrib_quantized_elemwise_add`.
pub fn define() -> OpDef {
    OpDef {
        summary: "sum of two quantized tensors",
        inputs: InputNames::Fixed(INPUTS),
        infer_shape: |params, inputs, outputs| {
            params.get::<QuantizedAddParams>().calibrated()?;
            infer_pair(inputs, outputs)
        },
        infer_dtype,
        dtypes: ACTIVATIONS,
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define(NAME).params::<QuantizedAddParams>()
    }
}

/// Infers the shapes of two operands and a result, with their ranges.
pub(crate) fn infer_pair(inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    unify_all(&mut inputs[..2], &mut outputs[..1], "rhs")?;
    learn_ranges(&mut inputs[2..])?;
    learn_ranges(&mut outputs[1..])
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let calibrated = params.get::<QuantizedAddParams>().calibrated()?;
    require_type(inputs[0], ACTIVATIONS, "lhs")?;
    require_type(inputs[1], ACTIVATIONS, "rhs")?;
    learn_range_types(inputs[2..].iter_mut().chain(&mut outputs[1..]))?;
    match (calibrated, inputs[0], inputs[1]) {
        (None, ..) => learn_dtype(&mut outputs[0], DType::I32, "output"),
        (_, Some(DType::U8), Some(DType::U8)) => learn_dtype(&mut outputs[0], DType::U8, "output"),
        (_, Some(_), Some(_)) => learn_dtype(&mut outputs[0], DType::I8, "output"),
        _ => Ok(()),
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let sides = [range(&inputs[2], &inputs[3])?, range(&inputs[4], &inputs[5])?];
    let reach = sides[0].reach() + sides[1].reach();
    let calibrated = params.get::<QuantizedAddParams>().calibrated()?;
    let out = calibrated.unwrap_or_else(|| extent(&[-reach, reach]));
    let (dtype, per_unit) = (outputs[0].desc.dtype, out.per_unit(outputs[0].desc.dtype));
    let [a, b] = [0, 1].map(|i| sides[i].quantum(inputs[i].desc.dtype) * per_unit);
    let pairs = numeric::read(&inputs[0]).into_iter().zip(numeric::read(&inputs[1]));
    let sums: Vec<f64> = pairs.map(|(x, y)| to_integer(dtype, a * x + b * y)).collect();
    numeric::write(&mut outputs[0], &sums);
    write_ranges(outputs, &[out]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize], types: [DType; 2]| {
        let mut inputs = types.map(|t| integers(shape, t)).to_vec();
        inputs.extend([floats(&[-1.0]), floats(&[1.5]), floats(&[-0.5]), floats(&[2.5])]);
        sample(name, attrs, inputs)
    };
    let (i8, u8) = (DType::I8, DType::U8);
    let calibrated = [("min_calib_range", "-2"), ("max_calib_range", "3")];
    vec![
        of("signed", &calibrated, &[2, 3, 4, 5], [i8, i8]),
        of("unsigned", &calibrated, &[2, 16, 4, 5], [u8, u8]),
        of("unsigned_left", &calibrated, &[2, 3, 4, 5], [u8, i8]),
        of("unsigned_right", &calibrated, &[3, 17], [i8, u8]),
        of("own_range", &[], &[2, 3, 4, 5], [i8, i8]),
        of("own_range_unsigned", &[], &[3, 17], [u8, u8]),
        of("own_range_mixed", &[], &[3, 17], [i8, u8]),
        of("empty", &calibrated, &[0, 3], [i8, i8]),
    ]
}
