//! Hand-written tests of partitioning, one for each rule.

use super::toy::{Net, partitioned, partitioned_with, pattern};
use super::{Declined, Partitioned};
use crate::passes::interpreter::{Given, heads};
use crate::test_ops::smooth;
use crate::{Graph, NodeId};
use mxrs_op::Stage;

/// The operators of the new graph in order, without variables, after checking that the outputs are unchanged (G21).
fn ops_after(graph: &Graph) -> Vec<&'static str> {
    let new = partitioned(graph);
    same_outputs(graph, &new);
    new.graph.nodes().iter().filter(|n| !n.is_variable()).map(|n| n.op_name()).collect()
}

fn same_outputs(old: &Graph, new: &Partitioned) {
    assert_eq!(old.output_names(), new.graph.output_names());
    assert_eq!(new.descs.len(), new.graph.n_entries());
    let (before, after) = (heads(old, &Given::default()), heads(&new.graph, &Given::default()));
    for (a, b) in before.iter().flatten().zip(after.iter().flatten()) {
        assert!((a - b).abs() <= 1e-12, "{a} became {b}\n{old:?}\n{:?}", new.graph);
    }
}

#[test]
fn g21_a_whole_chain_becomes_one_call_and_its_constants() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Shift", "n", &["s", "cmean"]);
    net.call("Add", "a", &["y", "n"]);
    net.call("Tanh", "t", &["a"]);
    let graph = net.heads(&["t"]);
    assert_eq!(ops_after(&graph), ["Sub", "ScaleSumTanh"]);
    let new = partitioned(&graph);
    let old = |names: &[&str]| names.iter().map(|n| graph.find(n).unwrap()).collect::<Vec<NodeId>>();
    assert_eq!((new.regions.len(), new.declined.len()), (1, 0));
    assert_eq!(new.regions[0].members, old(&["s", "n", "a", "t"]));
    assert_eq!(new.graph.node(new.regions[0].node).name, "t");
    assert!(new.graph.find("s_folded").is_some());
    assert_eq!(graph.argument_names(), ["y", "x", "cs_weight", "cs_bias", "cmean"]);
    let mut names = new.graph.argument_names();
    names.sort_unstable();
    assert_eq!(names, ["cmean", "cs_bias", "cs_weight", "x", "y"]);
}

#[test]
fn stages_may_be_missing_but_keep_their_order() {
    for (chain, expected) in [
        (&["Tanh"][..], &["ScaleTanh"][..]),
        (&["Add"], &["ScaleSum"]),
        (&["Shift"], &["Sub", "Scale"]),
        // The stage for the sum comes before that for `Tanh`. So if the sum comes after `Tanh`, only `Tanh` is fused.
        (&["Tanh", "Add"], &["ScaleTanh", "Add"]),
        (&["Add", "Shift"], &["ScaleSum", "Shift"]),
        (&["Sin", "Tanh"], &["Scale", "Sin", "Tanh"]),
        (&["Tanh", "Tanh"], &["ScaleTanh", "Tanh"]),
    ] {
        let mut net = Net::new();
        net.scale("n0", "x");
        for (i, op) in chain.iter().enumerate() {
            let (data, name) = (format!("n{i}"), format!("n{}", i + 1));
            let inputs = if ["Add", "Shift"].contains(op) { vec![data.as_str(), "c"] } else { vec![data.as_str()] };
            net.call(op, &name, &inputs);
        }
        assert_eq!(ops_after(&net.heads(&[&format!("n{}", chain.len())])), expected, "{chain:?}");
    }
}

#[test]
fn an_output_that_is_read_twice_ends_the_chain() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Tanh", "t", &["s"]);
    net.call("Sin", "u", &["s"]);
    net.call("Add", "a", &["t", "u"]);
    assert_eq!(ops_after(&net.heads(&["a"])), ["Scale", "Tanh", "Sin", "Add"]);
}

#[test]
fn a_sum_with_itself_stays() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Add", "a", &["s", "s"]);
    assert_eq!(ops_after(&net.heads(&["a"])), ["Scale", "Add"]);
}

