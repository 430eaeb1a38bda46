//! The interface of a recorder (an autograd tape): the value that it attaches to an array, and the events that it
//! receives.
//!
//! Arrays do not know the tape: a handle and its clones have one opaque value, which is notified of views and of
//! writes. An array without a recorder has an empty slot.

use crate::NdArray;
use mxrs_sync::Mutex;
use mxrs_types::Result;
use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

/// How a view was made from its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewOf {
    /// Some rows of axis 0.
    Rows {
        /// The first row.
        begin: usize,
        /// The row after the last one.
        end: usize,
    },
    /// All elements in another shape.
    Reshape,
}

/// The value that a recorder attaches to an array.
pub trait Recorded: Any + Send + Sync {
    /// Called when `view` was made from the array, at `site`. The view has no recorded value yet.
    ///
    /// # Errors
    /// Fails if the recorder cannot record the view; the view is not returned then.
    fn on_view(&self, view: &NdArray, how: ViewOf, site: &'static Location<'static>) -> Result<()>;

    /// Called before the array is overwritten, as requested at `site`.
    ///
    /// # Errors
    /// Fails if the recorder needs the old value; the write does not happen then.
    fn before_write(&self, site: &'static Location<'static>) -> Result<()>;
}

/// The slot of a handle for the recorded value.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<Arc<dyn Recorded>>>);

impl Slot {
    pub(crate) fn get(&self) -> Option<Arc<dyn Recorded>> {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, recorded: Option<Arc<dyn Recorded>>) {
        let old = std::mem::replace(&mut *self.0.lock(), recorded);
        // Dropped after the lock is released, because it may own arrays, whose drop takes other locks.
        drop(old);
    }
}
