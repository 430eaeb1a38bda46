//! Computes the gradient of one node of the tape.

use super::Imperative;
use super::prepared::Parsed;
use super::scope::Scope;
use super::tape::{History, How, Node};
use mxrs_ndarray::NdArray;
use mxrs_op::{Attrs, Gradient};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The gradients of the inputs for which `wants` is true. The result has one element per input. If `create`, the
/// gradient is recorded; if `retain`, the node keeps what a second gradient needs.
///
/// # Errors
/// Returns an error if the operator is not differentiable or its gradient fails.
pub fn gradient_of(
    imperative: &Imperative,
    node: &Arc<Node>,
    history: &History,
    wants: &[bool],
    out_grads: Vec<Option<NdArray>>,
    (create, retain): (bool, bool),
) -> Result<Vec<Option<NdArray>>> {
    let first = || out_grads.first().cloned().flatten();
    match &history.how {
        How::Call(prepared) => match prepared.call.op.gradient {
            Gradient::Zero => Ok(vec![None; wants.len()]),
            Gradient::Undefined => {
                let name = prepared.call.op.name;
                Err(Error::not_built(format!("gradient of {name}"), "the operator declares none in this version"))
            }
            Gradient::By(gradient) => {
                let what = (node, history, &prepared.call);
                Scope::new(imperative, what, wants, out_grads, create).run(gradient)
            }
        },
        How::Reshape => {
            let mut grads = vec![None; wants.len()];
            if let (Some(grad), Some(true)) = (first(), wants.first()) {
                // `reshape` returns a view of the gradient of the output. If recording is on, the view is recorded.
                grads[0] = Some(grad.reshape(history.inputs[0].desc.shape.clone())?);
            }
            Ok(grads)
        }
        How::Rows { begin, end } => {
            let Some(grad) = first() else { return Ok(vec![None]) };
            rows(imperative, node, history, (*begin, *end), grad, create)
        }
        How::Cached(run) => run.gradient(imperative, node, history, wants, out_grads, (create, retain)),
        How::Function(function) => function.gradient(imperative, node, history, out_grads, create),
    }
}

/// The gradient of the array of which the rows `begin..end` are a view. It is computed by the gradient function of
/// `slice_axis`.
fn rows(
    imperative: &Imperative,
    node: &Arc<Node>,
    history: &History,
    (begin, end): (usize, usize),
    grad: NdArray,
    create: bool,
) -> Result<Vec<Option<NdArray>>> {
    let attrs = Attrs::from([("axis", "0".to_string()), ("begin", begin.to_string()), ("end", end.to_string())]);
    let call = Parsed::new(&imperative.options().ops, "slice_axis", &attrs, 1)?;
    let Gradient::By(gradient) = call.op.gradient else {
        return Err(Error::not_built("gradient of a view of rows", "slice_axis declares no gradient"));
    };
    Scope::new(imperative, (node, history, &call), &[true], vec![Some(grad)], create).run(gradient)
}
