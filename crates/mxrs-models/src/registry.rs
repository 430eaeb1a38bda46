//! All networks by name.

use crate::{
    alexnet, densenet, googlenet, inception_bn, inception_resnet_v2, inception_v3, inception_v4, lenet, mlp, mobilenet,
    mobilenet_v2, residual, resnet, resnet_v1, resnext, squeezenet, vgg,
};
use mxrs_graph::Symbol;
use mxrs_types::{DType, Error, Result, ResultExt};

/// The options of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelOptions {
    /// Number of classes.
    pub n_classes: usize,
    /// Channels, height and width of an image; `None` for the size for which the family is designed.
    pub image: Option<[usize; 3]>,
    /// Number of layers, for families with several depths; it can also be part of the name (`resnet-50`).
    pub n_layers: Option<usize>,
    /// Whether `vgg` has batch normalization.
    pub batch_norm: bool,
    /// The element type in which the network computes; the classifier's output is always `F32`.
    pub dtype: DType,
    /// The share of a label's probability that training spreads over the other classes; 0 by default.
    pub label_smoothing: f32,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            n_classes: 1000,
            image: None,
            n_layers: None,
            batch_norm: false,
            dtype: DType::F32,
            label_smoothing: 0.0,
        }
    }
}

/// A family of networks that differ only in their depth.
pub struct Family {
    /// The name, to which a depth may be appended.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// The available depths for images of the size `image`; empty if there is only one depth.
    pub layers: &'static [usize],
    /// The channels, height and width for which the network is designed.
    pub image: [usize; 3],
    build: fn(&ModelOptions) -> Result<Symbol>,
}

/// A network, ready to bind: its input `data` has the shape `[batch, image...]`, its label `softmax_label` the shape
/// `[batch]`, and its output `softmax_output` the shape `[batch, n_classes]`.
#[derive(Clone, Debug)]
pub struct Model {
    /// The requested name.
    pub name: String,
    /// The network.
    pub symbol: Symbol,
    /// Channels, height and width of an image.
    pub image: [usize; 3],
}

const LARGE: [usize; 3] = [3, 224, 224];
const LARGER: [usize; 3] = [3, 299, 299];
const DIGIT: [usize; 3] = [1, 28, 28];

static FAMILIES: [Family; 16] = [
    Family { name: "alexnet", aliases: &[], layers: &[], image: LARGE, build: alexnet::build },
    Family { name: "vgg", aliases: &[], layers: vgg::LAYERS, image: LARGE, build: vgg::build },
    Family {
        name: "resnetv1",
        aliases: &["resnet-v1"],
        layers: residual::LAYERS,
        image: LARGE,
        build: resnet_v1::build,
    },
    Family { name: "resnet", aliases: &[], layers: residual::LAYERS, image: LARGE, build: resnet::build },
    Family { name: "resnext", aliases: &[], layers: residual::LAYERS, image: LARGE, build: resnext::build },
    Family { name: "googlenet", aliases: &[], layers: &[], image: LARGE, build: googlenet::build },
    Family { name: "inception-bn", aliases: &[], layers: &[], image: LARGE, build: inception_bn::build },
    Family { name: "inception-v3", aliases: &[], layers: &[], image: LARGER, build: inception_v3::build },
    Family { name: "inception-v4", aliases: &[], layers: &[], image: LARGER, build: inception_v4::build },
    Family { name: "inception-resnet-v2", aliases: &[], layers: &[], image: LARGE, build: inception_resnet_v2::build },
    Family { name: "mobilenet", aliases: &[], layers: &[], image: LARGE, build: mobilenet::build },
    Family { name: "mobilenetv2", aliases: &[], layers: &[], image: LARGE, build: mobilenet_v2::build },
    Family { name: "densenet121", aliases: &[], layers: &[], image: LARGE, build: densenet::build },
    Family { name: "squeezenet1.1", aliases: &[], layers: &[], image: LARGE, build: squeezenet::build },
    Family { name: "lenet", aliases: &[], layers: &[], image: DIGIT, build: lenet::build },
    Family { name: "mlp", aliases: &[], layers: &[], image: DIGIT, build: mlp::build },
];

/// The networks of MXNet's inference benchmark, in its order.
pub const BENCHMARK_NETWORKS: [&str; 12] = [
    "alexnet",
    "vgg-16",
    "resnetv1-50",
    "resnet-50",
    "resnet-152",
    "inception-bn",
    "inception-v3",
    "inception-v4",
    "inception-resnet-v2",
    "mobilenet",
    "densenet121",
    "squeezenet1.1",
];

/// All families of networks.
pub fn families() -> &'static [Family] {
    &FAMILIES
}

/// The name of every network, with the image size for which the network is designed.
pub fn networks() -> Vec<(String, [usize; 3])> {
    let mut all = Vec::new();
    for family in &FAMILIES {
        if family.layers.is_empty() {
            all.push((family.name.to_string(), family.image));
        }
        all.extend(family.layers.iter().map(|n| (format!("{}-{n}", family.name), family.image)));
    }
    all
}

/// Builds a network by name: a family, or a family with its depth (`resnet-50`, `vgg-16`).
///
/// # Errors
/// Fails if the name is unknown, or if the network does not support the options.
pub fn model(name: &str, options: &ModelOptions) -> Result<Model> {
    let is_named = |family: &&Family, name: &str| family.name == name || family.aliases.contains(&name);
    let whole = FAMILIES.iter().find(|f| is_named(f, name)).map(|f| (f, options.n_layers));
    let with_depth = || {
        let (family, depth) = name.rsplit_once('-')?;
        let depth = depth.parse().ok()?;
        let family = FAMILIES.iter().find(|f| is_named(f, family) && !f.layers.is_empty())?;
        Some((family, Some(depth)))
    };
    let (family, n_layers) = whole.or_else(with_depth).ok_or_else(|| {
        let known: Vec<String> = networks().into_iter().map(|(n, _)| n).collect();
        Error::invalid("network", format!("`{name}`"), format!("one of {}", known.join(", ")))
    })?;
    let image = options.image.unwrap_or(family.image);
    let options = ModelOptions { image: Some(image), n_layers, ..options.clone() };
    let symbol = (family.build)(&options).context(|| format!("building network `{name}`"))?;
    Ok(Model { name: name.into(), symbol, image })
}
