//! A record file with its index.

use super::{Index, RecordReader, RecordWriter};
use crate::{AtomicFile, Options, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Reads records by key.
#[derive(Debug)]
pub struct IndexedReader {
    records: RecordReader<BufReader<File>>,
    index: Index,
}

impl IndexedReader {
    /// Opens a record file and its index. The length of a record comes from the record itself, never from the next
    /// line of the index.
    ///
    /// # Errors
    /// Those of [`Index::open`]; I/O errors.
    pub fn open(rec: impl AsRef<Path>, idx: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let rec = rec.as_ref();
        let len = std::fs::metadata(rec).map_err(|e| Error::io(rec, &e))?.len();
        let index = Index::open(idx, Some(len))?;
        Ok(Self { records: RecordReader::open(rec, options)?, index })
    }

    /// The index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The record with this key.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] for an unknown key; those of [`RecordReader::read_at`].
    pub fn read(&mut self, key: u64) -> Result<Vec<u8>> {
        let offset = self.index.offset(key).ok_or_else(|| Error::invalid("record key", key, "a key of the index"))?;
        self.records.read_at(offset).map_err(|e| e.context(format!("reading record {key}")))
    }
}

/// Writes a record file and its index.
#[derive(Debug)]
pub struct IndexedWriter {
    records: RecordWriter<AtomicFile>,
    idx: PathBuf,
    entries: Vec<(u64, u64)>,
    keys: HashSet<u64>,
}

impl IndexedWriter {
    /// Starts both files; they take their names in [`Self::finish`].
    ///
    /// # Errors
    /// Those of creating the temporary file.
    pub fn create(rec: impl AsRef<Path>, idx: impl AsRef<Path>) -> Result<Self> {
        let records = RecordWriter::create(rec)?;
        Ok(Self { records, idx: idx.as_ref().into(), entries: Vec::new(), keys: HashSet::new() })
    }

    /// Writes one record under a key.
    ///
    /// # Errors
    /// `Duplicate` for a key used before; those of [`RecordWriter::write`].
    pub fn write(&mut self, key: u64, payload: &[u8]) -> Result<()> {
        if !self.keys.insert(key) {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("record key {key}")));
        }
        let offset = self.records.write(payload)?;
        self.entries.push((key, offset));
        Ok(())
    }

    /// Completes both files, the records first.
    ///
    /// # Errors
    /// I/O errors with the path.
    pub fn finish(self) -> Result<()> {
        self.records.finish()?;
        Index::from_entries(self.entries)?.save(self.idx)
    }
}
