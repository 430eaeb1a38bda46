//! Which calls `MXNET_BACKWARD_DO_MIRROR` computes again: cheap ones, by a rule over operators.

use crate::{GradientGraph, Node};

/// What a rule says of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirroring {
    /// Never computed again, even when forced (`Dropout`).
    Never,
    /// Stored, unless `__force_mirroring__` is set (`Convolution`, `FullyConnected`, `Concat`, `SoftmaxOutput`).
    Stored,
    /// Computed again, unless `__force_mirroring__` denies it.
    Candidate,
}

/// The forward calls to store, per forward node: those that `rule` does not call candidates, corrected by the
/// `__force_mirroring__` annotation of each call (`1`, `True`, `0`, `False`).
///
/// Forcing works whether or not candidates are wanted: with the switch off, give a rule without any.
pub fn mirror(joined: &GradientGraph, rule: impl Fn(&Node) -> Mirroring) -> Vec<bool> {
    let is_stored = |node: &Node| {
        let forced = node.attrs.get("__force_mirroring__").map(|text| matches!(text, "1" | "True" | "true"));
        match (rule(node), forced) {
            (Mirroring::Never, _) | (_, Some(false)) => true,
            (_, Some(true)) => false,
            (rule, None) => rule == Mirroring::Stored,
        }
    };
    joined.graph.nodes()[..joined.n_forward_nodes].iter().map(is_stored).collect()
}
