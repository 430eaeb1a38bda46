//! VGG with 11, 13, 16 or 19 layers, optionally with batch normalization. Simonyan and Zisserman, arXiv:1409.1556.

use crate::ModelOptions;
use crate::net::{Net, square};
use mxrs_graph::Symbol;
use mxrs_types::{Error, Result};

/// The available numbers of layers.
pub(crate) const LAYERS: &[usize] = &[11, 13, 16, 19];

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let n_convolutions = match options.n_layers {
        Some(11) => [1, 1, 2, 2, 2],
        Some(13) => [2, 2, 2, 2, 2],
        Some(16) => [2, 2, 3, 3, 3],
        Some(19) => [2, 2, 4, 4, 4],
        other => return Err(Error::invalid("layers of vgg", other.unwrap_or(0), "11, 13, 16 or 19")),
    };
    let mut net = Net::new(options);
    let mut x = net.data(false)?;
    for (i, (n_convolutions, n_filters)) in n_convolutions.into_iter().zip([64, 128, 256, 512, 512]).enumerate() {
        let stage = i + 1;
        for j in 1..=n_convolutions {
            let attrs = [("kernel", &square(3) as _), ("pad", &square(1) as _), ("num_filter", &n_filters as _)];
            x = net.convolution(Some(&format!("conv{stage}_{j}")), &x, &attrs)?;
            if options.batch_norm {
                x = net.batch_norm(&format!("bn{stage}_{j}"), &x, &[])?;
            }
            x = net.activation(Some(&format!("relu{stage}_{j}")), &x, "relu")?;
        }
        let name = format!("pool{stage}");
        x = net.pooling(Some(&name), &x, "max", &[("kernel", &square(2)), ("stride", &square(2))])?;
    }
    x = net.flatten(Some("flatten"), &x)?;
    for i in [6, 7] {
        x = net.dense(Some(&format!("fc{i}")), &x, 4096)?;
        x = net.activation(Some(&format!("relu{i}")), &x, "relu")?;
        x = net.call("Dropout", Some(&format!("drop{i}")), &[&x], &[("p", &0.5)])?;
    }
    x = net.dense(Some("fc8"), &x, net.n_classes)?;
    net.softmax(&x)
}
