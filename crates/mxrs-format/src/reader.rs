//! A bounded reader: every read is checked against the remaining length before memory is allocated for it.
//!
//! All readers of this crate follow these rules:
//! 1. No panic on any input; every failure is an [`Error`] with an offset.
//! 2. A length field is compared with the number of remaining bytes before memory is allocated. A stream of unknown length
//!    is read in chunks of at most 1 MiB, so memory grows only as data arrives.
//! 3. Arithmetic on sizes is checked, and overflow is an error of its own.
//! 4. A count is bounded by the remaining length divided by the size of the smallest element.

use crate::{AlignedBytes, Lender, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const CHUNK: usize = 1 << 20;

/// A bounded reader of a slice, a file or a stream.
#[derive(Debug)]
pub struct Reader<R> {
    inner: R,
    pos: u64,
    /// Offset at which the input ends, if known.
    end: Option<u64>,
    /// How to skip bytes, if the input can seek.
    pass: Option<fn(&mut R, u64) -> std::io::Result<()>>,
}

impl<'a> Reader<&'a [u8]> {
    /// A reader of bytes in memory.
    pub fn from_slice(bytes: &'a [u8]) -> Self {
        Self { inner: bytes, pos: 0, end: Some(bytes.len() as u64), pass: None }
    }
}

impl Reader<BufReader<File>> {
    /// A reader of a file, from its start to its current end.
    ///
    /// # Errors
    /// Returns the error of opening the file, with its path.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        let len = file.metadata().map_err(|e| Error::io(path, &e))?.len();
        Ok(Self::bounded(BufReader::with_capacity(64 << 10, file), 0, len))
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Moves to an offset from the start of the source.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        self.inner.seek(SeekFrom::Start(offset)).map_err(|e| fault::io(&e))?;
        self.pos = offset;
        Ok(())
    }

    /// Makes the reader skip the bytes that the owners of [lent](crate::Lent) memory read themselves.
    pub(crate) fn passing(mut self) -> Self {
        self.pass = Some(|inner, len| {
            let len = i64::try_from(len).map_err(std::io::Error::other)?;
            inner.seek(SeekFrom::Current(len)).map(drop)
        });
        self
    }
}

impl<R: Read> Reader<R> {
    /// A reader of a stream of unknown length.
    pub fn from_stream(inner: R) -> Self {
        Self { inner, pos: 0, end: None, pass: None }
    }

    /// A reader of the next `len` bytes of `inner`, whose current position is offset `start` of its file.
    pub fn bounded(inner: R, start: u64, len: u64) -> Self {
        Self { inner, pos: start, end: Some(start.saturating_add(len)), pass: None }
    }

    /// Byte offset of the next read.
    pub fn position(&self) -> u64 {
        self.pos
    }

    /// Number of bytes left, if known.
    pub fn remaining(&self) -> Option<u64> {
        self.end.map(|end| end.saturating_sub(self.pos))
    }

