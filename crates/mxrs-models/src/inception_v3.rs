//! Inception v3, for images of 299 pixels. Szegedy et al., arXiv:1512.00567.

use crate::ModelOptions;
use crate::net::{Flag, Net, Pair, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    let mut x = net.data(true)?;
    x = convolved(&mut net, "conv", &x, 32, square(3), 2, square(0))?;
    x = convolved(&mut net, "conv_1", &x, 32, square(3), 1, square(0))?;
    x = convolved(&mut net, "conv_2", &x, 64, square(3), 1, square(1))?;
    x = net.pooling(Some("pool"), &x, "max", &[("kernel", &square(3)), ("stride", &square(2))])?;
    x = convolved(&mut net, "conv_3", &x, 80, square(1), 1, square(0))?;
    x = convolved(&mut net, "conv_4", &x, 192, square(3), 1, square(0))?;
    x = net.pooling(Some("pool1"), &x, "max", &[("kernel", &square(3)), ("stride", &square(2))])?;
    x = block_35(&mut net, "mixed", &x, 32)?;
    x = block_35(&mut net, "mixed_1", &x, 64)?;
    x = block_35(&mut net, "mixed_2", &x, 64)?;
    x = shrink_to_17(&mut net, "mixed_3", &x)?;
    for (name, n_inner) in [("mixed_4", 128), ("mixed_5", 160), ("mixed_6", 160), ("mixed_7", 192)] {
        x = block_17(&mut net, name, &x, n_inner)?;
    }
    x = shrink_to_8(&mut net, "mixed_8", &x)?;
    x = block_8(&mut net, "mixed_9", &x, "avg")?;
    x = block_8(&mut net, "mixed_10", &x, "max")?;
    x = net.pooling(Some("global_pool"), &x, "avg", &[("kernel", &square(8)), ("stride", &square(1))])?;
    x = net.flatten(Some("flatten"), &x)?;
    x = net.dense(Some("fc1"), &x, net.n_classes)?;
    net.softmax(&x)
}

/// Adds a convolution without bias, a normalization with fixed gamma, and an activation, as in `inception_v4`.
pub(crate) fn convolved(
    net: &mut Net,
    name: &str,
    input: &Symbol,
    n_filters: usize,
    kernel: Pair,
    stride: usize,
    pad: Pair,
) -> Result<Symbol> {
    let x = net.convolution(
        Some(&format!("{name}_conv2d")),
        input,
        &[
            ("kernel", &kernel),
            ("no_bias", &Flag(true)),
            ("num_filter", &n_filters),
            ("pad", &pad),
            ("stride", &square(stride)),
        ],
    )?;
    let x = net.batch_norm(&format!("{name}_batchnorm"), &x, &[("fix_gamma", &Flag(true))])?;
    net.activation(Some(&format!("{name}_relu")), &x, "relu")
}

/// Adds one tower: consecutive convolutions named `<name>_conv`, `<name>_conv_1`, …, each with its number of filters and its
/// kernel, padded to keep the image size.
fn tower(net: &mut Net, name: &str, input: &Symbol, layers: &[(usize, Pair)]) -> Result<Symbol> {
    let mut x = input.clone();
    for (i, (n_filters, kernel)) in layers.iter().enumerate() {
        let name = if i == 0 { format!("{name}_conv") } else { format!("{name}_conv_{i}") };
        x = convolved(net, &name, &x, *n_filters, *kernel, 1, Pair(kernel.0 / 2, kernel.1 / 2))?;
    }
    Ok(x)
}

/// Adds a convolution that halves the image.
fn halved(net: &mut Net, name: &str, input: &Symbol, n_filters: usize) -> Result<Symbol> {
    convolved(net, name, input, n_filters, square(3), 2, square(0))
}

/// Adds a pooling that keeps the image size, followed by a projection.
fn pooled_tower(net: &mut Net, name: &str, x: &Symbol, pool: &str, n_filters: usize) -> Result<Symbol> {
    let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("stride", &square(1) as _)];
    let pooled = net.pooling(Some(&format!("{pool}_pool_{name}_pool")), x, pool, &attrs)?;
    tower(net, &format!("{name}_tower_2"), &pooled, &[(n_filters, square(1))])
}

fn concat(net: &mut Net, name: &str, parts: &[&Symbol]) -> Result<Symbol> {
    net.call("Concat", Some(&format!("ch_concat_{name}_chconcat")), parts, &[])
}

