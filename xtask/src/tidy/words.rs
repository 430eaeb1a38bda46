//! Rule: comments, documentation, messages and Markdown use plain words. [`PHRASES`] lists the refused phrases, each with a
//! plainer wording.
//!
//! `xtask/words.toml` lists the folders that still contain refused phrases, with the number of phrases in each folder. More
//! phrases than listed are an error; `cargo xtask tidy --lower` lowers the listed numbers to the current ones. In folders
//! that are not listed, every refused phrase is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::source::{Source, words};
use super::{Finding, Level};
use crate::prose::{self, Piece};
use crate::workspace::{Workspace, read_text};

/// Refused phrases in lower case, with the wording to use instead.
const PHRASES: [(&str, &str); 15] = [
    ("nobody", "say who does not: \"no thread\", \"no other code\", \"it is not read\""),
    ("whoever", "say who: \"the thread that\", \"the caller that\", \"code that\""),
    ("somebody", "say who, or use the passive"),
    ("told", "\"reported\", \"returned\", \"known\", \"given\""),
    ("tells", "\"reports\", \"returns\", \"says\", \"shows\""),
    ("so many", "a number or its name: \"`n`\", \"this many\""),
    ("beside", "\"besides\", \"next to\", \"in addition to\", \"at the same time as\""),
    ("anew", "\"again\", \"from the beginning\""),
    ("once more", "\"again\""),
    ("comes to", "say what it is: \"is\", \"amounts to\", \"gets to\""),
    ("came to", "say what it was: \"was\", \"got to\""),
    ("as it were", "leave it out"),
    ("for ever", "\"forever\""),
    ("is no", "\"is not a\""),
    ("are no", "\"are not\""),
];

/// Words after "is no" and "are no" that make a comparison, besides those that end in "er".
const COMPARATIVES: [&str; 4] = ["more", "less", "different", "worse"];

/// File with the folders that still contain phrases.
const CEILINGS: &str = "xtask/words.toml";
/// Files that quote the phrases in code and tests, and so are not searched.
const QUOTED_IN: [&str; 2] = ["xtask/src/tidy/words.rs", "xtask/src/prose.rs"];

/// One occurrence of a phrase.
struct Hit {
    path: PathBuf,
    line: usize,
    phrase: &'static str,
    instead: &'static str,
}

/// Finds refused phrases.
///
/// # Errors
/// Fails if a file cannot be read or the list of folders is invalid.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let ceilings = ceilings(workspace)?;
    let mut findings = Vec::new();
    for (folder, hits) in hits(workspace)? {
        let found = hits.len();
        match ceilings.get(&folder) {
            None => findings.extend(hits.iter().map(Hit::finding)),
            Some(&ceiling) if found > ceiling => {
                findings.extend(hits.iter().map(|hit| Finding { level: Level::Warning, ..hit.finding() }));
                let message =
                    format!("{found} refused phrases in {folder}, {ceiling} are allowed; reword the new ones");
                findings.push(Finding::in_file(Path::new(CEILINGS), message));
            }
            Some(&ceiling) if found < ceiling => {
                let message = format!("{folder} has only {found} of {ceiling}; run `cargo xtask tidy --lower`");
                findings.push(Finding { level: Level::Warning, ..Finding::in_file(Path::new(CEILINGS), message) });
            }
            Some(_) => {}
        }
    }
    Ok(findings)
}

/// Rewrites the list of folders: a folder with fewer phrases than listed gets its current number, and a folder without
/// phrases is removed.
///
/// # Errors
/// Fails if a file cannot be read or written.
pub fn lower(workspace: &Workspace) -> Result<()> {
    let (ceilings, hits) = (ceilings(workspace)?, hits(workspace)?);
    let mut text = String::from(
        "# Refused phrases (xtask/src/tidy/words.rs) that are left in each folder. A number may only fall; `cargo xtask tidy\n\
         # --lower` writes this file.\n\n",
    );
    for (folder, ceiling) in ceilings {
        let found = hits.get(&folder).map_or(0, Vec::len).min(ceiling);
        if found > 0 {
            text += &format!("{folder:?} = {found}\n");
        }
    }
    let path = workspace.root.join(CEILINGS);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

impl Hit {
    fn finding(&self) -> Finding {
        Finding::on_line(&self.path, self.line, format!("\"{}\": write {}", self.phrase, self.instead))
    }
}

/// The folders that still contain phrases, with the largest number allowed in each.
fn ceilings(workspace: &Workspace) -> Result<BTreeMap<String, usize>> {
    let path = workspace.root.join(CEILINGS);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    toml::from_str(&read_text(&path)?).with_context(|| format!("{}: folders and numbers", path.display()))
}

/// All refused phrases that occur, by folder: the folders of the members, `docs`, `docs/design`, and `.` for the Markdown
/// files of the root.
fn hits(workspace: &Workspace) -> Result<BTreeMap<String, Vec<Hit>>> {
    let mut all: BTreeMap<String, Vec<Hit>> = BTreeMap::new();
    for member in &workspace.members {
        let hits = all.entry(member.dir.display().to_string()).or_default();
        for path in member.rust_files(&workspace.root)? {
            let source = Source::read(workspace, &path)?;
            if !source.is_generated() && !QUOTED_IN.iter().any(|quoted| source.path == Path::new(quoted)) {
                search(&source.path, &prose::of_rust(&source.text), hits);
            }
        }
    }
    for folder in [".", "docs", "docs/design"] {
        let dir = workspace.root.join(folder);
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "md")) {
            let text = read_text(path)?;
            if !text.starts_with("<!-- Generated") {
                search(workspace.relative(path), &prose::of_markdown(&text), all.entry(folder.to_owned()).or_default());
            }
        }
    }
    Ok(all)
}

