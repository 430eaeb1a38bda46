//! Cheap recomputation: outputs that are recomputed from values that are kept anyway.

use super::{is_read, must_store};
use crate::{Node, NodeId, TrainingGraph};

/// Chooses the forward calls to store, as one flag per forward node. A call is not stored if its operator can
/// [recompute](mxrs_op::OpDef::recompute) the first output from tensors that gradients read in any case. Such calls are
/// taken from the first one on, until `wanted_bytes` are freed, because the gradients of the first calls run last, when few
/// other values are kept. `bytes` are the bytes of a call's outputs.
pub fn first_recomputed(training: &TrainingGraph, wanted_bytes: usize, bytes: impl Fn(NodeId) -> usize) -> Vec<bool> {
    let graph = &training.graph;
    let must = must_store(training);
    let mut stored = vec![true; training.n_forward_nodes];
    let is_read_backward = |entry| {
        let mut readers = graph.consumers(entry).iter();
        readers.any(|(reader, input)| !training.is_forward(*reader) && is_read(graph.node(*reader), *input as usize))
    };
    let is_kept = |node: &Node| {
        let n_aux = node.op.as_ref().map_or(0, |op| op.n_aux);
        let inputs = &node.inputs[..node.inputs.len().saturating_sub(n_aux)];
        inputs.iter().all(|e| graph.node(e.node).is_variable() || is_read_backward(graph.entry_id(*e)))
    };
    let mut freed = 0;
    for (id, node) in graph.iter().take(training.n_forward_nodes) {
        if freed >= wanted_bytes {
            break;
        }
        let is_candidate = node.op.as_ref().is_some_and(|op| op.recompute.is_some())
            && node.attrs.get("__force_mirroring__").is_none()
            && !must[id.index()]
            && !training.forward_heads().iter().any(|head| head.node == id);
        let output = graph.output_id(id, 0);
        if is_candidate && is_kept(node) && is_read_backward(output) {
            stored[id.index()] = false;
            freed += bytes(id);
        }
    }
    stored
}
