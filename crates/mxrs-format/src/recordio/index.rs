//! The index of a record file (`.idx`): `<key>\t<byte offset>` per line.

use super::{ImageRecord, RecordReader};
use crate::reader::{Reader, read_text_file};
use crate::{fault, write_atomically};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fmt::Write as _;
use std::io::{Read, Seek};
use std::path::Path;

/// The offset of each record, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Pairs of key and offset, in file order.
    entries: Vec<(u64, u64)>,
    /// Indices into `entries`, sorted by key; empty if `entries` are already sorted.
    by_key: Vec<usize>,
}

impl Index {
    /// An index of these keys and offsets, in the given order.
    ///
    /// # Errors
    /// Returns `Duplicate` for a key that occurs twice.
    pub fn from_entries(entries: Vec<(u64, u64)>) -> Result<Self> {
        let mut index = Self { entries, by_key: Vec::new() };
        if index.entries.windows(2).all(|two| two[0].0 < two[1].0) {
            return Ok(index);
        }
        index.by_key = (0..index.entries.len()).collect();
        index.by_key.sort_by_key(|&at| index.entries[at].0);
        let key = |at: usize| index.entries[at].0;
        match index.by_key.windows(2).find(|two| key(two[0]) == key(two[1])) {
            Some(two) => Err(fault::whole(FormatErrorKind::Duplicate, format!("key {} of an index", key(two[0])))),
            None => Ok(index),
        }
    }

    /// Parses an index. `rec_len` is the size of the record file, if known.
    ///
    /// # Errors
    /// Returns `Syntax` for a line without tab, `InvalidValue` for a key or offset that is not a number, and `InvalidValue`
    /// for an offset that is beyond the file or not divisible by 4. These errors contain the line. Returns `Duplicate` for a
    /// repeated key.
    pub fn from_bytes(bytes: &[u8], rec_len: Option<u64>) -> Result<Self> {
        let mut entries = Vec::new();
        let mut start = 0;
        for (number, line) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
            let fail = |kind: FormatErrorKind, what: String| {
                Err::<Self, Error>(fault::at(start, kind, format!("line {}: {what}", number + 1)))
            };
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let Some(tab) = text.iter().position(|&b| b == b'\t') else {
                return fail(FormatErrorKind::Syntax, "expected key, tab and offset".into());
            };
            let (Some(key), Some(offset)) = (decimal(&text[..tab]), decimal(&text[tab + 1..])) else {
                let shown: String = String::from_utf8_lossy(text).chars().take(80).collect();
                return fail(
                    FormatErrorKind::InvalidValue,
                    format!("expected two numbers, found `{}`", shown.escape_debug()),
                );
            };
            if offset % 4 != 0 {
                return fail(FormatErrorKind::InvalidValue, format!("offset {offset}, expected a multiple of 4"));
            }
            if let Some(len) = rec_len.filter(|len| offset >= *len) {
                return fail(FormatErrorKind::InvalidValue, format!("offset {offset} in a record file of {len} bytes"));
            }
            entries.push((key, offset));
            start += line.len() as u64;
        }
        Self::from_entries(entries)
    }

    /// Reads an index file, as [`Self::from_bytes`] does from memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`] with the path, and I/O errors.
    pub fn open(path: impl AsRef<Path>, rec_len: Option<u64>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_text_file(path, u64::MAX, "index")?;
        Self::from_bytes(&bytes, rec_len).map_err(|e| e.with_path(path))
    }

    /// Builds the index of a record file. The key is the id in each image header, or 0, 1, 2, ... if `sequential`.
    ///
    /// # Errors
    /// Returns the errors of reading the records and their headers, and `Duplicate` for an id that occurs twice.
    pub fn build<R: Read>(records: &mut RecordReader<R>, sequential: bool) -> Result<Self> {
        let mut entries = Vec::new();
        let mut record = Vec::new();
        while let Some(offset) = records.read_into(&mut record)? {
            let key = if sequential { entries.len() as u64 } else { ImageRecord::unpack(&record)?.id };
            entries.push((key, offset));
        }
        Self::from_entries(entries)
    }

    /// Checks that a record starts at every offset.
    ///
    /// # Errors
    /// Returns `BadMagic` for an offset where no record starts, `Truncated` for one beyond the end, and I/O errors.
    pub fn verify<R: Read + Seek>(&self, records: &mut Reader<R>) -> Result<()> {
        for &(key, offset) in &self.entries {
            records.seek(offset)?;
            let word = records.u32("record of an index")?;
            if word != super::MAGIC {
                let kind = FormatErrorKind::BadMagic { found: u64::from(word) };
                return Err(fault::at(offset, kind, format!("the index puts record {key} here")));
            }
        }
        Ok(())
    }

    /// Offset of the record with this key.
    pub fn offset(&self, key: u64) -> Option<u64> {
        let at = if self.by_key.is_empty() {
            self.entries.binary_search_by_key(&key, |e| e.0).ok()?
        } else {
            self.by_key[self.by_key.binary_search_by_key(&key, |&at| self.entries[at].0).ok()?]
        };
        Some(self.entries[at].1)
    }

    /// Keys and offsets of all records, in file order.
    pub fn entries(&self) -> &[(u64, u64)] {
        &self.entries
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The text of the index file.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.entries.len() * 16);
        for (key, offset) in &self.entries {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key}\t{offset}");
        }
        text
    }

    /// Writes the index file, atomically.
    ///
    /// # Errors
    /// Returns I/O errors with the path.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path, |sink| sink.write_all(self.to_text().as_bytes()).map_err(|e| fault::io(&e)))
    }
}

/// Parses plain decimal digits; signs and spaces are refused.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok().filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;

    #[test]
    fn lines_in_any_order() {
        let index = Index::from_bytes(b"7\t16\n3\t0\r\n5\t8", Some(24)).unwrap();
        assert_eq!(index.entries(), [(7, 16), (3, 0), (5, 8)]);
        assert_eq!([3, 5, 7, 4].map(|key| index.offset(key)), [Some(0), Some(8), Some(16), None]);
        assert_eq!(index.to_text(), "7\t16\n3\t0\n5\t8\n");
        assert!(Index::from_bytes(b"", None).unwrap().is_empty());
    }

    #[test]
    fn bad_lines() {
        let cases = [
            (&b"1 0\n"[..], FormatErrorKind::Syntax),
            (b"1\t0\n\n", FormatErrorKind::Syntax),
            (b"x\t0\n", FormatErrorKind::InvalidValue),
            (b"+1\t0\n", FormatErrorKind::InvalidValue),
            (b"1\t-4\n", FormatErrorKind::InvalidValue),
            (b"1\t0\t0\n", FormatErrorKind::InvalidValue),
            (b"1\t\n", FormatErrorKind::InvalidValue),
            (b"1\t2\n", FormatErrorKind::InvalidValue),
            (b"1\t24\n", FormatErrorKind::InvalidValue),
            (b"1\t0\n2\t8\n1\t16\n", FormatErrorKind::Duplicate),
        ];
        for (text, kind) in cases {
            let e = Index::from_bytes(text, Some(24)).unwrap_err();
            assert_eq!(category(&e), Some(&kind), "{}", text.escape_ascii());
        }
        let e = Index::from_bytes(b"1\t0\n2 8\n", None).unwrap_err();
        assert!(e.to_string().contains("line 2"), "{e}");
    }
}
