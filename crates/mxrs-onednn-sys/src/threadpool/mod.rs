//! Runs oneDNN's work on the caller's threads: the [`ThreadPool`] trait, and [`ThreadPoolHandle`], which passes such a
//! pool to oneDNN.
//!
//! oneDNN's THREADPOOL runtime has three rules:
//!
//! - Work runs in parallel only on a stream that was created with a pool ([`crate::result::stream_create`]).
//! - The number of threads that a primitive is *planned* for is a property of the thread that creates it:
//!   [`ThreadPoolHandle::set_max_concurrency`] must be called once on every thread that creates primitives. Without it
//!   oneDNN plans for all cores of the machine.
//! - A primitive may run on a pool of fewer threads than it was planned for, but not of more, because its scratch
//!   memory would be too small. Use one pool size per process.

mod adapter;
mod handle;

pub use handle::ThreadPoolHandle;

/// A team of threads that can run the items of a parallel loop.
///
/// A wrong implementation can make calls slow or fail, but never causes memory errors: the adapter runs every item
/// exactly once, even if the pool does not.
///
/// ```
/// /// Runs everything on the calling thread.
/// struct Serial;
///
/// impl mxrs_onednn_sys::ThreadPool for Serial {
///     fn n_threads(&self) -> usize {
///         1
///     }
///     fn in_parallel(&self) -> bool {
///         false
///     }
///     fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
///         (0..n).for_each(body);
///     }
/// }
/// ```
pub trait ThreadPool: Send + Sync {
    /// Number of threads that work on one loop, including the caller. It is at least 1 and never changes.
    fn n_threads(&self) -> usize;

    /// Whether the calling thread is running an item of this pool right now. If so, oneDNN runs nested loops on the
    /// calling thread.
    fn in_parallel(&self) -> bool;

    /// Calls `body(i)` once for each `i` in `0..n`, on any threads in any order, and returns when all calls have
    /// returned.
    ///
    /// Usually `n` equals [`n_threads`](Self::n_threads), with one item per thread, so a pool should hand out items one
    /// by one. `n` may also be smaller or larger. No item waits for another item.
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync));
}
