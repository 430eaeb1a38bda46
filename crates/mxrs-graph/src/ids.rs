//! Small numbers that name nodes and their outputs.

use std::fmt;

/// Place of a node in its graph; inputs always have smaller ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// From a position in a list of nodes. Graphs have fewer than 2^32 nodes.
    pub fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// As a position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of one output of one node: the node's first entry id plus the output index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

impl EntryId {
    /// From a position in a list of entries. Graphs have fewer than 2^32 entries.
    pub fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// As a position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A use of a node's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The node.
    pub node: NodeId,
    /// Which of its outputs.
    pub index: u32,
    /// How many operators before this use have written the variable; 0 for outputs of operators.
    pub version: u32,
}

impl Entry {
    /// Output `index` of `node`, version 0.
    pub fn new(node: NodeId, index: u32) -> Self {
        Self { node, index, version: 0 }
    }
}
