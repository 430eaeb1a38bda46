//! The C functions with statuses turned into errors.
//!
//! Every function of [`crate::sys`] that returns a status is in this module under its name without `dnnl_`, with the
//! same arguments and the same contract. Functions that create an object write it to their first argument; [`created`]
//! turns that argument into a return value:
//!
//! ```
//! # fn main() -> mxrs_types::Result<()> {
//! # if !mxrs_onednn_sys::is_available() { return Ok(()) }
//! use mxrs_onednn_sys::{result, sys};
//!
//! // SAFETY: the out pointer is valid, and the engine is destroyed once.
//! unsafe {
//!     let engine = result::created(|out| result::engine_create(out, sys::dnnl_cpu, 0))?;
//!     result::engine_destroy(engine)?;
//! }
//! # Ok(())
//! # }
//! ```

mod calls;
mod status;

pub use calls::*;
pub use status::check;

use crate::{ThreadPoolHandle, sys};
use mxrs_types::{Error, ErrorKind, Result};

/// Runs `call` with a pointer to a variable, to which `call` writes the object that it creates. Returns that object, which
/// is never null.
///
/// # Errors
/// Returns the error of `call`, or `Backend` if `call` succeeds without creating an object.
pub fn created<T>(call: impl FnOnce(*mut *mut T) -> Result<()>) -> Result<*mut T> {
    let mut object = std::ptr::null_mut();
    call(&raw mut object)?;
    if object.is_null() {
        let message = format!("a call succeeded but returned no {}", std::any::type_name::<T>());
        return Err(Error::new(ErrorKind::Backend { backend: crate::BACKEND, message }));
    }
    Ok(object)
}

/// Creates a stream of a CPU `engine`. The stream's work runs on `pool`. Without a pool it runs on the library's own threads
/// or, with the THREADPOOL runtime, on the calling thread.
///
/// # Errors
/// `Backend` if oneDNN refuses.
///
/// # Safety
/// `engine` must be alive. The stream must be destroyed (`stream_destroy`) before `pool`.
pub unsafe fn stream_on_pool(
    engine: sys::dnnl_engine_t,
    pool: Option<&ThreadPoolHandle>,
) -> Result<sys::dnnl_stream_t> {
    // SAFETY: the out pointer is valid. The caller promises that `engine` is alive and that the stream is destroyed
    // before `pool`, which borrows the pool's object for this call.
    created(|out| unsafe {
        match pool {
            Some(pool) => threadpool_interop_stream_create(out, engine, pool.as_ptr()),
            None => stream_create(out, engine, sys::dnnl_stream_default_flags),
        }
    })
}
