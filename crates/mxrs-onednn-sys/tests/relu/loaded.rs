//! Tests that oneDNN works on its own threads if it is a library that the system's loader finds.

use crate::compute::{expected, input, relu};
use mxrs_onednn_sys::{ThreadPool, ThreadPoolHandle, find, open, usual_files, version};
use mxrs_types::ErrorKind;
use std::sync::Arc;

/// A pool that runs everything on the calling thread.
struct Serial;

impl ThreadPool for Serial {
    fn n_threads(&self) -> usize {
        1
    }
    fn in_parallel(&self) -> bool {
        false
    }
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..n).for_each(body);
    }
}

#[test]
fn relu_on_the_librarys_own_threads() {
    let opened = match open(None) {
        Ok(version) => version,
        Err(reason) => {
            assert!(matches!(reason.kind(), ErrorKind::Backend { .. }), "{reason:?}");
            for file in usual_files(None) {
                assert!(
                    reason.to_string().contains(&file.display().to_string()),
                    "{} was tried: {reason}",
                    file.display()
                );
            }
            let error = open(Some("/nonexistent/libdnnl.so.3".as_ref())).unwrap_err().to_string();
            assert!(error.contains("tried: /nonexistent/libdnnl.so.3"), "{error}");
            eprintln!("skipped: {reason}");
            return;
        }
    };
    assert_eq!((opened.major, &opened), (3, &version().unwrap()));
    assert_eq!(find(Some("/nonexistent".as_ref())).unwrap(), opened, "a loaded library stays");
    let x = input(100_000);
    assert_eq!(relu(&x, None).unwrap(), expected(&x));

    let error = open(Some("/nonexistent/libdnnl.so.3".as_ref())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "a second library: {error:?}");
    let error = ThreadPoolHandle::new(Arc::new(Serial)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }), "a pool: {error:?}");
}
