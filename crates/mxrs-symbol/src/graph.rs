//! Conversion between symbol files and graphs: looks up operators, parses attributes, upgrades old conventions.

use crate::{Attrs, Entry, GraphAttr, OperatorKnowledge, SymbolFile, SymbolNode, VARIABLE, check_operators, upgrade};
use mxrs_format::{Loaded, Options};
use mxrs_graph as g;
use mxrs_op::OpSet;
use mxrs_types::{Result, ResultExt};
use std::path::Path;
use std::sync::Arc;

/// The operators that files may use: a set of operators, and their names in old releases.
#[derive(Clone, Copy)]
pub struct Registry<'a> {
    /// Operators by name and alias.
    pub ops: &'a OpSet,
    /// Maps the name of an operator in an old release (such as `BatchNorm_v1`) to its current name.
    pub legacy: fn(&str) -> Option<&'static str>,
}

impl<'a> Registry<'a> {
    /// A registry of these operators without names of old releases.
    pub fn new(ops: &'a OpSet) -> Self {
        Self { ops, legacy: |_| None }
    }

    /// The operator of a file. A name of an old release stands for the current operator, even if the old one exists too.
    fn find(&self, name: &str) -> Option<&'a Arc<mxrs_op::OpDef>> {
        (self.legacy)(name).and_then(|current| self.ops.find(current)).or_else(|| self.ops.find(name))
    }
}

/// The attributes in the form that operators parse. Operators ignore user annotations of the form `__x__` and check all
/// others.
fn op_attrs(attrs: &Attrs) -> mxrs_op::Attrs {
    attrs.iter().collect()
}

impl OperatorKnowledge for Registry<'_> {
    fn input_names(&self, op: &str, attrs: &Attrs) -> Option<Vec<String>> {
        let op = self.find(op)?;
        let params = op.parse(&op_attrs(attrs)).ok()?;
        Some(op.input_names(&params))
    }

    fn n_outputs(&self, op: &str, attrs: &Attrs) -> Option<usize> {
        let op = self.find(op)?;
        Some(op.n_outputs.get(&op.parse(&op_attrs(attrs)).ok()?))
    }

    fn default_init(&self, op: &str, input: &str) -> Option<String> {
        let hints = self.find(op)?.init_hints;
        hints.iter().find(|(name, _)| *name == input).map(|(_, init)| init.to_string())
    }

    fn nearest(&self, op: &str) -> Vec<String> {
        match self.ops.get(op).map_err(|e| e.kind().clone()) {
            Err(mxrs_types::ErrorKind::UnknownOperator { nearest, .. }) => nearest,
            _ => Vec::new(),
        }
    }
}

/// Parses the attributes of all nodes before inputs are counted, because an error in an attribute is more useful than a
/// wrong count.
fn check_attrs(file: &SymbolFile, registry: &Registry<'_>) -> Result<()> {
    for node in file.nodes.iter().filter(|n| !n.is_variable()) {
        if let Some(op) = registry.find(&node.op) {
            op.parse(&op_attrs(&node.attrs)).context(|| format!("reading node `{}`", node.name))?;
        }
    }
    Ok(())
}

fn build(file: &SymbolFile, registry: &Registry<'_>) -> Result<g::Graph> {
    let mut builder = g::GraphBuilder::new();
    let entry = |e: &Entry| g::Entry { node: g::NodeId(e.node), index: e.index, version: e.version };
    for node in &file.nodes {
        let id = if node.is_variable() {
            builder.add_variable(node.name.clone(), op_attrs(&node.attrs))
        } else {
            let op = match registry.find(&node.op) {
                Some(op) => op,
                None => registry.ops.get(&node.op)?,
            };
            builder.add_op(op, node.name.clone(), op_attrs(&node.attrs), node.inputs.iter().map(entry).collect())?
        };
        let deps: Vec<g::NodeId> = node.control_deps.iter().map(|&d| g::NodeId(d)).collect();
        builder.add_control_deps(id, &deps)?;
        let subgraphs = node.subgraphs.iter().map(|s| build(s, registry).map(Arc::new)).collect::<Result<Vec<_>>>()?;
        builder.set_subgraphs(id, subgraphs)?;
    }
    builder.set_heads(file.heads.iter().map(entry).collect());
    for (key, value) in &file.attrs {
        builder.set_attr(
            key.clone(),
            match value.clone() {
                GraphAttr::Int(v) => g::GraphAttr::Int(v),
                GraphAttr::Str(v) => g::GraphAttr::Text(v),
                GraphAttr::ListInt(v) => g::GraphAttr::Ints(v),
                GraphAttr::ListStr(v) => g::GraphAttr::Texts(v),
            },
        );
    }
    builder.build()
}

