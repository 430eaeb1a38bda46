//! Calls that a malicious symbol file could contain: tensors without elements but with axes of any size, and attributes that ask
//! for more steps or memory than the tensors justify. Each gives an error, or a result in little time.

mod common;

use common::imperative_on;
use mxrs_engine::EngineKind;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::Shape;
use std::time::{Duration, Instant};

const H: usize = 1 << 39;
/// An axis of this size is allowed in a tensor without elements.
const E: usize = Shape::MAX_EMPTY;

type Call<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a [usize]]);

const CALLS: [Call<'_>; 86] = [
    (
        "_backward_UpSampling",
        &[("num_args", "2147483647"), ("scale", "1"), ("sample_type", "nearest")],
        &[&[1, 1, 1, 1]],
    ),
    ("gather_nd", &[], &[&[], &[0, 3]]),
    (
        "_backward_Pooling_average",
        &[("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("pool_type", "max"), ("stride", "(2, 2)")],
        &[&[1, 2, 4, 4], &[1, 2, 7, 7]],
    ),
    ("UpSampling", &[("num_args", "0"), ("scale", "1"), ("sample_type", "nearest")], &[]),
    ("SequenceLast", &[], &[&[1, H, 0]]),
    ("SequenceMask", &[], &[&[H, 1, 0]]),
    ("SequenceReverse", &[], &[&[H, 1, 0]]),
    ("_backward_Pooling", &[("kernel", "(1,)"), ("pool_type", "avg")], &[&[0, 1, H], &[0, 1, H], &[0, 1, H]]),
    ("im2col", &[("kernel", "(1,)")], &[&[0, 1, H]]),
    ("im2col", &[("kernel", "(2147483647,)"), ("pad", "(1073741823,)")], &[&[1, 0, 1]]),
    ("_linalg_extracttrian", &[], &[&[0, 1 << 20, 1 << 20]]),
    ("_linalg_inverse", &[], &[&[H, 0, 0]]),
    ("_npi_svd", &[], &[&[H, 0, 0]]),
    ("_shuffle", &[], &[&[H, 0]]),
    ("sort", &[("axis", "1")], &[&[H, 0]]),
    ("topk", &[("axis", "1"), ("k", "0")], &[&[H, 0]]),
    ("_npi_diff", &[("n", "50000")], &[&[100_000]]),
    (
        "_npi_einsum",
        &[("num_args", "8"), ("subscripts", "a,b,c,d,e,f,g,h->")],
        &[&[100], &[100], &[100], &[100], &[100], &[100], &[100], &[100]],
    ),
    (
        "_contrib_ROIAlign",
        &[("pooled_size", "(1, 1)"), ("spatial_scale", "1"), ("sample_ratio", "4096")],
        &[&[1, 1, 1, 1], &[1, 5]],
    ),
    (
        "_contrib_ROIAlign",
        &[("pooled_size", "(1, 1)"), ("spatial_scale", "1"), ("sample_ratio", "1")],
        &[&[1, 1, 0, 0], &[1, 5]],
    ),
    ("ROIPooling", &[("pooled_size", "(1, 1)"), ("spatial_scale", "1e30")], &[&[1, 1, 16_777_219, 1], &[1, 5]]),
    ("CTCLoss", &[], &[&[100_000, 1, 3], &[1, 100_000]]),
    (
        "Convolution",
        &[("kernel", "(65535, 65535)"), ("pad", "(32767, 32767)"), ("num_filter", "1"), ("no_bias", "1")],
        &[&[1, 0, 1, 1], &[1, 0, 65535, 65535]],
    ),
    (
        "Correlation",
        &[("kernel_size", "1048575"), ("pad_size", "1048576"), ("stride1", "1048576"), ("max_displacement", "0")],
        &[&[1, 0, 1, 1], &[1, 0, 1, 1]],
    ),
    (
        "Correlation",
        &[("kernel_size", "1048575"), ("pad_size", "1048576"), ("stride1", "1048576"), ("max_displacement", "0")],
        &[&[1, 1, 1, 1], &[1, 1, 1, 1]],
    ),
    ("LRN", &[("nsize", "3")], &[&[1, 0, H, 1]]),
    ("Pooling", &[("global_pool", "1"), ("kernel", "(1, 1)")], &[&[1, 1, H, 0]]),
    ("_contrib_AdaptiveAvgPooling2D", &[], &[&[1, 1, H, 0]]),
    ("_np_cumsum", &[("axis", "1")], &[&[H, 0]]),
    ("softmax", &[("axis", "1")], &[&[H, 1, 0]]),
    ("BatchNorm", &[], &[&[H, 1, 0], &[1], &[1], &[1], &[1]]),
    ("_contrib_MultiBoxDetection", &[], &[&[H, 1, 0], &[H, 0], &[1, 0, 4]]),
    ("_contrib_MultiBoxTarget", &[("negative_mining_ratio", "1")], &[&[1, 4, 4], &[1, 1, 5], &[1, 0, 4]]),
    ("Concat", &[("num_args", "2"), ("dim", "1")], &[&[H, 1, 0], &[H, 1, 0]]),
    ("slice", &[("begin", "(0,)"), ("end", "(1,)"), ("step", "(9223372036854775807,)")], &[&[4, 5]]),
    (
        "_contrib_BilinearResize2D",
        &[("mode", "odd_scale"), ("scale_height", "1e30"), ("scale_width", "1")],
        &[&[1, 1, 3, 3]],
    ),
    ("broadcast_add", &[], &[&[0, H, H], &[0, H, H]]),
    ("_np_diagonal", &[("offset", "-2147483647")], &[&[0, H]]),
    ("_npi_tensordot_int_axes", &[("axes", "2")], &[&[0, H, H], &[H, H, 0]]),
    ("reverse", &[("axis", "(1,)")], &[&[0, H, H]]),
    ("gather_nd", &[], &[&[H, 0], &[0, H]]),
    ("scatter_nd", &[("shape", "(0,)")], &[&[H, 0], &[0, H]]),
    ("_npi_multinomial", &[("n", "2147483647"), ("pvals", "(0.25, 0.25, 0.5)"), ("size", "(1000,)")], &[]),
    ("_image_random_contrast", &[("min_factor", "1e38"), ("max_factor", "3e38")], &[&[0, E / 4, 3]]),
    ("_image_random_hue", &[("min_factor", "3e38"), ("max_factor", "3e38")], &[&[2, 2, 3]]),
    (
        "_image_random_color_jitter",
        &[("brightness", "3e38"), ("contrast", "3e38"), ("saturation", "3e38"), ("hue", "3e38")],
        &[&[2, 2, 3]],
    ),
    ("_image_adjust_lighting", &[("alpha", "(3e38, 3e38, -3e38)")], &[&[E / 4, 0, 3]]),
    ("_image_random_flip_left_right", &[], &[&[E / 4, 0, 3]]),
    ("_cvimresize", &[("w", "2147483647"), ("h", "2147483647")], &[&[1, 1, 1]]),
    ("_cvimresize", &[("w", "1"), ("h", "1"), ("interp", "3")], &[&[E, 1, 0]]),
    (
        "_cvcopyMakeBorder",
        &[("top", "2147483647"), ("bot", "2147483647"), ("left", "2147483647"), ("right", "2147483647"), ("type", "4")],
        &[&[1, 1, 1]],
    ),
    (
        "_cvcopyMakeBorder",
        &[("top", "2147483647"), ("bot", "2147483647"), ("left", "0"), ("right", "0"), ("type", "2")],
        &[&[1, 1, 0]],
    ),
    ("_contrib_fft", &[], &[&[E, 0]]),
    ("_contrib_fft", &[], &[&[1, 1_000_003]]),
    ("_contrib_ifft", &[], &[&[0, E]]),
    ("_contrib_count_sketch", &[("out_dim", "2147483647")], &[&[0, 5], &[1, 5], &[1, 5]]),
    ("_contrib_count_sketch", &[("out_dim", "3")], &[&[2, 5], &[1, 5], &[1, 5]]),
    ("_contrib_edge_id", &[], &[&[E, 0], &[4], &[4]]),
    ("_contrib_quantize_asym", &[], &[&[0, E]]),
    ("_contrib_calibrate_entropy", &[("num_quantized_bins", "2147483647")], &[&[5], &[6]]),
    ("_contrib_calibrate_entropy", &[("num_quantized_bins", "1")], &[&[40_001], &[40_002]]),
    ("_contrib_calibrate_entropy", &[("num_quantized_bins", "1")], &[&[2001], &[2002]]),
    ("_contrib_calibrate_entropy", &[], &[&[0, E], &[1]]),
    (
        "_contrib_DeformablePSROIPooling",
        &[
            ("spatial_scale", "1"),
            ("output_dim", "65536"),
            ("group_size", "65536"),
            ("pooled_size", "65536"),
            ("no_trans", "1"),
        ],
        &[&[1, 1, 1, 1], &[1, 5]],
    ),
    (
        "_contrib_DeformablePSROIPooling",
        &[
            ("spatial_scale", "1"),
            ("output_dim", "1"),
            ("group_size", "1"),
            ("pooled_size", "1024"),
            ("sample_per_part", "256"),
            ("no_trans", "1"),
        ],
        &[&[1, 1, 1, 1], &[1, 5]],
    ),
    (
        "_contrib_DeformablePSROIPooling",
        &[("spatial_scale", "1"), ("output_dim", "1"), ("group_size", "1"), ("pooled_size", "2"), ("trans_std", "1")],
        &[&[1, 1, 0, E], &[1, 5], &[1, 2, 2, 2]],
    ),
    ("BatchNorm_v1", &[], &[&[E, 1, 0], &[1], &[1], &[1], &[1]]),
    ("_contrib_BatchNormWithReLU", &[], &[&[E, 1, 0], &[1], &[1], &[1], &[1]]),
    (
        "Convolution_v1",
        &[("kernel", "(65535, 65535)"), ("pad", "(32767, 32767)"), ("num_filter", "1"), ("no_bias", "1")],
        &[&[1, 0, 1, 1], &[1, 0, 65535, 65535]],
    ),
    (
        "Pooling",
        &[
            ("kernel", "(2147483648, 2147483648, 2147483648)"),
            ("pad", "(1073741824, 1073741824, 1073741824)"),
            ("pool_type", "avg"),
        ],
        &[&[1, 1, 1, 1, 1]],
    ),
    ("Pooling_v1", &[("global_pool", "1"), ("pool_type", "avg")], &[&[1, 1, E, 0]]),
    ("_backward_Pooling_v1", &[("kernel", "(1, 1)")], &[&[0, 1, E, 1], &[0, 1, E, 1], &[0, 1, E, 1]]),
    ("Crop", &[("num_args", "2147483647")], &[&[1, 1, 4, 4]]),
    (
        "Crop",
        &[("num_args", "1"), ("h_w", "(1, 1)"), ("offset", "(9223372036854775807, 9223372036854775807)")],
        &[&[1, 1, 4, 4]],
    ),
    ("Crop", &[("num_args", "1"), ("h_w", "(9223372036854775807, 1)"), ("center_crop", "1")], &[&[0, E, 1, 1]]),
    ("_contrib_SparseEmbedding", &[("input_dim", "2147483647"), ("output_dim", "2147483647")], &[&[1], &[1, 1]]),
    ("_sparse_retain", &[], &[&[E, 0], &[3]]),
    ("_backward_sparse_retain", &[], &[&[E, 0], &[E, 0], &[3]]),
    ("_contrib_getnnz", &[("axis", "0")], &[&[E, 0]]),
    ("IdentityAttachKLSparseReg", &[("momentum", "0")], &[&[E, 0], &[0]]),
    ("_npi_norm", &[("axis", "(0, 1)"), ("ord", "1")], &[&[E, 0]]),
    ("_npi_norm", &[], &[&[8, 131_072]]),
    (
        "_npi_tensordot",
        &[("a_axes_summed", "(-9223372036854775808,)"), ("b_axes_summed", "(9223372036854775807,)")],
        &[&[2, 3], &[3, 2]],
    ),
    ("_npi_tensordot", &[("a_axes_summed", "(1,)"), ("b_axes_summed", "(0,)")], &[&[2048, 0], &[0, 2048]]),
    ("_zeros_without_dtype", &[("shape", "(9223372036854775807,)"), ("dtype", "0")], &[]),
    ("_zeros_without_dtype", &[("shape", "(1,)"), ("dtype", "2147483647")], &[]),
];

#[test]
fn malicious_calls_are_errors_or_end_in_little_time() {
    let nd = imperative_on(EngineKind::Naive, 1, 1);
    let mut n_errors = 0;
    for (op, attrs, shapes) in CALLS {
        let began = Instant::now();
        let array = |shape: &&[usize]| {
            let shape = Shape::from(*shape);
            let values: Vec<f32> = (0..shape.n_elements()).map(|i| (i % 5) as f32).collect();
            NdArray::from_slice(nd.context(), shape, &values)
        };
        let inputs: Vec<NdArray> =
            shapes.iter().map(array).collect::<mxrs_types::Result<_>>().unwrap_or_else(|e| panic!("{op}: {e}"));
        let inputs: Vec<&NdArray> = inputs.iter().collect();
        let attrs: Attrs = attrs.iter().copied().collect();
        let made = nd.invoke(op, &attrs, &inputs).and_then(|made| made.iter().try_for_each(NdArray::wait_to_read));
        if let Err(error) = made {
            n_errors += 1;
            let error = error.to_string();
            assert!(
                !error.contains("panic") && !error.contains("unknown operator"),
                "{op} {attrs:?} {shapes:?}: {error}"
            );
        }
        // Hours without the limits.
        assert!(began.elapsed() < Duration::from_secs(60), "{op} {attrs:?} {shapes:?}: {:?}", began.elapsed());
    }
    assert!(n_errors >= 20, "{n_errors} errors");
}
