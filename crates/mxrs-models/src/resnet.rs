//! Residual networks with pre-activation ("v2"): each unit normalizes before it convolves, and the input itself is
//! normalized first. He et al., Identity mappings in deep residual networks, arXiv:1603.05027.

use crate::ModelOptions;
use crate::net::Net;
use crate::residual::{Plan, Unit, batch_norm, convolution, head, relu, stem_pooling};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let height = options.image.map_or(224, |i| i[1]);
    let plan = Plan::new("resnet", options.n_layers, height, 28)?;
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
    x = batch_norm(&mut net, "bn1", &x, false)?;
    x = relu(&mut net, "relu1", &x)?;
    head(&mut net, &x)
}

/// Adds a unit: normalization, activation and convolution, two or three times, and the sum with a shortcut. If the unit
/// changes the shape, its shortcut is a projection of the first activation.
fn residual_unit(net: &mut Net, input: &Symbol, unit: &Unit, is_bottleneck: bool) -> Result<Symbol> {
    let (n, stride) = (unit.n_channels, unit.stride);
    // For each convolution: the number of filters, the kernel, the stride and the padding.
    let layers = if is_bottleneck {
        vec![(n / 4, 1, 1, 0), (n / 4, 3, stride, 1), (n, 1, 1, 0)]
    } else {
        vec![(n, 3, stride, 1), (n, 3, 1, 1)]
    };
    let name = |part: &str| format!("{}_{part}", unit.name);
    let mut x = input.clone();
    let mut first_activation = None;
    for (i, (n_filters, kernel, stride, pad)) in layers.into_iter().enumerate() {
        x = batch_norm(net, &name(&format!("bn{}", i + 1)), &x, false)?;
        x = relu(net, &name(&format!("relu{}", i + 1)), &x)?;
        let activation = x.clone();
        first_activation.get_or_insert(activation);
        x = convolution(net, &name(&format!("conv{}", i + 1)), &x, n_filters, kernel, stride, Some(pad))?;
    }
    let shortcut = match first_activation {
        Some(activation) if !unit.keeps_shape => convolution(net, &name("sc"), &activation, n, 1, stride, None)?,
        _ => input.clone(),
    };
    net.call("_Plus", None, &[&x, &shortcut], &[])
}
