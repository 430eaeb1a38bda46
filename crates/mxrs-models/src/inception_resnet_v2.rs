//! Inception-ResNet v2: units of parallel towers of convolutions, whose scaled result is added to their input. Convolutions
//! have biases. Szegedy et al., arXiv:1602.07261.

use crate::ModelOptions;
use crate::net::{Flag, Net, Pair, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("inception-resnet-v2")?;
    let mut x = net.data(false)?;
    x = stem(&mut net, &x)?;
    x = mixed(&mut net, &x)?;
    for _ in 0..10 {
        x = residual_unit(&mut net, &x, &unit_35(), "0.17")?;
        x = net.activation(None, &x, "relu")?;
    }
    x = shrink_to_17(&mut net, &x)?;
    for _ in 0..20 {
        x = residual_unit(&mut net, &x, &unit_17(), "0.1")?;
        x = net.activation(None, &x, "relu")?;
    }
    x = shrink_to_8(&mut net, &x)?;
    for _ in 0..9 {
        x = residual_unit(&mut net, &x, &unit_8(), "0.2")?;
        x = net.activation(None, &x, "relu")?;
    }
    // The last unit is added in full, and has no activation.
    x = residual_unit(&mut net, &x, &unit_8(), "1.0")?;
    x = tower(&mut net, &x, &[same(1536, 1, 1)])?;
    let attrs = [("global_pool", &Flag(true) as _), ("kernel", &square(1) as _), ("stride", &square(2) as _)];
    x = net.pooling(None, &x, "avg", &attrs)?;
    x = net.flatten(None, &x)?;
    x = net.call("Dropout", None, &[&x], &[("p", &0.2)])?;
    x = net.dense(None, &x, net.n_classes)?;
    net.softmax(&x)
}

/// A convolution: the number of filters, the kernel, the stride and the padding.
#[derive(Clone, Copy)]
struct Layer {
    n_filters: usize,
    kernel: Pair,
    stride: usize,
    pad: Pair,
}

/// A convolution that keeps the image size.
fn same(n_filters: usize, height: usize, width: usize) -> Layer {
    Layer { n_filters, kernel: Pair(height, width), stride: 1, pad: Pair(height / 2, width / 2) }
}

/// A 3x3 convolution without padding.
fn unpadded(n_filters: usize, stride: usize) -> Layer {
    Layer { n_filters, kernel: square(3), stride, pad: square(0) }
}

/// Adds a convolution and a normalization.
fn normalized(net: &mut Net, input: &Symbol, layer: Layer) -> Result<Symbol> {
    let x = net.convolution(
        None,
        input,
        &[
            ("kernel", &layer.kernel),
            ("num_filter", &layer.n_filters),
            ("pad", &layer.pad),
            ("stride", &square(layer.stride)),
        ],
    )?;
    net.call("BatchNorm", None, &[&x], &[])
}

/// Adds one tower: consecutive convolutions, each with a normalization and an activation.
fn tower(net: &mut Net, input: &Symbol, layers: &[Layer]) -> Result<Symbol> {
    let mut x = input.clone();
    for layer in layers {
        x = normalized(net, &x, *layer)?;
        x = net.activation(None, &x, "relu")?;
    }
    Ok(x)
}

/// Adds a pooling that halves the image.
fn halved(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    net.pooling(None, input, "max", &[("kernel", &square(3)), ("stride", &square(2))])
}

fn concat(net: &mut Net, parts: &[&Symbol]) -> Result<Symbol> {
    net.call("Concat", None, parts, &[])
}

/// Adds the layers before the first block, which reduce images of 299 pixels to 35, and those of 224 pixels to 25.
fn stem(net: &mut Net, data: &Symbol) -> Result<Symbol> {
    let mut x = tower(net, data, &[unpadded(32, 2), unpadded(32, 1), same(64, 3, 3)])?;
    x = halved(net, &x)?;
    x = tower(net, &x, &[same(80, 1, 1), unpadded(192, 1)])?;
    halved(net, &x)
}

