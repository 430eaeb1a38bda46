//! What compiling oneDNN needs (a C++ compiler, CMake, make or Ninja): found on the machine, or installed.
//!
//! Knows how to find and install; knows nothing of cargo or of the workspace beyond the folder for its own tools.
//! As root the system's package manager installs; otherwise, or where that fails, PyPI's wheels go into a folder of
//! ours: `.tools` at the root of the clone, or the folder named by `MXRS_TOOLS_DIR`.

mod machine;
mod package_manager;
pub mod pypi;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use machine::Machine;
use package_manager::PackageManager;

/// One tool the build may need.
pub struct Tool {
    /// What messages call it.
    name: &'static str,
    /// The programs that will do, best first.
    programs: &'static [&'static str],
    /// The package of the system's package manager, by manager.
    package: fn(PackageManager) -> &'static str,
    /// The project on PyPI that carries the program, if one does.
    pypi: Option<&'static str>,
}

const COMPILER: Tool = Tool {
    name: "C++ compiler",
    programs: &["c++", "g++", "clang++"],
    package: PackageManager::compiler_package,
    pypi: None,
};
const CMAKE: Tool = Tool { name: "CMake", programs: &["cmake"], package: |_| "cmake", pypi: Some("cmake") };
const MAKE: Tool =
    Tool { name: "make or Ninja", programs: &["make", "ninja"], package: |_| "make", pypi: Some("ninja") };

/// A way to install a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Installer {
    System(PackageManager),
    /// Into a virtual environment in our folder.
    Venv {
        python: PathBuf,
    },
    /// Into a plain folder: for a Python whose venv module lacks pip.
    PipTarget {
        python: PathBuf,
    },
}

/// The tools of this machine.
pub struct Tools {
    compiler: Option<PathBuf>,
    cmake: Option<PathBuf>,
    make: Option<PathBuf>,
    own_dir: PathBuf,
}

impl Tools {
    /// No tools: for commands that need Rust alone.
    pub fn none() -> Self {
        Tools { compiler: None, cmake: None, make: None, own_dir: PathBuf::new() }
    }

    /// Finds the tools and installs what is missing, saying on the error stream what it installs and how.
    /// What cannot be installed stays missing, with the remedy printed; silent when all is found.
    pub fn find_or_install(root: &Path) -> Self {
        let own_dir = root.join(std::env::var_os("MXRS_TOOLS_DIR").unwrap_or_else(|| ".tools".into()));
        let machine = Machine::here(&own_dir);
        let mut tools = Tools { own_dir, ..Tools::none() };
        tools.compiler = ensure(&COMPILER, &machine);
        if tools.compiler.is_some() {
            tools.cmake = ensure(&CMAKE, &machine);
            tools.make = ensure(&MAKE, &machine);
        }
        if !tools.can_build_onednn() {
            eprintln!("setup: going on without oneDNN: mxrs is built with --no-default-features (reference kernels)");
        }
        tools
    }

    /// True if oneDNN can be compiled here.
    pub fn can_build_onednn(&self) -> bool {
        self.compiler.is_some() && self.cmake.is_some() && self.make.is_some()
    }

    /// Environment variables that lead cargo's build scripts to the tools installed by us.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = Vec::new();
        let own = |tool: &Option<PathBuf>| tool.clone().filter(|path| path.starts_with(&self.own_dir));
        let dirs: Vec<_> = [own(&self.cmake), own(&self.make)]
            .iter()
            .flatten()
            .filter_map(|t| t.parent().map(PathBuf::from))
            .collect();
        if !dirs.is_empty() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            if let Ok(path) = std::env::join_paths(dirs.into_iter().chain(std::env::split_paths(&path))) {
                variables.push(("PATH".into(), path));
            }
        }
        if let Some(cmake) = own(&self.cmake) {
            variables.push(("CMAKE".into(), cmake.into()));
        }
        // CMake itself prefers make; only the lack of it has to be said.
        if self.make.as_ref().is_some_and(|path| path.file_stem().is_some_and(|stem| stem == "ninja")) {
            variables.push(("CMAKE_GENERATOR".into(), "Ninja".into()));
        }
        variables
    }

    /// One line per tool: what it is and where, or that it is missing.
    pub fn lines(&self) -> Vec<String> {
        let all = [(&COMPILER, &self.compiler), (&CMAKE, &self.cmake), (&MAKE, &self.make)];
        let place = |path: &Option<PathBuf>| path.as_ref().map_or("missing".to_owned(), |p| p.display().to_string());
        all.iter().map(|(tool, path)| format!("{}: {}", tool.name, place(path))).collect()
    }
}

