//! Where an iterator's records come from: one share of a file, in file order, again and again.

use mxrs_format::recordio::{Index, RecordReader, part_range};
use mxrs_format::{Options, reader::Reader};
use mxrs_types::{Error, Result};
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One record as it lies in the file.
pub(crate) struct Record {
    pub(crate) payload: Vec<u8>,
    /// Offset of its first byte in the file.
    pub(crate) offset: u64,
    /// How many records of this share come before it.
    pub(crate) number: u64,
}

/// One share of a record file.
pub(crate) struct RecordSource {
    path: PathBuf,
    reader: RecordReader<BufReader<File>>,
    share: Share,
    /// Records read in this pass.
    n_read: u64,
    /// Records of the share, once known.
    len: Option<u64>,
}

enum Share {
    /// All records that start in these bytes.
    Bytes(Range<u64>),
    /// The records at these offsets.
    Offsets(Vec<u64>),
}

impl RecordSource {
    /// Opens share `part` of `n_parts`: of the records listed in the index, or without one, of the bytes of the file.
    pub(crate) fn open(rec: &Path, idx: Option<&Path>, part: usize, n_parts: usize) -> Result<Self> {
        let size = std::fs::metadata(rec).map_err(|e| Error::io(rec, &e))?.len();
        let (part, n_parts) = (part as u64, n_parts as u64);
        let share = match idx {
            Some(idx) => {
                let index = Index::open(idx, Some(size))?;
                index.verify(&mut Reader::open(rec)?).map_err(|e| e.with_path(rec))?;
                let mut offsets: Vec<u64> = index.entries().iter().map(|(_, offset)| *offset).collect();
                offsets.sort_unstable();
                let share = (offsets.len() as u64).div_ceil(n_parts);
                let bound = |i: u64| share.saturating_mul(i).min(offsets.len() as u64) as usize;
                Share::Offsets(offsets[bound(part)..bound(part + 1)].to_vec())
            }
            None => {
                let file = File::open(rec).map_err(|e| Error::io(rec, &e))?;
                let range = part_range(BufReader::new(file), size, part, n_parts).map_err(|e| e.with_path(rec))?;
                Share::Bytes(range)
            }
        };
        let len = match &share {
            Share::Offsets(offsets) => Some(offsets.len() as u64),
            Share::Bytes(_) => None,
        };
        let reader = RecordReader::open(rec, &Options::strict())?;
        let mut source = Self { path: rec.into(), reader, share, n_read: 0, len };
        source.rewind()?;
        Ok(source)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Records of the share, if known without reading: from an index, or after a whole pass.
    pub(crate) fn known_len(&self) -> Option<u64> {
        self.len
    }

    /// Records of the share, counted in a pass of its own if need be.
    pub(crate) fn count(&mut self) -> Result<u64> {
        if let (None, Share::Bytes(range)) = (self.len, &self.share) {
            let mut reader = RecordReader::open(&self.path, &Options::strict())?;
            reader.set_range(range.clone())?;
            let mut record = Vec::new();
            let mut n = 0;
            while reader.read_into(&mut record).map_err(|e| e.with_path(&self.path))?.is_some() {
                n += 1;
            }
            self.len = Some(n);
        }
        Ok(self.len.unwrap_or(0))
    }

    /// Goes back to the first record.
    pub(crate) fn rewind(&mut self) -> Result<()> {
        self.n_read = 0;
        match &self.share {
            Share::Bytes(range) => self.reader.set_range(range.clone()).map_err(|e| e.with_path(&self.path)),
            Share::Offsets(_) => Ok(()),
        }
    }

    /// The next record; `None` after the last.
    pub(crate) fn next_record(&mut self) -> Result<Option<Record>> {
        let number = self.n_read;
        let next = match &self.share {
            Share::Bytes(_) => {
                let mut payload = Vec::new();
                self.reader.read_into(&mut payload).map(|offset| offset.map(|offset| (offset, payload)))
            }
            Share::Offsets(offsets) => match offsets.get(number as usize) {
                Some(offset) => self.reader.read_at(*offset).map(|payload| Some((*offset, payload))),
                None => Ok(None),
            },
        };
        match next {
            Ok(Some((offset, payload))) => {
                self.n_read += 1;
                Ok(Some(Record { payload, offset, number }))
            }
            Ok(None) => {
                self.len = Some(number);
                Ok(None)
            }
            Err(e) => Err(e.with_path(&self.path).context(format!("reading record {number} (counted from 0)"))),
        }
    }
}
