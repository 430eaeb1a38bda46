//! Rule: members inherit the settings of the root manifest: version, edition, license, lints, versions of dependencies.

use anyhow::Result;
use toml::{Table, Value};

use super::Finding;
use crate::workspace::Workspace;

/// Fields of `[package]` that members inherit.
pub const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "repository"];

/// Finds members with a version, a license or a lint of their own.
///
/// # Errors
/// Never fails; the manifests have been read before.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        let path = member.dir.join("Cargo.toml");
        let Some(package) = member.manifest.get("package").and_then(Value::as_table) else { continue };
        for field in INHERITED {
            // A crate that contains sources of others has their license, and its metadata say so.
            let is_theirs = field == "license" && carries_sources_of_others(package);
            if !is_theirs && !package.get(field).is_some_and(from_workspace) {
                findings.push(Finding::in_file(&path, format!("write `{field}.workspace = true`")));
            }
        }
        match package.get("description").and_then(Value::as_str) {
            None | Some("placeholder" | "") => findings.push(Finding::in_file(&path, "needs a description")),
            Some(_) => {}
        }
        if !member.manifest.get("lints").is_some_and(from_workspace) {
            findings.push(Finding::in_file(&path, "write `[lints] workspace = true`"));
        }
        for (name, dependency) in dependencies(&member.manifest) {
            if !from_workspace(dependency) {
                let message =
                    format!("dependency `{name}` states its own version; move it to [workspace.dependencies]");
                findings.push(Finding::in_file(&path, message));
            }
        }
    }
    Ok(findings)
}

/// Whether `[package.metadata.mxrs] vendored = "…"` names the sources that the crate contains.
fn carries_sources_of_others(package: &Table) -> bool {
    let metadata = package.get("metadata").and_then(|metadata| metadata.get("mxrs"));
    metadata.and_then(|metadata| metadata.get("vendored")).is_some_and(Value::is_str)
}

fn from_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    tables.into_iter().filter_map(|table| manifest.get(table)?.as_table()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::{Sample, manifest};

    #[test]
    fn own_versions_are_found() {
        let sample = Sample::new();
        sample.write("crates/mxrs-env/Cargo.toml", &manifest("mxrs-env", "[dependencies]\nserde = \"1\"\n"));
        assert_eq!(
            sample.found(check),
            ["error: crates/mxrs-env/Cargo.toml: dependency `serde` states its own version; \
              move it to [workspace.dependencies]"]
        );
        let own = manifest("mxrs-env", "").replace("version.workspace = true\nedition", "version = \"2.0.0\"\nedition");
        sample.write("crates/mxrs-env/Cargo.toml", &own);
        assert_eq!(sample.found(check), ["error: crates/mxrs-env/Cargo.toml: write `version.workspace = true`"]);
    }

    #[test]
    fn a_license_of_its_own_needs_sources_of_others() {
        let sample = Sample::new();
        let own = |more: &str| manifest("mxrs-env", more).replace("license.workspace = true", "license = \"ISC\"");
        sample.write("crates/mxrs-env/Cargo.toml", &own(""));
        assert_eq!(sample.found(check), ["error: crates/mxrs-env/Cargo.toml: write `license.workspace = true`"]);
        sample.write("crates/mxrs-env/Cargo.toml", &own("[package.metadata.mxrs]\nvendored = \"a library\"\n"));
        assert_eq!(sample.found(check), [""; 0]);
    }

    #[test]
    fn missing_lints_and_description_are_found() {
        let sample = Sample::new();
        let bare =
            manifest("mxrs-env", "").replace("[lints]\nworkspace = true\n", "").replace("Something", "placeholder");
        sample.write("crates/mxrs-env/Cargo.toml", &bare);
        assert_eq!(sample.found(check).len(), 2);
    }
}
