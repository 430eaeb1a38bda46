//! The store `dist_async`: how this process reaches the servers, or is one, according to the settings.

#[cfg(feature = "grpc")]
mod connected;

use mxrs_kvstore::Constructor;
use mxrs_sync::atomic::AtomicBool;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The names of these stores.
pub(crate) const NAMES: [&str; 3] = ["dist_async", "dist_async_device", "dist_device_async"];

/// Makes the stores. All stores of a runtime have connections of their own.
pub(crate) fn constructor(settings: &mxrs_env::Settings) -> Constructor {
    #[cfg(feature = "grpc")]
    return connected::constructor(settings);
    #[cfg(not(feature = "grpc"))]
    {
        let _ = settings;
        Arc::new(|name, _, _| Err(missing(&format!("the key-value store `{name}`"))))
    }
}

/// The error of builds that cannot reach servers.
#[cfg_attr(feature = "grpc", allow(dead_code))]
fn missing(what: &str) -> Error {
    Error::not_built(what, "this build is without the feature `grpc`")
}

impl crate::Runtime {
    /// Whether this process is a server or a scheduler of `dist_async`, and no worker (`DMLC_ROLE`).
    pub fn is_server(&self) -> bool {
        use mxrs_env::Role;
        matches!(self.settings().distributed.role, Some(Role::Server | Role::Scheduler))
    }

    /// Runs this process as a server of `dist_async` until all workers have left: it keeps values, and updates them by the
    /// optimizer that the workers name. A program calls this function instead of training if [`Self::is_server`] says so.
    /// MXNet's scheduler has nothing to do here, so the function returns at once for it.
    ///
    /// If `interrupt` becomes true, the server ends as soon as no worker is alive.
    ///
    /// # Errors
    /// Fails if the settings do not say where to listen, if a file cannot be used, if the workers do not come or do not return,
    /// if an update fails, or if a snapshot cannot be written.
    pub fn run_server(&self, interrupt: Option<Arc<AtomicBool>>) -> Result<()> {
        #[cfg(feature = "grpc")]
        return connected::run_server(self, interrupt);
        #[cfg(not(feature = "grpc"))]
        {
            drop(interrupt);
            Err(missing("a server of the store `dist_async`"))
        }
    }
}
