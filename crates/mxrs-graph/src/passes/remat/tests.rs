//! Tests of recomputation: the invariants G3, G13 and G14, calls that are always stored, and the number of bytes that
//! is reached.

use super::chain::Stages;
use super::*;
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::smooth;
use crate::{GradientRequest, GraphBuilder, gradient};
use mxrs_op::Attrs;
use proptest::prelude::*;

fn training(choices: &Choices, picked: &[u16]) -> TrainingGraph {
    let ops = smooth::set();
    let graph = run::random_graph(&ops, choices, picked);
    gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x0", "x1", "x2"]).unwrap()).unwrap()
}

/// The training graph of a chain of `n` calls of `Sin`.
fn chain(n: usize) -> TrainingGraph {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let mut last = Entry::new(b.add_variable("x", Attrs::new()), 0);
    for i in 0..n {
        last = Entry::new(b.add_op(ops.get("Sin").unwrap(), format!("n{i}"), Attrs::new(), vec![last]).unwrap(), 0);
    }
    b.set_heads(vec![last]);
    let graph = b.build().unwrap();
    gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap()
}

/// The largest number of entries that are alive at the same time, if each entry is freed after the last call that reads it.
/// Variables are not counted.
fn peak(training: &TrainingGraph) -> usize {
    let graph = &training.graph;
    let mut last = vec![0; graph.n_entries()];
    for (id, node) in graph.iter() {
        graph.output_ids(id).for_each(|e| last[e.index()] = id.index());
        for (position, input) in node.inputs.iter().enumerate() {
            if is_read(node, position) {
                last[graph.entry_id(*input).index()] = id.index();
            }
        }
    }
    graph.heads().iter().for_each(|h| last[graph.entry_id(*h).index()] = graph.n_nodes());
    let mut freed = vec![0usize; graph.n_nodes() + 1];
    let (mut alive, mut most) = (0, 0);
    for (id, node) in graph.iter().filter(|(_, n)| !n.is_variable()) {
        alive += node.n_outputs;
        graph.output_ids(id).for_each(|e| freed[last[e.index()]] += 1);
        most = most.max(alive);
        // `freed` counts only outputs of calls, so a variable that is read here for the last time is not subtracted.
        alive -= freed[id.index()];
    }
    most
}

fn planned(training: &TrainingGraph) -> Result<usize> {
    Ok(peak(training))
}

