//! Broken and hostile symbols give errors that name the node, and neither panics nor large allocations.

use super::common::{context, imperative, options};
use super::{Case, case, read};
use mxrs_engine::EngineKind;
use mxrs_exec::Executor;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Result, Shape};
use serde_json::Value;

/// The first control-flow node (a loop or a branch) of a symbol.
fn node(symbol: &mut Value) -> &mut Value {
    let nodes = symbol["nodes"].as_array_mut().expect("nodes");
    nodes.iter_mut().find(|node| node.get("subgraphs").is_some()).expect("control flow")
}

fn bind(case: &Case, symbol: &Value, shapes: &[(&str, Shape)]) -> Result<Executor> {
    let graph = read(&symbol.to_string())?;
    let context = context(EngineKind::Naive, 1);
    let shapes = if shapes.is_empty() { case.shapes() } else { shapes.to_vec() };
    Executor::simple_bind(&graph, &context, &shapes, &options())
}

/// The error of a recorded case after a change of its control-flow node.
fn error(name: &str, change: impl Fn(&mut Value)) -> String {
    let case = case(name);
    let mut symbol: Value = serde_json::from_str(&case.symbol).unwrap();
    change(node(&mut symbol));
    match bind(&case, &symbol, &[]) {
        Ok(_) => panic!("{name}: accepted {}", node(&mut symbol)["attrs"]),
        Err(error) => error.to_string(),
    }
}

#[test]
fn attributes_that_do_not_fit_are_refused() {
    let wrong = [
        ("weight_outside", "num_args", "3"),
        ("weight_outside", "num_args", "-7"),
        ("weight_outside", "num_outputs", "3"),
        ("weight_outside", "num_out_data", "0"),
        ("weight_outside", "in_data_locs", "[9]"),
        ("weight_outside", "in_data_locs", "[-1]"),
        ("weight_outside", "in_data_locs", "[]"),
        ("weight_outside", "in_state_locs", "[0, 0]"),
        ("weight_outside", "remain_locs", "[99999999999]"),
        ("stops_early", "max_iterations", "0"),
        ("stops_early", "max_iterations", "-3"),
        ("stops_early", "max_iterations", "2147483647"),
        ("stops_early", "max_iterations", "10000000000"),
        ("stops_early", "cond_input_locs", "[7]"),
        ("stops_early", "func_input_locs", "[0]"),
        ("stops_early", "func_var_locs", "[0, 0]"),
        ("stops_early", "func_var_locs", "[5, 0]"),
        ("branch_taken", "num_args", "2"),
        ("branch_taken", "num_outputs", "1"),
        ("branch_taken", "then_input_locs", "[0]"),
        ("branch_taken", "else_input_locs", "[0, 1, 2, 40]"),
        ("branch_taken", "cond_input_locs", "(0, 1)"),
    ];
    for (name, key, value) in wrong {
        let error = error(name, |node| node["attrs"][key] = value.into());
        assert!(error.contains("_foreach") || error.contains("_while_loop") || error.contains("_cond"), "{error}");
    }
}

#[test]
fn subgraphs_that_do_not_fit_are_refused() {
    for name in ["weight_outside", "stops_early", "branch_taken"] {
        let none = error(name, |node| drop(node.as_object_mut().unwrap().remove("subgraphs")));
        assert!(none.contains("number of subgraphs"), "{none}");
        let more = error(name, |node| {
            let first = node["subgraphs"][0].clone();
            node["subgraphs"].as_array_mut().unwrap().push(first);
        });
        assert!(more.contains("number of subgraphs"), "{more}");
        let heads = error(name, |node| {
            let last = node["subgraphs"].as_array_mut().unwrap().last_mut().unwrap();
            let head = last["heads"][0].clone();
            last["heads"].as_array_mut().unwrap().push(head);
        });
        assert!(heads.contains("outputs") && heads.contains("subgraph"), "{heads}");
    }
    let swapped = error("stops_early", |node| node["subgraphs"].as_array_mut().unwrap().reverse());
    assert!(swapped.contains("subgraph `cond`"), "{swapped}");
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let case = case("two_data_and_two_states");
    let symbol: Value = serde_json::from_str(&case.symbol).unwrap();
    let with = |changes: &[(&str, Shape)]| {
        let mut shapes = case.shapes();
        for (name, shape) in changes {
            shapes.iter_mut().filter(|(of, _)| of == name).for_each(|(_, old)| *old = shape.clone());
        }
        bind(&case, &symbol, &shapes).err().expect("shapes that do not fit").to_string()
    };
    assert!(with(&[("data", Shape::from([0, 2])), ("other", Shape::from([0, 2]))]).contains("at least one row"));
    assert!(with(&[("data", Shape::from([4, 2]))]).contains("rows, as the other data"));
    assert!(with(&[("data", Shape::from([]))]).contains("at least one axis"));
    let error = with(&[("s", Shape::from([3]))]);
    assert!(error.contains("_foreach"), "{error}");
    // The state has one element, but each step returns a larger state.
    let error = with(&[("s", Shape::from([1])), ("t", Shape::from([1]))]);
    assert!(error.contains("_foreach"), "{error}");
}

