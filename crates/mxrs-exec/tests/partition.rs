//! Tests partitioned graphs against the original graphs: values, folded constants, and which backend runs each call.

mod common;
#[path = "partition/constants.rs"]
mod constants;
#[path = "partition/gates.rs"]
mod gates;
#[path = "partition/nets.rs"]
mod nets;
#[path = "partition/normalized.rs"]
mod normalized;
#[path = "partition/quantized.rs"]
mod quantized;
#[path = "partition/random.rs"]
mod random;
#[path = "partition/who.rs"]
mod who;

use common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor, FusedReport};
use mxrs_graph::Graph;
use mxrs_ndarray::ArrayContext;
use mxrs_ops::{Fusions, patterns};
use mxrs_testkit::{Tolerance, compare};
use mxrs_types::{DType, Shape};
use nets::Net;
use std::sync::Arc;

/// Options with the patterns of these fusions.
fn partitioning(fusions: &Fusions) -> BindOptions {
    BindOptions { patterns: patterns(fusions).into(), ..options() }
}

fn bind(graph: &Graph, context: &ArrayContext, options: &BindOptions, dtype: DType) -> Executor {
    let options = BindOptions { default_dtype: dtype, ..options.clone() };
    Executor::simple_bind(graph, context, &[("x", Shape::from(nets::SHAPE))], &options).expect("the graph binds")
}

