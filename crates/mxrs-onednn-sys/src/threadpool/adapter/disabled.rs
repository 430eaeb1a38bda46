//! The adapter for builds in which the C++ part is not compiled: its constructor returns an error.

use crate::ThreadPool;
use mxrs_types::{Error, Result};
use std::convert::Infallible;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// An adapter type without values, so none can exist.
pub(in crate::threadpool) struct Adapter(Infallible);

impl Adapter {
    pub(in crate::threadpool) fn new(_: Arc<dyn ThreadPool>, _: c_int) -> Result<Self> {
        let reason = "the adapter is C++ and is compiled with feature `static` only; create streams without a pool";
        Err(Error::not_built("oneDNN on a foreign thread pool", reason))
    }

    pub(in crate::threadpool) fn as_ptr(&self) -> *mut c_void {
        match self.0 {}
    }

    pub(in crate::threadpool) fn take_panic(&self) -> Option<String> {
        match self.0 {}
    }
}
