//! Tests the declared gradients of every operator except layers, which `layer_gradients.rs` tests. The gradients are
//! compared with central differences and, at kinks and special values, with recorded gradients of MXNet 1.9.1. The
//! tests also check which tensors a gradient keeps in memory.

mod arrays;
mod recorded;
mod saved;

use mxrs_op::{Gradient, OpDef, OpSet};
use mxrs_testkit::gradient::{self, GradientReport, Options};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Operators that MXNet cannot differentiate twice.
const NO_SECOND_ORDER: &[&str] = &["LeakyReLU", "gamma", "gammaln", "max", "min", "norm"];

/// Operators whose outputs are integers, or depend only on integers, so that no derivative can be compared.
const OF_INTEGERS: &[&str] = &["_contrib_allclose", "one_hot", "shape_array", "size_array"];

/// Options for operators whose gradients need special treatment.
fn options(_name: &str) -> Options {
    Options::default()
}

/// The operators of a source folder that declare a gradient.
fn in_folder(ops: &OpSet, folder: &str) -> Vec<Arc<OpDef>> {
    mxrs_ops::declared_in()
        .filter(|(file, _)| file.starts_with(&format!("{folder}/")))
        .map(|(_, op)| Arc::clone(ops.get(op.name).expect("an operator of the catalog")))
        .collect()
}

/// Adds the report of an operator, and checks that the report is not empty.
fn add(all: &mut GradientReport, op: &str, report: GradientReport, is_compared: bool) {
    if is_compared && report.failed.is_empty() && report.n_compared() == 0 {
        all.add(op, "all samples", Err("no derivative was compared".into()));
    }
    all.extend(report);
}

/// Checks the first derivatives of all operators of a source folder on every sample: they must agree with central
/// differences.
fn check_folder(folder: &str) {
    let ops = mxrs_ops::catalog();
    let mut all = GradientReport::default();
    for op in in_folder(&ops, folder) {
        let report = gradient::check(&ops, &op, &options(op.name));
        let has_inputs = (op.samples)().iter().any(|s| !s.inputs.is_empty()) && !OF_INTEGERS.contains(&op.name);
        add(&mut all, op.name, report, has_inputs);
    }
    all.assert_ok();
}

/// Compares second derivatives of all operators of a source folder with central differences.
fn check_folder_twice(folder: &str) {
    let ops = mxrs_ops::catalog();
    let mut all = GradientReport::default();
    for op in in_folder(&ops, folder) {
        if matches!(op.gradient, Gradient::Zero) || NO_SECOND_ORDER.contains(&op.name) {
            continue;
        }
        let report = gradient::check_second_order(&ops, &op, &options(op.name));
        add(&mut all, op.name, report, true);
    }
    all.assert_ok();
}

#[test]
fn g9_g10_elementwise() {
    check_folder("elemwise");
}

#[test]
fn g9_g10_tables() {
    check_folder("tables");
}

#[test]
fn g9_g10_shape() {
    check_folder("shape");
}

#[test]
fn g9_g10_init() {
    check_folder("init");
}

#[test]
fn g9_g10_normalizations() {
    check_folder("norms");
}

#[test]
fn g9_g10_products() {
    check_folder("products");
}

#[test]
fn g9_products_twice() {
    check_folder_twice("products");
}

#[test]
fn g9_g10_reductions() {
    check_folder("reduce");
}

#[test]
fn g9_elementwise_twice() {
    check_folder_twice("elemwise");
}

#[test]
fn g9_tables_twice() {
    check_folder_twice("tables");
}

#[test]
fn g9_shape_twice() {
    check_folder_twice("shape");
}

#[test]
fn g9_reductions_twice() {
    check_folder_twice("reduce");
}

#[test]
fn every_gradient_is_declared() {
    let ops = mxrs_ops::catalog();
    let is_undefined = |op: &&Arc<OpDef>| matches!(op.gradient, Gradient::Undefined);
    let undefined: BTreeSet<&str> = ops.iter().filter(is_undefined).map(|op| op.name).collect();
    // Quantized tensors are for inference only, and updates use gradients but have none.
    let is_final = |file: &str| file.starts_with("quant/") || file.starts_with("optim/");
    let never = mxrs_ops::declared_in().filter(|(file, _)| is_final(file)).map(|(_, op)| op.name);
    assert_eq!(undefined, never.collect());
    let once: BTreeSet<&str> = ops.companions().filter(is_undefined).map(|op| op.name).collect();
    let layers =
        ["BatchNorm", "LRN", "Pooling", "SoftmaxOutput", "log_softmax", "softmax"].map(|op| format!("_backward_{op}"));
    // These operators are never differentiated, because graph passes insert them only for inference, or after
    // differentiation.
    let fused = [
        "_backward_bn_relu",
        "_bn_fold_bias",
        "_bn_fold_weight",
        "_bn_relu",
        "_bn_relu_recompute",
        "_sg_bn_relu",
        "_sg_bn_relu_quantize",
        "_sg_conv",
        "_sg_conv_depthwise",
        "_sg_fully_connected",
        "_sg_quantized_conv",
        "_sg_quantized_fully_connected",
        "_sg_scaled_conv",
    ];
    // Updates that have no name in MXNet are never differentiated either.
    let updates = [
        "_adadelta_update",
        "_adagrad_update",
        "_adamax_update",
        "_dcasgd_mom_update",
        "_dcasgd_update",
        "_nadam_update",
        "_nag_mom_update",
        "_preloaded_multi_adam_update",
        "_sgld_update",
        "_two_bit_compression",
    ];
    let expected: BTreeSet<&str> = layers
        .iter()
        .map(String::as_str)
        .chain([
            "_backward_Convolution_offset",
            "_backward_ctc_loss",
            "_backward_max",
            "_backward_min",
            "_backward_norm",
        ])
        .chain([
            "_backward_GroupNorm",
            "_backward_InstanceNorm",
            "_backward_LayerNorm",
            "_backward_LeakyReLU",
            "_backward_LeakyReLU_gamma",
            "_backward_LinearRegressionOutput",
            "_backward_LogisticRegressionOutput",
            "_backward_MAERegressionOutput",
        ])
        .chain(fused)
        .chain(updates)
        .collect();
    assert_eq!(once, expected, "companions that cannot be differentiated");
}
