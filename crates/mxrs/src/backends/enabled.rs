//! Loads the oneDNN backend, whose library is linked or loaded at run time.

use super::LoadedBackend;
use mxrs_backend_onednn::OneDnn;
use mxrs_env::Settings;
use mxrs_sync::Team;
use std::sync::Arc;

/// Whether this build has code for oneDNN.
pub const IS_BUILT: bool = true;

/// oneDNN on `team`. Returns the reason as an error if the settings disable it or the library cannot be loaded.
pub fn load(settings: &Settings, team: &Arc<Team>) -> Result<LoadedBackend, String> {
    if !settings.onednn.enabled {
        return Err("switched off by MXNET_ONEDNN_ENABLED=0".into());
    }
    let config = mxrs_backend_onednn::OneDnnConfig {
        team: Arc::clone(team),
        cache_entries: crate::settings::onednn_cache_entries(settings),
        row_major_weights: settings.onednn.force_fc_ab,
    };
    let backend = OneDnn::new(config).map_err(|error| error.to_string())?;
    let version = backend.version().to_owned();
    Ok(LoadedBackend { backend, version })
}
