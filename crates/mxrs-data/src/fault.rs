//! Short constructors for format errors.

use mxrs_types::{Error, ErrorKind, FormatErrorKind};

/// A format error at a byte offset.
pub(crate) fn at(offset: usize, kind: FormatErrorKind, context: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { path: None, offset: Some(offset as u64), kind, context: context.into() })
}

/// An error of kind `Truncated` at `offset`: `need` bytes are needed, `have` are left.
pub(crate) fn truncated(offset: usize, need: u64, have: usize, context: impl Into<String>) -> Error {
    at(offset, FormatErrorKind::Truncated { need, have: have as u64 }, context)
}

/// Adds the position of a record to its error: the offset becomes that of the record, and the offset inside the image moves
/// into the text.
pub(crate) fn in_record(mut error: Error, number: u64, record_offset: u64) -> Error {
    if let ErrorKind::Format { offset, context, .. } = error.kind_mut() {
        let inside = offset.replace(record_offset);
        *context = match inside {
            Some(byte) => format!("record {number} (counted from 0): {context} (byte {byte} of the payload or image)"),
            None => format!("record {number} (counted from 0): {context}"),
        };
        return error;
    }
    error.context(format!("preparing record {number} (counted from 0) at offset {record_offset}"))
}
