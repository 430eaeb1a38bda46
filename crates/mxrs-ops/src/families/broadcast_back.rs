//! Backward operators of broadcasting: the sum over the axes that were stretched, and the gradient of that sum, which
//! stretches again.
//!
//! `_backward_broadcast_sum_like` takes (ograd, data) and sums ograd to data's shape. `_backward_broadcast_like` takes
//! (data, ograd) and stretches data to ograd's shape. Both use only the shape of their second input.

use crate::dtypes::NUMBERS;
use crate::families::broadcast::positions;
use crate::inference::{OP, learn_dim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OpParams, Sample};
use mxrs_types::{DType, Error, PartialShape, Result};

/// Name of [`sum_like`].
pub const SUM_LIKE: &str = "_backward_broadcast_sum_like";
/// Name of [`stretch_like`].
const STRETCH_LIKE: &str = "_backward_broadcast_like";

/// Defines the operator that sums over the axes that were broadcast.
pub fn sum_like() -> OpDef {
    OpDef {
        summary: "sum over broadcast axes",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |_, inputs, outputs| {
            let [large, small] = inputs else { return Ok(()) };
            unify(small, &mut outputs[0], "data")?;
            learn_stretched(small, large)?;
            unify(small, &mut outputs[0], "data")
        },
        infer_dtype,
        dtypes: NUMBERS,
        inplace: &[(0, 0)],
        ignored_inputs: &[1],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            let (head, ograd) = (scope.out_grad(0)?, scope.input(0));
            Ok(vec![Some(scope.call_one(STRETCH_LIKE, &[head, ograd])?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let to = positions(&outputs[0].desc.shape, &inputs[0].desc.shape);
            let n = outputs[0].desc.shape.n_elements();
            if outputs[0].desc.dtype.is_float() {
                let mut sums = vec![0.0; n];
                to.iter().zip(numeric::read(&inputs[0])).for_each(|(at, g)| sums[*at] += g);
                numeric::write(&mut outputs[0], &sums);
            } else {
                let mut sums = vec![0i64; n];
                let terms = to.iter().zip(numeric::read_integers(&inputs[0]));
                terms.for_each(|(at, g)| sums[*at] = sums[*at].wrapping_add(g));
                numeric::write_integers(&mut outputs[0], &sums);
            }
            Ok(())
        }),
        samples: || samples(0),
        ..OpDef::new(SUM_LIKE)
    }
}

/// Defines the operator that stretches its first input to the shape of its second input.
pub fn stretch_like() -> OpDef {
    OpDef {
        summary: "stretches to a shape",
        inputs: InputNames::Fixed(&["data", "ograd"]),
        infer_shape: |_, inputs, outputs| {
            let [small, large] = inputs else { return Ok(()) };
            unify(large, &mut outputs[0], "ograd")?;
            learn_stretched(small, large)?;
            unify(large, &mut outputs[0], "ograd")
        },
        infer_dtype,
        dtypes: NUMBERS,
        inplace: &[(0, 0)],
        ignored_inputs: &[1],
        gradient: Gradient::By(|_, scope| {
            let (head, data) = (scope.out_grad(0)?, scope.input(0));
            Ok(vec![Some(scope.call_one(SUM_LIKE, &[head, data])?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let from = positions(&inputs[0].desc.shape, &outputs[0].desc.shape);
            crate::families::indexing::gather_positions(&inputs[0], &mut outputs[0], &from);
            Ok(())
        }),
        samples: || samples(1),
        ..OpDef::new(STRETCH_LIKE)
    }
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs.iter_mut().chain(outputs), "data")
}

/// Infers what follows if `large` is `small` stretched: sizes of `small` other than 1 are those of `large`, and a size
/// of 1 in `large` is 1 in `small`.
fn learn_stretched(small: &mut PartialShape, large: &mut PartialShape) -> Result<()> {
    let (Some(n_small), Some(n_large)) = (small.ndim(), large.ndim()) else { return Ok(()) };
    let wrong = |small: &PartialShape, large: &PartialShape| {
        Err(Error::shape(OP, "data", format!("a shape that stretches to {large}"), small))
    };
    let Some(missing) = n_large.checked_sub(n_small) else { return wrong(small, large) };
    for axis in 0..n_small {
        match (small.dim(axis), large.dim(axis + missing)) {
            (Some(a), Some(b)) if a != 1 && a != b => return wrong(small, large),
            (Some(size), None) if size != 1 => learn_dim(large, axis + missing, Some(size), "ograd")?,
            (None, Some(1)) => learn_dim(small, axis, Some(1), "data")?,
            _ => {}
        }
    }
    Ok(())
}

/// Pairs of a large and a small shape. If `first` is 0, the large one comes first, otherwise the small one.
fn samples(first: usize) -> Vec<Sample> {
    let of = |name, large: &[usize], small: &[usize]| {
        let shapes = if first == 0 { [large, small] } else { [small, large] };
        Sample::plain(name, &shapes)
    };
    vec![
        of("same", &[3, 5], &[3, 5]),
        of("row", &[3, 5], &[1, 5]),
        of("column", &[3, 5], &[3, 1]),
        of("all", &[2, 3, 4], &[1, 1, 1]),
        of("channels", &[2, 3, 5, 7], &[1, 3, 1, 1]),
        of("fewer_axes", &[2, 3, 5], &[5]),
        of("to_scalar", &[2, 3], &[]),
        of("empty", &[0, 3], &[1, 3]),
    ]
}
