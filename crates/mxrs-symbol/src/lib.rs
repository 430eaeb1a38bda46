//! Symbol files (`<prefix>-symbol.json`): their nodes as stored in the file, without operators.
//!
//! Reads the files of every MXNet release (0.8 and before: `param`, `attr` and two-element entries) and writes the layout of
//! 1.9.1 byte for byte. [`upgrade`] converts old files to current conventions; the facts about operators that it needs come
//! from [`OperatorKnowledge`]. [`open_graph`] reads a file as a graph, with the operators of a [`Registry`].
//!
//! This crate contains no operators and no arrays; parameters are in `mxrs-format`.
//!
//! Peak memory while reading is about twice the size of a file in MXNet's own layout. For text without any spaces it can
//! reach seven times the size; [`mxrs_format::Limits::max_nodes`] bounds it.

mod attrs;
mod check;
mod graph;
mod json;
mod knowledge;
mod read;
mod sort;
mod upgrade;
mod write;

pub use attrs::Attrs;
pub use graph::{Registry, graph_from_bytes, graph_from_file, graph_to_file, open_graph};
pub use knowledge::{OperatorKnowledge, check_operators};
pub use upgrade::{CURRENT_VERSION, is_hidden_key, upgrade};

use mxrs_format::{Loaded, Options, fault, reader, write_atomically};
use mxrs_types::Result;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Value of `op` for a variable.
pub const VARIABLE: &str = "null";

/// One graph of a symbol file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolFile {
    /// Nodes; the inputs of a node come before it.
    pub nodes: Vec<SymbolNode>,
    /// Indices of the variables, including auxiliary states.
    pub arg_nodes: Vec<u32>,
    /// Prefix sums of the nodes' output counts, `nodes + 1` entries; `None` if absent or invalid.
    pub node_row_ptr: Option<Vec<u32>>,
    /// Outputs of the graph.
    pub heads: Vec<Entry>,
    /// Attributes of the graph, such as `mxnet_version`.
    pub attrs: BTreeMap<String, GraphAttr>,
}

/// One node of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolNode {
    /// Name of the operator, or [`VARIABLE`]. Nodes of one file share the text.
    pub op: Arc<str>,
    /// Name of the node.
    pub name: String,
    /// Attributes, in Python spelling.
    pub attrs: Attrs,
    /// Inputs: the outputs of other nodes that the node reads.
    pub inputs: Vec<Entry>,
    /// Indices of nodes that must run before this one.
    pub control_deps: Vec<u32>,
    /// Subgraphs: the bodies of control-flow operators.
    pub subgraphs: Vec<SymbolFile>,
}

/// One output of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Index of the node.
    pub node: u32,
    /// Index of the output among those of the node.
    pub index: u32,
    /// Number of earlier mutations of the variable; 1 for auxiliary inputs. Ignored when loading.
    pub version: u32,
}

/// Attribute of a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphAttr {
    /// An integer, stored as `["int", 10901]`.
    Int(i64),
    /// A text, stored as `["str", "text"]`.
    Str(String),
    /// A list of integers, stored as `["list_int", [1, 2]]`.
    ListInt(Vec<i64>),
    /// A list of texts, stored as `["list_str", ["a", "b"]]`.
    ListStr(Vec<String>),
}

impl SymbolNode {
    /// Whether the node is a variable.
    pub fn is_variable(&self) -> bool {
        &*self.op == VARIABLE
    }
}

impl SymbolFile {
    /// Parses and checks a symbol file; use [`upgrade`] for files of old releases.
    ///
    /// # Errors
    /// Returns `Syntax` with line and column for text that is not the expected JSON; `LimitExceeded` for too deep nesting or
    /// too many nodes; `Inconsistent` for node indices out of range, cycles and references to later nodes; `Duplicate` for
    /// keys or variable names that occur twice. Lenient reading accepts references to later nodes and sorts the nodes.
    ///
    /// ```
    /// use mxrs_format::Options;
    /// use mxrs_symbol::SymbolFile;
    /// let text = br#"{"nodes": [{"op": "null", "name": "x", "inputs": []}], "arg_nodes": [0], "heads": [[0, 0]]}"#;
    /// let file = SymbolFile::from_bytes(text, &Options::default())?.value;
    /// assert_eq!(file.nodes[0].name, "x");
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<Self>> {
        read::read(bytes, options)
    }

    /// Reads and checks a symbol file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] with the path, and I/O errors.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Self>> {
        let path = path.as_ref();
        let bytes = reader::read_text_file(path, options.limits.max_json, "symbol file")?;
        Self::from_bytes(&bytes, options).map_err(|e| e.with_path(path))
    }

    /// The text of the file as MXNet 1.9.1 would write it.
    pub fn to_json(&self) -> String {
        write::to_json(self)
    }

    /// Writes the file, atomically.
    ///
    /// # Errors
    /// Returns I/O errors with the path.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |sink| sink.write_all(self.to_json().as_bytes()).map_err(|e| fault::io(&e)))
    }

    /// Version of the MXNet that wrote the file, `major * 10000 + minor * 100 + patch`; 800 for files without a version.
    pub fn version(&self) -> i64 {
        match self.attrs.get("mxnet_version") {
            Some(GraphAttr::Int(version)) => *version,
            _ => 800,
        }
    }

    /// Whether shapes follow NumPy: 0 is a size, and -1 means unknown.
    pub fn is_np_shape(&self) -> bool {
        matches!(self.attrs.get("is_np_shape"), Some(GraphAttr::Int(flag)) if *flag != 0)
    }
}
