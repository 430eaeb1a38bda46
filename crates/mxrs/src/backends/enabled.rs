//! Loads the oneDNN backend, whose library is linked or loaded at run time.

use super::LoadedBackend;
use mxrs_backend_onednn::OneDnn;
use mxrs_env::Settings;
use mxrs_sync::Team;
use std::sync::Arc;

/// Whether this build has code for oneDNN.
pub const IS_BUILT: bool = true;

/// Whether this build loads oneDNN at run time.
pub const IS_LOADED: bool = cfg!(not(feature = "onednn"));

/// oneDNN on `team`. Returns the reason as an error if the settings disable it or the library cannot be loaded.
pub fn load(settings: &Settings, team: &Arc<Team>) -> Result<LoadedBackend, String> {
    if !settings.onednn.enabled {
        return Err("switched off by MXNET_ONEDNN_ENABLED=0".into());
    }
    if IS_LOADED {
        load_library(settings)?;
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

/// Loads the library that `MXRS_ONEDNN_LIB` names, or the first that is found.
fn load_library(settings: &Settings) -> Result<(), String> {
    let file = settings.onednn.library.as_deref();
    mxrs_backend_onednn::load_library(file, settings.conda_folder()).map_err(|error| match file {
        Some(file) => format!("MXRS_ONEDNN_LIB={}: {error}", file.display()),
        None => format!("{error}; MXRS_ONEDNN_LIB can name its file"),
    })
}
