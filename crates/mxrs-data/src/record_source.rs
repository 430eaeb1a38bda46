//! The source of an iterator's records: one share of a file, in a different order for each epoch if shuffled.

use crate::fault;
use crate::random::Random;
use mxrs_format::recordio::{Index, RecordReader, part_range};
use mxrs_format::{Options, reader::Reader};
use mxrs_types::{Error, Result};
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One record as it is stored in the file.
pub(crate) struct Record {
    /// The bytes of the record, or the error of reading them.
    pub(crate) payload: Result<Vec<u8>>,
    /// Offset of the record in the file.
    pub(crate) offset: u64,
    /// Number of records of this share that precede the record in the file.
    pub(crate) number: u64,
}

/// How the records of an epoch are shuffled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shuffle {
    /// Seed for shuffling the records.
    pub(crate) seed: Option<u64>,
    /// Shuffles whole chunks of records. If `seed` is also set, the records of each chunk are shuffled among themselves.
    pub(crate) chunks: Option<Chunks>,
}

/// Division of the file into chunks of neighboring records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    pub(crate) len_bytes: u64,
    pub(crate) seed: u64,
}

/// One share of a record file, with the records that the file had when it was opened.
pub(crate) struct RecordSource {
    path: PathBuf,
    reader: RecordReader<BufReader<File>>,
    share: Share,
    shuffle: Shuffle,
    /// Whether damage between records is skipped instead of being reported as an error.
    lenient: bool,
    /// Number of damaged bytes that were skipped.
    skipped_bytes: u64,
    epoch: u64,
    /// Number of records of this epoch that were read or skipped by a seek.
    n_read: u64,
    /// The epoch, and the numbers of its records in reading order.
    order: Option<(u64, Vec<u32>)>,
    /// Number of records of the share, once known.
    len: Option<u64>,
}

enum Share {
    /// All records that start in this byte range.
    Bytes(Range<u64>),
    /// The records at these offsets.
    Offsets(Vec<u64>),
}

