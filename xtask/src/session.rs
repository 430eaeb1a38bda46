//! What one invocation works with: the workspace, the kernels it is built with, and cargo in its place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::Run;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// Packages that cannot be built without compiling or loading oneDNN.
pub const ONEDNN_PACKAGES: [&str; 3] = ["mxrs-onednn-src", "mxrs-onednn-sys", "mxrs-backend-onednn"];

/// Which kernels a build carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// oneDNN, compiled from source: the packages' default features.
    OneDnn,
    /// The kernels of mxrs itself: no C++ compiler, no long build.
    Reference,
}

impl Kernels {
    /// The cargo flags that select every package that can be built with these kernels. With oneDNN always in release: the
    /// debug build of everything else is another step of the suite.
    pub fn workspace_flags(self) -> Vec<&'static str> {
        match self {
            Kernels::OneDnn => vec!["--workspace", "--release"],
            Kernels::Reference => {
                let excluded = ONEDNN_PACKAGES.iter().flat_map(|package| ["--exclude", package]);
                ["--workspace"].into_iter().chain(excluded).chain(["--no-default-features"]).collect()
            }
        }
    }

    /// The cargo flags that build one package with these kernels.
    pub fn package_flags(self, package: &str) -> Vec<&str> {
        match self {
            Kernels::OneDnn => vec!["-p", package],
            Kernels::Reference => vec!["-p", package, "--no-default-features"],
        }
    }
}

/// The workspace and the kernels of one invocation.
pub struct Session {
    /// The workspace.
    pub workspace: Workspace,
    /// The kernels this machine, and the command, allow.
    pub kernels: Kernels,
    target_dir: PathBuf,
}

impl Session {
    /// For commands that need Rust alone: they build with the reference kernels.
    ///
    /// # Errors
    /// The manifests cannot be read.
    pub fn rust_only() -> Result<Self> {
        Self::with(Kernels::Reference)
    }

    /// For commands that build oneDNN: finds what that needs, installs what is missing, says what it installs.
    /// Where oneDNN cannot be built, says why and goes on with the reference kernels.
    ///
    /// # Errors
    /// The manifests cannot be read.
    pub fn native() -> Result<Self> {
        let can_build_onednn = Tools::find_or_install().can_build_onednn();
        Self::with(if can_build_onednn { Kernels::OneDnn } else { Kernels::Reference })
    }

    fn with(kernels: Kernels) -> Result<Self> {
        let workspace = Workspace::find()?;
        let mut session = Session { workspace, kernels, target_dir: PathBuf::new() };
        session.target_dir = session.ask_target_dir()?;
        Ok(session)
    }

    /// Where cargo builds: `CARGO_TARGET_DIR`, cargo's configuration, or `target`.
    pub fn target_dir(&self) -> PathBuf {
        self.target_dir.clone()
    }

    /// A cargo command at the root; the heartbeat watches its target folder.
    pub fn cargo(&self, subcommand: &str) -> Run {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        prepared(Run::new(cargo, &self.workspace.root)).arg(subcommand).watching(&self.target_dir)
    }

    /// A cargo command in another folder, outside the workspace.
    pub fn cargo_in(&self, dir: &Path, subcommand: &str) -> Run {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        prepared(Run::new(cargo, dir)).arg(subcommand).watching(&self.target_dir)
    }

    /// A command of the nightly toolchain, by way of rustup.
    pub fn nightly(&self, program: &str) -> Run {
        let run = Run::new("rustup", &self.workspace.root);
        prepared(run).without_env("CARGO").without_env("RUSTC").args(["run", "nightly", program])
    }

    /// A program other than cargo, at the root.
    pub fn program(&self, program: impl Into<OsString>) -> Run {
        prepared(Run::new(program, &self.workspace.root))
    }

    /// The target triple of this machine.
    ///
    /// # Errors
    /// rustc cannot be asked.
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

/// Cargo describes the running package to this process; to a child those variables would be lies.
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
    fn without_onednn_its_packages_and_features_stay_out() {
        let flags = Kernels::Reference.workspace_flags();
        for package in ONEDNN_PACKAGES {
            let at = flags.iter().position(|flag| *flag == package).unwrap();
            assert_eq!(flags[at - 1], "--exclude");
        }
        assert!(flags.contains(&"--no-default-features"));
        assert_eq!(Kernels::OneDnn.workspace_flags(), ["--workspace", "--release"]);
    }

    #[test]
    fn every_excluded_package_is_a_member() {
        let workspace = Workspace::find().unwrap();
        for package in ONEDNN_PACKAGES {
            assert!(workspace.floor_of(package).is_some(), "{package} is not a member of the workspace");
        }
    }
}
