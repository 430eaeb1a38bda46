//! Puts the axes in another order: axis `k` of out is axis `axes[k]` of data. If `axes` is empty, the order is reversed. [a,
//! b, c] with axes (2, 0, 1) gives [c, a, b].
//!
//! Gradient: `ograd` with its axes in the inverse order.
//!
//! MXNet: `transpose`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::indexing::gather_bytes;
use crate::inference::{bad_attribute, learn, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Attrs, GradValue, Gradient, GradientScope, Moves, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `transpose`.
    pub struct TransposeParams for "transpose" {
        /// For each axis of the output, the corresponding axis of the input; reversed order if empty.
        axes: ShapeAttr = ShapeAttr::default(),
    }
}

impl TransposeParams {
    /// The order of axes for an input of `ndim` axes.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if `axes` is not a permutation.
    pub fn order(&self, ndim: usize) -> Result<Vec<usize>> {
        if self.axes.is_empty() {
            return Ok((0..ndim).rev().collect());
        }
        let wrong = || {
            bad_attribute(
                "transpose",
                "axes",
                format!("every axis of {ndim} once"),
                format!("\"{}\"", self.axes.to_text()),
            )
        };
        let order: Vec<usize> =
            self.axes.iter().map(|a| resolve_axis(*a, ndim, "data")).collect::<Result<_>>().map_err(|_| wrong())?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..ndim) { Ok(order) } else { Err(wrong()) }
    }
}

/// Defines the operator `transpose`.
pub fn define() -> OpDef {
    OpDef {
        summary: "axes in another order",
        infer_shape,
        dtypes: MOVABLE,
        precision: Precision::follows,
        gradient: Gradient::By(gradient),
        moves: Moves::Parts(|params, inputs, outputs| {
            let order = params.get::<TransposeParams>().order(inputs[0].ndim())?;
            Ok(along::permuted(inputs[0], &order, outputs[0]))
        }),
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let order = params.get::<TransposeParams>().order(shape.ndim())?;
            let strides = shape.strides();
            gather_bytes(&inputs[0], &mut outputs[0], |index| {
                order.iter().zip(index).map(|(axis, i)| strides[*axis] * i).sum()
            });
            Ok(())
        }),
        samples,
        ..OpDef::new("transpose").params::<TransposeParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Result<Vec<Option<GradValue>>> {
    let params = params.get::<TransposeParams>();
    let head = scope.out_grad(0)?;
    let mut attrs = Attrs::new();
    // The reversed order is its own inverse.
    if !params.axes.is_empty() {
        let order = params.order(params.axes.len())?;
        let mut inverse = vec![0; order.len()];
        order.iter().enumerate().for_each(|(position, axis)| inverse[*axis] = position);
        let words: Vec<String> = inverse.iter().map(usize::to_string).collect();
        attrs.set("axes", format!("({},)", words.join(", ")));
    }
    Ok(vec![Some(scope.call("transpose", attrs, &[head])?[0])])
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<TransposeParams>();
    let ndim = inputs[0].ndim().or(outputs[0].ndim()).or((!params.axes.is_empty()).then_some(params.axes.len()));
    let Some(ndim) = ndim else { return Ok(()) };
    let order = params.order(ndim)?;
    learn(&mut inputs[0], &PartialShape::of_rank(ndim), "data")?;
    learn(&mut outputs[0], &PartialShape::new(order.iter().map(|a| inputs[0].dim(*a))), "output")?;
    let mut back = vec![None; ndim];
    order.iter().enumerate().for_each(|(position, axis)| back[*axis] = outputs[0].dim(position));
    learn(&mut inputs[0], &PartialShape::new(back), "data")
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("matrix", &[&[3, 5]]),
        Sample::new("to_nhwc", [("axes", "(0, 2, 3, 1)")], &[&[2, 3, 4, 5]]),
        Sample::new("to_nchw", [("axes", "(0, 3, 1, 2)")], &[&[2, 4, 5, 3]]),
        Sample::plain("reversed", &[&[2, 3, 4]]),
        Sample::new("same_order", [("axes", "(0, 1, 2)")], &[&[2, 3, 4]]),
        Sample::new("negative_axes", [("axes", "(-1, 0, -2)")], &[&[2, 3, 4]]),
        Sample::new("six_axes", [("axes", "(5, 0, 3, 1, 4, 2)")], &[&[2, 1, 3, 2, 1, 3]]),
        Sample::plain("one", &[&[1]]),
        Sample::plain("empty", &[&[2, 0, 3]]),
    ]
}
