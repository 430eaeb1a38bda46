//! Arrays and copies are where MXNet 1.9.1 has them.

use super::{CPU, DEFAULT, World, networks};
use mxrs::exec::{BindOptions, DryGraph, Executor};
use mxrs::graph::{Graph, Node};

const COPY: &str = "_CrossDeviceCopy";

/// The name of the forward node to which a call of a training graph belongs. For a variable that holds the gradient of a
/// head, it is the name of the head.
fn forward(graph: &Graph, node: &Node) -> String {
    let is_head = |name: &String| node.is_variable() && *node.name == format!("{name}_grad");
    match (node.backward_of, graph.output_names().iter().position(is_head)) {
        (_, Some(head)) => format!("head{head}"),
        (Some(forward), _) => graph.node(forward).name.clone(),
        (None, None) => node.name.clone(),
    }
}

/// The copies of a placed graph, as the recording writes them.
fn copies(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for (id, node) in graph.iter().filter(|(_, node)| node.op_name() == COPY) {
        let mut readers: Vec<String> = graph
            .consumers(graph.output_id(id, 0))
            .iter()
            .map(|(reader, _)| forward(graph, graph.node(*reader)))
            .collect();
        readers.sort();
        readers.dedup();
        let half = if node.backward_of.is_some() { "backward" } else { "forward" };
        let source = graph.node(node.inputs[0].node);
        assert_ne!(source.device, node.device, "{}", node.name);
        found.push(format!("{half} {} {}", forward(graph, source), readers.join("+")));
    }
    found.sort();
    found
}

#[test]
fn copies_are_those_of_mxnet() {
    let world = World::new(DEFAULT);
    for network in networks::all(&world.runtime) {
        for (is_train, recorded) in [false, true].into_iter().zip(&network.copies) {
            let options = BindOptions {
                groups: network.groups.iter().cloned().collect(),
                gradients: is_train.then(|| network.gradients()),
                trace_passes: true,
                ..world.runtime.bind_options()
            };
            let dry = DryGraph::new(&network.graph, &network.inputs(), &options, is_train).unwrap();
            let pass = dry.passes().iter().find(|pass| pass.name == "place-copies").unwrap();
            let graph = pass.graph.as_ref().unwrap();
            let mut want = recorded.clone();
            want.sort();
            assert_eq!(copies(graph), want, "{}, training: {is_train}", network.name);
            // The passes after placement merge no calls of different devices, and each copy becomes one step of the program.
            // So the number of copies stays the same.
            let planned = dry.plan(&options.plan).unwrap();
            let n_copies = planned.steps.iter().filter(|step| step.source.is_some()).count();
            assert_eq!(n_copies, want.len(), "{}", network.name);
            for node in graph.nodes().iter().filter(|node| node.op_name() != COPY) {
                assert!(node.inputs.iter().all(|input| graph.node(input.node).device == node.device), "{}", node.name);
            }
        }
    }
}

#[test]
fn arrays_are_where_mxnet_has_them() {
    let world = World::new(DEFAULT);
    for network in networks::all(&world.runtime) {
        let groups = network.groups.iter().cloned().collect();
        let options = BindOptions { groups, gradients: Some(network.gradients()), ..world.runtime.bind_options() };
        let inputs = network.inputs();
        let executor = Executor::simple_bind(&network.graph, world.runtime.arrays(), &inputs, &options).unwrap();
        for (name, device) in &network.arrays {
            assert_eq!(executor.argument(name).unwrap().device(), *device, "{}: {name}", network.name);
        }
        assert_eq!(executor.arrays().len(), network.arrays.len());
        for (name, device) in &network.gradients {
            assert_eq!(executor.gradient(name).unwrap().device(), *device, "{}: {name}", network.name);
        }
        assert_eq!(executor.gradients().len(), network.gradients.len());
        let outputs: Vec<_> = executor.outputs().iter().map(|output| output.device()).collect();
        assert_eq!(outputs, network.outputs, "{}", network.name);
    }
}

/// Without groups in the options, the attributes of the nodes are ignored, as in MXNet.
#[test]
fn groups_without_devices_are_ignored() {
    let world = World::new(DEFAULT);
    let network = world.network("lenet");
    let executor = world.bind(&network, None, |_| {}).unwrap();
    assert!(executor.arrays().iter().all(|(_, array)| array.device() == CPU));
    let report = executor.training_report().unwrap();
    assert!(report.steps.iter().all(|step| step.source.is_none() && step.device == CPU));
    assert_eq!(report.devices.len(), 1);
}
