//! DenseNet-121 of Gluon's model zoo: each layer adds 32 channels to those of all layers before it. Huang et al.,
//! arXiv:1608.06993.

use crate::ModelOptions;
use crate::gluon::{Block, Conv};
use crate::net::Net;
use mxrs_graph::Symbol;
use mxrs_types::Result;

/// The number of layers of each stage.
const N_LAYERS: [usize; 4] = [6, 12, 24, 16];

/// The number of channels that a layer adds.
const GROWTH: usize = 32;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("densenet121")?;
    let mut block = Block::new("densenet0_");
    let mut x = net.data(false)?;
    let mut n_channels = 2 * GROWTH;
    let stem = Conv { n_filters: n_channels, kernel: 7, stride: 2, pad: 3, has_bias: false };
    x = block.convolution(&mut net, &x, &stem)?;
    x = block.batch_norm(&mut net, &x)?;
    x = block.relu(&mut net, &x)?;
    x = block.max_pooling(&mut net, &x, 1, false)?;
    for (i, n_layers) in N_LAYERS.into_iter().enumerate() {
        let mut stage = Block::new(format!("densenet0_stage{}_", i + 1));
        for _ in 0..n_layers {
            x = layer(&mut net, &mut stage, &x)?;
        }
        n_channels += n_layers * GROWTH;
        x = block.batch_norm(&mut net, &x)?;
        x = block.relu(&mut net, &x)?;
        // A transition follows each stage but the last. It halves the channels and the image.
        if i + 1 < N_LAYERS.len() {
            n_channels /= 2;
            let halving = Conv { n_filters: n_channels, kernel: 1, stride: 1, pad: 0, has_bias: false };
            x = block.convolution(&mut net, &x, &halving)?;
            x = block.avg_pooling(&mut net, &x, 2)?;
        }
    }
    x = block.avg_pooling(&mut net, &x, 7)?;
    x = block.flatten(&mut net, &x)?;
    x = block.dense(&mut net, &x, options.n_classes)?;
    net.softmax(&x)
}

/// Adds a layer: a 1x1 and a 3x3 convolution, with normalization and activation before each, and the concatenation of the
/// input and their result.
fn layer(net: &mut Net, stage: &mut Block, input: &Symbol) -> Result<Symbol> {
    let mut x = stage.batch_norm(net, input)?;
    x = stage.relu(net, &x)?;
    let narrowing = Conv { n_filters: 4 * GROWTH, kernel: 1, stride: 1, pad: 0, has_bias: false };
    x = stage.convolution(net, &x, &narrowing)?;
    x = stage.batch_norm(net, &x)?;
    x = stage.relu(net, &x)?;
    let growing = Conv { n_filters: GROWTH, kernel: 3, stride: 1, pad: 1, has_bias: false };
    x = stage.convolution(net, &x, &growing)?;
    stage.concat(net, &[input, &x])
}
