//! State of one invocation of `cargo xtask`: the workspace, the kernels that it is built with, and the commands prepared for
//! it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::Run;
use crate::skips;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// The features that are off by default: those that compile C++ or C, which are oneDNN and mimalloc (it is compared with our
/// pools), and the servers of `dist_async`.
const NATIVE_FEATURES: [&str; 10] = [
    "mxrs-onednn-src/compile",
    "mxrs-onednn-sys/static",
    "mxrs-backend-onednn/static",
    "mxrs/grpc",
    "mxrs/onednn",
    "mxrs-cli/grpc",
    "mxrs-cli/onednn",
    "mxrs-tests/onednn",
    "mxrs-benches/onednn",
    "mxrs-benches/mimalloc",
];

/// The kernels that a build contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// oneDNN, compiled from source, besides the kernels of mxrs itself.
    OneDnn,
    /// Only the kernels of mxrs itself: the packages' default features. They need no C++ compiler and no long build.
    Own,
}

impl Kernels {
    /// The cargo flags that build every package with these kernels. Builds with oneDNN are optimized, by the profile `suite`;
    /// another step of the suite makes the debug build without it.
    pub fn workspace_flags(self) -> Vec<String> {
        self.workspace_flags_of("suite")
    }

    /// The same flags, with another profile for builds with oneDNN.
    pub fn workspace_flags_of(self, profile: &str) -> Vec<String> {
        let flags = match self {
            Kernels::OneDnn => vec!["--workspace", "--profile", profile, "--features"],
            Kernels::Own => vec!["--workspace"],
        };
        let features = (self == Kernels::OneDnn).then(|| NATIVE_FEATURES.join(","));
        flags.into_iter().map(str::to_owned).chain(features).collect()
    }

    /// The cargo flags that give these kernels to one package, which has a feature `onednn`.
    pub fn feature_flags(self) -> &'static [&'static str] {
        match self {
            Kernels::OneDnn => &["--features", "onednn"],
            Kernels::Own => &[],
        }
    }
}

/// The workspace and the kernels of one invocation.
pub struct Session {
    /// The workspace.
    pub workspace: Workspace,
    /// The kernels that the machine and the command allow.
    pub kernels: Kernels,
    target_dir: PathBuf,
}

impl Session {
    /// A session for commands that need only Rust; they build with our own kernels.
    ///
    /// # Errors
    /// Fails if the manifests cannot be read.
    pub fn rust_only() -> Result<Self> {
        Self::with(Kernels::Own)
    }

    /// A session for commands that build oneDNN. Finds the tools that this needs, installs missing ones and reports what it
    /// installs. If oneDNN cannot be built, prints the reason and continues with our own kernels.
    ///
    /// # Errors
    /// Fails if the manifests cannot be read.
    pub fn native() -> Result<Self> {
        let can_build_onednn = Tools::find_or_install().can_build_onednn();
        Self::with(if can_build_onednn { Kernels::OneDnn } else { Kernels::Own })
    }

    fn with(kernels: Kernels) -> Result<Self> {
        let workspace = Workspace::find()?;
        let mut session = Session { workspace, kernels, target_dir: PathBuf::new() };
        session.target_dir = session.ask_target_dir()?;
        Ok(session)
    }

    /// Cargo's target folder, set by `CARGO_TARGET_DIR` or cargo's configuration; `target` by default.
    pub fn target_dir(&self) -> PathBuf {
        self.target_dir.clone()
    }

    /// A cargo command in the root folder. The heartbeat watches its target folder. Tests get the name of the file to which
    /// they write what they leave out.
    pub fn cargo(&self, subcommand: &str) -> Run {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let run = prepared(Run::new(cargo, &self.workspace.root)).arg(subcommand).watching(&self.target_dir);
        if subcommand == "test" { run.env(skips::VARIABLE, skips::file(&self.target_dir)) } else { run }
    }

    /// A cargo command in another folder, outside the workspace.
    pub fn cargo_in(&self, dir: &Path, subcommand: &str) -> Run {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        prepared(Run::new(cargo, dir)).arg(subcommand).watching(&self.target_dir)
    }

    /// A command of the nightly toolchain, run through rustup.
    pub fn nightly(&self, program: &str) -> Run {
        let run = Run::new("rustup", &self.workspace.root);
        prepared(run).without_env("CARGO").without_env("RUSTC").args(["run", "nightly", program])
    }

    /// A program other than cargo, run in the root folder.
    pub fn program(&self, program: impl Into<OsString>) -> Run {
        prepared(Run::new(program, &self.workspace.root))
    }

    /// The target triple of this machine.
    ///
    /// # Errors
    /// Fails if rustc cannot be run.
    pub fn host(&self) -> Result<String> {
        let verbose = self.program("rustc").arg("-vV").capture()?;
        let host = verbose.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("rustc names no host")?.to_owned())
    }

    fn ask_target_dir(&self) -> Result<PathBuf> {
        let text = self.cargo("metadata").args(["--no-deps", "--format-version", "1"]).capture()?;
        let metadata: serde_json::Value = serde_json::from_str(&text).context("reading cargo's metadata")?;
        let dir = metadata["target_directory"].as_str().context("cargo's metadata name no target folder")?;
        Ok(PathBuf::from(dir))
    }
}

/// Removes the variables in which cargo describes the running package, because they would be wrong for a child process.
fn prepared(run: Run) -> Run {
    let described = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO_BIN_NAME"
    });
    described.fold(run, |run, name| run.without_env(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_builds_with_onednn_name_its_features() {
        assert_eq!(Kernels::Own.workspace_flags(), ["--workspace"]);
        let flags = Kernels::OneDnn.workspace_flags();
        assert_eq!(flags[..4], ["--workspace", "--profile", "suite", "--features"]);
        assert!(flags[4].split(',').any(|feature| feature == "mxrs/onednn"), "{flags:?}");
    }

    #[test]
    fn every_native_feature_exists_and_is_off_by_default() {
        let workspace = Workspace::find().unwrap();
        for name in NATIVE_FEATURES {
            let (package, feature) = name.split_once('/').unwrap();
            let member = workspace.members.iter().find(|member| member.name == package).unwrap();
            let features = member.manifest["features"].as_table().unwrap();
            assert!(features.contains_key(feature), "{name} is not a feature");
            let default = features["default"].as_array().unwrap();
            assert!(!default.iter().any(|on| on.as_str() == Some(feature)), "{package}: {feature} is on by default");
        }
    }
}
