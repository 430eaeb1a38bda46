//! Rows D92, B33, B48, B49, B50 to B53 and B57 to B61 of `docs/env.md`, with the older names O16: subgraphs that are
//! replaced by one call at inference.

use crate::graphs::{Calls, bind};
use crate::log_lines::log_lines;
use crate::{Vars, builder, check_older_name, runtime, warnings};
use mxrs::Runtime;
use mxrs::graph::{Graph, Symbol};
use mxrs::op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, TensorDesc};
use mxrs::types::Layout;
use std::sync::Arc;

const BACKEND: &str = "MXNET_SUBGRAPH_BACKEND";
const VERBOSE: &str = "MXNET_SUBGRAPH_VERBOSE";
/// The reference backend, which every build has.
const REFERENCE: (&str, &str) = (BACKEND, "REFERENCE");

/// `x` through a convolution, a sum with itself, a branch with normalization and activation, and a fully-connected layer
/// with a square.
fn graph(runtime: &Runtime) -> Graph {
    let mut calls = Calls::new(runtime);
    let x = Symbol::variable("x");
    let conv = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
    let a = calls.named("conv", "Convolution", &conv, &[&x]);
    let a = calls.named("bn", "BatchNorm", &[], &[&a]);
    let a = calls.named("sum", "elemwise_add", &[], &[&a, &x]);
    let a = calls.named("act", "Activation", &[("act_type", "relu")], &[&a]);
    let b = calls.named("bn2", "BatchNorm", &[], &[&a]);
    let b = calls.named("relu2", "relu", &[], &[&b]);
    let fc = [("num_hidden", "6"), ("flatten", "False")];
    let c = calls.named("fc", "FullyConnected", &fc, &[&b]);
    let c = calls.named("square", "square", &[], &[&c]);
    let d = calls.named("fc2", "FullyConnected", &fc, &[&c]);
    let d = calls.named("sum2", "elemwise_add", &[], &[&d, &b]);
    d.graph().expect("a well-formed graph")
}

/// Names of the operators that run in each forward pass, in order, without reorders.
fn ops_of(runtime: &Runtime) -> Vec<String> {
    let executor = bind(runtime, &graph(runtime), [2, 4, 5, 6]);
    let steps = executor.report().expect("bound for inference").steps;
    let is_call = |step: &mxrs::exec::StepReport| !step.is_prepare && step.kernel != "view" && step.op != "reorder";
    steps.into_iter().filter(is_call).map(|step| step.op).collect()
}

fn ops(vars: Vars<'_>) -> Vec<String> {
    ops_of(&runtime(vars))
}

const WHOLE: [&str; 10] = [
    "Convolution",
    "BatchNorm",
    "elemwise_add",
    "Activation",
    "BatchNorm",
    "relu",
    "FullyConnected",
    "square",
    "FullyConnected",
    "elemwise_add",
];
const PARTS: [&str; 4] = ["_sg_conv", "_sg_bn_relu", "_sg_fully_connected", "_sg_fully_connected"];

#[test]
fn d92_names_the_backend_or_none() {
    assert_eq!(ops(&[REFERENCE]), PARTS);
    assert_eq!(ops(&[(BACKEND, "NONE")]), WHOLE);
    // A runtime with only the reference kernels does not partition graphs.
    assert_eq!(ops(&[]), WHOLE);
    let error = builder(&[(BACKEND, "TENSORRT")]).build().expect_err("no backend has that name").to_string();
    assert!(
        error.starts_with("MXNET_SUBGRAPH_BACKEND: invalid value \"TENSORRT\": expected NONE or a registered"),
        "{error}"
    );
    assert!(error.contains("REFERENCE"), "{error}");
}

/// A backend with a kernel for one operator; the kernel does not write its outputs.
struct Only(&'static str);

impl Backend for Only {
    fn name(&self) -> &'static str {
        "only"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != self.0 {
            return Err("another operator".into());
        }
        Ok(Offer::new(0.0, move || {
            Ok(PlannedKernel {
                input_layouts: vec![Layout::RowMajor; call.inputs.len()],
                output_layouts: vec![Layout::RowMajor; call.outputs.len()],
                scratch_bytes: 0,
                can_run_inplace: false,
                kernel: Arc::new(Nothing),
            })
        }))
    }

    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> mxrs::Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

struct Nothing;

// Unsafe code is allowed because `Kernel::run` is an unsafe function.
#[allow(unsafe_code)]
impl Kernel for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    unsafe fn run(&self, _: &KernelArgs<'_>) -> mxrs::Result<()> {
        Ok(())
    }
}

