//! Tests that oneDNN linked into the program works on thread pools made of plain threads.

use crate::compute::{expected, input, relu};
use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::{CpuRuntime, ThreadPool, ThreadPoolHandle, sys, version};
use mxrs_types::ErrorKind;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A pool that starts new threads for each loop.
struct Scoped {
    n_threads: usize,
    loops: AtomicUsize,
    workers: Mutex<HashSet<ThreadId>>,
}

impl Scoped {
    fn new(n_threads: usize) -> Arc<Self> {
        Arc::new(Self { n_threads, loops: AtomicUsize::new(0), workers: Mutex::default() })
    }
}

impl ThreadPool for Scoped {
    fn n_threads(&self) -> usize {
        self.n_threads
    }

    fn in_parallel(&self) -> bool {
        INSIDE.get()
    }

    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.loops.fetch_add(1, Ordering::Relaxed);
        let next = AtomicUsize::new(0);
        let work = || {
            INSIDE.set(true);
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= n {
                    break;
                }
                self.workers.lock().unwrap().insert(std::thread::current().id());
                body(i);
                // Yields, so that the other threads take some of the items.
                std::thread::yield_now();
            }
            INSIDE.set(false);
        };
        std::thread::scope(|scope| {
            for _ in 1..self.n_threads {
                scope.spawn(work);
            }
            work();
        });
    }
}

#[test]
fn the_library_is_version_3_on_our_threads() {
    let version = version().unwrap();
    assert_eq!((version.major, version.cpu_runtime), (3, CpuRuntime::ThreadPool));
    assert_eq!(version.minor, sys::DNNL_VERSION_MINOR, "bindings and library are of the same release");
    assert_eq!(version.patch, sys::DNNL_VERSION_PATCH, "bindings and library are of the same release");
}

#[test]
fn relu_on_one_and_two_threads() {
    let x = input(100_000);
    for n_threads in [1, 2] {
        let pool = Scoped::new(n_threads);
        let handle = ThreadPoolHandle::new(pool.clone()).unwrap();
        assert_eq!(handle.n_threads(), n_threads);
        assert_eq!(relu(&x, Some(&handle)).unwrap(), expected(&x), "{n_threads} threads");
        let workers = pool.workers.lock().unwrap().len();
        if n_threads == 1 {
            assert!(workers <= 1, "one thread works, not {workers}");
        } else {
            assert!(pool.loops.load(Ordering::Relaxed) >= 1, "oneDNN brought no work to the pool");
            assert!((1..=n_threads).contains(&workers), "{workers} of {n_threads} threads worked");
        }
    }
}

#[test]
fn max_concurrency_is_the_pools_size() {
    let handle = ThreadPoolHandle::new(Scoped::new(3)).unwrap();
    handle.set_max_concurrency().unwrap();
    let mut n = 0;
    // SAFETY: the out pointer is valid.
    unsafe { result::threadpool_interop_get_max_concurrency(&raw mut n) }.unwrap();
    assert_eq!(n, 3);
}

/// A pool that panics after its first item.
struct Breaking;

impl ThreadPool for Breaking {
    fn n_threads(&self) -> usize {
        2
    }
    fn in_parallel(&self) -> bool {
        false
    }
    fn parallel_for(&self, _: usize, body: &(dyn Fn(usize) + Sync)) {
        body(0);
        panic!("no more");
    }
}

#[test]
fn a_panic_of_the_pool_comes_back_as_an_error() {
    let handle = ThreadPoolHandle::new(Arc::new(Breaking)).unwrap();
    let error = relu(&input(100_000), Some(&handle)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Panicked { message, .. } if message == "no more"), "{error:?}");
    handle.check_panic().expect("a panic is reported once");
}

#[test]
fn bad_arguments_are_errors() {
    let dims = [-5];
    // SAFETY: the out pointer is valid, and `dims` has one item, as the arguments say. oneDNN refuses its value.
    let error = created(|out| unsafe {
        result::memory_desc_create_with_tag(out, 1, dims.as_ptr(), sys::dnnl_f32, sys::dnnl_a)
    })
    .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Backend { backend: "onednn", message } if message.starts_with("dnnl_memory_desc_create_with_tag: invalid arguments")),
        "{error:?}"
    );
    assert!(ThreadPoolHandle::new(Scoped::new(0)).is_err(), "a pool without threads");
}

#[test]
fn a_linked_library_cannot_be_named() {
    let error = mxrs_onednn_sys::open(Some("libdnnl.so.3".as_ref())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error:?}");
}
