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
    /// Opens a record file and its index. The length of a record is taken from the record itself, never from the next line
    /// of the index.
    ///
    /// # Errors
    /// Returns the errors of [`Index::open`], and I/O errors.
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

    /// Reads the record with this key.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] for an unknown key, and the errors of [`RecordReader::read_at`].
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
    /// Starts writing both files; they get their names in [`Self::finish`].
    ///
    /// # Errors
    /// Fails if the temporary file cannot be created.
    pub fn create(rec: impl AsRef<Path>, idx: impl AsRef<Path>) -> Result<Self> {
        let records = RecordWriter::create(rec)?;
        Ok(Self { records, idx: idx.as_ref().into(), entries: Vec::new(), keys: HashSet::new() })
    }

    /// Writes one record under a key.
    ///
    /// # Errors
    /// Returns `Duplicate` for a key used before, and the errors of [`RecordWriter::write`].
    pub fn write(&mut self, key: u64, payload: &[u8]) -> Result<()> {
        if !self.keys.insert(key) {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("record key {key}")));
        }
        let offset = self.records.write(payload)?;
        self.entries.push((key, offset));
        Ok(())
    }

    /// Completes both files, the record file first.
    ///
    /// # Errors
    /// Returns I/O errors with the path.
    pub fn finish(self) -> Result<()> {
        self.records.finish()?;
        Index::from_entries(self.entries)?.save(self.idx)
    }
}
