//! Learning rates by the norms of weights and gradients: `multi_lars`. Its tensors have only one element per weight, so one
//! thread computes the rates, in `f64`.

use crate::plan::{Planned, row_major};
use crate::tensors::{Sink, Source};
use mxrs_op::OpCall;
use mxrs_ops::optim::lars::LarsParams;
use mxrs_types::DType;

/// Plans the call.
pub fn plan(call: &OpCall<'_>) -> Planned {
    if call.inputs.len() != 4 || call.inputs.iter().chain(call.outputs).any(|desc| desc.dtype != DType::F32) {
        return Err("multi_lars of other tensors than four of float32".into());
    }
    let params = call.params.get::<LarsParams>();
    let [eta, eps, rescale_grad] = [params.eta, params.eps, params.rescale_grad].map(f64::from);
    let n = call.outputs[0].shape.n_elements();
    Ok(row_major(call, 0, move |args| {
        let tensors = [0, 1, 2, 3].map(|input| Source::<f32>::of(args, input));
        let out = Sink::<f32>::of(args, 0, DType::F32)?;
        let rate = |i: usize| {
            // SAFETY: only this thread runs, and `write` computes each element before it writes the element.
            let [lr, weight, grad, wd] = tensors.map(|tensor| f64::from(unsafe { tensor.at(i) }));
            let norm = weight.sqrt();
            if norm > 0.0 && grad > 0.0 { lr * eta * norm / (grad.sqrt() * rescale_grad + wd * norm + eps) } else { lr }
        };
        // SAFETY: only this thread runs. An element that is computed reads inputs only at its own index.
        unsafe { out.write(0..n, |at, to| to.iter_mut().zip(at).for_each(|(to, i)| *to = rate(i) as f32)) };
        Ok(())
    }))
}
