//! Widening: half-precision calls compute in float32 if their kernels are missing or slower.
//!
//! - Needs a forward graph with shapes and types.
//! - Promises that parameters, inputs and outputs keep their types, and that each result is rounded once. In a training step
//!   activations and their gradients become float32, twice as large.
//! - Switch: none. At inference products of float16 are always widened, because the float16 kernels of libraries take
//!   longer. Products of bfloat16 are widened if [`BindOptions::half_products`] is false. In training, only a costly call
//!   justifies widening.

use crate::bind::Known;
use crate::costly::{is_costly, is_fast, is_product, wide};
use crate::device::{backends_on, device_of};
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::pipeline::{Context, ForwardGraph, GraphState, Typed};
use mxrs_graph::{Graph, NodeId, widen};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_types::{DType, Result};
use std::sync::Arc;

/// Widens the calls on float16, then those on bfloat16.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let mut found: Option<GraphState> = None;
    for half in [DType::F16, DType::BF16] {
        if let Some(wide) = without(half, &found.as_ref().unwrap_or(state).forward, context)? {
            found = Some(wide);
        }
    }
    Ok(found)
}

/// Widens the calls on the half-precision type `half`, and returns the new graph. Returns `None` if no call gets faster, or
/// if the graph cannot be widened.
fn without(half: DType, forward: &ForwardGraph, context: &Context<'_>) -> Result<Option<GraphState>> {
    let (graph, Typed { known, bound }) = (&*forward.graph, &*forward.typed);
    if !known.dtypes.contains(&half) {
        return Ok(None);
    }
    let entries = known.shapes.iter().zip(&known.dtypes);
    let descs: Vec<TensorDesc> = entries.map(|(shape, dtype)| TensorDesc::dense(shape.clone(), *dtype)).collect();
    if !graph.iter().any(|(id, _)| gains(graph, id, &descs, half, context.options, context.is_train)) {
        return Ok(None);
    }
    let Some(wide) = widen(graph, &context.options.ops, &descs, half)? else {
        tracing::debug!("calls on {half} stay what they are: the graph cannot be widened");
        return Ok(None);
    };
    let moved = |(id, bound): (&NodeId, &Bound)| Some((wide.new_ids[id.index()]?, *bound));
    let known = Known {
        shapes: wide.descs.iter().map(|desc| desc.shape.clone()).collect(),
        dtypes: wide.descs.iter().map(|desc| desc.dtype).collect(),
    };
    let bound = bound.iter().filter_map(moved).collect();
    Ok(Some(GraphState::new(Arc::new(wide.graph), Typed { known, bound })))
}

/// Whether widening a call makes it faster. Two conditions must hold. A float32 kernel other than the reference exists. In
/// half precision the call would run on the reference kernel, or take longer than in float32.
fn gains(graph: &Graph, id: NodeId, descs: &[TensorDesc], half: DType, options: &BindOptions, is_train: bool) -> bool {
    let Some((op, params)) = graph.node(id).call() else { return false };
    let inputs: Vec<TensorDesc> = graph.input_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    let outputs: Vec<TensorDesc> = graph.output_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    if !inputs.iter().any(|desc| desc.dtype == half) {
        return false;
    }
    let is_constant = vec![false; inputs.len()];
    let call = OpCall { op, params, inputs: &inputs, outputs: &outputs, is_constant: &is_constant, is_train };
    let is_costly = is_costly(&call);
    let (counts, is_stored_only) = match half {
        _ if is_train => (is_costly, false),
        DType::F16 => (true, is_product(&call)),
        _ => (is_costly, is_costly && !options.half_products),
    };
    let backends = backends_on(options, device_of(graph.node(id), options));
    if !counts || (!is_stored_only && is_fast(&backends, &call)) {
        return false;
    }
    let (inputs, outputs) = (wide(&inputs, half), wide(&outputs, half));
    is_fast(&backends, &OpCall { inputs: &inputs, outputs: &outputs, ..call })
}
