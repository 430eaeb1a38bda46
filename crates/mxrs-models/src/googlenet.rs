//! GoogLeNet: blocks of four towers of convolutions with bias, without normalization. Szegedy et al., arXiv:1409.4842.

use crate::ModelOptions;
use crate::net::{Flag, Net, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("googlenet")?;
    let mut x = net.data(false)?;
    x = convolved(&mut net, "conv1", &x, (64, 7, 2, 3))?;
    x = halved(&mut net, &x)?;
    x = convolved(&mut net, "conv2", &x, (64, 1, 1, 0))?;
    x = convolved(&mut net, "conv3", &x, (192, 3, 1, 1))?;
    x = halved(&mut net, &x)?;
    x = block(&mut net, "in3a", &x, [64, 96, 128, 16, 32, 32])?;
    x = block(&mut net, "in3b", &x, [128, 128, 192, 32, 96, 64])?;
    x = halved(&mut net, &x)?;
    x = block(&mut net, "in4a", &x, [192, 96, 208, 16, 48, 64])?;
    x = block(&mut net, "in4b", &x, [160, 112, 224, 24, 64, 64])?;
    x = block(&mut net, "in4c", &x, [128, 128, 256, 24, 64, 64])?;
    x = block(&mut net, "in4d", &x, [112, 144, 288, 32, 64, 64])?;
    x = block(&mut net, "in4e", &x, [256, 160, 320, 32, 128, 128])?;
    x = halved(&mut net, &x)?;
    x = block(&mut net, "in5a", &x, [256, 160, 320, 32, 128, 128])?;
    x = block(&mut net, "in5b", &x, [384, 192, 384, 48, 128, 128])?;
    let attrs = [("global_pool", &Flag(true) as _), ("kernel", &square(7) as _), ("stride", &square(1) as _)];
    x = net.pooling(None, &x, "avg", &attrs)?;
    x = net.flatten(None, &x)?;
    x = net.dense(None, &x, net.n_classes)?;
    net.softmax(&x)
}

/// The number of filters, kernel, stride and padding of a convolution.
type Layer = (usize, usize, usize, usize);

/// Adds a convolution and an activation, with the names `conv_<name>` and `relu_<name>`.
fn convolved(net: &mut Net, name: &str, input: &Symbol, (n_filters, kernel, stride, pad): Layer) -> Result<Symbol> {
    let x = net.convolution(
        Some(&format!("conv_{name}")),
        input,
        &[("kernel", &square(kernel)), ("num_filter", &n_filters), ("pad", &square(pad)), ("stride", &square(stride))],
    )?;
    net.activation(Some(&format!("relu_{name}")), &x, "relu")
}

/// Adds a pooling that halves the image.
fn halved(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    net.pooling(None, input, "max", &[("kernel", &square(3)), ("stride", &square(2))])
}

/// Adds a block with four towers: a 1x1 convolution; a reduction and a 3x3 convolution; a reduction and a 5x5 convolution;
/// pooling and a projection. `n` are the numbers of filters in this order.
fn block(net: &mut Net, name: &str, x: &Symbol, n: [usize; 6]) -> Result<Symbol> {
    let one = convolved(net, &format!("{name}_1x1"), x, (n[0], 1, 1, 0))?;
    let three = convolved(net, &format!("{name}_3x3_reduce"), x, (n[1], 1, 1, 0))?;
    let three = convolved(net, &format!("{name}_3x3"), &three, (n[2], 3, 1, 1))?;
    let five = convolved(net, &format!("{name}_5x5_reduce"), x, (n[3], 1, 1, 0))?;
    let five = convolved(net, &format!("{name}_5x5"), &five, (n[4], 5, 1, 2))?;
    let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("stride", &square(1) as _)];
    let pooled = net.pooling(Some(&format!("max_pool_{name}_pool")), x, "max", &attrs)?;
    let pooled = convolved(net, &format!("{name}_proj"), &pooled, (n[5], 1, 1, 0))?;
    net.call("Concat", Some(&format!("ch_concat_{name}_chconcat")), &[&one, &three, &five, &pooled], &[])
}
