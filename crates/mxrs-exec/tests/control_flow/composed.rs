//! Control flow that is composed in Rust, written as a symbol file and read again.

use super::common::{Net, context, options};
use super::ways::foreach;
use super::{close, read};
use mxrs_engine::EngineKind;
use mxrs_exec::Executor;
use mxrs_graph::{NameManager, Symbol, SymbolCall};
use mxrs_symbol::graph_to_file;
use mxrs_types::Shape;
use std::sync::Arc;

#[test]
fn a_composed_loop_is_written_as_mxnet_writes_it() {
    let mut net = Net::new();
    let [row, state, w] = ["row", "state", "w"].map(Symbol::variable);
    let product = net.call("elemwise_mul", &[&row, &w]);
    let sum = net.call("elemwise_add", &[&product, &state]);
    let body = Symbol::group([&product, &sum]).graph().unwrap();
    let composed = foreach(&net, &body, &Symbol::variable("x"), &Symbol::variable("s"));
    assert_eq!(composed.outputs(), ["loop_output0", "loop_output1"]);
    assert_eq!(composed.arguments().unwrap(), ["x", "s", "w"]);
    let graph = net.call("relu", &[&composed.output(1).unwrap()]).graph().unwrap();
    let text = graph_to_file(&graph).to_json();
    assert!(text.contains("\"num_args\": \"4\"") && text.contains("\"subgraphs\": ["), "{text}");
    let graph = read(&text).unwrap();
    assert_eq!(graph_to_file(&graph).to_json(), text);
    let shapes = [("x", Shape::from([2, 3])), ("s", Shape::from([3]))];
    let executor = Executor::simple_bind(&graph, &context(EngineKind::Naive, 1), &shapes, &options()).unwrap();
    executor.argument("x").unwrap().copy_from(&[1.0f32, 2.0, 3.0, -4.0, -5.0, 6.0]).unwrap();
    executor.argument("w").unwrap().copy_from(&[1.0f32, 2.0, 3.0]).unwrap();
    executor.argument("s").unwrap().copy_from(&[0.5f32; 3]).unwrap();
    executor.forward().unwrap();
    // relu(s + sum of the rows of x * w) = relu(0.5 + (1 - 4) * 1, 0.5 + (2 - 5) * 2, 0.5 + (3 + 6) * 3)
    close(&executor.outputs()[0].to_vec::<f32>().unwrap(), &[0.0, 0.0, 27.5], "composed");
}

#[test]
fn a_composed_call_without_its_subgraph_is_an_error() {
    let net = Net::new();
    let call = SymbolCall::new(net.ops().get("_foreach").unwrap())
        .attr("num_outputs", 1)
        .attr("num_out_data", 1)
        .attr("in_data_locs", "[0]")
        .attr("in_state_locs", "[]")
        .attr("remain_locs", "[]")
        .input(&Symbol::variable("x"));
    let error = call.clone().build(&mut NameManager::new()).unwrap().graph().unwrap_err().to_string();
    assert!(error.contains("number of subgraphs") && error.contains("foreach0"), "{error}");
    // The subgraph is a single variable: each output row is the row of the data itself.
    let row = Symbol::variable("row").graph().unwrap();
    let graph = call.subgraph(Arc::new(row)).build(&mut NameManager::new()).unwrap().graph().unwrap();
    let shapes = [("x", Shape::from([2, 2]))];
    let executor = Executor::simple_bind(&graph, &context(EngineKind::Naive, 1), &shapes, &options()).unwrap();
    executor.argument("x").unwrap().copy_from(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    executor.forward().unwrap();
    close(&executor.outputs()[0].to_vec::<f32>().unwrap(), &[1.0, 2.0, 3.0, 4.0], "the data");
}
