//! The report of the pass, node by node, which explains why a layer is not quantized.

use crate::table::Range;

/// The result for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The node was quantized.
    Quantized,
    /// The node was folded into another node.
    Folded {
        /// Name of that node.
        into: String,
    },
    /// The node was not changed.
    Left {
        /// The reason.
        reason: String,
    },
}

/// One node of the float network that is not a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// Its name.
    pub name: String,
    /// Its operator.
    pub op: String,
    /// The result for it.
    pub outcome: Outcome,
}

/// A range that was written into the network.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenRange {
    /// The node that quantizes or requantizes.
    pub node: String,
    /// The float value whose range it is.
    pub value: String,
    /// The range; `None` if it is computed in each run.
    pub range: Option<Range>,
}

/// The report of the pass.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct QuantizeReport {
    /// Every node in the order of the float graph.
    pub nodes: Vec<NodeReport>,
    /// Every place where values become 8-bit integers, in the order of the new graph.
    pub ranges: Vec<WrittenRange>,
    /// Number of nodes that convert integers back to floats.
    pub n_dequantize: usize,
    /// Bytes of all parameters before the pass.
    pub bytes_before: u64,
    /// Bytes of all parameters after the pass.
    pub bytes_after: u64,
}

impl QuantizeReport {
    /// Number of quantized nodes.
    pub fn n_quantized(&self) -> usize {
        self.nodes.iter().filter(|node| node.outcome == Outcome::Quantized).count()
    }

    /// Number of nodes that were folded into others.
    pub fn n_folded(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.outcome, Outcome::Folded { .. })).count()
    }

    /// Logs each node that was changed or left, in MXNet's words, and each range.
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
