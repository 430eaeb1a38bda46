//! From the machine's nodes, which may be shared, to values, which are not.

use super::Value;
use super::machine::Node;
use crate::fault;
use mxrs_types::{FormatErrorKind, Result};

/// Nesting that is still a value.
const DEEPEST: usize = 64;

/// What the values may take in all: a shared part counts each time, so that sharing cannot make much of little.
struct Budget {
    n_values: usize,
    n_bytes: usize,
}

/// The value of a node.
pub(super) fn value(nodes: &[Node], root: usize, input_bytes: usize) -> Result<Value> {
    let n_bytes = input_bytes.saturating_mul(2).saturating_add(1 << 20);
    Budget { n_values: 1 << 22, n_bytes }.value(nodes, root, DEEPEST)
}

impl Budget {
    fn spend(&mut self, n_bytes: usize) -> Result<()> {
        let left = self.n_values.checked_sub(1).zip(self.n_bytes.checked_sub(n_bytes));
        let Some((n_values, n_bytes)) = left else {
            let (value, max) = (1 << 22, 1 << 22);
            return Err(fault::whole(FormatErrorKind::LimitExceeded { value, max }, "values of a pickle"));
        };
        (self.n_values, self.n_bytes) = (n_values, n_bytes);
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