/// Finds a tool, or installs it by the first way that works.
fn ensure(tool: &Tool, machine: &Machine) -> Option<PathBuf> {
    if let Some(found) = machine.find(tool.programs) {
        return Some(found);
    }
    eprintln!("setup: no {} found", tool.name);
    for installer in plan(tool, machine) {
        eprintln!("setup: installing {} {}", tool.name, installer.describe(machine));
        match installer.install(tool, machine) {
            Ok(()) => {
                if let Some(found) = machine.find(tool.programs) {
                    eprintln!("setup: {} is ready: {}", tool.name, found.display());
                    return Some(found);
                }
                eprintln!("setup: that brought no working {}", tool.programs.join(" or "));
            }
            Err(error) => eprintln!("setup: that did not work: {error:#}"),
        }
    }
    let package = (tool.package)(machine.package_manager().unwrap_or(PackageManager::AptGet));
    eprintln!("setup: cannot install {} here; install the package `{package}` to build with oneDNN", tool.name);
    None
}

/// The ways open on this machine, best first.
fn plan(tool: &Tool, machine: &Machine) -> Vec<Installer> {
    let mut ways = Vec::new();
    if machine.is_root
        && let Some(manager) = machine.package_manager()
    {
        ways.push(Installer::System(manager));
    }
    if tool.pypi.is_some()
        && let Some(python) = machine.find(&["python3", "python"])
    {
        ways.push(Installer::Venv { python: python.clone() });
        ways.push(Installer::PipTarget { python });
    }
    ways
}

impl Installer {
    fn describe(&self, machine: &Machine) -> String {
        match self {
            Installer::System(manager) => format!("with {}", manager.program()),
            Installer::Venv { .. } => format!("from PyPI into {}", machine.own_dir.join(pypi::VENV).display()),
            Installer::PipTarget { .. } => format!("from PyPI into {}", machine.own_dir.join(pypi::FOLDER).display()),
        }
    }

    fn install(&self, tool: &Tool, machine: &Machine) -> Result<()> {
        match (self, tool.pypi) {
            (Installer::System(manager), _) => manager.install((tool.package)(*manager)),
            (Installer::Venv { python }, Some(project)) => pypi::into_venv(python, project, &machine.own_dir),
            (Installer::PipTarget { python }, Some(project)) => pypi::into_folder(python, project, &machine.own_dir),
            (_, None) => anyhow::bail!("PyPI has no {}", tool.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with the named programs, each of which answers `--version`.
    fn machine(dir: &Path, programs: &[&str], is_root: bool) -> Machine {
        let bin = dir.join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for program in programs {
            machine::make_program(&bin.join(program));
        }
        Machine { search: vec![bin], own_dir: dir.join("own"), is_root }
    }

    #[test]
    fn root_asks_the_package_manager_first() {
        let dir = tempfile::tempdir().unwrap();
        let machine = machine(dir.path(), &["apt-get", "python3"], true);
        let python = dir.path().join("bin/python3");
        let ways = [
            Installer::System(PackageManager::AptGet),
            Installer::Venv { python: python.clone() },
            Installer::PipTarget { python },
        ];
        assert_eq!(plan(&CMAKE, &machine), ways);
    }

    #[test]
    fn others_go_to_pypi_and_a_compiler_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let machine = machine(dir.path(), &["apt-get", "python3"], false);
        assert!(matches!(plan(&CMAKE, &machine)[0], Installer::Venv { .. }));
        assert_eq!(plan(&COMPILER, &machine), []);
    }

    #[test]
    fn a_tool_of_ours_is_named_to_the_build_scripts() {
        let own_dir = PathBuf::from("/clone/.tools");
        let cmake = own_dir.join("venv/bin/cmake");
        let make = own_dir.join("venv/bin/ninja");
        let tools =
            Tools { compiler: Some("/usr/bin/c++".into()), cmake: Some(cmake.clone()), make: Some(make), own_dir };
        assert!(tools.can_build_onednn());
        let variables = tools.variables();
        let value = |name: &str| variables.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        assert_eq!(value("CMAKE"), Some(cmake.into()));
        assert_eq!(value("CMAKE_GENERATOR"), Some("Ninja".into()));
        assert!(value("PATH").unwrap().to_string_lossy().starts_with("/clone/.tools/venv/bin"));
    }

    #[test]
    fn tools_of_the_system_need_no_variables() {
        let tools = Tools {
            compiler: Some("/usr/bin/c++".into()),
            cmake: Some("/usr/bin/cmake".into()),
            make: Some("/usr/bin/make".into()),
            own_dir: "/clone/.tools".into(),
        };
        assert_eq!(tools.variables(), []);
    }
}
