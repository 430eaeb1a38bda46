//! LeNet for `[1, 28, 28]` digits. LeCun et al., Gradient-based learning applied to document recognition, 1998.

use crate::ModelOptions;
use crate::net::{Net, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("lenet")?;
    let mut x = net.data(false)?;
    for n_filters in [20, 50] {
        x = net.convolution(None, &x, &[("kernel", &square(5)), ("num_filter", &n_filters)])?;
        x = net.activation(None, &x, "tanh")?;
        x = net.pooling(None, &x, "max", &[("kernel", &square(2)), ("stride", &square(2))])?;
    }
    x = net.flatten(None, &x)?;
    x = net.dense(None, &x, 500)?;
    x = net.activation(None, &x, "tanh")?;
    x = net.dense(None, &x, net.n_classes)?;
    net.softmax(&x)
}
