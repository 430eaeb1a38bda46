//! Sequential reading of records.

use super::MAGIC;
use super::part::{Head, Role, padding};
use crate::options::Warnings;
use crate::reader::Reader;
use crate::{Options, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Reads records in file order, or from given offsets if the source can seek.
///
/// Strict reading stops at the first damage. Lenient reading continues at the next offset where a record can start, and
/// counts the skipped bytes ([`Self::skipped_bytes`]).
#[derive(Debug)]
pub struct RecordReader<R> {
    input: Reader<R>,
    path: Option<PathBuf>,
    lenient: bool,
    max_record: u64,
    /// Records that start at this offset or later are not read.
    stop: u64,
    /// The head of the next part and its offset, if it has already been read.
    pending: Option<(Head, u64)>,
    skipped: u64,
    warnings: Warnings,
}

impl<'a> RecordReader<&'a [u8]> {
    /// A reader of bytes in memory.
    pub fn from_slice(bytes: &'a [u8], options: &Options) -> Self {
        Self::new(Reader::from_slice(bytes), options)
    }
}

impl RecordReader<BufReader<File>> {
    /// A reader of a file.
    ///
    /// # Errors
    /// Returns the error of opening the file, with its path.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { path: Some(path.into()), ..Self::new(Reader::open(path)?, options) })
    }
}

/// Result of looking for the next head.
enum Found {
    Head(Head, u64),
    End,
}

impl<R: Read> RecordReader<R> {
    /// A reader of the records in `input`; [`Reader::from_stream`] makes an input from a pipe.
    pub fn new(input: Reader<R>, options: &Options) -> Self {
        Self {
            input,
            path: None,
            lenient: options.lenient,
            max_record: options.limits.max_record,
            stop: u64::MAX,
            pending: None,
            skipped: 0,
            warnings: Warnings::default(),
        }
    }

    /// Reads the next record; `None` at the end.
    ///
    /// # Errors
    /// Returns `BadMagic`, `Truncated`, `InvalidValue` for a flag of 4 to 7, `Inconsistent` for parts out of order and
    /// `LimitExceeded`, each with the offset; lenient reading skips the damage instead. Also returns I/O errors.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>> {
        let mut record = Vec::new();
        Ok(self.read_into(&mut record)?.map(|_| record))
    }

    /// Replaces `record` by the next record; returns its offset, or `None` at the end.
    ///
    /// # Errors
    /// Returns the errors of [`Self::next_record`].
    pub fn read_into(&mut self, record: &mut Vec<u8>) -> Result<Option<u64>> {
        self.next_usable(|reader| reader.read_record(record)).map_err(|e| match &self.path {
            Some(path) => e.with_path(path),
            None => e,
        })
    }

    /// Number of bytes that lenient reading skipped.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped
    }

    /// Offset of the next part to read.
    pub fn position(&self) -> u64 {
        self.pending.map_or(self.input.position(), |(_, start)| start)
    }

    /// Takes the warnings collected so far.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings).into_list()
    }

    /// Reads the next usable record with `one`; lenient reading skips damaged records.
    fn next_usable(&mut self, mut one: impl FnMut(&mut Self) -> Result<Option<u64>>) -> Result<Option<u64>> {
        loop {
            let start = self.position();
            if start >= self.stop {
                return Ok(None);
            }
            match one(self) {
                Err(e) if self.lenient && fault::category(&e).is_some() => {
                    self.warnings.push(|| format!("record at {start} passed over: {e}"));
                    if self.pending.is_none() {
                        self.find_head()?;
                    }
                    self.skipped += self.position() - start;
                }
                found => return found,
            }
        }
    }

    fn read_record(&mut self, record: &mut Vec<u8>) -> Result<Option<u64>> {
        record.clear();
        self.parts(|reader, head, place, is_first| {
            if !is_first {
                record.extend(MAGIC.to_le_bytes());
            }
            reader.read_part(head, place, record)
        })
    }

    /// Calls `part` for each part of the next record, with its head, its offset, and whether it is the first one. `part`
    /// must read the data of the part. Returns the offset of the record.
    fn parts(&mut self, mut part: impl FnMut(&mut Self, Head, u64, bool) -> Result<()>) -> Result<Option<u64>> {
        let (mut head, start) = match self.next_head()? {
            Found::Head(head, start) => (head, start),
            Found::End => return Ok(None),
        };
        if !head.starts_record() {
            let context = format!("part {} of a record whose first part is missing", head.role as u32);
            return Err(fault::at(start, FormatErrorKind::Inconsistent, context));
        }
        let mut place = start;
        loop {
            part(self, head, place, place == start)?;
            if matches!(head.role, Role::Whole | Role::Last) {
                return Ok(Some(start));
            }
            (head, place) = match self.next_head()? {
                Found::Head(next, place) => (next, place),
                Found::End => {
                    let place = self.input.position();
                    return Err(fault::truncated(place, 8, 0, format!("the record at {start} lacks its last part")));
                }
            };
            if head.starts_record() {
                self.pending = Some((head, place));
                let context = format!("a record starts before the one at {start} has its last part");
                return Err(fault::at(place, FormatErrorKind::Inconsistent, context));
            }
        }
    }

    fn next_head(&mut self) -> Result<Found> {
        if let Some((head, start)) = self.pending.take() {
            return Ok(Found::Head(head, start));
        }
        let start = self.input.position();
        let mut bytes = [0; 8];
        let have = self.input.fill_some(&mut bytes)?;
        if have == 0 {
            return Ok(Found::End);
        }
        if have < bytes.len() {
            return Err(fault::truncated(start, 8, have as u64, "head of a record"));
        }
        let [magic, word] = [[0, 1, 2, 3], [4, 5, 6, 7]].map(|at| u32::from_le_bytes(at.map(|i: usize| bytes[i])));
        if magic != MAGIC {
            self.pending = self.head_after(word);
            let found = u64::from(magic);
            return Err(fault::at(start, FormatErrorKind::BadMagic { found }, format!("expected {MAGIC:#x}")));
        }
        match Head::decode(word) {
            Ok(head) => Ok(Found::Head(head, start)),
            Err(flag) => {
                let context = format!("record flag {flag}, expected 0 to 3");
                Err(fault::at(start + 4, FormatErrorKind::InvalidValue, context))
            }
        }
    }

    /// For lenient reading: if `word`, the last word read, is the magic number, reads the head that follows it.
    fn head_after(&mut self, word: u32) -> Option<(Head, u64)> {
        let mut next = [0; 4];
        if !self.lenient || word != MAGIC || self.input.fill_some(&mut next).ok()? < 4 {
            return None;
        }
        let start = self.input.position() - 8;
        self.usable(u32::from_le_bytes(next)).map(|head| (head, start))
    }

    /// Decodes the second word of a part, if a record can start with it at the current position.
    fn usable(&self, word: u32) -> Option<Head> {
        let fits = |head: &Head| self.input.remaining().is_none_or(|left| u64::from(head.len) <= left);
        Head::decode(word).ok().filter(|head| head.starts_record()).filter(fits)
    }

    /// Moves to the next aligned offset where a record can start, or to the end.
    fn find_head(&mut self) -> Result<()> {
        let mut after_magic = false;
        let mut bytes = [0; 4];
        // Parts start at offsets divisible by 4.
        let unaligned = (4 - self.input.position() % 4) % 4;
        self.input.fill_some(&mut bytes[..unaligned as usize])?;
        while self.input.fill_some(&mut bytes)? == bytes.len() {
            let word = u32::from_le_bytes(bytes);
            if after_magic && let Some(head) = self.usable(word) {
                self.pending = Some((head, self.input.position() - 8));
                return Ok(());
            }
            after_magic = word == MAGIC;
        }
        Ok(())
    }

    fn read_part(&mut self, head: Head, place: u64, record: &mut Vec<u8>) -> Result<()> {
        let total = record.len() as u64 + u64::from(head.len);
        if total > self.max_record {
            let kind = FormatErrorKind::LimitExceeded { value: total, max: self.max_record };
            return Err(fault::at(place, kind, "bytes of a record"));
        }
        if matches!(head.role, Role::First | Role::Middle) && !head.len.is_multiple_of(4) {
            let context = format!("part {} of {} bytes, expected a multiple of 4", head.role as u32, head.len);
            return Err(fault::at(place, FormatErrorKind::Inconsistent, context));
        }
        self.input.append(u64::from(head.len), record, "record")?;
        let mut bytes = [0; 4];
        let want = padding(head.len);
        let have = self.input.fill_some(&mut bytes[..want])?;
        if have < want {
            if !self.lenient {
                let at = self.input.position();
                return Err(fault::truncated(at, want as u64, have as u64, "padding after a record"));
            }
            self.warnings.push(|| format!("no padding after the record at {place}"));
        }
        if bytes != [0; 4] {
            self.warnings.push(|| format!("padding after the record at {place} is not zero"));
        }
        Ok(())
    }
}

