//! Tests that a chain is replaced if a backend has a kernel for the replacement, and only at inference.

use super::nets::{Net, SHAPE};
use super::{F64, bind, fill, fused, ops, outputs, partitioning};
use crate::common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests, plan_graph};
use mxrs_op::{Answer, Backend, Kernel, Offer, OpCall, ReferenceBackend, TensorDesc};
use mxrs_ops::Fusions;
use mxrs_testkit::compare;
use mxrs_types::{DType, Result, Shape};
use std::sync::Arc;

/// A backend that runs only the calls that its function accepts, with the reference kernels.
struct Vendor(fn(&OpCall<'_>) -> bool);

impl Backend for Vendor {
    fn name(&self) -> &'static str {
        "vendor"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if !(self.0)(call) {
            return Err("not mine".into());
        }
        Ok(Offer::new(1e-6, || ReferenceBackend.plan(call)))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

/// The operators of a partitioned residual unit, if the backend [`Vendor`] runs the calls for which `vendor` returns true.
fn ops_with(vendor: fn(&OpCall<'_>) -> bool) -> Vec<String> {
    let context = context(EngineKind::Naive, 1);
    let graph = Net::residual_unit();
    let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Vendor(vendor)), Arc::new(ReferenceBackend)];
    let parts = bind(&graph, &context, &BindOptions { backends, ..partitioning(&Fusions::default()) }, DType::F64);
    let whole = bind(&graph, &context, &options(), DType::F64);
    [&whole, &parts].iter().for_each(|e| fill(e, 1));
    compare(&outputs(&parts)[0], &outputs(&whole)[0], F64).expect("equal outputs");
    ops(&parts)
}

#[test]
fn a_replacement_needs_a_kernel() {
    // The vendor has no kernel for fused calls. Normalization is folded into plain convolutions, for which it has one.
    let plain = ops_with(|call| ["Convolution", "relu", "Activation", "elemwise_add"].contains(&call.op.name));
    assert_eq!(plain, ["Convolution", "Activation", "Convolution", "elemwise_add", "relu"]);
    // The vendor has a kernel for every fused call.
    assert_eq!(
        ops_with(|call| call.op.name.ends_with("onv") || call.op.name == "Convolution"),
        ["_sg_conv", "_sg_conv"]
    );
    // The vendor has kernels for fused calls without a sum.
    let without_sum = ops_with(|call| match call.op.name {
        "_sg_conv" => call.inputs.len() < 4,
        name => ["Convolution", "elemwise_add"].contains(&name),
    });
    assert_eq!(without_sum, ["_sg_conv", "Convolution", "elemwise_add", "relu"]);
    // The vendor has no kernels. The chain is replaced nevertheless: the reference runs all calls, and fewer calls are
    // faster.
    assert_eq!(ops_with(|_| false), ["_sg_conv", "_sg_conv"]);
    // The vendor has a kernel only for a call that the replacement would remove, so the chain is kept.
    let kept = ops_with(|call| call.op.name == "BatchNorm");
    assert_eq!(kept.iter().filter(|op| *op == "BatchNorm").count(), 2);
}

#[test]
fn training_is_not_partitioned_and_inference_of_the_same_executor_is() {
    let graph = Net::residual_unit();
    let context = context(EngineKind::Naive, 1);
    let with = |options: BindOptions| {
        let options = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options };
        let executor = bind(&graph, &context, &options, DType::F64);
        fill(&executor, 1);
        executor
    };
    let (whole, parts) = (with(options()), with(partitioning(&Fusions::default())));
    let step = |executor: &Executor| {
        executor.forward_train().expect("a run");
        let ones = mxrs_ndarray::NdArray::from_slice(&context, SHAPE, &vec![1.0; 240]).expect("ones");
        executor.backward(&[ones]).expect("a gradient");
        let all = executor.gradients().iter().flat_map(|g| g.array.to_vec::<f64>().expect("a gradient"));
        all.collect::<Vec<f64>>()
    };
    assert_eq!(step(&whole), step(&parts), "training does not change");
    assert!(parts.training_report().expect("bound").fused.is_empty());
    compare(&outputs(&parts)[0], &outputs(&whole)[0], F64).expect("equal outputs at inference");
    assert_eq!(fused(&parts).len(), 2);
}

#[test]
fn a_dry_plan_is_that_of_the_executor() {
    let graph = Net::residual_unit();
    let all = partitioning(&Fusions::default());
    let planned = plan_graph(&graph, &[("x", Shape::from(SHAPE))], &all, false).expect("a plan");
    let executor = bind(&graph, &context(EngineKind::Naive, 1), &all, DType::F32);
    assert_eq!(planned.arena_bytes, executor.report().expect("bound").arena_bytes);
}

#[test]
fn a_pattern_that_cannot_be_applied_leaves_the_graph_as_it_is() {
    let graph = Net::residual_unit();
    let mut broken = mxrs_ops::patterns(&Fusions::default());
    let conv = broken.iter_mut().find(|pattern| pattern.name == "Convolution").expect("the pattern");
    conv.replace = |chain| {
        let inputs = vec![mxrs_op::Operand::Input { member: 0, position: 9 }];
        Some(vec![mxrs_op::NewCall { op: "relu", suffix: "", attrs: chain[0].attrs.clone(), inputs }])
    };
    let context = context(EngineKind::Naive, 1);
    let executor = bind(&graph, &context, &BindOptions { patterns: broken.into(), ..options() }, DType::F64);
    assert!(fused(&executor).is_empty());
    fill(&executor, 1);
    outputs(&executor);
}