impl RecordSource {
    /// Opens share `part` of `n_parts`: of the records in the index, or without an index, of the bytes of the file.
    pub(crate) fn open(
        rec: &Path,
        idx: Option<&Path>,
        (part, n_parts): (usize, usize),
        shuffle: Shuffle,
        lenient: bool,
    ) -> Result<Self> {
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
        let mut source = Self {
            path: rec.into(),
            reader,
            share,
            shuffle,
            lenient,
            skipped_bytes: 0,
            epoch: 0,
            n_read: 0,
            order: None,
            len,
        };
        source.start(0, 0)?;
        Ok(source)
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the current epoch.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of records of the share, if known without reading: from an index, or after a whole pass.
    pub(crate) fn known_len(&self) -> Option<u64> {
        self.len
    }

    /// Number of damaged bytes skipped between records, as far as known.
    pub(crate) fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// Number of records of the share. If it is not known yet, they are counted by reading their headers.
    pub(crate) fn count(&mut self) -> Result<u64> {
        if let (None, Share::Bytes(range)) = (self.len, &self.share) {
            self.len = Some(self.scan(range.clone())?.0.len() as u64);
        }
        Ok(self.len.unwrap_or(0))
    }

    /// The offsets of the records that start in a range, and the number of bytes skipped.
    fn scan(&self, range: Range<u64>) -> Result<(Vec<u64>, u64)> {
        let file = File::open(&self.path).map_err(|e| Error::io(&self.path, &e))?;
        let size = file.metadata().map_err(|e| Error::io(&self.path, &e))?.len();
        // A scan reads only the eight bytes of each header, so a large buffer would read unused bytes.
        let file = BufReader::with_capacity(8, file);
        let options = if self.lenient { Options::lenient() } else { Options::strict() };
        let mut reader = RecordReader::new(Reader::bounded(file, 0, size), &options);
        let offsets = reader.set_range(range).and_then(|()| reader.offsets()).map_err(|e| e.with_path(&self.path))?;
        for warning in reader.take_warnings() {
            tracing::warn!("{}: {warning}", self.path.display());
        }
        Ok((offsets, reader.skipped_bytes()))
    }

    /// Moves to the position in an epoch after its first `n_read` records.
    pub(crate) fn start(&mut self, epoch: u64, n_read: u64) -> Result<()> {
        (self.epoch, self.n_read) = (epoch, n_read);
        let in_order = self.shuffle == Shuffle::default();
        if let Share::Bytes(range) = &self.share {
            let range = range.clone();
            if in_order && n_read == 0 && !self.lenient {
                return self.reader.set_range(range).map_err(|e| e.with_path(&self.path));
            }
            let (offsets, skipped) = self.scan(range)?;
            self.skipped_bytes = skipped;
            self.len = Some(offsets.len() as u64);
            self.share = Share::Offsets(offsets);
            self.reader.set_range(0..u64::MAX)?;
        }
        if !in_order && self.order.as_ref().is_none_or(|(of, _)| *of != epoch) {
            self.order = Some((epoch, self.make_order(epoch)?));
        }
        Ok(())
    }

    fn make_order(&self, epoch: u64) -> Result<Vec<u32>> {
        let Share::Offsets(offsets) = &self.share else { return Ok(Vec::new()) };
        let most = Error::invalid("records to shuffle", offsets.len(), format!("at most {}", u32::MAX));
        let n = u32::try_from(offsets.len()).map_err(|_| most)?;
        let mut order: Vec<u32> = (0..n).collect();
        let Some(chunks) = self.shuffle.chunks else {
            if let Some(seed) = self.shuffle.seed {
                Random::keyed(&[seed, epoch]).shuffle(&mut order);
            }
            return Ok(order);
        };
        let start = offsets.first().copied().unwrap_or(0);
        let chunk_of = |number: u32| (offsets[number as usize] - start) / chunks.len_bytes.max(1);
        let mut runs: Vec<&mut [u32]> = order.chunk_by_mut(|a, b| chunk_of(*a) == chunk_of(*b)).collect();
        if let Some(seed) = self.shuffle.seed {
            for (run, number) in runs.iter_mut().zip(0..) {
                Random::keyed(&[seed, epoch, number]).shuffle(run);
            }
        }
        Random::keyed(&[chunks.seed, epoch]).shuffle(&mut runs);
        Ok(runs.concat())
    }

    /// Reads the next record; `None` after the last.
    ///
    /// # Errors
    /// Returns an error if the record cannot be found. If its offset is known but it cannot be read, the error is in
    /// `Record::payload` instead.
    pub(crate) fn next_record(&mut self) -> Result<Option<Record>> {
        let place = self.n_read;
        let named = |e: Error, path: &Path| {
            e.with_path(path).context(format!("reading record {place} of the epoch (counted from 0)"))
        };
        let record = match &self.share {
            Share::Bytes(range) => {
                let mut payload = Vec::new();
                let offset = self.reader.read_into(&mut payload).map_err(|e| named(e, &self.path))?;
                let end = self.reader.position();
                if offset.is_none() && end < range.end {
                    let context = "record file that has become shorter since it was opened";
                    return Err(named(fault::truncated(end as usize, range.end - end, 0, context), &self.path));
                }
                offset.map(|offset| Record { payload: Ok(payload), offset, number: place })
            }
            Share::Offsets(offsets) => {
                let number = match &self.order {
                    Some((_, order)) => order.get(place as usize).map(|number| *number as usize),
                    None => usize::try_from(place).ok(),
                };
                number.and_then(|number| offsets.get(number).map(|offset| (number, *offset))).map(|(number, offset)| {
                    let payload = if self.reader.position() == offset {
                        // The reader is already at this offset; a seek would discard its buffered bytes.
                        let mut payload = Vec::new();
                        match self.reader.read_into(&mut payload) {
                            Ok(Some(at)) if at == offset => Ok(payload),
                            Ok(_) => self.reader.read_at(offset),
                            Err(e) => Err(e),
                        }
                    } else {
                        self.reader.read_at(offset)
                    };
                    Record { payload: payload.map_err(|e| named(e, &self.path)), offset, number: number as u64 }
                })
            }
        };
        match &record {
            Some(_) => self.n_read += 1,
            None => self.len = self.len.or(Some(place)),
        }
        Ok(record)
    }
}
