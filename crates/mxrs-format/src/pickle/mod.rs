//! Python pickles, read as data. MXNet stores optimizer states in them.
//!
//! The reader never executes code from a pickle. It supports the opcodes for lists, dictionaries, texts, numbers and arrays.
//! Classes are only names: those of MXNet's arrays, optimizers and schedules, and the few of Python and NumPy that these
//! need. Any other class is refused, and the error contains its name. Stack, memo, depth and the size of the result are
//! limited.

mod convert;
mod machine;
mod states;
mod words;

pub use states::{PickledOptimizer, PickledState, PickledStates, StateKey};

use crate::Options;
use mxrs_types::Result;

/// A value in a pickle.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
    /// `bytes` or `bytearray`.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dictionary, in file order, including repeated keys.
    Dict(Vec<(Value, Value)>),
    /// A class or function, represented by its name.
    Global(String),
    /// An object: its class, its constructor arguments, and the state set afterwards.
    Object {
        /// Name of the class.
        class: String,
        /// Arguments of its constructor.
        args: Vec<Value>,
        /// State; [`Value::None`] if the object has none.
        state: Box<Value>,
    },
}

impl Value {
    /// Reads a pickle of protocol 0 to 5.
    ///
    /// # Errors
    /// Returns a format error with category and offset: `Truncated`, `UnsupportedFeature` for an opcode or class that is not
    /// supported, `InvalidValue` and `Inconsistent` for damage, `LimitExceeded`.
    pub fn from_pickle(bytes: &[u8], options: &Options) -> Result<Self> {
        let (nodes, root) = machine::run(bytes, options)?;
        convert::value(&nodes, root, bytes.len())
    }

    /// The value of the text key `key`, if this value is a dictionary that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Self::Dict(pairs) = self else { return None };
        pairs.iter().rev().find(|(k, _)| matches!(k, Self::Text(text) if text == key)).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
