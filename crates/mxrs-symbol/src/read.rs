//! Converts JSON text to nodes.

use crate::json::Json;
use crate::{Attrs, Entry, GraphAttr, SymbolFile, SymbolNode, check, sort};
use mxrs_format::Warnings;
use mxrs_format::{Loaded, Options};
use mxrs_types::{FormatErrorKind, Result};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Reads and checks a whole file.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<Loaded<SymbolFile>> {
    let mut json = Json::new(bytes, &options.limits)?;
    let mut state = State { options, warnings: Warnings::default(), ops: HashSet::new(), n_nodes: 0 };
    let mut file = state.graph(&mut json)?;
    let bytes = json.left();
    if bytes > 0 && !options.lenient {
        let kind = FormatErrorKind::TrailingData { bytes };
        return Err(json.error(kind, json.position(), "expected the end of the file"));
    }
    let mut warnings = state.warnings;
    if bytes > 0 {
        warnings.push(|| format!("{bytes} bytes after the graph, ignored"));
    }
    if options.lenient {
        sort::sort(&mut file, &mut warnings)?;
    }
    check::check(&mut file, &mut warnings)?;
    Ok(warnings.with(file))
}

/// State shared by all graphs of a file.
struct State<'a> {
    options: &'a Options,
    warnings: Warnings,
    /// Operator names; each is stored only once.
    ops: HashSet<Arc<str>>,
    /// Number of nodes read so far, including those of subgraphs.
    n_nodes: u64,
}

