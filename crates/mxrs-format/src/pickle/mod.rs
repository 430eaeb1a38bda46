//! Python pickles, read as data: MXNet keeps the states of optimizers in them.
//!
//! No code of a pickle ever runs. The machine knows the opcodes that lists, dictionaries, texts, numbers and arrays are made
//! of, and classes are names: those of MXNet's arrays, optimizers and schedules and the few of Python and NumPy that these
//! need. Anything else is refused by its name. Stack, memo, depth and the size of the result are limited.

mod convert;
mod machine;
mod states;
mod words;

pub use states::{PickledOptimizer, PickledState, PickledStates, StateKey};

use crate::Options;
use mxrs_types::Result;

/// What a pickle holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// `bytes` or `bytearray`.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dictionary, in its order, repeated keys kept.
    Dict(Vec<(Value, Value)>),
    /// A class or function, by its name.
    Global(String),
    /// An object: its class, what it is made of, and what was set afterwards.
    Object {
        /// Name of the class.
        class: String,
        /// Arguments of its constructor.
        args: Vec<Value>,
        /// State, [`Value::None`] where there is none.
        state: Box<Value>,
    },
}

impl Value {
    /// Reads a pickle of protocol 0 to 5.
    ///
    /// # Errors
    /// A format error with its category and offset: `Truncated`, `UnsupportedFeature` for an opcode or a class that is not
    /// known here, `InvalidValue` and `Inconsistent` for broken ones, `LimitExceeded`.
    pub fn from_pickle(bytes: &[u8], options: &Options) -> Result<Self> {
        let (nodes, root) = machine::run(bytes, options)?;
        convert::value(&nodes, root, bytes.len())
    }

    /// The value of a text key of a dictionary.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Self::Dict(pairs) = self else { return None };
        pairs.iter().rev().find(|(k, _)| matches!(k, Self::Text(text) if text == key)).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests;
