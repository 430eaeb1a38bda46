//! Elementwise activations, in any layout.

use super::{Prepare, relu};
use crate::cache::Prepared;
use crate::library::Library;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::activation::{ActType, ActivationParams};
use mxrs_types::{DType, Error, Result};
use std::sync::Arc;

/// oneDNN's constant for the function.
fn algorithm(call: &OpCall<'_>) -> std::result::Result<sys::dnnl_alg_kind_t, String> {
    match call.op.name {
        "sigmoid" => Ok(sys::dnnl_eltwise_logistic),
        "tanh" => Ok(sys::dnnl_eltwise_tanh),
        "Activation" => match call.params.get::<ActivationParams>().act_type {
            ActType::Sigmoid => Ok(sys::dnnl_eltwise_logistic),
            ActType::Tanh => Ok(sys::dnnl_eltwise_tanh),
            // The other functions are SoftReLU and softsign: oneDNN's softrelu loses four digits for small results, and
            // oneDNN does not have softsign.
            other => Err(format!("act_type {}", other.to_word())),
        },
        name => Err(format!("{name} is not an eltwise function of oneDNN")),
    }
}

fn is_relu(call: &OpCall<'_>) -> bool {
    call.op.name == "relu"
        || call.op.name == "Activation" && call.params.get::<ActivationParams>().act_type == ActType::Relu
}

/// Returns the function that prepares the call, or the reason why the backend refuses the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    if is_relu(call) {
        // oneDNN's ReLU maps NaN to 0; the ReLU of this crate keeps NaN.
        return match call.inputs[0].dtype {
            DType::F32 | DType::F16 | DType::BF16 => Ok(relu::prepare),
            other => Err(format!("relu on {other}")),
        };
    }
    algorithm(call).map(|_| prepare as Prepare)
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let algorithm = algorithm(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    let md = library.md(&call.inputs[0])?;
    let pd = library.prim_desc(|out| {
        // SAFETY: `md` and the attributes are alive during the call, and the out pointer is valid.
        unsafe {
            result::eltwise_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_inference,
                algorithm,
                md.0,
                md.0,
                0.0,
                0.0,
                library.attributes(),
            )
        }
    })?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md },
    ];
    let layout = call.inputs[0].layout.clone();
    let prepared = PrimitiveKernel::prepare(library, &pd, arguments, vec![layout.clone()], vec![layout])?;
    Ok(Prepared { can_run_inplace: true, ..prepared })
}
