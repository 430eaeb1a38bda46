//! Keeps the first axis and merges all others: [N, a, b, …] becomes [N, a·b·…]; `[N]` becomes [N, 1]. The output is a
//! view of data.
//!
//! Gradient: `ograd` in the shape of data, a view.
//!
//! MXNet: `Flatten`, also `_npx_batch_flatten`, `flatten`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::reshape_back;
use crate::inference::{OP, learn, learn_dim, product};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OpParams, Precision, Sample, View};
use mxrs_types::{Error, PartialShape, Result};

/// Defines the operator `Flatten`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_batch_flatten", "flatten"],
        summary: "[N, ...] to [N, rest]",
        infer_shape,
        dtypes: MOVABLE,
        view: |_, _| View::Reshape,
        precision: Precision::follows,
        gradient: Gradient::By(reshape_back::gradient),
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples,
        ..OpDef::new("Flatten")
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
    let none: [(&str, &str); 0] = [];
    vec![
        Sample::new("images", none, &[&[2, 3, 4, 5]]),
        Sample::new("matrix", none, &[&[3, 4]]),
        Sample::new("vector", none, &[&[5]]),
        Sample::new("one", none, &[&[1, 1, 1]]),
        Sample::new("no_rows", none, &[&[0, 3, 2]]),
    ]
}
