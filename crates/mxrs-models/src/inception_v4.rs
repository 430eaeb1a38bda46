//! Inception v4, for images of 299 pixels. Szegedy et al., arXiv:1602.07261.

use crate::ModelOptions;
use crate::inception_v3::convolved;
use crate::net::{Net, Pair, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    let mut x = net.data(true)?;
    x = stem(&mut net, &x)?;
    for i in 1..=4 {
        x = block_35(&mut net, &format!("in{i}A"), &x)?;
    }
    x = shrink_to_17(&mut net, &x)?;
    for i in 1..=7 {
        x = block_17(&mut net, &format!("in{i}B"), &x)?;
    }
    x = shrink_to_8(&mut net, &x)?;
    for i in 1..=3 {
        x = block_8(&mut net, &format!("in{i}C"), &x)?;
    }
    // Despite its name, this pooling leaves 3x3 positions.
    x = net.pooling(Some("global_avgpool"), &x, "avg", &[("kernel", &square(8)), ("pad", &square(1))])?;
    x = net.call("Dropout", None, &[&x], &[("p", &0.2)])?;
    x = net.flatten(Some("flatten"), &x)?;
    x = net.dense(Some("fc1"), &x, net.n_classes)?;
    net.softmax(&x)
}

const ONE: Pair = Pair(1, 1);
const THREE: Pair = Pair(3, 3);

/// Adds one tower: consecutive convolutions, each with the end of its name, its number of filters and its kernel, padded to
/// keep the image size.
fn tower(net: &mut Net, name: &str, input: &Symbol, layers: &[(&str, usize, Pair)]) -> Result<Symbol> {
    let mut x = input.clone();
    for (end, n_filters, kernel) in layers {
        let pad = Pair(kernel.0 / 2, kernel.1 / 2);
        x = convolved(net, &format!("{name}_{end}"), &x, *n_filters, *kernel, 1, pad)?;
    }
    Ok(x)
}

/// Adds a 3x3 convolution without padding.
fn unpadded(net: &mut Net, name: &str, input: &Symbol, n_filters: usize, stride: usize) -> Result<Symbol> {
    convolved(net, name, input, n_filters, THREE, stride, square(0))
}

/// Adds a pooling that halves the image.
fn halved(net: &mut Net, name: &str, input: &Symbol) -> Result<Symbol> {
    net.pooling(Some(name), input, "max", &[("kernel", &THREE), ("stride", &square(2))])
}

/// Adds a pooling that keeps the image size, followed by a projection.
fn pooled_tower(net: &mut Net, name: &str, x: &Symbol, n_filters: usize) -> Result<Symbol> {
    let attrs = [("kernel", &THREE as _), ("pad", &square(1) as _)];
    let pooled = net.pooling(Some(&format!("{name}_avgpool_1")), x, "avg", &attrs)?;
    tower(net, name, &pooled, &[("conv1_1*1", n_filters, ONE)])
}

fn concat(net: &mut Net, name: &str, parts: &[&Symbol]) -> Result<Symbol> {
    net.call("Concat", Some(name), parts, &[])
}

/// Adds the layers before the first block, which reduce images of 299 pixels to 35.
fn stem(net: &mut Net, data: &Symbol) -> Result<Symbol> {
    let mut x = unpadded(net, "in_stem_conv1_3*3", data, 32, 2)?;
    x = unpadded(net, "in_stem_conv2_3*3", &x, 32, 1)?;
    x = tower(net, "in_stem", &x, &[("conv3_3*3", 64, THREE)])?;
    let pooled = halved(net, "in_stem_maxpool_1", &x)?;
    let three = unpadded(net, "in_stem_conv4_3*3", &x, 96, 2)?;
    x = concat(net, "in_stem_concat_1", &[&pooled, &three])?;
    let three = tower(net, "in_stem", &x, &[("conv5_1*1", 64, ONE)])?;
    let three = unpadded(net, "in_stem_conv6_3*3", &three, 96, 1)?;
    let seven = [("conv7_1*1", 64, ONE), ("conv8_7*1", 64, Pair(7, 1)), ("conv9_1*7", 64, Pair(1, 7))];
    let seven = tower(net, "in_stem", &x, &seven)?;
    let seven = unpadded(net, "in_stem_conv10_3*3", &seven, 96, 1)?;
    x = concat(net, "in_stem_concat_2", &[&three, &seven])?;
    let three = unpadded(net, "in_stem_conv11_3*3", &x, 192, 2)?;
    let pooled = halved(net, "in_stem_maxpool_2", &x)?;
    concat(net, "in_stem_concat_3", &[&three, &pooled])
}

