//! A small workspace on disk that satisfies every rule. The test of each rule changes it so that it breaks the rule.

use std::path::Path;

use tempfile::TempDir;

use super::{Finding, Rule};
use crate::workspace::Workspace;

/// The sample workspace; its folder is removed when dropped.
pub struct Sample(TempDir);

const MEMBERS: [(&str, &str); 4] = [
    ("crates/mxrs-types", "mxrs-types"),
    ("crates/mxrs-env", "mxrs-env"),
    ("crates/mxrs-testkit", "mxrs-testkit"),
    ("crates/mxrs-ops", "mxrs-ops"),
];

impl Sample {
    /// Creates four crates in the order of their dependencies, and the documents that list them.
    pub fn new() -> Self {
        let sample = Sample(tempfile::tempdir().unwrap());
        let list: Vec<_> = MEMBERS.iter().map(|(dir, _)| format!("{dir:?}")).collect();
        sample.write("Cargo.toml", &format!("[workspace]\nmembers = [{}]\n", list.join(", ")));
        for (dir, name) in MEMBERS {
            sample.write(&format!("{dir}/Cargo.toml"), &manifest(name, ""));
            sample.write(&format!("{dir}/src/lib.rs"), "//! What this is.\n");
        }
        let rows: String = MEMBERS.iter().map(|(_, name)| format!("| `{name}` | what it is |\n")).collect();
        sample
            .write("docs/ARCHITECTURE.md", &format!("# A\n\n## Code map\n\n| crate | |\n|---|---|\n{rows}\n## More\n"));
        sample.write("README.md", &format!("# R\n\n## Crates\n\n| crate | |\n|---|---|\n{rows}\n## More\n"));
        sample.write("crates/mxrs-ops/src/catalog.rs", "//! All operators.\nlist![nn::relu::RELU];\n");
        sample.write("crates/mxrs-ops/src/nn/mod.rs", "//! Networks.\nmod relu;\n");
        sample.write("crates/mxrs-ops/src/nn/relu.rs", "//! relu.\npub const RELU: OpDef = relu();\n");
        sample
    }

    /// Writes one file of the workspace and creates its folders.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Lowers the limits of refused phrases.
    pub fn lower_words(&self) {
        super::words::lower(&Workspace::load(self.0.path()).unwrap()).unwrap();
    }

    /// The printed findings of `rule` in the workspace as it is now.
    pub fn found(&self, rule: Rule) -> Vec<String> {
        let workspace = Workspace::load(self.0.path()).unwrap();
        rule(&workspace).unwrap().iter().map(Finding::to_string).collect()
    }
}

/// A manifest that satisfies the rules, with `more` after the package table.
pub fn manifest(name: &str, more: &str) -> String {
    let inherited = super::manifests::INHERITED.map(|field| format!("{field}.workspace = true\n")).concat();
    let package = format!("[package]\nname = {name:?}\ndescription = \"Something\"\n{inherited}");
    format!("{package}{more}\n[lints]\nworkspace = true\n")
}

#[test]
fn the_sample_keeps_every_rule() {
    let sample = Sample::new();
    for rule in super::RULES {
        assert_eq!(sample.found(rule), [""; 0]);
    }
}
