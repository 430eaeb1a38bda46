//! Tests the fusion of pairs of calls: the forward part stays in front (G3), values stay equal, some pairs are not
//! fused, and outputs are recomputed (G13, G14).

use super::*;
use crate::passes::interpreter::{self as run, Given};
use crate::test_ops::smooth;
use crate::{GradientRequest, GraphBuilder, first_recomputed, gradient, recompute};
use mxrs_op::Attrs;

/// A chain of `n` layers of Norm, Tanh and Sin. `then` gets the outputs of the Norms and the last output; it may add calls,
/// and returns the heads.
fn chain(n: usize, force: &str, then: impl Fn(&mut GraphBuilder, &[Entry], Entry) -> Vec<Entry>) -> TrainingGraph {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let mut last = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let mut norms = Vec::new();
    for i in 0..n {
        for op in ["Norm", "Tanh", "Sin"] {
            let attrs = if force.is_empty() { Attrs::new() } else { Attrs::from([("__force_mirroring__", force)]) };
            let node = b.add_op(ops.get(op).unwrap(), format!("{}{i}", op.to_lowercase()), attrs, vec![last]).unwrap();
            last = Entry::new(node, 0);
            if op == "Norm" {
                norms.push(last);
            }
        }
    }
    let heads = then(&mut b, &norms, last);
    b.set_heads(heads);
    let graph = b.build().unwrap();
    gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap()
}

fn paired(training: &TrainingGraph) -> Option<TrainingGraph> {
    paired_with(training, &[0])
}

/// Fuses the pairs. The gradient of a fused call reads those inputs of the first call that `kept_inputs` lists.
fn paired_with(training: &TrainingGraph, kept_inputs: &'static [usize]) -> Option<TrainingGraph> {
    let ops = smooth::set();
    let pair = Pair {
        first: "Norm",
        is_second: |op, _| op == "Tanh",
        second_gradients: &["_backward_Tanh"],
        first_gradient: "_backward_Norm",
        gradient: "_backward_NormTanh",
        kept_inputs,
        gradient_inputs: &[],
        gradient_outputs: &[],
    };
    let op = |name| ops.get(name).unwrap().clone();
    let calls = CallPair { pair: &pair, both: op("NormTanh"), gradient: op(pair.gradient) };
    join_pairs(training, &calls, |_| true).unwrap()
}

fn count(training: &TrainingGraph, op: &str) -> usize {
    training.graph.nodes().iter().filter(|n| n.op_name() == op).count()
}

fn assert_same(a: &TrainingGraph, b: &TrainingGraph) {
    let heads = |g: &TrainingGraph, order: Vec<NodeId>| -> Vec<Vec<f64>> {
        let run = run::run_in(&g.graph, &Given::default(), order);
        g.graph.heads().iter().map(|h| run.entries[g.graph.entry_id(*h).index()].clone()).collect()
    };
    let expected = heads(a, (0..a.graph.n_nodes()).map(NodeId::new).collect());
    for salt in 0..4 {
        assert_eq!(heads(b, run::any_order(&b.graph, salt)), expected);
    }
    assert_eq!(a.wanted.len(), b.wanted.len());
    // G3: the forward part is in front.
    for (id, node) in b.graph.iter() {
        assert!(!b.is_forward(id) || node.inputs.iter().all(|e| b.is_forward(e.node)));
        assert!(node.backward_of.is_none_or(|of| b.is_forward(of) && !b.is_forward(id)));
    }
}

#[test]
fn pairs_become_one_call_forward_and_backward() {
    let all = chain(5, "", |_, _, last| vec![last]);
    let less = paired(&all).unwrap();
    for (op, n) in [("Norm", 0), ("Tanh", 0), ("NormTanh", 5), ("Sin", 5), ("_backward_Norm", 0), ("_backward_Tanh", 0)]
    {
        assert_eq!(count(&less, op), n, "{op}");
    }
    assert_eq!(count(&less, "_backward_NormTanh"), 5);
    assert_eq!(less.n_forward_nodes, all.n_forward_nodes - 5);
    assert!(less.graph.find("tanh3").is_some() && less.graph.find("norm3").is_none());
    assert_same(&all, &less);
}

#[test]
fn what_others_read_is_left_alone() {
    // A pair is not fused if the output of its first call is a head or has a second reader, or if a call is annotated.
    let head = chain(3, "", |_, norms, last| vec![last, norms[1]]);
    let reader = chain(3, "", |b, norms, last| {
        let ops = smooth::set();
        let other = b.add_op(ops.get("Sin").unwrap(), "other", Attrs::new(), vec![norms[2]]).unwrap();
        vec![last, Entry::new(other, 0)]
    });
    for all in [head, reader] {
        let less = paired(&all).unwrap();
        assert_eq!((count(&less, "NormTanh"), count(&less, "Norm")), (2, 1));
        assert_same(&all, &less);
    }
    for force in ["True", "0"] {
        assert!(paired(&chain(3, force, |_, _, last| vec![last])).is_none());
    }
}

/// The first outputs of fused calls are recomputed from values that are kept in any case, until the wanted number of bytes
/// is freed.
#[test]
fn g13_first_outputs_are_made_again() {
    let all = chain(6, "", |_, _, last| vec![last]);
    let pairs = paired(&all).unwrap();
    for (wanted, n) in [(0, 0), (1, 1), (4, 2), (5, 3), (1000, 6)] {
        // Each call counts as many bytes as it has outputs; a fused call has 2.
        let stored = first_recomputed(&pairs, wanted, |id| pairs.graph.node(id).n_outputs);
        let less = recompute(&pairs, |id| stored[id.index()]).unwrap();
        assert_eq!((count(&less, "NormTanhAgain"), count(&less, "NormTanh")), (n, 6), "{wanted}");
        for (i, original) in (0..n).map(|i| (i, less.graph.find(&format!("tanh{i}")).unwrap())) {
            let clone = less.graph.find(&format!("tanh{i}_mirror")).unwrap();
            let node = less.graph.node(clone);
            assert_eq!(node.clone_of, Some(original));
            assert_eq!((node.n_outputs, node.inputs[1]), (1, Entry::new(original, 1)));
            // Only the forward part reads the first output of the original call.
            let readers = less.graph.consumers(less.graph.output_id(original, 0));
            assert!(readers.iter().all(|(reader, _)| less.is_forward(*reader)));
        }
        assert_same(&all, &less);
    }
    // Recomputation must not keep a tensor alive that no gradient reads. Here only the input of the first call is available
    // in any case, because it is a variable.
    let forgetful = paired_with(&all, &[]).unwrap();
    let stored = first_recomputed(&forgetful, 1000, |_| 1);
    assert_eq!(stored.iter().filter(|stored| !**stored).count(), 1);
    assert!(!stored[forgetful.graph.find("tanh0").unwrap().index()]);
}
