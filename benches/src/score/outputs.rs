//! Writes the files of a run into one folder: the report as text and as Markdown, every round as JSON, and a chart.

use super::found::Found;
use super::saved;
use crate::report::Format;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf, is_separator};

/// Name of the files, without their endings, if only a folder is given.
const NAME: &str = "score";

/// Where the files are written.
#[derive(Debug, PartialEq, Eq)]
pub struct Outputs {
    /// Path of the files without their endings.
    stem: PathBuf,
}

impl Outputs {
    /// Chooses the paths of the files. If `path` is a folder or ends with a separator, the files are in that folder.
    /// Otherwise, each is `path` plus an ending; if `path` already ends with `.txt`, `.md`, `.json` or `.svg`, that ending is
    /// removed first. Missing folders are created.
    ///
    /// # Errors
    /// Fails if a folder cannot be created.
    pub fn at(path: &Path) -> Result<Self> {
        let is_folder = path.is_dir() || path.to_string_lossy().ends_with(is_separator);
        let is_known = path.extension().is_some_and(|ending| ["txt", "md", "json", "svg"].iter().any(|e| ending == *e));
        let stem = match is_folder {
            true => path.join(NAME),
            false if is_known => path.with_extension(""),
            false => path.to_owned(),
        };
        if let Some(folder) = stem.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        Ok(Self { stem })
    }

    /// Writes the files. If there is nothing to draw, the chart is left out with a message on standard error.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn write(&self, found: &Found) -> Result<()> {
        let report = found.report();
        write(&self.file("json"), &format!("{:#}\n", saved::json(found)))?;
        write(&self.file("txt"), &report.render(Format::Table))?;
        write(&self.file("md"), &report.render(Format::Markdown))?;
        match found.chart() {
            Ok(drawn) => write(&self.file("svg"), &drawn)?,
            Err(error) => eprintln!("no {}: {error:#}", self.file("svg").display()),
        }
        Ok(())
    }

    /// Path of the file with this ending. The ending is appended and replaces nothing, because the name itself may contain
    /// dots.
    fn file(&self, ending: &str) -> PathBuf {
        let mut name = self.stem.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let written = mxrs::format::write_atomically(path, |sink| {
        sink.write_all(text.as_bytes()).map_err(|error| mxrs::Error::io(path, &error))
    });
    written.with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::found::sample;
    use super::super::peers::Peer;
    use super::*;

    #[test]
    fn a_path_is_a_folder_or_the_beginning_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| Outputs::at(&folder.path().join(path)).unwrap().file("md");
        let expected = |path: &str| folder.path().join(path);
        assert_eq!(at(""), expected("score.md"));
        assert_eq!(at("new/"), expected("new/score.md"));
        assert!(expected("new").is_dir());
        assert_eq!(at("new"), expected("new/score.md"));
        assert_eq!(at("2026-11"), expected("2026-11.md"));
        assert_eq!(at("deep/run.json"), expected("deep/run.md"));
        assert_eq!(at("resnetv1.5"), expected("resnetv1.5.md"));
        std::fs::write(expected("file"), "").unwrap();
        assert!(Outputs::at(&expected("file/run")).is_err());
    }

    #[test]
    fn all_four_are_written_and_no_chart_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let names = |stem: &str| {
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
            names.retain(|name| name.starts_with(stem));
            names.sort();
            names
        };
        let mut found = sample(&[Peer::Mxrs, Peer::Tract]);
        Outputs::at(&folder.path().join("a")).unwrap().write(&found).unwrap();
        assert_eq!(names("a"), ["a.json", "a.md", "a.svg", "a.txt"]);
        let text = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
        assert_eq!(saved::read(&text).unwrap().report().render(Format::Json), found.report().render(Format::Json));
        found.contests.clear();
        Outputs::at(&folder.path().join("b")).unwrap().write(&found).unwrap();
        assert_eq!(names("b"), ["b.json", "b.md", "b.txt"]);
    }
}
