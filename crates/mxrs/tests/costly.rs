//! Binding an expensive call that only the reference kernels support logs a warning with its name, once per runtime. A
//! 16-bit call computes in float32 instead.

#[path = "env_effects/log_lines.rs"]
#[allow(dead_code, reason = "tests of variables use all of it")]
mod log_lines;

use log_lines::log_lines;
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor};
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use mxrs::types::DType;

/// The warnings of binding a layer of 2^17 multiply-adds with this dtype, and the backend that runs the layer.
fn warnings(runtime: &Runtime, dtype: DType) -> (Vec<String>, &'static str) {
    let call = SymbolCall::new(runtime.ops().get("FullyConnected").unwrap()).name("layer");
    let call = call.attr("num_hidden", "256").attr("no_bias", "True").input(&Symbol::variable("x"));
    let graph = call.build(&mut NameManager::new()).unwrap().graph().unwrap();
    let options = BindOptions { default_dtype: dtype, ..runtime.bind_options() };
    let bind = || Executor::simple_bind(&graph, runtime.arrays(), &[("x", [1, 512].into())], &options).unwrap();
    let (executor, lines) = log_lines(bind);
    let steps = executor.report().unwrap().steps;
    let layer = steps.iter().find(|step| step.op == "FullyConnected").expect("the layer");
    (lines.into_iter().filter(|line| line.starts_with("WARN")).collect(), layer.backend)
}

fn runtime(only: Option<&str>) -> Runtime {
    let builder = Runtime::builder().env(&MapSource::new([("MXNET_ONEDNN_ENABLED", "0")]));
    only.into_iter().fold(builder, |builder, name| builder.only_backend(name)).build().unwrap()
}

#[test]
fn a_costly_call_on_the_reference_kernels_is_named_once() {
    let alone = runtime(Some("reference"));
    assert_eq!(warnings(&alone, DType::F64), (vec![], "reference"), "the reference kernels were requested");
    let all = runtime(None);
    for short in [DType::F16, DType::BF16] {
        assert_eq!(warnings(&all, short), (vec![], "nnpack"), "{short}");
    }
    let (said, backend) = warnings(&all, DType::F64);
    assert_eq!((said.len(), backend), (1, "reference"), "{said:?}");
    for part in ["`layer`", "FullyConnected", "float64", "float32 has a fast kernel"] {
        assert!(said[0].contains(part), "{said:?}");
    }
    assert_eq!(warnings(&all, DType::F64), (vec![], "reference"), "once");
    assert_eq!(warnings(&all.clone(), DType::F64), (vec![], "reference"), "it is the same runtime");
    assert_eq!(warnings(&runtime(None), DType::F64), (said, "reference"), "another one");
}