    /// Fills as much of `buffer` as the remaining input allows; returns the number of bytes read.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn fill_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = self.remaining().and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        let want = buffer.len().min(left);
        let mut done = 0;
        while done < want {
            match self.inner.read(&mut buffer[done..want]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(fault::io(&e)),
            }
        }
        self.pos += done as u64;
        Ok(done)
    }

    /// An error of this category at the current offset.
    pub(crate) fn fault(&self, kind: FormatErrorKind, context: impl Into<String>) -> Error {
        fault::at(self.pos, kind, context)
    }

    /// Checks that at least `need` bytes are left, if the length of the input is known.
    ///
    /// # Errors
    /// Returns `Truncated` if fewer bytes are left.
    pub fn expect(&self, need: u64, what: &str) -> Result<()> {
        match self.remaining() {
            Some(have) if have < need => Err(fault::truncated(self.pos, need, have, what)),
            _ => Ok(()),
        }
    }

    /// Checks that the remaining bytes can contain `count` elements of at least `min_size` bytes each, and that `count` is
    /// at most `max`.
    ///
    /// # Errors
    /// Returns `Truncated` or `LimitExceeded`.
    pub fn expect_count(&self, count: u64, min_size: u64, max: u64, what: &str) -> Result<usize> {
        self.expect(count.saturating_mul(min_size), what)?;
        if count > max {
            return Err(self.fault(FormatErrorKind::LimitExceeded { value: count, max }, what));
        }
        usize::try_from(count).map_err(|_| self.fault(FormatErrorKind::Overflow, what))
    }

    /// Fills the whole `buffer`.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn fill(&mut self, buffer: &mut [u8], what: &str) -> Result<()> {
        let need = buffer.len() as u64;
        self.expect(need, what)?;
        let start = self.pos;
        let have = self.fill_some(buffer)? as u64;
        if have < need { Err(fault::truncated(start, need, have, what)) } else { Ok(()) }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn u8(&mut self, what: &str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Reads a little-endian u16.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// Reads a little-endian u32.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Reads a little-endian i32.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn i32(&mut self, what: &str) -> Result<i32> {
        self.array(what).map(i32::from_le_bytes)
    }

    /// Reads a little-endian u64.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads a little-endian i64.
    ///
    /// # Errors
    /// Returns `Truncated` or an I/O error.
    pub fn i64(&mut self, what: &str) -> Result<i64> {
        self.array(what).map(i64::from_le_bytes)
    }

    /// Reads the next `len` bytes.
    ///
    /// # Errors
    /// Returns `Truncated`, before anything is allocated if the length is known, an I/O error, or `Overflow`.
    pub fn bytes(&mut self, len: u64, what: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.append(len, &mut bytes, what)?;
        Ok(bytes)
    }

    /// Appends the next `len` bytes to `bytes`, with the same checks as [`Self::bytes`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::bytes`]; bytes read before the error stay in `bytes`.
    pub fn append(&mut self, len: u64, bytes: &mut Vec<u8>, what: &str) -> Result<()> {
        self.expect(len, what)?;
        let mut left = usize::try_from(len).map_err(|_| self.fault(FormatErrorKind::Overflow, what))?;
        let step = if self.end.is_some() { left } else { CHUNK };
        while left > 0 {
            let part = left.min(step);
            let start = bytes.len();
            bytes.try_reserve(part).map_err(|_| self.fault(FormatErrorKind::Overflow, what))?;
            bytes.resize(start + part, 0);
            self.fill(&mut bytes[start..], what)?;
            left -= part;
        }
        Ok(())
    }

    /// Reads the next `len` bytes into memory that is aligned for every element type.
    ///
    /// # Errors
    /// Returns the errors of [`Self::bytes`].
    pub fn aligned(&mut self, len: u64, what: &str) -> Result<AlignedBytes> {
        self.aligned_in(len, what, None)
    }

    /// Like [`Self::aligned`], but in memory from `lender` if the length of the input is known.
    ///
    /// # Errors
    /// Returns the errors of [`Self::bytes`] and those of the lender.
    pub fn aligned_in(&mut self, len: u64, what: &str, lender: Option<&Lender>) -> Result<AlignedBytes> {
        self.aligned_or_later(len, what, lender, false)
    }

    /// Like [`Self::aligned_in`]. If `may_be_later` is set, bytes that the owner of the memory reads itself are skipped.
    ///
    /// # Errors
    /// Returns the errors of [`Self::aligned_in`].
    pub(crate) fn aligned_or_later(
        &mut self,
        len: u64,
        what: &str,
        lender: Option<&Lender>,
        may_be_later: bool,
    ) -> Result<AlignedBytes> {
        self.expect(len, what)?;
        let len = usize::try_from(len).map_err(|_| self.fault(FormatErrorKind::Overflow, what))?;
        if self.end.is_some() {
            let mut bytes = lender.map_or_else(|| Ok(AlignedBytes::zeroed(len)), |lender| lender.lend(len))?;
            match self.pass.filter(|_| may_be_later && cfg!(target_endian = "little")) {
                Some(pass) if bytes.read_later(self.pos) => {
                    pass(&mut self.inner, len as u64).map_err(|e| fault::io(&e))?;
                    self.pos += len as u64;
                }
                _ => self.fill(&mut bytes, what)?,
            }
            return Ok(bytes);
        }
        let mut bytes = AlignedBytes::default();
        while bytes.len() < len {
            let start = bytes.len();
            bytes.resize(len.min(start + CHUNK));
            self.fill(&mut bytes[start..], what)?;
        }
        Ok(bytes)
    }

    /// Reads a string as the formats store it: u64 length, then UTF-8 bytes, at most `max`.
    ///
    /// # Errors
    /// Returns `Truncated`, `LimitExceeded`, `InvalidValue` for text that is not UTF-8, or an I/O error.
    pub fn string(&mut self, max: u64, what: &str) -> Result<String> {
        let len = self.u64(what)?;
        self.expect_count(len, 1, max, what)?;
        let start = self.pos;
        let bytes = self.bytes(len, what)?;
        String::from_utf8(bytes)
            .map_err(|_| fault::at(start, FormatErrorKind::InvalidValue, format!("{what} is not UTF-8")))
    }

    /// Number of bytes after the current offset. If the length is not known, they are counted by reading them.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn count_trailing(&mut self) -> Result<u64> {
        if let Some(left) = self.remaining() {
            return Ok(left);
        }
        let mut block = vec![0; 64 << 10];
        let mut total = 0;
        loop {
            match self.inner.read(&mut block) {
                Ok(0) => return Ok(total),
                Ok(n) => total += n as u64,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(fault::io(&e)),
            }
        }
    }
}