/// Checks G3 and G13: values and states of both graphs are bit-equal, in id order and in any order that the edges allow.
fn same(a: &TrainingGraph, b: &TrainingGraph, salt: u64) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(a.n_forward_nodes, b.n_forward_nodes);
    for (x, y) in a.graph.nodes()[..a.n_forward_nodes].iter().zip(b.graph.nodes()) {
        prop_assert_eq!((&x.name, &x.inputs, &x.control_deps), (&y.name, &y.inputs, &y.control_deps));
    }
    let expected = run::run(&a.graph, &Given::default());
    let value = |g: &TrainingGraph, r: &run::Run| -> Vec<Vec<f64>> {
        g.graph.heads().iter().map(|h| r.entries[g.graph.entry_id(*h).index()].clone()).collect()
    };
    let order = run::any_order(&b.graph, salt);
    prop_assert_eq!(order.len(), b.graph.n_nodes());
    for found in [run::run(&b.graph, &Given::default()), run::run_in(&b.graph, &Given::default(), order)] {
        prop_assert_eq!(value(b, &found), value(a, &expected));
        prop_assert_eq!(&found.variables, &expected.variables);
    }
    for (id, node) in b.graph.iter() {
        if let Some(original) = node.clone_of {
            let of = b.graph.node(original);
            prop_assert!(b.is_forward(original) && !b.is_forward(id));
            prop_assert_eq!((of.op_name(), &of.attrs), (node.op_name(), &node.attrs));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn g13_recomputation_changes_nothing(
        choices in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 1..50),
        picked in prop::collection::vec(any::<u16>(), 1..4),
        stored in prop::collection::vec(any::<bool>(), 16),
        salt in any::<u64>(),
    ) {
        let all = training(&choices, &picked);
        let some = recompute(&all, |id| stored[id.index() % stored.len()])?;
        same(&all, &some, salt)?;
        let none = recompute(&all, |_| false)?;
        same(&all, &none, salt)?;
        let unchanged = recompute(&all, |_| true)?;
        prop_assert_eq!(format!("{:?}", unchanged.graph), format!("{:?}", all.graph));
        // A clone runs after the gradient call that precedes its first reader.
        for (id, node) in none.graph.iter().filter(|(_, n)| n.clone_of.is_some()) {
            let before = none.graph.iter().take(id.index()).filter(|(_, n)| n.backward_of.is_some()).last().map(|(id, _)| id);
            prop_assert_eq!(&node.control_deps, &before.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn g13_g14_hold_however_calls_are_chosen(
        choices in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 1..50),
        picked in prop::collection::vec(any::<u16>(), 1..3),
        salt in any::<u64>(),
    ) {
        let all = training(&choices, &picked);
        let bytes = |id: NodeId| all.graph.node(id).n_outputs;
        let rule = |n: &Node| if n.op_name() == "Mul" { Mirroring::Stored } else { Mirroring::Candidate };
        for stored in [mirror(&all, rule, bytes), sqrt_segments(&all, bytes), chain_checkpoints(&all, bytes)] {
            prop_assert_eq!(stored.len(), all.n_forward_nodes);
            let less = recompute_if_smaller(&all, &[stored], planned)?;
            if let Some(less) = less {
                same(&all, &less, salt)?;
                prop_assert!(peak(&less) < peak(&all));
            }
        }
        // A budget is met or refused. The error names the fewest bytes, and a budget of that size is met.
        let cost = |id: NodeId| 1.0 + id.index() as f64;
        let budget = peak(&all) * 3 / 4;
        let fits = match within_budget(&all, budget, bytes, cost, planned) {
            Ok(Some(found)) => (budget, Some(found)),
            Ok(None) => (budget, None),
            Err(error) => {
                let text = error.to_string();
                let fewest: String =
                    text.split("at least ").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
                let fewest: usize = fewest.parse().unwrap();
                prop_assert!(fewest > budget);
                (fewest, within_budget(&all, fewest, bytes, cost, planned)?)
            }
        };
        let found = fits.1.as_ref().unwrap_or(&all);
        prop_assert!(peak(found) <= fits.0);
        same(&all, found, salt)?;
    }

    /// The dynamic program finds the same result as trying all subsets.
    #[test]
    fn checkpoints_of_short_chains_are_optimal(
        bytes in prop::collection::vec(0usize..20, 1..9),
        between in prop::collection::vec(0usize..20, 10),
    ) {
        let n = bytes.len();
        let sums = |list: &[usize]| -> Vec<usize> {
            list.iter().scan(0, |sum, b| { let old = *sum; *sum += b; Some(old) }).collect()
        };
        let before: Vec<usize> = sums(&between)[1..=n + 1].to_vec();
        let own_before = sums(&[bytes.as_slice(), &[0]].concat());
        let stages = Stages { positions: (0..n).collect(), bytes: bytes.clone(), before, own_before };
        let memory = |chosen: &[usize]| {
            let mut from = None;
            let mut largest = 0;
            for to in chosen.iter().copied().chain([n]) {
                // The bytes of the segment that ends at stage `to`: those between stages, and those of the stages
                // inside it, which are not stored.
                let first = from.map_or(0, |f: usize| f + 1);
                let inside = (first..=to).map(|i| between[i]).sum::<usize>() + (first..to).map(|i| bytes[i]).sum::<usize>();
                largest = largest.max(inside);
                from = Some(to);
            }
            largest + chosen.iter().map(|i| bytes[*i]).sum::<usize>()
        };
        let subset = |mask: u32| (0..n).filter(|i| mask >> i & 1 == 1).collect::<Vec<_>>();
        let least = (0..1u32 << n).map(|mask| memory(&subset(mask))).min().unwrap();
        prop_assert_eq!(memory(&stages.best()), least);
    }
}

/// The memory of a deep chain grows with the square root of its depth.
#[test]
fn deep_chains_take_the_root_of_their_depth() {
    for n in [100usize, 400, 900] {
        let all = chain(n);
        assert!(peak(&all) >= n, "{}", peak(&all));
        let root = (n as f64).sqrt() as usize;
        for stored in [sqrt_segments(&all, |_| 1), chain_checkpoints(&all, |_| 1)] {
            let less = recompute_if_smaller(&all, &[stored], planned).unwrap().unwrap();
            assert!(peak(&less) <= 2 * root + 6, "{n}: {}", peak(&less));
            assert!(n_clones(&less) < n);
            same(&all, &less, 1).unwrap();
        }
        // With half of the memory, at most three quarters of the calls are recomputed.
        let half = within_budget(&all, n / 2, |_| 1, |_| 1.0, planned).unwrap().unwrap();
        assert!(peak(&half) <= n / 2 && n_clones(&half) <= n * 3 / 4, "{} {}", peak(&half), n_clones(&half));
    }
    let text = within_budget(&chain(50), 3, |_| 1, |_| 1.0, planned).unwrap_err().to_string();
    assert!(text.contains("got 3, expected at least 1"), "{text}");
    assert!(within_budget(&chain(5), 100, |_| 1, |_| 1.0, planned).unwrap().is_none());
}

#[test]
fn force_mirroring_decides_except_where_never() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let mut last = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let calls = [("Sin", ""), ("Sin", "False"), ("Tanh", ""), ("Tanh", "True"), ("Noise", ""), ("Noise", "1")];
    for (i, (op, force)) in calls.into_iter().enumerate() {
        let attrs = if force.is_empty() { Attrs::new() } else { Attrs::from([("__force_mirroring__", force)]) };
        last = Entry::new(b.add_op(ops.get(op).unwrap(), format!("n{i}"), attrs, vec![last]).unwrap(), 0);
    }
    b.set_heads(vec![last]);
    let graph = b.build().unwrap();
    let all = gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
    let stored = mirror(
        &all,
        |n| match n.op_name() {
            "Noise" => Mirroring::Never,
            "Tanh" => Mirroring::Stored,
            _ => Mirroring::Candidate,
        },
        |_| 1,
    );
    assert_eq!(stored[1..], [false, true, true, false, true, true]);
}

/// A call is stored instead of recomputed if its output is no larger than the value that would be kept only for its clone.
/// This is the rule for `MXNET_BACKWARD_DO_MIRROR` (D50 in `docs/env.md`).
#[test]
fn only_what_frees_bytes_is_mirrored() {
    let ops = smooth::set();
    // Sin represents a convolution, whose gradient reads its input; Tanh a relu, whose gradient reads its output.
    let graph = |n_tanh: usize| {
        let mut b = GraphBuilder::new();
        let mut last = Entry::new(b.add_variable("x", Attrs::new()), 0);
        for i in 0..3 {
            let mut call = |op: &str, inputs: Vec<Entry>, name: String| {
                Entry::new(b.add_op(ops.get(op).unwrap(), name, Attrs::new(), inputs).unwrap(), 0)
            };
            let sin = call("Sin", vec![last], format!("sin{i}"));
            last = call("Tanh", vec![sin], format!("tanh{i}_0"));
            for k in 1..n_tanh {
                let other = call("Tanh", vec![sin], format!("tanh{i}_{k}"));
                last = call("Mul", vec![last, other], format!("mul{i}_{k}"));
            }
        }
        let last = Entry::new(b.add_op(ops.get("Sin").unwrap(), "last", Attrs::new(), vec![last]).unwrap(), 0);
        b.set_heads(vec![last]);
        let graph = b.build().unwrap();
        gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap()
    };
    let rule = |n: &Node| if n.op_name() == "Tanh" { Mirroring::Candidate } else { Mirroring::Stored };
    let n_mirrored = |all: &TrainingGraph, tanh_bytes: usize| {
        let bytes = |id: NodeId| if all.graph.node(id).op_name() == "Tanh" { tanh_bytes } else { 2 };
        let stored = mirror(all, rule, bytes);
        n_clones(&recompute(all, |id| stored[id.index()]).unwrap())
    };
    let one = graph(1);
    // The output of a `Sin` has 2 bytes. A `Tanh` whose output has 2 bytes or 1 byte is stored instead of its `Sin`; a
    // `Tanh` of 3 bytes is recomputed.
    assert_eq!([2, 1, 3].map(|bytes| n_mirrored(&one, bytes)), [0, 0, 3]);
    // With two `Tanh` calls for each `Sin`, both clones read the output of the `Sin`. Storing both `Tanh` outputs instead
    // frees the output of the `Sin`, so it pays off only if both together take at most its 2 bytes.
    let two = graph(2);
    assert_eq!([2, 1].map(|bytes| n_mirrored(&two, bytes)), [6, 0]);
}

/// The smallest of several choices wins.
#[test]
fn the_best_of_several_choices_is_taken() {
    let all = chain(100);
    let (nothing, sqrt) = (vec![false; all.n_forward_nodes], sqrt_segments(&all, |_| 1));
    let alone = |stored: &Vec<bool>| recompute_if_smaller(&all, std::slice::from_ref(stored), planned).unwrap();
    let expected = peak(&alone(&sqrt).unwrap());
    // If nothing is stored, everything is recomputed before the first gradient call, so the peak is higher.
    assert!(alone(&nothing).is_none_or(|less| peak(&less) > expected));
    for choices in [[nothing.clone(), sqrt.clone()], [sqrt, nothing]] {
        let best = recompute_if_smaller(&all, &choices, planned).unwrap().unwrap();
        assert_eq!(peak(&best), expected);
    }
    assert!(recompute_if_smaller(&all, &[], planned).unwrap().is_none());
}

/// A call that reads a state is stored if another call rewrites this state, because a clone would read the new content.
#[test]
fn readers_of_rewritten_states_are_stored() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let state = Entry::new(b.add_variable("state", Attrs::new()), 0);
    let mut call = |op: &str, name: &str, inputs: Vec<Entry>| {
        Entry::new(b.add_op(ops.get(op).unwrap(), name, Attrs::new(), inputs).unwrap(), 0)
    };
    let scaled = call("Mul", "scaled", vec![x, state]);
    let bent = call("Tanh", "bent", vec![scaled]);
    let moving = call("Moving", "moving", vec![bent, state]);
    let last = call("Sin", "last", vec![moving]);
    b.set_heads(vec![last]);
    let graph = b.build().unwrap();
    let all = gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
    let less = recompute(&all, |_| false).unwrap();
    let clones: Vec<&str> =
        less.graph.nodes().iter().filter(|n| n.clone_of.is_some()).map(|n| n.name.as_str()).collect();
    assert_eq!(clones, ["bent_mirror", "moving_mirror"]);
    same(&all, &less, 3).unwrap();
}