impl<R: Read + Seek> RecordReader<R> {
    /// Moves to the record at this offset.
    ///
    /// # Errors
    /// Returns `InvalidValue` for an offset that is not divisible by 4, and I/O errors.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        if !offset.is_multiple_of(4) {
            return Err(fault::at(offset, FormatErrorKind::InvalidValue, "record offset, expected a multiple of 4"));
        }
        self.pending = None;
        self.input.seek(offset)
    }

    /// Reads the record at this offset.
    ///
    /// # Errors
    /// Returns the errors of [`Self::next_record`] even in lenient reading, and `Truncated` at the end of the file.
    pub fn read_at(&mut self, offset: u64) -> Result<Vec<u8>> {
        self.seek(offset)?;
        let mut record = Vec::new();
        let path = self.path.clone();
        let named = |e: Error| path.map_or(e.clone(), |path| e.with_path(path));
        match self.read_record(&mut record) {
            Ok(Some(_)) => Ok(record),
            Ok(None) => Err(named(fault::truncated(offset, 8, 0, "record offset at the end of the file"))),
            Err(e) => {
                self.pending = None;
                Err(named(e))
            }
        }
    }

    /// The offsets of all records from the current position to the end of the file or range. Only the heads of parts are
    /// read. The reader is then at the end.
    ///
    /// # Errors
    /// Returns the errors of [`Self::next_record`]; lenient reading skips damage.
    pub fn offsets(&mut self) -> Result<Vec<u64>> {
        let mut offsets = Vec::new();
        while let Some(offset) = self.next_usable(Self::pass_over_record).map_err(|e| match &self.path {
            Some(path) => e.with_path(path),
            None => e,
        })? {
            offsets.push(offset);
        }
        Ok(offsets)
    }

    /// Skips the next record; returns its offset.
    fn pass_over_record(&mut self) -> Result<Option<u64>> {
        self.parts(|reader, head, _, _| {
            let mut len = u64::from(head.len);
            reader.input.expect(len, "record")?;
            let padded = len + padding(head.len) as u64;
            if !reader.lenient || reader.input.remaining().is_none_or(|left| left >= padded) {
                reader.input.expect(padded, "padding after a record")?;
                len = padded;
            }
            reader.input.seek(reader.input.position() + len)
        })
    }

    /// Moves to the start of `range` and limits reading to records that start inside it; see [`super::part_range`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::seek`].
    pub fn set_range(&mut self, range: Range<u64>) -> Result<()> {
        self.stop = range.end;
        self.seek(range.start)
    }
}
