//! A build without oneDNN.

use super::LoadedBackend;
use mxrs_env::Settings;
use mxrs_sync::Team;
use std::sync::Arc;

/// Never there; the answer says how to get it.
pub fn load(_settings: &Settings, _team: &Arc<Team>) -> Result<LoadedBackend, String> {
    Err("this build is without the cargo feature `onednn`; build with it, or with `onednn-dynamic`".into())
}
