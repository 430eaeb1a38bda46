//! Residual networks as first published ("v1"): each unit normalizes after each convolution, and its last activation comes
//! after the sum with the shortcut. He et al., Deep residual learning for image recognition, arXiv:1512.03385.

use crate::ModelOptions;
use crate::net::Net;
use crate::residual::{Plan, Unit, batch_norm, convolution, head, relu, stem_pooling};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let height = options.image.map_or(224, |i| i[1]);
    let plan = Plan::new("resnetv1", options.n_layers, height, 28)?;
    let mut net = Net::new(options);
    let mut x = net.data(true)?;
    if plan.has_small_stem {
        // The small stem is normalized, but has no activation.
        x = convolution(&mut net, "conv0", &x, plan.n_channels[0], 3, 1, Some(1))?;
        x = batch_norm(&mut net, "bn0", &x, false)?;
    } else {
        x = convolution(&mut net, "conv0", &x, plan.n_channels[0], 7, 2, Some(3))?;
        x = batch_norm(&mut net, "bn0", &x, false)?;
        x = relu(&mut net, "relu0", &x)?;
        x = stem_pooling(&mut net, &x)?;
    }
    for unit in plan.units() {
        x = residual_unit(&mut net, &x, &unit, plan.is_bottleneck)?;
    }
    head(&mut net, &x)
}

/// Adds a unit: convolution and normalization, two or three times, with activations in between; the first convolution has
/// the stride of the unit.
fn residual_unit(net: &mut Net, input: &Symbol, unit: &Unit, is_bottleneck: bool) -> Result<Symbol> {
    let (n, stride) = (unit.n_channels, unit.stride);
    // For each convolution: the number of filters, the kernel, the stride and the padding.
    let layers = if is_bottleneck {
        vec![(n / 4, 1, stride, 0), (n / 4, 3, 1, 1), (n, 1, 1, 0)]
    } else {
        vec![(n, 3, stride, 1), (n, 3, 1, 1)]
    };
    let name = |part: &str| format!("{}_{part}", unit.name);
    let n_layers = layers.len();
    let mut x = input.clone();
    for (i, (n_filters, kernel, stride, pad)) in layers.into_iter().enumerate() {
        let number = i + 1;
        x = convolution(net, &name(&format!("conv{number}")), &x, n_filters, kernel, stride, Some(pad))?;
        x = batch_norm(net, &name(&format!("bn{number}")), &x, false)?;
        if number < n_layers {
            x = relu(net, &name(&format!("relu{number}")), &x)?;
        }
    }
    let shortcut = if unit.keeps_shape {
        input.clone()
    } else {
        let projected = convolution(net, &name("conv1sc"), input, n, 1, stride, None)?;
        batch_norm(net, &name("sc"), &projected, false)?
    };
    let sum = net.call("_Plus", None, &[&x, &shortcut], &[])?;
    // The last activation is called `relu3` even in a unit without a bottleneck, which has only two activations.
    relu(net, &name("relu3"), &sum)
}
