//! Rows D86 and D87 of `docs/env.md`, with the older name O14: fusion of pointwise operators.

use crate::graphs::{Calls, bind};
use crate::{Vars, builder, check_older_name, log_lines};
use mxrs::Runtime;
use mxrs::exec::Executor;
use mxrs::graph::Symbol;
use mxrs_op::{Answer, Backend, FUSED_OP, Kernel, Offer, OpCall, ReferenceBackend, TensorDesc};
use std::sync::Arc;

/// A backend that supports only fused calls.
pub struct Fusing;

impl Backend for Fusing {
    fn name(&self) -> &'static str {
        "fusing"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != FUSED_OP {
            return Err("fused calls only".into());
        }
        Ok(Offer::new(1e-6, || ReferenceBackend.plan(call)))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> mxrs::Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

fn runtime(vars: Vars<'_>) -> Runtime {
    builder(vars).backend(Arc::new(Fusing)).only_backend("fusing").build().expect("the runtime starts")
}

/// A chain of five pointwise operators, bound and run on three numbers.
fn chain_of_five(vars: Vars<'_>) -> (Executor, Vec<f32>) {
    let runtime = runtime(vars);
    let mut calls = Calls::new(&runtime);
    let mut y = Symbol::variable("x");
    for op in ["sigmoid", "square", "tanh", "relu", "negative"] {
        y = calls.call(op, &[], &[&y]);
    }
    let executor = bind(&runtime, &y.graph().unwrap(), [3]);
    executor.argument("x").unwrap().copy_from(&[0.5f32, -2.0, 8.0]).unwrap();
    executor.forward().unwrap();
    let found = executor.outputs()[0].to_vec::<f32>().unwrap();
    (executor, found)
}

#[test]
fn d86_a_chain_of_five_is_one_kernel() {
    let run = |vars: Vars<'_>| {
        let (executor, found) = chain_of_five(vars);
        let report = executor.report().unwrap();
        ([report.n_fused(), report.n_fused_calls(), report.steps.len()], found)
    };
    let (on, off) = (run(&[]), run(&[("MXNET_USE_FUSION", "0")]));
    assert_eq!((on.0, off.0), ([1, 5, 1], [0, 0, 5]));
    assert_eq!(on.1, off.1);
    assert_eq!(run(&[("MXNET_USE_FUSION", "1")]), on);
}

/// The log lines about fusion while a graph is bound once and run twice.
fn lines(vars: Vars<'_>) -> Vec<String> {
    let run = || {
        let (executor, _) = chain_of_five(vars);
        executor.forward().unwrap();
        executor.outputs()[0].to_vec::<f32>().unwrap();
    };
    let (_, lines) = log_lines(run);
    lines.into_iter().filter_map(|line| Some(line.strip_prefix("INFO fusion: ")?.to_owned())).collect()
}

#[test]
fn d87_verbose_tells_the_time_of_the_pass() {
    assert!(lines(&[]).is_empty() && lines(&[("MXNET_RTC_VERBOSE", "0")]).is_empty());
    let logged = lines(&[("MXNET_RTC_VERBOSE", "1")]);
    assert_eq!(logged.len(), 1, "once, at bind: {logged:?}");
    assert!(logged[0].starts_with("5 pointwise calls in 1 fused calls"), "{logged:?}");
    assert!(logged[0].ends_with('s'), "a time: {logged:?}");
    let off = [("MXNET_RTC_VERBOSE", "1"), ("MXNET_USE_FUSION", "0")];
    assert!(lines(&off).is_empty());
}

#[test]
fn o14_the_older_name() {
    let effect = |vars: Vars<'_>| lines(vars).len();
    check_older_name("MXNET_FUSION_VERBOSE", "MXNET_RTC_VERBOSE", ["1", "0"], effect);
}
