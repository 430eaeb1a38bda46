//! A walk over the bytes before they are decoded: every length lies within its message, and there are not too many
//! messages. Decoding then cannot be made to allocate out of proportion, and errors have an offset.

use crate::{Limits, fault};
use mxrs_types::{Error, FormatErrorKind, Result};

/// Messages, as far as their fields are messages again.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Value,
    Type,
    TensorType,
    TensorShape,
    /// Only plain fields are read of it.
    Leaf,
}

impl Kind {
    /// The message in field `number`, if that is one.
    fn field(self, number: u64) -> Option<Self> {
        Some(match (self, number) {
            (Self::Model, 7) => Self::Graph,
            (Self::Model, 8 | 14 | 25) => Self::Leaf,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 5 | 15) => Self::Leaf,
            (Self::Graph, 11..=13) => Self::Value,
            (Self::Node, 5) => Self::Attribute,
            (Self::Attribute, 5 | 6) => Self::Leaf,
            (Self::Value, 2) => Self::Type,
            (Self::Type, 1) => Self::TensorType,
            (Self::TensorType, 2) => Self::TensorShape,
            (Self::TensorShape, 1) => Self::Leaf,
            _ => return None,
        })
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    n_messages: u64,
    max_messages: u64,
}

/// Walks a whole model.
///
/// # Errors
/// `Truncated` for a length beyond the end, `InvalidValue` for what is no protobuf, `LimitExceeded` for more messages
/// than `max_nodes`.
pub(super) fn scan(bytes: &[u8], limits: &Limits) -> Result<()> {
    let mut walk = Walk { bytes, n_messages: 0, max_messages: limits.max_nodes };
    walk.message(Kind::Model, 0, bytes.len())
}

impl Walk<'_> {
    /// The fields between two offsets. The depth is that of [`Kind::field`], which has no cycle.
    fn message(&mut self, kind: Kind, mut at: usize, end: usize) -> Result<()> {
        self.n_messages += 1;
        if self.n_messages > self.max_messages {
            let limit = FormatErrorKind::LimitExceeded { value: self.n_messages, max: self.max_messages };
            return Err(fault::at(at as u64, limit, "messages of an ONNX model"));
        }
        while at < end {
            let start = at;
            let tag = self.varint(&mut at, end)?;
            let (number, wire) = (tag >> 3, tag & 7);
            if number == 0 || number > 0x1fff_ffff {
                return Err(invalid(start, format!("field number {number}")));
            }
            match wire {
                0 => {
                    self.varint(&mut at, end)?;
                }
                1 => at = skip(at, 8, end)?,
                5 => at = skip(at, 4, end)?,
                2 => {
                    let len = self.varint(&mut at, end)?;
                    let inner_end = skip(at, len, end)?;
                    if let Some(inner) = kind.field(number) {
                        self.message(inner, at, inner_end)?;
                    }
                    at = inner_end;
                }
                _ => return Err(invalid(start, format!("wire type {wire} of field {number}"))),
            }
        }
        Ok(())
    }

    fn varint(&self, at: &mut usize, end: usize) -> Result<u64> {
        let start = *at;
        let mut value = 0u64;
        for (i, byte) in self.bytes[start..end].iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            *at += 1;
            if byte & 0x80 == 0 {
                // The tenth byte has room for one bit.
                return if i == 9 && *byte > 1 {
                    Err(invalid(start, "a number of more than 64 bits"))
                } else {
                    Ok(value)
                };
            }
        }
        if end - start >= 10 {
            return Err(invalid(start, "a number of more than ten bytes"));
        }
        Err(fault::truncated(start as u64, (end - start) as u64 + 1, (end - start) as u64, "number in an ONNX model"))
    }
}

fn skip(at: usize, len: u64, end: usize) -> Result<usize> {
    let have = (end - at) as u64;
    if len > have {
        return Err(fault::truncated(at as u64, len, have, "field of an ONNX model"));
    }
    Ok(at + len as usize)
}

fn invalid(at: usize, what: impl Into<String>) -> Error {
    fault::at(at as u64, FormatErrorKind::InvalidValue, format!("{}: this is no ONNX model", what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;

    fn of(bytes: &[u8]) -> Option<FormatErrorKind> {
        scan(bytes, &Limits::default()).err().and_then(|e| category(&e).cloned())
    }

    #[test]
    fn lengths_stay_within_their_message() {
        // Field 7, the graph, of 2 bytes: field 1, a node, of no bytes.
        assert_eq!(of(&[0x3a, 2, 0x0a, 0]), None);
        // A node that is longer than the graph around it.
        assert_eq!(of(&[0x3a, 2, 0x0a, 1, 0]), Some(FormatErrorKind::Truncated { need: 1, have: 0 }));
        assert_eq!(of(&[0x3a, 3, 0x0a, 0]), Some(FormatErrorKind::Truncated { need: 3, have: 2 }));
        assert_eq!(of(&[0x80]), Some(FormatErrorKind::Truncated { need: 2, have: 1 }));
    }

    #[test]
    fn what_is_no_protobuf_is_refused() {
        for bytes in
            [&[0x00, 0][..], &[0x0b], &[0x0e], &[0xff; 11], &[0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]]
        {
            assert_eq!(of(bytes), Some(FormatErrorKind::InvalidValue), "{bytes:?}");
        }
    }

    #[test]
    fn empty_messages_count() {
        let mut bytes = vec![0x3a, 20];
        bytes.extend([0x0a, 0].repeat(10));
        let limits = |max_nodes| Limits { max_nodes, ..Limits::default() };
        assert!(scan(&bytes, &limits(12)).is_ok());
        let error = scan(&bytes, &limits(11)).unwrap_err();
        assert_eq!(category(&error), Some(&FormatErrorKind::LimitExceeded { value: 12, max: 11 }));
    }
}
