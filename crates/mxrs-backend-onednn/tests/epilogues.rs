//! Tests products fused with a sum and a function, in more cases than the samples of the operators: other windows,
//! other element types, and numbers that are not finite.

use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
use mxrs_op::{Attrs, Backend, OpSet, Sample};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::{Prepared, Runner, run_once, team};
use mxrs_types::DType;
use std::sync::Arc;

/// Functions that add no more rounding error than the product itself, and that return NaN for NaN.
const FUNCTIONS: [&str; 7] = ["none", "relu", "sigmoid", "tanh", "square", "sqrt", "abs"];
const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

fn backend(team: &Arc<Team>) -> Arc<OneDnn> {
    OneDnn::new(OneDnnConfig { team: team.clone(), cache_entries: None, row_major_weights: false })
        .expect("oneDNN is built in")
}

/// A sample of a convolution that adds the tensor of the last shape in `shapes`, then applies relu.
fn conv(name: &'static str, attrs: &[(&'static str, &'static str)], shapes: &[&[usize]]) -> Sample {
    let all: Vec<_> = attrs.iter().copied().chain([("with_sum", "True"), ("act", "relu")]).collect();
    let none: [(&str, &str); 0] = [];
    Sample { attrs: all.into_iter().collect(), ..Sample::new(name, none, shapes) }
}