#[test]
fn an_unknown_number_of_steps_is_an_error_with_the_name_of_the_data() {
    let case = case("cumulative_sum");
    let symbol: Value = serde_json::from_str(&case.symbol).unwrap();
    let error = bind(&case, &symbol, &[("s", Shape::from([3]))]).err().expect("no number of steps").to_string();
    assert!(error.contains("`_foreach") && error.contains("data"), "{error}");
}

#[test]
fn conditions_have_one_element() {
    let case = case("condition_is_an_input");
    let symbol: Value = serde_json::from_str(&case.symbol).unwrap();
    let mut shapes = case.shapes();
    shapes.iter_mut().filter(|(name, _)| *name == "s").for_each(|(_, shape)| *shape = Shape::from([2]));
    let error = bind(&case, &symbol, &shapes).err().expect("two conditions").to_string();
    assert!(error.contains("condition") && error.contains("one element"), "{error}");
}

#[test]
fn graphs_that_would_be_too_large_are_refused_at_once() {
    let case = case("cumulative_sum");
    let symbol: Value = serde_json::from_str(&case.symbol).unwrap();
    let shapes = [("data", Shape::from([3_000_000, 3])), ("s", Shape::from([3]))];
    let error = bind(&case, &symbol, &shapes).err().expect("too many steps").to_string();
    assert!(error.contains("_foreach0") && error.contains("3000000 copies") && error.contains("1000000"), "{error}");
}

/// The symbol of loops in loops, `depth` deep.
fn nested(depth: usize) -> String {
    let variable = |name: &str| format!(r#"{{"op": "null", "name": "{name}", "inputs": []}}"#);
    let mut graph = format!(
        r#"{{"nodes": [{}, {}, {{"op": "elemwise_add", "name": "add", "inputs": [[0, 0, 0], [1, 0, 0]]}}],
        "arg_nodes": [0, 1], "heads": [[2, 0, 0], [2, 0, 0]]}}"#,
        variable("x"),
        variable("s")
    );
    for _ in 0..depth {
        graph = format!(
            r#"{{"nodes": [{}, {}, {{"op": "_foreach", "name": "loop", "inputs": [[0, 0, 0], [1, 0, 0]],
            "attrs": {{"num_args": "3", "num_outputs": "2", "num_out_data": "1", "in_data_locs": "[0]",
            "in_state_locs": "[1]", "remain_locs": "[]"}}, "subgraphs": [{graph}]}}],
            "arg_nodes": [0, 1], "heads": [[2, 0, 0], [2, 1, 0]]}}"#,
            variable("x"),
            variable("s")
        );
    }
    graph
}

#[test]
fn the_depth_is_limited() {
    let context = context(EngineKind::Naive, 1);
    let mut shape = vec![2; 8];
    shape.push(3);
    let graph = read(&nested(8)).unwrap();
    let shapes = [("x", Shape::from(shape.as_slice())), ("s", Shape::from([3]))];
    let executor = Executor::simple_bind(&graph, &context, &shapes, &options()).unwrap();
    executor.argument("x").unwrap().copy_from(&vec![1.0f32; 256 * 3]).unwrap();
    executor.forward().unwrap();
    // The sum of all 256 rows.
    assert_eq!(executor.outputs()[1].to_vec::<f32>().unwrap(), [256.0; 3]);
    for depth in [9, 12] {
        let error = read(&nested(depth)).unwrap_err().to_string();
        assert!(error.contains("depth") && error.contains("loop"), "{error}");
    }
}

#[test]
fn calls_on_arrays_are_refused() {
    let nd = imperative();
    let x = NdArray::zeros(nd.context(), [3], mxrs_types::DType::F32).unwrap();
    for op in ["_foreach", "_while_loop", "_cond"] {
        let error = nd.invoke(op, &Attrs::new(), &[&x]).unwrap_err().to_string();
        assert!(error.contains(op) && error.contains("symbol"), "{error}");
    }
}
