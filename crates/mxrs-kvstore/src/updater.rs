//! Updates of stored values by the sums that are pushed.

use crate::{Key, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::ops::Range;

/// One update: the sum that was pushed for a key, and the value to change.
#[derive(Clone, Debug)]
pub struct Update {
    /// The key.
    pub key: Key,
    /// The sum over devices. It may be pending, and it is overwritten by a later push.
    pub sum: Value,
    /// The stored value, to be overwritten.
    pub stored: NdArray,
    /// If `sum` and `stored` are a part of the value of the key: its elements in the flattened value. Other workers update the
    /// other parts.
    pub part: Option<Range<usize>>,
    /// The priority of the push.
    pub priority: i32,
}

/// A rule by which a store updates its values, usually an optimizer. A function that takes `&[Update]` is one.
pub trait Updater: Send {
    /// Pushes the tasks of these updates to the engine. Called once per push, with all its keys in the order of their
    /// numbers. Must not wait for arrays, and must not call the store.
    ///
    /// # Errors
    /// Fails if an update is refused. The push returns this error.
    fn update(&mut self, updates: &[Update]) -> Result<()>;

    /// Whether a part of a value can be updated without the other parts: no new element depends on other elements, as it
    /// would if an update used the norm of the value. If not, stores of several workers do not divide values.
    fn is_elementwise(&self) -> bool {
        true
    }
}

impl<F: FnMut(&[Update]) -> Result<()> + Send> Updater for F {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        self(updates)
    }
}
