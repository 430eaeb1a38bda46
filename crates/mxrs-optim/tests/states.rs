//! Tests of training states: a resumed run equals a run that did not stop, and states of another network or optimizer are
//! refused.

mod common;

use common::{array, numbers, reference};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_optim::schedule::{Factor, Warmup};
use mxrs_optim::{NAMES, Parameter, SavedStates, Updater, create};
use mxrs_types::DType;
use std::sync::Arc;

struct Net {
    names: Vec<&'static str>,
    weights: Vec<NdArray>,
}

fn net(nd: &Imperative, dtype: DType) -> Net {
    let weight = array(nd, &[2, 3], &[0.5, -0.25, 1.0, 0.125, -1.0, 0.75], dtype);
    let other = array(nd, &[4, 1], &[0.1, 0.2, -0.3, 0.4], dtype);
    Net { names: vec!["fc_weight", "bn_gamma"], weights: vec![weight, other] }
}

fn step(nd: &Imperative, net: &Net, updater: &mut Updater, n: usize) -> mxrs_types::Result<()> {
    let grads: Vec<NdArray> = net
        .weights
        .iter()
        .map(|w| {
            let values: Vec<f32> = (0..w.shape().n_elements()).map(|i| ((i * 7 + n * 3) as f32 * 0.37).sin()).collect();
            array(nd, w.shape(), &values, w.dtype())
        })
        .collect();
    updater.update_all(nd, &params(net, &grads))
}

fn params(net: &Net, grads: &[NdArray]) -> Vec<Parameter> {
    let all = net.names.iter().zip(&net.weights).zip(grads);
    all.map(|((name, weight), grad)| Parameter { name: name.to_string(), weight: weight.clone(), grad: grad.clone() })
        .collect()
}

fn updater(name: &str, dtype: DType) -> Updater {
    let mut settings = vec![("learning_rate", "0.05"), ("multi_precision", "True")];
    if matches!(name, "sgd" | "nag" | "lars" | "dcasgd" | "lbsgd") {
        settings.push(("momentum", "0.9"));
    }
    if name == "lbsgd" {
        settings.push(("batch_scale", "2"));
    }
    let mut optimizer = create(name, &settings).expect("settings");
    if dtype == DType::F32 {
        let schedule = Factor::new(2, 0.5, 1e-8, Warmup::none(0.05)).expect("a schedule");
        optimizer.common_mut().set_scheduler(Arc::new(schedule));
    }
    Updater::new(optimizer)
}

fn bits(nd: &Imperative, net: &Net) -> Vec<u32> {
    net.weights.iter().flat_map(|w| numbers(nd, w)).map(f32::to_bits).collect()
}

#[test]
fn o3_a_run_goes_on_bit_for_bit_from_a_file() {
    let nd = reference();
    let folder = tempfile::tempdir().expect("a folder");
    // `sgld` is left out: its noise depends on how many random numbers were drawn before, which is not a state of the
    // optimizer.
    for name in NAMES.iter().filter(|name| **name != "sgld") {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let path = folder.path().join(format!("{name}.states"));
            let whole = net(&nd, dtype);
            let mut first = updater(name, dtype);
            (0..3).for_each(|n| step(&nd, &whole, &mut first, n).expect("an update"));
            let saved = first.states().expect("states");
            let bytes: u64 = whole.weights.iter().map(|weight| first.state_bytes(weight)).sum();
            let stored: usize = saved.tensors.values().map(|tensor| tensor.stored_bytes().len()).sum();
            // `groupadagrad` keeps only one number for each row of a weight, so `state_bytes` returns more than is stored.
            let has_all = bytes == stored as u64 || *name == "groupadagrad" && bytes > stored as u64;
            assert!(has_all, "{name} {dtype}: {stored} bytes of states, {bytes} foretold");
            saved.save(&path).expect("a file");
            let loaded = SavedStates::load(&path).expect("the file");
            assert_eq!(loaded.metadata, saved.metadata);
            for (key, tensor) in &saved.tensors {
                assert_eq!(loaded.tensors[key].stored_bytes(), tensor.stored_bytes(), "{name} {key}");
            }
            let other = net(&nd, dtype);
            for (to, from) in other.weights.iter().zip(&whole.weights) {
                to.copy_from_array(from).expect("a copy");
            }
            let mut second = updater(name, dtype);
            second.set_states(&nd, &params(&other, &other.weights), &loaded).expect("its own states");
            assert_eq!(second.optimizer().common().num_update, 3);
            (3..6).for_each(|n| step(&nd, &whole, &mut first, n).expect("an update"));
            (3..6).for_each(|n| step(&nd, &other, &mut second, n).expect("an update"));
            assert_eq!(bits(&nd, &whole), bits(&nd, &other), "{name} {dtype}");
            assert_eq!(first.states().expect("states"), second.states().expect("states"), "{name} {dtype}");
        }
    }
}

