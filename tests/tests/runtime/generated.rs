//! Tests of the program that writes the tables of `docs/`.

use std::process::Command;

#[test]
fn both_tables_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_gen_docs")).arg(dir.path()).status().unwrap();
    assert!(status.success());
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(text("env.md").contains("| `MXNET_ENGINE_TYPE` |"));
    assert!(text("ops.md").contains("Convolution"));
}

#[test]
fn a_folder_is_needed() {
    let run = |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_gen_docs")).args(arguments).output().unwrap();
    assert_eq!(run(&[]).status.code(), Some(2));
    let absent = run(&["/absent/folder"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("env.md"));
}
