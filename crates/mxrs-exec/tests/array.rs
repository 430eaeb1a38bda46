//! Tests operators such as `+` on arrays: values, errors that are returned later, and printing as in NumPy.

mod common;

use common::{context, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{Array, Imperative, autograd};
use mxrs_types::{DType, Result};

fn nd() -> Imperative {
    Imperative::new(&context(EngineKind::ThreadedPerDevice, 1), &options()).unwrap()
}

fn values(array: &Array) -> Vec<f32> {
    array.to_vec().unwrap()
}

#[test]
fn operators_take_arrays_and_numbers_on_both_sides() {
    let nd = nd();
    let a = nd.array([2, 2], &[1.0f32, 2.0, 4.0, 8.0]).unwrap();
    let b = nd.array([2], &[10.0f32, 20.0]).unwrap();
    assert_eq!(values(&(&a + &b)), [11.0, 22.0, 14.0, 28.0]);
    assert_eq!(values(&(&b - a.clone())), [9.0, 18.0, 6.0, 12.0]);
    assert_eq!(values(&(a.clone() * &b)), [10.0, 40.0, 40.0, 160.0]);
    assert_eq!(values(&(b.clone() / a.clone())), [10.0, 10.0, 2.5, 2.5]);
    assert_eq!(values(&(&a + 1.0)), [2.0, 3.0, 5.0, 9.0]);
    assert_eq!(values(&(1.0 - &a)), [0.0, -1.0, -3.0, -7.0]);
    assert_eq!(values(&(&a - 1.0)), [0.0, 1.0, 3.0, 7.0]);
    assert_eq!(values(&(2.0 * &a)), [2.0, 4.0, 8.0, 16.0]);
    assert_eq!(values(&(8.0 / &a)), [8.0, 4.0, 2.0, 1.0]);
    assert_eq!(values(&(&a / 2.0)), [0.5, 1.0, 2.0, 4.0]);
    assert_eq!(values(&-&a), [-1.0, -2.0, -4.0, -8.0]);
}

#[test]
fn methods_compute_reduce_and_index() -> Result<()> {
    let nd = nd();
    let x = nd.array([2, 3], &[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    assert_eq!(values(&x.sum(..)?), [15.0]);
    assert_eq!(values(&x.sum(0)?), [3.0, 5.0, 7.0]);
    assert_eq!(values(&x.mean([-1])?), [1.0, 4.0]);
    assert_eq!(values(&x.max([0, 1])?), [5.0]);
    assert_eq!(values(&x.argmax(1)?), [2.0, 2.0]);
    assert_eq!(x.reshape([3, -1])?.shape()?[..], [3, 2]);
    assert_eq!(values(&x.transpose([1, 0])?), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(values(&x.slice(1, 1..)?), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(values(&x.slice(1, ..-1)?), [0.0, 1.0, 3.0, 4.0]);
    assert_eq!(values(&x.slice(0, -1..=-1)?), [3.0, 4.0, 5.0]);
    assert_eq!(values(&x.at(1)?), [3.0, 4.0, 5.0]);
    assert_eq!(x.at(-2)?.shape()?[..], [3]);
    assert_eq!(values(&x.at(0)?.at(2)?), [2.0]);
    assert!((values(&x.tanh()?)[1] - 1.0f32.tanh()).abs() < 1e-6);
    assert!(x.at(2).is_err() && x.slice(2, ..).is_err() && x.reshape([4]).is_err() && x.sum(5).is_err());
    Ok(())
}

#[test]
fn the_first_error_surfaces_at_the_next_result_with_its_place() {
    let nd = nd();
    let (a, b) = (nd.array([2], &[1.0f32; 2]).unwrap(), nd.array([3], &[1.0f32; 3]).unwrap());
    let wrong = &a + &b;
    let later = 2.0 * (&a - wrong) / &b;
    for error in [later.to_vec::<f32>().unwrap_err(), later.tanh().unwrap_err(), later.shape().unwrap_err().clone()] {
        let message = error.to_string();
        assert!(message.contains("broadcast_add") && message.contains("computing `+` at "), "{message}");
        assert!(message.contains("array.rs:"), "{message}");
    }
    assert!(later.to_string().starts_with("<no array: "), "{later}");
}

/// The gradient of `sum((3x - 1)²)` is `6 (3x - 1)`.
#[test]
fn operators_are_recorded() -> Result<()> {
    let x = nd().array([3], &[0.0f32, 1.0, -2.0])?;
    assert!(x.grad().is_err());
    x.attach_grad()?;
    let y = {
        let _recorded = autograd::record();
        let e = 3.0 * &x - 1.0;
        (&e * &e).sum(..)?
    };
    y.backward()?;
    assert_eq!(values(&x.grad()?), [-6.0, 12.0, -42.0]);
    Ok(())
}

/// The expected texts are those of `str(numpy.array(...))` in NumPy 2.
#[test]
fn arrays_print_as_numpys() -> Result<()> {
    let nd = nd();
    let floats =
        |shape: &[usize], values: &[f32]| nd.array(shape.iter().copied().collect::<mxrs_types::Shape>(), values);
    let ramp = |shape: &[usize], step: f32| {
        let n: usize = shape.iter().product();
        floats(shape, &(0..n).map(|i| i as f32 * step).collect::<Vec<_>>())
    };
    for (array, expected) in [
        (floats(&[3], &[1.0, 2.5, -3.0])?, "[ 1.   2.5 -3. ]"),
        (floats(&[3], &[0.1, 0.25, 100.0])?, "[  0.1    0.25 100.  ]"),
        (floats(&[2], &[1e-7, 1.5e10])?, "[1.0e-07 1.5e+10]"),
        (floats(&[2], &[1e-5, 1.0])?, "[1.e-05 1.e+00]"),
        (floats(&[3], &[f32::NAN, f32::INFINITY, -1.5])?, "[ nan  inf -1.5]"),
        (floats(&[2], &[1.0 / 3.0, 2.0 / 3.0])?, "[0.33333334 0.6666667 ]"),
        (nd.array([2], &[1.0 / 3.0, 2.0 / 3.0f64])?, "[0.33333333 0.66666667]"),
        (floats(&[2], &[0.0, 0.0])?, "[0. 0.]"),
        (floats(&[2], &[123456789.0, 1.0])?, "[1.2345679e+08 1.0000000e+00]"),
        (nd.array([3], &[1i64, -20, 300])?, "[  1 -20 300]"),
        (floats(&[1, 1], &[7.0])?, "[[7.]]"),
        (floats(&[2], &[999.5, 0.5])?, "[9.995e+02 5.000e-01]"),
        (ramp(&[2, 2, 3], 1.0)?, "[[[ 0.  1.  2.]\n  [ 3.  4.  5.]]\n\n [[ 6.  7.  8.]\n  [ 9. 10. 11.]]]"),
        (
            ramp(&[30], 1.5)?,
            "[ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5\n 21.  22.5 24.  25.5 27.  28.5 30.  \
             31.5 33.  34.5 36.  37.5 39.  40.5\n 42.  43.5]",
        ),
        (ramp(&[2000], 1.0)?, "[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]"),
        (
            ramp(&[40, 100], 1.0)?,
            "[[0.000e+00 1.000e+00 2.000e+00 ... 9.700e+01 9.800e+01 9.900e+01]\n \
             [1.000e+02 1.010e+02 1.020e+02 ... 1.970e+02 1.980e+02 1.990e+02]\n \
             [2.000e+02 2.010e+02 2.020e+02 ... 2.970e+02 2.980e+02 2.990e+02]\n ...\n \
             [3.700e+03 3.701e+03 3.702e+03 ... 3.797e+03 3.798e+03 3.799e+03]\n \
             [3.800e+03 3.801e+03 3.802e+03 ... 3.897e+03 3.898e+03 3.899e+03]\n \
             [3.900e+03 3.901e+03 3.902e+03 ... 3.997e+03 3.998e+03 3.999e+03]]",
        ),
        (nd.zeros([0], DType::F32)?, "[]"),
    ] {
        assert_eq!(array.to_string(), expected);
    }
    Ok(())
}
