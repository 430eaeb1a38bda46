//! Which kernel computes a fully-connected layer, and what it costs.

use crate::Weights;
use crate::backend::{Job, is_packed_once};
use crate::direct::dense::DenseProblem;
use crate::epilogue::Epilogue;
use mxrs_op::OpCall;
use mxrs_types::DType;

/// Up to this many rows, a fully-connected layer takes as long as reading its weights.
const FEW_ROWS: usize = 2;
/// Time of a fully-connected layer relative to a vendor library: with at most [`FEW_ROWS`] rows, and with more rows.
const DENSE_COST: [f64; 2] = [0.95, 1.5];
/// Time of a fully-connected layer whose weights change, relative to a vendor library.
const CHANGING_DENSE_COST: f64 = 1.1;
/// Time of a fully-connected layer with bfloat16 weights relative to a vendor library. It is set low, so that this kernel
/// is preferred, because the user has selected bfloat16 weights.
const BF16_DENSE_COST: f64 = 0.5;

/// Name of the kernel that reads row-major weights.
pub const DENSE: &str = "dense";
/// Name of the kernel that reads packed weights.
pub const PRODUCT: &str = "dense_product";
/// Name of [`DENSE`] with weights in bfloat16.
pub const BF16_DENSE: &str = "dense_bf16";
/// Name of [`PRODUCT`] with weights in bfloat16.
pub const BF16_PRODUCT: &str = "dense_product_bf16";

/// Returns the job, the epilogue and the cost of a fully-connected layer, whose constant weights are stored as `stored`. Its data
/// may have any number of axes. The cost is the time relative to a vendor library.
///
/// # Errors
/// Returns the reason as text if there is no kernel for the call.
pub fn fit(
    call: &OpCall<'_>,
    stored: Weights,
    epilogue: Epilogue,
) -> std::result::Result<(Job, Epilogue, f64), String> {
    let [data, weight, ..] = call.inputs else { return Err("the call lacks data or weight".into()) };
    let tensors = || call.inputs.iter().chain(call.outputs);
    if let Some(other) = tensors().find(|t| t.dtype != DType::F32) {
        return Err(format!("{} numbers", other.dtype));
    }
    if tensors().any(|t| t.shape.n_elements() == 0) {
        return Err("no kernel for tensors without elements".into());
    }
    let [outputs, steps] = weight.shape[..] else {
        return Err(format!("no kernel for weights of shape {}", weight.shape));
    };
    let rows = data.shape.n_elements() / steps;
    let problem = DenseProblem { rows, steps, outputs };
    if rows > FEW_ROWS && !is_packed_once(call) && call.op.name == "FullyConnected" {
        return Ok((Job::Matrix(problem), epilogue, CHANGING_DENSE_COST));
    }
    let weights = if is_packed_once(call) { stored } else { Weights::Float32 };
    let cost = match weights {
        Weights::Float32 => DENSE_COST[usize::from(rows > FEW_ROWS)],
        Weights::Bfloat16 => BF16_DENSE_COST,
    };
    let is_product = rows > FEW_ROWS && is_packed_once(call);
    let job = if is_product { Job::Product(problem, weights) } else { Job::Dense(problem, weights) };
    Ok((job, epilogue, cost))
}

/// Returns the job and the number of threads that the name `candidate` stands for in a fully-connected layer. Returns
/// `None` if the layer has no candidate of this name.
pub fn candidate(p: DenseProblem, weights: Weights, candidate: &str, most: usize) -> Option<(Job, usize)> {
    let (name, threads) = candidate.split_once('@')?;
    let threads = threads.parse().ok().filter(|n| (1..=most).contains(n))?;
    match name {
        DENSE => Some((Job::Dense(p, weights), threads)),
        PRODUCT if p.rows > FEW_ROWS => Some((Job::Product(p, weights), threads)),
        _ => None,
    }
}