fn refused(name: &str, change: impl Fn(&mut SavedStates, &mut Net, &Imperative)) -> String {
    let nd = reference();
    let mut old = net(&nd, DType::F32);
    let mut first = updater("sgd", DType::F32);
    step(&nd, &old, &mut first, 0).expect("an update");
    let mut saved = first.states().expect("states");
    change(&mut saved, &mut old, &nd);
    let mut second = updater(name, DType::F32);
    let error = second.set_states(&nd, &params(&old, &old.weights), &saved).expect_err("states of something else");
    assert!(second.state_arrays().is_empty() && second.optimizer().common().num_update == 0, "something changed");
    error.to_string()
}

#[test]
fn o4_states_of_another_network_name_the_first_difference() {
    let message = refused("sgd", |_, net, nd| net.weights[0] = array(nd, &[3, 3], &[0.0; 9], DType::F32));
    assert!(message.contains("fc_weight") && message.contains("(3, 3)") && message.contains("(2, 3)"), "{message}");
    let message = refused("sgd", |_, net, _| net.names[1] = "other");
    assert!(message.contains("bn_gamma"), "{message}");
    let message = refused("adam", |_, _, _| {});
    assert!(message.contains("optimizer") && message.contains("sgd") && message.contains("adam"), "{message}");
    let message = refused("sgd", |saved, _, _| drop(saved.tensors.shift_remove("state/bn_gamma/mom")));
    assert!(message.contains("state/bn_gamma/mom"), "{message}");
    let message = refused("sgd", |saved, _, _| {
        let tensor = saved.tensors["state/fc_weight/mom"].clone();
        saved.tensors.insert("state/fc_weight/mean".into(), tensor);
    });
    assert!(message.contains("state/fc_weight/mean"), "{message}");
    for key in ["format", "optimizer", "num_update", "index_update_count"] {
        let message = refused("sgd", |saved, _, _| drop(saved.metadata.insert(key.into(), "{".into())));
        assert!(message.contains(key), "{message}");
    }
}

#[test]
fn o5_gradients_that_do_not_fit_are_named() {
    let nd = reference();
    let net = net(&nd, DType::F32);
    let mut updater = updater("sgd", DType::F32);
    let parameter = |name: &str, weight: &NdArray, grad: &NdArray| Parameter {
        name: name.to_owned(),
        weight: weight.clone(),
        grad: grad.clone(),
    };
    let wrong = parameter("fc_weight", &net.weights[0], &net.weights[1]);
    let message = updater.update_all(&nd, &[wrong]).expect_err("another shape").to_string();
    assert!(message.contains("fc_weight") && message.contains("(4, 1)"), "{message}");
    let half = array(&nd, &[2, 3], &[0.0; 6], DType::F16);
    let wrong = parameter("fc_weight", &net.weights[0], &half);
    let message = updater.update_all(&nd, &[wrong]).expect_err("another type").to_string();
    assert!(message.contains("float16"), "{message}");
    let right = parameter("fc_weight", &net.weights[0], &net.weights[0]);
    assert!(updater.update_all(&nd, &[right.clone(), right]).is_err(), "one parameter twice");
    let matrix = Updater::new(create("groupadagrad", &[]).expect("defaults"));
    let vector = array(&nd, &[2], &[0.0; 2], DType::F32);
    let vector = parameter("v", &vector, &vector);
    let message = { matrix }.update_all(&nd, &[vector]).expect_err("no matrix").to_string();
    assert!(message.contains("matrix") && message.contains('v'), "{message}");
}

/// The updater passes at most `aggregate_num` weights to a call: ten weights need three calls if it is 4, and ten if it
/// is 1.
#[test]
fn o6_weights_per_call_are_as_many_as_set() {
    let nd = reference();
    let weights: Vec<NdArray> = (0..10).map(|i| array(&nd, &[3], &[i as f32; 3], DType::F32)).collect();
    let names: Vec<String> = (0..10).map(|i| format!("w{i}_weight")).collect();
    for (aggregate, n_calls) in [(4, 3), (1, 10), (60, 1)] {
        let mut optimizer = create("sgd", &[]).expect("defaults");
        optimizer.common_mut().aggregate_num = Some(aggregate);
        let mut updater = Updater::new(optimizer);
        let all: Vec<Parameter> = names
            .iter()
            .zip(&weights)
            .map(|(name, w)| Parameter { name: name.clone(), weight: w.clone(), grad: w.clone() })
            .collect();
        updater.update_all(&nd, &all).expect("an update");
        assert_eq!(updater.n_calls(), n_calls, "{aggregate} per call");
    }
}

/// The counts of a shorter training can be restored in an optimizer with a larger `begin_num_update`: LBSGD still makes a
/// step in every second update.
#[test]
fn o9_counts_may_be_smaller_than_where_they_were_to_begin() {
    let nd = reference();
    let net = net(&nd, DType::F32);
    let settings = [("learning_rate", "0.05"), ("batch_scale", "2"), ("begin_num_update", "100")];
    let mut updater = Updater::new(create("lbsgd", &settings).expect("settings"));
    let counts = net.names.iter().map(|name| (name.to_string(), 4)).collect();
    updater.optimizer_mut().common_mut().set_counts(4, counts);
    let moves = (0..4).map(|n| {
        let before = bits(&nd, &net);
        step(&nd, &net, &mut updater, n).expect("an update");
        bits(&nd, &net) != before
    });
    assert_eq!(moves.collect::<Vec<_>>(), [false, true, false, true]);
}
