//! Rule: every numbered rule is quoted by a test. There are rules of the storage pools (S1 to S13), the engine (E1 to E17),
//! the memory planner (P1 to P10), the graph passes (G1 to G21), fusion (F1 to F5), executors (B1 to B4), cached graphs (C1
//! to C5), the tape (A1 to A10), and random numbers and scratch memory (R1 to R5).
//!
//! A test quotes a number in its name (`e12_e13_told_once`) or in the doc comment above it (`/// E12: …`). In a test program
//! without `#[test]` functions, the name of any function counts.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Finding;
use super::source::Source;
use crate::workspace::Workspace;

/// For each set of rules: the package that states them, their letter, and how many there are.
const STATED: [(&str, char, u32); 9] = [
    ("mxrs-storage", 's', 13),
    ("mxrs-engine", 'e', 17),
    ("mxrs-graph", 'p', 10),
    ("mxrs-graph", 'g', 21),
    ("mxrs-graph", 'f', 5),
    ("mxrs-exec", 'b', 4),
    ("mxrs-exec", 'c', 5),
    ("mxrs-exec", 'a', 10),
    ("mxrs-exec", 'r', 5),
];
/// Packages whose tests may quote the rules.
const QUOTING: [&str; 10] = [
    "mxrs-sync",
    "mxrs-storage",
    "mxrs-engine",
    "mxrs-ndarray",
    "mxrs-op",
    "mxrs-graph",
    "mxrs-testkit",
    "mxrs-ops",
    "mxrs-exec",
    "mxrs-tests",
];

/// Finds rules that no test quotes.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let sources = Source::of_members(workspace, |name| QUOTING.contains(&name))?;
    let quoted: BTreeSet<String> = sources.iter().flat_map(quotes).collect();
    let mut findings = Vec::new();
    for (package, letter, last) in STATED {
        let Some(floor) = workspace.floor_of(package) else { continue };
        for number in (1..=last).filter(|number| !quoted.contains(&format!("{letter}{number}"))) {
            let tag = format!("{}{number}", letter.to_ascii_uppercase());
            let message = format!("no test quotes {tag}; name one `{letter}{number}_…` or begin its doc with `{tag}`");
            findings.push(Finding::in_file(&workspace.members[floor].dir, message));
        }
    }
    Ok(findings)
}

/// The rules that the tests of one file quote, in lower case.
fn quotes(source: &Source) -> Vec<String> {
    let mut quoted = Vec::new();
    let (mut docs, mut is_test) = (Vec::new(), false);
    for line in source.text.lines().map(str::trim_start) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.extend(doc.split(|c: char| !c.is_alphanumeric()).filter_map(upper_tag));
        } else if line.starts_with("#[") {
            is_test |= line == "#[test]";
        } else {
            if let Some(name) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("pub fn ")) {
                let in_name: Vec<_> = name.split('_').map_while(lower_tag).collect();
                if is_test || (source.is_test() && !in_name.is_empty()) {
                    quoted.extend(in_name);
                    quoted.append(&mut docs);
                }
            }
            (docs, is_test) = (Vec::new(), false);
        }
    }
    quoted
}

/// The rule in lower case, `e12`, if the word is a rule in upper case, `E12`.
fn upper_tag(word: &str) -> Option<String> {
    word.starts_with(|c: char| c.is_ascii_uppercase()).then(|| lower_tag(&word.to_ascii_lowercase()))?
}

/// The word, if it is a rule in lower case, `e12`.
fn lower_tag(word: &str) -> Option<String> {
    let digits = word.strip_prefix(|c| STATED.iter().any(|(_, letter, _)| *letter == c))?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::{Sample, manifest};

    /// A workspace that contains only the engine.
    fn engine() -> Sample {
        let sample = Sample::new();
        sample.write("Cargo.toml", "[workspace]\nmembers = [\"crates/mxrs-engine\"]\n");
        sample.write("crates/mxrs-engine/Cargo.toml", &manifest("mxrs-engine", ""));
        sample
    }

    fn missing(sample: &Sample) -> Vec<String> {
        let found = sample.found(check);
        found.iter().filter_map(|f| f.split("quotes ").nth(1)?.split(';').next().map(str::to_owned)).collect()
    }

    #[test]
    fn names_and_docs_of_tests_quote() {
        let sample = engine();
        assert_eq!(missing(&sample).len(), 17);
        let ten: String = (1..=10).map(|n| format!("#[test]\nfn e{n}_holds() {{}}\n")).collect();
        sample.write("crates/mxrs-engine/src/lib.rs", &format!("//! E.\n{ten}"));
        let rest = "//! T.\n/// E11, E12: so\n/// it is (E13).\n#[test]\nfn all() {}\n    #[test]\n    fn e14_e15_e16_x() {}\n";
        sample.write("crates/mxrs-engine/tests/rules.rs", rest);
        assert_eq!(missing(&sample), ["E17"]);
        sample.write("crates/mxrs-engine/tests/fork.rs", "//! One test.\nfn main() { e17_fork() }\nfn e17_fork() {}\n");
        assert_eq!(missing(&sample), [""; 0]);
    }

    #[test]
    fn comments_code_and_untested_functions_do_not() {
        let sample = engine();
        let text = "//! E1\n// E2\n/// E3 and what keeps it.\nfn helper() {}\nfn e4_in_the_library() {}\nconst E5: u32 = 0;\n\
                    #[test]\nfn some_e6() { let e7 = 0; }\n/// E8\n\n#[test]\nfn other() {}\n/// E9x\n#[test]\nfn last() {}\n";
        sample.write("crates/mxrs-engine/src/lib.rs", text);
        assert_eq!(missing(&sample).len(), 17);
    }
}
