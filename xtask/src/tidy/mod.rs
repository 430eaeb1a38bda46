//! The project's own rules: what neither rustc nor clippy knows. One rule per file, each with a tree that breaks it.
//!
//! A rule reads the workspace as it lies on disk and returns what it found; it builds nothing and runs nothing.

mod catalog;
mod code_map;
mod env_reads;
mod file_length;
mod invariants;
mod manifests;
mod module_docs;
mod placeholders;
mod source;
mod unsafe_code;
mod walls;
pub mod words;

#[cfg(test)]
mod sample;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::workspace::Workspace;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Fails the check.
    Error,
    /// Is printed.
    Warning,
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it fails the check.
    pub level: Level,
    /// File, with a line where one is to blame.
    pub place: String,
    /// What is wrong there and what to do.
    pub message: String,
}

impl Finding {
    /// An error in a whole file.
    fn in_file(path: &Path, message: impl Into<String>) -> Self {
        Finding { level: Level::Error, place: path.display().to_string(), message: message.into() }
    }

    /// An error on one line (counted from 1) of a file.
    fn on_line(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Finding { level: Level::Error, place: format!("{}:{line}", path.display()), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        write!(f, "{level}: {}: {}", self.place, self.message)
    }
}

/// A rule: what it finds in a workspace.
type Rule = fn(&Workspace) -> Result<Vec<Finding>>;

/// Every rule.
const RULES: [Rule; 11] = [
    manifests::check,
    walls::check,
    env_reads::check,
    module_docs::check,
    catalog::check,
    code_map::check,
    unsafe_code::check,
    file_length::check,
    placeholders::check,
    invariants::check,
    words::check,
];

/// All findings of all rules.
///
/// # Errors
/// A file of the workspace cannot be read.
pub fn findings(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for rule in RULES {
        findings.extend(rule(workspace)?);
    }
    Ok(findings)
}
