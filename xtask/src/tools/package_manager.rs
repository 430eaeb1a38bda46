//! The system's package managers: how each is asked for a package, and what it calls a C++ compiler.

use anyhow::Result;

use crate::process::Run;

/// A package manager we know how to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageManager {
    /// Debian, Ubuntu.
    AptGet,
    /// Fedora, RHEL and relatives.
    Dnf,
    /// Alpine.
    Apk,
}

impl PackageManager {
    /// All of them, in the order they are looked for.
    pub const ALL: [PackageManager; 3] = [PackageManager::AptGet, PackageManager::Dnf, PackageManager::Apk];

    /// The program's name.
    pub fn program(self) -> &'static str {
        match self {
            PackageManager::AptGet => "apt-get",
            PackageManager::Dnf => "dnf",
            PackageManager::Apk => "apk",
        }
    }

    /// The package with a C++ compiler.
    pub fn compiler_package(self) -> &'static str {
        match self {
            PackageManager::AptGet | PackageManager::Apk => "g++",
            PackageManager::Dnf => "gcc-c++",
        }
    }

    /// Installs one package, asking no questions.
    ///
    /// # Errors
    /// The manager cannot be started, or refuses.
    pub fn install(self, package: &str) -> Result<()> {
        for args in self.commands(package) {
            Run::new(self.program(), "/").args(args).env("DEBIAN_FRONTEND", "noninteractive").stream()?;
        }
        Ok(())
    }

    fn commands(self, package: &str) -> Vec<Vec<&str>> {
        match self {
            // A fresh image has no package lists at all.
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