/// A tensor that a gradient reads only for its shape is not recomputed.
#[test]
fn shapes_alone_are_not_recomputed() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let mut call = |op: &str, name: &str, inputs: Vec<Entry>| {
        Entry::new(b.add_op(ops.get(op).unwrap(), name, Attrs::new(), inputs).unwrap(), 0)
    };
    let sum = call("Add", "sum", vec![x, x]);
    let last = call("Sign", "last", vec![sum]);
    b.set_heads(vec![last]);
    let graph = b.build().unwrap();
    let all = gradient(&graph, &ops, &GradientRequest::new(vec![sum])).unwrap();
    assert!(all.graph.nodes().iter().any(|n| n.op_name() == "zeros_like" && n.inputs[0].node == sum.node));
    assert_eq!(n_clones(&recompute(&all, |_| false).unwrap()), 0);
}

#[test]
fn a_clone_has_the_operator_of_its_original() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    let mut call = |op: &str| {
        let inputs = vec![Entry::new(x, 0)];
        b.add_op(ops.get(op).unwrap(), op.to_lowercase(), Attrs::new(), inputs).unwrap()
    };
    let (sin, tanh, again) = (call("Sin"), call("Tanh"), call("Sin"));
    let text = b.set_clone_of(tanh, sin).unwrap_err().to_string();
    assert!(text.contains("`tanh` (Tanh)") && text.contains("`sin` (Sin)"), "{text}");
    assert!(b.set_clone_of(sin, again).is_err() && b.set_clone_of(sin, x).is_err());
    b.set_clone_of(again, sin).unwrap();
    assert!(b.set_backward_of(NodeId(9), x).is_err());
}
