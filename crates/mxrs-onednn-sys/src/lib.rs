//! Raw bindings to oneDNN 3, running on a thread pool of the caller's.
//!
//! Three layers: [`sys`] is the C interface (3.14, generated and committed), [`result`] the same calls with errors instead
//! of statuses, and [`ThreadPool`] / [`ThreadPoolHandle`] lend oneDNN the caller's threads. Objects with owners, layouts and
//! primitives for operators are the business of `mxrs-backend-onednn`. This crate does not know tensors, operators or the
//! environment, and owns no thread.
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
//! - Feature `static` (default): compiled from the source in the crate `onednn-src` and linked. Needs CMake and a C++17
//!   compiler, and takes a quarter of an hour on two cores, once per target folder and profile.
//! - Feature `dynamic` (with `default-features = false`): `libdnnl.so.3` is loaded at run time by [`open`]; nothing native
//!   is built. Such a library usually brings its own threads (OpenMP or TBB, see [`Version::cpu_runtime`]), and
//!   [`ThreadPoolHandle::new`] says so instead of making a handle. `static` wins where both features are on.
//! - Neither: everything compiles, [`is_available`] is false, and [`version`] returns the reason.
//!
//! # In another workspace
//!
//! oneDNN must be configured for its THREADPOOL runtime, and `onednn-src` has no switch for it. This crate's
//! `cmake/threadpool.cmake` has; CMake reads it when the environment variable `CMAKE_TOOLCHAIN_FILE` names it. This workspace
//! sets that in `.cargo/config.toml`. A workspace that depends on this crate from outside does the same, with a path
//! to its copy of the file:
//!
//! ```toml
//! [env]
//! CMAKE_TOOLCHAIN_FILE = { value = "cmake/threadpool.cmake", relative = true }
//! ```
//!
//! Otherwise the build stops with a message that repeats this, and the path of the file.
//!
//! Read next: [`result`] for how to call, then [`threadpool`].

// Everything here is foreign calls: into oneDNN, and between its C++ thread pool interface and the caller's pool.
#![allow(unsafe_code)]

// Holds no code; naming it makes rustc link the library that its build script compiled.
#[cfg(feature = "static")]
use onednn_src as _;

mod library;
pub mod result;
pub mod sys;
pub mod threadpool;

pub use library::{CpuRuntime, DEFAULT_LIBRARY, Version, is_available, open, version};
pub use threadpool::{ThreadPool, ThreadPoolHandle};

/// Name of this backend in errors.
pub(crate) const BACKEND: &str = "onednn";
