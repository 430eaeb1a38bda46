//! Stands in for the oneDNN backend in builds without it.

use super::LoadedBackend;
use mxrs_env::Settings;
use mxrs_sync::Team;
use std::sync::Arc;

/// Whether this build has code for oneDNN.
pub const IS_BUILT: bool = false;

/// Whether this build loads oneDNN at run time.
pub const IS_LOADED: bool = false;

/// Always returns an error, which says how to build with oneDNN.
pub fn load(_settings: &Settings, _team: &Arc<Team>) -> Result<LoadedBackend, String> {
    Err("this build is without the cargo feature `onednn`; build with it, or with `onednn-dynamic`".into())
}
