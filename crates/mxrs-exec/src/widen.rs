//! Graphs on float16 where kernels for it are missing: calls compute in float32, at the speed of that; float16 is how
//! parameters, inputs and outputs are stored.

use crate::bind::Known;
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::partition::cost;
use mxrs_graph::{Graph, NodeId, widen};
use mxrs_op::{OpCall, Support, TensorDesc};
use mxrs_types::DType;
use rustc_hash::FxHashMap;

/// A graph with what lowering must know of it.
pub struct Wide {
    pub graph: Graph,
    pub known: Known,
    pub bound: FxHashMap<NodeId, Bound>,
}

/// The graph on float32, where some call on float16 would run on the reference kernels and has a better one for float32.
pub fn widened(graph: &Graph, known: &Known, bound: &FxHashMap<NodeId, Bound>, options: &BindOptions) -> Option<Wide> {
    if !known.dtypes.contains(&DType::F16) {
        return None;
    }
    let entries = known.shapes.iter().zip(&known.dtypes);
    let descs: Vec<TensorDesc> = entries.map(|(shape, dtype)| TensorDesc::dense(shape.clone(), *dtype)).collect();
    if !graph.iter().any(|(id, _)| gains(graph, id, &descs, options)) {
        return None;
    }
    match widen(graph, &options.ops, &descs) {
        Ok(Some(wide)) => {
            let moved = |(id, bound): (&NodeId, &Bound)| Some((wide.new_ids[id.index()]?, *bound));
            Some(Wide {
                known: Known {
                    shapes: wide.descs.iter().map(|desc| desc.shape.clone()).collect(),
                    dtypes: wide.descs.iter().map(|desc| desc.dtype).collect(),
                },
                bound: bound.iter().filter_map(moved).collect(),
                graph: wide.graph,
            })
        }
        Ok(None) => {
            tracing::debug!("calls on float16 stay what they are: the graph cannot be widened");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "calls on float16 stay what they are");
            None
        }
    }
}

/// Whether a call on float16 has no kernel but the reference, and one on float32 has.
fn gains(graph: &Graph, id: NodeId, descs: &[TensorDesc], options: &BindOptions) -> bool {
    let Some((op, params)) = graph.node(id).call() else { return false };
    let inputs: Vec<TensorDesc> = graph.input_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    let outputs: Vec<TensorDesc> = graph.output_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    if !inputs.iter().any(|desc| desc.dtype == DType::F16) {
        return false;
    }
    let is_constant = vec![false; inputs.len()];
    let is_fast = |inputs: &[TensorDesc], outputs: &[TensorDesc]| {
        let call = OpCall { op, params, inputs, outputs, is_constant: &is_constant, is_train: false };
        cost(&options.backends, &call).is_some_and(|cost| cost < Support::REFERENCE_COST)
    };
    let wide = |descs: &[TensorDesc]| -> Vec<TensorDesc> {
        let dtype = |dtype| if dtype == DType::F16 { DType::F32 } else { dtype };
        descs.iter().map(|desc| TensorDesc { dtype: dtype(desc.dtype), ..desc.clone() }).collect()
    };
    !is_fast(&inputs, &outputs) && is_fast(&wide(&inputs), &wide(&outputs))
}
