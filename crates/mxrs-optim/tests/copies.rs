//! Several copies of the parameters, on several devices, are updated by the same step.

mod common;

use common::{numbers, reference};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_optim::schedule::{Factor, Warmup};
use mxrs_optim::{NAMES, Parameter, Updater, create};
use mxrs_types::Device;
use std::sync::Arc;

const SHAPES: [(&str, [usize; 2]); 2] = [("fc_weight", [2, 3]), ("bn_gamma", [4, 1])];

/// The parameters on this device, with gradients of zero.
fn copy(nd: &Imperative, device: Device) -> Vec<Parameter> {
    let on = |shape: [usize; 2], values: &[f32]| {
        NdArray::from_slice_on(nd.context(), shape, &values[..shape[0] * shape[1]], device).expect("an array")
    };
    let start = [0.5f32, -0.25, 1.0, 0.125, -1.0, 0.75];
    let param = |(name, shape): (&str, [usize; 2])| Parameter {
        name: name.to_owned(),
        weight: on(shape, &start),
        grad: on(shape, &[0.0; 6]),
    };
    SHAPES.map(param).into()
}

fn set_gradients(params: &[Parameter], step: usize) {
    for param in params {
        let n = param.grad.shape().n_elements();
        let values: Vec<f32> = (0..n).map(|i| ((i * 7 + step * 3) as f32 * 0.37).sin()).collect();
        param.grad.copy_from(&values).expect("a gradient");
    }
}

fn updater(name: &str) -> Updater {
    let mut settings = vec![("learning_rate", "0.05")];
    if matches!(name, "sgd" | "nag" | "lars" | "dcasgd" | "lbsgd") {
        settings.push(("momentum", "0.9"));
    }
    let mut optimizer = create(name, &settings).expect("settings");
    let schedule = Factor::new(2, 0.5, 1e-8, Warmup::none(0.05)).expect("a schedule");
    optimizer.common_mut().set_scheduler(Arc::new(schedule));
    Updater::new(optimizer)
}

fn bits(nd: &Imperative, params: &[Parameter]) -> Vec<u32> {
    params.iter().flat_map(|param| numbers(nd, &param.weight)).map(f32::to_bits).collect()
}

/// All optimizers except `sgld`, whose random numbers differ from device to device.
fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().filter(|name| *name != "sgld")
}

#[test]
fn every_copy_makes_the_steps_of_one() {
    let nd = reference();
    for name in names() {
        let alone = copy(&nd, Device::cpu(0));
        let copies: Vec<Vec<Parameter>> = (0..3).map(|id| copy(&nd, Device::cpu(id))).collect();
        let (mut single, mut several) = (updater(name), updater(name));
        for step in 0..5 {
            copies.iter().chain([&alone]).for_each(|params| set_gradients(params, step));
            single.update_all(&nd, &alone).expect("an update");
            several.update_copies(&nd, &copies).expect("an update");
        }
        for params in &copies {
            assert_eq!(bits(&nd, params), bits(&nd, &alone), "{name}");
        }
        assert_eq!(several.states().expect("states"), single.states().expect("states"), "{name}");
        assert_eq!(several.num_update(), 5, "{name}");
    }
}

/// Copies that join later, or after states were read from a file, start with the states of the first copy.
#[test]
fn copies_without_states_take_those_of_the_first() {
    let nd = reference();
    for name in names() {
        let whole = copy(&nd, Device::cpu(0));
        let mut first = updater(name);
        for step in 0..2 {
            set_gradients(&whole, step);
            first.update_all(&nd, &whole).expect("an update");
        }
        let copies: Vec<Vec<Parameter>> = (0..2).map(|id| copy(&nd, Device::cpu(id))).collect();
        for (to, from) in copies.iter().flat_map(|params| params.iter().zip(&whole)) {
            to.weight.copy_from_array(&from.weight).expect("a copy");
        }
        let mut second = updater(name);
        second.set_states(&nd, &copies[0], &first.states().expect("states")).expect("its own states");
        for step in 2..5 {
            copies.iter().chain([&whole]).for_each(|params| set_gradients(params, step));
            first.update_all(&nd, &whole).expect("an update");
            second.update_copies(&nd, &copies).expect("an update");
        }
        for params in &copies {
            assert_eq!(bits(&nd, params), bits(&nd, &whole), "{name}");
        }
    }
}

#[test]
fn the_first_error_of_a_copy_is_returned_and_the_next_step_is_whole() {
    let nd = reference();
    let mut copies: Vec<Vec<Parameter>> = (0..2).map(|id| copy(&nd, Device::cpu(id))).collect();
    let wrong = NdArray::from_slice(nd.context(), [1], &[0.0f32]).expect("an array");
    let right = std::mem::replace(&mut copies[1][0].grad, wrong);
    let mut updater = updater("adam");
    let error = updater.update_copies(&nd, &copies).expect_err("a gradient of another shape").to_string();
    assert!(error.contains("gradient of `fc_weight`"), "{error}");
    copies[1][0].grad = right;
    updater.update_copies(&nd, &copies).expect("an update");
    assert!(updater.update_copies(&nd, &[]).is_ok());
    assert_eq!(updater.state_arrays().len(), 2);
}
