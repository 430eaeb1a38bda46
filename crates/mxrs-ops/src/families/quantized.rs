//! Quantized tensors: integers with a range `min`, `max` that defines which real numbers they represent.
//!
//! An element `q` represents `q · quantum` with `quantum = max(|min|, |max|) / levels`, where levels are 127.5 for i8,
//! 255.5 for u8 and 2³¹ - 1 for i32. The integer 0 represents the number 0. To quantize a real number, it is divided by
//! the quantum, rounded to the nearest integer (halves to even), and saturated at -128 and 127, or 0 and 255. In a
//! range of zero width everything is 0.
//!
//! A range is two f32 tensors of one element each. The range of a weight may instead have one element per output
//! channel. Then the range of the output of a convolution or fully-connected layer with this weight also has one
//! element per channel, along axis 1. MXNet 1.9.1 does not have ranges per channel.
//!
//! MXNet: the oneDNN kernels of MXNet quantize and dequantize by the same rule. MXNet's convolutions, fully-connected
//! layers and `_contrib_requantize` use 127 levels instead, which makes every requantized result 0.4 % too large. In
//! this crate all operators use one rule, and integers differ from MXNet's by less than one quantum.

use crate::inference::{OP, bad_attribute, learn, learn_dtype, unify_dtypes};
use crate::numeric;
use mxrs_op::{InputNames, OpDef, OutputCount, RefInput, RefOutput, Sample, SampleInput, op_enum};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// The integer type of a quantized tensor.
    pub enum QuantType { Auto = "auto", Int8 = "int8", Uint8 = "uint8" }
}

/// A range given by two parameters, both present or both absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
}

impl Range {
    /// The range of the parameters `min_calib_range` and `max_calib_range` of operator `op`.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if only one end is given, if an end is not finite, or if `min` exceeds `max`.
    pub fn of_params(op: &str, min: Option<f32>, max: Option<f32>) -> Result<Option<Self>> {
        match (min, max) {
            (None, None) => Ok(None),
            (Some(min), Some(max)) if min.is_finite() && max.is_finite() && min <= max => {
                Ok(Some(Self { min: min.into(), max: max.into() }))
            }
            (Some(min), Some(max)) => {
                let expected = "two finite numbers, the minimum first";
                Err(bad_attribute(op, "min_calib_range", expected, format!("{min} and max_calib_range {max}")))
            }
            (Some(_), None) => {
                Err(bad_attribute(op, "max_calib_range", "a number, as min_calib_range is given", "None"))
            }
            (None, Some(_)) => {
                Err(bad_attribute(op, "min_calib_range", "a number, as max_calib_range is given", "None"))
            }
        }
    }

    /// The largest absolute value in the range.
    pub fn reach(self) -> f64 {
        self.min.abs().max(self.max.abs())
    }

    /// The difference of the real numbers that two successive integers of this type represent.
    pub fn quantum(self, dtype: DType) -> f64 {
        self.reach() / levels(dtype)
    }

    /// Number of quanta in the real number 1; 0 for a range of zero width.
    pub fn per_unit(self, dtype: DType) -> f64 {
        if self.reach() > 0.0 { levels(dtype) / self.reach() } else { 0.0 }
    }

    /// The range that an operator returns together with integers of this type. For i8, the range is made symmetric.
    pub fn reported(self, dtype: DType) -> Self {
        let reach = self.reach();
        if dtype == DType::I8 { Self { min: -reach, max: reach } } else { self }
    }
}

/// Number of quanta between 0 and the end of a range.
pub fn levels(dtype: DType) -> f64 {
    match dtype {
        DType::I8 => 127.5,
        DType::U8 => 255.5,
        _ => f64::from(i32::MAX),
    }
}

/// Rounds `value` to the nearest integer of this type, halves to even; NaN becomes 0.
pub fn to_integer(dtype: DType, value: f64) -> f64 {
    let (low, high) = match dtype {
        DType::I8 => (-128.0, 127.0),
        DType::U8 => (0.0, 255.0),
        _ => (f64::from(i32::MIN), f64::from(i32::MAX)),
    };
    if value.is_nan() { 0.0 } else { value.round_ties_even().clamp(low, high) }
}

