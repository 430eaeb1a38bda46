//! Missing or malformed files: exit code 3 and a message with the file's name.

use crate::mxrs::{digits, fixture, mxrs};
use std::fs;
use std::path::Path;

/// Runs `predict` with a checkpoint in `dir` on `data`.
fn predict(dir: &Path, data: &str) -> crate::mxrs::Ran {
    let model = dir.join("net").display().to_string();
    mxrs(["predict", "--model", &model, "--epoch", "10", "--data", data, "--data-shape", "1,28,28"])
}

fn checkpoint(dir: &Path) {
    fs::copy(digits("lenet-symbol.json"), dir.join("net-symbol.json")).unwrap();
    fs::copy(digits("lenet-0010.params"), dir.join("net-0010.params")).unwrap();
}

#[test]
fn truncated_parameters_are_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint(dir.path());
    let path = dir.path().join("net-0010.params");
    let bytes = fs::read(&path).unwrap();
    for len in [bytes.len() - 1, bytes.len() / 2, 20, 3, 0] {
        fs::write(&path, &bytes[..len]).unwrap();
        let err = predict(dir.path(), &digits("digits_val.rec")).failed(3);
        assert!(err.contains("net-0010.params"), "{len}: {err}");
    }
}

#[test]
fn missing_files_are_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let data = digits("digits_val.rec");
    assert!(predict(dir.path(), &data).failed(3).contains("net-symbol.json"));
    checkpoint(dir.path());
    assert!(predict(dir.path(), "absent.rec").failed(3).contains("absent.rec"));
    fs::remove_file(dir.path().join("net-0010.params")).unwrap();
    assert!(predict(dir.path(), &data).failed(3).contains("net-0010.params"));
}

#[test]
fn a_broken_symbol_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint(dir.path());
    let path = dir.path().join("net-symbol.json");
    let text = fs::read_to_string(&path).unwrap();
    let data = digits("digits_val.rec");
    for (broken, word) in [
        (text[..text.len() / 2].to_owned(), "net-symbol.json"),
        (text.replace("\"Convolution\"", "\"Convolutoin\""), "Convolution"),
        (text.replace("\"Convolution\"", "\"_contrib_dgl_adjacency\""), "_contrib_dgl_adjacency is not built"),
        (text.replace("\"num_filter\"", "\"num_fliter\""), "num_fliter"),
    ] {
        assert_ne!(broken, text, "{word}");
        fs::write(&path, broken).unwrap();
        let err = predict(dir.path(), &data).failed(3);
        assert!(err.contains(word) && err.contains("net-symbol.json"), "{err}");
    }
}

#[test]
fn a_truncated_record_file_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint(dir.path());
    let bytes = fs::read(digits("digits_val.rec")).unwrap();
    let data = dir.path().join("cut.rec").display().to_string();
    fs::write(&data, &bytes[..1001]).unwrap();
    let err = predict(dir.path(), &data).failed(3);
    assert!(err.contains("cut.rec"), "{err}");
}

#[test]
fn a_file_that_is_no_image_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint(dir.path());
    let (model, image) = (dir.path().join("net"), fixture("dtypes.params"));
    let start = ["predict", "--epoch", "10", "--data-shape", "1,28,28", "--model"].map(Into::into);
    let err = mxrs(start.into_iter().chain([model.into_os_string(), image.into_os_string()])).failed(3);
    assert!(err.contains("dtypes.params"), "{err}");
}
