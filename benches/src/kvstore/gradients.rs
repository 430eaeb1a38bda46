//! The gradients of a network.

use crate::memory::subject::{DATA, Subject};
use anyhow::Result;
use mxrs::graph::infer_shapes;

/// The shapes of all gradients of a network, in the order of its arguments.
///
/// # Errors
/// Fails if no network has this name.
pub fn shapes(network: &str) -> Result<Vec<Vec<usize>>> {
    let subject = Subject::new(network)?;
    let graph = &subject.graph;
    let all = infer_shapes(graph, [(DATA, subject.shape(1).into())])?.complete(graph)?;
    let is_fed = |id| graph.node(id).name == DATA || graph.is_label(id);
    let parameters = graph.arguments().filter(|&id| !is_fed(id));
    Ok(parameters.map(|id| all[graph.output_id(id, 0).index()].to_vec()).collect())
}

/// Bytes of float32 arrays of these shapes.
pub fn n_bytes(shapes: &[Vec<usize>]) -> usize {
    shapes.iter().map(|shape| 4 * shape.iter().product::<usize>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resnet_50_has_its_parameters() {
        // He et al., arXiv:1512.03385: 53 convolutions, each with a batch normalization, and a fully-connected layer.
        let shapes = shapes("resnetv1-50").unwrap();
        assert_eq!(shapes.len(), 53 + 2 * 53 + 2);
        assert_eq!((shapes[0].as_slice(), n_bytes(&shapes)), (&[64, 3, 7, 7][..], 4 * 25_557_032));
    }
}
