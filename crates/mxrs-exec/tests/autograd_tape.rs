//! Tests what the tape keeps, when it frees it, and what it refuses.

mod common;

use common::*;
use mxrs_exec::{BackwardOptions, GradReq, ImperativeOptions, autograd};
use mxrs_op::Attrs;

/// Rule A2: a second backward along the same tape needs `retain_graph`.
#[test]
fn a2_a_second_backward_needs_retain() {
    let nd = imperative();
    let x = marked(&nd, &[2], &[2.0, 3.0]);
    let y = recorded(|| nd.exp(&x));
    nd.backward(&[&y], &[], RETAIN).unwrap();
    let first = grad(&x);
    autograd::grad_of(&x).unwrap().copy_from(&[0.0f64; 2]).unwrap();
    backward(&nd, &y);
    assert_eq!(grad(&x), first, "with retain: identical");
    let error = nd.backward(&[&y], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("retain_graph") && error.contains("exp"), "{error}");
}

/// Rule A5: after backward, the tape holds no memory.
#[test]
fn a5_memory_returns_to_where_it_was() {
    let nd = imperative();
    let x = marked(&nd, &[1000], &numbers(1000, 1));
    let before = live_bytes(&nd);
    for _ in 0..3 {
        let y = recorded(|| {
            let mut y = x.clone();
            for _ in 0..10 {
                y = nd.exp(&nd.mul_scalar(&y, 0.1)?)?;
            }
            nd.sum(&y, &[], false)
        });
        assert!(live_bytes(&nd) > before + 10 * 8000, "the tape owns what the gradient reads");
        backward(&nd, &y);
        // The head is still alive. The values that it was computed from are freed.
        assert!(live_bytes(&nd) <= before + 8);
    }
    // The tape is also freed if no gradient is ever computed, and after second derivatives, whose tapes refer to each
    // other.
    let dropped = recorded(|| nd.exp(&nd.exp(&x)?));
    drop(dropped);
    {
        let y = recorded(|| nd.exp(&nd.square(&x)?));
        let first = nd.grad(&[&y], &[&x], &[], CREATE).unwrap();
        nd.grad(&[&first[0]], &[&x], &[], RETAIN).unwrap();
    }
    assert_eq!(live_bytes(&nd), before);
}

#[test]
fn long_tapes_end_without_recursion() {
    let nd = imperative();
    let x = marked(&nd, &[1], &[1.0]);
    let y = recorded(|| {
        let mut y = x.clone();
        for _ in 0..30_000 {
            y = y.reshape([1])?;
        }
        Ok(y)
    });
    drop(y);
    assert_eq!(values(&x), [1.0]);
}

/// Rule A8: threads record independently of each other.
#[test]
fn a8_threads_record_independently() {
    let nd = imperative();
    let shared = marked(&nd, &[2], &[1.0, 2.0]);
    std::thread::scope(|scope| {
        for k in 1..5 {
            let (nd, shared) = (&nd, &shared);
            scope.spawn(move || {
                for _ in 0..20 {
                    assert!(!autograd::is_recording());
                    let x = marked(nd, &[2], &[3.0, 4.0]);
                    let y = recorded(|| nd.mul(&nd.mul_scalar(&x, f64::from(k))?, shared));
                    let g = nd.grad(&[&y], &[&x], &[], BackwardOptions::default()).unwrap();
                    assert_eq!(values(&g[0]), [f64::from(k), 2.0 * f64::from(k)]);
                }
            });
        }
    });
}

#[test]
fn what_no_head_depends_on_gets_zero() {
    let nd = imperative();
    let (x, z) = (marked(&nd, &[2], &[1.0, 2.0]), marked(&nd, &[3], &[5.0; 3]));
    let y = recorded(|| nd.square(&x));
    let grads = nd.grad(&[&y], &[&z, &x], &[], BackwardOptions::default()).unwrap();
    assert_eq!((values(&grads[0]), values(&grads[1])), (vec![0.0; 3], vec![2.0, 4.0]));
    // If an operator has gradient zero, the gradient array of its input is overwritten with zeros.
    autograd::grad_of(&x).unwrap().copy_from(&[9.0f64; 2]).unwrap();
    let y = recorded(|| nd.zeros_like(&x));
    backward(&nd, &y);
    assert_eq!(grad(&x), [0.0; 2]);
}

