//! Reports of tests that leave something out because the machine lacks what they need. The output of a test that passes is not
//! shown, so the reports also go to a file, which `cargo xtask test` prints at its end.

use mxrs_env::{EnvSource, OsSource};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable that names the file.
const FILE: &str = "MXRS_SKIPPED_FILE";

/// Reports that a test leaves out `what`, and `why`: prints a line, and appends it to the file that the variable
/// `MXRS_SKIPPED_FILE` names, if it is set.
///
/// ```no_run
/// mxrs_testkit::skipped("workers that MPI connects", "mpirun is not installed");
/// ```
pub fn skipped(what: &str, why: &str) {
    let line = line(what, why);
    eprintln!("SKIPPED: {line}");
    let file = OsSource.vars().into_iter().rfind(|(name, _)| name == FILE).map(|(_, value)| value);
    let Some(file) = file.filter(|file| !file.is_empty()).map(PathBuf::from) else { return };
    if let Err(error) = append(&file, &line) {
        eprintln!("{}: {error}", file.display());
    }
}

/// One line of text: without line breaks, so that it is one line of the file too.
fn line(what: &str, why: &str) -> String {
    format!("{what}: {why}").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Appends a line by one write, so that lines of several processes are not mixed.
fn append(file: &Path, line: &str) -> std::io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_is_a_line_of_the_file() {
        let file = std::env::temp_dir().join(format!("mxrs-skips-{}", std::process::id()));
        // An earlier process with the same number may have left it.
        let _ = std::fs::remove_file(&file);
        for why in ["not installed", "it says:\n  no such file\n"] {
            append(&file, &line("a program", why)).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(text, "a program: not installed\na program: it says: no such file\n");
    }
}
