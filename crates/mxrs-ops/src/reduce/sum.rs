//! `out = Σ data` over the reduced axes; [a, b] over axis 1 gives `[a]`. The sum of no elements is 0; integers wrap.
//!
//! Gradient: every element gets the `ograd` of its sum.
//!
//! MXNet: `sum`, also `_sparse_sum`, `sum_axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::gradients;
use crate::families::indexing::gather_positions;
use crate::families::reduction::{self, ReduceParams, groups};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, OpDef};

/// Defines the operator `sum`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_sum", "sum_axis"],
        summary: "sum over axes",
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
            if inputs[0].desc.dtype.is_float() {
                let values = numeric::read(&inputs[0]);
                let sums: Vec<f64> = groups.iter().map(|g| g.iter().map(|i| values[*i]).sum()).collect();
                numeric::write(&mut outputs[0], &sums);
            } else {
                let values = numeric::read_integers(&inputs[0]);
                let sums: Vec<i64> =
                    groups.iter().map(|g| g.iter().fold(0, |s: i64, i| s.wrapping_add(values[*i]))).collect();
                numeric::write_integers(&mut outputs[0], &sums);
            }
            Ok(())
        }),
        ..reduction::define("sum")
    }
}

const BACKWARD: &str = "_backward_sum";

fn backward() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let by_ograd = gradients::call_with_params(scope, "sum", &[])?;
        Ok(vec![Some(by_ograd), None])
    });
    OpDef {
        summary: "ograd for every element",
        accuracy: Accuracy::Exact,
        gradient,
        reference: Some(|params, inputs, outputs, _| {
            let from = reduction::results(params, &outputs[0].desc.shape)?;
            gather_positions(&inputs[0], &mut outputs[0], &from);
            Ok(())
        }),
        ..reduction::define_backward(BACKWARD)
    }
}
