//! Tests the partitioning of the built-in networks for inference: the expected numbers of nodes follow from the
//! architectures.

use mxrs_graph::{Graph, NodeId, Partitioned, Partitioning, constant_nodes, infer_shapes, partition};
use mxrs_models::{BENCHMARK_NETWORKS, ModelOptions, model};
use mxrs_op::TensorDesc;
use mxrs_ops::{Fusions, catalog, patterns};
use mxrs_types::{DType, Shape};

fn graph_of(network: &str) -> (Graph, Vec<TensorDesc>) {
    let model = model(network, &ModelOptions::default()).unwrap();
    let graph = model.symbol.graph().unwrap();
    let [c, h, w] = model.image;
    let given = [("data", Shape::from([2, c, h, w]).into())];
    let shapes = infer_shapes(&graph, given).unwrap().complete(&graph).unwrap();
    let descs = shapes.into_iter().map(|shape| TensorDesc::dense(shape, DType::F32)).collect();
    (graph, descs)
}

fn partitioned(graph: &Graph, descs: &[TensorDesc]) -> Partitioned {
    let is_parameter = |id: NodeId| graph.node(id).name != "data" && !graph.is_label(id);
    let is_constant = constant_nodes(graph, false, is_parameter);
    let patterns = patterns(&Fusions::default());
    let ops = catalog();
    let with = Partitioning { patterns: &patterns, ops: &ops, descs, is_constant: &is_constant, accept: &|_, _| true };
    partition(graph, &with).unwrap()
}

fn count(graph: &Graph, op: &str) -> usize {
    graph.nodes().iter().filter(|node| node.op_name() == op).count()
}

/// The units of each stage of a residual network of 50 layers. Each unit has three convolutions, and the first unit of each
/// stage has one more in its shortcut.
const UNITS: [usize; 4] = [3, 4, 6, 3];

#[test]
fn resnet_50_v1_is_convolutions_only() {
    let (graph, descs) = graph_of("resnetv1-50");
    let (n_units, n_stages): (usize, usize) = (UNITS.iter().sum(), UNITS.len());
    let n_convs = 1 + 3 * n_units + n_stages;
    assert_eq!(count(&graph, "Convolution"), n_convs);
    // Every convolution is normalized; activations come after the first one, after two in each unit, and after each
    // sum.
    assert_eq!(count(&graph, "BatchNorm"), n_convs);
    assert_eq!((count(&graph, "Activation"), count(&graph, "elemwise_add")), (1 + 3 * n_units, n_units));
    let new = partitioned(&graph, &descs);
    for gone in ["BatchNorm", "Activation", "elemwise_add"] {
        assert_eq!(count(&new.graph, gone), 0, "{gone}");
    }
    // In a unit with a projection, the results of two convolutions are added. One of these includes the sum and the
    // activation; the other only includes its folded normalization.
    assert_eq!(new.regions.len(), n_convs);
    assert_eq!(count(&new.graph, "_sg_conv"), 1 + 3 * n_units);
    assert_eq!(count(&new.graph, "Convolution"), n_stages);
    assert_eq!((count(&new.graph, "_bn_fold_weight"), count(&new.graph, "_bn_fold_bias")), (n_convs, n_convs));
    let sums = new.graph.nodes().iter().filter(|n| n.attrs.get("with_sum") == Some("True")).count();
    assert_eq!(sums, n_units);
    assert_eq!(new.graph.output_names(), graph.output_names());
}

#[test]
fn resnet_50_with_pre_activation() {
    let (graph, descs) = graph_of("resnet-50");
    let (n_units, n_stages): (usize, usize) = (UNITS.iter().sum(), UNITS.len());
    let new = partitioned(&graph, &descs);
    // The stem and the first two convolutions of each unit include normalization and activation.
    let n_normalized = 1 + 2 * n_units;
    assert_eq!(count(&new.graph, "_bn_fold_weight"), n_normalized);
    // The third convolution of each unit includes the sum, although several nodes read the sum: the next unit and that
    // unit's shortcut.
    let sums = new.graph.nodes().iter().filter(|n| n.attrs.get("with_sum") == Some("True")).count();
    assert_eq!(sums, n_units);
    assert_eq!(count(&new.graph, "_sg_conv"), n_normalized + n_units);
    // The first normalization of each unit and the last normalization do not follow a convolution, so they become
    // `_sg_bn_relu`. The normalization of the data has no activation and stays as it is.
    assert_eq!(count(&new.graph, "_sg_bn_relu"), n_units + 1);
    assert_eq!(count(&new.graph, "BatchNorm"), 1);
    // The convolutions in projecting shortcuts remain, because the sums that read them are already part of another call.
    assert_eq!(count(&new.graph, "Convolution"), n_stages);
    assert_eq!((count(&new.graph, "Activation"), count(&new.graph, "elemwise_add")), (0, 0));
}

#[test]
fn every_network_keeps_its_variables_and_outputs() {
    for network in BENCHMARK_NETWORKS {
        let (graph, descs) = graph_of(network);
        let new = partitioned(&graph, &descs);
        assert!(!new.regions.is_empty(), "{network}");
        let names = |graph: &Graph| {
            let mut names = graph.argument_names();
            names.sort_unstable();
            names.iter().map(|n| n.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&graph), names(&new.graph), "{network}");
        let aux = |graph: &Graph| graph.aux_state_names().iter().map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(aux(&graph), aux(&new.graph), "{network}");
        assert_eq!(graph.output_names(), new.graph.output_names(), "{network}");
        // The shapes that partitioning states for the new graph are those that shape inference computes.
        let [c, h, w] = model(network, &ModelOptions::default()).unwrap().image;
        let given = [("data", Shape::from([2, c, h, w]).into())];
        let shapes = infer_shapes(&new.graph, given).unwrap().complete(&new.graph).unwrap();
        assert!(shapes.iter().eq(new.descs.iter().map(|d| &d.shape)), "{network}");
    }
}
