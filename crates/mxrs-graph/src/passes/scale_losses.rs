//! Loss scaling: the gradients of losses are multiplied by a number that may change between runs.
//!
//! Before each loss ([`OpDef::is_loss`](mxrs_op::OpDef)) a call of `_amp_scale_gradient` is inserted, with a new variable
//! for the number. It is inserted there because a loss computes the gradient of its input itself, and ignores the gradient
//! of its output. Outputs that are not losses are not changed: the caller, who supplies their gradients, multiplies these by
//! the number.

use super::names::UniqueNames;
use super::rewrite::Rewrite;
use crate::{Entry, Graph, Node};
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{Error, Result};

const SCALE: &str = "_amp_scale_gradient";
const CTX_GROUP: &str = "__ctx_group__";

/// A graph whose losses are scaled, made by [`scale_losses`].
pub struct ScaledLosses {
    /// The graph. Its heads have the names of those of the original graph.
    pub graph: Graph,
    /// The names of the variables that hold the scale, one for each loss. A variable has as many axes as the input of its
    /// loss, all of size 1, and the same type.
    pub variables: Vec<String>,
}

/// Inserts the scale of the gradient before each loss of `graph`.
///
/// # Errors
/// Fails if the graph has a loss and `ops` has no `_amp_scale_gradient`, or if a loss is in a subgraph of control flow.
pub fn scale_losses(graph: &Graph, ops: &OpSet) -> Result<ScaledLosses> {
    let mut names = UniqueNames::of(graph);
    let mut rewrite = Rewrite::of(graph);
    let mut variables = Vec::new();
    for (id, old) in graph.iter() {
        if let Some(inner) = old.subgraphs.iter().find_map(|subgraph| first_loss(subgraph)) {
            let got = format!("`{inner}` in a subgraph of `{}` ({})", old.name, old.op_name());
            return Err(Error::invalid("loss whose gradient is scaled", got, "a loss outside of loops and branches"));
        }
        let mut node: Node = rewrite.moved(old);
        let is_loss = is_loss(old);
        if let (true, Some(data)) = (is_loss, node.inputs.first().copied()) {
            let group = || old.attrs.get(CTX_GROUP).map(|group| (CTX_GROUP, group));
            let attrs = || group().into_iter().collect::<Attrs>();
            let name = names.take(format!("{}_loss_scale", old.name));
            let scale = Entry::new(rewrite.out.add_variable(name.clone(), attrs()), 0);
            let call = names.take(format!("{}_scaled", old.name));
            let scaled = rewrite.out.add_op(ops.get(SCALE)?, call, attrs(), vec![data, scale])?;
            node.inputs[0] = Entry::new(scaled, 0);
            variables.push(name);
        }
        rewrite.put(id, node);
    }
    rewrite.end_forward();
    let heads = graph.heads().iter().map(|head| rewrite.entry(*head)).collect();
    Ok(ScaledLosses { graph: rewrite.finish(heads)?.graph, variables })
}

fn is_loss(node: &Node) -> bool {
    node.call().is_some_and(|(op, params)| (op.is_loss)(params))
}

/// The name of the first loss in a graph or its subgraphs.
fn first_loss(graph: &Graph) -> Option<&str> {
    let mut nodes = graph.nodes().iter();
    nodes.find_map(|node| match is_loss(node) {
        true => Some(node.name.as_str()),
        false => node.subgraphs.iter().find_map(|subgraph| first_loss(subgraph)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameManager, Symbol, SymbolCall};
    use mxrs_op::{InputNames, OpDef};

    #[test]
    fn each_loss_reads_its_data_through_a_scale() {
        let loss = OpDef { inputs: InputNames::Fixed(&["data", "label"]), is_loss: |_| true, ..OpDef::new("Loss") };
        let scale = OpDef { inputs: InputNames::Fixed(&["data", "scale"]), ..OpDef::new(SCALE) };
        let ops = OpSet::new([loss, scale, OpDef::new("Plain")]).unwrap();
        let mut names = NameManager::new();
        let (data, label) = (Symbol::variable("data"), Symbol::variable("label"));
        let mut call = |op: &str, name: &str, inputs: &[&Symbol]| {
            let call = SymbolCall::new(ops.get(op).unwrap()).name(name).inputs(inputs.iter().copied());
            call.build(&mut names).unwrap()
        };
        let plain = call("Plain", "plain", &[&data]);
        let (first, second) = (call("Loss", "first", &[&plain, &label]), call("Loss", "second", &[&plain, &label]));
        let graph = Symbol::group([&first, &plain, &second]).graph().unwrap();
        let scaled = scale_losses(&graph, &ops).unwrap();
        assert_eq!(scaled.variables, ["first_loss_scale", "second_loss_scale"]);
        assert_eq!(scaled.graph.output_names(), graph.output_names());
        for name in ["first", "second"] {
            let node = scaled.graph.node(scaled.graph.find(name).unwrap());
            let before = scaled.graph.node(node.inputs[0].node);
            assert_eq!(before.op_name(), SCALE);
            assert_eq!(scaled.graph.node(before.inputs[0].node).name, "plain");
            assert_eq!(scaled.graph.node(before.inputs[1].node).name, format!("{name}_loss_scale"));
            assert_eq!(scaled.graph.node(node.inputs[1].node).name, "label");
        }
        let head = scaled.graph.heads()[1];
        assert_eq!(scaled.graph.node(head.node).name, "plain");
    }
}
