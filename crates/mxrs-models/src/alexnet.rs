//! AlexNet without the original's split into two halves: 96-256-384-384-256 filters, with normalization after the first two
//! activations. Krizhevsky, Sutskever, Hinton, ImageNet classification with deep convolutional neural networks, 2012.

use crate::ModelOptions;
use crate::net::{Net, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    let mut x = net.data(false)?;
    x = net.convolution(Some("conv1"), &x, &[("kernel", &square(11)), ("stride", &square(4)), ("num_filter", &96)])?;
    x = normalized_and_pooled(&mut net, &x)?;
    x = net.convolution(Some("conv2"), &x, &[("kernel", &square(5)), ("pad", &square(2)), ("num_filter", &256)])?;
    x = normalized_and_pooled(&mut net, &x)?;
    for (name, n_filters) in [("conv3", 384), ("conv4", 384), ("conv5", 256)] {
        let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("num_filter", &n_filters as _)];
        x = net.convolution(Some(name), &x, &attrs)?;
        x = net.activation(None, &x, "relu")?;
    }
    x = pooled(&mut net, &x)?;
    x = net.flatten(None, &x)?;
    for name in ["fc1", "fc2"] {
        x = net.dense(Some(name), &x, 4096)?;
        x = net.activation(None, &x, "relu")?;
        x = net.call("Dropout", None, &[&x], &[("p", &0.5)])?;
    }
    x = net.dense(Some("fc3"), &x, net.n_classes)?;
    net.softmax(&x)
}

fn normalized_and_pooled(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    let x = net.activation(None, input, "relu")?;
    let x = net.call("LRN", None, &[&x], &[("alpha", &0.0001), ("beta", &0.75), ("knorm", &2), ("nsize", &5)])?;
    pooled(net, &x)
}

fn pooled(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    net.pooling(None, input, "max", &[("kernel", &square(3)), ("stride", &square(2))])
}
