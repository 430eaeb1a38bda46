//! Makes a graph that computes only the requested values, and the values that they need.

use crate::{Entry, EntryId, Graph, GraphBuilder};
use mxrs_types::{Error, Result};

/// Makes the graph whose outputs are the values of `graph` called `names`. Names of values are `relu0_output`, `bn_mean` or
/// the name of a variable. Nodes that no output needs are dropped. If several values have the same name, the last one in
/// graph order is used.
///
/// # Errors
/// Fails if `names` is empty, or if a name is not that of a value.
pub fn select_outputs(graph: &Graph, names: &[&str]) -> Result<Graph> {
    if names.is_empty() {
        return Err(Error::invalid("outputs of a graph", "no names", "at least one"));
    }
    let find = |name: &&str| {
        let found = (0..graph.n_entries()).rev().map(EntryId::new).find(|id| graph.entry_name(*id) == **name);
        let (node, index) = found.map(|id| graph.entry_at(id)).ok_or_else(|| {
            let heads = graph.output_names().join(", ");
            Error::invalid(
                "output of a graph",
                format!("`{name}`"),
                format!("the name of a value in it, such as {heads}"),
            )
        })?;
        Ok(Entry::new(node, index as u32))
    };
    let heads = names.iter().map(find).collect::<Result<Vec<_>>>()?;
    let mut out = GraphBuilder::new();
    for (key, value) in graph.attrs() {
        out.set_attr(key, value.clone());
    }
    for node in graph.nodes() {
        out.push(node.clone());
    }
    out.set_heads(heads);
    out.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameManager, Symbol, SymbolCall, test_ops as ops};

    #[test]
    fn only_what_the_outputs_need_is_left() {
        let mut names = NameManager::new();
        let x = Symbol::variable("x");
        let a = SymbolCall::new(&ops::relu()).input(&x).build(&mut names).unwrap();
        let b = SymbolCall::new(&ops::norm()).name("bn").input(&a).build(&mut names).unwrap();
        let graph = SymbolCall::new(&ops::relu()).input(&b).build(&mut names).unwrap().graph().unwrap();

        let one = select_outputs(&graph, &["relu0_output"]).unwrap();
        assert_eq!((one.output_names(), one.argument_names()), (vec!["relu0_output".to_string()], vec!["x"]));
        assert_eq!(one.n_nodes(), 2);
        // Inner values, hidden outputs, variables and heads can be selected, and keep the requested order.
        let hidden = graph.entry_name(graph.output_id(graph.find("bn").unwrap(), 1));
        let many = select_outputs(&graph, &["relu1_output", "x", &hidden]).unwrap();
        assert_eq!(many.output_names(), ["relu1_output", "x", &hidden]);
        assert_eq!(many.n_nodes(), graph.n_nodes());

        let error = select_outputs(&graph, &["relu7_output"]).unwrap_err().to_string();
        assert!(error.contains("relu7_output") && error.contains("relu1_output"), "{error}");
        assert!(select_outputs(&graph, &[]).is_err());
    }
}
