//! Copies the records of a file in random order or into several files, with an index for each new file.

use crate::random::Random;
use mxrs_format::Options;
use mxrs_format::recordio::{ImageRecord, IndexedWriter, RecordReader};
use mxrs_types::{Error, Result};
use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Writes the records of `rec` to `out` in a random order, which depends on the seed, and an index next to it. Calls
/// `progress` with the number of records done so far; an error from it stops copying and leaves no files.
///
/// # Errors
/// Returns the errors of reading and writing, and of `progress`, and [`mxrs_types::ErrorKind::InvalidValue`] if both paths
/// are the same file.
pub fn shuffle_records(rec: &Path, out: &Path, seed: u64, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<u64> {
    let mut reader = RecordReader::open(rec, &Options::strict())?;
    let mut offsets = reader.offsets()?;
    Random::keyed(&[seed]).shuffle(&mut offsets);
    copy(rec, out, &offsets, 0..offsets.len(), &mut 0, progress)?;
    Ok(offsets.len() as u64)
}

/// Writes the records of `rec`, in order, to `n_parts` files `<prefix>_<part>.rec` with the same number of records each (up
/// to rounding), and an index for each. Returns the paths of the files.
///
/// # Errors
/// Returns the errors of [`shuffle_records`], and [`mxrs_types::ErrorKind::InvalidValue`] if `n_parts` is 0.
pub fn split_records(
    rec: &Path,
    prefix: &Path,
    n_parts: usize,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Vec<PathBuf>> {
    if n_parts == 0 {
        return Err(Error::invalid("parts", 0, "at least 1"));
    }
    let offsets = RecordReader::open(rec, &Options::strict())?.offsets()?;
    let bound = |part: usize| (offsets.len() as u128 * part as u128 / n_parts as u128) as usize;
    let mut done = 0;
    let mut files = Vec::new();
    for part in 0..n_parts {
        let mut out = OsString::from(prefix);
        out.push(format!("_{part}.rec"));
        let out = PathBuf::from(out);
        copy(rec, &out, &offsets, bound(part)..bound(part + 1), &mut done, progress)?;
        files.push(out);
    }
    Ok(files)
}

fn copy(
    rec: &Path,
    out: &Path,
    offsets: &[u64],
    range: Range<usize>,
    done: &mut u64,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let same = |a: &Path, b: &Path| a.canonicalize().ok().is_some_and(|a| b.canonicalize().ok() == Some(a));
    if same(rec, out) {
        return Err(Error::invalid("file to write", out.display(), "another file than the one that is read"));
    }
    let mut reader = RecordReader::open(rec, &Options::strict())?;
    let mut writer = IndexedWriter::create(out, out.with_extension("idx"))?;
    let mut used = HashSet::new();
    let mut spare = 0;
    for offset in &offsets[range] {
        let payload = reader.read_at(*offset)?;
        // A record without an id, or with the id of an earlier one, gets the next free number.
        let id = ImageRecord::unpack(&payload).ok().map(|record| record.id).filter(|id| !used.contains(id));
        let key = id.unwrap_or_else(|| {
            while used.contains(&spare) {
                spare += 1;
            }
            spare
        });
        used.insert(key);
        writer.write(key, &payload)?;
        *done += 1;
        if done.is_multiple_of(256) {
            progress(*done)?;
        }
    }
    writer.finish()?;
    progress(*done)
}
