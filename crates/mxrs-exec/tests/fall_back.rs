//! Tests how the pipeline falls back: a pass whose graph cannot be lowered is undone, and the report says so.

mod common;

use common::{KINDS, Net, context, options};
use mxrs_exec::{BindOptions, DryGraph, Executor, Outcome};
use mxrs_graph::Graph;
use mxrs_op::{Answer, Backend, Kernel, Offer, OpCall, ReferenceBackend, TensorDesc};
use mxrs_ops::{Fusions, patterns};
use mxrs_types::{Error, Result, Shape};
use std::sync::Arc;

/// A backend with the reference kernels that also offers a fast kernel for a partitioned layer, but fails to build it.
struct Promising;

fn is_promise(call: &OpCall<'_>) -> bool {
    call.op.name == "_sg_fully_connected"
}

impl Backend for Promising {
    fn name(&self) -> &'static str {
        "promising"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if is_promise(call) {
            return Ok(Offer::new(1e-6, || Err(Error::not_built(call.op.name, "it was only promised"))));
        }
        ReferenceBackend.offer(call)
    }
    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        ReferenceBackend.reorder(from, to)
    }
}

fn layer() -> Graph {
    let mut net = Net::new();
    let x = mxrs_graph::Symbol::variable("x");
    let layer = net.call_with("FullyConnected", &[("num_hidden", "3")], &[&x]);
    let relu = net.call_with("Activation", &[("act_type", "relu")], &[&layer]);
    relu.graph().expect("a well-formed graph")
}

fn partitioning(backends: Vec<Arc<dyn Backend>>) -> BindOptions {
    BindOptions { backends, patterns: patterns(&Fusions::default()).into(), ..options() }
}

#[test]
fn a_partition_that_cannot_be_lowered_is_undone() {
    let graph = layer();
    let inputs = [("x", Shape::from([2, 4]))];
    let outcome = |options: &BindOptions| {
        let dry = DryGraph::new(&graph, &inputs, options, false).unwrap();
        let partition = dry.passes().iter().find(|pass| pass.name == "partition").unwrap();
        (partition.outcome, partition.n_nodes[0] == partition.n_nodes[1])
    };
    let kept: Vec<Arc<dyn Backend>> = vec![Arc::new(ReferenceBackend)];
    assert_eq!(outcome(&partitioning(kept)), (Outcome::Changed, false));
    let broken = partitioning(vec![Arc::new(Promising)]);
    assert_eq!(outcome(&broken), (Outcome::Undone, true));
    let executor = Executor::simple_bind(&graph, &context(KINDS[0], 1), &inputs, &broken).unwrap();
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [0.0; 6]);
    let report = executor.report().unwrap();
    assert!(report.fused.is_empty() && report.steps.iter().any(|step| step.op == "FullyConnected"));
}

#[test]
fn the_error_is_returned_if_nothing_is_left_to_undo() {
    let options = BindOptions { backends: Vec::new(), ..options() };
    let error = DryGraph::new(&layer(), &[("x", [2, 4].into())], &options, false).err().unwrap();
    assert!(error.to_string().contains("fullyconnected0"), "{error}");
}
