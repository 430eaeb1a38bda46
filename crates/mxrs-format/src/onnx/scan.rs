//! Checks the bytes of an ONNX model before they are decoded: every length lies within its message, and the number of
//! messages is bounded. This keeps the memory for decoding in proportion to the file, and gives errors an offset.

use super::{AttributeProto, Dimension, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use crate::{Limits, fault};
use mxrs_types::{Error, FormatErrorKind, Result};

/// Kinds of messages. All messages that contain no other messages are of one kind, [`Kind::Leaf`].
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
    Dimension,
    /// A message whose fields are not read as messages.
    Leaf,
}

impl Kind {
    /// The kind of message in field `number`, if that field contains one.
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
            (Self::TensorShape, 1) => Self::Dimension,
            _ => return None,
        })
    }
}

impl Kind {
    /// Approximate size in bytes of the decoded message itself, without the data that its fields point to.
    fn size(self) -> usize {
        match self {
            Self::Model => size_of::<ModelProto>(),
            Self::Graph => size_of::<GraphProto>(),
            Self::Node => size_of::<NodeProto>(),
            Self::Attribute => size_of::<AttributeProto>(),
            Self::Value => size_of::<ValueInfoProto>(),
            // These messages are stored inside the `ValueInfoProto`.
            Self::Type | Self::TensorType | Self::TensorShape => 0,
            Self::Dimension => size_of::<Dimension>(),
            Self::Leaf => size_of::<TensorProto>(),
        }
    }

    /// Whether field `number` may be a packed list of numbers: each takes at least one byte in the file and eight when
    /// decoded.
    fn is_packed(self, number: u64) -> bool {
        matches!((self, number), (Self::Leaf, 1 | 5 | 7 | 11) | (Self::Attribute, 8))
    }
}

/// Memory in bytes that a text or a list of numbers takes besides its content.
const FIELD: usize = size_of::<Vec<u8>>();
/// A decoded model takes at most this many times the size of its file, plus [`MAX_EXTRA`].
const MAX_RATIO: usize = 4;
/// Memory in bytes allowed for any decoded model: names and short lists take more memory than their bytes in the file.
const MAX_EXTRA: usize = 256 << 20;

struct Walk<'a> {
    bytes: &'a [u8],
    n_messages: u64,
    max_messages: u64,
    /// Approximate memory in bytes that the messages seen so far take once they are decoded.
    decoded: usize,
    max_decoded: usize,
}

/// Checks the bytes of a whole model.
///
/// # Errors
/// Returns `Truncated` for a length beyond the end, `InvalidValue` for bytes that are not protobuf, `LimitExceeded` for more
/// messages than `max_nodes` and for messages that take far more memory than their bytes in the file.
pub(super) fn scan(bytes: &[u8], limits: &Limits) -> Result<()> {
    let max_decoded = bytes.len().saturating_mul(MAX_RATIO).saturating_add(MAX_EXTRA);
    let mut walk = Walk { bytes, n_messages: 0, max_messages: limits.max_nodes, decoded: 0, max_decoded };
    walk.message(Kind::Model, 0, bytes.len())
}

impl Walk<'_> {
    /// Checks the fields between two offsets. The recursion is bounded, because [`Kind::field`] has no cycle.
    fn message(&mut self, kind: Kind, mut at: usize, end: usize) -> Result<()> {
        self.n_messages += 1;
        if self.n_messages > self.max_messages {
            let limit = FormatErrorKind::LimitExceeded { value: self.n_messages, max: self.max_messages };
            return Err(fault::at(at as u64, limit, "messages of an ONNX model"));
        }
        self.spend(at, kind.size())?;
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
                    // The number may be one element of a list, which takes 8 bytes when decoded.
                    self.spend(start, size_of::<u64>())?;
                }
                1 => at = skip(at, 8, end)?,
                5 => at = skip(at, 4, end)?,
                2 => {
                    let len = self.varint(&mut at, end)?;
                    let inner_end = skip(at, len, end)?;
                    match kind.field(number) {
                        Some(inner) => self.message(inner, at, inner_end)?,
                        // The field may be a list of numbers. In a list, each number ends at a byte whose highest bit
                        // is 0.
                        None if kind.is_packed(number) => {
                            let is_last = |byte: &&u8| **byte & 0x80 == 0;
                            let n_numbers = self.bytes[at..inner_end].iter().filter(is_last).count();
                            self.spend(start, n_numbers.saturating_mul(size_of::<u64>()))?;
                        }
                        None => self.spend(start, FIELD + (inner_end - at))?,
                    }
                    at = inner_end;
                }
                _ => return Err(invalid(start, format!("wire type {wire} of field {number}"))),
            }
        }
        Ok(())
    }

    fn spend(&mut self, at: usize, n_bytes: usize) -> Result<()> {
        self.decoded = self.decoded.saturating_add(n_bytes);
        if self.decoded <= self.max_decoded {
            return Ok(());
        }
        let kind = FormatErrorKind::LimitExceeded { value: self.decoded as u64, max: self.max_decoded as u64 };
        Err(fault::at(at as u64, kind, "bytes of memory for an ONNX model of this length"))
    }

    fn varint(&self, at: &mut usize, end: usize) -> Result<u64> {
        let start = *at;
        let mut value = 0u64;
        for (i, byte) in self.bytes[start..end].iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            *at += 1;
            if byte & 0x80 == 0 {
                // The tenth byte can hold only one more bit.
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
    fault::at(at as u64, FormatErrorKind::InvalidValue, format!("{}: this is not an ONNX model", what.into()))
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
        // Field 7, the graph, has 2 bytes: field 1, a node of 0 bytes.
        assert_eq!(of(&[0x3a, 2, 0x0a, 0]), None);
        // The node is longer than the graph that contains it.
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

    /// Refuses many values that take one or two bytes each in the file, but 8 or 24 bytes each when decoded.
    #[test]
    fn memory_out_of_proportion_is_refused() {
        let wrapped = |tag: u8, inner: Vec<u8>| {
            let mut len = Vec::new();
            prost::encoding::encode_varint(inner.len() as u64, &mut len);
            [vec![tag], len, inner].concat()
        };
        let too_much = |bytes: Vec<u8>| match of(&bytes) {
            Some(FormatErrorKind::LimitExceeded { max, .. }) => {
                assert_eq!(max, 4 * bytes.len() as u64 + (256 << 20));
                true
            }
            other => panic!("{other:?}"),
        };
        // Empty names of a node's inputs: each takes 2 bytes in the file and 24 in memory.
        let names = |n: usize| wrapped(0x3a, wrapped(0x0a, [0x0a, 0].repeat(n)));
        assert_eq!(of(&names(1 << 20)), None);
        assert!(too_much(names(16 << 20)));
        // Packed numbers of an initializer: each takes one byte in the file and 8 in memory.
        let numbers = |n: usize| wrapped(0x3a, wrapped(0x2a, wrapped(0x3a, vec![1; n])));
        assert_eq!(of(&numbers(1 << 20)), None);
        assert!(too_much(numbers(80 << 20)));
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
