//! Networks with the context groups `a`, `b` and `c`, and the devices on which MXNet 1.9.1 places their nodes.
//! `tests/mxnet/make_placement.py` has recorded them in `tests/fixtures/placement.txt`.

use super::{all_but, shape};
use mxrs::exec::GradRequests;
use mxrs::graph::Graph;
use mxrs::types::{Device, Shape};
use mxrs::{Model, Runtime};

/// A network with MXNet's placement.
pub struct Network {
    pub name: String,
    pub graph: Graph,
    /// Whether all outputs are losses, which take no gradient from the caller.
    pub is_loss: bool,
    /// Devices of the groups in the recording.
    pub groups: Vec<(String, Device)>,
    shapes: Vec<(String, Shape)>,
    /// The devices of arguments and auxiliary states.
    pub arrays: Vec<(String, Device)>,
    /// The devices of gradients.
    pub gradients: Vec<(String, Device)>,
    /// The devices of outputs.
    pub outputs: Vec<Device>,
    /// The copies at inference and in a training step. Each text names the half (forward or gradient), the node whose value
    /// or gradient is copied, and the readers.
    pub copies: [Vec<String>; 2],
}

impl Network {
    pub fn inputs(&self) -> Vec<(&str, Shape)> {
        self.shapes.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect()
    }

    /// The gradients of all parameters.
    pub fn gradients(&self) -> GradRequests {
        let labels = self.graph.argument_names().into_iter().filter(|name| name.ends_with("label")).map(String::from);
        all_but(self.shapes.iter().map(|(name, _)| name.clone()).chain(labels))
    }
}

/// All networks of the recording.
pub fn all(runtime: &Runtime) -> Vec<Network> {
    let text = include_str!("../../../fixtures/placement.txt");
    let (head, nets) = text.split_once("net ").unwrap();
    assert_eq!(head.trim(), "MXNet 1.9.1");
    nets.split("\nnet ").map(|net| read(runtime, net)).collect()
}

fn read(runtime: &Runtime, text: &str) -> Network {
    let (name, lines) = text.split_once('\n').unwrap();
    let of = |kind: &'static str| {
        let lines = lines.lines().filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '));
        lines.map(|line| line.split_once(' ').unwrap_or((line, "")))
    };
    let devices = |kind: &'static str| {
        of(kind).map(|(name, device)| (name.to_owned(), device.parse::<Device>().unwrap())).collect::<Vec<_>>()
    };
    let symbol = lines.lines().find_map(|line| line.strip_prefix("symbol ")).unwrap();
    let file = tempfile::Builder::new().suffix("-symbol.json").tempfile().unwrap();
    std::fs::write(file.path(), symbol).unwrap();
    let graph = Model::load_graph(runtime, file.path()).unwrap();
    let copies = |mode: &str| of("copy").filter(|(of, _)| *of == mode).map(|(_, copy)| copy.to_owned()).collect();
    Network {
        name: name.to_owned(),
        is_loss: symbol.contains("SoftmaxOutput"),
        groups: devices("group"),
        shapes: of("shape").map(|(name, text)| (name.to_owned(), shape(text))).collect(),
        arrays: devices("argument").into_iter().chain(devices("state")).collect(),
        gradients: devices("gradient"),
        outputs: of("output").map(|(device, _)| device.parse().unwrap()).collect(),
        copies: ["inference", "training"].map(copies),
        graph,
    }
}