/// Adds a block for images of 35 pixels with four towers: a 1x1 convolution; a 5x5 convolution; two 3x3 convolutions;
/// pooling.
fn block_35(net: &mut Net, name: &str, x: &Symbol, n_projected: usize) -> Result<Symbol> {
    let one = tower(net, name, x, &[(64, square(1))])?;
    let five = tower(net, &format!("{name}_tower"), x, &[(48, square(1)), (64, square(5))])?;
    let three = [(64, square(1)), (96, square(3)), (96, square(3))];
    let three = tower(net, &format!("{name}_tower_1"), x, &three)?;
    let pooled = pooled_tower(net, name, x, "avg", n_projected)?;
    concat(net, name, &[&one, &five, &three, &pooled])
}

/// Adds a block that reduces images of 35 pixels to 17.
fn shrink_to_17(net: &mut Net, name: &str, x: &Symbol) -> Result<Symbol> {
    let three = halved(net, &format!("{name}_conv"), x, 384)?;
    let double = tower(net, &format!("{name}_tower"), x, &[(64, square(1)), (96, square(3))])?;
    let double = halved(net, &format!("{name}_tower_conv_2"), &double, 96)?;
    let attrs = [("kernel", &square(3) as _), ("pad", &square(0) as _), ("stride", &square(2) as _)];
    let pooled = net.pooling(Some(&format!("max_pool_{name}_pool")), x, "max", &attrs)?;
    concat(net, name, &[&three, &double, &pooled])
}

/// Adds a block for images of 17 pixels with four towers: a 1x1 convolution; a 7x7 convolution, split into two convolutions;
/// two 7x7 convolutions, split into four; pooling.
fn block_17(net: &mut Net, name: &str, x: &Symbol, n: usize) -> Result<Symbol> {
    let (row, column) = (Pair(1, 7), Pair(7, 1));
    let one = tower(net, name, x, &[(192, square(1))])?;
    let seven = tower(net, &format!("{name}_tower"), x, &[(n, square(1)), (n, row), (192, column)])?;
    let double = [(n, square(1)), (n, column), (n, row), (n, column), (192, row)];
    let double = tower(net, &format!("{name}_tower_1"), x, &double)?;
    let pooled = pooled_tower(net, name, x, "avg", 192)?;
    concat(net, name, &[&one, &seven, &double, &pooled])
}

/// Adds a block that reduces images of 17 pixels to 8.
fn shrink_to_8(net: &mut Net, name: &str, x: &Symbol) -> Result<Symbol> {
    let three = tower(net, &format!("{name}_tower"), x, &[(192, square(1))])?;
    let three = halved(net, &format!("{name}_tower_conv_1"), &three, 320)?;
    let seven = [(192, square(1)), (192, Pair(1, 7)), (192, Pair(7, 1))];
    let seven = tower(net, &format!("{name}_tower_1"), x, &seven)?;
    let seven = halved(net, &format!("{name}_tower_1_conv_3"), &seven, 192)?;
    let attrs = [("kernel", &square(3) as _), ("stride", &square(2) as _)];
    let pooled = net.pooling(Some(&format!("max_pool_{name}_pool")), x, "max", &attrs)?;
    concat(net, name, &[&three, &seven, &pooled])
}

/// Adds a block for images of 8 pixels with four towers: a 1x1 convolution; a reduction, then 1x3 and 3x1 convolutions in
/// parallel; a reduction and a 3x3 convolution, then 1x3 and 3x1 convolutions in parallel; pooling.
fn block_8(net: &mut Net, name: &str, x: &Symbol, pool: &str) -> Result<Symbol> {
    let one = tower(net, name, x, &[(320, square(1))])?;
    let [a, b] = split(net, &format!("{name}_tower"), x, &[(384, square(1))])?;
    let [c, d] = split(net, &format!("{name}_tower_1"), x, &[(448, square(1)), (384, square(3))])?;
    let pooled = pooled_tower(net, name, x, pool, 192)?;
    concat(net, name, &[&one, &a, &b, &c, &d, &pooled])
}

/// Adds a tower that ends in a 1x3 and a 3x1 convolution in parallel. Returns the results of both.
fn split(net: &mut Net, name: &str, x: &Symbol, layers: &[(usize, Pair)]) -> Result<[Symbol; 2]> {
    let x = tower(net, name, x, layers)?;
    let row = convolved(net, &format!("{name}_mixed_conv"), &x, 384, Pair(1, 3), 1, Pair(0, 1))?;
    let column = convolved(net, &format!("{name}_mixed_conv_1"), &x, 384, Pair(3, 1), 1, Pair(1, 0))?;
    Ok([row, column])
}
