//! Inception with batch normalization, and a smaller network for images of up to 28 pixels. Ioffe and Szegedy,
//! arXiv:1502.03167.

use crate::ModelOptions;
use crate::net::{Flag, Net, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    let data = net.data(false)?;
    let is_small = options.image.is_some_and(|i| i[1] <= 28);
    let mut x = if is_small { small(&mut net, &data)? } else { large(&mut net, &data)? };
    x = net.flatten(None, &x)?;
    x = net.dense(None, &x, net.n_classes)?;
    net.softmax(&x)
}

/// The number of filters, kernel, stride and padding of a convolution.
type Layer = (usize, usize, usize, usize);

/// Adds a convolution (with bias), a normalization and an activation, with the names `conv_<name>`, `bn_<name>`,
/// `relu_<name>`.
fn convolved(net: &mut Net, name: &str, input: &Symbol, (n_filters, kernel, stride, pad): Layer) -> Result<Symbol> {
    let x = net.convolution(
        Some(&format!("conv_{name}")),
        input,
        &[("kernel", &square(kernel)), ("num_filter", &n_filters), ("pad", &square(pad)), ("stride", &square(stride))],
    )?;
    // The sum 1e-10 + 1e-5 in double precision, which MXNet's example computes.
    let eps = "1.0000100000000001e-05";
    let attrs = [("eps", &eps as _), ("fix_gamma", &Flag(false) as _), ("momentum", &0.9 as _)];
    let x = net.batch_norm(&format!("bn_{name}"), &x, &attrs)?;
    net.activation(Some(&format!("relu_{name}")), &x, "relu")
}

fn large(net: &mut Net, data: &Symbol) -> Result<Symbol> {
    let mut x = convolved(net, "1", data, (64, 7, 2, 3))?;
    x = unpadded_pool(net, "pool_1", &x)?;
    x = convolved(net, "2_red", &x, (64, 1, 1, 0))?;
    x = convolved(net, "2", &x, (192, 3, 1, 1))?;
    x = unpadded_pool(net, "pool_2", &x)?;
    x = block(net, "3a", &x, [64, 64, 64, 64, 96], "avg", 32)?;
    x = block(net, "3b", &x, [64, 64, 96, 64, 96], "avg", 64)?;
    x = shrinking_block(net, "3c", &x, [128, 160, 64, 96])?;
    x = block(net, "4a", &x, [224, 64, 96, 96, 128], "avg", 128)?;
    x = block(net, "4b", &x, [192, 96, 128, 96, 128], "avg", 128)?;
    x = block(net, "4c", &x, [160, 128, 160, 128, 160], "avg", 128)?;
    x = block(net, "4d", &x, [96, 128, 192, 160, 192], "avg", 128)?;
    x = shrinking_block(net, "4e", &x, [128, 192, 192, 256])?;
    x = block(net, "5a", &x, [352, 192, 320, 160, 224], "avg", 128)?;
    x = block(net, "5b", &x, [352, 192, 320, 192, 224], "max", 128)?;
    net.pooling(Some("global_pool"), &x, "avg", &[("kernel", &square(7)), ("stride", &square(1))])
}

fn unpadded_pool(net: &mut Net, name: &str, input: &Symbol) -> Result<Symbol> {
    net.pooling(Some(name), input, "max", &[("kernel", &square(3)), ("stride", &square(2))])
}

fn padded_pool(net: &mut Net, name: &str, input: &Symbol, kind: &str, stride: usize) -> Result<Symbol> {
    let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("stride", &square(stride) as _)];
    net.pooling(Some(&format!("{kind}_pool_{name}_pool")), input, kind, &attrs)
}

fn concat(net: &mut Net, name: &str, parts: &[&Symbol]) -> Result<Symbol> {
    net.call("Concat", Some(&format!("ch_concat_{name}_chconcat")), parts, &[])
}

