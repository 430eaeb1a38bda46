//! Marks the nodes to quantize: MXNet's smart and full modes.

use crate::rules::{Facts, Rule};
use crate::{QuantizeMode, QuantizeOptions, QuantizedDType};
use mxrs_graph::{Graph, Node, NodeId};
use mxrs_types::{Error, Result};

/// For each node: the rule by which it is quantized, or the reason why it is not. The reason of a variable has no meaning.
pub(crate) type Marks = Vec<Result<Rule, String>>;

/// Marks every node of the graph.
pub(crate) fn mark(facts: &Facts<'_>, options: &QuantizeOptions) -> Marks {
    let graph = facts.graph;
    let mut marks: Marks = graph
        .iter()
        .map(|(id, node)| match is_excluded(options, node) {
            true => Err("excluded".to_owned()),
            false => facts.rule(id),
        })
        .collect();
    if options.mode == QuantizeMode::Smart {
        // A chain of quantized nodes may also end at a normalization, but not with uint8: what the normalization reads
        // may be negative.
        let sums = options.dtype != QuantizedDType::UInt8;
        let (after, before) = (reached(graph, &marks, true, false), reached(graph, &marks, false, sums));
        for (index, mark) in marks.iter_mut().enumerate() {
            if mark.as_ref().is_ok_and(|rule| !rule.is_must) && !(after[index] && before[index]) {
                *mark = Err("not between two quantized layers".to_owned());
            }
        }
    }
    marks
}

/// Whether the options exclude the node.
pub(crate) fn is_excluded(options: &QuantizeOptions, node: &Node) -> bool {
    options.excluded_names.contains(&node.name) || options.excluded_ops.iter().any(|op| op == node.op_name())
}

/// Checks that every exclusion has an effect.
///
/// # Errors
/// Fails if no call of the graph has an excluded name or an excluded operator.
pub(crate) fn check_exclusions(graph: &Graph, options: &QuantizeOptions) -> Result<()> {
    let has = |is: &dyn Fn(&Node) -> bool| graph.nodes().iter().any(|node| !node.is_variable() && is(node));
    for name in &options.excluded_names {
        if !has(&|node| node.name == *name) {
            return Err(Error::invalid("node to exclude", format!("`{name}`"), "the name of a node of the network"));
        }
    }
    for op in &options.excluded_ops {
        if !has(&|node| node.op_name() == op) {
            return Err(Error::invalid("operator to exclude", format!("`{op}`"), "an operator of the network"));
        }
    }
    Ok(())
}

/// Whether a call is a normalization that only a ReLU reads. The input of such a normalization may have
/// 8 bits, because a single kernel then dequantizes it, normalizes it, applies ReLU and quantizes the result. Folded
/// normalizations are no longer in the graph.
fn is_norm_before_relu(graph: &Graph, id: NodeId) -> bool {
    let is_relu = |reader: &NodeId| {
        let reader = graph.node(*reader);
        reader.op_name() == "relu"
            || reader.op_name() == "Activation" && reader.attrs.get("act_type").is_some_and(|act| act.trim() == "relu")
    };
    let readers = graph.consumers(graph.output_id(id, 0));
    graph.node(id).op_name() == "BatchNorm" && matches!(readers, [(reader, _)] if is_relu(reader))
}

/// For each node, whether a chain of quantizable nodes connects it with a node that must be quantized and comes before
/// it (if `is_after` is set) or after it (otherwise). With `with_norms`, a chain may also end at a normalization that
/// only a ReLU reads. A chain that ends at a normalization does not pass through concatenations, which stay in float32:
/// a quantized concatenation would round all its parts again, to one common range.
fn reached(graph: &Graph, marks: &Marks, is_after: bool, with_norms: bool) -> Vec<bool> {
    let mut reached = vec![false; graph.n_nodes()];
    let is_must = |id: NodeId| marks[id.index()].as_ref().is_ok_and(|rule| rule.is_must);
    let mut open: Vec<(NodeId, bool)> = graph
        .iter()
        .map(|(id, _)| (id, is_must(id)))
        .filter(|(id, is_must)| *is_must || with_norms && is_norm_before_relu(graph, *id))
        .collect();
    // The last entries are taken first, so chains from layers are followed before chains from normalizations. This order
    // matters because only chains from layers pass through concatenations, and a node is entered only once.
    open.sort_by_key(|(_, is_must)| *is_must);
    while let Some((id, may_join)) = open.pop() {
        let next: Vec<NodeId> = if is_after {
            graph.output_ids(id).flat_map(|entry| graph.consumers(entry)).map(|(reader, _)| *reader).collect()
        } else {
            graph.node(id).inputs.iter().map(|input| input.node).collect()
        };
        for id in next {
            let is_support = marks[id.index()].as_ref().is_ok_and(|rule| !rule.is_must);
            let may = may_join || graph.node(id).op_name() != "Concat";
            if is_support && may && !std::mem::replace(&mut reached[id.index()], true) {
                open.push((id, may_join));
            }
        }
    }
    reached
}
