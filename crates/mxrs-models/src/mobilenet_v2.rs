//! MobileNet v2: units that widen their input with a 1x1 convolution, filter each channel, and narrow the result without an
//! activation. Sandler et al., arXiv:1801.04381.

use crate::ModelOptions;
use crate::net::{Flag, Net, square};
use mxrs_graph::Symbol;
use mxrs_types::Result;

/// For each stage: by how much its units widen, the number of filters, the number of units, and the stride of the first unit.
const STAGES: [(usize, usize, usize, usize); 7] =
    [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];

pub(crate) fn build(options: &ModelOptions) -> Result<Symbol> {
    let mut net = Net::new(options);
    net.require_f32("mobilenetv2")?;
    let mut x = net.data(false)?;
    x = convolved(&mut net, "first-3x3-conv", &x, Layer { n_filters: 32, kernel: 3, stride: 2, n_groups: 1 })?;
    let mut depth = 32;
    for (stage, (factor, n_filters, n_units, stride)) in STAGES.into_iter().enumerate() {
        for unit in 0..n_units {
            let name = format!("seq-{stage}-block{unit}");
            let stride = if unit == 0 { stride } else { 1 };
            let narrowed = inverted(&mut net, &name, &x, [depth * factor, n_filters], stride)?;
            x = match unit {
                0 => narrowed,
                _ => net.call("elemwise_add", Some(&format!("{name}-shortcut")), &[&x, &narrowed], &[])?,
            };
            depth = n_filters;
        }
    }
    x = convolved(&mut net, "last-1x1-conv", &x, Layer { n_filters: 1280, kernel: 1, stride: 1, n_groups: 1 })?;
    let attrs = [("global_pool", &Flag(true) as _), ("kernel", &square(7) as _), ("stride", &square(1) as _)];
    x = net.pooling(Some("global_pool"), &x, "avg", &attrs)?;
    x = net.flatten(Some("flatten"), &x)?;
    x = net.dense(Some("fc"), &x, net.n_classes)?;
    net.softmax(&x)
}

/// Adds the three convolutions of a unit: to `n_wide` channels, of each of these channels, and to `n_narrow` channels.
fn inverted(
    net: &mut Net,
    name: &str,
    input: &Symbol,
    [n_wide, n_narrow]: [usize; 2],
    stride: usize,
) -> Result<Symbol> {
    let widening = Layer { n_filters: n_wide, kernel: 1, stride: 1, n_groups: 1 };
    let x = convolved(net, &format!("{name}-exp"), input, widening)?;
    let depthwise = Layer { n_filters: n_wide, kernel: 3, stride, n_groups: n_wide };
    let x = convolved(net, &format!("{name}-depthwise"), &x, depthwise)?;
    let narrowing = Layer { n_filters: n_narrow, kernel: 1, stride: 1, n_groups: 1 };
    normalized(net, &format!("{name}-linear"), &x, narrowing)
}

struct Layer {
    n_filters: usize,
    kernel: usize,
    stride: usize,
    n_groups: usize,
}

/// Adds a convolution and a normalization.
fn normalized(net: &mut Net, name: &str, input: &Symbol, layer: Layer) -> Result<Symbol> {
    let x = net.convolution(
        Some(&format!("{name}-conv2d")),
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
    let attrs = [("eps", &"1e-05" as _), ("fix_gamma", &Flag(false) as _), ("use_global_stats", &Flag(false) as _)];
    net.batch_norm(&format!("{name}-batchnorm"), &x, &attrs)
}

/// Adds a convolution, a normalization, and an activation that cuts values below 0 and above 6.
fn convolved(net: &mut Net, name: &str, input: &Symbol, layer: Layer) -> Result<Symbol> {
    let x = normalized(net, name, input, layer)?;
    net.call("clip", Some(&format!("{name}-relu6")), &[&x], &[("a_max", &6), ("a_min", &0)])
}
