//! Queries the version of a library.

use super::{CpuRuntime, Version};
use crate::sys;
use mxrs_types::{Error, ErrorKind, Result};
use std::ffi::CStr;

impl Version {
    /// The version of the linked or loaded library.
    pub(super) fn query() -> Result<Self> {
        // SAFETY: the function has no arguments and may be called at any time.
        let raw = unsafe { sys::dnnl_version() };
        // SAFETY: `dnnl_version` returned the pointer, which is the contract of `from_raw`.
        unsafe { Self::from_raw(raw) }
    }

    /// The version of a library whose functions are in `table`, before the library is used.
    #[cfg(all(feature = "dynamic", not(feature = "static")))]
    pub(super) fn from_table(table: &sys::Table) -> Result<Self> {
        let raw = table.version();
        // SAFETY: `dnnl_version` returned the pointer, or it is null, which is the contract of `from_raw`.
        unsafe { Self::from_raw(raw) }
    }

    /// # Safety
    /// `raw` must be null or a pointer that `dnnl_version` returned.
    unsafe fn from_raw(raw: *const sys::dnnl_version_t) -> Result<Self> {
        let backend = crate::BACKEND;
        // SAFETY: `as_ref` handles null; a pointer that `dnnl_version` returned stays valid for the rest of the
        // process. The fields that are read before the major version is known are the first of the structure in all
        // versions since 1.0.
        let Some(raw) = (unsafe { raw.as_ref() }) else {
            let message = "the library has no function dnnl_version: it is not oneDNN".to_owned();
            return Err(Error::new(ErrorKind::Backend { backend, message }));
        };
        if raw.major != 3 {
            let message = format!("the library is version {}.{}, these bindings need version 3", raw.major, raw.minor);
            return Err(Error::new(ErrorKind::Backend { backend, message }));
        }
        let hash = if raw.hash.is_null() {
            "N/A".to_owned()
        } else {
            // SAFETY: the pointer is not null, as checked above, and points to a string literal of the library.
            unsafe { CStr::from_ptr(raw.hash) }.to_string_lossy().into_owned()
        };
        Ok(Self {
            major: raw.major.unsigned_abs(),
            minor: raw.minor.unsigned_abs(),
            patch: raw.patch.unsigned_abs(),
            hash,
            cpu_runtime: runtime(raw.cpu_runtime),
        })
    }
}

fn runtime(raw: u32) -> CpuRuntime {
    match raw {
        sys::DNNL_RUNTIME_NONE => CpuRuntime::None,
        sys::DNNL_RUNTIME_SEQ => CpuRuntime::Sequential,
        sys::DNNL_RUNTIME_OMP => CpuRuntime::OpenMp,
        sys::DNNL_RUNTIME_TBB => CpuRuntime::Tbb,
        sys::DNNL_RUNTIME_THREADPOOL => CpuRuntime::ThreadPool,
        other => CpuRuntime::Other(other),
    }
}
