//! Tests that chains of quantized calls become one call each. The results may differ from those of the chain by one
//! quantum, the distance between two neighboring 8-bit values.

use super::nets::Net;
use super::{common, fused, ops, partitioning};
use crate::common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor};
use mxrs_graph::Graph;
use mxrs_ops::Fusions;
use mxrs_types::{DType, Shape};
use proptest::prelude::*;

/// A network of quantized layers under construction. The outputs of each call are a tensor and its range.
struct Quantized(Net);

impl Quantized {
    /// A network that quantizes `x`, and the name of the result.
    fn new() -> (Self, String) {
        let mut net = Net::new();
        let x = net.call("_contrib_quantize_v2", "q", &["x"], &[("min_calib_range", "-3"), ("max_calib_range", "3")]);
        (Self(net), x)
    }

    /// Calls an operator with quantized tensors. Its other inputs become variables.
    fn call(&mut self, op: &str, name: &str, data: &[&str], attrs: &[(&str, &str)]) -> String {
        self.0.call_quantized(op, name, data, attrs)
    }

    fn conv(&mut self, name: &str, data: &str) -> String {
        let attrs = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
        self.call("_contrib_quantized_conv", name, &[data], &attrs)
    }

    /// A convolution without a bias. Single calls would round a bias to a multiple of the quantum of the sums.
    fn bare_conv(&mut self, name: &str, data: &str) -> String {
        let attrs = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)"), ("no_bias", "True")];
        self.call("_contrib_quantized_conv", name, &[data], &attrs)
    }

    fn requantize(&mut self, name: &str, data: &str, is_unsigned: bool) -> String {
        let attrs = match is_unsigned {
            true => [("min_calib_range", "0"), ("max_calib_range", REACH), ("out_type", "uint8")],
            false => [("min_calib_range", LOW), ("max_calib_range", REACH), ("out_type", "int8")],
        };
        self.call("_contrib_requantize", name, &[data], &attrs)
    }

    fn add(&mut self, name: &str, a: &str, b: &str) -> String {
        let attrs = [("min_calib_range", LOW), ("max_calib_range", REACH)];
        self.call("_contrib_quantized_elemwise_add", name, &[a, b], &attrs)
    }

    fn relu(&mut self, name: &str, data: &str) -> String {
        self.call("_contrib_quantized_act", name, &[data], &[("act_type", "relu")])
    }

    fn real(&mut self, name: &str, data: &str) -> String {
        self.call("_contrib_dequantize", name, &[data], &[])
    }
}

/// Upper end of the ranges. It is so large that no value saturates. Single calls would saturate at more places than a fused
/// call, and then results would differ by more than roundings.
const REACH: &str = "40";
const LOW: &str = "-40";
/// One quantum, the distance between two neighboring values of a signed 8-bit tensor whose range is `LOW` to `REACH`.
const QUANTUM: f64 = 40.0 / 127.5;

