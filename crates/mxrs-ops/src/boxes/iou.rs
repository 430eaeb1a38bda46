//! The overlap of all pairs of boxes: the area of the intersection divided by that of the union. Boxes lhs `[a, 4]` and rhs
//! `[b, 4]` give `[a, b]`. If lhs and rhs have more axes before the last one, the output has all of those of lhs, then those
//! of rhs.
//!
//! Gradient: 0, as in MXNet.
//!
//! MXNet: `_contrib_box_iou`. Dtypes: f32 f64 f16 bf16.

use super::geometry::{BoxFormat, Corners};
use crate::dtypes::FLOATS;
use crate::inference::{OP, learn, learn_dim, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `_contrib_box_iou`.
    pub struct BoxIouParams for "_contrib_box_iou" {
        /// How four numbers describe a box.
        format: BoxFormat = BoxFormat::Corner,
    }
}

/// Defines the operator `_contrib_box_iou`.
pub fn define() -> OpDef {
    OpDef {
        summary: "overlap of all pairs of boxes",
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape: |_, inputs, outputs| {
            for (shape, arg) in inputs.iter_mut().zip(["lhs", "rhs"]) {
                let Some(ndim) = shape.ndim() else { return Ok(()) };
                if ndim < 2 {
                    return Err(Error::shape(OP, arg, "at least 2 axes", &*shape));
                }
                learn_dim(shape, ndim - 1, Some(4), arg)?;
            }
            let outer = |i: usize| inputs[i].dims().map(|dims| dims[..dims.len() - 1].to_vec()).unwrap_or_default();
            learn(&mut outputs[0], &PartialShape::new([outer(0), outer(1)].concat()), "output")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "rhs"),
        dtypes: FLOATS,
        precision: Precision::widest,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let format = params.get::<BoxIouParams>().format;
            let boxes = |i: usize| -> Vec<Corners> {
                numeric::read(&inputs[i]).chunks_exact(4).map(|numbers| Corners::new(numbers, format)).collect()
            };
            let (lhs, rhs) = (boxes(0), boxes(1));
            let overlaps = lhs.iter().flat_map(|a| rhs.iter().map(|b| a.overlap(b)));
            numeric::write(&mut outputs[0], &overlaps.collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            let values = |sample: Sample| sample.fill(0, Fill::Uniform(0.0, 1.0)).fill(1, Fill::Uniform(0.0, 1.0));
            vec![
                values(Sample::plain("pairs", &[&[3, 4], &[2, 4]])),
                values(Sample::new("centers", [("format", "center")], &[&[2, 2, 4], &[3, 4]])),
                values(Sample::plain("one", &[&[1, 4], &[1, 4]])),
                Sample::plain("empty", &[&[0, 4], &[2, 4]]),
            ]
        },
        ..OpDef::new("_contrib_box_iou").params::<BoxIouParams>()
    }
}
