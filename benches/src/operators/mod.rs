//! Speed of single operators in float32: mxrs, MXNet 1.9.1 and PyTorch, each in a separate process.
//!
//! The calls are in one list, `list.txt` ([`list`]), mostly on the sizes of MXNet's benchmark `opperf`. For each call the
//! parent writes the inputs ([`inputs`]), and every library loads them and calls the operator once. The results are compared
//! with ours ([`sample`]). Then the libraries take turns ([`contest`]): in every round each calls the operator for some
//! hundredths of a second while the others are stopped. A call ends when its results are computed. mxrs is called by the
//! imperative interface of the facade ([`ours`]); the others are Python scripts, so their times include Python's. The tables
//! ([`tables`]) give the times, the ratio to the faster library, the geometric means and the slowest calls.

pub mod contest;
pub mod inputs;
pub mod list;
pub mod ours;
pub mod sample;
pub mod tables;

use anyhow::{Context, Result};
use clap::ValueEnum;
use std::path::Path;

/// A library whose operators are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// mxrs, this library.
    Mxrs,
    /// MXNet 1.9.1.
    Mxnet,
    /// PyTorch, in eager mode.
    Torch,
}

impl Peer {
    /// All libraries.
    pub const ALL: [Self; 3] = [Self::Mxrs, Self::Mxnet, Self::Torch];

    /// Name on the command line and in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Mxnet => "mxnet",
            Self::Torch => "torch",
        }
    }

    /// Name in tables.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Mxnet => "MXNet",
            Self::Torch => "PyTorch",
        }
    }

    /// The script that runs the library, if it is one for Python.
    pub fn script(self) -> Option<&'static str> {
        match self {
            Self::Mxrs => None,
            Self::Mxnet => Some("peer_mxnet.py"),
            Self::Torch => Some("peer_torch.py"),
        }
    }
}

const SCRIPTS: [(&str, &str); 4] = [
    ("serve.py", include_str!("../score/serve.py")),
    ("calls.py", include_str!("calls.py")),
    ("peer_mxnet.py", include_str!("peer_mxnet.py")),
    ("peer_torch.py", include_str!("peer_torch.py")),
];

/// Writes the scripts that run libraries for Python.
///
/// # Errors
/// Fails if the folder cannot be written to.
pub fn write_scripts(folder: &Path) -> Result<()> {
    for (name, text) in SCRIPTS {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_command_line() {
        assert_eq!(Peer::ALL, Peer::value_variants());
        for peer in Peer::ALL {
            assert_eq!(Peer::from_str(peer.key(), false), Ok(peer));
        }
    }

    #[test]
    fn every_script_is_written() {
        let folder = tempfile::tempdir().unwrap();
        write_scripts(folder.path()).unwrap();
        for script in Peer::ALL.into_iter().filter_map(Peer::script) {
            assert!(folder.path().join(script).is_file(), "{script}");
        }
    }
}
