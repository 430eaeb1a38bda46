//! One file per primitive kind. Each has `check`, which says whether the call fits, and `prepare`, which builds it.

pub mod batch_norm;
pub mod binary;
pub mod concat;
pub mod convolution;
pub mod eltwise;
pub mod inner_product;
pub mod lrn;
pub mod pooling;
pub mod relu;
pub mod reorder;
pub mod softmax;

use crate::cache::Prepared;
use crate::library::Library;
use mxrs_op::OpCall;
use mxrs_types::Result;
use std::sync::Arc;

/// Builds the kernel of a call that was checked.
pub type Prepare = fn(&Arc<Library>, &OpCall<'_>) -> Result<Prepared>;

/// Who prepares this call, or why nobody does.
///
/// # Errors
/// The reason, in words.
pub fn preparer(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    match call.op.name {
        "Convolution" => convolution::check(call).map(|()| convolution::prepare as Prepare),
        "FullyConnected" => inner_product::check(call).map(|()| inner_product::prepare as Prepare),
        "Pooling" => pooling::check(call).map(|()| pooling::prepare as Prepare),
        "BatchNorm" => batch_norm::check(call),
        "LRN" => lrn::check(call).map(|()| lrn::prepare as Prepare),
        "Activation" | "relu" | "sigmoid" | "tanh" => eltwise::check(call),
        "softmax" | "SoftmaxOutput" => softmax::check(call).map(|()| softmax::prepare as Prepare),
        "elemwise_add" | "elemwise_sub" | "elemwise_mul" | "elemwise_div" => Ok(binary::prepare),
        "Concat" => concat::check(call).map(|()| concat::prepare as Prepare),
        "Cast" => reorder::check_cast(call).map(|()| reorder::prepare_cast as Prepare),
        name => Err(format!("no oneDNN kernel for {name}")),
    }
}
