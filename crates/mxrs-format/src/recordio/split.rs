//! Splitting of a record file among several readers.

use super::MAGIC;
use super::part::Head;
use crate::fault;
use mxrs_types::{Error, Result};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// The byte range that reader number `part` of `n_parts` reads from a file of `len` bytes. The file is divided evenly, and
/// then each bound is moved forward to the next start of a record. The ranges of all readers together cover the whole file.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] unless `part < n_parts`, and I/O errors.
pub fn part_range<R: Read + Seek>(mut source: R, len: u64, part: u64, n_parts: u64) -> Result<Range<u64>> {
    if part >= n_parts {
        return Err(Error::invalid("part of a record file", part, format!("below {n_parts}")));
    }
    let share = len.div_ceil(n_parts).saturating_add(3) / 4 * 4;
    let mut bound = |i: u64| next_record(&mut source, share.saturating_mul(i).min(len), len);
    Ok(bound(part)?..bound(part + 1)?)
}

/// The first offset at or after `from` where a record starts, or `len`.
fn next_record<R: Read + Seek>(source: &mut R, from: u64, len: u64) -> Result<u64> {
    if from == 0 || from >= len {
        return Ok(from.min(len));
    }
    source.seek(SeekFrom::Start(from)).map_err(|e| fault::io(&e))?;
    let mut bytes = Vec::new();
    // The last word of a block is examined again with the next block, because a part starts with two words.
    let mut start = from;
    loop {
        const BLOCK: u64 = 64 << 10;
        source.by_ref().take(BLOCK - bytes.len() as u64).read_to_end(&mut bytes).map_err(|e| fault::io(&e))?;
        for at in (0..bytes.len().saturating_sub(7)).step_by(4) {
            let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            if word(at) == MAGIC && Head::decode(word(at + 4)).is_ok_and(Head::starts_record) {
                return Ok(start + at as u64);
            }
        }
        if (bytes.len() as u64) < BLOCK {
            return Ok(len);
        }
        start += BLOCK - 4;
        bytes.drain(..BLOCK as usize - 4);
    }
}
