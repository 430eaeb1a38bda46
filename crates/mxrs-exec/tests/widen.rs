//! Tests half-precision graphs that cannot be lowered after widening: they run in half precision, at inference and in
//! training.

mod common;

use common::{KINDS, Net, context, options};
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs_graph::Symbol;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{Answer, Backend, Kernel, Offer, OpCall, ReferenceBackend, TensorDesc};
use mxrs_types::{DType, Error, Result};
use std::sync::Arc;

/// A backend with the reference kernels that also offers fast products in float32, but fails to build them.
struct Promising;

fn is_promise(call: &OpCall<'_>) -> bool {
    call.op.name == "FullyConnected" && call.inputs[0].dtype == DType::F32
}

impl Backend for Promising {
    fn name(&self) -> &'static str {
        "promising"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if is_promise(call) {
            return Ok(Offer::new(1e-6, || Err(Error::not_built(call.op.name, "it was promised only"))));
        }
        ReferenceBackend.offer(call)
    }
    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        ReferenceBackend.reorder(from, to)
    }
}

/// A layer of 2^16 multiply-adds in float16, bound with these gradient requests.
fn bound(context: &ArrayContext, gradients: Option<GradRequests>) -> Executor {
    let attrs = [("num_hidden", "256"), ("no_bias", "True")];
    let layer = Net::new().call_with("FullyConnected", &attrs, &[&Symbol::variable("x")]);
    let options =
        BindOptions { backends: vec![Arc::new(Promising)], default_dtype: DType::F16, gradients, ..options() };
    let graph = layer.graph().expect("a well-formed graph");
    Executor::simple_bind(&graph, context, &[("x", [1, 256].into())], &options).expect("it binds")
}

#[test]
fn what_cannot_be_widened_runs_as_it_is() {
    let context = context(KINDS[0], 1);
    let inference = bound(&context, None);
    inference.forward().unwrap();
    inference.forward_train().unwrap();
    let training = bound(&context, Some(GradRequests::all(GradReq::Write)));
    training.forward_train().unwrap();
    let output = &training.outputs()[0];
    let head = NdArray::zeros(&context, output.shape().clone(), output.dtype()).unwrap();
    training.backward(&[head]).unwrap();
    training.gradient("x").unwrap().wait_to_read().unwrap();
    for executor in [&inference, &training] {
        let steps = executor.report().into_iter().chain(executor.training_report()).flat_map(|report| report.steps);
        assert!(steps.filter(|step| step.op == "FullyConnected").all(|step| step.backend == "promising"));
    }
}
