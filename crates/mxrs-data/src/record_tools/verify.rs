//! Checks that every record of a file can be read and decoded.

use crate::{DecodeLimits, decode, fault};
use mxrs_format::recordio::{ImageRecord, Index, RecordReader};
use mxrs_format::{Options, reader::Reader};
use mxrs_sync::{Mutex, Team, TeamConfig};
use mxrs_types::{Error, Result};
use std::num::NonZeroUsize;
use std::path::Path;

/// A record that cannot be unpacked or decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRecord {
    /// Number of readable records before it in the file.
    pub number: u64,
    /// Offset of the record in the file.
    pub offset: u64,
    /// Id of the record, if its header can be read.
    pub id: Option<u64>,
    /// The reason why the record is bad.
    pub reason: Error,
}

/// The result of [`verify_records`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerifyReport {
    /// Number of records that can be read, including those that cannot be decoded.
    pub n_records: u64,
    /// The records that cannot be decoded.
    pub bad: Vec<BadRecord>,
    /// Number of bytes that do not belong to any record.
    pub skipped_bytes: u64,
    /// The fault of the index, if an index was given and is faulty.
    pub index: Option<Error>,
}

impl VerifyReport {
    /// Whether neither the records nor the index have faults.
    pub fn is_good(&self) -> bool {
        self.bad.is_empty() && self.skipped_bytes == 0 && self.index.is_none()
    }
}

/// Number of records per thread that are read before they are decoded together.
const AHEAD: usize = 16;

/// Reads every record of a file and decodes its image, and compares the index with the records. Calls `progress` with the
/// number of records done so far; an error from it stops the verification.
///
/// # Errors
/// Returns I/O errors, and the errors of `progress`. Faults of the records are in the report instead.
pub fn verify_records(
    rec: &Path,
    idx: Option<&Path>,
    threads: NonZeroUsize,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    let mut reader = RecordReader::open(rec, &Options::lenient())?;
    let team = Team::new(TeamConfig { threads, cpus: None })?;
    let mut offsets = Vec::new();
    loop {
        let mut block = Vec::new();
        while block.len() < AHEAD * threads.get() {
            let mut payload = Vec::new();
            let Some(offset) = reader.read_into(&mut payload)? else { break };
            offsets.push(offset);
            block.push((offset, payload, Mutex::new(None)));
        }
        if block.is_empty() {
            break;
        }
        team.run(block.len(), &|i| {
            let (_, payload, outcome) = &block[i];
            *outcome.lock() = check(payload).err();
        });
        for (offset, payload, outcome) in block {
            let number = report.n_records;
            if let Some(reason) = outcome.into_inner() {
                let id = ImageRecord::unpack(&payload).ok().map(|record| record.id);
                let reason = fault::in_record(reason, number, offset).with_path(rec);
                report.bad.push(BadRecord { number, offset, id, reason });
            }
            report.n_records += 1;
        }
        progress(report.n_records)?;
    }
    report.skipped_bytes = reader.skipped_bytes();
    report.index = match idx {
        Some(idx) => check_index(rec, idx, &offsets)?,
        None => None,
    };
    Ok(report)
}

fn check(payload: &[u8]) -> Result<()> {
    let record = ImageRecord::unpack(payload)?;
    decode(record.image, 3, &DecodeLimits::default()).map(|_| ())
}

/// Returns the fault of an index that cannot be read, has wrong offsets, or lacks records; `None` for a correct index.
fn check_index(rec: &Path, idx: &Path, offsets: &[u64]) -> Result<Option<Error>> {
    let size = std::fs::metadata(rec).map_err(|e| Error::io(rec, &e))?.len();
    let index = match Index::open(idx, Some(size)) {
        Ok(index) => index,
        Err(e) => return Ok(Some(e)),
    };
    if let Err(e) = index.verify(&mut Reader::open(rec)?) {
        return Ok(Some(e.with_path(idx)));
    }
    let mut listed: Vec<u64> = index.entries().iter().map(|(_, offset)| *offset).collect();
    listed.sort_unstable();
    let left_out = offsets.iter().filter(|offset| listed.binary_search(offset).is_err()).count();
    let what = format!("records that {} leaves out", idx.display());
    Ok((left_out > 0).then(|| Error::invalid(what, left_out, "0")))
}
