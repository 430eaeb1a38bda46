//! Installs packages from PyPI into virtual environments: the libraries that `compare score` measures, and programs
//! that it needs.

use std::path::Path;

use anyhow::Result;

use crate::process::Run;

/// Creates the virtual environment `venv` if it does not work yet, and runs pip with these arguments to install packages
/// there.
///
/// # Errors
/// Fails if Python has no venv or pip, or if pip cannot install the packages.
pub fn packages_into(python: &Path, venv: &Path, arguments: &[&str]) -> Result<()> {
    std::fs::create_dir_all(venv)?;
    let its_python = venv.join("bin/python");
    let pip_works = || Run::new(&its_python, venv).args(["-m", "pip", "--version"]).succeeds();
    if !pip_works() {
        Run::new(python, venv).args(["-m", "venv", "--clear"]).arg(venv).stream()?;
    }
    let pip = Run::new(&its_python, venv).args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]);
    // Only compiled wheels are installed, because building such a package from source could take hours.
    pip.arg("--only-binary=:all:").args(arguments).stream()
}
