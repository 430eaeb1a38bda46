//! Optimizer states as MXNet's `Module` and Gluon's `Trainer` save them.
//!
//! The pickle is a dictionary from a parameter's index or name to its state, or a tuple of that dictionary and the
//! optimizer. A state is `None`, an array, or a tuple or list of states.

use super::Value;
use crate::{Options, Tensor, fault, params, read_file};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::path::Path;

/// Largest file of states in bytes.
const MAX_FILE: u64 = 64 << 30;

/// Key of a state: identifies the parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateKey {
    /// Index of the parameter.
    Index(i64),
    /// Name of the parameter.
    Name(String),
}

/// State of the optimizer for one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum PickledState {
    /// The optimizer keeps no state for the parameter.
    None,
    /// The state is one array.
    Array(Tensor),
    /// The state has several parts, such as a master weight and a momentum.
    Many(Vec<PickledState>),
}

/// The optimizer, as far as the file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct PickledOptimizer {
    /// Class of the optimizer (`SGD`).
    pub class: String,
    /// Largest number of updates of any parameter.
    pub num_update: Option<u64>,
    /// Number of updates of each parameter.
    pub counts: Vec<(StateKey, u64)>,
}

/// A file of states.
#[derive(Clone, Debug, PartialEq)]
pub struct PickledStates {
    /// States in the order of the file.
    pub states: Vec<(StateKey, PickledState)>,
    /// The optimizer, if the file contains it.
    pub optimizer: Option<PickledOptimizer>,
}

fn wrong(what: impl Into<String>) -> Error {
    fault::whole(FormatErrorKind::InvalidValue, what)
}

fn kind(value: &Value) -> String {
    match value {
        Value::None => "None".into(),
        Value::Bool(_) => "a bool".into(),
        Value::Int(_) => "an integer".into(),
        Value::Float(_) => "a number".into(),
        Value::Text(_) => "a text".into(),
        Value::Bytes(_) => "bytes".into(),
        Value::List(_) => "a list".into(),
        Value::Tuple(_) => "a tuple".into(),
        Value::Dict(_) => "a dictionary".into(),
        Value::Global(name) => format!("the class {name}"),
        Value::Object { class, .. } => format!("an object of {class}"),
    }
}

fn key(value: &Value) -> Result<StateKey> {
    match value {
        Value::Int(index) => Ok(StateKey::Index(*index)),
        Value::Text(name) => Ok(StateKey::Name(name.clone())),
        other => Err(wrong(format!("states of {}, expected an index or a name", kind(other)))),
    }
}

fn state(value: &Value, options: &Options) -> Result<PickledState> {
    Ok(match value {
        Value::None => PickledState::None,
        Value::Tuple(parts) | Value::List(parts) => {
            PickledState::Many(parts.iter().map(|part| state(part, options)).collect::<Result<_>>()?)
        }
        Value::Object { class, state, .. } if class.starts_with("mxnet.n") => match state.get("handle") {
            Some(Value::Bytes(bytes)) => PickledState::Array(params::read_array(bytes, options)?.value),
            Some(Value::None) => PickledState::None,
            _ => return Err(wrong(format!("{class} without its bytes"))),
        },
        other => return Err(wrong(format!("a state that is {}, expected arrays", kind(other)))),
    })
}

fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Int(n) => u64::try_from(*n).ok(),
        _ => None,
    }
}

fn optimizer(value: &Value) -> Result<PickledOptimizer> {
    let Value::Object { class, state, .. } = value else {
        return Err(wrong(format!("an optimizer that is {}", kind(value))));
    };
    let Some(class) = class.strip_prefix("mxnet.optimizer.") else {
        return Err(wrong(format!("an optimizer that is an object of {class}")));
    };
    let class = class.rsplit('.').next().unwrap_or_default().to_string();
    let num_update = state.get("num_update").and_then(count);
    let mut counts: Vec<(StateKey, u64)> = Vec::new();
    if let Some(Value::Dict(pairs)) = state.get("_index_update_count") {
        for (parameter, n) in pairs {
            let n = count(n).ok_or_else(|| wrong(format!("a count of updates that is {}", kind(n))))?;
            counts.push((key(parameter)?, n));
        }
    }
    Ok(PickledOptimizer { class, num_update, counts })
}

impl PickledStates {
    /// Reads the states from the bytes of a file.
    ///
    /// # Errors
    /// Returns the errors of [`Value::from_pickle`], and `InvalidValue` for a pickle that does not hold optimizer states.
    pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Self> {
        let value = Value::from_pickle(bytes, options)?;
        let (states, optimizer) = match &value {
            Value::Tuple(parts) => match &parts[..] {
                [states, by] => (states, Some(optimizer(by)?)),
                _ => return Err(wrong(format!("a tuple of {}, expected states and optimizer", parts.len()))),
            },
            other => (other, None),
        };
        let Value::Dict(pairs) = states else {
            return Err(wrong(format!("the pickle holds {}, expected a dictionary of states", kind(states))));
        };
        let mut made = Vec::with_capacity(pairs.len().min(1024));
        for (parameter, value) in pairs {
            let parameter = key(parameter)?;
            let state = state(value, options).map_err(|e| e.context(format!("reading states of {parameter:?}")))?;
            made.push((parameter, state));
        }
        Ok(Self { states: made, optimizer })
    }

    /// Reads the states from a file, which must be a regular file of at most 64 GiB.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] and I/O errors, with the path.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_file(path, MAX_FILE)?;
        Self::from_bytes(&bytes, options).map_err(|e| e.with_path(path))
    }
}

impl PickledState {
    /// All arrays of the state in order, without entries that are `None`.
    pub fn arrays(&self) -> Vec<&Tensor> {
        match self {
            Self::None => Vec::new(),
            Self::Array(tensor) => vec![tensor],
            Self::Many(parts) => parts.iter().flat_map(Self::arrays).collect(),
        }
    }
}
