//! D79: how many weights one call of an optimizer updates.

use crate::{Vars, builder, runtime};
use mxrs::ndarray::NdArray;
use mxrs::optim::{Gradient, Updater};

const SIZE: &str = "MXNET_OPTIMIZER_AGGREGATION_SIZE";

/// Calls for one update of ten weights, and the weights.
fn calls(vars: Vars<'_>, optimizer: &str) -> (u64, Vec<f32>) {
    let runtime = runtime(vars);
    let nd = runtime.imperative().unwrap();
    let array = |value: f32| NdArray::from_slice(runtime.arrays(), [3], &[value, -value, 0.5]).unwrap();
    let weights: Vec<NdArray> = (0..10_u8).map(|i| array(f32::from(i))).collect();
    let grads: Vec<NdArray> = (0..10_u8).map(|i| array(0.1 * f32::from(i))).collect();
    let names: Vec<String> = (0..10).map(|i| format!("fc{i}_weight")).collect();
    let all: Vec<Gradient<'_>> =
        names.iter().zip(&weights).zip(&grads).map(|((name, weight), grad)| Gradient { name, weight, grad }).collect();
    let settings = [("learning_rate", "0.1"), ("wd", "0.01")];
    let mut updater = Updater::new(runtime.optimizer(optimizer, &settings).unwrap());
    updater.update_all(&nd, &all).unwrap();
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