#[test]
fn g20_of_two_products_in_one_sum_the_first_takes_it() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.scale("t", "x");
    net.call("Add", "a", &["s", "t"]);
    net.call("Tanh", "y", &["a"]);
    // The chain of `s` includes the sum. Its replacement reads `t`, and so must run after `t`.
    assert_eq!(ops_after(&net.heads(&["y"])), ["Scale", "ScaleSumTanh"]);
}

#[test]
fn residual_units_become_two_calls_each() {
    let mut net = Net::new();
    let mut data = String::from("x");
    for unit in 0..3 {
        let name = |what: &str| format!("{what}{unit}");
        net.scale(&name("a"), &data);
        net.call("Tanh", &name("f"), &[&name("a")]);
        net.scale(&name("b"), &name("f"));
        net.call("Shift", &name("n"), &[&name("b"), &name("cmean")]);
        net.call("Add", &name("s"), &[&name("n"), &data]);
        net.call("Tanh", &name("o"), &[&name("s")]);
        data = name("o");
    }
    let expected = ["ScaleTanh", "Sub", "ScaleSumTanh"].repeat(3);
    assert_eq!(ops_after(&net.heads(&[&data])), expected);
}

#[test]
fn g20_a_path_that_leaves_and_comes_back_ends_the_chain() {
    // The path leads from the product `s` through the sine into the sum that also reads `s`.
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Sin", "side", &["s"]);
    net.call("Add", "a", &["s", "side"]);
    assert_eq!(ops_after(&net.heads(&["a"])), ["Scale", "Sin", "Add"]);
    // The same path, with a control dependency instead of data.
    let mut net = Net::new();
    net.scale("s", "x");
    net.call_after("Sin", "side", &["x"], &["s"]);
    net.call("Add", "a", &["s", "side"]);
    assert_eq!(ops_after(&net.heads(&["a"])), ["Scale", "Sin", "Add"]);
}

#[test]
fn g19_chains_that_wait_for_each_other_crosswise_make_no_cycle() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.scale("t", "x");
    net.call_after("Tanh", "u", &["s"], &["t"]);
    net.call_after("Tanh", "v", &["t"], &["s"]);
    assert_eq!(ops_after(&net.heads(&["u", "v"])), ["Scale", "Scale", "Tanh", "Tanh"]);
}

#[test]
fn a_replacement_waits_for_what_its_chain_waited_for() {
    let mut net = Net::new();
    net.call("Sin", "before", &["x"]);
    net.call("Sin", "between", &["y"]);
    net.call_after("Scale", "s", &["x", "cw", "cb"], &["before"]);
    net.call_after("Tanh", "t", &["s"], &["before", "between"]);
    net.call_after("Sin", "after", &["y"], &["t"]);
    let graph = net.heads(&["t", "after", "before", "between"]);
    assert_eq!(ops_after(&graph).iter().filter(|op| **op == "ScaleTanh").count(), 1);
    let new = partitioned(&graph).graph;
    let names =
        |id: NodeId| -> Vec<&str> { new.node(id).control_deps.iter().map(|d| new.node(*d).name.as_str()).collect() };
    assert_eq!(names(new.find("t").unwrap()), ["before", "between"]);
    assert_eq!(names(new.find("after").unwrap()), ["t"]);
}

#[test]
fn g21_a_head_in_the_middle_stays_a_head() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Shift", "n", &["s", "cmean"]);
    net.call("Tanh", "t", &["n"]);
    assert_eq!(ops_after(&net.heads(&["t", "n"])), ["Sub", "Scale", "Tanh"]);
}

#[test]
fn constants_that_several_chains_share_are_folded_for_each() {
    let mut net = Net::new();
    for (product, shift) in [("s", "m"), ("t", "n")] {
        net.scale(product, "x");
        net.call("Shift", shift, &[product, "cmean"]);
    }
    assert_eq!(ops_after(&net.heads(&["m", "n"])), ["Sub", "Scale", "Sub", "Scale"]);
}

