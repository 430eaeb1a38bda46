//! Cuts an axis into equal parts: [a, n·b, c] with num_outputs n and axis 1 gives n outputs [a, b, c]. With `squeeze_axis`,
//! `b` must be 1, and the axis is left out.
//!
//! Gradient: the parts of the gradient, joined again.
//!
//! MXNet: `SliceChannel`, also `split`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::gradients::Answers;
use crate::families::indexing::around_axis;
use crate::inference::{OP, bad_attribute, learn, resolve_axis, unify_all, unify_dtypes};
use mxrs_op::{Attrs, Gradient, GradientScope, Moves, OpDef, OpParams, OutputCount, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `SliceChannel`.
    pub struct SliceChannelParams for "SliceChannel" {
        /// Number of parts.
        num_outputs: i32,
        /// Axis to cut.
        axis: i32 = 1,
        /// Whether the axis, which then has parts of size 1, is left out of the outputs.
        squeeze_axis: bool = false,
    }
}

fn count(params: &OpParams) -> usize {
    usize::try_from(params.get::<SliceChannelParams>().num_outputs).unwrap_or(0)
}

/// Defines the operator `SliceChannel`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["split"],
        summary: "cuts an axis into equal parts",
        n_outputs: OutputCount::ByParams(count),
        n_visible: OutputCount::ByParams(count),
        infer_shape,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        precision: Precision::follows,
        gradient: Gradient::By(gradient),
        moves: Moves::Parts(|params, inputs, outputs| {
            let axis = i64::from(params.get::<SliceChannelParams>().axis);
            // With `squeeze_axis` the outputs lack the axis, which has size 1 in each part. The lengths are right in both
            // cases.
            let (outer, lens) = along::lens(outputs, resolve_axis(axis, inputs[0].ndim(), "data")?);
            Ok(Some(along::cut(outer, &lens)))
        }),
        reference: Some(|params, inputs, outputs, _| {
            let (data, axis) = (&inputs[0].desc.shape, i64::from(params.get::<SliceChannelParams>().axis));
            let (_, size, inner) = around_axis(data, resolve_axis(axis, data.ndim(), "data")?);
            let (n, row) = (outputs.len(), size / outputs.len().max(1) * inner * inputs[0].desc.dtype.size_of());
            for (at, out) in outputs.iter_mut().enumerate().filter(|_| row > 0) {
                let rows = inputs[0].bytes.chunks_exact(row).skip(at).step_by(n);
                out.bytes.chunks_exact_mut(row).zip(rows).for_each(|(to, from)| to.copy_from_slice(from));
            }
            Ok(())
        }),
        samples,
        ..OpDef::new("SliceChannel").params::<SliceChannelParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let params = params.get::<SliceChannelParams>();
    let heads = (0..params.num_outputs.max(0) as usize).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
    let (op, key) = if params.squeeze_axis { ("stack", "axis") } else { ("Concat", "dim") };
    let attrs = Attrs::from([(key, params.axis.to_string()), ("num_args", heads.len().to_string())]);
    Ok(vec![Some(scope.call(op, attrs, &heads)?[0])])
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<SliceChannelParams>();
    let n = outputs.len();
    if n == 0 {
        return Err(bad_attribute("SliceChannel", "num_outputs", "at least one part", params.num_outputs));
    }
    unify_all(outputs, &mut [], "output")?;
    if let Some(mut dims) = outputs[0].dims().map(<[_]>::to_vec) {
        let axis = resolve_axis(i64::from(params.axis), dims.len() + usize::from(params.squeeze_axis), "output")?;
        if params.squeeze_axis {
            dims.insert(axis, Some(1));
        }
        dims[axis] = dims[axis].and_then(|size| size.checked_mul(n));
        learn(&mut inputs[0], &PartialShape::new(dims), "data")?;
    }
    let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.axis), dims.len(), "data")?;
    let part = dims[axis].map(|size| size / n);
    let is_wrong = |size: usize| !size.is_multiple_of(n) || (params.squeeze_axis && size != n);
    if dims[axis].is_some_and(is_wrong) {
        let parts = if params.squeeze_axis { format!("{n} elements") } else { format!("a multiple of {n} elements") };
        return Err(Error::shape(OP, "data", format!("{parts} on axis {axis}"), &inputs[0]));
    }
    if params.squeeze_axis {
        dims.remove(axis);
    } else {
        dims[axis] = part;
    }
    let part = PartialShape::new(dims);
    outputs.iter_mut().try_for_each(|out| learn(out, &part, "output"))
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("channels", [("num_outputs", "3")], &[&[2, 6, 2]]),
        Sample::new("rows", [("num_outputs", "2"), ("axis", "0")], &[&[4, 3]]),
        Sample::new("squeezed", [("num_outputs", "3"), ("axis", "-1"), ("squeeze_axis", "True")], &[&[2, 4, 3]]),
        Sample::new("one", [("num_outputs", "1"), ("axis", "0")], &[&[1]]),
        Sample::new("empty", [("num_outputs", "2")], &[&[0, 4]]),
    ]
}
