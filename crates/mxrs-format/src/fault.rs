//! Short constructors for format errors, for the readers here and for those of other crates (`mxrs-symbol`).

use mxrs_types::{Error, ErrorKind, FormatErrorKind};

/// A format error at a byte offset.
pub fn at(offset: u64, kind: FormatErrorKind, context: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { path: None, offset: Some(offset), kind, context: context.into() })
}

/// A format error that belongs to no one place.
pub fn whole(kind: FormatErrorKind, context: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { path: None, offset: None, kind, context: context.into() })
}

/// `Truncated` at `offset`.
pub(crate) fn truncated(offset: u64, need: u64, have: u64, context: impl Into<String>) -> Error {
    at(offset, FormatErrorKind::Truncated { need, have }, context)
}

/// An I/O error of an unnamed source.
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

/// What the first bytes of a file that is not what was asked for look like.
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

/// Gives a format error that has no offset one.
pub(crate) fn place(mut error: Error, place: u64) -> Error {
    if let ErrorKind::Format { offset: offset @ None, .. } = error.kind_mut() {
        *offset = Some(place);
    }
    error
}
