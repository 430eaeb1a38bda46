//! A Rust file for the rules to check: its text, and its code without comments.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::workspace::{Workspace, read_text};

/// One Rust file.
pub struct Source {
    /// Path from the workspace root.
    pub path: PathBuf,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Reads one file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read(workspace: &Workspace, path: &Path) -> Result<Self> {
        Ok(Source { path: workspace.relative(path).to_owned(), text: read_text(path)? })
    }

    /// Reads every Rust file of the members whose package name `wanted` accepts, in the order of the members list.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn of_members(workspace: &Workspace, wanted: impl Fn(&str) -> bool) -> Result<Vec<Self>> {
        let mut sources = Vec::new();
        for member in workspace.members.iter().filter(|member| wanted(&member.name)) {
            for path in member.rust_files(&workspace.root)? {
                sources.push(Self::read(workspace, &path)?);
            }
        }
        Ok(sources)
    }

    /// Whether the file was written by a program, which a comment in its first lines says.
    pub fn is_generated(&self) -> bool {
        let says_so = |line: &str| {
            let line = line.to_lowercase();
            line.contains("@generated") || line.starts_with("// generated") || line.contains("do not edit")
        };
        self.text.lines().take(5).any(|line| line.starts_with("//") && says_so(line))
    }

    /// Whether the file holds unit tests (`tests.rs`) or is in a folder called `tests` inside a package.
    pub fn is_test(&self) -> bool {
        let mut parts = self.path.components().skip(1).map(|part| part.as_os_str());
        parts.any(|part| part == "tests" || part == "tests.rs")
    }

    /// The lines without line comments, each with its number, counted from 1.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, without_comment(line)))
    }
}

/// `line` up to a `//` comment. The slashes of a URL do not start a comment.
fn without_comment(line: &str) -> &str {
    let start = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
    start.map_or(line, |(at, _)| &line[..at])
}

/// Positions in `code` at which `word` is a whole word.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| !code[..at].ends_with(part) && !code[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_cut_and_urls_are_not() {
        assert_eq!(without_comment("a(); // b"), "a(); ");
        assert_eq!(without_comment("/// b"), "");
        assert_eq!(without_comment("f(\"http://x\")"), "f(\"http://x\")");
    }

    #[test]
    fn a_word_is_not_part_of_another() {
        assert_eq!(words("relu prelu relu6 (relu)", "relu").collect::<Vec<_>>(), [0, 18]);
    }
}
