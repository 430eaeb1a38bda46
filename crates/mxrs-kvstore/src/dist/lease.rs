//! Leases: engine tasks that stay open while messages use the memory of their arrays.

use mxrs_engine::Completion;
use mxrs_ndarray::NdArray;
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A task of the engine that stays open as long as something uses the memory of its arrays: the job that waits for messages,
/// and the messages that are sent from this memory or received into it. When the last of them drops its share of the lease, the
/// task ends.
pub(super) struct Lease {
    /// The name of the key, for errors.
    label: Arc<str>,
    state: Mutex<State>,
}

enum State {
    /// The task is open. The flag says whether all messages that the task waits for have arrived.
    Open(Completion, bool),
    Ended,
}

impl Lease {
    pub fn new(label: &Arc<str>, completion: Completion) -> Arc<Self> {
        Arc::new(Self { label: Arc::clone(label), state: Mutex::new(State::Open(completion, false)) })
    }

    /// All messages that the task waits for have arrived. The task ends as soon as the messages that it sends are sent.
    pub fn set_done(&self) {
        if let State::Open(_, is_done) = &mut *self.state.lock() {
            *is_done = true;
        }
    }

    /// Ends the task with this error now, whether or not messages still use its memory. Later reads of the arrays return the
    /// error.
    pub fn fail(&self, error: Error) {
        self.end(|_| Err(error));
    }

    fn end(&self, result: impl FnOnce(bool) -> Result<()>) {
        let state = std::mem::replace(&mut *self.state.lock(), State::Ended);
        let State::Open(completion, is_done) = state else { return };
        if let Err(error) = completion.complete(result(is_done)) {
            tracing::error!("key {}: {error}", self.label);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let label = Arc::clone(&self.label);
        let unfinished =
            move || Error::invalid(format!("key {label}"), "the end of the store", "a complete round first");
        self.end(|is_done| if is_done { Ok(()) } else { Err(unfinished()) });
    }
}

/// Some bytes of an array of a task, with a share of its lease.
pub(super) struct Lent {
    /// Keeps the memory, also after a failure, when the task has ended and the transport may still use the memory.
    array: NdArray,
    bytes: Range<usize>,
    lease: Arc<Lease>,
}

impl Lent {
    /// Lends bytes of an array in host memory. `None` if the array has fewer bytes.
    pub fn new(array: &NdArray, bytes: Range<usize>, lease: &Arc<Lease>) -> Option<Self> {
        let is_within = bytes.start <= bytes.end && bytes.end <= array.size_bytes();
        is_within.then(|| Self { array: array.clone(), bytes, lease: Arc::clone(lease) })
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, to be read.
    ///
    /// # Safety
    /// No code writes the bytes while the slice exists.
    pub unsafe fn slice(&self) -> &[u8] {
        match self.bytes.len() {
            0 => &[],
            // SAFETY: the range lies within the memory of the array, which `array` keeps. The caller excludes writers.
            n => unsafe { std::slice::from_raw_parts(self.array.as_ptr().add(self.bytes.start), n) },
        }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// No other code uses the bytes while the slice exists.
    pub unsafe fn slice_mut(&mut self) -> &mut [u8] {
        match self.bytes.len() {
            0 => &mut [],
            // SAFETY: as in `slice`; the caller excludes readers too.
            n => unsafe { std::slice::from_raw_parts_mut(self.array.as_ptr().add(self.bytes.start), n) },
        }
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {:?} of an array of key {}", self.bytes, self.lease.label)
    }
}
