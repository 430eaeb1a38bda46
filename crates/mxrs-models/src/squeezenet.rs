//! SqueezeNet 1.1 of Gluon's model zoo: pairs of a 1x1 and a 3x3 convolution that read a narrow 1x1 convolution. Iandola et
//! al., arXiv:1602.07360.

use crate::ModelOptions;
use crate::gluon::{Block, Conv};
use crate::net::Net;
use mxrs_graph::Symbol;
use mxrs_types::Result;

/// For each group of fire modules: the number of narrow channels of each module. A pooling precedes each group.
const MODULES: [&[usize]; 3] = [&[16, 16], &[32, 32], &[48, 48, 64, 64]];

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("squeezenet1.1")?;
    let mut block = Block::new("squeezenet0_");
    let mut x = net.data(false)?;
    let stem = Conv { n_filters: 64, kernel: 3, stride: 2, pad: 0, has_bias: true };
    x = convolved(&mut net, &mut block, &x, &stem)?;
    for modules in MODULES {
        x = block.max_pooling(&mut net, &x, 0, true)?;
        for n_narrow in modules {
            x = fire(&mut net, &mut block, &x, *n_narrow)?;
        }
    }
    x = block.dropout(&mut net, &x, 0.5)?;
    let classes = Conv { n_filters: options.n_classes, kernel: 1, stride: 1, pad: 0, has_bias: true };
    x = convolved(&mut net, &mut block, &x, &classes)?;
    x = block.avg_pooling(&mut net, &x, 13)?;
    x = block.flatten(&mut net, &x)?;
    net.softmax(&x)
}

/// Adds a convolution and an activation.
fn convolved(net: &mut Net, block: &mut Block, input: &Symbol, conv: &Conv) -> Result<Symbol> {
    let x = block.convolution(net, input, conv)?;
    block.relu(net, &x)
}

/// Adds a fire module: a 1x1 convolution to `n_narrow` channels, and a 1x1 and a 3x3 convolution of its result, each with
/// four times as many channels.
fn fire(net: &mut Net, block: &mut Block, input: &Symbol, n_narrow: usize) -> Result<Symbol> {
    let conv = |n_filters: usize, kernel: usize| Conv { n_filters, kernel, stride: 1, pad: kernel / 2, has_bias: true };
    let narrow = convolved(net, block, input, &conv(n_narrow, 1))?;
    let one = convolved(net, block, &narrow, &conv(4 * n_narrow, 1))?;
    let three = convolved(net, block, &narrow, &conv(4 * n_narrow, 3))?;
    block.concat(net, &[&one, &three])
}