/// Fills every array with numbers derived from its name and `salt`. Variances are positive.
fn fill(executor: &Executor, salt: u64) {
    for (name, array) in executor.arrays() {
        let seed = name.bytes().fold(salt, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut values = common::numbers(array.shape().n_elements(), seed);
        if name.ends_with("moving_var") {
            values.iter_mut().for_each(|v| *v = v.abs() + 0.1);
        }
        match array.dtype() {
            DType::F64 => array.copy_from(&values),
            _ => array.copy_from(&values.iter().map(|v| *v as f32).collect::<Vec<f32>>()),
        }
        .expect("values of the array's size");
    }
}

fn outputs(executor: &Executor) -> Vec<Vec<f64>> {
    executor.forward().expect("a run");
    let values = |array: &mxrs_ndarray::NdArray| match array.dtype() {
        DType::F64 => array.to_vec::<f64>().expect("an output"),
        _ => array.to_vec::<f32>().expect("an output").into_iter().map(f64::from).collect(),
    };
    executor.outputs().iter().map(values).collect()
}

fn fused(executor: &Executor) -> Vec<FusedReport> {
    executor.report().expect("a bound executor").fused
}

/// Operators of the steps that run in every forward run.
fn ops(executor: &Executor) -> Vec<String> {
    let steps = executor.report().expect("a bound executor").steps;
    steps.into_iter().filter(|s| !s.is_prepare && s.kernel != "view").map(|s| s.op).collect()
}

/// Binds the graph with and without partitioning, compares all outputs, and returns the partitioned executor.
fn same_values(graph: &Graph, fusions: &Fusions, dtype: DType, tolerance: Tolerance) -> Executor {
    let context = context(EngineKind::Naive, 1);
    let whole = bind(graph, &context, &options(), dtype);
    let parts = bind(graph, &context, &partitioning(fusions), dtype);
    assert_eq!(whole.output_names(), parts.output_names());
    for salt in [1, 2] {
        fill(&whole, salt);
        fill(&parts, salt);
        for (expected, got) in outputs(&whole).iter().zip(outputs(&parts)) {
            compare(&got, expected, tolerance).unwrap_or_else(|e| panic!("salt {salt}: {e}\n{graph:?}"));
        }
    }
    parts
}

const F64: Tolerance = Tolerance { rtol: 1e-10, atol: 1e-10 };

#[test]
fn g21_a_residual_unit_keeps_its_values_in_float64_and_float32() {
    let graph = Net::residual_unit();
    let parts = same_values(&graph, &Fusions::default(), DType::F64, F64);
    assert_eq!(ops(&parts), ["_sg_conv", "_sg_conv"]);
    let list = fused(&parts);
    let replaced: Vec<&[String]> = list.iter().map(|f| f.replaced.as_slice()).collect();
    assert_eq!(replaced, [&["a", "bn_a", "relu_a"][..], &["b", "bn_b", "sum", "relu"][..]]);
    assert_eq!((list[1].op, list[1].pattern, list[1].name.as_str()), ("_sg_conv", "Convolution", "relu"));
    // The unit has two layers with long sums of products, so the tolerance is doubled.
    let twice = Tolerance { rtol: 2.0 * Tolerance::T3.rtol, atol: 2.0 * Tolerance::T3.atol };
    same_values(&graph, &Fusions::default(), DType::F32, twice);
}

#[test]
fn g21_of_gammas_and_biases_every_kind_is_folded() {
    for fix_gamma in ["True", "False"] {
        for no_bias in ["True", "False"] {
            let mut net = Net::new();
            let conv = net.conv("a", "x", &[("no_bias", no_bias)]);
            let bn = net.call("BatchNorm", "bn", &[&conv], &[("fix_gamma", fix_gamma), ("eps", "0.01")]);
            let parts = same_values(&net.graph(&[&bn]), &Fusions::default(), DType::F64, F64);
            assert_eq!(ops(&parts), ["Convolution"], "fix_gamma {fix_gamma}, no_bias {no_bias}");
        }
    }
}

#[test]
fn g21_other_axes_and_layouts() {
    // With channels last, a normalization along the channels is folded into the weights; along another axis it is not.
    for (axis, expected) in
        [("-1", &["Convolution"][..]), ("3", &["Convolution"]), ("1", &["Convolution", "BatchNorm"])]
    {
        let mut net = Net::new();
        let conv =
            net.call("Convolution", "a", &["x"], &[("kernel", "(1, 1)"), ("num_filter", "4"), ("layout", "NHWC")]);
        let bn = net.call("BatchNorm", "bn", &[&conv], &[("axis", axis)]);
        assert_eq!(ops(&same_values(&net.graph(&[&bn]), &Fusions::default(), DType::F64, F64)), expected, "{axis}");
    }
}

#[test]
fn g21_a_normalization_that_shows_its_statistics_stays() {
    let mut net = Net::new();
    let conv = net.conv("a", "x", &[]);
    let bn = net.call("BatchNorm", "bn", &[&conv], &[("output_mean_var", "True")]);
    assert_eq!(
        ops(&same_values(&net.graph(&[&bn]), &Fusions::default(), DType::F64, F64)),
        ["Convolution", "BatchNorm"]
    );
}

#[test]
fn g21_functions_that_end_a_product() {
    let relu6: &[(&str, &str)] = &[("a_min", "0"), ("a_max", "6")];
    let clip: &[(&str, &str)] = &[("a_min", "-1"), ("a_max", "1")];
    let act = |word| vec![("act_type", word)];
    for (op, attrs, with_conv, with_fc) in [
        ("relu", vec![], true, true),
        ("sigmoid", vec![], true, true),
        ("tanh", vec![], true, true),
        ("Activation", act("relu"), true, true),
        ("Activation", act("sigmoid"), true, true),
        ("Activation", act("tanh"), true, true),
        ("Activation", act("softrelu"), true, true),
        ("Activation", act("softsign"), false, false),
        ("clip", relu6.to_vec(), true, true),
        ("clip", clip.to_vec(), false, false),
        ("square", vec![], false, true),
        ("abs", vec![], false, true),
        ("exp", vec![], false, true),
        ("negative", vec![], false, false),
    ] {
        for (product, is_fused) in [("Convolution", with_conv), ("FullyConnected", with_fc)] {
            let mut net = Net::new();
            let made = if product == "Convolution" { net.conv("a", "x", &[]) } else { net.fc("a", "x") };
            let end = net.call(op, "end", &[&made], &attrs);
            let parts = same_values(&net.graph(&[&end]), &Fusions::default(), DType::F64, F64);
            assert_eq!(fused(&parts).len(), usize::from(is_fused), "{product} then {op} {attrs:?}");
        }
    }
}

#[test]
fn g21_normalization_with_relu_is_one_call() {
    let mut net = Net::new();
    let bn = net.call("BatchNorm", "bn", &["x"], &[("fix_gamma", "False")]);
    let relu = net.call("relu", "relu", &[&bn], &[]);
    assert_eq!(ops(&same_values(&net.graph(&[&relu]), &Fusions::default(), DType::F64, F64)), ["_sg_bn_relu"]);
}

#[test]
fn g20_what_ends_a_chain() {
    let all = Fusions::default();
    // A sum of a value with itself is not fused.
    let mut net = Net::new();
    let a = net.conv("a", "x", &[]);
    let sum = net.call("elemwise_add", "sum", &[&a, &a], &[]);
    assert!(fused(&same_values(&net.graph(&[&sum]), &all, DType::F64, F64)).is_empty());
    // If both terms of a sum are products, only one of the products is fused with the sum.
    let mut net = Net::new();
    let (a, b) = (net.conv("a", "x", &[]), net.conv("b", "x", &[("no_bias", "True")]));
    let sum = net.call("elemwise_add", "sum", &[&a, &b], &[]);
    let parts = same_values(&net.graph(&[&sum]), &all, DType::F64, F64);
    assert_eq!((fused(&parts).len(), ops(&parts)), (1, vec!["Convolution".into(), "_sg_conv".into()]));
    // A chain of calls to fuse ends at a value that is a head, or that two calls read.
    let mut net = Net::new();
    let a = net.conv("a", "x", &[]);
    let relu = net.call("relu", "relu", &[&a], &[]);
    assert!(fused(&same_values(&net.graph(&[&relu, &a]), &all, DType::F64, F64)).is_empty());
    let mut net = Net::new();
    let a = net.conv("a", "x", &[]);
    let relu = net.call("relu", "relu", &[&a], &[]);
    let sum = net.call("elemwise_add", "sum", &[&relu, &a], &[]);
    assert!(fused(&same_values(&net.graph(&[&sum]), &all, DType::F64, F64)).is_empty());
    // A chain ends at an activation, so a sum after it is not fused.
    let mut net = Net::new();
    let a = net.conv("a", "x", &[]);
    let relu = net.call("relu", "relu", &[&a], &[]);
    let sum = net.call("elemwise_add", "sum", &[&relu, "x"], &[]);
    let parts = same_values(&net.graph(&[&sum]), &all, DType::F64, F64);
    assert_eq!(ops(&parts), ["_sg_conv", "elemwise_add"]);
}

#[test]
fn the_sum_is_made_in_place() {
    let graph = Net::residual_unit();
    let context = context(EngineKind::Naive, 1);
    let arena =
        |options: &BindOptions| bind(&graph, &context, options, DType::F32).report().expect("bound").arena_bytes;
    let tensor = 4 * nets::SHAPE.iter().product::<usize>();
    // `x` is a bound array and the second product writes the output, so the first product is the only temporary value.
    assert_eq!(arena(&partitioning(&Fusions::default())), tensor.next_multiple_of(64));
    assert!(arena(&options()) >= 2 * tensor);
}

#[test]
fn each_switch_leaves_its_calls_alone() {
    let all = Fusions::default();
    let conv_chain = ["Convolution", "BatchNorm", "elemwise_add", "relu"];
    let fc_chain = ["FullyConnected", "elemwise_add", "exp"];
    let after = |fusions: Fusions, chain: &[&str]| {
        let mut net = Net::new();
        let mut last = String::from("x");
        for op in chain {
            last = match *op {
                "Convolution" => net.conv(op, &last, &[]),
                "FullyConnected" => net.fc(op, &last),
                "elemwise_add" => {
                    let other = if chain.len() == 4 { "x".to_owned() } else { net.fc("other", "x") };
                    net.call(op, op, &[&last, &other], &[])
                }
                _ => net.call(op, op, &[&last], &[]),
            };
        }
        ops(&same_values(&net.graph(&[&last]), &fusions, DType::F64, F64))
    };
    assert_eq!(after(all, &conv_chain), ["_sg_conv"]);
    assert_eq!(after(Fusions { conv: false, ..all }, &conv_chain), conv_chain);
    assert_eq!(after(Fusions { conv_bn: false, ..all }, &conv_chain), conv_chain);
    assert_eq!(after(Fusions { conv_sum: false, ..all }, &conv_chain), ["Convolution", "elemwise_add", "relu"]);
    assert_eq!(after(Fusions { conv_act: false, ..all }, &conv_chain), ["_sg_conv", "relu"]);
    assert_eq!(after(all, &fc_chain), ["FullyConnected", "_sg_fully_connected"]);
    let plain = ["FullyConnected", "FullyConnected", "elemwise_add", "exp"];
    assert_eq!(after(Fusions { fc: false, ..all }, &fc_chain), plain);
    assert_eq!(after(Fusions { fc_sum: false, ..all }, &fc_chain), plain);
    assert_eq!(after(Fusions { fc_act: false, ..all }, &fc_chain), ["FullyConnected", "_sg_fully_connected", "exp"]);
    assert_eq!(after(all, &["BatchNorm", "relu"]), ["_sg_bn_relu"]);
    assert_eq!(after(Fusions { bn_relu: false, ..all }, &["BatchNorm", "relu"]), ["BatchNorm", "relu"]);
}

#[test]
fn without_patterns_nothing_changes() {
    let context = context(EngineKind::Naive, 1);
    let executor = bind(&Net::residual_unit(), &context, &options(), DType::F32);
    assert!(fused(&executor).is_empty() && ops(&executor).contains(&"BatchNorm".to_owned()));
    let none: Arc<[mxrs_op::Pattern]> = options().patterns;
    assert!(none.is_empty());
}
