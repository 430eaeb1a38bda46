//! Rule: a crate allows unsafe code if and only if its manifest gives the reason, in `[package.metadata.mxrs] unsafe`.

use anyhow::Result;

use super::Finding;
use super::source::Source;
use crate::workspace::Workspace;

/// Finds crates that allow unsafe code without giving a reason, or give a reason without allowing unsafe code.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let allow = ["#![allow", "(unsafe_code)]"].concat();
    let mut findings = Vec::new();
    for member in &workspace.members {
        let heads = ["src/lib.rs", "src/main.rs"].map(|head| workspace.root.join(&member.dir).join(head));
        let mut allows = false;
        for head in heads.iter().filter(|head| head.is_file()) {
            allows |= Source::read(workspace, head)?.code().any(|(_, code)| code.trim() == allow);
        }
        let message = match (allows, member.unsafe_reason()) {
            (true, None) => "allows unsafe code; give the reason in `[package.metadata.mxrs] unsafe`",
            (true, Some("")) => "the reason in `[package.metadata.mxrs] unsafe` is empty",
            (false, Some(_)) => "gives a reason for unsafe code that the crate does not allow; remove one or the other",
            (true, Some(_)) | (false, None) => continue,
        };
        findings.push(Finding::in_file(&member.dir.join("Cargo.toml"), message));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::{Sample, manifest};

    #[test]
    fn each_half_without_the_other_is_found() {
        let sample = Sample::new();
        let reason = "[package.metadata.mxrs]\nunsafe = \"raw buffers\"\n";
        let with_reason = manifest("mxrs-env", reason);
        let head = format!("//! Env.\n#![allow{}\n", "(unsafe_code)]");
        sample.write("crates/mxrs-env/src/lib.rs", &head);
        assert!(sample.found(check)[0].contains("allows unsafe code"));
        sample.write("crates/mxrs-env/Cargo.toml", &with_reason);
        assert_eq!(sample.found(check), [""; 0]);
        sample.write("crates/mxrs-env/src/lib.rs", "//! Env.\n");
        assert!(sample.found(check)[0].contains("does not allow"));
    }
}
