//! Tests that sigmoid and its piecewise linear form, alone and as a factor of their own argument, become parts of
//! convolutions, and that a depthwise convolution is fused with the convolution before it.

use super::nets::Net;
use super::{F64, fused, ops, same_values};
use mxrs_ops::Fusions;
use mxrs_testkit::Tolerance;
use mxrs_types::DType;

/// Calls of operators on `x`, one after another; each has at most one attribute.
type Calls = &'static [(&'static str, &'static str, &'static str)];

const SIGMOID: Calls = &[("sigmoid", "", "")];
const ACTIVATION: Calls = &[("Activation", "act_type", "sigmoid")];
const SCALED: Calls = &[("_mul_scalar", "scalar", "0.25"), ("_plus_scalar", "scalar", "0.4"), CLIP_1];
const SIX: Calls = &[("_plus_scalar", "scalar", "3"), CLIP_6, ("_div_scalar", "scalar", "6")];
const SIXTH: Calls = &[("_plus_scalar", "scalar", "3"), CLIP_6, ("_mul_scalar", "scalar", "0.16666667")];
const CLIP_1: (&str, &str, &str) = ("clip", "a_max", "1");
const CLIP_6: (&str, &str, &str) = ("clip", "a_max", "6");

fn calls(net: &mut Net, name: &str, x: &str, calls: Calls) -> String {
    calls.iter().enumerate().fold(x.to_owned(), |x, (i, (op, key, value))| {
        let attrs = [(*key, *value), ("a_min", "0")];
        let attrs = match *op {
            "sigmoid" => &attrs[..0],
            "clip" => &attrs[..],
            _ => &attrs[..1],
        };
        net.call(op, &format!("{name}{i}"), &[&x], attrs)
    })
}

#[test]
fn g21_a_sigmoid_of_either_form_is_a_part_of_the_convolution() {
    // A sixth is rounded to 8 digits, so the upper bound of that function is not exactly 1.
    let rounded = Tolerance { rtol: 1e-7, atol: 1e-7 };
    for (function, alone, gate, tolerance) in [
        (SIGMOID, "sigmoid", "silu", F64),
        (ACTIVATION, "sigmoid", "silu", F64),
        (SCALED, "hard_sigmoid", "hard_swish", F64),
        (SIX, "hard_sigmoid", "hard_swish", F64),
        (SIXTH, "hard_sigmoid", "hard_swish", rounded),
    ] {
        let mut net = Net::new();
        let conv = net.conv("conv", "x", &[]);
        let end = calls(&mut net, "f", &conv, function);
        let parts = same_values(&net.graph(&[&end]), &Fusions::default(), DType::F64, tolerance);
        assert_eq!(ops(&parts), ["_sg_conv"], "{alone}");
        for (first, second) in [("n", "f"), ("f", "n")] {
            let mut net = Net::new();
            let conv = net.conv("conv", "x", &[("no_bias", "True")]);
            let bn = net.call("BatchNorm", "n", &[&conv], &[("fix_gamma", "False")]);
            let f = calls(&mut net, "f", &bn, function);
            let of = |name: &str| if name == "n" { bn.clone() } else { f.clone() };
            let end = net.call("elemwise_mul", "end", &[&of(first), &of(second)], &[]);
            let parts = same_values(&net.graph(&[&end]), &Fusions::default(), DType::F64, tolerance);
            assert_eq!(ops(&parts), ["_sg_conv"], "{gate}");
            let members = 3 + function.len();
            assert_eq!(fused(&parts).iter().map(|f| f.replaced.len()).collect::<Vec<_>>(), [members], "{gate}");
        }
    }
}

#[test]
fn g21_what_is_not_a_sigmoid_stays_as_it_is() {
    // The upper bound is not 1 after the calls with scalars, so the clip is not a sigmoid.
    const NOT_ONE: Calls = &[("_plus_scalar", "scalar", "3"), CLIP_6];
    const NO_CLIP: Calls = &[("_mul_scalar", "scalar", "2"), ("_plus_scalar", "scalar", "1")];
    for function in [NOT_ONE, NO_CLIP] {
        let mut net = Net::new();
        let conv = net.conv("conv", "x", &[]);
        let f = calls(&mut net, "f", &conv, function);
        let end = net.call("elemwise_mul", "end", &[&conv, &f], &[]);
        let parts = same_values(&net.graph(&[&end]), &Fusions::default(), DType::F64, F64);
        assert!(ops(&parts).contains(&"Convolution".to_owned()), "{:?}", ops(&parts));
    }
}

#[test]
fn g21_a_value_that_another_call_reads_is_not_removed() {
    for heads in [["silu", "conv"], ["silu", "f"]] {
        let mut net = Net::new();
        let conv = net.conv("conv", "x", &[]);
        let f = net.call("sigmoid", "f", &[&conv], &[]);
        net.call("elemwise_mul", "silu", &[&conv, &f], &[]);
        let parts = same_values(&net.graph(&heads), &Fusions::default(), DType::F64, F64);
        assert_eq!(fused(&parts).len(), 0);
    }
}

#[test]
fn g21_a_depthwise_convolution_joins_the_convolution_before_it() {
    let depthwise =
        [("num_filter", "6"), ("num_group", "6"), ("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("stride", "(2, 2)")];
    let pointwise = [("kernel", "(1, 1)"), ("num_filter", "6")];
    for has_norms in [false, true] {
        let mut net = Net::new();
        let norm = |net: &mut Net, name: &str, x: String| match has_norms {
            true => net.call("BatchNorm", name, &[&x], &[("fix_gamma", "False")]),
            false => x,
        };
        let a = net.call("Convolution", "a", &["x"], &pointwise);
        let a = norm(&mut net, "bn_a", a);
        let f = net.call("sigmoid", "f", &[&a], &[]);
        let a = net.call("elemwise_mul", "silu", &[&a, &f], &[]);
        let b = net.call("Convolution", "b", &[&a], &depthwise);
        let b = norm(&mut net, "bn_b", b);
        let b = net.call("clip", "relu6", &[&b], &[("a_min", "0"), ("a_max", "6")]);
        let parts = same_values(&net.graph(&[&b]), &Fusions::default(), DType::F64, F64);
        assert_eq!(ops(&parts), ["_sg_conv_depthwise"], "{has_norms}");
        assert_eq!(fused(&parts)[0].replaced.len(), if has_norms { 7 } else { 5 }, "{:?}", fused(&parts));
    }
}

#[test]
fn g21_other_pairs_of_convolutions_stay_two() {
    let grouped = [("num_filter", "4"), ("num_group", "2")];
    for second in [&grouped[..], &[("num_filter", "8"), ("num_group", "4")]] {
        let mut net = Net::new();
        let a = net.conv("a", "x", &[]);
        let a = net.call("relu", "relu", &[&a], &[]);
        let b = net.conv("b", &a, second);
        let b = net.call("relu", "end", &[&b], &[]);
        let parts = same_values(&net.graph(&[&b]), &Fusions::default(), DType::F64, F64);
        assert_eq!(ops(&parts), ["_sg_conv", "_sg_conv"]);
    }
}
