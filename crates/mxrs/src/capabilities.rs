//! The capabilities that environment variables need: those that this version has code for, and those that this build or
//! machine lacks.

use crate::Backends;
use mxrs_env::{Capabilities, Capability, Settings};
use mxrs_sync::Topology;

/// The capabilities of a runtime with these backends and with or without a GPU. `topology` is `None` if the system does not
/// show its processors.
pub(crate) fn capabilities(
    settings: &Settings,
    topology: Option<&Topology>,
    backends: &Backends,
    has_gpu: bool,
) -> Capabilities {
    let gpu = if has_gpu { Ok(()) } else { Err(", which this build has none of".to_owned()) };
    let pinning = match topology {
        Some(_) => Ok(()),
        None => Err("; this one does not show its processors".to_owned()),
    };
    let fork = if cfg!(unix) { Ok(()) } else { Err("; this one is not".to_owned()) };
    let feature = match Backends::HAVE_ONEDNN {
        true => Ok(()),
        false => Err(", which this build is without".to_owned()),
    };
    let absent = backends.absent.iter().find(|absent| absent.name == "onednn");
    let dynamic = match absent {
        _ if !Backends::LOAD_ONEDNN => Err(", which this build is without".to_owned()),
        Some(absent) => Err(format!(": {}", absent.reason)),
        None => Ok(()),
    };
    let onednn = match absent {
        Some(absent) => Err(format!(": {}", absent.reason)),
        None if settings.onednn.enabled => Ok(()),
        None => Err(", which MXNET_ONEDNN_ENABLED=0 switches off".to_owned()),
    };
    let stores = if cfg!(feature = "kvstore") { Ok(()) } else { Err(", which this build is without".to_owned()) };
    let servers = if cfg!(feature = "grpc") { Ok(()) } else { Err(", which this build is without".to_owned()) };
    let profiler = if cfg!(feature = "profiler") { Ok(()) } else { Err(", which this build is without".to_owned()) };
    Capabilities::new([
        (Capability::Profiler, profiler),
        (Capability::Gpu, gpu),
        (Capability::Distributed, stores.clone()),
        (Capability::Servers, servers),
        (Capability::KvStore, stores),
        (Capability::Pinning, pinning),
        (Capability::Fork, fork),
        (Capability::OneDnnFeature, feature),
        (Capability::OneDnn, onednn),
        (Capability::OneDnnDynamic, dynamic),
    ])
}

/// The text of `docs/env.md`, the same for every build and machine.
pub fn env_page() -> String {
    mxrs_env::docs_markdown(&capabilities(&Settings::default(), None, &Backends::default(), false))
}
