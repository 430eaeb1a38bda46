//! Virtual environments with the Python packages of measured libraries.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::score::packages::Packages;
use crate::process::Run;
use crate::session::Session;
use crate::tools::pypi;

/// Arguments about what is installed, and where.
#[derive(clap::Args)]
pub struct Install {
    /// The Python that makes the environments; MXNet's wheel requires a version before 3.12
    #[arg(long, value_name = "PATH", default_value = "python3")]
    pub base_python: PathBuf,
    /// Folder for installed peers [default: compare-score in cargo's target folder]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Install nothing; measure the peers that are installed
    #[arg(long)]
    pub offline: bool,
    /// Install the newest packages of the Python libraries, even if older ones are installed
    #[arg(long, conflicts_with = "offline")]
    pub upgrade_peers: bool,
}

impl Install {
    /// The folder for installed peers, which is created if it does not exist.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn folder(&self, session: &Session) -> Result<PathBuf> {
        let folder = self.cache.clone().unwrap_or_else(|| session.target_dir().join("compare-score"));
        std::fs::create_dir_all(&folder)?;
        Ok(folder.canonicalize()?)
    }
}

/// Python code that checks whether requirements are met, with pip's own parser of requirements.
const ASK: &str = "import sys; from importlib.metadata import version; \
                   from pip._vendor.packaging.requirements import Requirement; \
                   wanted = [Requirement(text) for text in sys.argv[1:]]; \
                   sys.exit(not all(r.specifier.contains(version(r.name), prereleases=True) for r in wanted))";

/// A virtual environment that this program manages.
pub struct Venv<'a> {
    install: &'a Install,
    folder: PathBuf,
}

impl<'a> Venv<'a> {
    /// The environment in this folder, which need not exist yet.
    pub fn new(install: &'a Install, folder: PathBuf) -> Self {
        Self { install, folder }
    }

    /// The Python program of the environment.
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    fn has(&self, packages: Packages) -> bool {
        Run::new(self.python(), ".").args(["-c", ASK]).args(packages.requirements).succeeds()
    }

    /// Makes sure that packages are installed, in their newest versions if upgrading was requested. Tries each set of pip
    /// flags until one works.
    ///
    /// # Errors
    /// Fails if nothing may be installed, or with pip's error.
    pub fn with(&self, packages: Packages) -> Result<()> {
        let is_there = self.has(packages);
        if is_there && !self.install.upgrade_peers {
            return Ok(());
        }
        let wanted = packages.requirements.join(", ");
        let upgrade: &[&str] = if self.install.upgrade_peers { &["--upgrade"] } else { &[] };
        ensure!(!self.install.offline, "{wanted} are not in {}, and --offline installs nothing", self.folder.display());
        let mut result = Ok(());
        for way in packages.ways {
            let arguments = [*way, upgrade, packages.requirements].concat();
            result = pypi::packages_into(&self.install.base_python, &self.folder, &arguments);
            if result.is_ok() {
                break;
            }
        }
        if let (Err(error), true) = (&result, is_there) {
            eprintln!("compare: {} stays as it is: {error:#}", packages.name);
            return Ok(());
        }
        result?;
        ensure!(self.has(packages), "installing did not bring {wanted}");
        Ok(())
    }
}

/// Whether installing succeeded; if not, prints the reason.
pub fn said(peer: &str, result: Result<()>) -> bool {
    if let Err(error) = &result {
        eprintln!("compare: going on without {peer}: {error:#}");
    }
    result.is_ok()
}

#[cfg(all(test, unix))]
pub mod tests {
    use std::path::Path;

    use super::super::score::packages;
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        install: Install,
    }

    fn install(words: &[&str]) -> Install {
        <Line as clap::Parser>::try_parse_from([&["compare"], words].concat()).unwrap().install
    }

    /// Writes a program that takes the place of Python in a test. It runs the shell script `script` instead.
    pub fn python(path: &Path, script: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A shell writes the file, not this process. Linux refuses to start a file that any process has open for writing,
        // and a process that another test starts at that moment briefly inherits this process's open files.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
        let written = std::process::Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(script).status();
        assert!(written.unwrap().success());
    }

    #[test]
    fn what_is_there_is_installed_again_when_asked_and_only_then() {
        let cache = tempfile::tempdir().unwrap();
        let (folder, log) = (cache.path().join("python"), cache.path().join("log"));
        // This Python reports every requirement as met.
        python(&folder.join("bin/python"), &format!("echo \"$@\" >> {}", log.display()));
        let said = |words: &[&str]| {
            std::fs::write(&log, "").unwrap();
            Venv::new(&install(words), folder.clone()).with(packages::TORCH).unwrap();
            std::fs::read_to_string(&log).unwrap()
        };
        let asked = said(&[]);
        assert!(asked.contains("torch>=2.4 torchvision>=") && !asked.contains("pip install"), "{asked}");
        let installed = said(&["--upgrade-peers"]);
        let line = installed.lines().find(|line| line.starts_with("-m pip install")).expect("pip was called");
        assert!(line.contains("--index-url https://download.pytorch.org/whl/cpu"), "{line}");
        assert!(line.ends_with("--upgrade torch>=2.4 torchvision>=0.19"), "{line}");
    }
}
