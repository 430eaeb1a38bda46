//! Position of the largest element along an axis; the first, if there are several. NaN counts as largest.
//!
//! [a, b] over axis 1 gives `[a]`. Without an axis, the result is a position in the flattened tensor, and its shape is
//! `[1]`. The result has the dtype of data, so positions are exact up to 2^24 in f32, and up to 2048 in f16.
//!
//! Gradient: 0.
//!
//! MXNet: `argmax`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::reduction::{groups, learn_reduced};
use crate::inference::resolve_axis;
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `argmax`.
    pub struct ArgmaxParams for "argmax" {
        /// Axis to search; the flattened tensor if absent.
        axis: Option<i32> = None,
        /// Whether the axis stays with size 1.
        keepdims: bool = false,
    }
}

impl ArgmaxParams {
    fn reduced(&self, ndim: usize) -> Result<Vec<bool>> {
        let Some(axis) = self.axis else { return Ok(vec![true; ndim]) };
        let axis = resolve_axis(i64::from(axis), ndim, "data")?;
        Ok((0..ndim).map(|i| i == axis).collect())
    }
}

/// Defines the operator `argmax`.
pub fn define() -> OpDef {
    OpDef { summary: "position of the maximum", ..define_as::<false>("argmax") }
}

/// Defines the operator `argmin`, or else `argmax`.
pub(crate) fn define_as<const IS_MIN: bool>(name: &'static str) -> OpDef {
    OpDef {
        gradient: Gradient::Zero,
        infer_shape,
        dtypes: NUMBERS,
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let groups = groups(shape, &params.get::<ArgmaxParams>().reduced(shape.ndim())?);
            let positions: Vec<f64> = if inputs[0].desc.dtype.is_float() {
                let values = numeric::read(&inputs[0]);
                let is_beyond = |a: f64, b: f64| if IS_MIN { b < a } else { b > a };
                let is_larger =
                    |a: usize, b: usize| !values[a].is_nan() && (values[b].is_nan() || is_beyond(values[a], values[b]));
                groups.iter().map(|g| first_largest(g, is_larger)).collect()
            } else {
                let values = numeric::read_integers(&inputs[0]);
                let is_larger = |a: usize, b: usize| if IS_MIN { values[b] < values[a] } else { values[b] > values[a] };
                groups.iter().map(|g| first_largest(g, is_larger)).collect()
            };
            numeric::write(&mut outputs[0], &positions);
            Ok(())
        }),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new(name).params::<ArgmaxParams>()
    }
}

/// Position, within the group, of the first of its largest elements; 0 for an empty group.
fn first_largest(group: &[usize], is_larger: impl Fn(usize, usize) -> bool) -> f64 {
    let mut best = 0;
    for place in 1..group.len() {
        if is_larger(group[best], group[place]) {
            best = place;
        }
    }
    best as f64
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ArgmaxParams>();
    let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
    learn_reduced(&mut inputs[0], &mut outputs[0], &params.reduced(ndim)?, params.keepdims)
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("rows", [("axis", "1")], &[&[4, 10]]),
        Sample::plain("flat", &[&[3, 5]]),
        Sample::new("kept", [("axis", "0"), ("keepdims", "True")], &[&[5, 3]]),
        Sample::new("channels", [("axis", "-3")], &[&[2, 3, 4, 5]]),
        Sample::plain("one", &[&[1]]),
        Sample::new("no_rows", [("axis", "1")], &[&[0, 3]]),
    ]
}
