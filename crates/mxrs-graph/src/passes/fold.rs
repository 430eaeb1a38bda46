//! Finds calls that depend only on constants, so that they can be computed once.

use crate::{Graph, NodeId};

/// For each node, whether its outputs are the same in every run. A variable is constant if `is_constant` returns true for
/// it. A call is constant if it reads only constants (or nothing), draws no random numbers, rewrites nothing, waits only
/// for constants, and is not a [copy between devices](mxrs_op::OpDef::crosses_devices).
///
/// A call without inputs is constant too if the other conditions hold: its parameters alone determine its value.
pub fn constant_nodes(graph: &Graph, is_train: bool, is_constant: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let mut constant = vec![false; graph.n_nodes()];
    for (id, node) in graph.iter() {
        constant[id.index()] = match node.call() {
            None => is_constant(id),
            Some((op, params)) => {
                let mut before = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
                let is_pure = !op.has_effect(params, is_train) && !op.crosses_devices;
                is_pure && node.subgraphs.is_empty() && before.all(|b| constant[b.index()])
            }
        };
    }
    constant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_ops::smooth;
    use crate::{Entry, GraphBuilder};
    use mxrs_op::Attrs;

    #[test]
    fn constants_spread_up_to_effects() {
        let ops = smooth::set();
        let mut b = GraphBuilder::new();
        let c = b.add_variable("c", Attrs::new());
        let x = b.add_variable("x", Attrs::new());
        let mut call = |op: &str, name: &str, inputs: &[NodeId], waits: &[NodeId]| {
            let inputs = inputs.iter().map(|n| Entry::new(*n, 0)).collect();
            let id = b.add_op(ops.get(op).unwrap(), name, Attrs::new(), inputs).unwrap();
            b.add_control_deps(id, waits).unwrap();
            id
        };
        let twice = call("Add", "twice", &[c, c], &[]);
        let mixed = call("Mul", "mixed", &[twice, x], &[]);
        let noise = call("Noise", "noise", &[twice], &[]);
        let moving = call("Moving", "moving", &[twice, c], &[]);
        let waits = call("Sin", "waits", &[c], &[mixed]);
        let last = call("Add", "last", &[twice, twice], &[]);
        b.set_heads([mixed, noise, moving, waits, last].map(|n| Entry::new(n, 0)).to_vec());
        let graph = b.build().unwrap();
        let names = |is_train: bool| -> Vec<&str> {
            let constant = constant_nodes(&graph, is_train, |id| graph.node(id).name == "c");
            graph.nodes().iter().zip(constant).filter(|(_, is)| *is).map(|(n, _)| n.name.as_str()).collect()
        };
        assert_eq!(names(true), ["c", "twice", "last"]);
        assert_eq!(names(false), ["c", "twice", "noise", "moving", "last"]);
    }
}
