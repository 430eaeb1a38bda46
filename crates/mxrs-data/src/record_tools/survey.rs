//! Lists the records of a file, and makes its index.

use mxrs_format::Options;
use mxrs_format::recordio::{ImageRecord, Index, RecordReader};
use mxrs_types::{Error, Result};
use std::path::Path;

/// What is known of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordInfo {
    /// How many records come before it.
    pub number: u64,
    /// Where it starts.
    pub offset: u64,
    /// How many bytes it has, without the headers of its parts.
    pub len_bytes: u64,
    /// The id in the header of an image record; `None` for other records.
    pub id: Option<u64>,
    /// Its labels.
    pub labels: Vec<f32>,
    /// The format that the first bytes of its image show: `jpeg`, `png` or `other`.
    pub format: &'static str,
}

/// Calls `each` with every record of a file, in order.
///
/// # Errors
/// Those of reading, and of `each`.
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

/// Writes the index of a record file, keyed by the ids in the headers, or by 0, 1, 2, ... if `sequential` is set.
/// Returns how many records there are.
///
/// # Errors
/// Those of reading and writing; `Duplicate` for an id that occurs twice, which `sequential` avoids.
pub fn index_records(rec: &Path, idx: &Path, sequential: bool) -> Result<u64> {
    let mut reader = RecordReader::open(rec, &Options::strict())?;
    let index = Index::build(&mut reader, sequential).map_err(|e: Error| e.with_path(rec))?;
    index.save(idx)?;
    Ok(index.len() as u64)
}
