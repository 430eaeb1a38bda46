//! Compares gradients of layers with MXNet 1.9.1 (the recordings of `tests/mxnet/make_layers.py`), with central
//! differences, and with each other.

mod arrays;

use arrays::Array;
use mxrs_op::{Attrs, Fill, GradValue, OpDef, OpParams, OpSet, Sample, TensorDesc};
use mxrs_ops::nn::softmax_output::{Normalization, SoftmaxOutputParams};
use mxrs_testkit::gradient::{self, GradientReport, Numbers, Options, Tape};
use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
use mxrs_types::DType;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The names of all layers.
fn layers() -> Vec<&'static str> {
    mxrs_ops::declared_in().filter(|(file, _)| file.starts_with("nn/")).map(|(_, op)| op.name).collect()
}

/// Puts a recorded array on the tape.
fn on(array: &Array, tape: &mut Tape<'_>) -> GradValue {
    tape.leaf(array.desc(), array.buffer()).expect("a recorded tensor")
}

fn check(array: &Array, tape: &Tape<'_>, value: GradValue, what: &str) -> Result<(), String> {
    if *tape.desc(value) != array.desc() {
        return Err(format!("{what} is {}, MXNet's {}", tape.desc(value), array.desc()));
    }
    // The kernels of mxrs round gradients once, those of MXNet after every operation, so the results differ a little.
    let tolerance = Tolerance { rtol: 1e-4, atol: 2e-6 };
    compare(&tape.numbers(value), &array.rounded(), tolerance).map_err(|e| format!("{what}: {e}"))
}

/// A recorded call with its backward call.
#[derive(Deserialize)]
struct Case {
    name: String,
    attrs: BTreeMap<String, String>,
    is_train: bool,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    out_grads: Vec<Array>,
    gradients: Vec<Option<Array>>,
    inputs_after: Vec<Array>,
}

#[derive(Deserialize)]
struct Golden {
    op: String,
    values: Vec<Case>,
}

fn recordings(op: &str) -> Golden {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden_layers/{op}.json"));
    let text = std::fs::read_to_string(file).expect("a readable recording");
    serde_json::from_str(&text).expect("a recording")
}

fn check_case(ops: &OpSet, op: &Arc<OpDef>, case: &Case) -> Result<usize, String> {
    let mut tape = Tape::new(ops, case.is_train);
    let inputs: Vec<GradValue> = case.inputs.iter().map(|a| on(a, &mut tape)).collect();
    let heads: Vec<GradValue> = case.out_grads.iter().map(|a| on(a, &mut tape)).collect();
    let attrs: Attrs = case.attrs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let outputs = tape.apply(op, attrs, &inputs).map_err(|e| e.to_string())?;
    let pairs: Vec<(GradValue, GradValue)> = outputs.iter().copied().zip(heads).collect();
    let found = tape.gradients(&pairs, &inputs).map_err(|e| e.to_string())?;
    for (array, output) in case.outputs.iter().zip(&outputs) {
        check(array, &tape, *output, "output")?;
    }
    let mut n_compared = 0;
    for (i, (array, gradient)) in case.gradients.iter().zip(found).enumerate() {
        let what = format!("gradient of input {i}");
        match (array, gradient) {
            (Some(array), Some(gradient)) => check(array, &tape, gradient, &what)?,
            (Some(array), None) if array.rounded().iter().all(|g| *g == 0.0) => {}
            (Some(_), None) => return Err(format!("{what}: none, MXNet has one")),
            (None, Some(_)) => return Err(format!("{what}: MXNet has none")),
            (None, None) => continue,
        }
        n_compared += 1;
    }
    for (i, (array, input)) in case.inputs_after.iter().zip(&inputs).enumerate() {
        check(array, &tape, *input, &format!("input {i} after the step"))?;
    }
    Ok(n_compared)
}

