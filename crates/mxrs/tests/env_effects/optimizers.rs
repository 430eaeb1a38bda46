//! Row D79 of `docs/env.md`: how many weights one call of an optimizer updates.

use crate::graphs::Calls;
use crate::log_lines::log_lines;
use crate::{Vars, builder, runtime};
use mxrs::data::DataDesc;
use mxrs::graph::Symbol;
use mxrs::ndarray::NdArray;
use mxrs::optim::{Parameter, Updater};
use mxrs::train::{BindFor, InitOptions, Module};
use mxrs::types::DType;

const SIZE: &str = "MXNET_OPTIMIZER_AGGREGATION_SIZE";

/// Number of calls for one update of ten weights, and the weights.
fn calls(vars: Vars<'_>, optimizer: &str) -> (u64, Vec<f32>) {
    updates(vars, optimizer, 10, 1)
}

/// Number of calls for `n_updates` updates of `n_weights` weights, and the weights.
fn updates(vars: Vars<'_>, optimizer: &str, n_weights: u8, n_updates: usize) -> (u64, Vec<f32>) {
    let runtime = runtime(vars);
    let nd = runtime.imperative().unwrap();
    let array = |value: f32| NdArray::from_slice(runtime.arrays(), [3], &[value, -value, 0.5]).unwrap();
    let weights: Vec<NdArray> = (0..n_weights).map(|i| array(f32::from(i))).collect();
    let grads: Vec<NdArray> = (0..n_weights).map(|i| array(0.1 * f32::from(i))).collect();
    let names: Vec<String> = (0..n_weights).map(|i| format!("fc{i}_weight")).collect();
    let arrays = names.into_iter().zip(&weights).zip(grads);
    let all: Vec<Parameter> =
        arrays.map(|((name, weight), grad)| Parameter { name, weight: weight.clone(), grad }).collect();
    let settings = [("learning_rate", "0.1"), ("wd", "0.01")];
    let mut updater = Updater::new(runtime.optimizer(optimizer, &settings).unwrap());
    (0..n_updates).for_each(|_| updater.update_all(&nd, &all).unwrap());
    (updater.n_calls(), weights.iter().flat_map(|weight| weight.to_vec::<f32>().unwrap()).collect())
}

#[test]
fn d79_so_many_weights_by_one_call() {
    let (n_calls, weights) = calls(&[], "sgd");
    assert_eq!(n_calls, 3, "four weights by one call");
    for (vars, expected) in
        [(&[("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4")] as Vars<'_>, 3), (&[(SIZE, "1")], 10), (&[(SIZE, "60")], 1)]
    {
        let (n_calls, same) = calls(vars, "sgd");
        assert_eq!(n_calls, expected, "{vars:?}");
        assert_eq!(same, weights, "{vars:?}");
    }
    assert_eq!(calls(&[(SIZE, "60")], "ftrl").0, 10, "it updates one weight by a call");
    for wrong in ["0", "61", "four"] {
        let message = builder(&[(SIZE, wrong)]).build().expect_err("a value that is refused").to_string();
        assert!(message.contains(SIZE), "{message}");
    }
}

/// If the kernels of an optimizer support fewer weights per call than requested, calls get the largest number that is
/// supported, and the optimizer warns once.
#[test]
fn d79_lower_limits_are_told_once() {
    for (optimizer, size, n_calls, limit) in
        [("lamb", "60", 3, Some("45")), ("lamb", "45", 3, None), ("adamw", "60", 2, Some("50")), ("sgd", "60", 2, None)]
    {
        let ((n, _), lines) = log_lines(|| updates(&[(SIZE, size)], optimizer, 100, 2));
        assert_eq!(n, 2 * n_calls, "{optimizer} with {size}");
        let logged: Vec<&String> = lines.iter().filter(|line| line.contains("weights by one call")).collect();
        let is_as_expected = match limit {
            Some(limit) => logged.len() == 1 && logged[0].contains(optimizer) && logged[0].contains(limit),
            None => logged.is_empty(),
        };
        assert!(is_as_expected, "{optimizer} with {size}: {logged:?}");
    }
}

/// Number of pushed tasks for one update of six parameters, by an optimizer that a module creates by name.
fn pushed(vars: Vars<'_>) -> u64 {
    let runtime = runtime(vars);
    let mut calls = Calls::new(&runtime);
    let mut x = Symbol::variable("data");
    for i in 0..3 {
        x = calls.named(&format!("fc{i}"), "FullyConnected", &[("num_hidden", "3")], &[&x]);
    }
    let graph = calls.named("softmax", "SoftmaxOutput", &[], &[&x]).graph().unwrap();
    let mut module = Module::new(&runtime, &graph).unwrap();
    let (data, label) = (DataDesc::new("data", [2, 3], DType::F32), DataDesc::new("softmax_label", [2], DType::F32));
    module.bind(&[data], &[label], BindFor::default()).unwrap();
    module.init_params(None, &InitOptions::default()).unwrap();
    module.init_optimizer_named("sgd", &[]).unwrap();
    let before = runtime.engine().counters().pushed;
    module.update().unwrap();
    runtime.engine().counters().pushed - before
}

#[test]
fn d79_holds_for_optimizers_of_modules() {
    let together = pushed(&[(SIZE, "60")]);
    for (vars, n_calls) in [(&[] as Vars<'_>, 2), (&[(SIZE, "4")], 2), (&[(SIZE, "1")], 6), (&[(SIZE, "5")], 2)] {
        assert_eq!(pushed(vars) - together, n_calls - 1, "{vars:?}");
    }
}
