//! Which backend graphs are partitioned for at inference, and the chains that are looked for.

use crate::Backends;
use mxrs_env::{Settings, Warning};
use mxrs_op::Pattern;
use mxrs_ops::{Fusions, patterns};
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::Arc;

const BACKEND: &str = "MXNET_SUBGRAPH_BACKEND";

/// The switches of single chains.
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
    /// What is looked for; nothing where graphs stay whole.
    pub patterns: Arc<[Pattern]>,
    /// `MXNET_SUBGRAPH_VERBOSE`.
    pub verbosity: u8,
    /// Settings that can do nothing here.
    pub warnings: Vec<Warning>,
}

/// Name of a backend as the variable has it.
fn word(backend: &str) -> String {
    backend.to_ascii_uppercase()
}

/// Reads the settings. Unset, graphs are partitioned for the first of these backends that has kernels of its own; chains
/// that no backend has a kernel for stay as they are in any case.
///
/// # Errors
/// [`ErrorKind::Env`] for a backend that nobody knows, with the names of those that are there.
pub fn subgraphs(settings: &Settings, backends: &Backends) -> Result<Subgraphs> {
    let verbosity = settings.graph.subgraph_verbose;
    let loaded: Vec<&'static str> = backends.loaded.iter().map(|loaded| loaded.backend.name()).collect();
    let asked = settings.graph.subgraph_backend.as_deref();
    let chosen = match asked {
        Some("NONE") => Err("graphs are not partitioned: MXNET_SUBGRAPH_BACKEND=NONE".to_owned()),
        Some(asked) => {
            let name = if asked == "MKLDNN" { "ONEDNN" } else { asked };
            let absent = backends.absent.iter().find(|absent| word(absent.name) == name);
            match (loaded.iter().find(|known| word(known) == name), absent) {
                (Some(known), _) => Ok(word(known)),
                (None, Some(absent)) => Err(absent.reason.clone()),
                (None, None) => return Err(unknown(asked, &loaded)),
            }
        }
        None => match loaded.iter().find(|name| **name != "reference") {
            Some(name) => Ok(word(name)),
            None => Err("graphs are not partitioned: no backend has kernels for it".to_owned()),
        },
    };
    match chosen {
        Ok(name) => {
            if verbosity > 0 && asked.is_some() {
                tracing::info!("subgraph backend {name} is activated");
            }
            Ok(Subgraphs { patterns: patterns(&fusions(settings)).into(), verbosity, warnings: Vec::new() })
        }
        Err(reason) => {
            if verbosity > 0 && asked == Some("NONE") {
                tracing::info!("{reason}");
            }
            let about_backend = (asked != Some("NONE")).then(|| settings.inert_warning(BACKEND, &reason)).flatten();
            let about_switches = SWITCHES.iter().filter_map(|name| settings.inert_warning(name, &reason));
            let warnings = about_backend.into_iter().chain(about_switches).collect();
            Ok(Subgraphs { patterns: Arc::new([]), verbosity, warnings })
        }
    }
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

/// The chains that the switches leave.
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
