//! The tool that compiling oneDNN needs, a C++ compiler: found on the machine, or installed by its package manager.
//!
//! This module only finds and installs; it does not depend on cargo or the workspace.

mod machine;
mod package_manager;
pub mod pypi;

use std::path::{Path, PathBuf};

use machine::Machine;
use package_manager::PackageManager;

/// Names of suitable compilers, best first.
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// The tools of this machine.
pub struct Tools {
    compiler: Option<PathBuf>,
}

impl Tools {
    /// Finds the compiler. If there is none, installs it if the user is root, and reports that on the error stream. If it
    /// cannot be installed, prints what to do and continues without it. Prints nothing if the compiler is found.
    pub fn find_or_install() -> Self {
        let tools = Tools { compiler: ensure(&Machine::here()) };
        if !tools.can_build_onednn() {
            eprintln!("setup: going on without oneDNN: mxrs is built with its own kernels only");
        }
        tools
    }

    /// Whether oneDNN can be compiled: there is a compiler, and the processor is x86-64, which the sources require.
    pub fn can_build_onednn(&self) -> bool {
        self.compiler.is_some() && cfg!(target_arch = "x86_64")
    }

    /// One line with the name and path of the tool, or that it is missing.
    pub fn line(&self) -> String {
        let place = self.compiler.as_deref().map_or("missing".into(), Path::to_string_lossy);
        format!("C++ compiler: {place}")
    }
}

fn ensure(machine: &Machine) -> Option<PathBuf> {
    // The compiler in `CXX` comes first, as in the build scripts.
    let named = std::env::var("CXX").unwrap_or_default();
    let programs: Vec<&str> = if named.is_empty() { COMPILERS.to_vec() } else { vec![&named] };
    if let Some(found) = machine.find(&programs) {
        return Some(found);
    }
    eprintln!("setup: no C++ compiler found ({})", programs.join(", "));
    let manager = machine.package_manager();
    if let Some(manager) = manager.filter(|_| machine.is_root && named.is_empty()) {
        eprintln!("setup: installing {} with {}", manager.compiler_package(), manager.program());
        match manager.install(manager.compiler_package()) {
            Ok(()) => {
                if let Some(found) = machine.find(&programs) {
                    return Some(found);
                }
                eprintln!("setup: that brought no working {}", programs.join(" or "));
            }
            Err(error) => eprintln!("setup: that did not work: {error:#}"),
        }
    }
    let package = manager.unwrap_or(PackageManager::AptGet).compiler_package();
    eprintln!("setup: install the package `{package}`, or name a compiler in CXX, to build with oneDNN");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_compiler_there_is_no_onednn() {
        let tools = Tools { compiler: None };
        assert!(!tools.can_build_onednn());
        assert_eq!(tools.line(), "C++ compiler: missing");
    }

    #[test]
    fn a_machine_with_nothing_gets_no_compiler() {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine { search: vec![dir.path().to_owned()], is_root: false };
        assert_eq!(ensure(&machine), None);
        machine::make_program(&dir.path().join("g++"));
        // If the environment of the test has `CXX`, that compiler is used and the search cannot be tested.
        if std::env::var_os("CXX").is_none() {
            assert_eq!(ensure(&machine), Some(dir.path().join("g++")));
        }
    }
}
