//! Compares every sample that the backend takes with the reference kernels, on one thread and on two, with every
//! instruction set.

use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_testkit::conformance::{self, team};

#[test]
fn agrees_with_the_reference_on_every_sample() {
    let mut problems = Vec::new();
    for threads in [1, 2] {
        let team = team(threads);
        for isa in Isa::available() {
            let backend = Nnpack::new(&team, NnpackOptions { isa, ..NnpackOptions::default() });
            for (name, least) in [
                ("Convolution", 4),
                ("_sg_conv", 14),
                ("_sg_conv_depthwise", 5),
                ("_sg_scaled_conv", 5),
                ("FullyConnected", 4),
                ("_sg_fully_connected", 11),
                ("Pooling", 8),
                ("BatchNorm", 6),
                ("_sg_bn_relu", 4),
                ("LRN", 4),
                ("_bn_relu", 4),
                ("_bn_relu_recompute", 2),
                ("_backward_bn_relu", 4),
                ("_backward_Convolution_offset", 3),
                ("_backward_Convolution_data", 3),
                ("_backward_Convolution_weight", 3),
                ("_backward_FullyConnected_data", 4),
                ("_backward_FullyConnected_weight", 4),
                ("_backward_BatchNorm", 1),
                ("_backward_Convolution_bias", 1),
                ("_backward_FullyConnected_bias", 1),
                ("_backward_LRN", 3),
                ("_backward_Pooling", 5),
                ("_backward_Pooling_average", 5),
                ("dot", 7),
                ("_backward_dot_lhs", 7),
                ("_backward_dot_rhs", 7),
                ("batch_dot", 5),
                ("_backward_batch_dot_lhs", 5),
                ("_backward_batch_dot_rhs", 5),
                ("_linalg_gemm2", 3),
                ("RNN", 8),
                ("_backward_RNN", 4),
                ("_np_dot", 5),
                ("_npi_matmul", 5),
                ("_npi_tensordot_int_axes", 3),
                ("_contrib_interleaved_matmul_selfatt_qk", 3),
                ("_contrib_interleaved_matmul_selfatt_valatt", 3),
                ("_contrib_interleaved_matmul_encdec_qk", 3),
                ("_contrib_interleaved_matmul_encdec_valatt", 3),
                ("_contrib_quantize_v2", 14),
                ("_contrib_requantize", 10),
                ("_contrib_dequantize", 14),
                ("_contrib_quantized_conv", 16),
                ("_contrib_quantized_fully_connected", 12),
                ("_contrib_quantized_pooling", 16),
                ("_contrib_quantized_act", 6),
                ("_contrib_quantized_flatten", 8),
                ("_contrib_quantized_concat", 14),
                ("_contrib_quantized_elemwise_add", 10),
                ("_sg_quantized_conv", 36),
                ("_sg_quantized_fully_connected", 14),
                ("_sg_bn_relu_quantize", 28),
            ] {
                let ops = mxrs_ops::catalog();
                let op = ops.get(name).expect("it is in the catalog");
                let report = conformance::run(&*backend, op, &team);
                let n = report.n_compared();
                assert!(n >= least, "{name}: only {n} samples are taken:\n{:?}", report.skipped);
                let failed = report.failed.iter();
                problems.extend(failed.map(|(case, what)| format!("{} {threads} threads: {case}: {what}", isa.name())));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn says_why_it_does_not_take_what_is_left() {
    let backend = Nnpack::new(&Team::serial(), NnpackOptions::default());
    let ops = mxrs_ops::catalog();
    for name in ["Convolution", "_sg_conv", "Pooling"] {
        let report = conformance::run(&*backend, ops.get(name).expect("it is in the catalog"), &Team::serial());
        assert!(!report.skipped.is_empty() && report.skipped.iter().all(|(_, reason)| !reason.is_empty()));
    }
}
