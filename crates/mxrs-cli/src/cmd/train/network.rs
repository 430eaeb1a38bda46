//! Checks that a checkpoint was saved with the network that is trained.

use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use mxrs::format::params::symbol_path;
use mxrs::graph::{Graph, Node};
use mxrs::op::Attrs;
use mxrs::train::resume;
use mxrs::types::Error;
use mxrs::{Model, Runtime};

/// Checks that the checkpoint of `--load-epoch` or `--resume` was saved with this network. Names and shapes of the
/// parameters alone do not show that.
///
/// # Errors
/// Returns an error if the symbol file cannot be read, or if a node differs (the error names the first one).
pub fn check(plan: &Plan, runtime: &Runtime, graph: &Graph) -> Outcome {
    let training = &plan.training;
    let Some(prefix) = &training.model_prefix else { return Ok(()) };
    let goes_on =
        training.load_epoch.is_some() || training.resume && !resume::find(prefix).map_err(Failure::input)?.is_empty();
    if !goes_on {
        return Ok(());
    }
    let symbol = symbol_path(prefix);
    let saved = Model::load_graph(runtime, &symbol).map_err(Failure::input)?;
    let Some(difference) = difference(&saved, graph) else { return Ok(()) };
    let got = format!("{} has {difference}", symbol.display());
    let expected = "the network that is trained; give the flags of that training, or another --model-prefix";
    Err(Failure::Input(Error::invalid("network of the checkpoint", got, expected)))
}

/// The first node in which two networks differ: it is missing in one of them, or has another operator, other settings or
/// other inputs.
fn difference(saved: &Graph, built: &Graph) -> Option<String> {
    let absent = |node: &&Node, from: &Graph| !from.nodes().iter().any(|other| other.name == node.name);
    if let Some(node) = saved.nodes().iter().find(|node| absent(node, built)) {
        return Some(format!("`{}` ({}), which it lacks", node.name, node.op_name()));
    }
    if let Some(node) = built.nodes().iter().find(|node| absent(node, saved)) {
        return Some(format!("no `{}` ({})", node.name, node.op_name()));
    }
    let pairs = saved.nodes().iter().flat_map(|node| {
        let is_same = |other: &&Node| other.name == node.name && other.op.is_some() == node.op.is_some();
        built.nodes().iter().find(is_same).map(|other| (node, other))
    });
    pairs.filter(|(node, _)| node.op.is_some()).find_map(|(old, new)| {
        let name = &old.name;
        if old.op_name() != new.op_name() {
            return Some(format!("`{name}` as {}, not {}", old.op_name(), new.op_name()));
        }
        let (was, is) = (settings(old), settings(new));
        if was != is {
            return Some(format!("`{name}` with {was}, not {is}"));
        }
        (inputs(saved, old) != inputs(built, new)).then(|| format!("other inputs of `{name}`"))
    })
}

/// Settings of a node as text, without those that do not affect results. Defaults are filled in.
fn settings(node: &Node) -> String {
    let Some((op, _)) = node.call() else { return String::new() };
    let counts = |(key, _): &(&str, &str)| *key != "workspace" && !key.starts_with("cudnn_");
    let attrs: Attrs = node.attrs.iter().filter(counts).collect();
    // Parsing cannot fail, because a superset of these attributes was parsed before.
    op.parse(&attrs).map_or_else(|_| format!("{attrs:?}"), |params| format!("{params:?}"))
}

/// The inputs of a node: name of the producer and index of its output.
fn inputs<'a>(graph: &'a Graph, node: &Node) -> Vec<(&'a str, u32)> {
    node.inputs.iter().map(|entry| (graph.node(entry.node).name.as_str(), entry.index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::graph::{NameManager, Symbol, SymbolCall};

    fn network(op: &str, name: &str, attrs: &[(&str, &str)]) -> Graph {
        let ops = mxrs::ops::catalog();
        let input = Symbol::variable("data");
        let call = SymbolCall::new(ops.get(op).unwrap()).name(name).input(&input);
        let call = attrs.iter().fold(call, |call, (key, value)| call.attr(*key, value));
        call.build(&mut NameManager::new()).unwrap().graph().unwrap()
    }

    #[test]
    fn what_changes_results_is_a_difference() {
        let pool = |attrs: &[(&str, &str)]| network("Pooling", "pool", attrs);
        let [kernel, max, avg] = [("kernel", "(2, 2)"), ("pool_type", "max"), ("pool_type", "avg")];
        let of = |a: &Graph, b: &Graph| difference(a, b).unwrap_or_default();
        assert_eq!(difference(&pool(&[kernel]), &pool(&[("kernel", "(2,2)"), max, ("cudnn_off", "True")])), None);
        let other = of(&pool(&[kernel, avg]), &pool(&[kernel]));
        assert!(other.contains("`pool` with") && other.contains("Avg") && other.contains("Max"), "{other}");
        let flat = network("Flatten", "pool", &[]);
        assert!(of(&flat, &pool(&[kernel])).contains("`pool` as Flatten, not Pooling"));
        assert!(of(&network("Flatten", "flat", &[]), &flat).contains("`flat` (Flatten), which it lacks"));
    }
}
