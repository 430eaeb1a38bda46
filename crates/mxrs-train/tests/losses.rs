//! Losses and their gradients compared with MXNet's (recorded by `tests/mxnet/make_losses.py`); label smoothing; refused
//! inputs; the trainer.

mod common;

use common::{array, context, numbers, options, sgd};
use mxrs_exec::{BackwardOptions, GradReq, Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_train::loss::*;
use mxrs_train::{Trainer, clip_global_norm};
use mxrs_types::Result;
use serde_json::Value;

const MXNET: &str = include_str!("fixtures/losses.json");

fn nd() -> Imperative {
    Imperative::new(&context(), &options()).unwrap()
}

fn read(nd: &Imperative, value: &Value) -> NdArray {
    let list = |key: &str| value[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>();
    let shape: Vec<usize> = list("shape").into_iter().map(|n| n as usize).collect();
    array(nd.context(), &shape[..], &list("values").into_iter().map(|v| v as f32).collect::<Vec<f32>>())
}

fn call(nd: &Imperative, loss: &str, x: &[NdArray], w: Weights<'_>) -> Result<NdArray> {
    let sparse = SoftmaxCrossEntropyLoss::default();
    match loss {
        "l2" => L2Loss.call(nd, &x[0], &x[1], w),
        "l1" => L1Loss.call(nd, &x[0], &x[1], w),
        "huber" => HuberLoss { rho: 0.5 }.call(nd, &x[0], &x[1], w),
        "kl" => KlDivLoss::default().call(nd, &x[0], &x[1], w),
        "kl_probabilities" => KlDivLoss { from_logits: false, ..Default::default() }.call(nd, &x[0], &x[1], w),
        "poisson" => PoissonNllLoss::default().call(nd, &x[0], &x[1], w),
        "poisson_numbers" => PoissonNllLoss { from_logits: false, ..Default::default() }.call(nd, &x[0], &x[1], w),
        "bce" => SigmoidBceLoss::default().call(nd, &x[0], &x[1], w),
        "bce_sigmoid" => SigmoidBceLoss { from_sigmoid: true, pos_weight: None }.call(nd, &x[0], &x[1], w),
        "softmax" => sparse.call(nd, &x[0], &x[1], w),
        "softmax_dense" => SoftmaxCrossEntropyLoss { sparse_label: false, ..sparse }.call(nd, &x[0], &x[1], w),
        "softmax_logits" => SoftmaxCrossEntropyLoss { from_logits: true, ..sparse }.call(nd, &x[0], &x[1], w),
        "hinge" => HingeLoss::default().call(nd, &x[0], &x[1], w),
        "squared_hinge" => SquaredHingeLoss::default().call(nd, &x[0], &x[1], w),
        "logistic" => LogisticLoss::default().call(nd, &x[0], &x[1], w),
        "logistic_bits" => LogisticLoss { signed: false }.call(nd, &x[0], &x[1], w),
        "triplet" => TripletLoss::default().call(nd, &x[0], (&x[1], &x[2]), w),
        "cosine" => CosineEmbeddingLoss { margin: 0.1 }.call(nd, (&x[0], &x[1]), &x[2], w),
        "ctc" => CtcLoss::default().call(nd, &x[0], &x[1], Lengths::default(), w),
        "ctc_time_major" => {
            let loss = CtcLoss { time_major: true, label_time_major: true };
            loss.call(nd, &x[0], &x[1], Lengths::default(), w)
        }
        "ctc_lengths" => {
            let lengths = Lengths { sequences: Some(&x[2]), labels: Some(&x[3]) };
            CtcLoss::default().call(nd, &x[0], &x[1], lengths, w)
        }
        "sdml" => SdmlLoss::default().call(nd, (&x[0], &x[1]), w),
        other => panic!("no loss {other}"),
    }
}

fn assert_close(ours: &NdArray, mxnet: &Value, what: &str) {
    let expected = mxnet["values"].as_array().unwrap();
    let ours = ours.to_vec::<f32>().unwrap();
    // The bound for `sdml` is larger because of rounding in MXNet's own log_softmax. For the first gradient, a computation
    // in double precision gives 1.53295535, and this crate gives 1.5329553 in float32.
    let bound = if what.ends_with("sdml") { 1e-5 } else { 3e-6 };
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (i, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        let expected = expected.as_f64().unwrap();
        let is_close = (f64::from(*ours) - expected).abs() <= bound * expected.abs().max(1.0);
        assert!(is_close, "{what}, element {i}: {ours}, MXNet {expected}");
    }
}

#[test]
fn values_and_gradients_are_those_of_mxnet() {
    let nd = nd();
    let cases: Value = serde_json::from_str(MXNET).unwrap();
    for (i, case) in cases.as_array().unwrap().iter().enumerate() {
        let name = case["loss"].as_str().unwrap();
        let inputs: Vec<NdArray> = case["inputs"].as_array().unwrap().iter().map(|x| read(&nd, x)).collect();
        let weight = (!case["weight"].is_null()).then(|| read(&nd, &case["weight"]));
        nd.attach_grad(&inputs[0], GradReq::Write).unwrap();
        let loss = {
            let _record = autograd::record();
            let weights = Weights { weight: None, samples: weight.as_ref() };
            call(&nd, name, &inputs, weights).unwrap()
        };
        nd.backward(&[&loss], &[], BackwardOptions::default()).unwrap();
        assert_close(&loss, &case["value"], &format!("value of case {i}, {name}"));
        let grad = autograd::grad_of(&inputs[0]).unwrap();
        assert_close(&grad, &case["grad"], &format!("gradient of case {i}, {name}"));
    }
}

/// A smoothed loss is the weighted mean of the loss with the label and the loss with equal probabilities for all classes.
#[test]
fn label_smoothing() {
    let nd = nd();
    let (n, k, e) = (3, 4, 0.2);
    let pred = array(nd.context(), [n, k], &numbers(3, n * k));
    let label = array(nd.context(), [n], &[0.0, 3.0, 1.0]);
    let plain = SoftmaxCrossEntropyLoss::default();
    let smooth = SoftmaxCrossEntropyLoss { smoothing: e, ..plain };
    let of = |loss: &SoftmaxCrossEntropyLoss, label: &NdArray| {
        loss.call(&nd, &pred, label, Weights::default()).unwrap().to_vec::<f32>().unwrap()
    };
    let even = array(nd.context(), [n, k], &vec![1.0 / k as f32; n * k]);
    let dense = SoftmaxCrossEntropyLoss { sparse_label: false, ..plain };
    let (hot, even, smoothed) = (of(&plain, &label), of(&dense, &even), of(&smooth, &label));
    let rows = one_hot(&nd, &label, k, 1.0, 0.0).unwrap();
    let smoothed_dense = of(&SoftmaxCrossEntropyLoss { sparse_label: false, ..smooth }, &rows);
    for i in 0..n {
        let expected = (1.0 - e as f32) * hot[i] + e as f32 * even[i];
        assert!((smoothed[i] - expected).abs() < 1e-5 && (smoothed_dense[i] - expected).abs() < 1e-5);
    }
    let bad = array(nd.context(), [n], &[0.0, 4.0, 1.0]);
    let error = plain.call(&nd, &pred, &bad, Weights::default()).unwrap_err().to_string();
    assert!(error.contains("label 1") && error.contains("0 to 3"), "{error}");
    let error = SoftmaxCrossEntropyLoss { smoothing: 1.0, ..plain }.call(&nd, &pred, &label, Weights::default());
    assert!(error.unwrap_err().to_string().contains("smoothing"));
}

/// A trainer fits a line to points on it, and refuses stale gradients.
#[test]
fn a_trainer_steps() {
    let nd = nd();
    let w = array(nd.context(), [1, 2], &[0.0, 0.0]);
    let unused = array(nd.context(), [1], &[5.0]);
    let mut trainer = Trainer::new(&nd, &[("w", &w), ("unused", &unused)], sgd(0.5, 0.0)).unwrap();
    let x = array(nd.context(), [8, 2], &numbers(4, 16));
    let y = {
        let truth = array(nd.context(), [1, 2], &[2.0, -1.0]);
        nd.fully_connected(&x, &truth, None, 1).unwrap()
    };
    let mut losses = Vec::new();
    for step in 0..200 {
        let loss = {
            let _record = autograd::record();
            let pred = nd.fully_connected(&x, &w, None, 1).unwrap();
            L2Loss.call(&nd, &pred, &y, Weights::default()).unwrap()
        };
        nd.backward(&[&loss], &[], BackwardOptions::default()).unwrap();
        losses.push(loss.to_vec::<f32>().unwrap().iter().sum::<f32>());
        if step == 0 {
            let error = trainer.step(8).unwrap_err().to_string();
            assert!(error.contains("`unused`"), "{error}");
        }
        trainer.step_ignoring_stale(8).unwrap();
    }
    let fitted = w.to_vec::<f32>().unwrap();
    assert!((fitted[0] - 2.0).abs() < 1e-2 && (fitted[1] + 1.0).abs() < 1e-2, "{fitted:?}, losses {losses:?}");
    assert_eq!(unused.to_vec::<f32>().unwrap(), [5.0]);
    assert!(trainer.step(0).is_err() && trainer.step(8).unwrap_err().to_string().contains("`w`"));
    assert!(Trainer::new(&nd, &[("w", &w), ("w", &unused)], sgd(0.1, 0.0)).is_err());
    assert!(Trainer::new(&nd, &[("w", &w)], sgd(f64::NAN, 0.0)).is_err());
    let grad = autograd::grad_of(&w).unwrap();
    assert!(clip_global_norm(&nd, &[&grad], 0.0).is_err());
}

#[test]
fn labels_and_vectors_that_cannot_be_are_refused() {
    let nd = nd();
    let pred = array(nd.context(), [1, 3, 4], &numbers(5, 12));
    let ctc = |label: &[f32], lengths: Lengths<'_>| {
        let label = array(nd.context(), [1, label.len()], label);
        let loss = CtcLoss::default().call(&nd, &pred, &label, lengths, Weights::default());
        loss.and_then(|loss| loss.to_vec::<f32>())
    };
    let none = Lengths::default();
    assert!(ctc(&[0.0, 2.0], none).unwrap()[0] > 0.0);
    for (label, words) in
        [(&[0.0, 3.0][..], "blank"), (&[4.0], "below 4"), (&[0.0, -2.0], "below 4"), (&[0.0; 4], "3 labels")]
    {
        let error = ctc(label, none).unwrap_err().to_string();
        assert!(error.contains(words), "{label:?}: {error}");
    }
    let long = array(nd.context(), [1], &[4.0]);
    let error = ctc(&[0.0], Lengths { sequences: Some(&long), labels: None }).unwrap_err().to_string();
    assert!(error.contains("data_lengths") && error.contains("0 to 3"), "{error}");
    let error = ctc(&[0.0], Lengths { sequences: None, labels: Some(&long) }).unwrap_err().to_string();
    assert!(error.contains("label_lengths") && error.contains("0 to 1"), "{error}");
    let flat = array(nd.context(), [3, 4], &numbers(5, 12));
    assert!(CtcLoss::default().call(&nd, &flat, &flat, none, Weights::default()).is_err());
    let other = array(nd.context(), [2, 6], &numbers(5, 12));
    let error = SdmlLoss::default().call(&nd, (&flat, &other), Weights::default()).unwrap_err().to_string();
    assert!(error.contains("SDML"), "{error}");
    assert!(SdmlLoss { smoothing: 1.0 }.call(&nd, (&flat, &flat), Weights::default()).is_err());
}
