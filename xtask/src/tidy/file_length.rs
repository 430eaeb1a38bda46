//! Rule: a file has one subject. More than 400 lines are a warning that it may have two; more than 800 are an error.

use anyhow::Result;

use super::source::Source;
use super::{Finding, Level};
use crate::workspace::Workspace;

const LONG: usize = 400;
const TOO_LONG: usize = 800;

/// Finds long files. Tests and generated files may have any length.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in Source::of_members(workspace, |_| true)? {
        let n_lines = source.text.lines().count();
        if n_lines <= LONG || source.is_test() || source.is_generated() {
            continue;
        }
        let message = format!("{n_lines} lines; a file that needs a table of contents wants to be a folder");
        let level = if n_lines > TOO_LONG { Level::Error } else { Level::Warning };
        findings.push(Finding { level, ..Finding::in_file(&source.path, message) });
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    #[test]
    fn long_warns_and_too_long_fails() {
        let sample = Sample::new();
        for (n_lines, level) in [(400, None), (401, Some("warning")), (801, Some("error"))] {
            sample.write("crates/mxrs-env/src/lib.rs", &"//! x\n".repeat(n_lines));
            let found = sample.found(check);
            assert_eq!(found.first().and_then(|finding| finding.split(':').next()), level, "{n_lines} lines");
        }
        sample.write("crates/mxrs-env/src/lib.rs", "//! x\n");
        sample.write("crates/mxrs-env/src/lib/tests.rs", &"//! x\n".repeat(900));
        sample.write("crates/mxrs-env/tests/golden.rs", &"//! x\n".repeat(900));
        assert_eq!(sample.found(check), [""; 0]);
    }
}
