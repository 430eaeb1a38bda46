//! `out = max data` over the reduced axes; [a, b] over axis 1 gives `[a]`. NaN wins; the maximum of nothing is -inf, or
//! the smallest integer.
//!
//! MXNet: `max`, also `max_axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::numeric;
use crate::reduction::{self, ReduceParams, groups};
use mxrs_op::{Accuracy, OpDef};

/// `max`.
pub fn define() -> OpDef {
    let reduction = reduction::define("max", &["max_axis"], "maximum over axes", |params, inputs, outputs, _| {
        let shape = &inputs[0].desc.shape;
        let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
        if inputs[0].desc.dtype.is_float() || groups.iter().any(Vec::is_empty) {
            // Writing -inf to an integer saturates to its smallest value.
            let values = numeric::read(&inputs[0]);
            let max = |g: &Vec<usize>| g.iter().map(|i| values[*i]).fold(f64::NEG_INFINITY, numeric::max_nan);
            numeric::write(&mut outputs[0], &groups.iter().map(max).collect::<Vec<f64>>());
        } else {
            let values = numeric::read_integers(&inputs[0]);
            let max = |g: &Vec<usize>| g.iter().map(|i| values[*i]).fold(i64::MIN, i64::max);
            numeric::write_integers(&mut outputs[0], &groups.iter().map(max).collect::<Vec<i64>>());
        }
        Ok(())
    });
    OpDef { accuracy: Accuracy::Exact, ..reduction }
}
