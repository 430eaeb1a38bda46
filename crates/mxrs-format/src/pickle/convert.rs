//! Converts the nodes of the pickle machine to values. Nodes may share parts; a value gets its own copy of each part.

use super::Value;
use super::machine::Node;
use crate::fault;
use mxrs_types::{FormatErrorKind, Result};

/// Deepest nesting of a value that is accepted.
const DEEPEST: usize = 64;

/// Largest number of values in one pickle.
const MAX_VALUES: usize = 1 << 22;

/// The number of values and bytes that may still be created. A shared part counts each time it is copied, so that a small
/// pickle cannot expand to a large value.
struct Budget {
    n_values: usize,
    n_bytes: usize,
    /// The number of bytes allowed at the start.
    max_bytes: usize,
}

/// Converts a node and its parts to a value.
pub(super) fn value(nodes: &[Node], root: usize, input_bytes: usize) -> Result<Value> {
    let n_bytes = input_bytes.saturating_mul(2).saturating_add(1 << 20);
    Budget { n_values: MAX_VALUES, n_bytes, max_bytes: n_bytes }.value(nodes, root, DEEPEST)
}

impl Budget {
    fn spend(&mut self, n_bytes: usize) -> Result<()> {
        let Some(n_values) = self.n_values.checked_sub(1) else {
            let (value, max) = (MAX_VALUES as u64 + 1, MAX_VALUES as u64);
            return Err(fault::whole(FormatErrorKind::LimitExceeded { value, max }, "values of a pickle"));
        };
        let Some(left) = self.n_bytes.checked_sub(n_bytes) else {
            let used = (self.max_bytes - self.n_bytes).saturating_add(n_bytes);
            let kind = FormatErrorKind::LimitExceeded { value: used as u64, max: self.max_bytes as u64 };
            return Err(fault::whole(kind, "bytes of the values of a pickle"));
        };
        (self.n_values, self.n_bytes) = (n_values, left);
        Ok(())
    }

    fn all(&mut self, nodes: &[Node], of: &[usize], depth: usize) -> Result<Vec<Value>> {
        of.iter().map(|node| self.value(nodes, *node, depth)).collect()
    }

    fn value(&mut self, nodes: &[Node], node: usize, depth: usize) -> Result<Value> {
        let Some(depth) = depth.checked_sub(1) else {
            let (value, max) = (DEEPEST as u64 + 1, DEEPEST as u64);
            return Err(fault::whole(FormatErrorKind::LimitExceeded { value, max }, "nesting of a pickle"));
        };
        let missing = || fault::whole(FormatErrorKind::Inconsistent, "a part that is not there");
        let node = nodes.get(node).ok_or_else(missing)?;
        self.spend(match node {
            Node::Text(text) | Node::Global(text) => text.len(),
            Node::Bytes(bytes) => bytes.len(),
            _ => 0,
        })?;
        Ok(match node {
            Node::None => Value::None,
            Node::Bool(value) => Value::Bool(*value),
            Node::Int(value) => Value::Int(*value),
            Node::Float(value) => Value::Float(*value),
            Node::Text(text) => Value::Text(text.clone()),
            Node::Bytes(bytes) => Value::Bytes(bytes.clone()),
            Node::List(items) => Value::List(self.all(nodes, items, depth)?),
            Node::Tuple(items) => Value::Tuple(self.all(nodes, items, depth)?),
            Node::Dict(pairs) => {
                let mut made = Vec::with_capacity(pairs.len().min(1024));
                for (key, value) in pairs {
                    made.push((self.value(nodes, *key, depth)?, self.value(nodes, *value, depth)?));
                }
                Value::Dict(made)
            }
            Node::Global(name) => Value::Global(name.clone()),
            Node::Object { class, args, state } => Value::Object {
                class: class.clone(),
                args: self.all(nodes, args, depth)?,
                state: Box::new(match state {
                    Some(state) => self.value(nodes, *state, depth)?,
                    None => Value::None,
                }),
            },
        })
    }
}
