//! `out = Σ data / count` over the reduced axes; [a, b] over axis 1 gives `[a]`. The mean of nothing is NaN.
//!
//! MXNet: `mean`, also `_sparse_mean`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; integers: the sum divided by the count,
//! truncated.

use crate::numeric;
use crate::reduction::{self, ReduceParams, groups};
use mxrs_op::OpDef;

/// `mean`.
pub fn define() -> OpDef {
    reduction::define("mean", &["_sparse_mean"], "mean over axes", |params, inputs, outputs, _| {
        let shape = &inputs[0].desc.shape;
        let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
        let values = numeric::read(&inputs[0]);
        let mean = |g: &Vec<usize>| g.iter().map(|i| values[*i]).sum::<f64>() / g.len() as f64;
        let means: Vec<f64> = groups.iter().map(mean).collect();
        numeric::write(&mut outputs[0], &means);
        Ok(())
    })
}
