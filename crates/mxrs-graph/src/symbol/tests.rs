//! Compares composed symbols with what MXNet 1.9.1 writes for the same calls (`tojson` of its Python front end).

use super::{NameManager, Symbol, SymbolCall};
use crate::{GraphBuilder, NodeId, test_ops as ops};
use mxrs_op::Attrs;

fn net() -> Symbol {
    let mut names = NameManager::new();
    let data = Symbol::variable("data");
    let fc = SymbolCall::new(&ops::dense())
        .input(&data)
        .attr("num_hidden", 4)
        .attr("lr_mult", "2")
        .build(&mut names)
        .unwrap();
    let bn = SymbolCall::new(&ops::norm()).name("bn").input(&fc).build(&mut names).unwrap();
    SymbolCall::new(&ops::relu()).input(&bn).build(&mut names).unwrap()
}

#[test]
fn missing_inputs_become_variables_with_the_nodes_attributes() {
    let graph = net().graph().unwrap();
    let names: Vec<&str> = graph.nodes().iter().map(|n| n.name.as_str()).collect();
    let expected = ["data", "dense0_weight", "dense0_bias", "dense0", "bn_gamma", "bn_mean", "bn_var", "bn", "relu0"];
    assert_eq!(names, expected);
    let attrs = Attrs::from([("num_hidden", "4"), ("__lr_mult__", "2")]);
    assert_eq!(graph.nodes()[1].attrs, attrs);
    assert_eq!(graph.nodes()[3].attrs, attrs);
    assert_eq!(graph.nodes()[5].attrs.get("__init__"), Some("[\"zero\", {}]"));
    assert_eq!(graph.nodes()[6].attrs.get("__init__"), Some("[\"one\", {}]"));
    assert_eq!(graph.node_row_ptr(), [0, 1, 2, 3, 4, 5, 6, 7, 10, 11]);
    assert_eq!(graph.argument_names(), ["data", "dense0_weight", "dense0_bias", "bn_gamma"]);
    assert_eq!(graph.aux_state_names(), ["bn_mean", "bn_var"]);
    let versions: Vec<u32> = graph.nodes()[7].inputs.iter().map(|e| e.version).collect();
    assert_eq!(versions, [0, 0, 1, 1]);
}

#[test]
fn shared_auxiliary_states_count_their_writers() {
    let mut names = NameManager::new();
    let (data, mean, var) = (Symbol::variable("d"), Symbol::variable("m"), Symbol::variable("v"));
    let norm = |input: &Symbol, name: &str, names: &mut NameManager| {
        let call = SymbolCall::new(&ops::norm()).name(name).input(input);
        call.named_input("mean", &mean).named_input("var", &var).build(names).unwrap()
    };
    let a = norm(&data, "a", &mut names);
    let b = norm(&a, "b", &mut names);
    let read = SymbolCall::new(&ops::relu()).input(&mean).build(&mut names).unwrap();
    let graph = Symbol::group([&b, &read, &data]).graph().unwrap();
    let versions =
        |name: &str| -> Vec<u32> { graph.node(graph.find(name).unwrap()).inputs.iter().map(|e| e.version).collect() };
    assert_eq!(versions("a"), [0, 0, 1, 1]);
    assert_eq!(versions("b"), [0, 0, 2, 2]);
    assert_eq!(versions("relu0"), [2]);
    // A variable that the caller passes as input gets the `__init__` of the operator too.
    assert_eq!(graph.node(graph.find("v").unwrap()).attrs.get("__init__"), Some("[\"one\", {}]"));
    assert_eq!(graph.output_names(), ["b_output", "relu0_output", "d"]);
}

#[test]
fn graph_and_symbol_convert_into_each_other() {
    let graph = net().graph().unwrap();
    let again = Symbol::from_graph(&graph).graph().unwrap();
    assert_eq!(format!("{graph:?}"), format!("{again:?}"));
    assert_eq!(graph.heads(), again.heads());
    for (a, b) in graph.nodes().iter().zip(again.nodes()) {
        assert_eq!((&a.name, &a.attrs, &a.inputs), (&b.name, &b.attrs, &b.inputs));
    }
}

