//! Nodes of symbols: shared, immutable, dropped without recursion.

use crate::Graph;
use mxrs_op::{Attrs, OpDef, OpParams};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A variable or a call, which owns its inputs.
pub(super) struct SymNode {
    pub call: Option<(Arc<OpDef>, OpParams)>,
    pub name: String,
    pub attrs: Attrs,
    pub inputs: Vec<SymEntry>,
    pub control_deps: Vec<Arc<SymNode>>,
    pub subgraphs: Vec<Arc<Graph>>,
    pub n_visible: usize,
    pub n_outputs: usize,
    /// Whether the node was made by composition, and not converted from a graph.
    pub is_composed: bool,
}

/// A reference to an output of a node. `version` is `None` in a composed symbol, and known if the symbol was made from a
/// graph.
#[derive(Clone)]
pub(super) struct SymEntry {
    pub node: Arc<SymNode>,
    pub index: u32,
    pub version: Option<u32>,
}

impl SymNode {
    pub fn variable(name: String, attrs: Attrs) -> Self {
        Self {
            call: None,
            name,
            attrs,
            inputs: Vec::new(),
            control_deps: Vec::new(),
            subgraphs: Vec::new(),
            n_visible: 1,
            n_outputs: 1,
            is_composed: true,
        }
    }

    pub fn call(&self) -> Option<(&Arc<OpDef>, &OpParams)> {
        self.call.as_ref().map(|(op, params)| (op, params))
    }
}

impl SymEntry {
    pub fn name(&self) -> String {
        let op = self.node.call().map(|(op, _)| op.as_ref());
        crate::node::output_name(op, &self.node.name, self.index as usize, self.node.n_outputs)
    }
}

impl Drop for SymNode {
    /// Drops a chain node by node, because a symbol may be deeper than the stack allows.
    fn drop(&mut self) {
        let take = |node: &mut SymNode, into: &mut Vec<Arc<SymNode>>| {
            into.extend(node.inputs.drain(..).map(|e| e.node));
            into.append(&mut node.control_deps);
        };
        let mut links = Vec::new();
        take(self, &mut links);
        while let Some(link) = links.pop() {
            if let Some(mut node) = Arc::into_inner(link) {
                take(&mut node, &mut links);
            }
        }
    }
}

/// The nodes reachable from `heads` in post-order: inputs in order, then control dependencies.
pub(super) fn walk(heads: &[SymEntry]) -> Vec<Arc<SymNode>> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<*const SymNode> = FxHashSet::default();
    let mut stack: Vec<(&Arc<SymNode>, usize)> = Vec::new();
    for head in heads {
        if !seen.insert(Arc::as_ptr(&head.node)) {
            continue;
        }
        stack.push((&head.node, 0));
        while let Some((node, next)) = stack.last_mut() {
            let node: &Arc<SymNode> = node;
            let before = match node.inputs.get(*next) {
                Some(input) => Some(&input.node),
                None => node.control_deps.get(*next - node.inputs.len()),
            };
            *next += 1;
            match before {
                Some(before) => {
                    if seen.insert(Arc::as_ptr(before)) {
                        stack.push((before, 0));
                    }
                }
                None => {
                    order.push(Arc::clone(node));
                    stack.pop();
                }
            }
        }
    }
    order
}
