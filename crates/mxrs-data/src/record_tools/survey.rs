//! Lists the records of a file, and writes its index.

use mxrs_format::Options;
use mxrs_format::recordio::{ImageRecord, Index, RecordReader};
use mxrs_types::{Error, Result};
use std::path::Path;

/// Properties of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordInfo {
    /// Number of records before it in the file.
    pub number: u64,
    /// Offset of the record in the file.
    pub offset: u64,
    /// Length of the record in bytes, without the headers of its parts.
    pub len_bytes: u64,
    /// The id in the header of an image record; `None` for other records.
    pub id: Option<u64>,
    /// Labels of an image record; empty for other records.
    pub labels: Vec<f32>,
    /// The format of the image according to its first bytes: `jpeg`, `png` or `other`.
    pub format: &'static str,
}

/// Calls `each` with every record of a file, in order.
///
/// # Errors
/// Returns the errors of reading, and of `each`.
pub fn survey_records(rec: &Path, each: &mut dyn FnMut(RecordInfo) -> Result<()>) -> Result<()> {
    let mut reader = RecordReader::open(rec, &Options::strict())?;
    let mut payload = Vec::new();
    let mut number = 0;
    while let Some(offset) = reader.read_into(&mut payload)? {
        let image = ImageRecord::unpack(&payload).ok();
        let format = match &image {
            Some(record) if record.image.starts_with(&[0xff, 0xd8]) => "jpeg",
            Some(record) if record.image.starts_with(b"\x89PNG") => "png",
            _ => "other",
        };
        each(RecordInfo {
            number,
            offset,
            len_bytes: payload.len() as u64,
            id: image.as_ref().map(|record| record.id),
            labels: image.map(|record| record.all_labels().to_vec()).unwrap_or_default(),
            format,
        })?;
        number += 1;
    }
    Ok(())
}

/// Writes the index of a record file. Keys are the ids in the headers, or 0, 1, 2, ... if `sequential` is set. Returns the
/// number of records.
///
/// # Errors
/// Returns the errors of reading and writing, and `Duplicate` for an id that occurs twice, which `sequential` avoids.
pub fn index_records(rec: &Path, idx: &Path, sequential: bool) -> Result<u64> {
    let mut reader = RecordReader::open(rec, &Options::strict())?;
    let index = Index::build(&mut reader, sequential).map_err(|e: Error| e.with_path(rec))?;
    index.save(idx)?;
    Ok(index.len() as u64)
}
