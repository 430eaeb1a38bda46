//! Rule: a crate depends only on crates listed above it in the root manifest, and not through a wall. Walls are dependencies
//! that the order would allow but the project forbids (`docs/ARCHITECTURE.md` lists them).
//!
//! A dev-dependency may also be a crate of [`FOR_TESTS`], wherever the crate is in the list.

use anyhow::Result;
use toml::{Table, Value};

use super::Finding;
use crate::workspace::{Member, Workspace};

/// A package that some crates below it in the list may not use.
struct Wall {
    /// Package name; a `*` at the end stands for any ending.
    package: &'static str,
    /// Whether the crate with this name may use the package.
    open_to: fn(&str) -> bool,
    /// The rule in words, for the message.
    sentence: &'static str,
}

/// Crates for tests, which tests of crates above them in the list may use too.
const FOR_TESTS: [&str; 2] = ["mxrs-testkit", "mxrs-simulated-gpu"];

const WALLS: [Wall; 8] = [
    Wall {
        package: "mxrs-backend-*",
        open_to: |user| user == "mxrs",
        sentence: "only the facade knows which backends exist",
    },
    Wall {
        package: "mxrs-onednn-src",
        open_to: |user| user == "mxrs-onednn-sys",
        sentence: "only the bindings link the source of oneDNN",
    },
    Wall {
        package: "mxrs-onednn-sys",
        open_to: |user| user == "mxrs-backend-onednn",
        sentence: "only the oneDNN backend knows a C type of oneDNN",
    },
    Wall { package: "mxrs-ops", open_to: |user| user != "mxrs-exec", sentence: "the executor knows no operator" },
    Wall {
        package: "mxrs-exec",
        open_to: |user| user != "mxrs-optim",
        sentence: "optimizers need arrays and no executor",
    },
    Wall { package: "mxrs-graph", open_to: |user| user != "mxrs-format", sentence: "a reader of files needs no graph" },
    Wall {
        package: "mxrs-simulated-gpu",
        open_to: |_| false,
        sentence: "the simulated GPU is for tests: make it a dev-dependency",
    },
    Wall { package: "mxrs*", open_to: |user| user != "xtask", sentence: "the runner knows no crate of the product" },
];

/// Finds dependencies on crates further down in the members list, and dependencies through a wall.
///
/// # Errors
/// Never fails; the manifests have been read before.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (floor, member) in workspace.members.iter().enumerate() {
        let path = member.dir.join("Cargo.toml");
        for used in used_by(member, &["dependencies", "build-dependencies"]) {
            if let Some(used_floor) = workspace.floor_of(&used) {
                if used_floor >= floor {
                    let message = format!("{} uses {used}, which is not above it in the members list", member.name);
                    findings.push(Finding::in_file(&path, message));
                }
                for wall in WALLS.iter().filter(|wall| matches(wall.package, &used) && !(wall.open_to)(&member.name)) {
                    let message = format!("{} uses {used}, but {}", member.name, wall.sentence);
                    findings.push(Finding::in_file(&path, message));
                }
            }
        }
        for used in used_by(member, &["dev-dependencies"]) {
            if !FOR_TESTS.contains(&used.as_str())
                && workspace.floor_of(&used).is_some_and(|used_floor| used_floor >= floor)
            {
                let message = format!("tests of {} use {used}, which is not above it in the members list", member.name);
                findings.push(Finding::in_file(&path, message));
            }
        }
    }
    Ok(findings)
}

/// The packages in these dependency tables, for all platforms, with their real names.
fn used_by(member: &Member, tables: &[&str]) -> Vec<String> {
    let platforms = member.manifest.get("target").and_then(Value::as_table);
    let platforms = platforms.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    let places: Vec<&Table> = std::iter::once(&member.manifest).chain(platforms).collect();
    let mut used = Vec::new();
    for place in places {
        for dependencies in tables.iter().filter_map(|table| place.get(*table)?.as_table()) {
            for (name, dependency) in dependencies {
                let package = dependency.get("package").and_then(Value::as_str).unwrap_or(name);
                used.push(package.to_owned());
            }
        }
    }
    used
}

fn matches(pattern: &str, package: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == package, |start| package.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::{Sample, manifest};

    fn with_dependency(table: &str, used: &str) -> Sample {
        let sample = Sample::new();
        let more = format!("[{table}]\n{used}.workspace = true\n");
        sample.write("crates/mxrs-env/Cargo.toml", &manifest("mxrs-env", &more));
        sample
    }

    #[test]
    fn an_edge_down_the_list_is_found() {
        let expected =
            "error: crates/mxrs-env/Cargo.toml: mxrs-env uses mxrs-ops, which is not above it in the members list";
        assert_eq!(with_dependency("dependencies", "mxrs-ops").found(check), [expected]);
        assert_eq!(with_dependency("build-dependencies", "mxrs-ops").found(check), [expected]);
        assert_eq!(with_dependency("target.'cfg(unix)'.dependencies", "mxrs-ops").found(check), [expected]);
        assert_eq!(with_dependency("dependencies", "mxrs-types").found(check), [""; 0]);
    }

    #[test]
    fn tests_may_use_the_testkit_and_nothing_else_from_below() {
        assert_eq!(with_dependency("dev-dependencies", "mxrs-testkit").found(check), [""; 0]);
        assert_eq!(with_dependency("dev-dependencies", "mxrs-ops").found(check).len(), 1);
    }

    #[test]
    fn a_renamed_dependency_is_seen() {
        let sample = Sample::new();
        let more = "[dependencies]\nkernels = { workspace = true, package = \"mxrs-ops\" }\n";
        sample.write("crates/mxrs-env/Cargo.toml", &manifest("mxrs-env", more));
        assert_eq!(sample.found(check).len(), 1);
    }

    #[test]
    fn a_wall_holds_even_where_the_order_would_allow() {
        let sample = Sample::new();
        sample.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n");
        sample.write("a/Cargo.toml", &manifest("mxrs-backend-onednn", ""));
        let uses = "[dependencies]\nmxrs-backend-onednn.workspace = true\n";
        sample.write("b/Cargo.toml", &manifest("mxrs-exec", uses));
        let expected =
            "error: b/Cargo.toml: mxrs-exec uses mxrs-backend-onednn, but only the facade knows which backends exist";
        assert_eq!(sample.found(check), [expected]);
        sample.write("b/Cargo.toml", &manifest("mxrs", uses));
        assert_eq!(sample.found(check), [""; 0]);
    }
}
