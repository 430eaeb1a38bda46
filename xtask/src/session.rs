//! State of one invocation of `cargo xtask`: the workspace, the kernels that it is built with, and the commands prepared for
//! it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::Run;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// Packages that cannot be built without compiling or loading oneDNN.
pub const ONEDNN_PACKAGES: [&str; 3] = ["mxrs-onednn-src", "mxrs-onednn-sys", "mxrs-backend-onednn"];

/// The kernels that a build contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// oneDNN, compiled from source: the packages' default features.
    OneDnn,
    /// Only the kernels of mxrs itself, which need no C++ compiler and no long build.
    Reference,
}

impl Kernels {
    /// The cargo flags that select every package that can be built with these kernels. Builds with oneDNN are always in
    /// release mode; another step of the suite makes the debug build of all other packages.
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
    /// The kernels that the machine and the command allow.
    pub kernels: Kernels,
    target_dir: PathBuf,
}

impl Session {
    /// A session for commands that need only Rust; they build with the reference kernels.
    ///
    /// # Errors
    /// Fails if the manifests cannot be read.
    pub fn rust_only() -> Result<Self> {
        Self::with(Kernels::Reference)
    }

    /// A session for commands that build oneDNN. Finds the tools that this needs, installs missing ones and reports what it
    /// installs. If oneDNN cannot be built, prints the reason and continues with the reference kernels.
    ///
    /// # Errors
    /// Fails if the manifests cannot be read.
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

    /// Cargo's target folder, set by `CARGO_TARGET_DIR` or cargo's configuration; `target` by default.
    pub fn target_dir(&self) -> PathBuf {
        self.target_dir.clone()
    }

    /// A cargo command in the root folder. The heartbeat watches its target folder.
    pub fn cargo(&self, subcommand: &str) -> Run {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        prepared(Run::new(cargo, &self.workspace.root)).arg(subcommand).watching(&self.target_dir)
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
