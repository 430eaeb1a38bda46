//! Updates of stored values by the sums that are pushed.

use crate::{Key, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::ops::Range;
use std::sync::Arc;

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

    /// Whether a part of a value can be updated without the other parts. This holds if no new element depends on other
    /// elements, as it would if an update used the norm of the value. If it does not hold, stores of several workers do not
    /// divide values among the workers.
    fn is_elementwise(&self) -> bool {
        true
    }

    /// The rule as text, if it can be made again from text. Stores whose servers update values send this text to them.
    ///
    /// # Errors
    /// Fails if text cannot express a setting of the rule, such as a schedule of the program.
    fn settings(&self) -> Result<Option<UpdaterSettings>> {
        Ok(None)
    }
}

/// A rule for updates as text: its name, and its settings by name. Never code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdaterSettings {
    /// The name of the rule, such as `sgd`.
    pub name: String,
    /// The settings, such as `learning_rate` with `0.1`.
    pub settings: Vec<(String, String)>,
}

/// An updater on a server.
pub trait ServerUpdater: Updater {
    /// Changes the settings, such as the learning rate. The states stay.
    ///
    /// # Errors
    /// Fails if a setting is unknown or out of range, or if the rule has another name.
    fn set_settings(&mut self, settings: &UpdaterSettings) -> Result<()>;

    /// The states of all values that were updated, as they will be after the updates so far. Returns at once: the function
    /// that it returns waits for the updates.
    ///
    /// # Errors
    /// Fails if memory is short.
    fn states(&self) -> Result<ReadStates>;

    /// Replaces the states. `values` are the values that this server keeps. `states` are the states of these values, or of
    /// whole values if the server keeps only parts of them.
    ///
    /// # Errors
    /// Fails if the states do not fit the values or the rule.
    fn set_states(&mut self, values: &[ServedValue], states: &[u8]) -> Result<()>;
}

/// Waits until states are computed, and returns them as bytes. Fails if an update failed.
pub type ReadStates = Box<dyn FnOnce() -> Result<Vec<u8>> + Send>;

/// A value or a part of one that a server keeps.
#[derive(Clone, Debug)]
pub struct ServedValue {
    /// The key.
    pub key: Key,
    /// The value, in the shape of the key; a part has one axis.
    pub value: NdArray,
    /// The elements of the flattened value, if this is a part.
    pub part: Option<Range<usize>>,
}

/// Makes the updater of a server from settings that a worker has sent.
pub type MakeUpdater = Arc<dyn Fn(&UpdaterSettings) -> Result<Box<dyn ServerUpdater>> + Send + Sync>;

impl<F: FnMut(&[Update]) -> Result<()> + Send> Updater for F {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        self(updates)
    }
}