#[test]
fn what_is_no_constant_is_not_folded() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Shift", "n", &["s", "mean"]);
    assert_eq!(ops_after(&net.heads(&["n"])), ["Scale", "Shift"]);
    let mut net = Net::new();
    net.call("Scale", "s", &["x", "weight", "cbias"]);
    net.call("Shift", "n", &["s", "cmean"]);
    assert_eq!(ops_after(&net.heads(&["n"])), ["Scale", "Shift"]);
    // A constant may be the result of a call.
    let mut net = Net::new();
    net.call("Sin", "mean", &["c"]);
    net.scale("s", "x");
    net.call("Shift", "n", &["s", "mean"]);
    assert_eq!(ops_after(&net.heads(&["n"])), ["Sin", "Sub", "Scale"]);
}

#[test]
fn a_refused_chain_is_proposed_without_its_end_until_nothing_is_left() {
    let graph = || {
        let mut net = Net::new();
        net.scale("s", "x");
        net.call("Add", "a", &["s", "y"]);
        net.call("Tanh", "t", &["a"]);
        net.heads(&["t"])
    };
    let graph = graph();
    let ops = |new: &Partitioned| -> Vec<&str> {
        new.graph.nodes().iter().filter(|n| !n.is_variable()).map(|n| n.op_name()).collect()
    };
    let part = partitioned_with(&graph, &smooth::set(), &[pattern()], &|p| p.call.op.name == "ScaleSum");
    same_outputs(&graph, &part);
    assert_eq!(ops(&part), ["ScaleSum", "Tanh"]);
    let none = partitioned_with(&graph, &smooth::set(), &[pattern()], &|p| p.members.len() > 3);
    same_outputs(&graph, &none);
    assert_eq!(ops(&none), ["Scale", "Add", "Tanh"]);
    assert_eq!(none.declined, [Declined { pattern: "scale", seed: graph.find("s").unwrap() }]);
}

/// Searches for a pattern of `Scale` followed by a stage like `x * tanh(x)`, where `Mul` reads the value both directly and
/// through other calls. Returns the operators of each proposed chain.
fn proposed(graph: &Graph) -> Vec<Vec<&'static str>> {
    let twice = Stage { enters_by: &[0, 1], through: &["Tanh", "Sin"], ..Stage::of("twice", &["Mul"]) };
    let replace = |chain: &[mxrs_op::Member<'_>]| {
        let inputs = (0..3).map(|position| mxrs_op::Operand::Input { member: 0, position }).collect();
        let attrs = chain[0].attrs.clone();
        Some(vec![mxrs_op::NewCall { op: "Scale", suffix: "", attrs, inputs }])
    };
    let pattern = mxrs_op::Pattern { then: vec![twice], replace, ..pattern() };
    let seen = std::cell::RefCell::new(Vec::new());
    partitioned_with(graph, &smooth::set(), &[pattern], &|p| {
        seen.borrow_mut().push(p.members.iter().map(|member| member.op.name).collect());
        false
    });
    seen.into_inner()
}

#[test]
fn a_call_may_read_the_value_before_it_twice() {
    let twice = |inner: &[&str], inputs: [&str; 2], heads: &[&str]| {
        let mut net = Net::new();
        net.scale("v", "x");
        let mut last = "v".to_owned();
        for (i, op) in inner.iter().enumerate() {
            let name = if i + 1 == inner.len() { "f".to_owned() } else { format!("f{i}") };
            net.call(op, &name, &[&last]);
            last = name;
        }
        net.call("Mul", "m", &inputs);
        proposed(&net.heads(heads))
    };
    // Only the whole chain is proposed. A chain that ends before `Mul` cannot be replaced, because `Mul` also reads `v`.
    assert_eq!(twice(&["Tanh"], ["v", "f"], &["m"]), [["Scale", "Tanh", "Mul"]]);
    assert_eq!(twice(&["Tanh"], ["f", "v"], &["m"]), [["Scale", "Tanh", "Mul"]]);
    assert_eq!(twice(&["Sin", "Tanh", "Sin"], ["v", "f"], &["m"]), [["Scale", "Sin", "Tanh", "Sin", "Mul"]]);
    let none: [[&str; 0]; 0] = [];
    // At most three calls may be in between, and `Cos` is not among the operators that the stage allows there.
    assert_eq!(twice(&["Sin", "Sin", "Sin", "Sin"], ["v", "f"], &["m"]), none);
    assert_eq!(twice(&["Cos"], ["v", "f"], &["m"]), none);
    // No chain is found if `v` or `f` inside the chain is also a head, or if `Mul` does not read `v`.
    assert_eq!(twice(&["Tanh"], ["v", "f"], &["m", "v"]), none);
    assert_eq!(twice(&["Tanh"], ["v", "f"], &["m", "f"]), none);
    assert_eq!(twice(&["Tanh"], ["f", "f"], &["m", "v"]), none);
}

