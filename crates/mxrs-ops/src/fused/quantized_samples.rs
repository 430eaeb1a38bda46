//! Samples of quantized products with an epilogue.

use crate::families::quantized::{floats, integers, sample};
use crate::quant::quantized_conv;
use mxrs_op::{Fill, Sample, SampleInput};
use mxrs_types::DType;

/// Adds to the inputs of a product's sample the quantized tensor to sum, of this shape and type.
fn with_sum(mut inputs: Vec<SampleInput>, n_factors: usize, shape: &[usize], dtype: DType) -> Vec<SampleInput> {
    inputs.insert(n_factors, integers(shape, dtype));
    inputs.extend([floats(&[if dtype == DType::U8 { 0.0 } else { -2.0 }]), floats(&[2.5])]);
    inputs
}

/// Adds to the inputs of a product's sample the float32 tensor to sum, of this shape.
fn with_real_sum(mut inputs: Vec<SampleInput>, n_factors: usize, shape: &[usize]) -> Vec<SampleInput> {
    let sum = SampleInput { shape: shape.into(), fill: Fill::Uniform(-2.0, 2.0), dtype: Some(DType::F32) };
    inputs.insert(n_factors, sum);
    inputs
}

const SIGNED: &[(&str, &str)] = &[("min_calib_range", "-4.5"), ("max_calib_range", "5"), ("out_type", "int8")];
const UNSIGNED: &[(&str, &str)] = &[("min_calib_range", "0"), ("max_calib_range", "5"), ("out_type", "uint8")];
const REAL: &[(&str, &str)] = &[("out_type", "float32")];
const RELU: (&str, &str) = ("act", "relu");
const BARE: (&str, &str) = ("no_bias", "True");
const SUM: (&str, &str) = ("with_sum", "True");
const REAL_SUM: (&str, &str) = ("real_sum", "True");

/// Samples of the convolution.
pub(crate) fn samples_of_conv() -> Vec<Sample> {
    let inputs = quantized_conv::inputs;
    let (i8, u8, real) = (DType::I8, DType::U8, DType::F32);
    let of = |name, out: &[(&str, &str)], more: &[(&str, &str)], inputs: Vec<SampleInput>| {
        let conv = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
        let attrs: Vec<(&str, &str)> = conv.iter().chain(out).chain(more).copied().collect();
        sample(name, &attrs, inputs)
    };
    let (data, weight, out): (&[usize], &[usize], &[usize]) = (&[2, 3, 7, 9], &[4, 3, 3, 3], &[2, 4, 7, 9]);
    let wide = [("kernel", "(1, 1)"), ("num_filter", "16"), BARE, SUM, RELU].into_iter();
    let wide: Vec<_> = wide.chain(SIGNED.iter().copied()).collect();
    let wide_inputs = with_sum(inputs(&[1, 16, 6, 6], i8, &[16, 16, 1, 1], None, true), 2, &[1, 16, 6, 6], i8);
    let plain = [("kernel", "(1, 1)"), ("num_filter", "32"), REAL_SUM, REAL[0]];
    let plain_inputs = inputs(&[2, 16, 6, 6], u8, &[32, 16, 1, 1], Some(real), true);
    let groups = [("kernel", "(3, 3)"), ("num_filter", "6"), ("num_group", "3")].into_iter();
    let groups: Vec<_> = groups.chain(UNSIGNED.iter().copied()).collect();
    let deep = [("kernel", "(3, 3)"), ("num_filter", "8"), ("num_group", "8"), BARE].into_iter();
    let deep: Vec<_> = deep.chain(SIGNED.iter().copied()).collect();
    let empty = with_sum(inputs(&[0, 3, 7, 9], u8, weight, None, false), 2, &[0, 4, 7, 9], i8);
    vec![
        of("signed", SIGNED, &[], inputs(data, u8, weight, Some(i8), false)),
        of("signed_data", SIGNED, &[], inputs(data, i8, weight, Some(i8), true)),
        of("unsigned", UNSIGNED, &[], inputs(data, u8, weight, Some(i8), true)),
        of("relu", SIGNED, &[RELU], inputs(data, u8, weight, Some(real), true)),
        of("real", REAL, &[], inputs(data, u8, weight, Some(real), false)),
        of("real_relu", REAL, &[RELU], inputs(data, i8, weight, Some(i8), true)),
        of("without_bias", UNSIGNED, &[BARE], inputs(data, u8, weight, None, true)),
        of("sum", SIGNED, &[SUM], with_sum(inputs(data, u8, weight, Some(i8), true), 3, out, i8)),
        of("sum_relu", SIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(real), true), 3, out, i8)),
        of("unsigned_sum", SIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(real), true), 3, out, u8)),
        of("all_unsigned", UNSIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(i8), true), 3, out, u8)),
        of("real_sum", REAL, &[SUM], with_sum(inputs(data, i8, weight, Some(i8), true), 3, out, i8)),
        of("sum_of_reals", REAL, &[REAL_SUM], with_real_sum(inputs(data, u8, weight, Some(real), true), 3, out)),
        of(
            "sum_of_reals_relu",
            REAL,
            &[REAL_SUM, RELU, BARE],
            with_real_sum(inputs(data, i8, weight, None, false), 2, out),
        ),
        sample("one_by_one_and_reals", &plain, with_real_sum(plain_inputs, 3, &[2, 32, 6, 6])),
        sample("one_by_one", &wide, wide_inputs),
        sample("groups", &groups, inputs(&[1, 6, 5, 5], u8, &[6, 2, 3, 3], Some(i8), true)),
        sample("depthwise", &deep, inputs(&[1, 8, 6, 6], u8, &[8, 1, 3, 3], None, true)),
        of("no_images", SIGNED, &[BARE, SUM], empty),
    ]
}

/// Samples of the fully-connected layer.
pub(crate) fn samples_of_fully_connected() -> Vec<Sample> {
    let inputs = quantized_conv::inputs;
    let (i8, u8, real) = (DType::I8, DType::U8, DType::F32);
    let of = |name, out: &[(&str, &str)], more: &[(&str, &str)], inputs: Vec<SampleInput>| {
        let attrs: Vec<(&str, &str)> = [("num_hidden", "5")].iter().chain(out).chain(more).copied().collect();
        sample(name, &attrs, inputs)
    };
    let not_flat = ("flatten", "False");
    vec![
        of("signed", SIGNED, &[], inputs(&[3, 7], u8, &[5, 7], Some(i8), true)),
        of("signed_data", UNSIGNED, &[], inputs(&[3, 7], i8, &[5, 7], Some(i8), false)),
        of("real", REAL, &[], inputs(&[2, 3, 4, 5], u8, &[5, 60], Some(real), true)),
        of("relu", SIGNED, &[RELU, BARE], inputs(&[3, 7], u8, &[5, 7], None, true)),
        of("sum_relu", SIGNED, &[SUM, RELU], with_sum(inputs(&[3, 7], u8, &[5, 7], Some(i8), true), 3, &[3, 5], i8)),
        of("sum_of_reals", REAL, &[REAL_SUM], with_real_sum(inputs(&[3, 7], u8, &[5, 7], Some(i8), true), 3, &[3, 5])),
        of("last_axis", SIGNED, &[not_flat], inputs(&[2, 4, 6], i8, &[5, 6], Some(i8), false)),
        of("no_rows", SIGNED, &[], inputs(&[0, 4], u8, &[5, 4], Some(i8), false)),
    ]
}
