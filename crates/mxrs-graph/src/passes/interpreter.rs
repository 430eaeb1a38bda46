//! Runs graphs of the smooth test operators, and makes random graphs.

use crate::test_ops::smooth;
use crate::{Entry, Graph, GraphBuilder, NodeId};
use mxrs_op::{Attrs, FUSED_OP, Fused, FusedValue, OpSet};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher, BuildHasherDefault};

/// The number of elements of every tensor.
pub const LENGTH: usize = 3;

/// The values of variables by name; other variables get a value computed from their name.
pub type Given = FxHashMap<String, Vec<f64>>;

/// The result of a run: the value of every entry when it was made, and of every variable at the end.
pub struct Run {
    pub entries: Vec<Vec<f64>>,
    pub variables: Given,
}

fn from_text(text: &str, salt: u64) -> f64 {
    let hash = BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one((text, salt));
    (hash >> 40) as f64 / (1u64 << 24) as f64 * 1.6 - 0.8
}

/// The value of the variable `name` if no value is given for it. It is ones for a variable that holds the gradient of a
/// head.
pub fn value_of(name: &str) -> Vec<f64> {
    (0..LENGTH as u64).map(|i| if name.ends_with("_grad") { 1.0 } else { from_text(name, i) }).collect()
}

/// Runs a training step with the calls in the order `order`. A clone, which recomputes another call, draws the random number
/// of that call and does not rewrite auxiliary states.
pub fn run_in(graph: &Graph, given: &Given, order: impl IntoIterator<Item = NodeId>) -> Run {
    let mut entries: Vec<Option<Vec<f64>>> = vec![None; graph.n_entries()];
    for id in graph.variables() {
        let name = &graph.node(*id).name;
        let value = given.get(name).cloned().unwrap_or_else(|| value_of(name));
        entries[graph.output_id(*id, 0).index()] = Some(value);
    }
    for id in order {
        let node = graph.node(id);
        let Some((op, params)) = node.call() else { continue };
        let inputs: Vec<Vec<f64>> =
            graph.input_ids(id).map(|e| entries[e.index()].clone().expect("inputs come first")).collect();
        let random = from_text(&graph.node(node.clone_of.unwrap_or(id)).name, 99);
        let made = match op.name {
            FUSED_OP => fused(params.get(), &inputs),
            name => smooth::compute(name, &inputs, node.n_outputs, random),
        };
        graph.output_ids(id).zip(made).for_each(|(e, value)| entries[e.index()] = Some(value));
        if node.clone_of.is_none() {
            for &position in (op.rewrites)(params, true) {
                let state = graph.entry_id(node.inputs[position]);
                let moved = inputs[position].iter().zip(&inputs[0]).map(|(old, x)| 0.5 * old + 0.5 * x).collect();
                entries[state.index()] = Some(moved);
            }
        }
    }
    let entries: Vec<Vec<f64>> = entries.into_iter().map(|e| e.expect("every node was run")).collect();
    let of = |id: &NodeId| (graph.node(*id).name.clone(), entries[graph.output_id(*id, 0).index()].clone());
    Run { variables: graph.variables().iter().map(of).collect(), entries }
}

/// Runs the calls inside a fused call one by one.
fn fused(fused: &Fused, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut made: Vec<Vec<Vec<f64>>> = Vec::new();
    let read = |value: &FusedValue, made: &[Vec<Vec<f64>>]| match *value {
        FusedValue::Input(input) => inputs[input as usize].clone(),
        FusedValue::Call(call, output) => made[call as usize][output as usize].clone(),
    };
    for call in &fused.calls {
        let inputs: Vec<Vec<f64>> = call.inputs.iter().map(|value| read(value, &made)).collect();
        made.push(smooth::compute(call.op.name, &inputs, call.n_outputs(), 0.0));
    }
    fused.outputs.iter().map(|value| read(value, &made)).collect()
}

/// Runs the calls in id order.
pub fn run(graph: &Graph, given: &Given) -> Run {
    run_in(graph, given, (0..graph.n_nodes()).map(NodeId::new))
}

/// The values of the heads.
pub fn heads(graph: &Graph, given: &Given) -> Vec<Vec<f64>> {
    let run = run(graph, given);
    graph.heads().iter().map(|h| run.entries[graph.entry_id(*h).index()].clone()).collect()
}

