//! Tests that batch normalization, relu and quantization become one call.

use super::nets::Net;
use super::{fill, fused, ops, partitioning};
use crate::common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor};
use mxrs_graph::Graph;
use mxrs_ops::Fusions;
use mxrs_types::Shape;

const UNSIGNED: &[(&str, &str)] = &[("out_type", "uint8"), ("min_calib_range", "0"), ("max_calib_range", "2")];
const SIGNED: &[(&str, &str)] = &[("out_type", "int8"), ("min_calib_range", "-1"), ("max_calib_range", "2")];
const AUTO: &[(&str, &str)] = &[("out_type", "auto"), ("min_calib_range", "0"), ("max_calib_range", "2")];
const WHOLE: [&str; 3] = ["_sg_bn_relu", "_contrib_quantize_v2", "_contrib_dequantize"];
const FUSED: [&str; 2] = ["_sg_bn_relu_quantize", "_contrib_dequantize"];

/// A network that normalizes `x`, followed by relu if `with_relu`.
fn normalized(with_relu: bool) -> (Net, String) {
    let mut net = Net::new();
    let bn = net.call("BatchNorm", "bn", &["x"], &[("fix_gamma", "False")]);
    let last = if with_relu { net.call("relu", "relu", &[&bn], &[]) } else { bn };
    (net, last)
}

/// The graph of [`normalized`], then quantized and dequantized.
fn quantized(attrs: &[(&str, &str)], with_relu: bool) -> Graph {
    let (mut net, last) = normalized(with_relu);
    let q = net.call("_contrib_quantize_v2", "q", &[&last], attrs);
    let end = net.call_quantized("_contrib_dequantize", "end", &[&q], &[]);
    net.graph(&[&end])
}

fn run(graph: &Graph, options: &BindOptions) -> (Executor, Vec<f32>) {
    let context = context(EngineKind::Naive, 1);
    let shapes = [("x", Shape::from(super::nets::SHAPE))];
    let executor = Executor::simple_bind(graph, &context, &shapes, options).expect("the graph binds");
    fill(&executor, 3);
    executor.forward().expect("a run");
    let out = executor.outputs()[0].to_vec::<f32>().expect("real numbers");
    (executor, out)
}

/// The operators of the partitioned graph. Asserts that its outputs differ from those of the single calls by at most
/// `quantum`.
fn ops_after(graph: &Graph, fusions: &Fusions, quantum: f32) -> Vec<String> {
    let (_, expected) = run(graph, &options());
    let (executor, got) = run(graph, &partitioning(fusions));
    assert!(expected.iter().any(|x| *x > 3.0 * quantum), "the numbers say nothing");
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() <= quantum * 1.001, "{got} and {expected}: {:?}", fused(&executor));
    }
    ops(&executor)
}

#[test]
fn g21_normalization_relu_and_quantization_are_one_call() {
    let all = Fusions::default();
    for (attrs, quantum) in [(UNSIGNED, 2.0 / 255.5), (SIGNED, 2.0 / 127.5), (AUTO, 2.0 / 255.5)] {
        let graph = quantized(attrs, true);
        assert_eq!(ops_after(&graph, &all, quantum), FUSED, "{attrs:?}");
        assert_eq!(ops_after(&graph, &Fusions { requantize: false, ..all }, quantum), WHOLE, "{attrs:?}");
        let none = ops_after(&graph, &Fusions { bn_relu: false, ..all }, quantum);
        assert_eq!(none, [&["BatchNorm", "relu"], &WHOLE[1..]].concat(), "{attrs:?}");
    }
}

#[test]
fn what_ends_a_normalization() {
    let all = Fusions::default();
    // Quantization is not fused if its range is not known before the run.
    assert_eq!(ops_after(&quantized(&[("out_type", "int8")], true), &all, 0.1), WHOLE);
    // Nothing is fused if another function is between normalization and quantization.
    let (mut net, bn) = normalized(false);
    let tanh = net.call("tanh", "tanh", &[&bn], &[]);
    let q = net.call("_contrib_quantize_v2", "q", &[&tanh], SIGNED);
    let end = net.call_quantized("_contrib_dequantize", "end", &[&q], &[]);
    let kept = ops_after(&net.graph(&[&end]), &all, 2.0 / 127.5);
    assert_eq!(kept, ["BatchNorm", "tanh", "_contrib_quantize_v2", "_contrib_dequantize"]);
    // Quantization is not fused if a second call reads the result of relu in float32.
    let (mut net, relu) = normalized(true);
    let q = net.call("_contrib_quantize_v2", "q", &[&relu], UNSIGNED);
    let end = net.call_quantized("_contrib_dequantize", "end", &[&q], &[]);
    let sum = net.call("elemwise_add", "sum", &[&end, &relu], &[]);
    let kept = ops_after(&net.graph(&[&sum]), &all, 2.0 / 255.5);
    assert_eq!(kept, [&WHOLE[..], &["elemwise_add"]].concat());
}