#[test]
fn d92_the_named_backend_alone_decides() {
    let ops = |op, vars: Vars<'_>| {
        let all: Vec<(&str, &str)> = vars.iter().copied().chain([("MXNET_ONEDNN_ENABLED", "0")]).collect();
        ops_of(&builder(&all).backend(Arc::new(Only(op))).build().expect("a runtime"))
    };
    let normalization = ops("_sg_bn_relu", &[(BACKEND, "ONLY")]);
    let expected = [&WHOLE[..4], &["_sg_bn_relu"], &WHOLE[6..]].concat();
    assert_eq!(normalization, expected);
    assert_eq!(ops("_sg_conv", &[(BACKEND, "ONLY")])[..2], ["_sg_conv", "BatchNorm"]);
    assert_eq!(ops("nothing of this", &[(BACKEND, "ONLY")]), WHOLE);
    // With other backends, more subgraphs are replaced.
    assert_ne!(ops("_sg_bn_relu", &[]), expected);
}

/// Naming a backend that is known but absent changes nothing, and a warning says so.
#[test]
fn d92_of_an_absent_backend_has_no_effect() {
    let off = ("MXNET_ONEDNN_ENABLED", "0");
    let ops = |vars: Vars<'_>| ops_of(&builder(vars).build().expect("a runtime"));
    assert_eq!(ops(&[(BACKEND, "ONEDNN"), off]), ops(&[off]));
    let about = |line: &String| line.starts_with("MXNET_SUBGRAPH_BACKEND=ONEDNN has no effect: ");
    assert_eq!(warnings(&[(BACKEND, "ONEDNN"), off]).iter().filter(|line| about(line)).count(), 1);
}

#[cfg(any(feature = "onednn", feature = "onednn-dynamic"))]
#[test]
fn d92_unset_is_onednn_under_either_name() {
    let unset = ops_of(&builder(&[]).build().expect("a runtime"));
    assert!(unset.len() < WHOLE.len(), "at least the normalization is folded: {unset:?}");
    for name in ["MKLDNN", "ONEDNN"] {
        assert_eq!(ops_of(&builder(&[(BACKEND, name)]).build().expect("a runtime")), unset, "{name}");
    }
    assert_eq!(ops_of(&builder(&[(BACKEND, "NONE")]).build().expect("a runtime")), WHOLE);
    let switched_off = [(BACKEND, "MKLDNN"), ("MXNET_ONEDNN_ENABLED", "0")];
    let expected = "MXNET_SUBGRAPH_BACKEND=MKLDNN has no effect: switched off by MXNET_ONEDNN_ENABLED=0";
    assert_eq!(warnings(&switched_off), [expected]);
}

#[test]
fn b33_says_which_backend_is_active_and_what_it_does() {
    let lines = |vars: Vars<'_>| -> Vec<String> {
        let (_, lines) = log_lines(|| ops(vars));
        lines.into_iter().filter(|line| line.contains("subgraph") || line.contains("replaces")).collect()
    };
    let activated = "INFO subgraph backend REFERENCE is activated";
    assert_eq!(lines(&[REFERENCE]), [activated]);
    assert_eq!(lines(&[REFERENCE, (VERBOSE, "1")]), [activated]);
    assert_eq!(lines(&[REFERENCE, (VERBOSE, "0")]), [""; 0]);
    let all = lines(&[REFERENCE, (VERBOSE, "2")]);
    assert_eq!(all.len(), 1 + PARTS.len(), "{all:?}");
    assert_eq!(all[1], "INFO `act` (_sg_conv) replaces conv, bn, sum, act");
    let (_, none) = log_lines(|| ops(&[(BACKEND, "NONE")]));
    assert!(none.iter().any(|line| line.contains("not partitioned: MXNET_SUBGRAPH_BACKEND=NONE")), "{none:?}");
}

/// Operators that run if the variable is 1. Checks that a value of 0 gives the same operators as an unset variable.
fn with(name: &str) -> Vec<String> {
    assert_eq!(ops(&[REFERENCE, (name, "0")]), PARTS, "{name}=0");
    ops(&[REFERENCE, (name, "1")])
}

#[test]
fn b50_leaves_convolutions_alone() {
    assert_eq!(with("MXNET_DISABLE_ONEDNN_CONV_OPT")[..4], WHOLE[..4]);
}

#[test]
fn b51_leaves_layers_alone() {
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FC_OPT")[2..], WHOLE[6..]);
}

