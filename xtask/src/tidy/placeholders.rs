//! Rule: the code contains no placeholder macros (`todo!`, `unimplemented!`).

use anyhow::Result;

use super::Finding;
use super::source::{Source, words};
use crate::workspace::Workspace;

/// The placeholder macros, without their exclamation mark.
const MACROS: [&str; 2] = ["todo", "unimplemented"];

/// Finds placeholder macros.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in Source::of_members(workspace, |_| true)? {
        for (line, code) in source.code() {
            for name in MACROS {
                if words(code, name).any(|at| code[at + name.len()..].starts_with("!(")) {
                    findings.push(Finding::on_line(&source.path, line, format!("`{name}!` is left in the code")));
                }
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    #[test]
    fn placeholders_are_found_outside_comments() {
        let sample = Sample::new();
        for name in MACROS {
            let code = format!("//! Env.\n// {name}!() in a comment\nfn f() {{ {name}!() }}\n");
            sample.write("crates/mxrs-env/src/lib.rs", &code);
            let expected = format!("error: crates/mxrs-env/src/lib.rs:3: `{name}!` is left in the code");
            assert_eq!(sample.found(check), [expected]);
        }
    }
}
