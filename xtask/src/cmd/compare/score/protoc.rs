//! Finds or installs the protocol buffer compiler, which the build of Candle's ONNX reader calls: the system's program, or
//! the one in PyPI's package `grpcio-tools`, which runs as a Python module.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Args, packages};
use crate::process::Run;
use crate::tools::pypi;

/// Name of the environment variable with the compiler's path.
pub const VARIABLE: &str = "PROTOC";

/// The path that `PROTOC` must have in the build; `None` if the build finds a compiler by itself.
///
/// # Errors
/// Fails if there is no compiler and none can be installed below `cache`.
pub fn find_or_install(args: &Args, cache: &Path) -> Result<Option<PathBuf>> {
    let is_there = std::env::var_os(VARIABLE).is_some() || Run::new("protoc", ".").args(["--version"]).succeeds();
    if is_there {
        return Ok(None);
    }
    let folder = cache.join("protoc");
    let python = folder.join("bin/python");
    if !Run::new(&python, ".").args(["-m", MODULE, "--version"]).succeeds() {
        pypi::packages_into(&args.install.base_python, &folder, packages::PROTOC.requirements)?;
    }
    let program = folder.join("bin/protoc");
    write_program(&program, &python).with_context(|| format!("writing {}", program.display()))?;
    Ok(Some(program))
}

const MODULE: &str = "grpc_tools.protoc";

/// Writes `program`, a shell script that runs the compiler as a module of this Python.
fn write_program(program: &Path, python: &Path) -> std::io::Result<()> {
    let quoted = python.display().to_string().replace('\'', "'\\''");
    std::fs::write(program, format!("#!/bin/sh\nexec '{quoted}' -m {MODULE} \"$@\"\n"))?;
    #[cfg(unix)]
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_program_calls_the_module_with_all_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("a python's");
        std::fs::write(&python, "#!/bin/sh\nprintf '%s|' \"$@\"\n").unwrap();
        std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let program = folder.path().join("protoc");
        write_program(&program, &python).unwrap();
        let said = Run::new(&program, ".").args(["-I", "a b", "c.proto"]).capture().unwrap();
        assert_eq!(said.trim(), "-m|grpc_tools.protoc|-I|a b|c.proto|");
    }
}
