//! Builds without the feature `grpc`: making the store or running a server is an error that names the feature.

use crate::Runtime;
use mxrs_env::Settings;
use mxrs_kvstore::Constructor;
use mxrs_sync::atomic::AtomicBool;
use mxrs_types::{Error, Result};
use std::sync::Arc;

fn missing(what: String) -> Error {
    Error::not_built(what, "this build is without the feature `grpc`")
}

/// Refuses to make the stores.
pub(crate) fn constructor(_: &Settings) -> Constructor {
    Arc::new(|name, _, _| Err(missing(format!("the key-value store `{name}`"))))
}

/// Refuses to run a server.
///
/// # Errors
/// Always fails.
pub(super) fn run_server(_: &Runtime, _: Option<Arc<AtomicBool>>) -> Result<()> {
    Err(missing("a server of the store `dist_async`".to_owned()))
}
