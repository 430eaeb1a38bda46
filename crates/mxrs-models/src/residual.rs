//! Code that the residual networks (`resnet`, `resnet_v1` and `resnext`) share: the number and width of units, and common
//! layers.

use crate::net::{Attributes, Flag, Net, Pair};
use mxrs_graph::Symbol;
use mxrs_types::{Error, Result};
use std::fmt::Display;

/// The depths for large images.
pub(crate) const LAYERS: &[usize] = &[18, 34, 50, 101, 152, 200, 269];

/// The structure of a residual network: the number of units per stage, the number of channels after the stem (the layers
/// before the first stage) and after each stage, and whether units are bottlenecks.
pub(crate) struct Plan {
    pub n_units: Vec<usize>,
    pub n_channels: Vec<usize>,
    pub is_bottleneck: bool,
    /// Whether the stem keeps the image size, which is so for images of up to 32 pixels.
    pub has_small_stem: bool,
}

impl Plan {
    /// The plan for a depth, for images of `height` pixels. Images of up to `max_small` pixels have a smaller network with
    /// three stages.
    ///
    /// # Errors
    /// Fails if the network does not have this depth for this image size.
    pub fn new(network: &str, n_layers: Option<usize>, height: usize, max_small: usize) -> Result<Self> {
        let n_layers = n_layers.unwrap_or(0);
        let what = || format!("layers of {network} for {height} pixels");
        let has_small_stem = height <= 32;
        if height <= max_small {
            let (per_unit, n_channels, is_bottleneck) =
                if n_layers >= 164 { (9, vec![16, 64, 128, 256], true) } else { (6, vec![16, 16, 32, 64], false) };
            if n_layers <= 2 || !(n_layers - 2).is_multiple_of(per_unit) {
                return Err(Error::invalid(what(), n_layers, "6n + 2 below 164, or 9n + 2 from 164 on"));
            }
            let n_units = vec![(n_layers - 2) / per_unit; 3];
            return Ok(Self { n_units, n_channels, is_bottleneck, has_small_stem });
        }
        let n_units = match n_layers {
            18 => [2, 2, 2, 2],
            34 | 50 => [3, 4, 6, 3],
            101 => [3, 4, 23, 3],
            152 => [3, 8, 36, 3],
            200 => [3, 24, 36, 3],
            269 => [3, 30, 48, 8],
            _ => return Err(Error::invalid(what(), n_layers, "18, 34, 50, 101, 152, 200 or 269")),
        };
        let is_bottleneck = n_layers >= 50;
        let n_channels = if is_bottleneck { vec![64, 256, 512, 1024, 2048] } else { vec![64, 64, 128, 256, 512] };
        Ok(Self { n_units: n_units.to_vec(), n_channels, is_bottleneck, has_small_stem })
    }

    /// Every unit in order: its name, channels, stride, and whether it keeps the shape.
    pub fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        for (stage, n_units) in self.n_units.iter().enumerate() {
            for unit in 0..*n_units {
                let stride = if stage > 0 && unit == 0 { 2 } else { 1 };
                units.push(Unit {
                    name: format!("stage{}_unit{}", stage + 1, unit + 1),
                    n_channels: self.n_channels[stage + 1],
                    stride,
                    keeps_shape: unit > 0,
                });
            }
        }
        units
    }
}

/// One residual unit.
pub(crate) struct Unit {
    pub name: String,
    pub n_channels: usize,
    pub stride: usize,
    pub keeps_shape: bool,
}

/// Adds a convolution without bias, with the attribute `workspace` of MXNet's example. Convolutions in shortcuts have no
/// attribute `pad`.
pub(crate) fn convolution(
    net: &mut Net,
    name: &str,
    input: &Symbol,
    n_filters: usize,
    kernel: usize,
    stride: usize,
    pad: Option<usize>,
) -> Result<Symbol> {
    let (kernel, stride) = (Pair(kernel, kernel), Pair(stride, stride));
    let pad = pad.map(|p| Pair(p, p));
    let mut attrs: Vec<(&str, &dyn Display)> = vec![
        ("kernel", &kernel),
        ("num_filter", &n_filters),
        ("no_bias", &Flag(true)),
        ("stride", &stride),
        ("workspace", &256),
    ];
    if let Some(pad) = &pad {
        attrs.push(("pad", pad));
    }
    net.convolution(Some(name), input, &attrs)
}

/// Adds a batch normalization with the constants of the residual networks.
pub(crate) fn batch_norm(net: &mut Net, name: &str, input: &Symbol, fix_gamma: bool) -> Result<Symbol> {
    let attrs: Attributes<'_> = &[("eps", &"2e-05"), ("fix_gamma", &Flag(fix_gamma)), ("momentum", &0.9)];
    net.batch_norm(name, input, attrs)
}

/// Adds a ReLU activation named `name`.
pub(crate) fn relu(net: &mut Net, name: &str, input: &Symbol) -> Result<Symbol> {
    net.activation(Some(name), input, "relu")
}

/// Adds the max pooling at the end of a large stem.
pub(crate) fn stem_pooling(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    net.pooling(None, input, "max", &[("kernel", &Pair(3, 3)), ("pad", &Pair(1, 1)), ("stride", &Pair(2, 2))])
}

/// Adds global pooling and the classifier.
pub(crate) fn head(net: &mut Net, input: &Symbol) -> Result<Symbol> {
    let attrs: Attributes<'_> = &[("global_pool", &Flag(true)), ("kernel", &Pair(7, 7))];
    let mut x = net.pooling(Some("pool1"), input, "avg", attrs)?;
    x = net.flatten(None, &x)?;
    x = net.dense(Some("fc1"), &x, net.n_classes)?;
    net.softmax(&x)
}
