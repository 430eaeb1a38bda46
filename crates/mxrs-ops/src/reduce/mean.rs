//! `out = Σ data / count` over the reduced axes; [a, b] over axis 1 gives `[a]`. The mean of no elements is NaN.
//!
//! Gradient: every element gets the `ograd` of its mean, divided by the count.
//!
//! MXNet: `mean`, also `_sparse_mean`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; integers: the sum divided by the count,
//! truncated.

use crate::families::gradients;
use crate::families::reduction::{self, ReduceParams, groups};
use crate::numeric;
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `mean`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_mean"],
        summary: "mean over axes",
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
            let values = numeric::read(&inputs[0]);
            let mean = |g: &Vec<usize>| g.iter().map(|i| values[*i]).sum::<f64>() / g.len() as f64;
            let means: Vec<f64> = groups.iter().map(mean).collect();
            numeric::write(&mut outputs[0], &means);
            Ok(())
        }),
        ..reduction::define("mean")
    }
}

const BACKWARD: &str = "_backward_mean";

fn backward() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let by_ograd = gradients::call_with_params(scope, "mean", &[])?;
        Ok(vec![Some(by_ograd), None])
    });
    OpDef {
        summary: "ograd / count for every element",
        gradient,
        reference: Some(|params, inputs, outputs, _| {
            let from = reduction::results(params, &outputs[0].desc.shape)?;
            let ograd = numeric::read(&inputs[0]);
            // Every mean is over the same number of elements.
            let count = from.len() as f64 / ograd.len() as f64;
            numeric::write(&mut outputs[0], &from.iter().map(|result| ograd[*result] / count).collect::<Vec<f64>>());
            Ok(())
        }),
        ..reduction::define_backward(BACKWARD)
    }
}
