//! The networks that are measured.

use super::{Case, Mode};
use anyhow::Result;
use mxrs::exec::{BindOptions, DryGraph, GradReq, GradRequests, PlannedGraph};
use mxrs::graph::Graph;
use mxrs::models::{ModelOptions, model};
use mxrs::symbol::graph_to_file;
use mxrs::types::Shape;
use std::path::Path;

/// Networks whose memory is compared with MXNet's by default.
pub const COMPARED: [&str; 6] = ["alexnet", "vgg-16", "inception-bn", "inception-v3", "resnet-50", "resnet-152"];

/// A residual network of 1,001 layers, for images of 28 x 28 pixels and ten classes. He et al., "Identity mappings in deep
/// residual networks", arXiv:1603.05027.
pub const DEEP: &str = "resnet-1001";

/// Name of the input of every network.
pub const DATA: &str = "data";

/// A network to bind.
pub struct Subject {
    /// The network.
    pub graph: Graph,
    image: [usize; 3],
    /// Number of classes.
    pub n_classes: usize,
}

impl Subject {
    /// Builds a network by name: one of the models, or [`DEEP`].
    ///
    /// # Errors
    /// Fails if no model has this name.
    pub fn new(name: &str) -> Result<Self> {
        let small = ModelOptions { n_classes: 10, image: Some([3, 28, 28]), ..ModelOptions::default() };
        let options = if name == DEEP { small } else { ModelOptions::default() };
        let built = model(name, &options)?;
        Ok(Self { graph: built.symbol.graph()?, image: built.image, n_classes: options.n_classes })
    }

    /// Shape of a batch of images.
    pub fn shape(&self, batch: usize) -> Shape {
        std::iter::once(batch).chain(self.image).collect()
    }

    /// Options to bind the network with. In training they request gradients of all parameters, but not of images and labels.
    pub fn options(&self, options: BindOptions, mode: Mode) -> BindOptions {
        let is_fed = |name: &String| name == DATA || self.graph.find(name).is_some_and(|id| self.graph.is_label(id));
        let names = self.graph.arguments().map(|id| self.graph.node(id).name.clone());
        let requests = GradRequests {
            by_name: names.filter(is_fed).map(|name| (name, GradReq::Null)).collect(),
            ..GradRequests::all(GradReq::Write)
        };
        BindOptions { gradients: (mode == Mode::Training).then_some(requests), ..options }
    }

    /// Plans the memory that the network needs, without running it.
    ///
    /// # Errors
    /// Fails if the network cannot be bound.
    pub fn plan(&self, case: &Case, options: BindOptions) -> Result<PlannedGraph> {
        let (dry, options) = self.dry(case, options)?;
        Ok(dry.plan(&options.plan)?)
    }

    /// Bytes planned of the graph's own tensors, outputs included: what MXNet's planner counts.
    ///
    /// # Errors
    /// Fails if the network cannot be bound.
    pub fn tensor_bytes(&self, case: &Case, options: BindOptions) -> Result<u64> {
        let (dry, options) = self.dry(case, options)?;
        Ok((dry.tensor_bytes(&options.plan)? + dry.plan(&options.plan)?.output_bytes) as u64)
    }

    fn dry(&self, case: &Case, options: BindOptions) -> Result<(DryGraph, BindOptions)> {
        let options = self.options(options, case.mode);
        let inputs = [(DATA, self.shape(case.batch))];
        Ok((DryGraph::new(&self.graph, &inputs, &options, case.mode == Mode::Training)?, options))
    }

    /// Writes the network as a symbol file of MXNet.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        Ok(graph_to_file(&self.graph).save(path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_networks_are_there() {
        for name in COMPARED {
            let subject = Subject::new(name).unwrap();
            assert_eq!(subject.shape(2)[..2], [2, 3], "{name}");
            let options = subject.options(BindOptions::new(Vec::new()), Mode::Training);
            let null: Vec<String> = options.gradients.unwrap().by_name.into_iter().map(|(name, _)| name).collect();
            assert_eq!(null, ["data", "softmax_label"], "{name}");
        }
        assert!(Subject::new("resnet-7").is_err());
    }

    #[test]
    fn the_deep_one_has_a_thousand_layers() {
        let graph = Subject::new(DEEP).unwrap().graph;
        let is_layer = |name: &str| matches!(name, "Convolution" | "FullyConnected");
        // Three shortcuts have a convolution to change the number of channels; the name of the network does not count them.
        assert_eq!(graph.nodes().iter().filter(|node| is_layer(node.op_name())).count(), 1001 + 3);
    }
}
