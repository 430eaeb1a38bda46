//! Raw bindings to oneDNN 3. oneDNN runs on a thread pool that the caller owns.
//!
//! There are three layers. [`sys`] is the C interface (3.14, generated and committed). [`result`] has the same calls with
//! errors instead of statuses. [`ThreadPool`] and [`ThreadPoolHandle`] lend the caller's threads to oneDNN. Owned objects,
//! layouts and primitives for operators are in `mxrs-backend-onednn`. The crate has no tensors and no operators, reads no
//! environment variables, and owns no thread.
//!
//! ```
//! match mxrs_onednn_sys::version() {
//!     // For example "oneDNN 3.14.1 (THREADPOOL)".
//!     Ok(version) => println!("oneDNN {version}"),
//!     Err(reason) => println!("no oneDNN: {reason}"),
//! }
//! ```
//!
//! # Where the library comes from
//!
//! - Feature `static`: compiled from the source in `mxrs-onednn-src` and linked. Needs a C++17 compiler and an
//!   x86-64 target, and takes about eight minutes on two cores, once per target folder.
//! - Feature `dynamic`: `libdnnl.so.3` is loaded at run time by [`open`] or [`find`], from where the packages of conda-forge
//!   and Debian put it ([`usual_files`]) or from a file that is named; nothing native is built. Such a library usually has its
//!   own threads (OpenMP or TBB, see [`Version::cpu_runtime`]); then [`ThreadPoolHandle::new`] returns an error. If both
//!   features are on, `static` wins.
//! - Neither feature, the default: everything compiles, [`is_available`] is false, and [`version`] returns the reason.
//!
//! Read next: [`result`], which shows how to call oneDNN, then [`threadpool`].

// The whole crate consists of foreign calls: calls into oneDNN, and calls between oneDNN's C++ thread pool interface and the
// caller's pool.
#![allow(unsafe_code)]

// `mxrs_onednn_src` has no code. Naming it makes rustc link the library that its build script compiled.
#[cfg(feature = "static")]
use mxrs_onednn_src as _;

mod library;
pub mod result;
pub mod sys;
pub mod threadpool;

pub use library::{CpuRuntime, DEFAULT_LIBRARY, Version, find, is_available, open, usual_files, version};
pub use threadpool::{ThreadPool, ThreadPoolHandle};

/// Name of this backend in errors.
pub(crate) const BACKEND: &str = "onednn";
