//! Tests work that a training step avoids: separate calls for additions, because other kernels add in place, and a gradient
//! of data that would be used only to compute the gradient of β (the shift of a batch normalization).

mod steps;

use mxrs::graph::{Graph, Symbol};
use steps::{Calls, assert_alike, count, steps};

const WINDOW: [(&str, &str); 4] = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];
const POINT: [(&str, &str); 3] = [("kernel", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];

/// Normalized data followed by three residual units. The first has a convolution on the shortcut, the others have none.
fn residual(calls: &mut Calls<'_>) -> Graph {
    let data = calls.call("BatchNorm", &[], &[&Symbol::variable("x")]);
    let strided =
        [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pad", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];
    let mut x = calls.call("Convolution", &strided, &[&data]);
    for unit in 0..3 {
        let normalized = calls.call("BatchNorm", &[("fix_gamma", "False")], &[&x]);
        let active = calls.call("Activation", &[("act_type", "relu")], &[&normalized]);
        let made = calls.call("Convolution", &WINDOW, &[&active]);
        let shortcut = if unit == 0 { calls.call("Convolution", &POINT, &[&active]) } else { x };
        x = calls.call("elemwise_add", &[], &[&made, &shortcut]);
    }
    calls.loss(&x)
}

#[test]
fn kernels_of_terms_make_sums() {
    // oneDNN is disabled: for so few images its kernels would be chosen, and these do not fuse additions.
    let own = ("MXNET_ONEDNN_ENABLED", "0");
    let (expected, apart) = steps(residual, &[own, ("MXNET_EXEC_ENABLE_INPLACE", "0")], false);
    let (found, summed) = steps(residual, &[own], false);
    assert_eq!((count(&apart, "elemwise_add"), apart.inplace_adds.len()), (3, 0));
    assert!(count(&apart, "add_n") + count(&apart, "_grad_add") >= 3);
    for op in ["elemwise_add", "add_n", "_grad_add"] {
        assert_eq!(count(&summed, op), 0, "{op}");
    }
    let kernels = summed.steps.iter().filter(|step| step.kernel.ends_with("+sum")).count();
    // There are three sums in the forward pass. In the backward pass, the gradients of tensors that two convolutions read
    // are summed.
    assert!(kernels >= 4, "{kernels} kernels add");
    assert!(summed.arena_bytes <= apart.arena_bytes);
    assert_alike(&found, &expected, 2e-5);
}

/// If the gradient of the data is requested, the gradient of β is computed from the gradient of BatchNorm's output. Otherwise
/// it is computed from sums of the convolution's output gradient.
#[test]
fn beta_before_a_convolution_needs_no_gradient_of_data() {
    let (expected, whole) = steps(residual, &[], true);
    let (found, short) = steps(residual, &[], false);
    let counts = |report| ["_backward_Convolution_offset", "_backward_BatchNorm"].map(|op| count(report, op));
    assert_eq!((counts(&whole), counts(&short)), ([0, 1], [1, 0]));
    let expected: Vec<_> = expected.into_iter().filter(|(name, _)| name != "gradient of x").collect();
    assert!(expected.iter().any(|(name, values)| name == "gradient of batchnorm0_beta" && values[0] != 0.0));
    assert_alike(&found, &expected, 2e-5);
}
