//! Programs that are shell scripts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of this name in the folder.
pub fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    // Another process writes the file: Linux refuses to start a file that any process has open for writing, and a
    // process that another test starts meanwhile inherits this one's open files for a moment.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let written = Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(body).status();
    assert!(written.expect("a shell starts").success());
    path
}
