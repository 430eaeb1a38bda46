//! Rule: every operator file of `mxrs-ops` is in its catalog, because operators are not registered automatically at link
//! time.
//!
//! A file in a subfolder of `src` is an operator file, unless it defines no `OpDef` and another file uses it. If an operator
//! has a folder of its own, the folder's `mod.rs` defines the operator and must use the folder's other files. A companion
//! operator is declared by the file of another operator, with `<file>::define()`. The catalog reaches the companion through
//! that other operator.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use super::source::{Source, words};
use crate::workspace::{Workspace, rust_files};

const OPS: &str = "mxrs-ops";
/// The folders without operator files: code that operators share, and tables whose lines are operators.
const SHARED: [&str; 2] = ["families", "tables"];

/// Finds operator files that the catalog does not mention.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let Some(floor) = workspace.floor_of(OPS) else { return Ok(Vec::new()) };
    let src = workspace.root.join(&workspace.members[floor].dir).join("src");
    let catalog_path = src.join("catalog.rs");
    if !catalog_path.is_file() {
        return Ok(vec![Finding::in_file(workspace.relative(&catalog_path), "there is no catalog")]);
    }
    let catalog = Source::read(workspace, &catalog_path)?;
    let paths = rust_files(&src)?;
    let sources = paths.iter().map(|path| Source::read(workspace, path)).collect::<Result<Vec<_>>>()?;
    let mut findings = Vec::new();
    for (path, source) in paths.iter().zip(&sources) {
        let Some(name) = module_name(&src, path) else { continue };
        let defines = source.code().any(|(_, code)| words(code, "OpDef").next().is_some());
        let is_module_list = path.ends_with("mod.rs") && !defines;
        if is_module_list || source.is_test() || mentions(&catalog, &name) {
            continue;
        }
        let own_folder = path.with_file_name("mod.rs");
        let operator = sources.iter().zip(&paths).find(|(_, other)| **other == own_folder && **other != *path);
        let is_part = operator.is_some_and(|(operator, _)| {
            operator.code().any(|(_, code)| words(code, "OpDef").next().is_some()) && uses(operator, &name)
        });
        let declares = format!("::{name}::define()");
        let is_companion = sources
            .iter()
            .any(|other| other.path != source.path && other.code().any(|(_, code)| code.contains(&declares)));
        if is_part || is_companion {
            continue;
        }
        let used = sources.iter().any(|other| other.path != source.path && uses(other, &name));
        if defines || !used {
            let message = format!(
                "`{name}` is not in {}; add its line there, or declare it as a companion with `{name}::define()` in the \
                 operator that begins its chain",
                catalog.path.display()
            );
            findings.push(Finding::in_file(&source.path, message));
        }
    }
    Ok(findings)
}

/// Name of the module that a file below `src` holds, if the file is in a folder of operators. A `mod.rs` holds the module of
/// its folder.
fn module_name(src: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(src).ok()?;
    if SHARED.iter().any(|folder| inside.starts_with(folder)) {
        return None;
    }
    let folder = inside.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    let name = if inside.ends_with("mod.rs") { folder.file_name() } else { inside.file_stem() };
    Some(name?.to_string_lossy().into_owned())
}

/// Whether the code names the module. A method of the same name (`.copy()`) does not count.
fn mentions(source: &Source, name: &str) -> bool {
    source.code().any(|(_, code)| words(code, name).any(|at| !code[..at].ends_with('.')))
}

/// Whether the code names an item inside the module: `name::…`.
fn uses(source: &Source, name: &str) -> bool {
    source.code().any(|(_, code)| words(code, name).any(|at| code[at + name.len()..].starts_with("::")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    #[test]
    fn an_operator_file_that_is_not_listed_is_found() {
        let sample = Sample::new();
        sample.write("crates/mxrs-ops/src/nn/silu.rs", "//! silu.\npub const SILU: OpDef = silu();\n");
        let expected = "error: crates/mxrs-ops/src/nn/silu.rs: `silu` is not in crates/mxrs-ops/src/catalog.rs; add its line there, or \
             declare it as a companion with `silu::define()` in the operator that begins its chain";
        assert_eq!(sample.found(check), [expected]);
        sample.write("crates/mxrs-ops/src/catalog.rs", "//! All.\n// nn::silu::SILU\nlist![nn::relu::RELU];\n");
        assert_eq!(sample.found(check), [expected], "a comment is not an entry");
        sample.write("crates/mxrs-ops/src/catalog.rs", "//! All.\nlist![nn::relu::RELU].silu();\n");
        assert_eq!(sample.found(check), [expected], "a method is not an entry");
        sample.write("crates/mxrs-ops/src/catalog.rs", "//! All.\nlist![nn::relu::RELU, nn::silu::SILU];\n");
        assert_eq!(sample.found(check), [""; 0]);
    }

    #[test]
    fn a_file_that_others_use_and_that_defines_no_operator_is_none() {
        let sample = Sample::new();
        sample.write("crates/mxrs-ops/src/nn/window.rs", "//! Windows.\npub struct Window;\n");
        assert_eq!(sample.found(check).len(), 1);
        sample
            .write("crates/mxrs-ops/src/nn/relu.rs", "//! relu.\nuse super::window::Window;\nconst R: OpDef = r();\n");
        assert_eq!(sample.found(check), [""; 0]);
    }

    #[test]
    fn an_operator_in_a_folder_of_its_own_is_seen() {
        let sample = Sample::new();
        sample.write("crates/mxrs-ops/src/nn/conv/mod.rs", "//! conv.\npub const CONV: OpDef = conv();\n");
        assert_eq!(sample.found(check).len(), 1);
        sample.write("crates/mxrs-ops/src/catalog.rs", "//! All.\nlist![nn::conv::CONV, nn::relu::RELU];\n");
        assert_eq!(sample.found(check), [""; 0]);
        sample.write("crates/mxrs-ops/src/nn/conv/backward.rs", "//! Its gradient.\npub const BACK: OpDef = back();\n");
        assert_eq!(sample.found(check).len(), 1, "a part its operator does not use");
        let using = "//! conv.\nmod backward;\npub const CONV: OpDef = conv(backward::BACK);\n";
        sample.write("crates/mxrs-ops/src/nn/conv/mod.rs", using);
        assert_eq!(sample.found(check), [""; 0]);
    }
}
