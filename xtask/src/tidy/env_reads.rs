//! Rule: only `mxrs-env` reads environment variables. The runner, fuzz targets and build scripts are exempt, because they
//! are not part of the product.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use super::source::{Source, words};
use crate::workspace::Workspace;

/// The functions of `std::env` that read variables.
const READERS: [&str; 4] = ["var", "var_os", "vars", "vars_os"];

/// Finds reads of the environment outside `mxrs-env`.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in Source::of_members(workspace, |name| name != "mxrs-env" && name != "xtask")? {
        if is_build_script(&source.path) {
            continue;
        }
        for (line, code) in source.code() {
            if reads(code) {
                let message = "reads the environment; only mxrs-env does, and hands settings down as typed structs";
                findings.push(Finding::on_line(&source.path, line, message));
            }
        }
    }
    Ok(findings)
}

/// Whether the path is a `build.rs`, or is in a folder `build` next to `src`.
fn is_build_script(path: &Path) -> bool {
    let in_folder = path.parent().is_some_and(|dir| dir.ends_with("build"));
    path.ends_with("build.rs") || in_folder && !path.components().any(|part| part.as_os_str() == "src")
}

/// Whether the code has `env::var…` with any path before it, or `use std::env::{…, var}`.
fn reads(code: &str) -> bool {
    words(code, "env").any(|at| {
        let Some(rest) = code[at + "env".len()..].strip_prefix("::") else { return false };
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split('}').next().unwrap_or(group);
                READERS.iter().any(|reader| words(group, reader).next().is_some())
            }
            None => READERS.iter().any(|reader| words(rest, reader).next() == Some(0)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    #[test]
    fn a_read_outside_mxrs_env_is_found() {
        let sample = Sample::new();
        sample.write("crates/mxrs-ops/src/nn/relu.rs", "//! relu.\nlet n = std::env::var(\"N\");\n");
        sample.write("crates/mxrs-env/src/snapshot.rs", "//! Snapshot.\nlet all = std::env::vars_os();\n");
        sample.write("crates/mxrs-ops/build.rs", "//! Build.\nlet out = std::env::var(\"OUT_DIR\");\n");
        sample.write("crates/mxrs-ops/build/main.rs", "//! Build.\nlet out = std::env::var(\"OUT_DIR\");\n");
        let found = sample.found(check);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("error: crates/mxrs-ops/src/nn/relu.rs:2: reads the environment"), "{}", found[0]);
    }

    #[test]
    fn every_spelling_is_seen_and_neighbors_are_not() {
        for code in ["std::env::var_os(\"A\")", "env::vars()", "use std::env::{self, var};", "use std::env::var;"] {
            assert!(reads(code), "{code}");
        }
        for code in ["env!(\"A\")", "mxrs_env::vars()", "env::variables()", "std::env::args()", "use std::env::{args};"]
        {
            assert!(!reads(code), "{code}");
        }
    }
}
