//! Calls of an operator on symbols.

use super::node::{SymEntry, SymNode};
use super::{NameManager, Symbol};
use crate::Graph;
use mxrs_op::{Attrs, OpDef};
use mxrs_types::{Error, ErrorKind, Result, ResultExt};
use std::sync::Arc;

/// Keys of annotations of variables. An operator with an attribute `<argument>_<key>` is refused.
const HIDDEN_KEYS: [&str; 5] = ["ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"];

/// The key under which an annotation is stored: `__lr_mult__` for `lr_mult`, and other keys as they are.
pub(super) fn hidden_key(key: &str) -> String {
    if HIDDEN_KEYS.contains(&key) { format!("__{key}__") } else { key.to_owned() }
}

/// A call under construction. Inputs that are not given become variables named `<node>_<input>`, with a copy of the
/// node's attributes.
///
/// ```
/// use mxrs_graph::{NameManager, Symbol, SymbolCall};
/// use mxrs_op::{InputNames, OpDef};
/// use std::sync::Arc;
///
/// let mut dense = OpDef::new("Dense");
/// dense.inputs = InputNames::Fixed(&["data", "weight"]);
/// let mut names = NameManager::new();
/// let y = SymbolCall::new(&Arc::new(dense)).name("fc1").input(&Symbol::variable("x")).build(&mut names).unwrap();
/// assert_eq!(y.arguments().unwrap(), ["x", "fc1_weight"]);
/// ```
#[derive(Clone, Debug)]
pub struct SymbolCall {
    op: Arc<OpDef>,
    called: Option<String>,
    name: Option<String>,
    attrs: Attrs,
    inputs: Vec<Symbol>,
    named_inputs: Vec<(String, Symbol)>,
    subgraphs: Vec<Arc<Graph>>,
}

impl SymbolCall {
    /// Starts a call of `op`.
    pub fn new(op: &Arc<OpDef>) -> Self {
        Self {
            op: Arc::clone(op),
            called: None,
            name: None,
            attrs: Attrs::new(),
            inputs: Vec::new(),
            named_inputs: Vec::new(),
            subgraphs: Vec::new(),
        }
    }

    /// Sets the alias by which the operator was called. An automatic name is made from the alias.
    #[must_use]
    pub fn called(mut self, alias: impl Into<String>) -> Self {
        self.called = Some(alias.into());
        self
    }

    /// Sets the name of the node. A node without a name gets one from the [`NameManager`].
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets an attribute: a parameter, or an annotation such as `lr_mult` or `__lr_mult__`.
    #[must_use]
    pub fn attr(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.attrs.set(key, value.to_string());
        self
    }

    /// Sets several attributes.
    #[must_use]
    pub fn attrs(mut self, attrs: &Attrs) -> Self {
        for (key, value) in attrs.iter() {
            self.attrs.set(key, value);
        }
        self
    }

    /// Adds the next input.
    #[must_use]
    pub fn input(mut self, symbol: &Symbol) -> Self {
        self.inputs.push(symbol.clone());
        self
    }

