//! The interface of a recorder (an autograd tape): the value that it attaches to an array, and the events that it
//! receives.
//!
//! Arrays do not know the tape: a handle and its clones have one opaque value, which is notified of views and of
//! writes. The slot of an array without a recorder is empty.

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
        /// The first row of the view.
        begin: usize,
        /// The row after the last row of the view.
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
    /// Fails if the recorder cannot record the view; in that case the view is not returned.
    fn on_view(&self, view: &NdArray, how: ViewOf, site: &'static Location<'static>) -> Result<()>;

    /// Called before the array is overwritten, as requested at `site`.
    ///
    /// # Errors
    /// Fails if the recorder needs the old value; in that case the write does not happen.
    fn before_write(&self, site: &'static Location<'static>) -> Result<()>;
}

/// The place in an array handle for the value that a recorder attaches. It is empty if there is no recorder.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<Arc<dyn Recorded>>>);

impl Slot {
    pub(crate) fn get(&self) -> Option<Arc<dyn Recorded>> {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, recorded: Option<Arc<dyn Recorded>>) {
        let old = std::mem::replace(&mut *self.0.lock(), recorded);
        // The old value is dropped only after the lock is released, because it may own arrays, whose drop takes other
        // locks.
        drop(old);
    }
}