/// The dtype that `out_type` selects; `auto` is u8 for a calibrated range without negative numbers, else i8.
pub fn chosen_type(out_type: QuantType, calibrated: Option<Range>) -> DType {
    match (out_type, calibrated) {
        (QuantType::Uint8, _) => DType::U8,
        (QuantType::Auto, Some(range)) if range.min >= 0.0 => DType::U8,
        _ => DType::I8,
    }
}

/// Reads the ranges from the inputs `min` and `max`: a single range, or one per channel.
pub fn ranges(min: &RefInput<'_>, max: &RefInput<'_>) -> Vec<Range> {
    numeric::read(min).into_iter().zip(numeric::read(max)).map(|(min, max)| Range { min, max }).collect()
}

/// Reads the first range from the inputs `min` and `max`.
///
/// # Errors
/// Fails if `min` or `max` has no element.
pub fn range(min: &RefInput<'_>, max: &RefInput<'_>) -> Result<Range> {
    ranges(min, max).first().copied().ok_or_else(|| Error::shape(OP, "range", "one element", &min.desc.shape))
}

/// Writes the lower ends of `ranges` to the second to last output, and the upper ends to the last output.
pub fn write_ranges(outputs: &mut [RefOutput<'_>], ranges: &[Range]) {
    if let [.., min, max] = outputs {
        numeric::write(min, &ranges.iter().map(|r| r.min).collect::<Vec<_>>());
        numeric::write(max, &ranges.iter().map(|r| r.max).collect::<Vec<_>>());
    }
}

/// Index of the range that belongs to element `i` of a tensor: the element's position along axis 1, or 0 if there is a
/// single range.
pub fn range_of(i: usize, n_ranges: usize, shape: &Shape) -> usize {
    if n_ranges <= 1 {
        return 0;
    }
    let inner: usize = shape.iter().skip(2).product();
    i / inner.max(1) % n_ranges
}

/// Infers that ranges have one element each.
pub fn learn_ranges(shapes: &mut [PartialShape]) -> Result<()> {
    let one = PartialShape::new([Some(1)]);
    shapes.iter_mut().try_for_each(|shape| learn(shape, &one, "range"))
}

/// Infers that all ranges have the same shape: one element, or one element per channel. If no shape is known, the ranges get
/// one element.
pub fn learn_channel_ranges<'a>(
    shapes: impl IntoIterator<Item = &'a mut PartialShape>,
    channels: Option<usize>,
) -> Result<()> {
    let shapes: Vec<&mut PartialShape> = shapes.into_iter().collect();
    let mut all = PartialShape::of_rank(1);
    for shape in &shapes {
        learn(&mut all, shape, "range")?;
    }
    let size = all.dim(0).unwrap_or(1);
    let expected = match channels {
        Some(channels) if size != 1 && size != channels => {
            Some(format!("one element, or {channels}: one per output channel"))
        }
        None if size == 0 => Some("one element, or one per output channel".to_owned()),
        _ => None,
    };
    if let Some(expected) = expected {
        return Err(Error::shape(OP, "range", expected, format!("{size} elements")));
    }
    let all = PartialShape::new([Some(size)]);
    shapes.into_iter().try_for_each(|shape| learn(shape, &all, "range"))
}

/// Infers the shapes of the ranges of the input `data`: one element, or one element per position along axis 1 of `data`.
pub fn learn_data_ranges(ranges: &mut [PartialShape], data: &PartialShape) -> Result<()> {
    match data.ndim() {
        Some(0 | 1) => learn_ranges(ranges),
        _ => learn_channel_ranges(ranges, data.dim(1)),
    }
}

/// Infers that ranges are float32.
pub fn learn_range_types<'a>(types: impl IntoIterator<Item = &'a mut Option<DType>>) -> Result<()> {
    types.into_iter().try_for_each(|t| learn_dtype(t, DType::F32, "range"))
}

