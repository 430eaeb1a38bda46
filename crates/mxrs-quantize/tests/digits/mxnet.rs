//! Results of MXNet 1.9.1's `quantize_model` for the two networks, with the 297 validation images in batches of 27
//! (`MXNET_SUBGRAPH_BACKEND=NONE`): minimum, maximum, entropy threshold for the dtype int8, and entropy threshold for
//! the dtype `auto`.
// The numbers have as many digits as MXNet printed.
#![allow(clippy::excessive_precision)]

/// A row: name of the value, minimum, maximum, entropy threshold for int8, entropy threshold for the dtype `auto`.
pub type Row = (&'static str, f32, f32, f32, f32);

/// Rows for the network lenet.
pub const LENET: &[Row] = &[
    ("data", 0.0, 1.0, 0.99950004, 1.0),
    ("conv1_output", -7.9448614, 9.771472, 9.5525522, 9.5525522),
    ("pool1_output", -0.99999976, 1.0, 1.0, 1.0),
    ("conv2_output", -34.183517, 30.963531, 34.127499, 34.127499),
    ("flatten0_output", -1.0, 1.0, 1.0, 1.0),
    ("fc1_output", -18.191977, 17.92441, 17.2386, 17.2386),
    ("tanh3_output", -1.0, 1.0, 1.0, 1.0),
    ("fc2_output", -32.250256, 32.159279, 31.901237, 31.901237),
];

/// Rows for the network resnet8.
pub const RESNET8: &[Row] = &[
    ("bn_data_output", -0.91048837, 1.8944814, 1.887378, 1.887378),
    ("conv0_output", -4.0094829, 5.0029726, 4.7539878, 4.7539878),
    ("stage1_a_bn_output", -5.4608102, 5.4995484, 3.3154051, 3.3154051),
    ("stage1_conv1_output", -12.942572, 15.907063, 13.59685, 13.59685),
    ("stage1_b_bn_output", -4.2876992, 6.1145911, 3.7811182, 3.7811182),
    ("stage1_conv2_output", -10.224184, 12.140134, 9.3864088, 9.3864088),
    ("_plus0_output", -13.591113, 15.999283, 14.466922, 14.466922),
    ("stage2_a_bn_output", -4.1844831, 6.6711135, 5.8339448, 5.8339448),
    ("stage2_conv1_output", -8.0161476, 10.637733, 10.333974, 10.333974),
    ("stage2_b_bn_output", -5.2744412, 6.5709643, 6.1708002, 6.1708002),
    ("stage2_conv2_output", -12.07545, 10.752493, 10.389196, 10.389196),
    ("stage2_sc_output", -4.5780978, 5.0434833, 4.1957865, 4.1957865),
    ("_plus1_output", -12.693747, 13.424774, 11.430387, 11.430387),
    ("stage3_a_bn_output", -4.4657021, 5.8308501, 4.5126381, 4.5126381),
    ("stage3_conv1_output", -6.2009325, 6.1760497, 5.788322, 5.788322),
    ("stage3_b_bn_output", -6.0067959, 8.0646353, 6.9713607, 6.9713607),
    ("stage3_conv2_output", -8.2487183, 13.263834, 11.63833, 11.63833),
    ("stage3_sc_output", -4.2251391, 3.7289667, 3.4421749, 3.4421749),
    ("_plus2_output", -8.3727846, 12.46591, 11.309089, 11.309089),
    ("final_bn_output", -8.6825266, 14.41887, 12.620845, 12.620845),
    ("fc_output", -11.727024, 21.950766, 19.558971, 19.558971),
];
