//! The store `dist_async`: depending on the settings, this process is a worker that connects to the servers, or is a server
//! itself.

// The two files have the same functions, so the rest of the crate does not depend on the feature.
#[cfg(not(feature = "grpc"))]
#[path = "asynchronous/absent.rs"]
mod build;
#[cfg(feature = "grpc")]
#[path = "asynchronous/connected.rs"]
mod build;

pub(crate) use build::constructor;

use mxrs_env::Role;
use mxrs_sync::atomic::AtomicBool;
use mxrs_types::Result;
use std::sync::Arc;

/// The names of the asynchronous stores.
pub(crate) const NAMES: [&str; 3] = ["dist_async", "dist_async_device", "dist_device_async"];

impl crate::Runtime {
    /// Whether this process is a server or a scheduler of `dist_async`, and not a worker (`DMLC_ROLE`).
    pub fn is_server(&self) -> bool {
        matches!(self.settings().distributed.role, Some(Role::Server | Role::Scheduler))
    }

    /// Runs this process as a server of `dist_async` until all workers have left: it keeps values, and updates them by the
    /// optimizer that the workers name. A program calls this function instead of training if [`Self::is_server`] says so.
    /// MXNet's scheduler has nothing to do here, so the function returns at once for it.
    ///
    /// If `interrupt` becomes true, the server ends as soon as no worker is alive.
    ///
    /// # Errors
    /// Fails if the settings do not say where to listen, if a file cannot be used, if the workers do not come or do not
    /// return, if an update fails, if a snapshot cannot be written, or if this build is without the feature `grpc`.
    pub fn run_server(&self, interrupt: Option<Arc<AtomicBool>>) -> Result<()> {
        build::run_server(self, interrupt)
    }
}
