//! Upgrades graphs of old releases to the conventions of MXNet 1.9.1.

use crate::check::check;
use crate::sort::renumber;
use crate::{Attrs, Entry, GraphAttr, OperatorKnowledge, SymbolFile, SymbolNode, VARIABLE};
use mxrs_format::Warnings;
use mxrs_types::Result;
use std::sync::Arc;

/// The version to whose conventions graphs are upgraded: 1.9.1.
pub const CURRENT_VERSION: i64 = 10_901;

/// User attributes that old releases wrote without underscores around the name.
const HIDDEN: [&str; 5] = ["ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"];

/// Whether an attribute of an old file is for MXNet instead of the operator: its key starts or ends with one of `ctx_group
/// lr_mult wd_mult force_mirroring mirror_stage`. Operators must not parse it.
pub fn is_hidden_key(key: &str) -> bool {
    HIDDEN.iter().any(|hidden| key.starts_with(hidden) || key.ends_with(hidden))
}

/// Applies all upgrade passes that the file's version needs, in order, to the graph and its subgraphs, and sets the version
/// to [`CURRENT_VERSION`]. Returns warnings; a file with a newer version gives one.
///
/// Nodes of unknown operators stay unchanged.
///
/// # Errors
/// Fails if the graph is not consistent. This is possible only if it was built or changed by hand, because reading checks
/// it.
pub fn upgrade(file: &mut SymbolFile, knowledge: &dyn OperatorKnowledge) -> Result<Vec<String>> {
    let mut warnings = Warnings::default();
    check(file, &mut warnings)?;
    let version = file.version();
    if version > CURRENT_VERSION {
        warnings.push(|| format!("written by a newer MXNet ({version}), read as {CURRENT_VERSION}"));
        return Ok(warnings.into_list());
    }
    graph(file, version, knowledge);
    file.attrs.insert("mxnet_version".to_string(), GraphAttr::Int(CURRENT_VERSION));
    Ok(warnings.into_list())
}

fn graph(file: &mut SymbolFile, version: i64, knowledge: &dyn OperatorKnowledge) {
    for node in &mut file.nodes {
        node.subgraphs.iter_mut().for_each(|subgraph| graph(subgraph, version, knowledge));
    }
    if version < CURRENT_VERSION {
        hidden_keys(file, knowledge);
    }
    if version < 900 {
        missing_inputs(file, knowledge);
    }
    if version < 904 {
        default_init(file, knowledge);
    }
    if version < 905 {
        for node in &mut file.nodes {
            if matches!(&*node.op, "argmin" | "argmax") && node.attrs.get("axis") == Some("-1") {
                node.attrs.remove("axis");
            }
        }
    }
}

/// Renames `lr_mult` to `__lr_mult__`; moves `weight_lr_mult` of an operator to `__lr_mult__` of its weight.
fn hidden_keys(file: &mut SymbolFile, knowledge: &dyn OperatorKnowledge) {
    for id in 0..file.nodes.len() {
        let node = &file.nodes[id];
        if !node.attrs.iter().any(|(key, _)| is_hidden_key(key)) {
            continue;
        }
        let hidden: Vec<(String, String)> = node
            .attrs
            .iter()
            .filter(|(key, _)| is_hidden_key(key))
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        let mut visible = node.attrs.clone();
        for (key, _) in &hidden {
            visible.remove(key);
        }
        let names = if node.is_variable() { None } else { knowledge.input_names(&node.op, &visible) };
        for (key, value) in hidden {
            let (holder, hidden_key) = match target(file, id, &key, names.as_deref()) {
                Some(found) => found,
                None => continue,
            };
            file.nodes[id].attrs.remove(&key);
            file.nodes[holder].attrs.insert(format!("__{hidden_key}__"), value);
        }
    }
}

/// The node to which a hidden key of node `id` belongs, and its new key; `None` leaves the key unchanged.
fn target(file: &SymbolFile, id: usize, key: &str, names: Option<&[String]>) -> Option<(usize, &'static str)> {
    if let Some(exact) = HIDDEN.iter().find(|hidden| **hidden == key) {
        return Some((id, exact));
    }
    let node = &file.nodes[id];
    let (argument, hidden) = HIDDEN.iter().find_map(|h| Some((key.strip_suffix(h)?.strip_suffix('_')?, *h)))?;
    let is_meant = |entry: &Entry, place: usize| match names {
        Some(names) => names.get(place).is_some_and(|name| name == argument),
        // If the operator is unknown, the name is used: automatically created inputs are named after the operator's node.
        None => file.nodes[entry.node as usize].name == format!("{}_{argument}", node.name),
    };
    let input = node.inputs.iter().enumerate().find(|(place, entry)| is_meant(entry, *place))?.1;
    let holder = input.node as usize;
    file.nodes[holder].is_variable().then_some((holder, hidden))
}

/// Adds variables for auxiliary states, which files before 0.9 do not contain.
fn missing_inputs(file: &mut SymbolFile, knowledge: &dyn OperatorKnowledge) {
    let variable: Arc<str> = VARIABLE.into();
    let old = std::mem::take(&mut file.nodes);
    let mut place = Vec::with_capacity(old.len());
    let mut added = Vec::new();
    for mut node in old {
        let known = if node.is_variable() { None } else { knowledge.input_names(&node.op, &node.attrs) };
        let inputs: Vec<Entry> = node.inputs.iter().map(|e| Entry { node: place[e.node as usize], ..*e }).collect();
        node.inputs = inputs;
        for name in known.iter().flatten().skip(node.inputs.len()) {
            let id = file.nodes.len() as u32;
            file.nodes.push(SymbolNode {
                op: Arc::clone(&variable),
                name: format!("{}_{name}", node.name),
                attrs: node.attrs.clone(),
                ..SymbolNode::default()
            });
            node.inputs.push(Entry { node: id, ..Entry::default() });
            added.push(id);
        }
        node.control_deps.iter_mut().for_each(|dep| *dep = place[*dep as usize]);
        place.push(file.nodes.len() as u32);
        file.nodes.push(node);
    }
    if added.is_empty() {
        return;
    }
    // The nodes already use the new indices, so only the heads and the list of variables are renumbered.
    let nodes = std::mem::take(&mut file.nodes);
    renumber(file, |id| place.get(id as usize).copied().unwrap_or(id));
    file.nodes = nodes;
    file.arg_nodes.extend(added);
    file.arg_nodes.sort_unstable();
    file.node_row_ptr = None;
}

/// Adds initial values of special inputs, which files before 0.9.4 do not contain.
fn default_init(file: &mut SymbolFile, knowledge: &dyn OperatorKnowledge) {
    for id in 0..file.nodes.len() {
        let node = &file.nodes[id];
        let names = if node.is_variable() { None } else { knowledge.input_names(&node.op, &node.attrs) };
        let found: Vec<(usize, String)> = node
            .inputs
            .iter()
            .zip(names.iter().flatten())
            .filter_map(|(entry, name)| Some((entry.node as usize, knowledge.default_init(&node.op, name)?)))
            .collect();
        for (holder, init) in found {
            let holder = &mut file.nodes[holder];
            if holder.is_variable() && !holder.attrs.contains_key("__init__") {
                holder.attrs.insert("__init__", init);
            }
        }
    }
}

impl Attrs {
    /// The attributes for the operator: neither of the form `__x__` nor [hidden](is_hidden_key).
    pub fn operator_keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(key, _)| {
            let reserved = key.len() > 4 && key.starts_with("__") && key.ends_with("__");
            !reserved && !is_hidden_key(key)
        })
    }
}
