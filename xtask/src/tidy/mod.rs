//! The project's own rules, which neither rustc nor clippy checks. Each file holds one rule and tests it on a small
//! workspace that breaks it.
//!
//! A rule reads the files of the workspace and returns its findings. It builds nothing and runs nothing.

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

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Fails the check.
    Error,
    /// Is printed but does not fail the check.
    Warning,
}

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether the finding fails the check.
    pub level: Level,
    /// Path of the file, with a line number if the finding belongs to one line.
    pub place: String,
    /// Description of the violation, and how to fix it.
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

/// A rule: a function that returns its findings in a workspace.
type Rule = fn(&Workspace) -> Result<Vec<Finding>>;

/// All rules.
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

/// Findings of all rules.
///
/// # Errors
/// Fails if a file of the workspace cannot be read.
pub fn findings(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for rule in RULES {
        findings.extend(rule(workspace)?);
    }
    Ok(findings)
}
