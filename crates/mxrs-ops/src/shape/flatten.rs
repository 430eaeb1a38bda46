//! Keeps the first axis and merges all others: [N, a, b, …] becomes [N, a·b·…]; `[N]` becomes [N, 1]. The output is a
//! view of data.
//!
//! Gradient: `ograd` in the shape of data, a view.
//!
//! MXNet: `Flatten`, also `_npx_batch_flatten`, `flatten`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::reshape_back;
use crate::inference::{OP, learn, learn_dim, product};
use mxrs_op::{OpDef, OpParams, Sample};
use mxrs_types::{Error, PartialShape, Result};

/// Defines the operator `Flatten`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_batch_flatten", "flatten"],
        summary: "[N, ...] to [N, rest]",
        infer_shape,
        samples,
        ..reshape_back::define_view("Flatten")
    }
}

pub(crate) fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let (data, out) = (&mut inputs[0], &mut outputs[0]);
    learn(out, &PartialShape::of_rank(2), "output")?;
    learn_dim(data, 0, out.dim(0), "data")?;
    let Some(dims) = data.dims().map(<[_]>::to_vec) else { return Ok(()) };
    if dims.is_empty() {
        return Err(Error::shape(OP, "data", "at least one axis", &*data));
    }
    learn(out, &PartialShape::new([dims[0], product(&dims[1..])]), "output")?;
    if dims.len() == 2 {
        learn_dim(data, 1, out.dim(1), "data")?;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("images", &[&[2, 3, 4, 5]]),
        Sample::plain("matrix", &[&[3, 4]]),
        Sample::plain("vector", &[&[5]]),
        Sample::plain("one", &[&[1, 1, 1]]),
        Sample::plain("no_rows", &[&[0, 3, 2]]),
    ]
}