    /// Adds the next inputs.
    #[must_use]
    pub fn inputs<'a>(mut self, symbols: impl IntoIterator<Item = &'a Symbol>) -> Self {
        self.inputs.extend(symbols.into_iter().cloned());
        self
    }

    /// Sets the input called `name`.
    #[must_use]
    pub fn named_input(mut self, name: impl Into<String>, symbol: &Symbol) -> Self {
        self.named_inputs.push((name.into(), symbol.clone()));
        self
    }

    /// Adds the next subgraph of a control-flow operator. Attributes such as `in_data_locs` say which input each variable of
    /// the subgraph is.
    #[must_use]
    pub fn subgraph(mut self, graph: Arc<Graph>) -> Self {
        self.subgraphs.push(graph);
        self
    }

    /// Makes the node.
    ///
    /// # Errors
    /// Fails in each of these cases:
    /// - the operator refuses an attribute;
    /// - there are too many inputs, or an input is unknown or given twice;
    /// - an input symbol has several outputs, of which the caller has to select one;
    /// - an auxiliary input is not a variable.
    pub fn build(mut self, names: &mut NameManager) -> Result<Symbol> {
        let op = Arc::clone(&self.op);
        let spelled = self.called.as_deref().unwrap_or(op.name);
        let name = self.name.take().unwrap_or_else(|| names.next(spelled));
        self.hide_keys()?;
        if let Some(key) = op.variable_count_key()
            && self.attrs.get(key).is_none()
        {
            self.attrs.set(key, op.variable_count(self.inputs.len() + self.named_inputs.len()).to_string());
        }
        let params = op.parse(&self.attrs).context(|| format!("composing `{name}`"))?;
        let input_names = op.input_names(&params);
        let mut given = self.place_inputs(&name, &input_names)?;
        let n_arguments = input_names.len() - op.n_aux.min(input_names.len());
        let mut inputs = Vec::with_capacity(input_names.len());
        for (position, input_name) in input_names.iter().enumerate() {
            let entry = match given[position].take() {
                Some(entry) if position >= n_arguments && entry.node.call.is_some() => {
                    return Err(Error::invalid(
                        format!("{}: input `{input_name}` of `{name}`", op.name),
                        format!("`{}`", entry.name()),
                        "a variable, because it is an auxiliary state",
                    ));
                }
                Some(entry) => entry,
                None => {
                    let variable = SymNode::variable(format!("{name}_{input_name}"), self.attrs.clone());
                    SymEntry { node: Arc::new(variable), index: 0, version: None }
                }
            };
            inputs.push(entry);
        }
        let n_outputs = op.n_outputs.get(&params);
        let n_visible = op.n_visible.get(&params).min(n_outputs);
        let variable = SymNode::variable(name, self.attrs);
        let mut node = variable;
        node.call = Some((op, params));
        node.inputs = inputs;
        node.subgraphs = self.subgraphs;
        node.n_outputs = n_outputs;
        node.n_visible = n_visible;
        Ok(Symbol::of_node(node, n_visible))
    }

    /// Stores `lr_mult` as `__lr_mult__`, and rejects `weight_lr_mult`.
    fn hide_keys(&mut self) -> Result<()> {
        let mut attrs = Attrs::new();
        for (key, value) in self.attrs.iter() {
            if HIDDEN_KEYS.contains(&key) {
                attrs.set(hidden_key(key), value);
                continue;
            }
            let is_annotation = mxrs_op::is_annotation_key(key);
            let hidden = HIDDEN_KEYS.iter().find(|hidden| key.len() > hidden.len() + 1 && key.ends_with(*hidden));
            if let (Some(hidden), false) = (hidden, is_annotation) {
                let argument = key.trim_end_matches(hidden).trim_end_matches('_');
                return Err(Error::new(ErrorKind::Attribute {
                    op: self.op.name.into(),
                    name: key.into(),
                    expected: format!("`{hidden}` set on the variable that is given as `{argument}`"),
                    got: format!("\"{value}\""),
                }));
            }
            attrs.set(key, value);
        }
        self.attrs = attrs;
        Ok(())
    }

    /// Assigns the given inputs to their positions.
    fn place_inputs(&self, name: &str, input_names: &[String]) -> Result<Vec<Option<SymEntry>>> {
        let place = |what: &str| format!("{}: {what} of `{name}`", self.op.name);
        let single = |what: String, symbol: &Symbol| match symbol.entries.as_slice() {
            [one] => Ok(one.clone()),
            many => {
                Err(Error::invalid(what, format!("a symbol with {} outputs", many.len()), "one output; pick it first"))
            }
        };
        if self.inputs.len() > input_names.len() {
            let expected = format!("at most {} ({})", input_names.len(), input_names.join(", "));
            return Err(Error::invalid(place("number of inputs"), self.inputs.len(), expected));
        }
        let mut given: Vec<Option<SymEntry>> = vec![None; input_names.len()];
        for (position, symbol) in self.inputs.iter().enumerate() {
            given[position] = Some(single(place(&format!("input {position}")), symbol)?);
        }
        for (key, symbol) in &self.named_inputs {
            let Some(position) = input_names.iter().position(|n| n == key) else {
                let expected = format!("one of {}", input_names.join(", "));
                return Err(Error::invalid(place("name of an input"), format!("`{key}`"), expected));
            };
            if given[position].is_some() {
                return Err(Error::invalid(place(&format!("input `{key}`")), "two symbols", "one"));
            }
            given[position] = Some(single(place(&format!("input `{key}`")), symbol)?);
        }
        Ok(given)
    }
}
