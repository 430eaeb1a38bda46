//! Programs for tests, written as shell scripts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes an executable shell script with this name and body into the folder.
pub fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    // A shell writes the file, not this process. Linux refuses to start a file that any process has open for writing, and a
    // process that another test starts at that moment briefly inherits this process's open files.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let written = Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(body).status();
    assert!(written.expect("a shell starts").success());
    path
}