#[test]
fn a_quantized_tensor_may_be_read_twice() {
    let (mut net, relu) = normalized(true);
    let q = net.call("_contrib_quantize_v2", "q", &[&relu], UNSIGNED);
    let a = net.call_quantized("_contrib_dequantize", "a", &[&q], &[]);
    let act = net.call_quantized("_contrib_quantized_act", "act", &[&q], &[("act_type", "relu")]);
    let b = net.call_quantized("_contrib_dequantize", "b", &[&act], &[]);
    let sum = net.call("elemwise_add", "sum", &[&a, &b], &[]);
    let ops = ops_after(&net.graph(&[&sum]), &Fusions::default(), 4.0 / 255.5);
    let readers = ["_contrib_dequantize", "_contrib_quantized_act", "_contrib_dequantize", "elemwise_add"];
    assert_eq!(ops, [&FUSED[..1], &readers].concat());
}

#[test]
fn g21_a_bare_normalization_and_quantization_are_one_call() {
    for (attrs, quantum) in [(SIGNED, 2.0 / 127.5), (UNSIGNED, 2.0 / 255.5)] {
        assert_eq!(ops_after(&quantized(attrs, false), &Fusions::default(), quantum), FUSED, "{attrs:?}");
    }
}

/// Integers are dequantized, normalized and quantized again. If `is_read_twice`, a second call reads the dequantized
/// numbers.
fn of_integers(attrs: &[(&str, &str)], with_relu: bool, is_read_twice: bool) -> Graph {
    let mut net = Net::new();
    let x = net.call("_contrib_quantize_v2", "x8", &["x"], &[("min_calib_range", "-1"), ("max_calib_range", "1")]);
    let real = net.call_quantized("_contrib_dequantize", "real", &[&x], &[]);
    let bn = net.call("BatchNorm", "bn", &[&real], &[("fix_gamma", "False")]);
    let last = if with_relu { net.call("relu", "relu", &[&bn], &[]) } else { bn };
    let q = net.call("_contrib_quantize_v2", "q", &[&last], attrs);
    let end = net.call_quantized("_contrib_dequantize", "end", &[&q], &[]);
    let end = if is_read_twice { net.call("elemwise_add", "sum", &[&end, &real], &[]) } else { end };
    net.graph(&[&end])
}

#[test]
fn g21_a_normalization_reads_integers() {
    let all = Fusions::default();
    for (attrs, quantum) in [(UNSIGNED, 2.0 / 255.5), (SIGNED, 2.0 / 127.5)] {
        for with_relu in [false, true] {
            let graph = of_integers(attrs, with_relu, false);
            let expected = ["_contrib_quantize_v2", FUSED[0], FUSED[1]];
            assert_eq!(ops_after(&graph, &all, quantum), expected, "{attrs:?}");
            let apart = ops_after(&graph, &Fusions { requantize: false, ..all }, quantum);
            assert_eq!(apart[..2], ["_contrib_quantize_v2", "_contrib_dequantize"], "{attrs:?}");
        }
    }
    // A second call reads the dequantized numbers.
    let twice = ops_after(&of_integers(UNSIGNED, true, true), &all, 2.0 / 255.5);
    let expected = ["_contrib_quantize_v2", "_contrib_dequantize", FUSED[0], FUSED[1], "elemwise_add"];
    assert_eq!(twice, expected);
    // If no quantization follows, the integers are dequantized by a separate call.
    let mut net = Net::new();
    let x = net.call("_contrib_quantize_v2", "x8", &["x"], &[("min_calib_range", "-1"), ("max_calib_range", "1")]);
    let real = net.call_quantized("_contrib_dequantize", "real", &[&x], &[]);
    let bn = net.call("BatchNorm", "bn", &[&real], &[("fix_gamma", "False")]);
    let relu = net.call("relu", "relu", &[&bn], &[]);
    let kept = ops_after(&net.graph(&[&relu]), &all, 0.01);
    assert_eq!(kept, ["_contrib_quantize_v2", "_contrib_dequantize", "_sg_bn_relu"]);
}
