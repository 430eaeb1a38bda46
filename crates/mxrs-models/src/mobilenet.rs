//! MobileNet: a depthwise 3x3 convolution before each 1x1 convolution. Howard et al., arXiv:1704.04861.

use crate::ModelOptions;
use crate::net::{Flag, Net, square};
use mxrs_graph::Symbol;
use mxrs_types::{Error, Result};

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let height = options.image.map_or(224, |i| i[1]);
    if height == 0 || !height.is_multiple_of(32) {
        return Err(Error::invalid("image height of mobilenet", height, "a multiple of 32"));
    }
    let mut net = Net::new(options);
    net.require_f32("mobilenet")?;
    let mut x = net.data(false)?;
    x = convolved(&mut net, "conv_1", &x, Layer { n_filters: 32, kernel: 3, stride: 2, n_groups: 1 })?;
    let mut depth = 32;
    // For each block, the stride of the depthwise convolution, and the number of filters of the 1x1 convolution after it.
    let blocks = [(1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512)];
    let blocks = blocks.into_iter().chain([(1, 512); 5]).chain([(2, 1024), (1, 1024)]);
    for (i, (stride, n_filters)) in blocks.enumerate() {
        let name = format!("conv_{}", i + 2);
        let depthwise = Layer { n_filters: depth, kernel: 3, stride, n_groups: depth };
        x = convolved(&mut net, &format!("{name}_dw"), &x, depthwise)?;
        x = convolved(&mut net, &name, &x, Layer { n_filters, kernel: 1, stride: 1, n_groups: 1 })?;
        depth = n_filters;
    }
    let attrs = [("kernel", &square(height / 32) as _), ("stride", &square(1) as _)];
    x = net.pooling(Some("global_pool"), &x, "avg", &attrs)?;
    x = net.flatten(Some("flatten"), &x)?;
    x = net.dense(Some("fc"), &x, net.n_classes)?;
    net.softmax(&x)
}

struct Layer {
    n_filters: usize,
    kernel: usize,
    stride: usize,
    n_groups: usize,
}

fn convolved(net: &mut Net, name: &str, input: &Symbol, layer: Layer) -> Result<Symbol> {
    let x = net.convolution(
        Some(&format!("{name}_conv2d")),
        input,
        &[
            ("kernel", &square(layer.kernel)),
            ("no_bias", &Flag(true)),
            ("num_filter", &layer.n_filters),
            ("num_group", &layer.n_groups),
            ("pad", &square(layer.kernel / 2)),
            ("stride", &square(layer.stride)),
        ],
    )?;
    let x = net.batch_norm(&format!("{name}_batchnorm"), &x, &[("fix_gamma", &Flag(true))])?;
    net.activation(Some(&format!("{name}_relu")), &x, "relu")
}