/// An order of execution that respects inputs and control dependencies, chosen by `salt`.
pub fn any_order(graph: &Graph, salt: u64) -> Vec<NodeId> {
    let mut missing: Vec<usize> = graph.nodes().iter().map(|n| n.inputs.len() + n.control_deps.len()).collect();
    let mut readers: Vec<Vec<NodeId>> = vec![Vec::new(); graph.n_nodes()];
    for (id, node) in graph.iter() {
        let before = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
        before.for_each(|b| readers[b.index()].push(id));
    }
    let mut ready: Vec<NodeId> = (0..graph.n_nodes()).map(NodeId::new).filter(|n| missing[n.index()] == 0).collect();
    let mut order = Vec::new();
    let mut state = salt | 1;
    while !ready.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let id = ready.swap_remove((state >> 33) as usize % ready.len());
        order.push(id);
        for reader in &readers[id.index()] {
            missing[reader.index()] -= 1;
            if missing[reader.index()] == 0 {
                ready.push(*reader);
            }
        }
    }
    order
}

/// For each call: its kind, two operands, and whether it waits for some node without reading it.
pub type Choices = Vec<(u8, u16, u16, bool)>;

/// A random graph over the variables `x0`, `x1`, `x2` in which every operator is differentiable, with shared operands,
/// several outputs, auxiliary states (each written by one call), random calls and control dependencies. Values stay
/// small.
pub fn random_graph(ops: &OpSet, choices: &Choices, heads: &[u16]) -> Graph {
    let mut b = GraphBuilder::new();
    let mut made: Vec<Entry> = (0..3).map(|i| Entry::new(b.add_variable(format!("x{i}"), Attrs::new()), 0)).collect();
    for (i, (kind, first, second, waits)) in choices.iter().enumerate() {
        let (p, q) = (made[*first as usize % made.len()], made[*second as usize % made.len()]);
        let mut call = |op: &str, name: String, attrs: Attrs, inputs: Vec<Entry>| {
            let id = b.add_op(ops.get(op).unwrap(), name, attrs, inputs).unwrap();
            if *waits && q.node < id {
                b.add_control_deps(id, &[q.node]).unwrap();
            }
            Entry::new(id, 0)
        };
        let bounded = match kind % 9 {
            0 => call("Sin", format!("n{i}"), Attrs::new(), vec![p]),
            1 => call("Tanh", format!("n{i}"), Attrs::new(), vec![p]),
            2 => call("Mul", format!("n{i}"), Attrs::new(), vec![p, q]),
            3 => {
                let sum = call("Add", format!("s{i}"), Attrs::new(), vec![p, q]);
                call("Sin", format!("n{i}"), Attrs::new(), vec![sum])
            }
            4 => {
                let fan = call("Fan", format!("n{i}"), Attrs::from([("num_outputs", "3")]), vec![p]);
                let other = Entry::new(fan.node, 1 + *second as u32 % 2);
                let bound = |e: Entry, name: String, b: &mut GraphBuilder| {
                    Entry::new(b.add_op(ops.get("Tanh").unwrap(), name, Attrs::new(), vec![e]).unwrap(), 0)
                };
                made.push(bound(other, format!("o{i}"), &mut b));
                bound(fan, format!("f{i}"), &mut b)
            }
            5 => {
                let state = b.add_variable(format!("aux{i}"), Attrs::new());
                let state = Entry { node: state, index: 0, version: 1 };
                let id = b.add_op(ops.get("Moving").unwrap(), format!("n{i}"), Attrs::new(), vec![p, state]).unwrap();
                Entry::new(id, 0)
            }
            6 => call("Noise", format!("n{i}"), Attrs::new(), vec![p]),
            7 => call("Mul", format!("n{i}"), Attrs::new(), vec![p, p]),
            _ => call("_copy", format!("n{i}"), Attrs::new(), vec![p]),
        };
        made.push(bounded);
    }
    // The last head reads `x0` to `x2`, so that every gradient exists.
    let all = vec![made[0], made[1], made[2]];
    let last = b.add_op(ops.get("add_n").unwrap(), "last", Attrs::from([("num_args", "3")]), all).unwrap();
    let last = b.add_op(ops.get("_copy").unwrap(), "end", Attrs::new(), vec![Entry::new(last, 0)]).unwrap();
    let mut list: Vec<Entry> = heads.iter().map(|h| made[*h as usize % made.len()]).collect();
    list.push(Entry::new(last, 0));
    b.set_heads(list);
    b.build().unwrap()
}
