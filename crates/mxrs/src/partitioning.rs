//! Which backend partitions graphs at inference, and the patterns that are searched for.

use crate::Backends;
use mxrs_env::{Settings, Warning};
use mxrs_op::Pattern;
use mxrs_ops::{Fusions, patterns};
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::Arc;

const BACKEND: &str = "MXNET_SUBGRAPH_BACKEND";

/// Environment variables that switch single patterns on or off.
const SWITCHES: [&str; 11] = [
    "MXNET_DISABLE_ONEDNN_CONV_OPT",
    "MXNET_DISABLE_ONEDNN_FC_OPT",
    "MXNET_DISABLE_ONEDNN_FC_SUM",
    "MXNET_DISABLE_ONEDNN_BN_RELU_OPT",
    "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN",
    "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU",
    "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM",
    "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE",
    "MXNET_DISABLE_ONEDNN_FUSE_BN_RELU",
    "MXNET_ONEDNN_FUSE_REQUANTIZE",
    "MXNET_ONEDNN_FUSE_DEQUANTIZE",
];

/// How graphs are partitioned.
#[derive(Clone, Default)]
pub struct Subgraphs {
    /// Patterns to search for; empty if graphs are not partitioned.
    pub patterns: Arc<[Pattern]>,
    /// The backend that decides alone which subgraphs are replaced; `None` lets every backend decide.
    pub backend: Option<&'static str>,
    /// Value of `MXNET_SUBGRAPH_VERBOSE`.
    pub verbosity: u8,
    /// Warnings for settings that have no effect.
    pub warnings: Vec<Warning>,
}

/// Name of a backend as `MXNET_SUBGRAPH_BACKEND` spells it.
fn word(backend: &str) -> String {
    backend.to_ascii_uppercase()
}

/// Reads the settings. If a backend is named, it decides which subgraphs are replaced. Without a name, or if the named
/// backend is absent, every backend decides: a subgraph for which no backend has a kernel is not replaced.
///
/// # Errors
/// [`ErrorKind::Env`] if no backend has the name; the error lists the loaded backends.
pub fn subgraphs(settings: &Settings, backends: &Backends) -> Result<Subgraphs> {
    let verbosity = settings.graph.subgraph_verbose;
    let loaded: Vec<&'static str> = backends.loaded.iter().map(|loaded| loaded.backend.name()).collect();
    let named = match settings.graph.subgraph_backend.as_deref() {
        None => None,
        Some("NONE") => {
            let reason = "graphs are not partitioned: MXNET_SUBGRAPH_BACKEND=NONE";
            if verbosity > 0 {
                tracing::info!("{reason}");
            }
            return Ok(whole(settings, verbosity, reason));
        }
        Some(asked) => {
            let name = if asked == "MKLDNN" { "ONEDNN" } else { asked };
            let absent = backends.absent.iter().find(|absent| word(absent.name) == name);
            match (loaded.iter().find(|known| word(known) == name), absent) {
                (Some(known), _) => Some(Ok(*known)),
                (None, Some(absent)) => Some(Err(absent.reason.as_str())),
                (None, None) => return Err(unknown(asked, &loaded)),
            }
        }
    };
    if let (None | Some(Err(_)), ["reference"]) = (named, &loaded[..]) {
        let mut subgraphs = whole(settings, verbosity, "graphs are not partitioned: no backend has kernels for it");
        subgraphs.warnings.extend(named.and_then(|name| settings.inert_warning(BACKEND, name.err()?)));
        return Ok(subgraphs);
    }
    if let (Some(Ok(name)), 1..) = (named, verbosity) {
        tracing::info!("subgraph backend {} is activated", word(name));
    }
    let warning = named.and_then(|name| settings.inert_warning(BACKEND, name.err()?));
    Ok(Subgraphs {
        patterns: patterns(&fusions(settings)).into(),
        backend: named.and_then(std::result::Result::ok),
        verbosity,
        warnings: warning.into_iter().collect(),
    })
}

/// Graphs are not partitioned, for this `reason`. Each switch that is set gets a warning, because it has no effect.
fn whole(settings: &Settings, verbosity: u8, reason: &str) -> Subgraphs {
    let warnings = SWITCHES.iter().filter_map(|name| settings.inert_warning(name, reason)).collect();
    Subgraphs { patterns: Arc::new([]), backend: None, verbosity, warnings }
}

fn unknown(asked: &str, loaded: &[&str]) -> Error {
    let mut names: Vec<String> = loaded.iter().map(|name| word(name)).collect();
    if names.iter().any(|name| name == "ONEDNN") {
        names.push("MKLDNN".into());
    }
    Error::new(ErrorKind::Env {
        name: BACKEND.into(),
        value: asked.into(),
        expected: format!("NONE or a registered backend: {}", names.join(", ")),
    })
}

/// The fusions that the switches do not disable.
fn fusions(settings: &Settings) -> Fusions {
    let off = &settings.onednn;
    Fusions {
        conv: !off.disable_conv,
        conv_bn: !off.disable_fuse_conv_bn,
        conv_sum: !off.disable_fuse_conv_sum,
        conv_act: !off.disable_fuse_conv_relu,
        fc: !off.disable_fc,
        fc_sum: !off.disable_fc_sum,
        fc_act: !off.disable_fuse_fc_eltwise,
        bn_relu: !off.disable_bn_relu && !off.disable_fuse_bn_relu,
        requantize: off.fuse_requantize,
        dequantize: off.fuse_dequantize,
    }
}
