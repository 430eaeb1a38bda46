//! Annotations that several symbols have in common: MXNet's `AttrScope`.

use super::call::hidden_key;
use super::{Symbol, SymbolCall};
use mxrs_op::{Attrs, OpDef};
use std::sync::Arc;

/// Annotations for all variables and calls that are made with it, such as the group that
/// [`place`](crate::place) puts on a device.
///
/// ```
/// use mxrs_graph::{AttrScope, NameManager};
/// use mxrs_op::OpDef;
/// use std::sync::Arc;
///
/// let left = AttrScope::new([("ctx_group", "left")]);
/// let call = left.call(&Arc::new(OpDef::new("relu"))).input(&left.variable("x"));
/// let graph = call.name("y").build(&mut NameManager::new()).unwrap().graph().unwrap();
/// assert!(graph.nodes().iter().all(|node| node.attrs.get("__ctx_group__") == Some("left")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttrScope(Attrs);

impl AttrScope {
    /// A scope of these annotations. Keys such as `ctx_group` and `lr_mult` are stored as `__ctx_group__` and `__lr_mult__`.
    pub fn new<'a>(attrs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut of = Attrs::new();
        for (key, value) in attrs {
            of.set(hidden_key(key), value);
        }
        Self(of)
    }

    /// A variable with the annotations.
    pub fn variable(&self, name: impl Into<String>) -> Symbol {
        Symbol::variable_with(name, self.0.clone())
    }

    /// Starts a call of `op` with the annotations. Variables that the call makes for missing inputs get them too.
    pub fn call(&self, op: &Arc<OpDef>) -> SymbolCall {
        SymbolCall::new(op).attrs(&self.0)
    }
}
