//! A multilayer perceptron: three fully-connected layers, for `[1, 28, 28]` digits.

use crate::ModelOptions;
use crate::net::Net;
use mxrs_graph::Symbol;
use mxrs_types::Result;

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("mlp")?;
    let data = net.data(false)?;
    let mut x = net.flatten(None, &data)?;
    for (i, n_hidden) in [(1, 128), (2, 64)] {
        x = net.dense(Some(&format!("fc{i}")), &x, n_hidden)?;
        x = net.activation(Some(&format!("relu{i}")), &x, "relu")?;
    }
    x = net.dense(Some("fc3"), &x, net.n_classes)?;
    net.softmax(&x)
}
