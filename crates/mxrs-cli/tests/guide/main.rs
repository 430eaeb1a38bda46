//! Runs the shell examples of the guide in `docs/guide/src` and checks their output.
//!
//! A block marked `sh` is run; `sh exit=3` must end with exit code 3; `sh ignore` is not run. The lines of the `text` block
//! after it must occur in the output in this order. A line that begins or ends with `…` may match a part of a longer line.
//! The blocks of a page run in the same folder, in which `data` is the repository's data folder.

mod blocks;

use blocks::{Block, blocks};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn page(name: &str) -> String {
    let path = root().join("docs/guide/src").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Runs one block with `mxrs` in PATH and no other environment variable. Returns stdout and stderr together.
fn run(block: &Block, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_mxrs")).parent().expect("a folder");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", program.display());
    let output = Command::new("sh")
        .args(["-ec", &block.text])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(block.exit), "{}\n{text}", block.text);
    text
}

fn check(name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root().join("data"), folder.path().join("data")).expect("a link");
    let mut printed = String::new();
    let mut n_run = 0;
    for block in blocks(&page(name)) {
        if block.is_output {
            block.expect_in(&printed);
        } else {
            printed = run(&block, folder.path());
            n_run += 1;
        }
    }
    assert!(n_run > 0, "{name} has no example that runs");
}

#[test]
fn from_mxnet() {
    check("from-mxnet.md");
}

#[test]
fn classify() {
    check("classify.md");
}

#[test]
fn train() {
    check("train.md");
}

#[test]
fn quantize() {
    check("quantize.md");
}

#[test]
fn tune() {
    check("tune.md");
}

#[test]
fn profile() {
    check("profile.md");
}

#[test]
fn onnx() {
    check("onnx.md");
}

#[test]
fn troubleshooting() {
    check("troubleshooting.md");
}

#[test]
fn the_summary_lists_every_page_and_links_lead_somewhere() {
    let folder = root().join("docs/guide/src");
    let summary = page("SUMMARY.md");
    for entry in std::fs::read_dir(&folder).expect("the guide") {
        let name = entry.expect("an entry").file_name().into_string().expect("a UTF-8 name");
        assert!(name == "SUMMARY.md" || summary.contains(&format!("]({name})")), "SUMMARY.md does not list {name}");
        for link in blocks::links(&page(&name)) {
            let target = folder.join(link.split('#').next().unwrap_or_default());
            assert!(link.contains("://") || target.exists(), "{name}: nothing at {link}");
        }
    }
}
