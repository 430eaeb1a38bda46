//! Tests the declared gradients of every operator except layers, which `layer_gradients.rs` tests. The gradients are
//! compared with central differences and, at kinks and special values, with recorded gradients of MXNet 1.9.1. The
//! tests also check which tensors a gradient keeps in memory.

mod arrays;
mod recorded;
mod saved;

use mxrs_op::{Gradient, OpDef, OpSet};
use mxrs_testkit::gradient::{self, GradientReport, Options};
use mxrs_types::DType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Operators that MXNet cannot differentiate twice.
const NO_SECOND_ORDER: &[&str] = &["LeakyReLU", "gamma", "gammaln", "max", "min", "nanprod", "nansum", "norm", "prod"];

/// Operators whose gradient is not the derivative on purpose. Some pass `ograd` on. Others give the gradient 0 to inputs
/// that are integers or positions.
const NOT_DERIVATIVES: &[&str] = &[
    "_contrib_ROIAlign",
    "_contrib_RROIAlign",
    "_contrib_count_sketch",
    "_contrib_edge_id",
    "_contrib_gradientmultiplier",
    "_contrib_round_ste",
    "_contrib_sign_ste",
    "_image_adjust_lighting",
    "_image_random_brightness",
    "_image_random_color_jitter",
    "_image_random_contrast",
    "_image_random_flip_left_right",
    "_image_random_flip_top_bottom",
    "_image_random_hue",
    "_image_random_lighting",
    "_image_random_saturation",
    "_random_pdf_generalized_negative_binomial",
    "_random_pdf_negative_binomial",
    "_random_pdf_poisson",
];

/// Operators whose result is float32 for every input, which is too coarse for central differences.
const FLOAT32: &[&str] = &["_image_to_tensor"];

/// Summaries of the backward operators that families of operators declare. These backward operators have no gradients
/// themselves.
const FAMILIES: &[&str] = &[
    "gradient of an operator that is a formula",
    "gradients of a function of two tensors",
    "gradient of a function of a tensor and a scalar",
    "gradient of an operator on matrices",
];

/// Operators whose outputs are integers, or depend only on integers, so that no derivative can be compared.
const OF_INTEGERS: &[&str] = &[
    "_contrib_allclose",
    "_contrib_index_array",
    "_npi_exponential",
    "_npi_gumbel",
    "_npi_logistic",
    "_npi_normal",
    "_npi_normal_n",
    "_npi_rayleigh",
    "_npi_where_scalar2",
    "_sample_multinomial",
    "_unravel_index",
    "argsort",
    "one_hot",
    "shape_array",
    "size_array",
];

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

/// Whether a call of the first sample draws random numbers.
fn is_random(op: &OpDef) -> bool {
    let sample = (op.samples)().swap_remove(0);
    (op.is_random)(&op.parse(&sample.attrs).expect("a readable sample"), false)
}

/// Whether the first sample has a result of float64 for inputs of float64.
fn gives_floats(op: &OpDef) -> bool {
    let sample = (op.samples)().swap_remove(0);
    let params = op.parse(&sample.attrs).expect("a readable sample");
    let mut inputs = vec![Some(DType::F64); sample.inputs.len()];
    let mut outputs = vec![None; op.n_outputs.get(&params)];
    op.infer_dtypes(&params, &mut inputs, &mut outputs).is_err() || outputs[0].is_none_or(|dtype| dtype.is_float())
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
        // Random numbers, and results that are not floats, have the gradient zero.
        let is_zero = matches!(op.gradient, Gradient::Zero) && (is_random(&op) || !gives_floats(&op));
        if NOT_DERIVATIVES.contains(&op.name) || FLOAT32.contains(&op.name) || is_zero {
            continue;
        }
        let report = gradient::check(&ops, &op, &options(op.name));
        let has_inputs = (op.samples)().iter().any(|s| !s.inputs.is_empty())
            && !OF_INTEGERS.contains(&op.name)
            && op.dtypes.contains(&DType::F64);
        add(&mut all, op.name, report, has_inputs);
    }
    all.assert_ok();
}

/// Compares second derivatives of all operators of a source folder with central differences.
fn check_folder_twice(folder: &str) {
    let ops = mxrs_ops::catalog();
    let mut all = GradientReport::default();
    for op in in_folder(&ops, folder) {
        let is_formula = (op.companions)().iter().any(|back| FAMILIES.contains(&back.summary));
        if matches!(op.gradient, Gradient::Zero) || NO_SECOND_ORDER.contains(&op.name) || is_formula {
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
fn g9_g10_images() {
    check_folder("spatial");
}

#[test]
fn g9_g10_recurrent_layers() {
    check_folder("recurrent");
}

#[test]
fn g9_g10_linear_algebra() {
    check_folder("linalg");
}

#[test]
fn g9_g10_numpy() {
    check_folder("numpy");
}

#[test]
fn g9_g10_sorting_and_attention() {
    check_folder("sorting");
    check_folder("attention");
}

#[test]
fn g9_g10_random() {
    check_folder("random");
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
    let is_undefined = |op: &&Arc<OpDef>| matches!(op.gradient, Gradient::Undefined) && !FAMILIES.contains(&op.summary);
    let listed = ops.iter().filter(|op| !op.is_replaced());
    let undefined: BTreeSet<&str> = listed.filter(is_undefined).map(|op| op.name).collect();
    // Quantized tensors are for inference only, and updates use gradients but have none.
    let is_final = |file: &str| ["quant/", "optim/"].iter().any(|folder| file.starts_with(folder));
    let never = mxrs_ops::declared_in().filter(|(file, _)| is_final(file)).map(|(_, op)| op.name);
    assert_eq!(undefined, never.collect());
    let once: BTreeSet<&str> = ops.companions().filter(is_undefined).map(|op| op.name).collect();
    let layers = ["BatchNorm", "LRN", "Pooling", "SoftmaxOutput", "SyncBatchNorm", "log_softmax", "softmax"]
        .map(|op| format!("_backward_{op}"));
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
            "_backward_Custom",
            "_backward_IdentityAttachKLSparseReg",
            "_backward_Pooling_v1",
            "_backward_ctc_loss",
            "_backward_max",
            "_backward_min",
            "_backward_norm",
            "_backward_RNN",
            "_backward_contrib_box_nms",
            "_backward_npi_location",
            "_backward_npi_scale",
            "_backward_SVMOutput",
            "_backward_sample_multinomial",
            "_backward_topk",
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
            "_backward_MakeLoss",
        ])
        .chain(fused)
        .chain(updates)
        .collect();
    assert_eq!(once, expected, "companions that cannot be differentiated");
}
