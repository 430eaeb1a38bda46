//! Symbol files (`<prefix>-symbol.json`): the nodes as the file has them, before any operator is looked up.
//!
//! Reads the files of every MXNet release (0.8 and before: `param`, `attr` and two-element entries) and writes the
//! layout of 1.9.1 byte for byte. [`upgrade`] brings old files to today's conventions; what it must know of operators
//! comes through [`OperatorKnowledge`]. [`open_graph`] makes a file a graph, with the operators of a [`Registry`].
//!
//! Does not know any concrete operator, and no array: parameters are in `mxrs-format`.
//!
//! Peak memory of reading is about twice the file for files in MXNet's own layout. Text without a single space can
//! reach seven times its size; [`mxrs_format::Limits::max_nodes`] bounds it.

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

/// `op` of a variable.
pub const VARIABLE: &str = "null";

/// One graph of a symbol file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolFile {
    /// Nodes; inputs come before their users.
    pub nodes: Vec<SymbolNode>,
    /// Numbers of the variables, auxiliary states included.
    pub arg_nodes: Vec<u32>,
    /// Prefix sums of the nodes' output counts, `nodes + 1` entries; `None` when absent or unusable.
    pub node_row_ptr: Option<Vec<u32>>,
    /// Outputs of the graph.
    pub heads: Vec<Entry>,
    /// Attributes of the graph, such as `mxnet_version`.
    pub attrs: BTreeMap<String, GraphAttr>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolNode {
    /// Operator, or [`VARIABLE`]. Nodes of one file share the text.
    pub op: Arc<str>,
    /// Name of the node.
    pub name: String,
    /// Attributes, in Python spelling.
    pub attrs: Attrs,
    /// Outputs that it takes.
    pub inputs: Vec<Entry>,
    /// Nodes that must run before it.
    pub control_deps: Vec<u32>,
    /// Bodies of control-flow operators.
    pub subgraphs: Vec<SymbolFile>,
}

/// One output of one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Number of the node.
    pub node: u32,
    /// Which of its outputs.
    pub index: u32,
    /// How often the variable was mutated before; 1 for auxiliary inputs. No effect when loading.
    pub version: u32,
}

/// Attribute of a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphAttr {
    /// `["int", 10901]`
    Int(i64),
    /// `["str", "text"]`
    Str(String),
    /// `["list_int", [1, 2]]`
    ListInt(Vec<i64>),
    /// `["list_str", ["a", "b"]]`
    ListStr(Vec<String>),
}

impl SymbolNode {
    /// Whether this is a variable.
    pub fn is_variable(&self) -> bool {
        &*self.op == VARIABLE
    }
}

impl SymbolFile {
    /// Parses and checks a symbol file; see [`upgrade`] for old ones.
    ///
    /// # Errors
    /// `Syntax` with line and column for text that is not the expected JSON; `LimitExceeded` for too deep nesting
    /// or too many nodes; `Inconsistent` for node numbers out of range, cycles and references to later nodes (which
    /// lenient reading sorts); `Duplicate` for keys or variable names that occur twice.
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
    /// As [`Self::from_bytes`], with the path; I/O errors.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Self>> {
        let path = path.as_ref();
        let bytes = reader::read_text_file(path, options.limits.max_json, "symbol file")?;
        Self::from_bytes(&bytes, options).map_err(|e| e.with_path(path))
    }

    /// The text MXNet 1.9.1 would write.
    pub fn to_json(&self) -> String {
        write::to_json(self)
    }

    /// Writes the file, atomically.
    ///
    /// # Errors
    /// I/O errors with the path.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |sink| sink.write_all(self.to_json().as_bytes()).map_err(|e| fault::io(&e)))
    }

    /// The version that wrote the file, `major * 10000 + minor * 100 + patch`; files without one are of 0.8.
    pub fn version(&self) -> i64 {
        match self.attrs.get("mxnet_version") {
            Some(GraphAttr::Int(version)) => *version,
            _ => 800,
        }
    }

    /// Whether shapes follow NumPy: 0 is a size, -1 is unknown.
    pub fn is_np_shape(&self) -> bool {
        matches!(self.attrs.get("is_np_shape"), Some(GraphAttr::Int(flag)) if *flag != 0)
    }
}