fn search(path: &Path, pieces: &[Piece], hits: &mut Vec<Hit>) {
    for piece in pieces {
        let (text, numbers) = piece.words();
        let text = text.to_ascii_lowercase();
        for (phrase, instead) in PHRASES {
            for at in words(&text, phrase).filter(|at| is_refused(&text, phrase, *at)) {
                hits.push(Hit { path: path.to_owned(), line: numbers[at], phrase, instead });
            }
        }
    }
}

/// Whether `phrase`, found at position `at` of `text`, is refused. A phrase that ends in " no" is accepted in "there is no"
/// and in comparisons such as "is no larger". Every other phrase is refused.
fn is_refused(text: &str, phrase: &str, at: usize) -> bool {
    if !phrase.ends_with(" no") {
        return true;
    }
    let before = text[..at].split_whitespace().next_back().unwrap_or("");
    let after = text[at + phrase.len()..].split_whitespace().next().unwrap_or("");
    let after = after.trim_end_matches(|c: char| !c.is_alphanumeric());
    !(before.ends_with("there") || after.ends_with("er") || COMPARATIVES.contains(&after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    const FILE: &str = "crates/mxrs-env/src/lib.rs";

    #[test]
    fn phrases_are_found_with_line_and_wording() {
        for (phrase, instead) in PHRASES {
            let sample = Sample::new();
            sample.write(FILE, &format!("//! Env.\n//!\n//! It {phrase} case.\n"));
            let expected = format!("error: {FILE}:3: \"{phrase}\": write {instead}");
            assert_eq!(sample.found(check), [expected]);
        }
    }

    #[test]
    fn messages_and_markdown_count_and_a_phrase_may_cross_lines() {
        let sample = Sample::new();
        sample.write(FILE, "//! Env.\n\nfn f() {\n    g(\"read once\n more\");\n}\n// It was once\n// more.\n");
        sample.write("docs/ARCHITECTURE.md", "# A\n\nNobody reads\n\n## Code map\n");
        let places: Vec<String> =
            sample.found(check).iter().map(|f| f.split(": ").nth(1).unwrap().to_owned()).collect();
        assert_eq!(places, [format!("{FILE}:4"), format!("{FILE}:7"), "docs/ARCHITECTURE.md:3".to_owned()]);
    }

    #[test]
    fn plain_sentences_pass() {
        let sample = Sample::new();
        let good = [
            "There is no limit, and if there are no others it is no longer than 3; no copy is made.",
            "The names `told`, `anew` and `nobody` are code.",
            "Manewver, besides, untold_count and retells are other words.",
        ];
        for line in good {
            sample.write(FILE, &format!("//! {line}\nfn told_anew() {{ f(\"nobody\") }}\n"));
            assert_eq!(sample.found(check), [""; 0], "{line}");
        }
    }

    #[test]
    fn listed_folders_may_only_improve() {
        let sample = Sample::new();
        sample.write(FILE, "//! Told once.\n//!\n//! Told twice.\n");
        let found = |ceiling: usize| {
            sample.write(CEILINGS, &format!("\"crates/mxrs-env\" = {ceiling}\n"));
            sample.found(check)
        };
        assert_eq!(found(2), [""; 0]);
        let worse = found(1);
        assert!(worse.last().unwrap().starts_with("error: xtask/words.toml: 2 refused phrases"), "{worse:?}");
        let better = found(3);
        assert_eq!(better.len(), 1);
        assert!(better[0].starts_with("warning: xtask/words.toml: crates/mxrs-env has only 2 of 3"), "{better:?}");
        sample.lower_words();
        assert_eq!(sample.found(check), [""; 0]);
    }
}