/// Reads a whole text file of at most `max` bytes.
///
/// # Errors
/// Returns I/O errors with the path, and `LimitExceeded` for a longer file.
pub fn read_text_file(path: &Path, max: u64, what: &str) -> Result<Vec<u8>> {
    let mut reader = Reader::open(path)?;
    let len = reader.remaining().unwrap_or(0);
    reader.expect_count(len, 1, max, what).and_then(|_| reader.bytes(len, what)).map_err(|e| e.with_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;

    #[test]
    fn a_length_beyond_the_end_is_truncated_with_both_numbers() {
        let mut r = Reader::from_slice(&[1, 2, 3]);
        r.u8("first").unwrap();
        let e = r.bytes(1 << 60, "payload").unwrap_err();
        assert_eq!(category(&e), Some(&FormatErrorKind::Truncated { need: 1 << 60, have: 2 }));
        assert_eq!(r.position(), 1);
    }

    #[test]
    fn a_stream_of_unknown_length_is_read_in_chunks() {
        let data = vec![7u8; (CHUNK << 1) + 5];
        let mut r = Reader::from_stream(&data[..]);
        assert_eq!(r.bytes(data.len() as u64, "all").unwrap(), data);
        let mut r = Reader::from_stream(&data[..]);
        assert_eq!(&*r.aligned(data.len() as u64, "all").unwrap(), &data[..]);
        let mut r = Reader::from_stream(&data[..]);
        let e = r.aligned(1 << 40, "all").unwrap_err();
        assert!(matches!(category(&e), Some(FormatErrorKind::Truncated { .. })));
    }

    #[test]
    fn strings_are_limited_and_utf8() {
        let text = |len: u64, bytes: &[u8]| [&len.to_le_bytes(), bytes].concat();
        assert_eq!(Reader::from_slice(&text(2, b"ab")).string(10, "name").unwrap(), "ab");
        let kinds = [
            (text(1 << 50, b"ab"), 10, FormatErrorKind::Truncated { need: 1 << 50, have: 2 }),
            (text(2, b"ab"), 1, FormatErrorKind::LimitExceeded { value: 2, max: 1 }),
            (text(1, b"\xff"), 10, FormatErrorKind::InvalidValue),
        ];
        for (bytes, max, kind) in kinds {
            let e = Reader::from_slice(&bytes).string(max, "name").unwrap_err();
            assert_eq!(category(&e), Some(&kind));
        }
    }
}