/// Operators of a quantized convolution with requantization, dequantization and ReLU, with these variables.
fn quantized_ops(vars: Vars<'_>) -> Vec<String> {
    let runtime = runtime(vars);
    let mut calls = Calls::new(&runtime);
    let part = |symbol: &Symbol, k: usize| symbol.output(k).expect("three outputs");
    let range = [("min_calib_range", "-2"), ("max_calib_range", "2")];
    let q = calls.named("q", "_contrib_quantize_v2", &range, &[&Symbol::variable("x")]);
    let conv = [("kernel", "(3, 3)"), ("num_filter", "4"), ("no_bias", "True")];
    let weight = ["weight", "low", "high"].map(Symbol::variable);
    let inputs = [&part(&q, 0), &weight[0], &part(&q, 1), &part(&q, 2), &weight[1], &weight[2]];
    let conv = calls.named("conv", "_contrib_quantized_conv", &conv, &inputs);
    let mut last = conv;
    for (name, op, attrs) in [
        ("r", "_contrib_requantize", &range[..]),
        ("act", "_contrib_quantized_act", &[("act_type", "relu")]),
        ("end", "_contrib_dequantize", &[]),
    ] {
        last = calls.named(name, op, attrs, &[&part(&last, 0), &part(&last, 1), &part(&last, 2)]);
    }
    let executor = bind(&runtime, &last.graph().expect("a well-formed graph"), [2, 4, 5, 6]);
    let steps = executor.report().expect("bound for inference").steps;
    let is_call = |step: &mxrs::exec::StepReport| !step.is_prepare && step.kernel != "view" && step.op != "reorder";
    steps.into_iter().filter(is_call).map(|step| step.op).collect()
}

#[test]
fn b48_leaves_requantization_and_what_follows_alone() {
    let whole = quantized_ops(&[("MXNET_ONEDNN_FUSE_REQUANTIZE", "0"), REFERENCE]);
    assert_eq!(whole.len(), 5, "{whole:?}");
    assert_eq!(whole[2], "_contrib_requantize");
}

#[test]
fn b49_leaves_dequantization_alone() {
    assert_eq!(quantized_ops(&[REFERENCE]), ["_contrib_quantize_v2", "_sg_quantized_conv"]);
    let kept = quantized_ops(&[("MXNET_ONEDNN_FUSE_DEQUANTIZE", "0"), REFERENCE]);
    assert_eq!(kept, ["_contrib_quantize_v2", "_sg_quantized_conv", "_contrib_dequantize"]);
}

#[test]
fn b52_leaves_their_sums_alone() {
    let expected = ["_sg_fully_connected", "FullyConnected", "elemwise_add"];
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FC_SUM")[2..], expected);
}

#[test]
fn b53_and_b61_leave_relu_behind_a_normalization() {
    for name in ["MXNET_DISABLE_ONEDNN_BN_RELU_OPT", "MXNET_DISABLE_ONEDNN_FUSE_BN_RELU"] {
        assert_eq!(with(name)[1..3], ["BatchNorm", "relu"], "{name}");
    }
}

#[test]
fn b57_leaves_the_normalization() {
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FUSE_CONV_BN")[..4], WHOLE[..4]);
}

#[test]
fn b58_leaves_the_activation() {
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU")[..2], ["_sg_conv", "Activation"]);
}

#[test]
fn b59_leaves_the_sum() {
    let expected = ["Convolution", "elemwise_add", "Activation"];
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM")[..3], expected);
}

#[test]
fn b60_leaves_elementwise_operators_behind_layers() {
    let expected = ["FullyConnected", "square", "_sg_fully_connected"];
    assert_eq!(with("MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE")[2..], expected);
}

#[test]
fn a_switch_of_what_is_off_warns() {
    let vars = [(BACKEND, "NONE"), ("MXNET_DISABLE_ONEDNN_CONV_OPT", "1")];
    let reason = "graphs are not partitioned: MXNET_SUBGRAPH_BACKEND=NONE";
    assert_eq!(warnings(&vars), [format!("MXNET_DISABLE_ONEDNN_CONV_OPT=1 has no effect: {reason}")]);
}

#[test]
fn o16_are_the_switches() {
    for (older, canonical) in [
        ("MXNET_DISABLE_MKLDNN_CONV_OPT", "MXNET_DISABLE_ONEDNN_CONV_OPT"),
        ("MXNET_DISABLE_MKLDNN_FC_OPT", "MXNET_DISABLE_ONEDNN_FC_OPT"),
        ("MXNET_DISABLE_MKLDNN_FC_SUM", "MXNET_DISABLE_ONEDNN_FC_SUM"),
        ("MXNET_DISABLE_MKLDNN_FUSE_CONV_BN", "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN"),
        ("MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU", "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU"),
        ("MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM", "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM"),
        ("MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE", "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE"),
    ] {
        check_older_name(older, canonical, ["1", "0"], |vars| {
            let vars: Vec<(&str, &str)> = vars.iter().copied().chain([REFERENCE]).collect();
            ops(&vars)
        });
    }
}

#[test]
fn o16_of_attention_waits_for_attention() {
    let lines = warnings(&[("MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT", "1")]);
    assert!(lines.iter().any(|line| line.contains(" is not yet in effect: ")), "{lines:?}");
}
