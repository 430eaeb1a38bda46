//! Packages from PyPI in virtual environments: peers that `compare score` runs, and the programs it needs.

use std::path::Path;

use anyhow::Result;

use crate::process::Run;

/// Makes the virtual environment `venv`, if need be, and installs there what pip's arguments name.
///
/// # Errors
/// Python has no venv or pip, or PyPI cannot be reached.
pub fn packages_into(python: &Path, venv: &Path, arguments: &[&str]) -> Result<()> {
    std::fs::create_dir_all(venv)?;
    let its_python = venv.join("bin/python");
    let pip_works = || Run::new(&its_python, venv).args(["-m", "pip", "--version"]).succeeds();
    if !pip_works() {
        Run::new(python, venv).args(["-m", "venv", "--clear"]).arg(venv).stream()?;
    }
    let pip = Run::new(&its_python, venv).args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]);
    // A compiled wheel or nothing: building one of these from source would take hours.
    pip.arg("--only-binary=:all:").args(arguments).stream()
}
