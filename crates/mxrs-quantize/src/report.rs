//! The report of quantization, node by node; it explains why a layer is not quantized.

use crate::table::Range;

/// Result of quantization for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node was quantized.
    Quantized,
    /// The node was folded into another node.
    Folded {
        /// Name of the node that it was folded into.
        into: String,
    },
    /// The node stays in float.
    Left {
        /// The reason why it is not quantized.
        reason: String,
    },
}

/// One node of the float network that is not a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// Name of the node.
    pub name: String,
    /// Operator of the node.
    pub op: String,
    /// Result of quantization.
    pub outcome: Outcome,
}

/// A range that was written into the network.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenRange {
    /// The node that quantizes or requantizes.
    pub node: String,
    /// Name of the float value with this range.
    pub value: String,
    /// The range; `None` if it is computed in each run.
    pub range: Option<Range>,
}

/// The report of quantization.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct QuantizeReport {
    /// All nodes, in the order of the float graph.
    pub nodes: Vec<NodeReport>,
    /// All conversions of values to 8-bit integers, in the order of the new graph.
    pub ranges: Vec<WrittenRange>,
    /// Number of nodes that convert integers back to floats.
    pub n_dequantize: usize,
    /// Size in bytes of all parameters before quantization.
    pub bytes_before: u64,
    /// Size in bytes of all parameters after quantization.
    pub bytes_after: u64,
}

impl QuantizeReport {
    /// Number of quantized nodes.
    pub fn n_quantized(&self) -> usize {
        self.nodes.iter().filter(|node| node.outcome == Outcome::Quantized).count()
    }

    /// Number of nodes that were folded into other nodes.
    pub fn n_folded(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.outcome, Outcome::Folded { .. })).count()
    }

    /// Logs the result for each node, in MXNet's words, and each range.
    pub(crate) fn log(&self) {
        for NodeReport { name, op, outcome } in &self.nodes {
            match outcome {
                Outcome::Quantized => tracing::info!("{name} is quantized."),
                Outcome::Folded { into } => tracing::info!("{name} is part of {into}."),
                Outcome::Left { reason } => tracing::info!("{name} is NOT quantized. ({op}: {reason})"),
            }
        }
        for WrittenRange { node, value, range } in &self.ranges {
            match range {
                Some(Range { min, max }) => {
                    tracing::info!("Set calibration result to {node} : min={min:.6} max={max:.6}");
                }
                None => tracing::info!("Can't find calibration result for {node} ({value})"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted() {
        let node = |outcome| NodeReport { name: "a".into(), op: "b".into(), outcome };
        let left = Outcome::Left { reason: "c".into() };
        let nodes = [Outcome::Quantized, Outcome::Folded { into: "d".into() }, left, Outcome::Quantized];
        let report = QuantizeReport { nodes: nodes.map(node).into(), ..QuantizeReport::default() };
        assert_eq!((report.n_quantized(), report.n_folded()), (2, 1));
    }
}
