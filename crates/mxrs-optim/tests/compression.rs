//! Compares compression of gradients with MXNet 1.9.1's store `device` on one device, recorded by
//! `tests/mxnet/make_compression.py`. Also tests that a run with compression resumes bit for bit.

mod common;

use common::{array, numbers, reference};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, TwoBit, Updater, create};
use mxrs_types::DType;
use serde_json::Value;

fn document() -> Value {
    serde_json::from_str(include_str!("fixtures/compression.json")).expect("a recording")
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("numbers").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

fn updater(threshold: f64, settings: &[(&str, &str)]) -> Updater {
    let mut updater = Updater::new(create("sgd", settings).expect("settings"));
    updater.set_compression(TwoBit::new(threshold).expect("a threshold")).expect("no update before");
    updater
}

fn step(nd: &Imperative, updater: &mut Updater, weight: &NdArray, grad: &[f32]) -> mxrs_types::Result<()> {
    let grad = array(nd, &[grad.len()], grad, weight.dtype());
    updater.update_all(nd, &[Parameter { name: "fc_weight".into(), weight: weight.clone(), grad }])
}

const MOMENTUM: [(&str, &str); 4] =
    [("learning_rate", "0.1"), ("momentum", "0.9"), ("wd", "0.01"), ("rescale_grad", "0.5")];

#[test]
fn what_is_sent_is_what_mxnet_sends() {
    let (nd, document) = (reference(), document());
    for case in document["cases"].as_array().expect("cases") {
        let threshold = case["threshold"].as_f64().expect("a threshold");
        // The updated weight is the negative of the compressed gradient, because the weight starts at 0 and the rate is
        // 1.
        let mut plain = updater(threshold, &[("learning_rate", "1")]);
        let zeros = vec![0.0; floats(&document["start"]).len()];
        for (grad, sent) in
            document["grads"].as_array().expect("grads").iter().zip(case["sent"].as_array().expect("sent"))
        {
            let weight = array(&nd, &[zeros.len()], &zeros, DType::F32);
            step(&nd, &mut plain, &weight, &floats(grad)).expect("an update");
            let step: Vec<f32> = numbers(&nd, &weight).iter().map(|x| 0.0 - x).collect();
            assert_eq!(step, floats(sent), "threshold {threshold}");
        }
    }
}

#[test]
fn weights_are_those_of_mxnet() {
    let (nd, document) = (reference(), document());
    for case in document["cases"].as_array().expect("cases") {
        let start = floats(&document["start"]);
        let weight = array(&nd, &[start.len()], &start, DType::F32);
        let mut updater = updater(case["threshold"].as_f64().expect("a threshold"), &MOMENTUM);
        for (grad, theirs) in
            document["grads"].as_array().expect("grads").iter().zip(case["weights"].as_array().expect("weights"))
        {
            step(&nd, &mut updater, &weight, &floats(grad)).expect("an update");
            for (a, b) in numbers(&nd, &weight).iter().zip(floats(theirs)) {
                assert!((a - b).abs() <= 2e-6, "{a} {b}");
            }
        }
    }
}

#[test]
fn o3_a_run_with_compression_goes_on_bit_for_bit() {
    let (nd, document) = (reference(), document());
    let grads: Vec<Vec<f32>> = document["grads"].as_array().expect("grads").iter().map(floats).collect();
    let start = floats(&document["start"]);
    let (whole, broken) =
        (array(&nd, &[start.len()], &start, DType::F32), array(&nd, &[start.len()], &start, DType::F32));
    let mut first = updater(0.5, &MOMENTUM);
    grads.iter().for_each(|grad| step(&nd, &mut first, &whole, grad).expect("an update"));
    let mut second = updater(0.5, &MOMENTUM);
    grads[..3].iter().for_each(|grad| step(&nd, &mut second, &broken, grad).expect("an update"));
    let saved = second.states().expect("states");
    assert!(saved.tensors.contains_key("state/fc_weight/residual"));
    let mut third = updater(0.5, &MOMENTUM);
    third
        .set_states(
            &nd,
            &[Parameter { name: "fc_weight".into(), weight: broken.clone(), grad: broken.clone() }],
            &saved,
        )
        .expect("states");
    grads[3..].iter().for_each(|grad| step(&nd, &mut third, &broken, grad).expect("an update"));
    assert_eq!(numbers(&nd, &whole), numbers(&nd, &broken));
    let mut without = Updater::new(create("sgd", &MOMENTUM).expect("settings"));
    let error = without.set_states(
        &nd,
        &[Parameter { name: "fc_weight".into(), weight: broken.clone(), grad: broken.clone() }],
        &saved,
    );
    assert!(error.expect_err("no compression").to_string().contains("residual"));
}

#[test]
fn what_cannot_be_compressed_is_refused() {
    for threshold in [0.0, -0.5, f64::NAN, f64::INFINITY, 1e-60] {
        assert!(TwoBit::new(threshold).is_err(), "{threshold}");
    }
    let nd = reference();
    let half = array(&nd, &[2], &[1.0, 2.0], DType::F16);
    let mut compressing = updater(0.5, &[]);
    let message = step(&nd, &mut compressing, &half, &[1.0, 1.0]).expect_err("float16").to_string();
    assert!(message.contains("float16") && message.contains("`fc_weight`"), "{message}");
    let single = array(&nd, &[2], &[1.0, 2.0], DType::F32);
    step(&nd, &mut compressing, &single, &[1.0, 1.0]).expect("float32");
    assert!(compressing.set_compression(TwoBit::new(0.1).expect("a threshold")).is_err(), "after an update");
}
