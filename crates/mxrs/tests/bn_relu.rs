//! Batch normalization and ReLU in training: a backend with a fused call computes the values of the two calls, and
//! recomputation of outputs saves memory without changing a bit.

mod steps;

use mxrs::exec::ExecutorReport;
use mxrs::graph::{Graph, Symbol};
use steps::{Calls, Values, assert_alike, count};

/// Residual units with pre-activation, then units of convolution, normalization and ReLU, and a loss.
fn network(calls: &mut Calls<'_>) -> Graph {
    let mut call = |op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]| calls.call(op, attrs, inputs);
    let free = ("fix_gamma", "False");
    let window = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];
    let mut x = call("Convolution", &window, &[&Symbol::variable("x")]);
    for _ in 0..4 {
        let normalized = call("BatchNorm", &[free, ("momentum", "0.5")], &[&x]);
        let active = call("Activation", &[("act_type", "relu")], &[&normalized]);
        let made = call("Convolution", &window, &[&active]);
        x = call("elemwise_add", &[], &[&made, &x]);
    }
    for _ in 0..4 {
        let made = call("Convolution", &window, &[&x]);
        let normalized = call("BatchNorm", &[], &[&made]);
        x = call("relu", &[], &[&normalized]);
    }
    calls.loss(&x)
}

fn steps(vars: &[(&str, &str)]) -> (Values, ExecutorReport) {
    steps::steps(network, vars, true)
}

#[test]
fn one_call_has_the_values_of_two() {
    let off = ("MXRS_REMAT", "off");
    let (expected, apart) = steps(&[off, ("MXNET_USE_FUSION", "0")]);
    let (found, joined) = steps(&[off]);
    assert_eq!((count(&apart, "_bn_relu"), count(&apart, "BatchNorm")), (0, 8));
    assert_eq!((count(&joined, "_bn_relu"), count(&joined, "_backward_bn_relu")), (8, 8));
    for op in ["BatchNorm", "Activation", "relu", "_backward_BatchNorm", "_backward_Activation", "_backward_relu"] {
        assert_eq!(count(&joined, op), 0, "{op}");
    }
    assert!(joined.arena_bytes <= apart.arena_bytes);
    assert_alike(&found, &expected, 2e-4);
}

/// With default settings, recomputation frees at least a tenth of the memory, and no bit of the results changes.
#[test]
fn outputs_are_made_again_for_less_memory() {
    let (expected, off) = steps(&[("MXNET_BACKWARD_DO_MIRROR", "0")]);
    let (found, light) = steps(&[]);
    assert_eq!((count(&off, "_bn_relu_recompute"), count(&light, "_bn_relu")), (0, 8));
    assert!(count(&light, "_bn_relu_recompute") > 0);
    assert!(light.arena_bytes * 10 <= off.arena_bytes * 9, "{} of {}", light.arena_bytes, off.arena_bytes);
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())), "{name}");
    }
    let (mirrored, more) = steps(&[("MXNET_BACKWARD_DO_MIRROR", "1")]);
    assert!(more.arena_bytes < light.arena_bytes, "{} and {}", more.arena_bytes, light.arena_bytes);
    assert!(mirrored == expected, "mirroring changes no bit");
}

/// The gradient of the residual connection is added in place.
#[test]
fn gradients_of_two_readers_are_added_in_place() {
    let (_, report) = steps(&[]);
    assert!(!report.inplace_adds.is_empty());
    assert_eq!(count(&report, "add_n"), 0);
}
