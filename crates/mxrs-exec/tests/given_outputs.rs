//! Calls that write to arrays that exist already: the shape of a given output is used, and an unaligned view is updated.

mod common;

use common::*;
use mxrs_op::Attrs;

#[test]
fn a_call_without_inputs_takes_the_shape_of_its_output() {
    let nd = imperative();
    let out = array(&nd, [2, 3], &[9.0; 6]);
    nd.invoke_into("_random_uniform", &Attrs::from([("low", "-1")]), &[], &[&out]).unwrap();
    assert!(values(&out).iter().all(|x| (-1.0..1.0).contains(x)));
    nd.invoke_into("_ones", &Attrs::new(), &[], &[&out]).unwrap();
    assert_eq!((values(&out), out.dtype()), (vec![1.0; 6], out.dtype()));
    let wrong = nd.invoke_into("_zeros", &Attrs::from([("shape", "(3,)")]), &[], &[&out]).unwrap_err();
    assert!(wrong.to_string().contains("(3,)"), "{wrong}");
}

#[test]
fn an_update_of_an_unaligned_view_changes_the_view_alone() {
    let nd = imperative();
    let momenta = f32s(&nd, [4, 1], &[1.0, 2.0, 3.0, 4.0]);
    let view = momenta.slice(1, 3).unwrap();
    assert!(!view.as_ptr().addr().is_multiple_of(64), "the view starts 4 bytes after an aligned array");
    let (weight, grad) = (f32s(&nd, [2, 1], &[5.0, 6.0]), f32s(&nd, [2, 1], &[10.0, 20.0]));
    let attrs = Attrs::from([("lr", "0.125"), ("momentum", "0.5")]);
    nd.invoke("sgd_mom_update", &attrs, &[&weight, &grad, &view]).unwrap();
    // MXNet's manual gives the update: `mom = momentum * mom - lr * grad`.
    assert_eq!(momenta.to_vec::<f32>().unwrap(), [1.0, -0.25, -1.0, 4.0]);
}
