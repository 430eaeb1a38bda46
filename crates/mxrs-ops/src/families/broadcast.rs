//! The definition that broadcasting operators with two inputs share: sizes of 1 stretch, missing leading axes count as 1.

use crate::families::pairwise;
use crate::inference::{OP, learn, learn_dim};
use crate::numeric;
use mxrs_op::{OpDef, OpParams, Pointwise, RefInput, RefOutput, Sample};
use mxrs_types::{Error, PartialShape, Result, Shape};

/// Defines an operator that computes `f(lhs, rhs)` for each pair of elements after both inputs are broadcast to one shape.
/// The caller adds the summary and the reference kernel.
pub fn define(name: &'static str) -> OpDef {
    OpDef { infer_shape, pointwise: Pointwise::No, samples, ..pairwise::define(name) }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [lhs, rhs] = inputs else { return Ok(()) };
    let (Some(l), Some(r)) = (lhs.dims().map(<[_]>::to_vec), rhs.dims().map(<[_]>::to_vec)) else { return Ok(()) };
    let ndim = l.len().max(r.len());
    learn(&mut outputs[0], &PartialShape::of_rank(ndim), "output")?;
    for axis in 0..ndim {
        // Position of this axis in each input; `None` where the input has no such axis.
        let (in_l, in_r) = ((axis + l.len()).checked_sub(ndim), (axis + r.len()).checked_sub(ndim));
        let size = |dims: &[Option<usize>], at: Option<usize>| at.map_or(Some(1), |at| dims[at]);
        let (a, b) = (size(&l, in_l), size(&r, in_r));
        let out = match (a, b) {
            (Some(1), b) => b,
            (a, Some(1)) => a,
            (Some(a), Some(b)) if a != b => {
                return Err(Error::shape(OP, "rhs", format!("sizes equal to lhs's {lhs} or 1"), &*rhs));
            }
            // A known size other than 1 is the size of the result, even if the other size is unknown.
            (Some(a), _) => Some(a),
            (None, b) => b,
        };
        learn_dim(&mut outputs[0], axis, out, "output")?;
        let out = outputs[0].dim(axis);
        // If the result has size 1 on this axis, both inputs have size 1. If one input has size 1, the other input has the
        // size of the result.
        for (shape, at, mine, other) in [(&mut *lhs, in_l, a, b), (&mut *rhs, in_r, b, a)] {
            if let (Some(at), None) = (at, mine)
                && (out == Some(1) || other == Some(1))
            {
                learn_dim(shape, at, out, "input")?;
            }
        }
    }
    Ok(())
}

/// Applies a function of floats or of integers over the broadcast shape.
pub fn zip(
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    float: impl Fn(f64, f64) -> f64,
    integer: impl Fn(i64, i64) -> i64,
) {
    let positions = [0, 1].map(|i| positions(&inputs[i].desc.shape, &outputs[0].desc.shape));
    if inputs[0].desc.dtype.is_float() {
        let values = [0, 1].map(|i| numeric::read(&inputs[i]));
        let pairs = positions[0].iter().zip(&positions[1]);
        let out: Vec<f64> = pairs.map(|(l, r)| float(values[0][*l], values[1][*r])).collect();
        numeric::write(&mut outputs[0], &out);
    } else {
        let values = [0, 1].map(|i| numeric::read_integers(&inputs[i]));
        let pairs = positions[0].iter().zip(&positions[1]);
        let out: Vec<i64> = pairs.map(|(l, r)| integer(values[0][*l], values[1][*r])).collect();
        numeric::write_integers(&mut outputs[0], &out);
    }
}

/// The shape to which two shapes broadcast, if they do.
pub fn whole_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let ndim = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(ndim).map_or(1, |axis| shape[axis]);
    (0..ndim)
        .map(|axis| match (size(a, axis), size(b, axis)) {
            (1, b) => Some(b),
            (a, 1) => Some(a),
            (a, b) => (a == b).then_some(a),
        })
        .collect()
}

/// For each element of `to`, the flat position of the element of `from` that it reads.
pub fn positions(from: &Shape, to: &Shape) -> Vec<usize> {
    let strides = from.strides();
    let missing = to.ndim() - from.ndim();
    let mut positions = Vec::with_capacity(to.n_elements());
    crate::families::indexing::for_each_index(to, |index| {
        let at = |axis: usize| if from[axis] == 1 { 0 } else { index[axis + missing] * strides[axis] };
        positions.push((0..from.ndim()).map(at).sum());
    });
    positions
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("same", &[&[3, 5], &[3, 5]]),
        Sample::plain("row", &[&[3, 5], &[1, 5]]),
        Sample::plain("column", &[&[3, 1], &[3, 5]]),
        Sample::plain("both", &[&[2, 1, 4], &[1, 3, 1]]),
        Sample::plain("channels", &[&[2, 3, 5, 7], &[1, 3, 1, 1]]),
        Sample::plain("fewer_axes", &[&[2, 3, 5], &[5]]),
        Sample::plain("one", &[&[1], &[1]]),
        Sample::plain("empty", &[&[0, 3], &[1, 3]]),
    ]
}
