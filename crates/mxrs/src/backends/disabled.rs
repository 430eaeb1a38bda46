//! A build without oneDNN.

use super::LoadedBackend;
use mxrs_env::Settings;
use mxrs_sync::Team;
use std::sync::Arc;

/// This build has no code for oneDNN.
pub const IS_BUILT: bool = false;

/// Never there; the answer says how to get it.
pub fn load(_settings: &Settings, _team: &Arc<Team>) -> Result<LoadedBackend, String> {
    Err("this build is without the cargo feature `onednn`; build with it, or with `onednn-dynamic`".into())
}
