//! Tests the crate if oneDNN is loaded at run time, or is not installed.

// The test calls C functions.
#![allow(unsafe_code)]
#![cfg(not(feature = "static"))]

use mxrs_onednn_sys::{open, result, sys};
use mxrs_types::ErrorKind;

#[test]
fn calls_without_a_library_are_errors() {
    let error = open(Some("/nonexistent/libdnnl.so.3".as_ref())).unwrap_err();
    if cfg!(feature = "dynamic") {
        assert!(
            matches!(error.kind(), ErrorKind::Backend { message, .. } if message.contains("/nonexistent/libdnnl.so.3")),
            "{error:?}"
        );
    } else {
        assert!(!mxrs_onednn_sys::is_available());
        assert!(matches!(error.kind(), ErrorKind::NotBuilt { reason, .. } if reason.contains("feature")), "{error:?}");
    }
    // SAFETY: no library is loaded in this process, so no C function runs.
    let error = result::created(|out| unsafe { result::engine_create(out, sys::dnnl_cpu, 0) }).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotBuilt { what, .. } if what == "dnnl_engine_create"), "{error:?}");
}
