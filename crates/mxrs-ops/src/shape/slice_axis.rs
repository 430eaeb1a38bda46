//! A range of one axis: `out[…, i, …] = data[…, begin + i, …]` for `i` below `end - begin`. [a, b] with axis 1 gives
//! [a, end - begin].
//!
//! Gradient: `ograd` in the range, 0 elsewhere.
//!
//! MXNet: `slice_axis`. Negative axis, begin and end count from the end; an `end` of `None` means the end of the axis.
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::along::{self, Along};
use crate::families::gradients::{self, call_with_params};
use crate::families::indexing::{around_axis, flat, gather_bytes};
use crate::inference::{OP, learn, resolve_axis, unify_dtypes};
use mxrs_op::{Gradient, InputNames, MovedParts, Moves, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `slice_axis`.
    pub struct SliceAxisParams for "slice_axis" {
        /// Axis to cut.
        axis: i32,
        /// First position.
        begin: i32,
        /// Position after the last.
        end: Option<i32>,
    }
}

impl SliceAxisParams {
    /// First position and length on an axis of `size` elements.
    fn range(&self, size: usize) -> Result<(usize, usize)> {
        let count = size as i64;
        let from_end = |i: i64| if i < 0 { i + count } else { i };
        let begin = from_end(i64::from(self.begin));
        let end = self.end.map_or(count, |end| from_end(i64::from(end)));
        if 0 <= begin && begin <= end && end <= count {
            return Ok((begin as usize, (end - begin) as usize));
        }
        let asked =
            format!("an axis that holds {} to {}", self.begin, self.end.map_or("its end".into(), |e| e.to_string()));
        Err(Error::shape(OP, "data", asked, format!("size {size} on axis {}", self.axis)))
    }
}

/// Defines the operator `slice_axis`.
pub fn define() -> OpDef {
    OpDef {
        summary: "a range of one axis",
        infer_shape,
        dtypes: MOVABLE,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        moves: Moves::Parts(|params, inputs, outputs| parts(params, inputs[0], outputs[0])),
        reference: Some(|params, inputs, outputs, _| {
            let params = params.get::<SliceAxisParams>();
            let shape = &inputs[0].desc.shape;
            let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
            let (begin, _) = params.range(shape[axis])?;
            gather_bytes(&inputs[0], &mut outputs[0], |index| {
                let mut source = index.to_vec();
                source[axis] += begin;
                flat(shape, &source)
            });
            Ok(())
        }),
        samples,
        ..OpDef::new("slice_axis").params::<SliceAxisParams>()
    }
}

const BACKWARD: &str = "_backward_slice_axis";

/// Defines the backward operator: it takes (ograd, data) and returns ograd in the range, 0 elsewhere. The content of data is
/// not read.
fn backward() -> OpDef {
    OpDef {
        summary: "ograd in a range of zeros",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |params, inputs, outputs| gradients::infer_shape_by(infer_shape, params, inputs, outputs),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        ignored_inputs: &[1],
        moves: Moves::Parts(|params, inputs, outputs| {
            Ok(parts(params, outputs[0], inputs[0])?.map(|moved| moved.back(0)))
        }),
        gradient: Gradient::By(|_, scope| {
            let slice = call_with_params(scope, "slice_axis", &[])?;
            Ok(vec![Some(slice), None])
        }),
        reference: Some(|params, inputs, outputs, _| {
            let params = params.get::<SliceAxisParams>();
            let out = &mut outputs[0];
            let axis = resolve_axis(i64::from(params.axis), out.desc.shape.ndim(), "data")?;
            let (outer, size, inner) = around_axis(&out.desc.shape, axis);
            let (begin, len) = params.range(size)?;
            let row = inner * out.desc.dtype.size_of();
            out.bytes.fill(0);
            for i in 0..outer {
                let from = &inputs[0].bytes[i * len * row..][..len * row];
                out.bytes[(i * size + begin) * row..][..len * row].copy_from_slice(from);
            }
            Ok(())
        }),
        samples: || gradients::samples_after(&define()),
        ..OpDef::new(BACKWARD).params::<SliceAxisParams>()
    }
}

/// Where the elements of the range come from.
fn parts(params: &OpParams, data: &Shape, out: &Shape) -> Result<Option<MovedParts>> {
    let params = params.get::<SliceAxisParams>();
    let cut = resolve_axis(i64::from(params.axis), data.ndim(), "data")?;
    let (begin, _) = params.range(data[cut])?;
    let axis = |(axis, stride): (usize, usize)| {
        Along::new().then(if axis == cut { begin * stride } else { 0 }, &[(out[axis], stride as isize)])
    };
    Ok(along::parts(0, &data.strides().into_iter().enumerate().map(axis).collect::<Vec<_>>(), out, 0.0))
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<SliceAxisParams>();
    let Some(ndim) = inputs[0].ndim().or(outputs[0].ndim()) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.axis), ndim, "data")?;
    let others =
        |shape: &PartialShape| PartialShape::new((0..ndim).map(|i| if i == axis { None } else { shape.dim(i) }));
    let known = others(&outputs[0]);
    learn(&mut inputs[0], &known, "data")?;
    let mut out = others(&inputs[0]).dims().unwrap_or_default().to_vec();
    if let Some(size) = inputs[0].dim(axis) {
        out[axis] = Some(params.range(size)?.1);
    }
    learn(&mut outputs[0], &PartialShape::new(out), "output")
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("rows", [("axis", "0"), ("begin", "1"), ("end", "3")], &[&[4, 5]]),
        Sample::new("columns", [("axis", "1"), ("begin", "2"), ("end", "None")], &[&[4, 5]]),
        Sample::new("negative", [("axis", "-1"), ("begin", "-3"), ("end", "-1")], &[&[2, 3, 7]]),
        Sample::new("all", [("axis", "0"), ("begin", "0"), ("end", "None")], &[&[1]]),
        Sample::new("empty", [("axis", "0"), ("begin", "0"), ("end", "None")], &[&[0, 2]]),
    ]
}