/// Adds a block with four towers: a 1x1 convolution; a 5x5 convolution; two 3x3 convolutions; pooling.
fn mixed(net: &mut Net, x: &Symbol) -> Result<Symbol> {
    let one = tower(net, x, &[same(96, 1, 1)])?;
    let five = tower(net, x, &[same(48, 1, 1), same(64, 5, 5)])?;
    let three = tower(net, x, &[same(64, 1, 1), same(96, 3, 3), same(96, 3, 3)])?;
    let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("stride", &square(1) as _)];
    let pooled = net.pooling(None, x, "avg", &attrs)?;
    let pooled = tower(net, &pooled, &[same(64, 1, 1)])?;
    concat(net, &[&one, &five, &three, &pooled])
}

/// A residual unit: its towers, and the number of its channels.
struct Unit {
    towers: Vec<Vec<Layer>>,
    n_channels: usize,
}

/// A unit for images of 35 pixels.
fn unit_35() -> Unit {
    let double = vec![same(32, 1, 1), same(48, 3, 3), same(64, 3, 3)];
    Unit { towers: vec![vec![same(32, 1, 1)], vec![same(32, 1, 1), same(32, 3, 3)], double], n_channels: 320 }
}

/// A unit for images of 17 pixels. Its 7x7 convolution is split into two. Only together do their paddings keep the image
/// size.
fn unit_17() -> Unit {
    let row = Layer { n_filters: 160, kernel: Pair(1, 7), stride: 1, pad: Pair(1, 2) };
    let column = Layer { n_filters: 192, kernel: Pair(7, 1), stride: 1, pad: Pair(2, 1) };
    Unit { towers: vec![vec![same(192, 1, 1)], vec![same(129, 1, 1), row, column]], n_channels: 1088 }
}

/// A unit for images of 8 pixels. Its 3x3 convolution is split into two.
fn unit_8() -> Unit {
    let split = vec![same(192, 1, 1), same(224, 1, 3), same(256, 3, 1)];
    Unit { towers: vec![vec![same(192, 1, 1)], split], n_channels: 2080 }
}

/// Adds a unit without its last activation: towers, a projection to the channels of the input, and the sum of the input and
/// `scale` times the projection.
fn residual_unit(net: &mut Net, input: &Symbol, unit: &Unit, scale: &str) -> Result<Symbol> {
    let mut parts = Vec::new();
    for layers in &unit.towers {
        parts.push(tower(net, input, layers)?);
    }
    let parts: Vec<&Symbol> = parts.iter().collect();
    let x = concat(net, &parts)?;
    let x = normalized(net, &x, same(unit.n_channels, 1, 1))?;
    let x = net.call("_MulScalar", None, &[&x], &[("scalar", &scale)])?;
    net.call("_Plus", None, &[input, &x], &[])
}

/// Adds a block that reduces images of 35 pixels to 17.
fn shrink_to_17(net: &mut Net, x: &Symbol) -> Result<Symbol> {
    let three = tower(net, x, &[unpadded(384, 2)])?;
    let double = tower(net, x, &[same(256, 1, 1), same(256, 3, 3), unpadded(384, 2)])?;
    let pooled = halved(net, x)?;
    concat(net, &[&three, &double, &pooled])
}

/// Adds a block that reduces images of 17 pixels to 8.
fn shrink_to_8(net: &mut Net, x: &Symbol) -> Result<Symbol> {
    let wide = tower(net, x, &[same(256, 1, 1), unpadded(384, 2)])?;
    let narrow = tower(net, x, &[same(256, 1, 1), unpadded(288, 2)])?;
    let double = tower(net, x, &[same(256, 1, 1), same(288, 3, 3), unpadded(320, 2)])?;
    let pooled = halved(net, x)?;
    concat(net, &[&wide, &narrow, &double, &pooled])
}
