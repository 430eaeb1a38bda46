//! Adds an axis of size 1: [a, b] with axis 1 gives [a, 1, b]. The output is a view of data.
//!
//! Gradient: `ograd` in the shape of data, a view.
//!
//! MXNet: `expand_dims`, also `_npi_expand_dims`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::reshape_back;
use crate::inference::{OP, learn, resolve_axis};
use mxrs_op::{OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `expand_dims`.
    pub struct ExpandDimsParams for "expand_dims" {
        /// Position of the new axis in the output; a negative position counts from the end.
        axis: i32,
    }
}

/// Defines the operator `expand_dims`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_expand_dims"],
        summary: "adds an axis of size 1",
        infer_shape,
        samples,
        ..reshape_back::define_view("expand_dims").params::<ExpandDimsParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let axis = i64::from(params.get::<ExpandDimsParams>().axis);
    let (data, out) = (&mut inputs[0], &mut outputs[0]);
    if let Some(dims) = data.dims().map(<[_]>::to_vec) {
        let axis = resolve_axis(axis, dims.len() + 1, "data")?;
        let mut expanded = dims;
        expanded.insert(axis, Some(1));
        learn(out, &PartialShape::new(expanded), "output")?;
    }
    if let Some(mut dims) = out.dims().map(<[_]>::to_vec) {
        let axis = resolve_axis(axis, dims.len(), "output")?;
        let removed = dims.remove(axis);
        if removed.is_some_and(|size| size != 1) {
            return Err(Error::shape(OP, "output", format!("size 1 on axis {axis}"), &*out));
        }
        learn(data, &PartialShape::new(dims), "data")?;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("first", [("axis", "0")], &[&[3, 5]]),
        Sample::new("middle", [("axis", "1")], &[&[3, 5]]),
        Sample::new("last", [("axis", "-1")], &[&[2, 3, 4]]),
        Sample::new("one", [("axis", "0")], &[&[1]]),
        Sample::new("empty", [("axis", "0")], &[&[0]]),
    ]
}