/// Adds a block for images of 35 pixels with four towers: pooling; a 1x1 convolution; a 3x3 convolution; two 3x3
/// convolutions.
fn block_35(net: &mut Net, name: &str, x: &Symbol) -> Result<Symbol> {
    let pooled = pooled_tower(net, name, x, 96)?;
    let one = tower(net, name, x, &[("conv2_1*1", 96, ONE)])?;
    let three = tower(net, name, x, &[("conv3_1*1", 64, ONE), ("conv4_3*3", 96, THREE)])?;
    let double = [("conv5_1*1", 64, ONE), ("conv6_3*3", 96, THREE), ("conv7_3*3", 96, THREE)];
    let double = tower(net, name, x, &double)?;
    concat(net, &format!("{name}_concat_1"), &[&pooled, &one, &three, &double])
}

/// Adds a block that reduces images of 35 pixels to 17.
fn shrink_to_17(net: &mut Net, x: &Symbol) -> Result<Symbol> {
    let pooled = halved(net, "re1A_maxpool_1", x)?;
    let three = unpadded(net, "re1A_conv1_3*3", x, 384, 2)?;
    let double = tower(net, "re1A", x, &[("conv2_1*1", 192, ONE), ("conv3_3*3", 224, THREE)])?;
    let double = unpadded(net, "re1A_conv4_3*3", &double, 256, 2)?;
    concat(net, "re1A_concat_1", &[&pooled, &three, &double])
}

/// Adds a block for images of 17 pixels with four towers: pooling; a 1x1 convolution; a 7x7 convolution, split into two
/// convolutions; two 7x7 convolutions, split into four.
fn block_17(net: &mut Net, name: &str, x: &Symbol) -> Result<Symbol> {
    let (row, column) = (Pair(1, 7), Pair(7, 1));
    let pooled = pooled_tower(net, name, x, 128)?;
    let one = tower(net, name, x, &[("conv2_1*1", 384, ONE)])?;
    // MXNet calls the column of the first 7x7 convolution `1*7`, as if it were a row.
    let seven = [("conv3_1*1", 192, ONE), ("conv4_1*7", 224, row), ("conv5_1*7", 256, column)];
    let seven = tower(net, name, x, &seven)?;
    let double = [
        ("conv6_1*1", 192, ONE),
        ("conv7_1*7", 192, row),
        ("conv8_7*1", 224, column),
        ("conv9_1*7", 224, row),
        ("conv10_7*1", 256, column),
    ];
    let double = tower(net, name, x, &double)?;
    concat(net, &format!("{name}_concat_1"), &[&pooled, &one, &seven, &double])
}

/// Adds a block that reduces images of 17 pixels to 8.
fn shrink_to_8(net: &mut Net, x: &Symbol) -> Result<Symbol> {
    let pooled = halved(net, "re1B_maxpool_1", x)?;
    let three = tower(net, "re1B", x, &[("conv1_1*1", 192, ONE)])?;
    let three = unpadded(net, "re1B_conv2_3*3", &three, 192, 2)?;
    let seven = [("conv3_1*1", 256, ONE), ("conv4_1*7", 256, Pair(1, 7)), ("conv5_7*1", 320, Pair(7, 1))];
    let seven = tower(net, "re1B", x, &seven)?;
    let seven = unpadded(net, "re1B_conv6_3*3", &seven, 320, 2)?;
    concat(net, "re1B_concat_1", &[&pooled, &three, &seven])
}

/// Adds a block for images of 8 pixels with four towers: pooling; a 1x1 convolution; a reduction, then 1x3 and 3x1
/// convolutions in parallel; a reduction and a 3x3 convolution, split into two, then 3x1 and 1x3 convolutions in parallel.
/// The names of the parallel convolutions say the width of the kernel before its height.
fn block_8(net: &mut Net, name: &str, x: &Symbol) -> Result<Symbol> {
    let (row, column) = (Pair(1, 3), Pair(3, 1));
    let pooled = pooled_tower(net, name, x, 256)?;
    let one = tower(net, name, x, &[("conv2_1*1", 256, ONE)])?;
    let three = tower(net, name, x, &[("conv3_1*1", 384, ONE)])?;
    let a = tower(net, name, &three, &[("conv4_3*1", 256, row)])?;
    let b = tower(net, name, &three, &[("conv5_1*3", 256, column)])?;
    let double = [("conv6_1*1", 384, ONE), ("conv7_1*3", 448, row), ("conv8_3*1", 512, column)];
    let double = tower(net, name, x, &double)?;
    let c = tower(net, name, &double, &[("conv9_1*3", 256, column)])?;
    let d = tower(net, name, &double, &[("conv10_3*1", 256, row)])?;
    concat(net, &format!("{name}_concat"), &[&pooled, &one, &a, &b, &c, &d])
}
