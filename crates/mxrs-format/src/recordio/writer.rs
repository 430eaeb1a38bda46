//! Sequential writing of records.

use super::part::{Head, Role, padding};
use super::{MAGIC, MAX_PART};
use crate::{AtomicFile, fault};
use mxrs_types::{FormatErrorKind, Result};
use std::io::Write;
use std::path::Path;

/// Writes records in sequence.
#[derive(Debug)]
pub struct RecordWriter<W> {
    sink: W,
    position: u64,
}

impl RecordWriter<AtomicFile> {
    /// Starts to write a file, which gets its name in [`Self::finish`].
    ///
    /// # Errors
    /// Fails if the temporary file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        AtomicFile::create(path).map(Self::new)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns the errors of [`AtomicFile::commit`].
    pub fn finish(self) -> Result<()> {
        self.sink.commit()
    }
}

impl<W: Write> RecordWriter<W> {
    /// A writer to `sink`, whose current position becomes offset 0.
    pub fn new(sink: W) -> Self {
        Self { sink, position: 0 }
    }

    /// Offset of the next record.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the sink.
    pub fn into_inner(self) -> W {
        self.sink
    }

    /// Writes one record and returns its offset.
    ///
    /// # Errors
    /// Returns `LimitExceeded` for payloads of 2^29 bytes or more, and I/O errors.
    pub fn write(&mut self, payload: &[u8]) -> Result<u64> {
        if payload.len() > MAX_PART {
            let kind = FormatErrorKind::LimitExceeded { value: payload.len() as u64, max: MAX_PART as u64 };
            return Err(fault::whole(kind, "bytes of a record"));
        }
        let start = self.position;
        let mut part = 0;
        for at in (0..payload.len() / 4 * 4).step_by(4) {
            if payload[at..at + 4] == MAGIC.to_le_bytes() {
                self.put(if part == 0 { Role::First } else { Role::Middle }, &payload[part..at])?;
                part = at + 4;
            }
        }
        self.put(if part == 0 { Role::Whole } else { Role::Last }, &payload[part..])?;
        Ok(start)
    }

    fn put(&mut self, role: Role, data: &[u8]) -> Result<()> {
        let head = Head { role, len: data.len() as u32 };
        let words = [MAGIC, head.encode()].map(u32::to_le_bytes).concat();
        let pad = padding(head.len);
        for bytes in [&words, data, &[0; 3][..pad]] {
            self.sink.write_all(bytes).map_err(|e| fault::io(&e))?;
        }
        self.position += 8 + data.len() as u64 + pad as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::recordio::RecordReader;

    /// Tests how records are split where the payload contains the magic number, in seven cases. The expected words
    /// follow from the specification of the format.
    #[test]
    fn escaping() {
        let m = MAGIC.to_le_bytes();
        let cat = |parts: &[&[u8]]| parts.concat();
        let head = |flag: u32, len: u32| [m, (flag << 29 | len).to_le_bytes()].concat();
        let cases = [
            (vec![], head(0, 0)),
            (m.to_vec(), cat(&[&head(1, 0), &head(3, 0)])),
            (cat(&[b"abcd", &m, b"efg"]), cat(&[&head(1, 4), b"abcd", &head(3, 3), b"efg\0"])),
            (cat(&[&m, &m]), cat(&[&head(1, 0), &head(2, 0), &head(3, 0)])),
            (cat(&[b"ab", &m, b"cd"]), cat(&[&head(0, 8), b"ab", &m, b"cd"])),
            (cat(&[b"abcd", &m]), cat(&[&head(1, 4), b"abcd", &head(3, 0)])),
            (b"abcde".to_vec(), cat(&[&head(0, 5), b"abcde\0\0\0"])),
        ];
        for (payload, expected) in cases {
            let mut writer = RecordWriter::new(Vec::new());
            assert_eq!(writer.write(&payload).unwrap(), 0);
            assert_eq!(writer.position(), expected.len() as u64);
            let bytes = writer.into_inner();
            assert_eq!(bytes, expected);
            let mut reader = RecordReader::from_slice(&bytes, &Options::strict());
            assert_eq!(reader.next_record().unwrap(), Some(payload));
            assert_eq!(reader.next_record().unwrap(), None);
        }
    }
}
