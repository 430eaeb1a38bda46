//! Reading records one after the other.

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

/// Reads records in file order, or from given offsets when the source can seek.
///
/// Strict reading stops at the first damage. Lenient reading goes on at the next place where a record can start and
/// counts what it passed over ([`Self::skipped_bytes`]).
#[derive(Debug)]
pub struct RecordReader<R> {
    input: Reader<R>,
    path: Option<PathBuf>,
    lenient: bool,
    max_record: u64,
    /// No record that starts here or later is read.
    stop: u64,
    /// A head that was read before its time, and where it stands.
    pending: Option<(Head, u64)>,
    skipped: u64,
    warnings: Warnings,
}

impl<'a> RecordReader<&'a [u8]> {
    /// Over bytes in memory.
    pub fn from_slice(bytes: &'a [u8], options: &Options) -> Self {
        Self::new(Reader::from_slice(bytes), options)
    }
}

impl RecordReader<BufReader<File>> {
    /// Over a file.
    ///
    /// # Errors
    /// Those of opening it, with its path.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { path: Some(path.into()), ..Self::new(Reader::open(path)?, options) })
    }
}

/// What came instead of the next head.
enum Found {
    Head(Head, u64),
    End,
}

impl<R: Read> RecordReader<R> {
    /// Over any bounded cursor; [`Reader::from_stream`] makes one of a pipe.
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

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// `BadMagic`, `Truncated`, `InvalidValue` for a flag of 4 to 7, `Inconsistent` for parts out of order and
    /// `LimitExceeded`, each with the offset; lenient reading passes over all of these. I/O errors.
    pub fn next_record(&mut self) -> Result<Option<Vec<u8>>> {
        let mut record = Vec::new();
        Ok(self.read_into(&mut record)?.map(|_| record))
    }

    /// Replaces `record` by the next record; returns its offset, `None` at the end.
    ///
    /// # Errors
    /// As [`Self::next_record`].
    pub fn read_into(&mut self, record: &mut Vec<u8>) -> Result<Option<u64>> {
        self.next_usable(|reader| reader.read_record(record)).map_err(|e| match &self.path {
            Some(path) => e.with_path(path),
            None => e,
        })
    }

    /// Bytes that lenient reading passed over.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped
    }

    /// Offset of the next part.
    pub fn position(&self) -> u64 {
        self.pending.map_or(self.input.position(), |(_, start)| start)
    }

    /// Takes the warnings gathered so far.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings).into_list()
    }

    /// The next record that can be used, as `one` reads it; lenient reading passes over damage.
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

    /// Goes through the parts of the next record, each read by `part`, which is told head and place and whether it is the
    /// first; returns the record's offset.
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

    /// In lenient reading, the head that follows if `word`, the last one read, is the magic.
    fn head_after(&mut self, word: u32) -> Option<(Head, u64)> {
        let mut next = [0; 4];
        if !self.lenient || word != MAGIC || self.input.fill_some(&mut next).ok()? < 4 {
            return None;
        }
        let start = self.input.position() - 8;
        self.usable(u32::from_le_bytes(next)).map(|head| (head, start))
    }

    /// A second word with which a record can start here.
    fn usable(&self, word: u32) -> Option<Head> {
        let fits = |head: &Head| self.input.remaining().is_none_or(|left| u64::from(head.len) <= left);
        Head::decode(word).ok().filter(|head| head.starts_record()).filter(fits)
    }

    /// Moves to the next aligned place where a record can start, or to the end.
    fn find_head(&mut self) -> Result<()> {
        let mut after_magic = false;
        let mut bytes = [0; 4];
        // Parts start at multiples of 4 of the file.
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
    /// Goes to the record at this offset.
    ///
    /// # Errors
    /// `InvalidValue` for an offset that is not divisible by 4; I/O errors.
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        if !offset.is_multiple_of(4) {
            return Err(fault::at(offset, FormatErrorKind::InvalidValue, "record offset, expected a multiple of 4"));
        }
        self.pending = None;
        self.input.seek(offset)
    }

    /// The record at this offset.
    ///
    /// # Errors
    /// As [`Self::next_record`], lenient or not; `Truncated` at the end of the file.
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

    /// The offsets of all records from here on, up to the end or that of the range. Only their heads are read; the reader is
    /// left at the end.
    ///
    /// # Errors
    /// As [`Self::next_record`]; lenient reading passes over damage.
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

    /// Goes behind the next record; returns its offset.
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

    /// Goes to the start of `range` and reads only records that start inside it; see [`super::part_range`].
    ///
    /// # Errors
    /// As [`Self::seek`].
    pub fn set_range(&mut self, range: Range<u64>) -> Result<()> {
        self.stop = range.end;
        self.seek(range.start)
    }
}