/// Adds a block of four towers: a 1x1 convolution; a 3x3 convolution; two 3x3 convolutions; pooling with a projection. A 1x1
/// convolution (the reduction) precedes the 3x3 convolutions of a tower. `n` has the numbers of filters: of the first tower;
/// of the reduction and the convolution of the second tower; of the reduction and each convolution of the third tower.
fn block(net: &mut Net, name: &str, x: &Symbol, n: [usize; 5], pool: &str, n_projected: usize) -> Result<Symbol> {
    let one = convolved(net, &format!("{name}_1x1"), x, (n[0], 1, 1, 0))?;
    let reduced = convolved(net, &format!("{name}_3x3_reduce"), x, (n[1], 1, 1, 0))?;
    let three = convolved(net, &format!("{name}_3x3"), &reduced, (n[2], 3, 1, 1))?;
    let reduced = convolved(net, &format!("{name}_double_3x3_reduce"), x, (n[3], 1, 1, 0))?;
    let double = convolved(net, &format!("{name}_double_3x3_0"), &reduced, (n[4], 3, 1, 1))?;
    let double = convolved(net, &format!("{name}_double_3x3_1"), &double, (n[4], 3, 1, 1))?;
    let pooled = padded_pool(net, name, x, pool, 1)?;
    let projected = convolved(net, &format!("{name}_proj"), &pooled, (n_projected, 1, 1, 0))?;
    concat(net, name, &[&one, &three, &double, &projected])
}

/// Adds a block of three towers that halves the image: a 3x3 convolution; two 3x3 convolutions; pooling. `n` has the numbers
/// of filters as in [`block`], without the 1x1 tower.
fn shrinking_block(net: &mut Net, name: &str, x: &Symbol, n: [usize; 4]) -> Result<Symbol> {
    let reduced = convolved(net, &format!("{name}_3x3_reduce"), x, (n[0], 1, 1, 0))?;
    let three = convolved(net, &format!("{name}_3x3"), &reduced, (n[1], 3, 2, 1))?;
    let reduced = convolved(net, &format!("{name}_double_3x3_reduce"), x, (n[2], 1, 1, 0))?;
    let double = convolved(net, &format!("{name}_double_3x3_0"), &reduced, (n[3], 3, 1, 1))?;
    let double = convolved(net, &format!("{name}_double_3x3_1"), &double, (n[3], 3, 2, 1))?;
    let pooled = padded_pool(net, name, x, "max", 2)?;
    concat(net, name, &[&three, &double, &pooled])
}

/// Builds the smaller network, for images of up to 28 pixels.
fn small(net: &mut Net, data: &Symbol) -> Result<Symbol> {
    let mut x = convolved(net, "1", data, (96, 3, 1, 1))?;
    for (name, one, three) in [("in3a", 32, 32), ("in3b", 32, 48)] {
        x = small_block(net, name, &x, one, three)?;
    }
    x = small_shrinking_block(net, "in3c", &x, 80)?;
    for (name, one, three) in [("in4a", 112, 48), ("in4b", 96, 64), ("in4c", 80, 80), ("in4d", 48, 96)] {
        x = small_block(net, name, &x, one, three)?;
    }
    x = small_shrinking_block(net, "in4e", &x, 96)?;
    for name in ["in5a", "in5b"] {
        x = small_block(net, name, &x, 176, 160)?;
    }
    net.pooling(Some("global_pool"), &x, "avg", &[("kernel", &square(7))])
}

fn small_block(net: &mut Net, name: &str, x: &Symbol, n_one: usize, n_three: usize) -> Result<Symbol> {
    let one = convolved(net, &format!("{name}_1x1"), x, (n_one, 1, 1, 0))?;
    let three = convolved(net, &format!("{name}_3x3"), x, (n_three, 3, 1, 1))?;
    net.call("Concat", Some(&format!("{name}_ch_concat")), &[&one, &three], &[])
}

fn small_shrinking_block(net: &mut Net, name: &str, x: &Symbol, n_three: usize) -> Result<Symbol> {
    let three = convolved(net, &format!("{name}_conv"), x, (n_three, 3, 2, 1))?;
    let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("stride", &square(2) as _)];
    let pooled = net.pooling(Some(&format!("{name}_pool")), x, "max", &attrs)?;
    net.call("Concat", Some(&format!("{name}_ch_concat")), &[&three, &pooled], &[])
}
