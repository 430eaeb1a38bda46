//! Shared memory on systems without `memfd_create`: the same types and functions as on Linux, but every call returns an
//! error.

use super::SharedId;
use mxrs_types::{Error, Result};
use std::convert::Infallible;
use std::ptr::NonNull;

/// The descriptor of a shared block, which does not exist on this system.
#[derive(Debug)]
pub struct SharedHandle {
    never: Infallible,
}

impl SharedHandle {
    /// Opens the block that another process has under the descriptor `_id`.
    ///
    /// # Errors
    /// [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt), always.
    pub fn of(_id: SharedId) -> Result<Self> {
        Err(not_built())
    }
}

/// A counted mapping, which does not exist on this system.
#[derive(Debug)]
pub(crate) struct SharedSegment {
    never: Infallible,
}

impl SharedSegment {
    pub(crate) fn create(_len: usize) -> Result<Option<Self>> {
        Err(not_built())
    }

    pub(crate) fn open(handle: SharedHandle) -> Result<Self> {
        match handle.never {}
    }

    pub(crate) fn data(&self) -> NonNull<u8> {
        match self.never {}
    }

    pub(crate) fn len(&self) -> usize {
        match self.never {}
    }

    pub(crate) fn id(&self) -> SharedId {
        match self.never {}
    }

    pub(crate) fn handle(&self) -> Result<SharedHandle> {
        match self.never {}
    }

    pub(crate) fn count(&self) -> u32 {
        match self.never {}
    }
}

fn not_built() -> Error {
    Error::not_built("memory of cpu_shared", "it needs memfd_create, which only Linux has")
}
