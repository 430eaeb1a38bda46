//! Tests operators called on arrays: values, existing arrays as outputs, errors, the cache of signatures, bulking, random
//! numbers.

mod common;

use common::*;
use mxrs_exec::{GradReq, ImperativeOptions, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::DType;

#[test]
fn named_calls_agree_with_scalar_arithmetic() {
    let nd = imperative();
    let (a, b) = (numbers(6, 1), numbers(6, 2));
    let (x, y) = (array(&nd, [2, 3], &a), array(&nd, [2, 3], &b));
    let row = array(&nd, [1, 3], &b[..3]);
    type Binary = fn(f64, f64) -> f64;
    type Unary = fn(f64) -> f64;
    let two: [(&str, NdArray, Binary); 4] = [
        ("add", nd.add(&x, &y).unwrap(), |p, q| p + q),
        ("sub", nd.sub(&x, &y).unwrap(), |p, q| p - q),
        ("mul", nd.mul(&x, &y).unwrap(), |p, q| p * q),
        ("div", nd.div(&x, &y).unwrap(), |p, q| p / q),
    ];
    for (name, got, f) in two {
        let expected: Vec<f64> = a.iter().zip(&b).map(|(p, q)| f(*p, *q)).collect();
        assert_close(&values(&got), &expected, name);
    }
    let expected: Vec<f64> = (0..6).map(|i| a[i] * b[i % 3]).collect();
    assert_close(&values(&nd.mul(&x, &row).unwrap()), &expected, "broadcast");
    let one: [(&str, NdArray, Unary); 10] = [
        ("exp", nd.exp(&x).unwrap(), f64::exp),
        ("square", nd.square(&x).unwrap(), |v| v * v),
        ("abs", nd.abs(&x).unwrap(), f64::abs),
        ("relu", nd.relu(&x).unwrap(), |v| v.max(0.0)),
        ("tanh", nd.tanh(&x).unwrap(), f64::tanh),
        ("sigmoid", nd.sigmoid(&x).unwrap(), |v| 1.0 / (1.0 + (-v).exp())),
        ("rsub", nd.rsub_scalar(&x, 1.5).unwrap(), |v| 1.5 - v),
        ("log", nd.log(&nd.abs(&x).unwrap()).unwrap(), |v| v.abs().ln()),
        ("sqrt", nd.sqrt(&nd.abs(&x).unwrap()).unwrap(), |v| v.abs().sqrt()),
        ("zeros", nd.zeros_like(&x).unwrap(), |_| 0.0),
    ];
    for (name, got, f) in one {
        assert_close(&values(&got), &a.iter().map(|v| f(*v)).collect::<Vec<_>>(), name);
    }
    assert_close(&values(&nd.sum(&x, &[], false).unwrap()), &[a.iter().sum()], "sum");
    assert_close(&values(&nd.mean(&x, &[1], true).unwrap()), &[mean(&a[..3]), mean(&a[3..])], "mean");
    let turned = nd.transpose(&x, &[]).unwrap();
    assert_close(&values(&turned), &[a[0], a[3], a[1], a[4], a[2], a[5]], "transpose");
    let joined = nd.concat(&[&x, &y], 1).unwrap();
    assert_eq!(joined.shape()[..], [2, 6]);
    assert_close(&values(&nd.slice_axis(&joined, 1, 3, None).unwrap()), &b, "slice of concat");
    assert_eq!(nd.squeeze(&nd.expand_dims(&x, 0).unwrap(), &[0]).unwrap().shape(), x.shape());
    assert_eq!(nd.flatten(&nd.reshape(&x, &[3, -1, 1]).unwrap()).unwrap().shape()[..], [3, 2]);
    assert_eq!(nd.cast(&x, DType::F32).unwrap().dtype(), DType::F32);
    let most = nd.argmax(&f32s(&nd, [1, 3], &[1.0, 5.0, 2.0]), 1).unwrap();
    assert_eq!(most.to_vec::<f32>().unwrap(), [1.0]);
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

#[test]
fn outputs_may_be_inputs_wholly_or_in_part() {
    let nd = imperative();
    let add = |inputs: &[&NdArray], output: &NdArray| {
        nd.invoke_into("elemwise_add", &Attrs::new(), inputs, &[output]).unwrap();
    };
    let x = f32s(&nd, [4], &[1.0, 2.0, 3.0, 4.0]);
    let y = f32s(&nd, [4], &[10.0, 20.0, 30.0, 40.0]);
    add(&[&x, &y], &x);
    assert_eq!(x.to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0, 44.0]);
    add(&[&x, &x], &x);
    assert_eq!(x.to_vec::<f32>().unwrap(), [22.0, 44.0, 66.0, 88.0]);
    // The output overlaps the input by two elements. The kernel must read the old values.
    let (low, high) = (x.slice(0, 3).unwrap(), x.slice(1, 4).unwrap());
    add(&[&low, &low], &high);
    assert_eq!(x.to_vec::<f32>().unwrap(), [22.0, 44.0, 88.0, 132.0]);
    // The output of a reduction is an existing array.
    let total = f32s(&nd, [1], &[0.0]);
    nd.invoke_into("sum", &Attrs::new(), &[&x], &[&total]).unwrap();
    assert_eq!(total.to_vec::<f32>().unwrap(), [286.0]);
}

#[test]
fn mistakes_name_operator_and_argument() {
    let nd = imperative();
    let x = f32s(&nd, [2, 3], &[0.0; 6]);
    let w = f32s(&nd, [4, 5], &[0.0; 20]);
    let text = |result: mxrs_types::Result<Vec<NdArray>>| result.unwrap_err().to_string();
    let none = Attrs::new();
    let unknown = text(nd.invoke("FullyConected", &none, &[&x]));
    assert!(unknown.contains("FullyConnected"), "{unknown}");
    let few = text(nd.invoke("elemwise_add", &none, &[&x]));
    assert!(few.contains("elemwise_add") && few.contains("lhs, rhs"), "{few}");
    let shape = nd.fully_connected(&x, &w, None, 4).unwrap_err().to_string();
    assert!(shape.contains("FullyConnected") && shape.contains("weight"), "{shape}");
    let attr = text(nd.invoke("_plus_scalar", &Attrs::from([("scala", "1")]), &[&x]));
    assert!(attr.contains("_plus_scalar") && attr.contains("scala"), "{attr}");
    let into = nd.invoke_into("relu", &none, &[&x], &[&w]).unwrap_err().to_string();
    assert!(into.contains("relu") && into.contains("output"), "{into}");
}

#[test]
fn signatures_are_prepared_once_and_forgotten_when_too_many() {
    let nd = imperative_with(ImperativeOptions { max_signatures: 4, ..ImperativeOptions::default() });
    let x = f32s(&nd, [2], &[1.0, 2.0]);
    for _ in 0..10 {
        nd.relu(&x).unwrap();
    }
    assert_eq!(nd.n_prepared(), 1);
    for n in 1..10 {
        nd.relu(&f32s(&nd, [n], &vec![1.0; n])).unwrap();
    }
    assert_eq!(nd.n_prepared(), 4);
    let _train = autograd::train_mode();
    assert_eq!(nd.relu(&x).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
}

/// Rule E16: bulking (one engine task for several calls) changes no value.
#[test]
fn e16_bulking_changes_no_value() {
    let nd = imperative();
    let x = f32s(&nd, [3], &[1.0, 2.0, 3.0]);
    let run = || {
        let mut y = x.clone();
        for _ in 0..20 {
            y = nd.add_scalar(&y, 1.0).unwrap();
            nd.invoke_into("elemwise_add", &Attrs::new(), &[&y, &x], &[&y]).unwrap();
        }
        y
    };
    let plain = run().to_vec::<f32>().unwrap();
    let engine = nd.context().engine();
    let before = engine.counters();
    let bulked = {
        let _bulk = engine.bulk(8);
        run()
    };
    assert_eq!(bulked.to_vec::<f32>().unwrap(), plain);
    assert!(engine.counters().bulked >= before.bulked + 40, "the calls were collected");
}

/// Rule R1: with the same seed and the same order of calls, random numbers are the same with every engine and any number of
/// threads.
#[test]
fn r1_same_seed_and_order_same_numbers_on_every_engine_and_team() {
    let mut seen: Vec<Vec<f32>> = Vec::new();
    for kind in KINDS {
        for (workers, threads) in [(1, 1), (2, 1), (1, 3)] {
            let nd = imperative_on(kind, workers, threads);
            nd.context().random().seed(11);
            let ones = f32s(&nd, [50, 7], &[1.0; 350]);
            let _train = autograd::train_mode();
            let made: Vec<NdArray> = (0..3).map(|_| nd.dropout(&ones, 0.4).unwrap()).collect();
            seen.push(made.iter().flat_map(|a| a.to_vec::<f32>().unwrap()).collect());
        }
    }
    assert!(seen.iter().all(|s| *s == seen[0]));
    assert_ne!(seen[0][..350], seen[0][350..700], "each call draws numbers of its own");
    let kept = seen[0].iter().filter(|v| **v != 0.0).count() as f64 / 1050.0;
    // Four standard deviations of a mean of 1050 draws.
    assert!((kept - 0.6).abs() < 4.0 * (0.24f64 / 1050.0).sqrt(), "{kept}");
}

/// Rule R4: a seed applies from the next call on.
#[test]
fn r4_a_seed_counts_from_the_next_call_on() {
    let nd = imperative();
    let ones = f32s(&nd, [64], &[1.0; 64]);
    let _train = autograd::train_mode();
    let draw = || nd.dropout(&ones, 0.5).unwrap();
    nd.context().random().seed(5);
    let (a, b) = (draw(), draw());
    nd.context().random().seed(5);
    let (c, d) = (draw(), draw());
    let read = |x: &NdArray| x.to_vec::<f32>().unwrap();
    assert_eq!((read(&a), read(&b)), (read(&c), read(&d)));
    assert_ne!(read(&a), read(&b));
}

#[test]
fn batch_norm_updates_its_statistics_in_training_only() {
    let nd = imperative();
    let x = f32s(&nd, [4, 1], &[1.0, 2.0, 3.0, 6.0]);
    let (gamma, beta) = (f32s(&nd, [1], &[1.0]), f32s(&nd, [1], &[0.0]));
    let (mean, var) = (f32s(&nd, [1], &[0.0]), f32s(&nd, [1], &[1.0]));
    let attrs = Attrs::from([("momentum", "0.5")]);
    nd.batch_norm(&x, (&gamma, &beta), (&mean, &var), &attrs).unwrap();
    assert_eq!(mean.to_vec::<f32>().unwrap(), [0.0]);
    let _train = autograd::train_mode();
    nd.batch_norm(&x, (&gamma, &beta), (&mean, &var), &attrs).unwrap();
    // The mean of the batch is 3 and the momentum is one half.
    assert_eq!(mean.to_vec::<f32>().unwrap(), [1.5]);
}

/// Rule A4: recording changes no value.
#[test]
fn a4_recording_changes_no_value() {
    let nd = imperative();
    let x = array(&nd, [3, 4], &numbers(12, 3));
    let run = || {
        nd.context().random().seed(3);
        let y = nd.dropout(&nd.softmax(&nd.tanh(&x).unwrap(), -1).unwrap(), 0.3).unwrap();
        nd.mean(&y, &[0], false).unwrap()
    };
    let plain = {
        let _train = autograd::train_mode();
        values(&run())
    };
    nd.attach_grad(&x, GradReq::Write).unwrap();
    let _record = autograd::record();
    assert_eq!(values(&run()), plain);
}

#[test]
fn rewritten_inputs_share_no_memory_with_others() {
    let nd = imperative();
    let x = f32s(&nd, [4, 1], &[1.0, 2.0, 3.0, 6.0]);
    let (gamma, both) = (f32s(&nd, [1], &[1.0]), f32s(&nd, [1], &[0.0]));
    let var = f32s(&nd, [1], &[1.0]);
    let attrs = Attrs::from([("momentum", "0.5")]);
    let _train = autograd::train_mode();
    // Beta and the moving mean are the same array. The call must read beta before it rewrites the moving mean.
    let y = nd.batch_norm(&x, (&gamma, &both), (&both, &var), &attrs).unwrap();
    let total: f32 = y.to_vec::<f32>().unwrap().iter().sum();
    assert!(total.abs() < 1e-5, "{total}");
    assert_eq!(both.to_vec::<f32>().unwrap(), [1.5]);
    let error = nd.batch_norm(&x, (&gamma, &gamma), (&both, &both), &attrs).unwrap_err().to_string();
    assert!(error.contains("BatchNorm") && error.contains("inputs 3 and 4"), "{error}");
}