/// Checks that the type of the input `arg`, if known, is one of `allowed`.
pub fn require_type(dtype: Option<DType>, allowed: &[DType], arg: &str) -> Result<()> {
    match dtype {
        Some(dtype) if !allowed.contains(&dtype) => {
            let names: Vec<&str> = allowed.iter().map(|d| d.name()).collect();
            Err(Error::dtype(OP, arg, names.join(" or "), dtype.name()))
        }
        _ => Ok(()),
    }
}

/// The dtypes of quantized activations.
pub const ACTIVATIONS: &[DType] = &[DType::I8, DType::U8];

/// Names of the three outputs: a quantized tensor and the ends of its range.
pub const OUTPUTS: &[&str] = &["output", "min_output", "max_output"];

/// Defines an operator with three outputs: integers, and the two ends of their range.
pub fn define(name: &'static str) -> OpDef {
    OpDef {
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: OUTPUTS,
        ..OpDef::new(name)
    }
}

/// Defines an operator on one quantized tensor. The result has the integer type of this tensor.
pub fn define_same_type(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["data", "min_data", "max_data"]),
        infer_dtype: |_, inputs, outputs| {
            require_type(inputs[0], ACTIVATIONS, "data")?;
            learn_range_types(inputs[1..].iter_mut().chain(&mut outputs[1..]))?;
            unify_dtypes([&mut inputs[0], &mut outputs[0]], "output")
        },
        dtypes: ACTIVATIONS,
        ..define(name)
    }
}

/// A sample's input of this integer type, with values over its whole range.
pub fn integers(shape: &[usize], dtype: DType) -> SampleInput {
    let (low, high) = match dtype {
        DType::I8 => (-128, 128),
        DType::U8 => (0, 256),
        _ => (-2_000_000, 2_000_000),
    };
    SampleInput { shape: Shape::from(shape), fill: mxrs_op::Fill::Integers(low, high), dtype: Some(dtype) }
}

/// A sample's input of these float32 values.
pub fn floats(values: &[f64]) -> SampleInput {
    let fill = mxrs_op::Fill::Values(values.to_vec());
    SampleInput { shape: Shape::from([values.len()]), fill, dtype: Some(DType::F32) }
}

/// A sample with these inputs.
pub fn sample(name: &'static str, attrs: &[(&str, &str)], inputs: Vec<SampleInput>) -> Sample {
    Sample { name, attrs: attrs.iter().copied().collect(), inputs, is_train: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_to_even_and_ends_saturate() {
        for (value, expected) in [(0.5, 0.0), (1.5, 2.0), (-2.5, -2.0), (127.4, 127.0), (1e9, 127.0), (-1e9, -128.0)] {
            assert_eq!(to_integer(DType::I8, value), expected, "{value}");
        }
        assert_eq!(to_integer(DType::U8, -3.0), 0.0);
        assert_eq!(to_integer(DType::U8, f64::NAN), 0.0);
        assert_eq!(to_integer(DType::I32, 1e12), f64::from(i32::MAX));
    }

    #[test]
    fn a_number_comes_back_within_half_a_quantum() {
        for dtype in [DType::I8, DType::U8] {
            let range = Range { min: 0.0, max: 3.0 };
            for k in 0..=1000 {
                let x = f64::from(k) * 0.00298;
                let back = to_integer(dtype, x * range.per_unit(dtype)) * range.quantum(dtype);
                assert!((back - x).abs() <= 0.5001 * range.quantum(dtype), "{x} became {back}");
            }
        }
        let nothing = Range { min: 0.0, max: 0.0 };
        assert_eq!((nothing.per_unit(DType::I8), nothing.quantum(DType::I8)), (0.0, 0.0));
    }

    #[test]
    fn half_a_range_is_refused() {
        for (min, max) in [(Some(1.0), None), (None, Some(1.0)), (Some(2.0), Some(1.0)), (Some(f32::NAN), Some(1.0))] {
            let error = Range::of_params("_contrib_requantize", min, max).expect_err("no range").to_string();
            assert!(error.contains("calib_range"), "{error}");
        }
    }
}