/// Fills weights and their ranges. The ranges have width 1, so that results stay within [`REACH`].
fn fill(executor: &Executor, salt: u64) {
    for (name, array) in executor.arrays() {
        let n = array.shape().n_elements();
        let seed = name.bytes().fold(salt, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let values = common::numbers(n, seed);
        match array.dtype() {
            DType::I8 => array.copy_from(&values.iter().map(|v| (v * 30.0) as i8).collect::<Vec<i8>>()),
            _ if name.contains("min_") => array.copy_from(&vec![-0.5f32; n]),
            _ if name.contains("max_") => array.copy_from(&vec![0.5f32; n]),
            _ => array.copy_from(&values.iter().map(|v| *v as f32).collect::<Vec<f32>>()),
        }
        .expect("values of the array's size");
    }
}

fn run(graph: &Graph, options: &BindOptions) -> (Executor, Vec<f32>) {
    let context = context(EngineKind::Naive, 1);
    let shapes = [("x", Shape::from(super::nets::SHAPE))];
    let executor = Executor::simple_bind(graph, &context, &shapes, options).expect("the graph binds");
    fill(&executor, 7);
    executor.forward().expect("a run");
    let out = executor.outputs()[0].to_vec::<f32>().expect("real numbers");
    (executor, out)
}

/// The operators of the partitioned graph. Asserts that its outputs differ from those of the single calls by at most
/// `quanta` quanta.
fn ops_after(graph: &Graph, fusions: &Fusions, quanta: f64) -> Vec<String> {
    let (_, expected) = run(graph, &options());
    let (executor, got) = run(graph, &partitioning(fusions));
    for (got, expected) in got.iter().zip(&expected) {
        let difference = f64::from((got - expected).abs());
        assert!(difference <= quanta * QUANTUM * 1.001, "{got} and {expected}: {:?}", fused(&executor));
    }
    assert!(expected.iter().any(|x| f64::from(x.abs()) > QUANTUM), "the numbers say nothing");
    ops(&executor)
}

/// A residual unit: two convolutions, the sum with their input, relu.
fn residual_unit(is_unsigned: bool) -> Graph {
    let (mut net, x) = Quantized::new();
    let a = net.conv("a", &x);
    let a = net.requantize("ra", &a, is_unsigned);
    let a = if is_unsigned { a } else { net.relu("relu_a", &a) };
    let b = net.conv("b", &a);
    let b = net.requantize("rb", &b, false);
    let sum = net.add("sum", &b, &x);
    let sum = net.relu("relu", &sum);
    let end = net.real("end", &sum);
    net.0.graph(&[&end])
}

#[test]
fn a_residual_unit_is_two_calls_of_8_bits() {
    for is_unsigned in [false, true] {
        let graph = residual_unit(is_unsigned);
        let all = Fusions::default();
        let expected = ["_contrib_quantize_v2", "_sg_quantized_conv", "_sg_quantized_conv"];
        // With all fusions, the last call returns float32 numbers. Without the fusion `dequantize`, it returns 8-bit
        // numbers, and a separate call dequantizes them.
        assert_eq!(ops_after(&graph, &all, 2.0), expected);
        let kept = ops_after(&graph, &Fusions { dequantize: false, ..all }, 2.0);
        assert_eq!(kept, [&expected[..], &["_contrib_dequantize"]].concat());
        let none = Fusions { requantize: false, dequantize: false, ..all };
        let single = ops_after(&graph, &none, 0.0);
        assert_eq!(single.len(), if is_unsigned { 8 } else { 9 }, "{single:?}");
    }
}

#[test]
fn g21_a_sum_that_is_requantized_is_made_by_the_product() {
    for is_unsigned in [false, true] {
        let (mut net, x) = Quantized::new();
        let a = net.bare_conv("a", &x);
        let a = net.requantize("ra", &a, false);
        // The sum has 32 bits and a range that holds both terms.
        let sum = net.call("_contrib_quantized_elemwise_add", "sum", &[&x, &a], &[]);
        let sum = net.requantize("rs", &sum, is_unsigned);
        let b = net.bare_conv("b", &sum);
        let b = net.requantize("rb", &b, false);
        // The requantized sum is read twice.
        let end = match is_unsigned {
            true => net.real("end", &b),
            false => {
                let last = net.call("_contrib_quantized_elemwise_add", "last", &[&b, &sum], &[]);
                let last = net.requantize("rl", &last, false);
                net.real("end", &last)
            }
        };
        let graph = net.0.graph(&[&end]);
        let all = Fusions::default();
        // The tolerance covers the rounding errors of the terms and of the sum, which the second convolution amplifies.
        let got = ops_after(&graph, &Fusions { dequantize: false, ..all }, 8.0);
        let expected = ["_contrib_quantize_v2", "_sg_quantized_conv", "_sg_quantized_conv", "_contrib_dequantize"];
        assert_eq!(got, expected, "unsigned: {is_unsigned}");
    }
    // Without requantization the sum stays a separate call.
    let (mut net, x) = Quantized::new();
    let a = net.bare_conv("a", &x);
    let a = net.requantize("ra", &a, false);
    let sum = net.call("_contrib_quantized_elemwise_add", "sum", &[&x, &a], &[]);
    let end = net.real("end", &sum);
    let kept = ops_after(&net.0.graph(&[&end]), &Fusions { dequantize: false, ..Fusions::default() }, 1.0);
    assert_eq!(kept[1..3], ["_sg_quantized_conv", "_contrib_quantized_elemwise_add"]);
}

#[test]
fn sums_of_32_bits_become_real_numbers_at_once() {
    let (mut net, x) = Quantized::new();
    let fc = net.call("_contrib_quantized_fully_connected", "fc", &[&x], &[("num_hidden", "6")]);
    let end = net.real("end", &fc);
    let graph = net.0.graph(&[&end]);
    let expected = ["_contrib_quantize_v2", "_sg_quantized_fully_connected"];
    assert_eq!(ops_after(&graph, &Fusions::default(), 1.0), expected);
}

/// A convolution whose dequantized result is added to `other`, followed by relu if `with_relu`.
fn real_unit(other: &str, is_requantized: bool, with_relu: bool) -> Graph {
    let (mut net, x) = Quantized::new();
    let a = net.bare_conv("a", &x);
    let a = if is_requantized { net.requantize("ra", &a, false) } else { a };
    let a = net.real("end", &a);
    let sum = net.0.call("elemwise_add", "sum", &[other, &a], &[]);
    let last = if with_relu { net.0.call("relu", "relu", &[&sum], &[]) } else { sum };
    net.0.graph(&[&last])
}

#[test]
fn g21_a_sum_of_real_numbers_is_made_by_the_product() {
    for (is_requantized, with_relu) in [(false, false), (false, true), (true, false), (true, true)] {
        let graph = real_unit("x", is_requantized, with_relu);
        let all = Fusions::default();
        // Without requantization, neither graph rounds results to multiples of a quantum.
        let quanta = if is_requantized { 1.0 } else { 1e-5 };
        assert_eq!(ops_after(&graph, &all, quanta), ["_contrib_quantize_v2", "_sg_quantized_conv"]);
        let kept = ops_after(&graph, &Fusions { dequantize: false, ..all }, quanta);
        let relu: &[&str] = if with_relu { &["relu"] } else { &[] };
        let product = if is_requantized { "_sg_quantized_conv" } else { "_contrib_quantized_conv" };
        let behind = ["_contrib_quantize_v2", product, "_contrib_dequantize", "elemwise_add"];
        assert_eq!(kept, [&behind[..], relu].concat());
    }
    // In a sum of two convolutions, the convolution that runs later adds the result of the earlier one.
    let (mut net, x) = Quantized::new();
    let [a, b] = ["a", "b"].map(|name| {
        let made = net.bare_conv(name, &x);
        net.real(&format!("real_{name}"), &made)
    });
    let sum = net.0.call("elemwise_add", "sum", &[&a, &b], &[]);
    let graph = net.0.graph(&[&sum]);
    let expected = ["_contrib_quantize_v2", "_sg_quantized_conv", "_sg_quantized_conv"];
    assert_eq!(ops_after(&graph, &Fusions::default(), 1e-5), expected);
}

#[test]
fn relu_of_real_numbers_ends_a_product() {
    let (mut net, x) = Quantized::new();
    let a = net.bare_conv("a", &x);
    let a = net.real("end", &a);
    let relu = net.0.call("Activation", "relu", &[&a], &[("act_type", "relu")]);
    let graph = net.0.graph(&[&relu]);
    assert_eq!(ops_after(&graph, &Fusions::default(), 1e-5), ["_contrib_quantize_v2", "_sg_quantized_conv"]);
    // Only relu is fused with the convolution; another activation stays a separate call.
    let (mut net, x) = Quantized::new();
    let a = net.bare_conv("a", &x);
    let a = net.real("end", &a);
    let tanh = net.0.call("Activation", "tanh", &[&a], &[("act_type", "tanh")]);
    let graph = net.0.graph(&[&tanh]);
    assert_eq!(
        ops_after(&graph, &Fusions::default(), 1e-5),
        ["_contrib_quantize_v2", "_sg_quantized_conv", "Activation"]
    );
}

#[test]
fn what_is_cut_off_below_0_stays_so_in_real_numbers() {
    // Requantizing to an unsigned type acts as relu. The sum comes after it, so the sum stays a separate call.
    let (mut net, x) = Quantized::new();
    let a = net.conv("a", &x);
    let a = net.requantize("ra", &a, true);
    let a = net.real("end", &a);
    let sum = net.0.call("elemwise_add", "sum", &[&a, "x"], &[]);
    let graph = net.0.graph(&[&sum]);
    let expected = ["_contrib_quantize_v2", "_sg_quantized_conv", "elemwise_add"];
    assert_eq!(ops_after(&graph, &Fusions::default(), 1.0), expected);
    // With a signed type and an explicit relu, the sum stays a separate call too.
    let (mut net, x) = Quantized::new();
    let a = net.conv("a", &x);
    let a = net.requantize("ra", &a, false);
    let a = net.relu("relu", &a);
    let a = net.real("end", &a);
    let sum = net.0.call("elemwise_add", "sum", &[&a, "x"], &[]);
    let graph = net.0.graph(&[&sum]);
    assert_eq!(ops_after(&graph, &Fusions::default(), 1.0), expected);
}

#[test]
fn what_ends_a_quantized_chain() {
    // An unsigned result has lost the negative numbers that the sum needs, so the sum is not fused.
    let (mut net, x) = Quantized::new();
    let a = net.conv("a", &x);
    let a = net.requantize("ra", &a, true);
    let sum = net.add("sum", &a, &x);
    let end = net.real("end", &sum);
    let graph = net.0.graph(&[&end]);
    let expected =
        ["_contrib_quantize_v2", "_sg_quantized_conv", "_contrib_quantized_elemwise_add", "_contrib_dequantize"];
    assert_eq!(ops_after(&graph, &Fusions::default(), 1.0), expected);
    // The chain ends at a result that is read twice.
    let (mut net, x) = Quantized::new();
    let a = net.conv("a", &x);
    let a = net.requantize("ra", &a, false);
    let r = net.relu("r", &a);
    let sum = net.add("sum", &r, &a);
    let end = net.real("end", &sum);
    let graph = net.0.graph(&[&end]);
    assert_eq!(ops_after(&graph, &Fusions::default(), 1.0)[1], "_sg_quantized_conv");
}

#[test]
fn a_range_from_elsewhere_ends_a_chain() {
    let mut net = Net::new();
    let (q, own) = (&[("min_calib_range", "-3"), ("max_calib_range", "3")], ["low", "high"]);
    let x = net.call("_contrib_quantize_v2", "q", &["x"], q);
    let conv = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)"), ("no_bias", "True")];
    let a = net.call_quantized("_contrib_quantized_conv", "a", &[&x], &conv);
    let calibrated = [("min_calib_range", LOW), ("max_calib_range", REACH)];
    let r = net.call("_contrib_requantize", "r", &[&format!("{a}#0"), own[0], own[1]], &calibrated);
    let end = net.call_quantized("_contrib_dequantize", "end", &[&r], &[]);
    let executor = run(&net.graph(&[&end]), &partitioning(&Fusions::default())).0;
    assert!(fused(&executor).is_empty(), "{:?}", ops(&executor));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn g21_random_quantized_networks_stay_within_quanta(choices in prop::collection::vec(any::<(u8, u8)>(), 1..5)) {
        let (mut net, x) = Quantized::new();
        let mut made = vec![x];
        let mut n_convs = 0;
        for (i, (kind, other)) in choices.iter().enumerate() {
            let last = made[made.len() - 1].clone();
            let other = made[usize::from(*other) % made.len()].clone();
            let name = format!("n{i}");
            let next = match kind % 3 {
                0 if last != other => net.add(&name, &last, &other),
                1 => net.relu(&name, &last),
                _ => {
                    n_convs += 1;
                    let conv = net.conv(&format!("{name}c"), &last);
                    net.requantize(&name, &conv, kind % 2 == 0)
                }
            };
            made.push(next);
        }
        let end = net.real("end", &made[made.len() - 1].clone());
        let graph = net.0.graph(&[&end]);
        // Each convolution adds an error of one quantum, which later convolutions amplify.
        let quanta = f64::from(1 << (2 * n_convs + 1));
        let (_, expected) = run(&graph, &options());
        let (_, got) = run(&graph, &partitioning(&Fusions::default()));
        for (got, expected) in got.iter().zip(&expected) {
            prop_assert!(f64::from((got - expected).abs()) <= quanta * QUANTUM, "{} and {}", got, expected);
        }
    }
}
