//! Compares every sample of every operator that oneDNN supports, gradients included, with the reference kernels, on one
//! thread and on two.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Backend, ReferenceBackend};
use mxrs_processor::Feature;
use mxrs_sync::Team;
use mxrs_testkit::conformance::{self, team};

#[test]
fn agrees_with_the_reference_on_every_sample() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for threads in [1, 2] {
        let team = team(threads);
        let backend = OneDnn::new(OneDnnConfig { team: team.clone(), cache_entries: None, row_major_weights: false })
            .expect("oneDNN is built in");
        let ops = mxrs_ops::catalog();
        for op in ops.iter().chain(ops.companions()) {
            let report = conformance::run(&*backend, op, &team);
            n_compared += report.n_compared();
            problems.extend(report.failed.iter().map(|(case, what)| format!("{threads} threads: {case}: {what}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_compared > 100, "only {n_compared} comparisons: does the backend still take anything?");
}

/// Whether the backend offers 8-bit products. It does so only if the processor has VNNI, because oneDNN's products saturate
/// without it.
fn has_exact_bytes() -> bool {
    Feature::Avx512Vnni.is_there() || Feature::AvxVnni.is_there()
}

fn is_product_of_bytes(name: &str) -> bool {
    name.ends_with("quantized_conv") || name.ends_with("quantized_fully_connected")
}

#[test]
fn takes_the_operators_of_the_six_networks() {
    let backend = OneDnn::new(OneDnnConfig { team: Team::serial(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in");
    let names = [
        "_backward_Activation",
        "_backward_BatchNorm",
        "_backward_Concat",
        "_backward_LRN",
        "_backward_Pooling",
        "_backward_Pooling_average",
        "_grad_add",
        "add_n",
        "_backward_Convolution_data",
        "_backward_Convolution_weight",
        "_backward_Convolution_bias",
        "_backward_FullyConnected_data",
        "_backward_FullyConnected_weight",
        "_backward_FullyConnected_bias",
        "Convolution",
        "BatchNorm",
        "Activation",
        "Pooling",
        "FullyConnected",
        "Concat",
        "LRN",
        "elemwise_add",
        "SoftmaxOutput",
        "_sg_bn_relu",
        "_sg_bn_relu_quantize",
        "_sg_conv",
        "_sg_fully_connected",
        "_contrib_dequantize",
        "_contrib_quantize_v2",
        "_contrib_quantized_act",
        "_contrib_quantized_concat",
        "_contrib_quantized_conv",
        "_contrib_quantized_elemwise_add",
        "_contrib_quantized_flatten",
        "_contrib_quantized_fully_connected",
        "_contrib_quantized_pooling",
        "_contrib_requantize",
        "_sg_quantized_conv",
        "_sg_quantized_fully_connected",
    ];
    for name in names.into_iter().filter(|name| has_exact_bytes() || !is_product_of_bytes(name)) {
        let ops = mxrs_ops::catalog();
        let report = conformance::run(&*backend, ops.get(name).expect("it is in the catalog"), &Team::serial());
        assert!(report.n_compared() > 0, "{name}: no sample is taken by {}; the reference runs it all", backend.name());
    }
    assert_eq!(ReferenceBackend.name(), "reference");
}