#[test]
fn mistakes_say_what_to_do() {
    let nd = imperative();
    let x = array(&nd, [2], &[1.0, 2.0]);
    let plain = nd.square(&x).unwrap();
    let error = nd.backward(&[&plain], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("record") && error.contains("head 0"), "{error}");
    nd.attach_grad(&x, GradReq::Write).unwrap();
    let y = recorded(|| nd.square(&x));
    let wrong = array(&nd, [3], &[1.0; 3]);
    let error = nd.backward(&[&y], &[Some(&wrong)], RETAIN).unwrap_err().to_string();
    assert!(error.contains("gradient of head 0") && error.contains("as the head"), "{error}");
    autograd::drop_grads(&x);
    let other = array(&nd, [2], &[1.0, 2.0]);
    let error = nd.grad(&[&y], &[&other], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("variable 0") && error.contains("attach_grad"), "{error}");
    // The head depends on no marked array, because the mark was dropped before.
    let z = marked(&nd, &[2], &[1.0, 2.0]);
    let head = recorded(|| nd.square(&z));
    autograd::drop_grads(&z);
    let error = nd.backward(&[&head], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("attach_grad"), "{error}");
}

#[test]
fn in_place_writes_are_refused_while_recording() {
    let nd = imperative();
    let x = marked(&nd, &[2], &[1.0, 2.0]);
    let _record = autograd::record();
    let y = nd.square(&x).unwrap();
    for target in [&x, &y, &y.reshape([1, 2]).unwrap()] {
        let zeros = vec![0.0f64; 2];
        let error = target.copy_from(&zeros).unwrap_err().to_string();
        assert!(error.contains("pause") && error.contains(file!()), "{error}");
    }
    let add = nd.invoke_into("elemwise_add", &Attrs::new(), &[&x, &y], &[&y]);
    assert!(add.unwrap_err().to_string().contains("recorded"));
    // A recorded call may write to an array that is not tracked. The array is tracked from then on.
    let z = array(&nd, [2], &[0.0; 2]);
    nd.invoke_into("elemwise_add", &Attrs::new(), &[&x, &y], &[&z]).unwrap();
    backward(&nd, &z);
    assert_eq!(grad(&x), [3.0, 5.0]);
    assert_eq!(values(&x), [1.0, 2.0]);
}

#[test]
fn a_saved_value_that_was_overwritten_is_noticed_with_both_places() {
    for check_versions in [true, false] {
        let nd = imperative_with(ImperativeOptions { check_versions, ..ImperativeOptions::default() });
        let x = marked(&nd, &[2], &[1.0, 2.0]);
        let line = line!() + 1;
        let y = recorded(|| nd.square(&x));
        x.copy_from(&[5.0f64, 6.0]).unwrap();
        let result = nd.backward(&[&y], &[], BackwardOptions::default());
        if !check_versions {
            result.unwrap();
            continue;
        }
        let error = result.unwrap_err().to_string();
        let places = [format!("{}:{line}", file!()), format!("{}:{}", file!(), line + 1)];
        assert!(places.iter().all(|p| error.contains(p)), "{error}");
        assert!(error.contains("square") && error.contains("input `data`"), "{error}");
    }
    // Values that the gradient does not read may be overwritten, also through views and by operators.
    let nd = imperative();
    let x = marked(&nd, &[2], &[1.0, 2.0]);
    let y = recorded(|| nd.exp(&x));
    x.reshape([2, 1]).unwrap().copy_from(&[0.0f64; 2]).unwrap();
    nd.backward(&[&y], &[], RETAIN).unwrap();
    nd.invoke_into("relu", &Attrs::new(), &[&x], &[&y.detach()]).unwrap();
    assert!(nd.backward(&[&y], &[], RETAIN).unwrap_err().to_string().contains("output 0"));
}

#[test]
fn the_tape_keeps_what_the_gradient_reads_and_no_more() {
    let nd = imperative();
    let x = marked(&nd, &[1000], &[1.0; 1000]);
    let before = live_bytes(&nd);
    // The gradients of a sum and of a product by a constant read neither inputs nor outputs.
    let y = recorded(|| nd.sum(&nd.mul_scalar(&nd.add_scalar(&x, 1.0)?, 2.0)?, &[], false));
    assert_eq!(live_bytes(&nd), before + 8);
    backward(&nd, &y);
    assert_eq!(grad(&x), [2.0; 1000]);
}
