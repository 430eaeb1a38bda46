//! Tests gradients along the tape against central differences and exact derivatives.

mod common;

use common::*;
use mxrs_exec::{Function, GradReq, Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::Result;

type Smooth = fn(&Imperative, &NdArray) -> Result<NdArray>;

/// Rule A1: gradients of compositions of the named operators agree with central differences.
#[test]
fn a1_gradients_agree_with_central_differences() {
    let nd = imperative();
    let cases: [(&str, Smooth); 10] = [
        ("polynomial", |nd, x| nd.sub(&nd.mul(x, &nd.square(x)?)?, &nd.mul_scalar(x, 3.0)?)),
        ("exp of sigmoid", |nd, x| nd.exp(&nd.sigmoid(x)?)),
        ("log of square", |nd, x| nd.log(&nd.add_scalar(&nd.square(x)?, 1.0)?)),
        ("quotient", |nd, x| nd.div(&nd.tanh(x)?, &nd.add_scalar(&nd.square(x)?, 2.0)?)),
        ("softmax of transpose", |nd, x| nd.square(&nd.softmax(&nd.transpose(x, &[])?, 0)?)),
        ("mean minus mean", |nd, x| nd.square(&nd.sub(x, &nd.mean(x, &[1], true)?)?)),
        ("concat and slices", |nd, x| {
            let y = nd.concat(&[&nd.slice_axis(x, 1, 1, None)?, &nd.square(x)?], 1)?;
            nd.square(&nd.reshape(&y, &[-1])?)
        }),
        ("views", |nd, x| {
            let rows = x.slice(1, 2)?;
            let flat = x.reshape([6])?;
            nd.mul(&nd.sum(&nd.square(&flat)?, &[], false)?, &nd.sum(&nd.exp(&rows)?, &[], false)?)
        }),
        ("shared", |nd, x| {
            let e = nd.exp(x)?;
            nd.add(&nd.mul(&e, &e)?, &nd.mul(&e, &nd.relu(x)?)?)
        }),
        ("sqrt of abs", |nd, x| nd.sqrt(&nd.abs(&nd.mul_scalar(x, 2.0)?)?)),
    ];
    let at = numbers(6, 5);
    for (name, f) in cases {
        let x = marked(&nd, &[2, 3], &at);
        let y = recorded(|| nd.sum(&f(&nd, &x)?, &[], false));
        backward(&nd, &y);
        let value = |v: &[f64]| values(&f(&nd, &array(&nd, [2, 3], v)).unwrap()).iter().sum();
        assert_close(&grad(&x), &numeric(value, &at), name);
    }
}

/// Rule A1: gradients of a layer's parameters agree with central differences, with a different request for each parameter.
#[test]
fn a1_layers_and_requests() {
    let nd = imperative();
    let (x, w, b) = (numbers(6, 1), numbers(12, 2), numbers(4, 3));
    let forward = |x: &NdArray, w: &NdArray, b: &NdArray| {
        let y = nd.fully_connected(x, w, Some(b), 4).unwrap();
        nd.sum(&nd.square(&nd.tanh(&y).unwrap()).unwrap(), &[], false).unwrap()
    };
    let of = |x: &[f64], w: &[f64], b: &[f64]| {
        values(&forward(&array(&nd, [2, 3], x), &array(&nd, [4, 3], w), &array(&nd, [4], b)))[0]
    };
    let (ax, aw, ab) = (array(&nd, [2, 3], &x), marked(&nd, &[4, 3], &w), array(&nd, [4], &b));
    nd.attach_grad(&ab, GradReq::Add).unwrap();
    autograd::grad_of(&ab).unwrap().copy_from(&[100.0f64; 4]).unwrap();
    let y = recorded(|| Ok(forward(&ax, &aw, &ab)));
    backward(&nd, &y);
    assert_close(&grad(&aw), &numeric(|w| of(&x, w, &b), &w), "weight");
    let added: Vec<f64> = numeric(|b| of(&x, &w, b), &b).iter().map(|g| g + 100.0).collect();
    assert_close(&grad(&ab), &added, "bias, added");
    assert!(autograd::grad_of(&ax).is_none());
}

/// Rule A3: with the request `add`, gradients of successive calls are added up.
#[test]
fn a3_with_add_gradients_add_up() {
    let nd = imperative();
    let x = array(&nd, [2], &[2.0, 3.0]);
    nd.attach_grad(&x, GradReq::Add).unwrap();
    for k in 1..=4 {
        let y = recorded(|| nd.square(&x));
        backward(&nd, &y);
        assert_eq!(grad(&x), [4.0 * f64::from(k), 6.0 * f64::from(k)]);
    }
}

/// Rule A6: derivatives of derivatives of a polynomial are exact.
#[test]
fn a6_higher_derivatives_of_polynomials_are_exact() {
    let nd = imperative();
    // x^4 at small integers: 4x^3, 12x^2, 24x, 24, all exact in floating point.
    let at = [1.0, 2.0, -3.0];
    let x = marked(&nd, &[3], &at);
    let mut y = recorded(|| nd.mul(&nd.mul(&x, &x)?, &nd.mul(&x, &x)?));
    type Power = fn(f64) -> f64;
    let expected: [Power; 4] = [|x| 4.0 * x * x * x, |x| 12.0 * x * x, |x| 24.0 * x, |_| 24.0];
    for (order, f) in expected.iter().enumerate() {
        y = nd.grad(&[&y], &[&x], &[], CREATE).unwrap().swap_remove(0);
        assert_eq!(values(&y), at.map(f), "derivative {}", order + 1);
    }
    let fifth = nd.grad(&[&y], &[&x], &[], CREATE);
    assert!(fifth.is_err() || values(&fifth.unwrap()[0]) == [0.0; 3]);
}

/// Rule A6: second derivatives of compositions, which read saved outputs, agree with central differences of the first
/// derivative.
#[test]
fn a6_second_derivatives_agree_with_differences() {
    let nd = imperative();
    let cases: [(&str, Smooth); 4] = [
        ("exp", |nd, x| nd.exp(&nd.square(x)?)),
        ("tanh", |nd, x| nd.mul(&nd.tanh(x)?, &nd.sigmoid(x)?)),
        ("view", |nd, x| nd.square(&nd.exp(&x.slice(1, 2)?.reshape([3])?)?)),
        ("log", |nd, x| nd.log(&nd.add_scalar(&nd.square(x)?, 1.0)?)),
    ];
    let at = numbers(6, 9);
    let weights = numbers(6, 10);
    for (name, f) in cases {
        let first = |v: &[f64]| {
            let x = marked(&nd, &[2, 3], v);
            let y = recorded(|| f(&nd, &x));
            (nd.grad(&[&y], &[&x], &[], CREATE).unwrap().swap_remove(0), x)
        };
        let w = array(&nd, [2, 3], &weights);
        let (g, x) = first(&at);
        let second = nd.grad(&[&g], &[&x], &[Some(&w)], RETAIN).unwrap();
        let dot = |v: &[f64]| values(&first(v).0).iter().zip(&weights).map(|(g, w)| g * w).sum();
        assert_close(&values(&second[0]), &numeric(dot, &at), name);
    }
}

/// Rule A9: marking an array with the request `null` allocates nothing.
#[test]
fn a9_a_null_leaf_allocates_no_gradient() {
    let nd = imperative();
    let x = array(&nd, [1000], &[1.0; 1000]);
    let before = live_bytes(&nd);
    nd.attach_grad(&x, GradReq::Null).unwrap();
    assert_eq!(live_bytes(&nd), before);
    assert!(autograd::grad_of(&x).is_none());
}

/// Rule A10: the gradient of an intermediate array equals the gradient of the graph that begins at this array.
#[test]
fn a10_gradients_of_intermediates_are_those_of_the_graph_split_there() {
    let nd = imperative();
    let at = numbers(4, 4);
    let x = marked(&nd, &[4], &at);
    let (middle, y) = recorded(|| {
        let middle = nd.exp(&x)?;
        nd.attach_grad(&middle, GradReq::Write)?;
        let y = nd.square(&nd.sum(&middle, &[], false)?)?;
        Ok((middle, y))
    });
    backward(&nd, &y);
    let split = marked(&nd, &[4], &at.iter().map(|v| v.exp()).collect::<Vec<_>>());
    let z = recorded(|| nd.square(&nd.sum(&split, &[], false)?));
    backward(&nd, &z);
    assert_close(&grad(&middle), &grad(&split), "intermediate");
    let chained: Vec<f64> = grad(&split).iter().zip(&at).map(|(g, v)| g * v.exp()).collect();
    assert_close(&grad(&x), &chained, "leaf behind it");
    autograd::drop_grads(&middle);
    assert!(autograd::grad_of(&middle).is_none() && autograd::is_tracked(&middle));
    let again = recorded(|| nd.exp(&x));
    nd.attach_grad(&again, GradReq::Write).unwrap();
    assert!(nd.attach_grad(&again, GradReq::Write).is_err(), "marked twice");
}

#[test]
fn functions_with_a_gradient_of_their_own() {
    let nd = imperative();
    let inner = nd.clone();
    let again = nd.clone();
    let cube = Function::new(
        "cube",
        move |inputs| {
            assert!(!autograd::is_recording(), "forward runs with recording off");
            Ok(vec![inner.mul(&inner.square(&inputs[0])?, &inputs[0])?])
        },
        move |call| {
            let slope = again.mul_scalar(&again.square(&call.inputs[0])?, 3.0)?;
            Ok(vec![again.mul(&slope, &call.out_grads[0])?])
        },
    );
    let x = marked(&nd, &[2], &[2.0, -1.0]);
    let y = recorded(|| nd.mul_scalar(&cube.call(&[&x])?[0], 2.0));
    assert_eq!(values(&y), [16.0, -2.0]);
    let first = nd.grad(&[&y], &[&x], &[], CREATE).unwrap();
    assert_eq!(values(&first[0]), [24.0, 6.0]);
    let second = nd.grad(&[&first[0]], &[&x], &[], RETAIN).unwrap();
    assert_eq!(values(&second[0]), [24.0, -12.0]);
    let wrong = Function::new("wrong", |i| Ok(vec![i[0].clone()]), |_| Ok(vec![]));
    let z = recorded(|| wrong.call(&[&x]));
    let error = nd.backward(&[&z[0]], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("wrong") && error.contains("one per input"), "{error}");
}

#[test]
fn dropout_in_both_modes() {
    let nd = imperative();
    let x = marked(&nd, &[100], &[1.0; 100]);
    let y = recorded(|| nd.dropout(&x, 0.5));
    backward(&nd, &y);
    assert_eq!(grad(&x), values(&y), "the gradient is the mask");
    let y = recorded(|| {
        let _predict = autograd::predict_mode();
        nd.dropout(&x, 0.5)
    });
    backward(&nd, &y);
    assert_eq!(grad(&x), [1.0; 100]);
}

/// A layer may be called twice before the gradient is computed. The second call updates the moving statistics. That does not
/// count as overwriting saved values.
#[test]
fn batch_norm_may_be_called_twice_before_backward() {
    let nd = imperative();
    for fix_gamma in ["True", "False"] {
        let attrs = Attrs::from([("fix_gamma", fix_gamma)]);
        let ones = |v: f64| marked(&nd, &[2], &[v; 2]);
        let (gamma, beta, mean, var) = (ones(1.0), ones(0.0), array(&nd, [2], &[0.0; 2]), array(&nd, [2], &[1.0; 2]));
        let at = [numbers(6, 1), numbers(6, 2)];
        let layer = |x: &NdArray| {
            let y = nd.batch_norm(x, (&gamma, &beta), (&mean, &var), &attrs)?;
            nd.sum(&nd.exp(&y)?, &[], false)
        };
        let x = at.each_ref().map(|v| marked(&nd, &[3, 2], v));
        let y = recorded(|| nd.mul(&layer(&x[0])?, &layer(&x[1])?));
        backward(&nd, &y);
        let value = |v: &[f64]| {
            let _train = autograd::train_mode();
            let both = [v, &at[1]].map(|v| layer(&array(&nd, [3, 2], v)).unwrap());
            values(&both[0])[0] * values(&both[1])[0]
        };
        assert_close(&grad(&x[0]), &numeric(value, &at[0]), fix_gamma);
    }
}
