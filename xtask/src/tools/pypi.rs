//! Tools from PyPI, whose `cmake` and `ninja` wheels carry the real programs: for users without root.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::process::Run;

/// The virtual environment, below our tool folder.
pub const VENV: &str = "venv";
/// The plain folder used where no virtual environment can be made, below our tool folder.
pub const FOLDER: &str = "py";

/// Folders below `own_dir` where installed programs are, best first.
pub fn program_dirs(own_dir: &Path) -> Vec<PathBuf> {
    let folder = own_dir.join(FOLDER);
    vec![
        own_dir.join(VENV).join("bin"),
        // The `cmake` script in `bin` would not find its module; the binary in the wheel needs none.
        folder.join("cmake/data/bin"),
        folder.join("bin"),
    ]
}

/// Makes the virtual environment, if need be, and installs `project` there.
///
/// # Errors
/// Python has no venv or pip, or PyPI cannot be reached.
pub fn into_venv(python: &Path, project: &str, own_dir: &Path) -> Result<()> {
    packages_into(python, &own_dir.join(VENV), &[project])
}

/// Makes the virtual environment `venv`, if need be, and installs there what pip's arguments name.
///
/// # Errors
/// As [`into_venv`].
pub fn packages_into(python: &Path, venv: &Path, arguments: &[&str]) -> Result<()> {
    std::fs::create_dir_all(venv)?;
    let its_python = venv.join("bin/python");
    let pip_works = || Run::new(&its_python, venv).args(["-m", "pip", "--version"]).succeeds();
    if !pip_works() {
        Run::new(python, venv).args(["-m", "venv", "--clear"]).arg(venv).stream()?;
    }
    pip_install(&its_python, venv).args(arguments).stream()
}

/// Installs `project` into the plain folder.
///
/// # Errors
/// Python has no pip, or PyPI cannot be reached.
pub fn into_folder(python: &Path, project: &str, own_dir: &Path) -> Result<()> {
    std::fs::create_dir_all(own_dir)?;
    pip_install(python, own_dir).arg("--upgrade").arg("--target").arg(own_dir.join(FOLDER)).arg(project).stream()
}

fn pip_install(python: &Path, own_dir: &Path) -> Run {
    let pip = Run::new(python, own_dir).args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]);
    // A compiled wheel or nothing: building CMake from source would take longer than what it is for.
    pip.arg("--only-binary=:all:")
}