#[test]
fn a_chain_without_a_required_stage_does_not_match() {
    let chains = |is_required| {
        let mut net = Net::new();
        net.scale("s", "x");
        net.call("Tanh", "t", &["s"]);
        let graph = net.heads(&["t"]);
        let mut pattern = pattern();
        pattern.then[1].is_required = is_required;
        let new = partitioned_with(&graph, &smooth::set(), &[pattern], &|_| true);
        (new.regions.len(), new.declined.len())
    };
    assert_eq!((chains(false), chains(true)), ((1, 0), (0, 0)));
}

#[test]
fn a_proposal_tells_what_the_call_would_be() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Shift", "n", &["s", "cmean"]);
    net.call("Add", "a", &["n", "y"]);
    let graph = net.heads(&["a"]);
    let seen = std::cell::Cell::new(0);
    let accept = |p: &mxrs_op::Proposal<'_>| {
        seen.set(seen.get() + 1);
        assert_eq!((p.pattern.name, p.members.len(), p.call.op.name), ("scale", 3, "ScaleSum"));
        assert_eq!(p.call.is_constant, [false, true, true, false]);
        assert!(p.call.inputs.len() == 4 && p.call.outputs.len() == 1 && !p.call.is_train);
        true
    };
    partitioned_with(&graph, &smooth::set(), &[pattern()], &accept);
    assert_eq!(seen.get(), 1);
}

#[test]
fn a_chain_stays_on_one_device() {
    let mut b = crate::GraphBuilder::new();
    let ops = smooth::set();
    let entry = |id| crate::Entry::new(id, 0);
    let [x, w, c] = ["x", "cw", "cb"].map(|n| entry(b.add_variable(n, mxrs_op::Attrs::new())));
    let on = |group: &str| mxrs_op::Attrs::from([("__ctx_group__", group)]);
    let s = b.add_op(ops.get("Scale").unwrap(), "s", on("one"), vec![x, w, c]).unwrap();
    let t = b.add_op(ops.get("Tanh").unwrap(), "t", on("two"), vec![entry(s)]).unwrap();
    b.set_heads(vec![entry(t)]);
    assert_eq!(ops_after(&b.build().unwrap()), ["Scale", "Tanh"]);
}

#[test]
fn a_pattern_that_asks_for_an_unknown_operator_is_an_error() {
    let mut net = Net::new();
    net.scale("s", "x");
    net.call("Tanh", "t", &["s"]);
    let graph = net.heads(&["t"]);
    let descs = vec![mxrs_op::TensorDesc::dense([3], mxrs_types::DType::F64); graph.n_entries()];
    let is_constant = vec![false; graph.n_nodes()];
    let mut wrong = pattern();
    wrong.seed = Stage::of("scale", &["Scale"]);
    wrong.replace = |_| {
        let inputs = vec![mxrs_op::Operand::Input { member: 0, position: 0 }];
        Some(vec![mxrs_op::NewCall { op: "Missing", suffix: "", attrs: mxrs_op::Attrs::new(), inputs }])
    };
    let ops = smooth::set();
    let error = |pattern: &mxrs_op::Pattern| {
        let patterns = std::slice::from_ref(pattern);
        let with =
            super::Partitioning { patterns, ops: &ops, descs: &descs, is_constant: &is_constant, accept: &|_, _| true };
        super::partition(&graph, &with).err().unwrap().to_string()
    };
    assert!(error(&wrong).contains("Missing"));
    // The wrong replacement reads the first input of the second call. That is the output of the first call, which the
    // replacement removes.
    wrong.replace = |_| {
        let inputs = vec![mxrs_op::Operand::Input { member: 1, position: 0 }];
        Some(vec![mxrs_op::NewCall { op: "Sin", suffix: "", attrs: mxrs_op::Attrs::new(), inputs }])
    };
    assert!(error(&wrong).contains("pattern `scale`"));
}