fn windows() -> Vec<Sample> {
    vec![
        conv(
            "one axis, strided",
            &[("kernel", "(3,)"), ("stride", "(2,)"), ("num_filter", "8")],
            &[&[2, 5, 11], &[8, 5, 3], &[8], &[2, 8, 5]],
        ),
        conv(
            "dilated",
            &[("kernel", "(3, 3)"), ("dilate", "(2, 2)"), ("num_filter", "16"), ("no_bias", "True")],
            &[&[1, 16, 9, 8], &[16, 16, 3, 3], &[1, 16, 5, 4]],
        ),
        conv(
            "a filter per channel",
            &[("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "24"), ("num_group", "24")],
            &[&[2, 24, 7, 6], &[24, 1, 3, 3], &[24], &[2, 24, 7, 6]],
        ),
        conv(
            "groups",
            &[("kernel", "(3, 3)"), ("num_filter", "32"), ("num_group", "2")],
            &[&[1, 16, 7, 7], &[32, 8, 3, 3], &[32], &[1, 32, 5, 5]],
        ),
        conv(
            "three axes",
            &[("kernel", "(2, 3, 3)"), ("num_filter", "16"), ("no_bias", "True")],
            &[&[1, 16, 4, 5, 5], &[16, 16, 2, 3, 3], &[1, 16, 3, 3, 3]],
        ),
        conv(
            "as large as its bias",
            &[("kernel", "(1, 1)"), ("num_filter", "32")],
            &[&[1, 16, 1, 1], &[32, 16, 1, 1], &[32], &[1, 32, 1, 1]],
        ),
    ]
}

#[test]
fn every_window_with_a_sum_and_relu_agrees_with_the_reference() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("_sg_conv").expect("it is in the catalog");
    for threads in [1, 2] {
        let team = team(threads);
        let backend = backend(&team);
        for (sample, dtype) in windows().iter().flat_map(|s| FLOATS.map(|dtype| (s, dtype))) {
            let prepared = Prepared::new(op, sample, dtype).expect("the sample is right");
            for is_parameter in [false, true] {
                let is_constant: Vec<bool> = (0..prepared.inputs.len())
                    .map(|i| is_parameter && i > 0 && i + 1 < prepared.inputs.len())
                    .collect();
                let call = prepared.call(op, &is_constant);
                if let Err(reason) = backend.offer(&call) {
                    assert_ne!(dtype, DType::F32, "{}: {reason}", sample.name);
                    continue;
                }
                let planned = backend.plan(&call).expect("it supports the call");
                assert!(planned.can_run_inplace && planned.input_layouts.last() == planned.output_layouts.first());
                Runner::new(&*backend, op, &prepared, &is_constant, &team)
                    .and_then(|runner| runner.check_all(&team))
                    .unwrap_or_else(|e| panic!("{} {dtype}: {e}", sample.name));
            }
        }
    }
}

/// Attributes of the fused product `name`, and the shapes of its data, weight and bias.
fn small(name: &str) -> (Attrs, [&'static [usize]; 3]) {
    match name {
        "_sg_conv" => {
            (Attrs::from([("kernel", "(1, 1)"), ("num_filter", "16")]), [&[1, 16, 1, 1], &[16, 16, 1, 1], &[16]])
        }
        _ => (Attrs::from([("num_hidden", "16")]), [&[1, 16], &[16, 16], &[16]]),
    }
}

fn with_function(ops: &OpSet, name: &str, function: &str, dtype: DType) -> Prepared {
    let (mut attrs, shapes) = small(name);
    attrs.set("act", function);
    let none: [(&str, &str); 0] = [];
    let sample = Sample { attrs, ..Sample::new("small", none, &shapes) };
    Prepared::new(ops.get(name).expect("it is in the catalog"), &sample, dtype).expect("the sample is right")
}

#[test]
fn a_function_is_taken_with_every_type_that_the_product_is_taken_with() {
    let backend = backend(&Team::serial());
    let ops = mxrs_ops::catalog();
    for (name, plain) in [("_sg_conv", "Convolution"), ("_sg_fully_connected", "FullyConnected")] {
        let (op, plain) = [name, plain].map(|n| ops.get(n).expect("it is in the catalog")).into();
        for dtype in FLOATS {
            for function in FUNCTIONS {
                let fused = with_function(&ops, name, function, dtype);
                let is_constant = [false; 3];
                let params = plain.parse(&small(name).0).expect("the attributes are right");
                let product = mxrs_op::OpCall { op: plain, params: &params, ..fused.call(op, &is_constant) };
                assert_eq!(
                    backend.offer(&fused.call(op, &is_constant)).is_ok(),
                    backend.offer(&product).is_ok(),
                    "{name} {function} {dtype}"
                );
            }
        }
        for function in ["softrelu", "clip", "exp"] {
            let fused = with_function(&ops, name, function, DType::F32);
            assert!(backend.offer(&fused.call(op, &[false; 3])).is_err(), "{name} {function}");
        }
    }
}

/// The values to which the epilogue is applied, one per channel. They are the bias, because all data are zero.
const SPECIAL: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 2.0, -3e38, 3e38];

/// Functions and arguments for which oneDNN returns NaN and the reference does not: oneDNN's relu multiplies by a
/// clamped number, and -∞ · 0 is NaN. See `src/epilogue.rs`.
const KNOWN_NAN: [(&str, f64); 1] = [("relu", f64::NEG_INFINITY)];

#[test]
fn what_is_not_finite_stays_so() {
    let backend = backend(&Team::serial());
    let ops = mxrs_ops::catalog();
    let calls = ["_sg_conv", "_sg_fully_connected"].iter().flat_map(|n| FUNCTIONS.map(|f| (*n, f)));
    for (name, function, dtype) in calls.flat_map(|(n, f)| [DType::F32, DType::BF16].map(|dtype| (n, f, dtype))) {
        let op = ops.get(name).expect("it is in the catalog");
        let mut prepared = with_function(&ops, name, function, dtype);
        if let Err(reason) = backend.offer(&prepared.call(op, &[false; 3])) {
            assert_ne!(dtype, DType::F32, "{name} {function}: {reason}");
            continue;
        }
        prepared.data[0] = AlignedBuffer::zeroed(prepared.inputs[0].size_bytes());
        let mut bias = vec![0.0; 16];
        bias[..SPECIAL.len()].copy_from_slice(&SPECIAL);
        prepared.data[2] = AlignedBuffer::from_f64(&bias, dtype);
        let bias = prepared.data[2].to_f64(dtype);
        let planned = backend.plan(&prepared.call(op, &[false; 3])).expect("it supports the call");
        // Data and weights may have any layout, because their elements, all 0, are zero bytes in every layout.
        let bytes = |i: usize| prepared.inputs[i].with_layout(planned.input_layouts[i].clone()).size_bytes();
        let (data, weights) = (AlignedBuffer::zeroed(bytes(0)), AlignedBuffer::zeroed(bytes(1)));
        let out = prepared.outputs[0].with_layout(planned.output_layouts[0].clone());
        let inputs = [&data, &weights, &prepared.data[2]];
        let output = run_once(&*planned.kernel, &inputs, out.size_bytes(), planned.scratch_bytes, &Team::serial())
            .unwrap_or_else(|e| panic!("{name} {function}: {e}"));
        // There is one number per channel, so every layout is row-major.
        assert!(out.layout.is_row_major(), "{name} {function}: {out}");
        let values = output.to_f64(dtype);
        // The tolerance for bf16 is half a unit in the last place.
        let tolerance = if dtype == DType::F32 { 1e-6 } else { 0.5f64.powi(9) };
        let expected: fn(f64) -> f64 = match function {
            "relu" => |x| if x < 0.0 { 0.0 } else { x },
            "sigmoid" => |x| 1.0 / (1.0 + (-x).exp()),
            "tanh" => f64::tanh,
            "square" => |x| x * x,
            "sqrt" => f64::sqrt,
            "abs" => f64::abs,
            _ => |x| x,
        };
        for (channel, x) in SPECIAL.into_iter().enumerate() {
            // The bias was rounded to `dtype`. A result too large for f32 is infinite.
            let (y, right) = (values[channel], f64::from(expected(bias[channel]) as f32));
            let is_right =
                (y - right).abs() < tolerance * right.abs().max(1.0) || y == right || y.is_nan() && right.is_nan();
            if KNOWN_NAN.contains(&(function, x)) {
                assert!(y.is_nan(), "{name} {dtype} {function}({x}) is {y}: right or wrong, it is known as NaN");
            } else {
                assert!(is_right, "{name} {dtype} {function}({x}) is {y}");
            }
        }
    }
}
