//! Assigns a device to each node, and inserts a `_CrossDeviceCopy` wherever data crosses devices.
//!
//! The rules are those of MXNet's `group2ctx`. A node with a `__ctx_group__` is on the device of the group. Of the other
//! nodes:
//! - a variable is on the default device, but an auxiliary state is on the device of the operator that writes it;
//! - a call is on the device of its first input that has one, or, if no input has one, on that of its last reader;
//! - the gradient of a head is on the device of the head;
//! - a call of a gradient is on the device of its forward call, but a sum of terms is on the device of the first term;
//! - a clone is on the device of its original.
//!
//! The gradient of an argument ends on the device of the argument. If it is made on another device, it is copied. MXNet
//! returns an error instead.

use super::rewrite::Rewrite;
use crate::{Entry, Graph, Node, NodeId, TrainingGraph};
use indexmap::IndexMap;
use mxrs_op::{Attrs, Combines, OpDef, OpSet};
use mxrs_types::{Device, Error, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The annotation that names the group of a node.
const CTX_GROUP: &str = "__ctx_group__";
/// The operator that copies between devices.
const COPY: &str = "_CrossDeviceCopy";

/// Places a forward graph: sets the [device](Node::device) of every node. `groups` are the devices of the context groups
/// (`group2ctx`), and `default` is the device of nodes for which no other rule holds. [`TrainingGraph::with_copies`]
/// inserts the copies that are then needed.
///
/// # Errors
/// Fails if a node is in a group without a device. Fails if operators on two devices write the same auxiliary state.
pub fn place(graph: &Graph, default: Device, groups: &IndexMap<String, Device>) -> Result<Graph> {
    let mut of = of_groups(graph, groups)?;
    for (id, node) in graph.iter().filter(|(_, node)| node.is_variable()) {
        if !graph.is_aux_state(id) && node.attrs.get(CTX_GROUP).is_none() {
            of[id.index()] = Some(default);
        }
    }
    for (id, node) in graph.iter() {
        let of_inputs = || node.inputs.iter().find_map(|input| of[input.node.index()]);
        of[id.index()] = of[id.index()].or_else(of_inputs);
    }
    // The nodes without a device are now auxiliary states, calls without inputs, and calls that depend only on such nodes.
    // Walking backward, each such call gets the device of its last reader.
    for (id, node) in graph.iter().rev().filter(|(_, node)| !node.is_variable()) {
        let here = *of[id.index()].get_or_insert(default);
        for input in node.inputs.iter().filter(|input| !graph.node(input.node).is_variable()) {
            of[input.node.index()].get_or_insert(here);
        }
    }
    place_states(graph, &mut of)?;
    let mut placed = graph.clone();
    placed.set_devices(of.into_iter().map(|device| device.unwrap_or(default)));
    Ok(placed)
}

/// For each node, the device of its group; `None` if it is in no group.
fn of_groups(graph: &Graph, groups: &IndexMap<String, Device>) -> Result<Vec<Option<Device>>> {
    let of_group = |node: &Node| {
        let Some(group) = node.attrs.get(CTX_GROUP) else { return Ok(None) };
        groups.get(group).copied().map(Some).ok_or_else(|| {
            let known = groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let expected = format!("a group that a device is given for: {known}");
            Error::invalid(format!("`ctx_group` of node `{}`", node.name), format!("`{group}`"), expected)
        })
    };
    graph.nodes().iter().map(of_group).collect()
}

/// Places auxiliary states where the calls that write them are.
fn place_states(graph: &Graph, of: &mut [Option<Device>]) -> Result<()> {
    for (id, node) in graph.iter() {
        let Some(here) = of[id.index()] else { continue };
        for state in &node.inputs[node.n_arguments()..] {
            let there = *of[state.node.index()].get_or_insert(here);
            if there != here {
                let state = &graph.node(state.node).name;
                return Err(Error::invalid(
                    format!("device of auxiliary state `{state}`, which node `{}` on {here} writes", node.name),
                    there,
                    "one device for an auxiliary state and all operators that write it",
                ));
            }
        }
    }
    Ok(())
}

impl TrainingGraph {
    /// Inserts the copies that a [placed](place) graph needs; `None` if it needs none. The forward part stays in front. An
    /// entry is copied once per device that needs it. A copy is named `<node>_<output>_copy`.
    ///
    /// # Errors
    /// Fails if a copy is needed and `ops` does not have `_CrossDeviceCopy`.
    pub fn with_copies(&self, ops: &OpSet, default: Device) -> Result<Option<Self>> {
        let graph = &self.graph;
        let of = self.devices(default);
        let on = |entry: &Entry| of[entry.node.index()];
        let mut copying = Copying { of: &of, ops, rewrite: Rewrite::of(graph), made: FxHashMap::default() };
        for (id, old) in graph.iter() {
            if id.index() == self.n_forward_nodes {
                copying.rewrite.end_forward();
            }
            let mut node = copying.rewrite.moved(old);
            node.device = Some(of[id.index()]);
            // A copy between devices that is already in the graph may read an input on another device. No further copy is
            // needed for it.
            if !node.op.as_ref().is_some_and(|op| op.crosses_devices) {
                for (from, to) in old.inputs.iter().zip(&mut node.inputs) {
                    if on(from) != of[id.index()] {
                        *to = copying.copy(graph, *from, of[id.index()], old.backward_of)?;
                    }
                }
            }
            copying.rewrite.put(id, node);
        }
        if self.n_forward_nodes == graph.n_nodes() {
            copying.rewrite.end_forward();
        }
        let mut heads: Vec<Entry> = graph.heads().iter().map(|head| copying.rewrite.entry(*head)).collect();
        for (at, wanted) in self.wanted.iter().enumerate() {
            let head = graph.heads()[self.n_forward_heads + at];
            if on(&head) != on(wanted) {
                let made = graph.node(head.node).backward_of;
                heads[self.n_forward_heads + at] = copying.copy(graph, head, on(wanted), made)?;
            }
        }
        if copying.made.is_empty() && graph.nodes().iter().zip(&of).all(|(node, of)| node.device == Some(*of)) {
            return Ok(None);
        }
        self.after(copying.rewrite.finish(heads)?).map(Some)
    }

    /// The device of each node of a placed graph.
    fn devices(&self, default: Device) -> Vec<Device> {
        let mut of: Vec<Device> = Vec::with_capacity(self.graph.n_nodes());
        for (id, node) in self.graph.iter() {
            let first = node.inputs.first().map(|input| of[input.node.index()]);
            let is_sum = |op: &Arc<OpDef>| matches!(op.combines, Combines::Sum | Combines::GradientSum);
            let device = match first {
                Some(first) if !self.is_forward(id) && node.op.as_ref().is_some_and(is_sum) => first,
                _ => node.device.or(first).unwrap_or(default),
            };
            of.push(device);
        }
        of
    }
}

/// A graph to which copies are added.
struct Copying<'g> {
    /// The device of each node of the old graph.
    of: &'g [Device],
    ops: &'g OpSet,
    rewrite: Rewrite<'g>,
    /// The copies so far, by old entry and device.
    made: FxHashMap<(NodeId, u32, Device), Entry>,
}

impl Copying<'_> {
    /// The copy of an entry of the old graph on `device`. A new copy belongs to the gradient of `backward_of`, a node of the
    /// old graph.
    fn copy(&mut self, graph: &Graph, from: Entry, device: Device, backward_of: Option<NodeId>) -> Result<Entry> {
        let key = (from.node, from.index, device);
        if let Some(copied) = self.made.get(&key) {
            return Ok(*copied);
        }
        let name = format!("{}_{}_copy", graph.node(from.node).name, from.index);
        let input = self.rewrite.entry(from);
        let copy = self.rewrite.out.add_op(self.ops.get(COPY)?, name, Attrs::new(), vec![input])?;
        if let Some(forward) = backward_of {
            self.rewrite.out.set_backward_of(copy, self.rewrite.id(forward))?;
        }
        self.rewrite.out.set_device(copy, Some(device))?;
        let copied = Entry::new(copy, 0);
        debug_assert_ne!(self.of[from.node.index()], device, "a copy within one device");
        self.made.insert(key, copied);
        Ok(copied)
    }
}

#[cfg(test)]
mod tests;
