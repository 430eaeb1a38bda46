//! ResNeXt: residual networks whose 3x3 convolutions in bottlenecks have 32 groups of channels. The input is normalized
//! first. Xie et al., arXiv:1611.05431.

use crate::ModelOptions;
use crate::net::{Flag, Net, square};
use crate::residual::{Plan, Unit, batch_norm, convolution, head, relu, stem_pooling};
use mxrs_graph::Symbol;
use mxrs_types::Result;

/// The number of groups.
const N_GROUPS: usize = 32;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let height = options.image.map_or(224, |i| i[1]);
    let plan = Plan::new("resnext", options.n_layers, height, 32)?;
    let mut net = Net::new(options);
    let mut x = net.data(true)?;
    x = batch_norm(&mut net, "bn_data", &x, true)?;
    if plan.has_small_stem {
        x = convolution(&mut net, "conv0", &x, plan.n_channels[0], 3, 1, Some(1))?;
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

/// Adds a unit: convolution and normalization, two or three times, with activations in between, and an activation after the
/// sum with the shortcut. The 3x3 convolution of a bottleneck has the stride of the unit.
fn residual_unit(net: &mut Net, input: &Symbol, unit: &Unit, is_bottleneck: bool) -> Result<Symbol> {
    let (n, stride) = (unit.n_channels, unit.stride);
    let name = |part: &str| format!("{}_{part}", unit.name);
    let mut x = input.clone();
    if is_bottleneck {
        x = convolution(net, &name("conv1"), &x, n / 2, 1, 1, Some(0))?;
        x = batch_norm(net, &name("bn1"), &x, false)?;
        x = relu(net, &name("relu1"), &x)?;
        x = grouped(net, &name("conv2"), &x, n / 2, stride)?;
        x = batch_norm(net, &name("bn2"), &x, false)?;
        x = relu(net, &name("relu2"), &x)?;
        x = convolution(net, &name("conv3"), &x, n, 1, 1, Some(0))?;
        x = batch_norm(net, &name("bn3"), &x, false)?;
    } else {
        x = convolution(net, &name("conv1"), &x, n, 3, stride, Some(1))?;
        x = batch_norm(net, &name("bn1"), &x, false)?;
        x = relu(net, &name("relu1"), &x)?;
        x = convolution(net, &name("conv2"), &x, n, 3, 1, Some(1))?;
        x = batch_norm(net, &name("bn2"), &x, false)?;
    }
    let shortcut = if unit.keeps_shape {
        input.clone()
    } else {
        let projected = convolution(net, &name("sc"), input, n, 1, stride, None)?;
        batch_norm(net, &name("sc_bn"), &projected, false)?
    };
    let sum = net.call("_Plus", None, &[&x, &shortcut], &[])?;
    relu(net, &name("relu"), &sum)
}

/// Adds a 3x3 convolution of groups of channels.
fn grouped(net: &mut Net, name: &str, input: &Symbol, n_filters: usize, stride: usize) -> Result<Symbol> {
    net.convolution(
        Some(name),
        input,
        &[
            ("kernel", &square(3)),
            ("no_bias", &Flag(true)),
            ("num_filter", &n_filters),
            ("num_group", &N_GROUPS),
            ("pad", &square(1)),
            ("stride", &square(stride)),
            ("workspace", &256),
        ],
    )
}
