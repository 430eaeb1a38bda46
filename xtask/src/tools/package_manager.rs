//! The system's package managers: their commands to install a package, and the name of their C++ compiler package.

use anyhow::Result;

use crate::process::Run;

/// A supported package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageManager {
    /// apt-get of Debian and Ubuntu.
    AptGet,
    /// dnf of Fedora, RHEL and relatives.
    Dnf,
    /// apk of Alpine.
    Apk,
}

impl PackageManager {
    /// All package managers, in the order in which they are searched for.
    pub const ALL: [PackageManager; 3] = [PackageManager::AptGet, PackageManager::Dnf, PackageManager::Apk];

    /// Name of the program.
    pub fn program(self) -> &'static str {
        match self {
            PackageManager::AptGet => "apt-get",
            PackageManager::Dnf => "dnf",
            PackageManager::Apk => "apk",
        }
    }

    /// Name of the package with a C++ compiler.
    pub fn compiler_package(self) -> &'static str {
        match self {
            PackageManager::AptGet | PackageManager::Apk => "g++",
            PackageManager::Dnf => "gcc-c++",
        }
    }

    /// Installs one package without asking questions.
    ///
    /// # Errors
    /// Fails if the package manager cannot be started or fails.
    pub fn install(self, package: &str) -> Result<()> {
        for args in self.commands(package) {
            Run::new(self.program(), "/").args(args).env("DEBIAN_FRONTEND", "noninteractive").stream()?;
        }
        Ok(())
    }

    fn commands(self, package: &str) -> Vec<Vec<&str>> {
        match self {
            // `update` comes first, because a new system image has no package lists.
            PackageManager::AptGet => {
                vec![vec!["update", "-q"], vec!["install", "-y", "-q", "--no-install-recommends", package]]
            }
            PackageManager::Dnf => vec![vec!["install", "-y", package]],
            PackageManager::Apk => vec![vec!["add", "--no-cache", package]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_the_last_word_of_the_last_command() {
        for manager in PackageManager::ALL {
            let commands = manager.commands("cmake");
            assert_eq!(commands.last().and_then(|args| args.last()), Some(&"cmake"), "{manager:?}");
        }
    }

    #[test]
    fn apt_refreshes_its_lists_first() {
        assert_eq!(PackageManager::AptGet.commands("cmake")[0], ["update", "-q"]);
    }
}