/// Converts a symbol file to a graph: upgrades conventions of old releases, checks every operator, and parses attributes.
///
/// # Errors
/// Fails for an unknown operator, with the most similar names; a bad attribute; a wrong number of inputs; or an output that
/// does not exist.
pub fn graph_from_file(mut file: SymbolFile, registry: &Registry<'_>) -> Result<Loaded<g::Graph>> {
    let warnings = upgrade(&mut file, registry)?;
    check_attrs(&file, registry)?;
    check_operators(&file, registry)?;
    Ok(Loaded { value: build(&file, registry)?, warnings })
}

/// Reads a graph from the text of a symbol file.
///
/// # Errors
/// Returns the errors of [`SymbolFile::from_bytes`] and [`graph_from_file`].
pub fn graph_from_bytes(bytes: &[u8], registry: &Registry<'_>, options: &Options) -> Result<Loaded<g::Graph>> {
    let Loaded { value, mut warnings } = SymbolFile::from_bytes(bytes, options)?;
    let mut graph = graph_from_file(value, registry)?;
    warnings.append(&mut graph.warnings);
    Ok(Loaded { value: graph.value, warnings })
}

/// Reads a graph from a symbol file (`<prefix>-symbol.json`).
///
/// # Errors
/// Returns the errors of [`graph_from_bytes`] with the path, and I/O errors.
pub fn open_graph(path: impl AsRef<Path>, registry: &Registry<'_>, options: &Options) -> Result<Loaded<g::Graph>> {
    let path = path.as_ref();
    let Loaded { value, mut warnings } = SymbolFile::open(path, options)?;
    let graph = graph_from_file(value, registry).map_err(|e| e.with_path(path));
    let mut graph = graph.context(|| format!("reading {}", path.display()))?;
    warnings.append(&mut graph.warnings);
    Ok(Loaded { value: graph.value, warnings })
}

/// Converts a graph to the file that MXNet 1.9.1 would write.
pub fn graph_to_file(graph: &g::Graph) -> SymbolFile {
    let mut file = nested_to_file(graph);
    file.attrs.entry("mxnet_version".into()).or_insert(GraphAttr::Int(super::CURRENT_VERSION));
    file
}

/// Like [`graph_to_file`], for the subgraph of a node; subgraphs have no version attribute.
fn nested_to_file(graph: &g::Graph) -> SymbolFile {
    let entry = |e: &g::Entry| Entry { node: e.node.0, index: e.index, version: e.version };
    let node = |node: &g::Node| SymbolNode {
        op: if node.is_variable() { Arc::from(VARIABLE) } else { Arc::from(node.op_name()) },
        name: node.name.clone(),
        attrs: node.attrs.iter().fold(Attrs::default(), |mut attrs, (key, value)| {
            attrs.insert(key, value);
            attrs
        }),
        inputs: node.inputs.iter().map(entry).collect(),
        control_deps: node.control_deps.iter().map(|d| d.0).collect(),
        subgraphs: node.subgraphs.iter().map(|s| nested_to_file(s)).collect(),
    };
    let attr = |(key, value): (&String, &g::GraphAttr)| {
        let value = match value.clone() {
            g::GraphAttr::Int(v) => GraphAttr::Int(v),
            g::GraphAttr::Text(v) => GraphAttr::Str(v),
            g::GraphAttr::Ints(v) => GraphAttr::ListInt(v),
            g::GraphAttr::Texts(v) => GraphAttr::ListStr(v),
        };
        (key.clone(), value)
    };
    SymbolFile {
        nodes: graph.nodes().iter().map(node).collect(),
        arg_nodes: graph.variables().iter().map(|id| id.0).collect(),
        node_row_ptr: Some(graph.node_row_ptr().to_vec()),
        heads: graph.heads().iter().map(entry).collect(),
        attrs: graph.attrs().iter().map(attr).collect(),
    }
}
