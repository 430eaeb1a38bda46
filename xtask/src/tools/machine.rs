//! The properties of the machine that set-up depends on: the folders with programs, and whether the user is root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::package_manager::PackageManager;

/// Folders to search for programs, and the user's rights.
pub struct Machine {
    /// Folders searched for programs, in order.
    pub search: Vec<PathBuf>,
    /// Whether the user is root, so that the package manager can install packages.
    pub is_root: bool,
}

impl Machine {
    /// This machine, with the folders of `PATH`.
    pub fn here() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = std::env::split_paths(&path).collect();
        let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
        let is_root = id.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "0");
        Machine { search, is_root }
    }

    /// The first of `programs` that exists and succeeds with `--version`. A file that does not run (a shim without its
    /// interpreter, a wrapper without its module) does not count.
    pub fn find(&self, programs: &[&str]) -> Option<PathBuf> {
        let candidates = programs.iter().flat_map(|program| self.search.iter().map(move |dir| dir.join(program)));
        candidates.filter(|path| path.is_file()).find(|path| answers(path))
    }

    /// The package manager of this system, if it is a supported one.
    pub fn package_manager(&self) -> Option<PackageManager> {
        PackageManager::ALL.into_iter().find(|manager| self.search.iter().any(|d| d.join(manager.program()).is_file()))
    }
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Makes a program that succeeds with `--version`: a link to cargo. (A script written by this process could still be open
/// for writing in a process that another test is starting, and would then not run.)
#[cfg(test)]
pub fn make_program(path: &Path) {
    std::os::unix::fs::symlink(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()), path).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_run_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let (broken, working) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::create_dir(&broken).unwrap();
        std::fs::write(broken.join("tool"), "not a program").unwrap();
        std::fs::create_dir(&working).unwrap();
        make_program(&working.join("tool"));
        let mut machine = Machine { search: vec![broken, working.clone()], is_root: false };
        assert_eq!(machine.find(&["tool"]), Some(working.join("tool")));
        machine.search.pop();
        assert_eq!(machine.find(&["tool"]), None);
    }

    #[test]
    fn names_are_tried_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        for program in ["clang++", "g++"] {
            make_program(&dir.path().join(program));
        }
        let machine = Machine { search: vec![dir.path().to_owned()], is_root: false };
        assert_eq!(machine.find(&["c++", "g++", "clang++"]), Some(dir.path().join("g++")));
    }
}
