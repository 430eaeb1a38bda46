//! Losses and their gradients: MXNet's numbers (made by `tests/mxnet/make_losses.py`); label smoothing; refusals; the trainer.

mod common;

use common::{Sgd, array, context, numbers, options};
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
        other => panic!("no loss {other}"),
    }
}

fn assert_close(ours: &NdArray, mxnet: &Value, what: &str) {
    let expected = mxnet["values"].as_array().unwrap();
    let ours = ours.to_vec::<f32>().unwrap();
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (i, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        let expected = expected.as_f64().unwrap();
        let is_close = (f64::from(*ours) - expected).abs() <= 3e-6 * expected.abs().max(1.0);
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

/// Smoothing is the mean of the loss with the label and that with every class alike.
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

/// A line is fitted to points on it; stale gradients are noticed.
#[test]
fn a_trainer_steps() {
    let nd = nd();
    let w = array(nd.context(), [1, 2], &[0.0, 0.0]);
    let unused = array(nd.context(), [1], &[5.0]);
    let mut trainer = Trainer::new(&nd, &[("w", &w), ("unused", &unused)], Sgd::boxed(0.5, 0.0)).unwrap();
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
    assert!(Trainer::new(&nd, &[("w", &w), ("w", &unused)], Sgd::boxed(0.1, 0.0)).is_err());
    assert!(Trainer::new(&nd, &[("w", &w)], Sgd::boxed(f64::NAN, 0.0)).is_err());
    let grad = autograd::grad_of(&w).unwrap();
    assert!(clip_global_norm(&nd, &[&grad], 0.0).is_err());
}
