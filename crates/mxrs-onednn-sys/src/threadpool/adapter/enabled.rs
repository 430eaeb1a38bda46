//! The functions that the C++ pool of `cpp/threadpool.cpp` calls, and their shared state.
//!
//! No panic unwinds into C++: a panic of the caller's pool is kept in [`Shared`] until [`Adapter::take_panic`] returns
//! it.

use super::once_each::OnceEach;
use crate::ThreadPool;
use mxrs_types::{Error, ErrorKind, Result};
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The type of the C++ function that runs item `i` of `n` items of one of oneDNN's work closures. It never unwinds.
type Body = unsafe extern "C" fn(closure: *mut c_void, i: c_int, n: c_int);

unsafe extern "C" {
    fn mxrs_threadpool_new(
        ctx: *mut c_void,
        n_threads: c_int,
        in_parallel: unsafe extern "C" fn(*mut c_void) -> c_int,
        parallel_for: unsafe extern "C" fn(*mut c_void, c_int, Body, *mut c_void),
    ) -> *mut c_void;
    fn mxrs_threadpool_delete(pool: *mut c_void);
}

/// Owner of the C++ pool object and of the state that the pool's callbacks use.
pub(in crate::threadpool) struct Adapter {
    object: NonNull<c_void>,
    shared: Box<Shared>,
}

// SAFETY: the C++ object is immutable after construction, its functions may be called from any thread, and they only
// use a `Shared`, which is itself `Send + Sync`.
unsafe impl Send for Adapter {}
// SAFETY: the C++ object is immutable after construction, its functions may be called from several threads at the same
// time, and they only use a `Shared`, which is itself `Sync`.
unsafe impl Sync for Adapter {}

impl Adapter {
    pub(in crate::threadpool) fn new(pool: Arc<dyn ThreadPool>, n_threads: c_int) -> Result<Self> {
        let shared = Box::new(Shared::new(pool));
        let ctx = std::ptr::from_ref::<Shared>(&shared).cast_mut().cast();
        // SAFETY: the constructor only stores its arguments. Both functions take this context, which is in a box:
        // `drop` deletes the object before the box is freed.
        let object = unsafe { mxrs_threadpool_new(ctx, n_threads, in_parallel, parallel_for) };
        let Some(object) = NonNull::new(object) else {
            let message = "no memory for the thread pool adapter".to_owned();
            return Err(Error::new(ErrorKind::Backend { backend: crate::BACKEND, message }));
        };
        Ok(Self { object, shared })
    }

    pub(in crate::threadpool) fn as_ptr(&self) -> *mut c_void {
        self.object.as_ptr()
    }

    /// The message of the first panic since the last call, if there was one.
    pub(in crate::threadpool) fn take_panic(&self) -> Option<String> {
        self.shared.take_panic()
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        // SAFETY: the object came from `mxrs_threadpool_new` and is not used again. A stream that uses it was created
        // by an `unsafe` call, whose contract says that the handle outlives the stream.
        unsafe { mxrs_threadpool_delete(self.object.as_ptr()) }
    }
}

/// The state behind the context pointer of the C++ pool.
struct Shared {
    pool: Arc<dyn ThreadPool>,
    first_panic: Mutex<Option<String>>,
}

impl Shared {
    fn new(pool: Arc<dyn ThreadPool>) -> Self {
        Self { pool, first_panic: Mutex::new(None) }
    }

    fn take_panic(&self) -> Option<String> {
        self.first_panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep_panic(&self, payload: &(dyn Any + Send)) {
        let message = payload
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a payload that is not text".to_owned());
        self.first_panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }

    /// Runs all `n` items on the pool, then on this thread those items that the pool did not run.
    fn run(&self, n: usize, item: &(dyn Fn(usize) + Sync)) {
        let items = OnceEach::new(n);
        let guarded = |i: usize| {
            if items.claim(i) {
                item(i);
            }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.pool.parallel_for(n, &guarded))) {
            self.keep_panic(&*payload);
        }
        if items.unclaimed() > 0 {
            (0..n).for_each(guarded);
        }
    }
}

/// # Safety
/// `ctx` must be the [`Shared`] of a living [`Adapter`].
unsafe extern "C" fn in_parallel(ctx: *mut c_void) -> c_int {
    // SAFETY: the caller passes the `Shared` of a living adapter, which is only used through shared references.
    let shared = unsafe { &*ctx.cast::<Shared>() };
    match catch_unwind(AssertUnwindSafe(|| shared.pool.in_parallel())) {
        Ok(inside) => c_int::from(inside),
        Err(payload) => {
            shared.keep_panic(&*payload);
            // After a panic, the answer is 1 ("in parallel"), so that oneDNN does not call the pool.
            1
        }
    }
}

/// The work closure of one loop. oneDNN's closures may be called from several threads at the same time with different
/// items.
struct Closure {
    body: Body,
    data: *mut c_void,
    n: c_int,
}

// SAFETY: the closure behind `data` is a `const std::function` that oneDNN allows many threads to call, each with its
// own item number; `OnceEach` ensures that no item runs twice.
unsafe impl Sync for Closure {}

impl Closure {
    fn run(&self, i: usize) {
        // SAFETY: the caller of `parallel_for` promises that `data` is the closure that belongs to `body` and outlives
        // the loop. `OnceEach` lets each `i < n` through once, and `n` is a C int.
        unsafe { (self.body)(self.data, i as c_int, self.n) }
    }
}

/// # Safety
/// `ctx` must be the [`Shared`] of a living [`Adapter`]; `body` may be called with `data` and each item of `0..n` once,
/// from any thread, until this returns.
unsafe extern "C" fn parallel_for(ctx: *mut c_void, n: c_int, body: Body, data: *mut c_void) {
    // SAFETY: the caller passes the `Shared` of a living adapter, which is only used through shared references.
    let shared = unsafe { &*ctx.cast::<Shared>() };
    let closure = Closure { body, data, n };
    shared.run(usize::try_from(n).unwrap_or(0), &|i| closure.run(i));
}

#[cfg(test)]
mod tests;
