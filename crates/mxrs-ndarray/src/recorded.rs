//! What a recorder (an autograd tape) keeps with an array, and what it is told.
//!
//! Arrays know no tape: they carry one opaque value per handle, shared by the handle's clones, and tell it of views and of
//! writes. Arrays that nobody records pay an empty slot for it.

use crate::NdArray;
use mxrs_sync::Mutex;
use mxrs_types::Result;
use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

/// How a view came from its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewOf {
    /// These rows of axis 0.
    Rows {
        /// First row.
        begin: usize,
        /// Row after the last.
        end: usize,
    },
    /// All elements in another shape.
    Reshape,
}

/// What a recorder keeps with an array.
pub trait Recorded: Any + Send + Sync {
    /// `view` was made of the array, at `site`; it carries nothing yet.
    ///
    /// # Errors
    /// The recorder cannot follow; the view is not handed out.
    fn on_view(&self, view: &NdArray, how: ViewOf, site: &'static Location<'static>) -> Result<()>;

    /// The array is about to be overwritten, asked for at `site`.
    ///
    /// # Errors
    /// The recorder needs the value; the write does not happen.
    fn before_write(&self, site: &'static Location<'static>) -> Result<()>;
}

/// The place in a handle.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<Arc<dyn Recorded>>>);

impl Slot {
    pub(crate) fn get(&self) -> Option<Arc<dyn Recorded>> {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, recorded: Option<Arc<dyn Recorded>>) {
        let old = std::mem::replace(&mut *self.0.lock(), recorded);
        // It may own arrays, whose end takes other locks: not under this one.
        drop(old);
    }
}