impl State<'_> {
    fn graph(&mut self, json: &mut Json<'_>) -> Result<SymbolFile> {
        let start = json.position();
        let (mut nodes, mut arg_nodes, mut heads) = (None, None, None);
        let mut graph = SymbolFile::default();
        json.object(|json, key| {
            match key {
                "nodes" => nodes = Some(self.nodes(json)?),
                "arg_nodes" => arg_nodes = Some(numbers(json)?),
                "heads" => heads = Some(entries(json)?),
                "node_row_ptr" => graph.node_row_ptr = Some(numbers(json)?),
                "attrs" => graph.attrs = self.graph_attrs(json)?,
                other => {
                    self.warnings.push(|| format!("unknown key `{other}` of a graph, ignored"));
                    json.skip()?;
                }
            }
            Ok(())
        })?;
        match (nodes, arg_nodes, heads) {
            (Some(nodes), Some(arg_nodes), Some(heads)) => Ok(SymbolFile { nodes, arg_nodes, heads, ..graph }),
            _ => Err(json.syntax(start, "graph without all of `nodes`, `arg_nodes` and `heads`")),
        }
    }

    fn nodes(&mut self, json: &mut Json<'_>) -> Result<Vec<SymbolNode>> {
        let mut nodes = Vec::new();
        json.array(|json| {
            self.n_nodes += 1;
            let max = self.options.limits.max_nodes;
            if self.n_nodes > max {
                let kind = FormatErrorKind::LimitExceeded { value: self.n_nodes, max };
                return Err(json.error(kind, json.position(), "number of nodes"));
            }
            if nodes.len() == nodes.capacity() {
                nodes.reserve_exact(nodes.len() / 2 + 8);
            }
            nodes.push(self.node(json)?);
            Ok(())
        })?;
        Ok(nodes)
    }

    fn node(&mut self, json: &mut Json<'_>) -> Result<SymbolNode> {
        let start = json.position();
        let (mut op, mut name, mut inputs) = (None, None, None);
        let mut node = SymbolNode::default();
        // Attributes from `param`, `attr` and `attrs`; the key of the latest release has priority.
        let mut sources: [Attrs; 3] = Default::default();
        json.object(|json, key| {
            match key {
                "op" => op = Some(json.string()?.into_owned()),
                "name" => name = Some(json.string()?.into_owned()),
                "inputs" => inputs = Some(entries(json)?),
                "param" => sources[2] = node_attrs(json)?,
                "attr" => sources[1] = node_attrs(json)?,
                "attrs" => sources[0] = node_attrs(json)?,
                "control_deps" => node.control_deps = numbers(json)?,
                "subgraphs" => json.array(|json| {
                    node.subgraphs.push(self.graph(json)?);
                    Ok(())
                })?,
                "backward_source_id" => json.skip()?,
                other => {
                    self.warnings.push(|| format!("unknown key `{other}` of a node, ignored"));
                    json.skip()?;
                }
            }
            Ok(())
        })?;
        for source in sources {
            node.attrs.fill_from(source);
        }
        match (op, name, inputs) {
            (Some(op), Some(name), Some(inputs)) => Ok(SymbolNode { op: self.intern(op), name, inputs, ..node }),
            _ => Err(json.syntax(start, "node without all of `op`, `name` and `inputs`")),
        }
    }

    fn intern(&mut self, op: String) -> Arc<str> {
        if let Some(known) = self.ops.get(op.as_str()) {
            return Arc::clone(known);
        }
        let op: Arc<str> = op.into();
        self.ops.insert(Arc::clone(&op));
        op
    }

    fn graph_attrs(&mut self, json: &mut Json<'_>) -> Result<BTreeMap<String, GraphAttr>> {
        let mut attrs = BTreeMap::new();
        json.object(|json, key| {
            let start = json.position();
            let mut kind = None;
            let mut value = None;
            let mut n_items = 0;
            json.array(|json| {
                n_items += 1;
                match (n_items, kind.as_deref()) {
                    (1, _) => kind = Some(json.string()?.into_owned()),
                    (2, Some("int")) => value = Some(GraphAttr::Int(json.integer()?)),
                    (2, Some("str")) => value = Some(GraphAttr::Str(json.string()?.into_owned())),
                    (2, Some("list_int")) => value = Some(GraphAttr::ListInt(numbers(json)?)),
                    (2, Some("list_str")) => {
                        let mut list = Vec::new();
                        json.array(|json| {
                            list.push(json.string()?.into_owned());
                            Ok(())
                        })?;
                        value = Some(GraphAttr::ListStr(list));
                    }
                    _ => json.skip()?,
                }
                Ok(())
            })?;
            match value.filter(|_| n_items == 2) {
                Some(value) => drop(attrs.insert(key.to_string(), value)),
                None if self.options.lenient => {
                    self.warnings.push(|| format!("graph attribute `{key}` of unknown type, ignored"));
                }
                None => {
                    let what =
                        format!("graph attribute `{key}`, expected [type, value] of int, str, list_int or list_str");
                    return Err(json.error(FormatErrorKind::InvalidValue, start, what));
                }
            }
            Ok(())
        })?;
        Ok(attrs)
    }
}

fn node_attrs(json: &mut Json<'_>) -> Result<Attrs> {
    let start = json.position();
    Attrs::from_pairs(json.string_pairs()?)
        .map_err(|key| json.error(FormatErrorKind::Duplicate, start, format!("attribute `{key}`")))
}

fn numbers<T: TryFrom<i64>>(json: &mut Json<'_>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    json.array(|json| {
        list.push(json.integer()?);
        Ok(())
    })?;
    Ok(list)
}

fn entries(json: &mut Json<'_>) -> Result<Vec<Entry>> {
    let mut list = Vec::new();
    json.array(|json| {
        let start = json.position();
        let mut fields = [0; 3];
        let mut n_fields = 0;
        json.array(|json| {
            let value = json.integer()?;
            if let Some(field) = fields.get_mut(n_fields) {
                *field = value;
            }
            n_fields += 1;
            Ok(())
        })?;
        if !(2..=3).contains(&n_fields) {
            return Err(json.syntax(start, format!("entry of {n_fields} numbers, expected [node, output, version]")));
        }
        let [node, index, version] = fields;
        list.push(Entry { node, index, version });
        Ok(())
    })?;
    Ok(list)
}
