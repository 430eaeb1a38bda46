//! Short constructors for format errors, for the readers of this crate and of other crates (`mxrs-symbol`).

use mxrs_types::{Error, ErrorKind, FormatErrorKind};

/// A format error at a byte offset.
pub fn at(offset: u64, kind: FormatErrorKind, context: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { path: None, offset: Some(offset), kind, context: context.into() })
}

/// A format error without an offset: it concerns no single byte of the file.
pub fn whole(kind: FormatErrorKind, context: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { path: None, offset: None, kind, context: context.into() })
}

/// An error of kind `Truncated` at `offset`: `need` bytes are needed, `have` are left.
pub(crate) fn truncated(offset: u64, need: u64, have: u64, context: impl Into<String>) -> Error {
    at(offset, FormatErrorKind::Truncated { need, have }, context)
}

/// Converts an I/O error of a source that has no path, such as a stream.
pub fn io(error: &std::io::Error) -> Error {
    Error::from_io(error)
}

/// The category of a format error, `None` for other errors.
pub fn category(error: &Error) -> Option<&FormatErrorKind> {
    match error.kind() {
        ErrorKind::Format { kind, .. } => Some(kind),
        _ => None,
    }
}

/// Describes the format that the first bytes of a file suggest, for errors about a file of the wrong format.
pub(crate) fn looks_like(start: &[u8]) -> Option<&'static str> {
    let text = start.trim_ascii_start();
    let starts = |word: &[u8]| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word);
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        Some("a zip or npz archive")
    } else if start.starts_with(b"\x93NUMPY") {
        Some("an npy array")
    } else if start.starts_with(b"\x1f\x8b") {
        Some("gzip data; decompress it first")
    } else if starts(b"version https://") {
        Some("a Git LFS pointer, not the file itself; run `git lfs pull`")
    } else if starts(b"<!doctype") || starts(b"<html") || starts(b"<?xml") || starts(b"<head") {
        Some("a web page, probably a failed download")
    } else if text.first() == Some(&b'{') {
        Some("JSON text")
    } else {
        None
    }
}

/// Sets the offset of a format error that has none.
pub(crate) fn place(mut error: Error, place: u64) -> Error {
    if let ErrorKind::Format { offset: offset @ None, .. } = error.kind_mut() {
        *offset = Some(place);
    }
    error
}
