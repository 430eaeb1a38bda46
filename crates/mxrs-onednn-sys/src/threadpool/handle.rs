//! Owner of the object that oneDNN sees as its thread pool.

use super::ThreadPool;
use super::adapter::Adapter;
use crate::{result, version};
use mxrs_types::{Error, ErrorKind, Result};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// A [`ThreadPool`] in the form that oneDNN takes. Make one handle per pool, and keep it longer than every stream
/// created with it.
pub struct ThreadPoolHandle {
    adapter: Adapter,
    n_threads: c_int,
}

impl ThreadPoolHandle {
    /// Makes the C++ object for `pool`.
    ///
    /// # Errors
    /// `NotBuilt` if oneDNN cannot run on the caller's threads, because feature `static` is off, there is no library,
    /// or the library's runtime is not THREADPOOL. (With such a library, a stream that is created without a pool uses
    /// the library's own threads.) `InvalidValue` if the pool reports no threads, or more than an `i32` can hold.
    pub fn new(pool: Arc<dyn ThreadPool>) -> Result<Self> {
        let runtime = version()?.cpu_runtime;
        if runtime != crate::CpuRuntime::ThreadPool {
            let reason = format!("this oneDNN schedules its own threads ({runtime}); create streams without a pool");
            return Err(Error::not_built("oneDNN on a foreign thread pool", reason));
        }
        let n = pool.n_threads();
        let n_threads = c_int::try_from(n)
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| Error::invalid("number of threads of a oneDNN thread pool", n, "1 to 2147483647"))?;
        Ok(Self { adapter: Adapter::new(pool, n_threads)?, n_threads })
    }

    /// The `threadpool` argument of the `dnnl_threadpool_interop_*` functions; valid as long as the handle exists.
    pub fn as_ptr(&self) -> *mut c_void {
        self.adapter.as_ptr()
    }

    /// Number of threads that oneDNN assumes the pool to have.
    pub fn n_threads(&self) -> usize {
        // `new` has checked that the number is positive.
        self.n_threads.unsigned_abs() as usize
    }

    /// From now on, oneDNN plans the primitives that *the calling thread* creates for this pool's number of threads.
    ///
    /// # Errors
    /// `Backend` if oneDNN refuses.
    pub fn set_max_concurrency(&self) -> Result<()> {
        // SAFETY: the call has no pointer arguments; it only sets a number that belongs to the calling thread.
        unsafe { result::threadpool_interop_set_max_concurrency(self.n_threads) }
    }

    /// Returns an error if the pool has panicked since the last call. Call this after executing a primitive. After a panic
    /// the results are right, because the calling thread has run the remaining items, but the pool is probably unusable.
    ///
    /// # Errors
    /// `Panicked` with the message of the first panic.
    pub fn check_panic(&self) -> Result<()> {
        match self.adapter.take_panic() {
            None => Ok(()),
            Some(message) => Err(Error::new(ErrorKind::Panicked { what: "thread pool of oneDNN".to_owned(), message })),
        }
    }
}

impl std::fmt::Debug for ThreadPoolHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadPoolHandle").field("n_threads", &self.n_threads).finish_non_exhaustive()
    }
}
