//! Assigns a device to each node, and inserts a `_CrossDeviceCopy` wherever data crosses devices.
//!
//! A node with a `__ctx_group__` is on the group's device. Other nodes get a device by these rules:
//! - a call is on the device of its first input that has a device, otherwise on that of its first reader that has one;
//! - a variable is on the device of a reader, and an auxiliary state on the device of its operator;
//! - a call of a gradient is on the device of its forward call, and a clone on the device of its original;
//! - all remaining nodes are on the default device.

use super::rewrite::{Rewrite, Rewritten};
use crate::{Entry, Graph, NodeId, TrainingGraph};
use indexmap::IndexMap;
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{Device, Error, Result};
use rustc_hash::FxHashMap;

/// Places the nodes of a graph. Returns the graph with copies at device borders, and the device of each of its nodes.
///
/// `groups` are the devices of the context groups (`group2ctx`). If it is empty, groups are ignored and every node is
/// on `default`. An entry is copied once per device that needs it; a copy is named `<node>_<output>_copy`.
///
/// # Errors
/// Fails if a group has no device, or if operators on two devices write the same auxiliary state. Fails if a copy is needed
/// and `ops` has neither `_CrossDeviceCopy` nor `_copy`.
pub fn place(
    graph: &Graph,
    ops: &OpSet,
    default: Device,
    groups: &IndexMap<String, Device>,
) -> Result<(Graph, Vec<Device>)> {
    let (rewritten, devices) = run(graph, ops, default, groups, graph.n_nodes())?;
    Ok((rewritten.graph, devices))
}

impl TrainingGraph {
    /// Places the nodes of a training graph, as the function [`place`] does for other graphs. The forward part stays in
    /// front.
    ///
    /// # Errors
    /// Fails in the same cases as the function [`place`].
    pub fn place(
        &self,
        ops: &OpSet,
        default: Device,
        groups: &IndexMap<String, Device>,
    ) -> Result<(Self, Vec<Device>)> {
        let (rewritten, devices) = run(&self.graph, ops, default, groups, self.n_forward_nodes)?;
        Ok((self.after(rewritten)?, devices))
    }
}

fn run(
    graph: &Graph,
    ops: &OpSet,
    default: Device,
    groups: &IndexMap<String, Device>,
    n_forward_nodes: usize,
) -> Result<(Rewritten, Vec<Device>)> {
    let of_old = devices(graph, default, groups, n_forward_nodes)?;
    let mut rewrite = Rewrite::of(graph);
    // The devices of the nodes added so far, and the copies by entry and device.
    let mut of_new: Vec<Device> = Vec::with_capacity(graph.n_nodes());
    let mut copies: FxHashMap<(Entry, Device), Entry> = FxHashMap::default();
    for (id, old) in graph.iter() {
        if id.index() == n_forward_nodes {
            rewrite.end_forward();
        }
        let here = of_old[id.index()];
        let mut node = rewrite.moved(old);
        let n_arguments = old.n_arguments();
        for (position, input) in node.inputs.iter_mut().enumerate() {
            let from = of_new[input.node.index()];
            if from == here {
                continue;
            }
            let source = graph.node(old.inputs[position].node);
            if position >= n_arguments {
                return Err(Error::invalid(
                    format!("device of auxiliary state `{}`, which node `{}` on {here} writes", source.name, old.name),
                    from,
                    "one device for an auxiliary state and all operators that write it",
                ));
            }
            if let Some(copied) = copies.get(&(*input, here)) {
                *input = *copied;
                continue;
            }
            let op = ops.find("_CrossDeviceCopy").map_or_else(|| ops.get("_copy"), Ok)?;
            let name = format!("{}_{}_copy", source.name, input.index);
            let copy = rewrite.out.add_op(op, name, Attrs::new(), vec![*input])?;
            if let Some(forward) = node.backward_of {
                rewrite.out.set_backward_of(copy, forward)?;
            }
            of_new.push(here);
            let copied = Entry::new(copy, 0);
            copies.insert((*input, here), copied);
            *input = copied;
        }
        rewrite.put(id, node);
        of_new.push(here);
    }
    if n_forward_nodes == graph.n_nodes() {
        rewrite.end_forward();
    }
    let heads = graph.heads().iter().map(|h| rewrite.entry(*h)).collect();
    let rewritten = rewrite.finish(heads)?;
    let kept = rewritten.of_added.iter().zip(of_new).filter(|(id, _)| id.is_some()).map(|(_, device)| device).collect();
    Ok((rewritten, kept))
}

/// The device of each node.
fn devices(
    graph: &Graph,
    default: Device,
    groups: &IndexMap<String, Device>,
    n_forward_nodes: usize,
) -> Result<Vec<Device>> {
    if groups.is_empty() {
        return Ok(vec![default; graph.n_nodes()]);
    }
    let mut of: Vec<Option<Device>> = Vec::with_capacity(graph.n_nodes());
    for node in graph.nodes() {
        let device = match node.attrs.get("__ctx_group__") {
            None => None,
            Some(group) => Some(*groups.get(group).ok_or_else(|| {
                let known = groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let expected = format!("a group that a device is given for: {known}");
                Error::invalid(format!("`ctx_group` of node `{}`", node.name), format!("`{group}`"), expected)
            })?),
        };
        of.push(device);
    }
    let (forward, gradient): (Vec<NodeId>, Vec<NodeId>) =
        (0..graph.n_nodes()).map(NodeId::new).partition(|id| id.index() < n_forward_nodes);
    for id in &forward {
        let from_inputs = || graph.node(*id).inputs.iter().find_map(|e| of[e.node.index()]);
        of[id.index()] = of[id.index()].or_else(from_inputs);
    }
    for id in &forward {
        let node = graph.node(*id);
        for state in &node.inputs[node.n_arguments()..] {
            of[state.node.index()] = of[state.node.index()].or(of[id.index()]);
        }
    }
    let to_inputs = |of: &mut Vec<Option<Device>>, id: NodeId| {
        for input in &graph.node(id).inputs {
            of[input.node.index()] = of[input.node.index()].or(of[id.index()]);
        }
    };
    forward.iter().rev().for_each(|id| to_inputs(&mut of, *id));
    // All forward nodes have a device before the gradient is placed, so their devices do not depend on the gradient.
    of[..forward.len()].iter_mut().for_each(|device| *device = device.or(Some(default)));
    for id in &gradient {
        let node = graph.node(*id);
        let like = node.clone_of.or(node.backward_of).and_then(|like| of[like.index()]);
        of[id.index()] = of[id.index()].or(like);
    }
    // Only calls of the gradient read the variables that hold gradients of heads, so these get their devices last.
    gradient.iter().rev().for_each(|id| to_inputs(&mut of, *id));
    Ok(of.into_iter().map(|device| device.unwrap_or(default)).collect())
}

#[cfg(test)]
mod tests;
