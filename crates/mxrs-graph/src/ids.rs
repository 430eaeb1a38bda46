//! Numbers that identify nodes and their outputs.

use std::fmt;

/// The position of a node in its graph. The inputs of a node have smaller ids than the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Makes an id from a position in a list of nodes. Graphs have fewer than 2^32 nodes.
    pub fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The position in the list of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of one output of one node: the node's first entry id plus the output index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

impl EntryId {
    /// Makes an id from a position in a list of entries. Graphs have fewer than 2^32 entries.
    pub fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The position in the list of entries.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A reference to one output of a node, as an input of another node or as a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The node.
    pub node: NodeId,
    /// The index of the output.
    pub index: u32,
    /// The number of operators that have written the variable before this use; 0 for outputs of operators.
    pub version: u32,
}

impl Entry {
    /// Output `index` of `node`, with version 0.
    pub fn new(node: NodeId, index: u32) -> Self {
        Self { node, index, version: 0 }
    }
}