/// The gradients of layers, and the moving statistics after a training step, equal those of MXNet.
#[test]
fn g9_gradients_are_mxnets() {
    let ops = mxrs_ops::catalog();
    let (mut failures, mut n_compared) = (Vec::new(), 0);
    for name in layers() {
        let golden = recordings(name);
        assert_eq!(golden.op, name);
        for case in &golden.values {
            match check_case(&ops, ops.get(name).expect("a layer"), case) {
                Ok(n) => n_compared += n,
                Err(what) => failures.push(format!("{name}/{}: {what}", case.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(n_compared > 150, "only {n_compared} gradients were compared");
}

/// The loss whose gradient SoftmaxOutput returns: `factor · Σ_row (ln Σ e^x - Σ target · x)`.
fn cross_entropy(params: &OpParams, inputs: &[Numbers], _: &[Numbers]) -> f64 {
    let p = params.get::<SoftmaxOutputParams>();
    let (data, label) = (&inputs[0], &inputs[1]);
    let n = data.shape[0];
    let size = if p.multi_output { data.shape[1] } else { *data.shape.last().expect("axes") };
    let size = if p.multi_output || p.preserve_shape { size } else { data.values.len() / n.max(1) };
    let n_rows = data.values.len() / size.max(1);
    let inner = if p.multi_output { n_rows / n.max(1) } else { 1 };
    let is_distribution = data.shape == label.shape;
    let mut loss = 0.0;
    for row in 0..n_rows {
        let at = |k: usize| (row / inner * size + k) * inner + row % inner;
        let class = label.values[row].trunc();
        if p.use_ignore && !is_distribution && class == f64::from(p.ignore_label) {
            continue;
        }
        let smooth = if p.multi_output { 0.0 } else { f64::from(p.smooth_alpha) };
        let target = |k: usize| match is_distribution {
            true => label.values[at(k)],
            false if k as f64 == class => 1.0 - smooth,
            false if smooth > 0.0 => smooth / (size as f64 - 1.0),
            false => 0.0,
        };
        let max = (0..size).map(|k| data.values[at(k)]).fold(f64::NEG_INFINITY, f64::max);
        let log_sum = max + (0..size).map(|k| (data.values[at(k)] - max).exp()).sum::<f64>().ln();
        loss += log_sum - (0..size).map(|k| target(k) * data.values[at(k)]).sum::<f64>();
    }
    let n_valid = label.values.iter().filter(|l| l.trunc() != f64::from(p.ignore_label)).count().max(1);
    let divisor = match (p.normalization, p.multi_output) {
        _ if is_distribution => 1,
        (Normalization::Valid, _) => n_valid,
        (Normalization::Batch, true) => n * inner,
        (Normalization::Batch, false) => label.values.len(),
        (Normalization::Null, _) => inner,
    };
    loss * f64::from(p.grad_scale) / divisor as f64
}

fn options(op: &str) -> Options {
    match op {
        "CTCLoss" => Options { stopped: &[1, 2, 3], ..Options::default() },
        "SoftmaxOutput" => Options { loss: Some(cross_entropy), stopped: &[1] },
        _ => Options::default(),
    }
}

#[test]
fn g9_gradients_are_derivatives() {
    let ops = mxrs_ops::catalog();
    for name in layers() {
        let report = gradient::check(&ops, ops.get(name).expect("a layer"), &options(name));
        report.assert_ok();
        assert!(report.n_compared() > 50 && report.n_kinks() < report.n_compared() / 4, "{report}");
    }
}

#[test]
fn g9_every_form_of_softmax_output_is_the_derivative_of_a_cross_entropy() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("SoftmaxOutput").expect("an operator");
    let labels = Fill::Integers(-1, 4);
    let multi = ("multi_output", "True");
    let valid = ("normalization", "valid");
    let batch = ("normalization", "batch");
    let ignore = ("use_ignore", "True");
    let samples = [
        Sample::new("labels", [("grad_scale", "0.3")], &[&[9, 3], &[9]]),
        Sample::new("smooth", [("smooth_alpha", "0.2"), batch], &[&[9, 4], &[9]]),
        Sample::new("ignored", [valid, ignore], &[&[9, 4], &[9]]),
        Sample::new("last_axis", [("preserve_shape", "True"), batch], &[&[2, 3, 4], &[2, 3]]),
        Sample::new("multi_output", [multi], &[&[2, 4, 3], &[2, 3]]),
        Sample::new("multi_batch", [multi, batch, ignore], &[&[2, 4, 3], &[2, 3]]),
        Sample::new("multi_valid", [multi, valid, ignore], &[&[2, 4, 3, 2], &[2, 6]]),
    ];
    let mut report = GradientReport::default();
    for sample in samples {
        let name = sample.name;
        let sample = sample.fill(1, labels.clone());
        report.add("SoftmaxOutput", name, gradient::check_sample(&ops, op, &sample, &options("SoftmaxOutput")));
    }
    let chances = Sample::new("chances", [("grad_scale", "2")], &[&[3, 4], &[3, 4]]).fill(1, Fill::Uniform(0.0, 1.0));
    report.add("SoftmaxOutput", "chances", gradient::check_sample(&ops, op, &chances, &options("SoftmaxOutput")));
    report.assert_ok();
    assert!(report.n_compared() > 150 && report.n_kinks() == 0, "{report}");
}

/// With `out_grad`, the gradient is multiplied by the gradient of the output.
#[test]
fn out_grad_is_multiplied_in() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("SoftmaxOutput").expect("an operator");
    for with in [&[("multi_output", "True")][..], &[("grad_scale", "3")], &[]] {
        let gradient_of_data = |attrs: Attrs| {
            let mut tape = Tape::new(&ops, true);
            let mut leaf = |shape: &[usize], values: &[f64]| {
                let desc = TensorDesc::dense(shape, DType::F64);
                tape.leaf(desc, AlignedBuffer::from_f64(values, DType::F64)).expect("a leaf")
            };
            let x = leaf(&[2, 2], &[0.5, -1.0, 2.0, 0.25]);
            let label = leaf(&[2, 1][..if attrs.get("multi_output").is_some() { 2 } else { 1 }], &[1.0, 0.0]);
            let head = leaf(&[2, 2], &[2.0, -3.0, 5.0, 7.0]);
            let out = tape.apply(op, attrs, &[x, label]).expect("a call")[0];
            let found = tape.gradients(&[(out, head)], &[x]).expect("a gradient")[0].expect("not zero");
            tape.numbers(found)
        };
        let attrs: Attrs = with.iter().copied().collect();
        let mut multiplied = attrs.clone();
        multiplied.set("out_grad", "True");
        let expected: Vec<f64> =
            gradient_of_data(attrs).iter().zip([2.0, -3.0, 5.0, 7.0]).map(|(g, h)| g * h).collect();
        compare(&gradient_of_data(multiplied), &expected, Tolerance::F64).expect("the product");
    }
}

/// Compares second derivatives of products, and of layers whose gradient is a linear or smooth function of the saved
/// tensors.
#[test]
fn g9_second_derivatives() {
    let ops = mxrs_ops::catalog();
    for name in ["FullyConnected", "Convolution", "Activation", "Dropout", "Pooling"] {
        let op = ops.get(name).expect("a layer");
        let mut report = GradientReport::default();
        let is_twice = |s: &Sample| match name {
            "Activation" => s.attrs.get("act_type") != Some("softsign") && !s.name.contains("special"),
            "Pooling" => matches!(s.attrs.get("pool_type"), Some("avg" | "sum")),
            _ => true,
        };
        for sample in (op.samples)().into_iter().filter(is_twice) {
            let result = gradient::check_sample_second_order(&ops, op, &sample, &Options::default());
            report.add(name, sample.name, result);
        }
        report.assert_ok();
        assert!(report.n_compared() > 100, "{report}");
    }
}

/// Differentiates backward operators that declare a gradient, like any other operator.
#[test]
fn g9_products_of_products() {
    let ops = mxrs_ops::catalog();
    for layer in ["FullyConnected", "Convolution"] {
        for part in ["data", "weight", "bias"] {
            let op = ops.get(&format!("_backward_{layer}_{part}")).expect("a companion");
            let report = gradient::check(&ops, op, &Options::default());
            report.assert_ok();
            assert!(report.n_compared() > 50, "{report}");
        }
        let op = ops.get(&format!("_backward_backward_{layer}_bias")).expect("a companion");
        gradient::check(&ops, op, &Options::default()).assert_ok();
    }
}