#[test]
fn outputs_are_picked_by_index_and_name() {
    let mut names = NameManager::new();
    let data = Symbol::variable("d");
    let pieces = SymbolCall::new(&ops::split()).name("sp").input(&data).attr("num_outputs", 3).build(&mut names);
    let pieces = pieces.unwrap();
    assert_eq!(pieces.outputs(), ["sp_output0", "sp_output1", "sp_output2"]);
    assert_eq!(pieces.output(1).unwrap().outputs(), ["sp_output1"]);
    assert_eq!(pieces.output_named("sp_output2").unwrap().outputs(), ["sp_output2"]);
    assert!(pieces.output(3).is_err());
    assert!(pieces.output_named("sp").is_err());
    assert_eq!(pieces.name(), Some("sp"));
    assert_eq!(Symbol::group([&pieces, &data]).name(), None);
    // Hidden outputs are not internals.
    let internals = net().internals().outputs();
    assert_eq!(internals.len(), 9);
    assert_eq!(internals[7], "bn_output");
    let error = SymbolCall::new(&ops::relu()).input(&pieces).build(&mut names).unwrap_err().to_string();
    assert!(error.contains("3 outputs"), "{error}");
}

#[test]
fn wrong_calls_are_refused_by_name() {
    let mut names = NameManager::new();
    let x = Symbol::variable("x");
    let relu = SymbolCall::new(&ops::relu()).input(&x).build(&mut names).unwrap();
    let mut fails = |call: SymbolCall, words: &[&str]| {
        let error = call.build(&mut names).unwrap_err().to_string();
        words.iter().for_each(|w| assert!(error.contains(w), "{error}: {w}"));
    };
    let dense = || SymbolCall::new(&ops::dense()).name("fc").attr("num_hidden", 2).input(&x);
    fails(SymbolCall::new(&ops::relu()).name("r").input(&x).input(&x), &["Relu", "`r`", "got 2", "at most 1"]);
    fails(dense().named_input("wait", &x), &["Dense", "`wait`", "weight, bias"]);
    fails(dense().named_input("data", &x), &["input `data` of `fc`", "two symbols"]);
    fails(dense().attr("color", "red"), &["color", "num_hidden, no_bias", "composing `fc`"]);
    fails(dense().attr("weight_lr_mult", "2"), &["weight_lr_mult", "`lr_mult` set on the variable", "`weight`"]);
    fails(SymbolCall::new(&ops::norm()).name("n").input(&x).named_input("mean", &relu), &["`mean`", "a variable"]);
    // Two different variables of the same name can be composed, but do not form a graph.
    let both = SymbolCall::new(&ops::add()).input(&x).input(&Symbol::variable("x")).build(&mut names).unwrap();
    assert!(both.graph().unwrap_err().to_string().contains("`x` twice"));
}

#[test]
fn variable_inputs_count_themselves() {
    let mut names = NameManager::new();
    let x = Symbol::variable("x");
    let sum = SymbolCall::new(&ops::sum()).called("add_n").inputs([&x, &x, &x]).build(&mut names).unwrap();
    let graph = sum.graph().unwrap();
    assert_eq!(graph.nodes()[1].attrs, Attrs::from([("num_args", "3")]));
    assert_eq!(graph.nodes()[1].name, "add_n0");
    assert_eq!(graph.consumers(graph.output_id(NodeId(0), 0)).len(), 3);
}

#[test]
fn a_chain_deeper_than_the_stack_is_walked_and_dropped() {
    let relu = ops::relu();
    let mut names = NameManager::new();
    let mut symbol = Symbol::variable("x");
    for _ in 0..100_000 {
        symbol = SymbolCall::new(&relu).input(&symbol).build(&mut names).unwrap();
    }
    let graph = symbol.graph().unwrap();
    assert_eq!(graph.n_nodes(), 100_001);
    drop(symbol);
    drop(Symbol::from_graph(&graph));
}

#[test]
fn a_variable_alone_is_a_graph() {
    let graph = Symbol::variable("x").graph().unwrap();
    assert_eq!((graph.n_nodes(), graph.output_names()), (1, vec!["x".to_string()]));
    let empty = GraphBuilder::new().build().unwrap();
    assert_eq!((empty.n_nodes(), empty.n_entries()), (0, 0));
}
