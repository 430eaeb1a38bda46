//! Reading of a parameter list: header, array records, names.

use super::LIST_MAGIC;
use super::array::{self, Record};
use crate::options::Warnings;
use crate::reader::Reader;
use crate::{ArrayFile, Arrays, Loaded, Options, Tensor, fault};
use indexmap::IndexMap;
use mxrs_types::{FormatErrorKind, Result};
use std::io::Read;

/// Size in bytes of the smallest array record, a V0 "none" array.
const LEAST_RECORD: u64 = 4;
/// Size in bytes of the smallest name, an empty one.
const LEAST_NAME: u64 = 8;

/// Reads a list from memory.
///
/// # Errors
/// Returns format errors with the offset, of any category except `Syntax`, `UnknownOperator` and `BadAttribute`.
pub fn read_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<ArrayFile>> {
    read_list(&mut Reader::from_slice(bytes), options)
}

/// Reads a list from a stream of unknown length, such as a pipe.
///
/// # Errors
/// Returns the errors of [`read_bytes`], and I/O errors.
pub fn read_stream<R: Read>(stream: R, options: &Options) -> Result<Loaded<ArrayFile>> {
    read_list(&mut Reader::from_stream(stream), options)
}

/// Reads one array record without a list around it.
///
/// # Errors
/// Returns the errors of [`read_bytes`].
pub fn read_array(bytes: &[u8], options: &Options) -> Result<Loaded<Tensor>> {
    let mut warnings = Warnings::default();
    let mut r = Reader::from_slice(bytes);
    let Record { tensor, .. } = array::read(&mut r, options, &mut warnings)?;
    check_end(&mut r, options, &mut warnings)?;
    Ok(warnings.with(tensor))
}

/// Reads a list.
///
/// # Errors
/// Returns the errors of [`read_bytes`], and I/O errors.
pub fn read_list<R: Read>(r: &mut Reader<R>, options: &Options) -> Result<Loaded<ArrayFile>> {
    let limits = &options.limits;
    let mut warnings = Warnings::default();
    let mut head = [0; 16];
    r.fill(&mut head, "list header")?;
    let [magic, reserved] = [&head[..8], &head[8..]].map(|w| w.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)));
    if magic != LIST_MAGIC {
        let hint = fault::looks_like(&head).map(|what| format!("; it looks like {what}")).unwrap_or_default();
        let context = format!("not an MXNet parameter list, which starts with {LIST_MAGIC:#x}{hint}");
        return Err(fault::at(0, FormatErrorKind::BadMagic { found: magic }, context));
    }
    if reserved != 0 {
        warnings.push(|| format!("reserved word of the header is {reserved:#x}, expected 0"));
    }

    let count = r.u64("number of arrays")?;
    let n = r.expect_count(count, LEAST_RECORD, limits.max_tensors, "number of arrays")?;
    // The input was checked to be long enough for `n` records. A `Tensor` takes two words, at most four times the length of
    // the smallest record, so the list takes at most four times the input. The length of a stream could not be checked.
    let mut tensors: Vec<Tensor> = Vec::with_capacity(if r.remaining().is_some() { n } else { n.min(1 << 10) });
    let mut np_shape = false;
    for index in 0..n {
        let record =
            array::read(r, options, &mut warnings).map_err(|e| e.context(format!("reading array {index} of {n}")))?;
        np_shape |= record.np_shape;
        tensors.push(record.tensor);
    }

    let place = r.position();
    let k = r.u64("number of names")?;
    if k != 0 && k != count {
        return Err(fault::at(place, FormatErrorKind::Inconsistent, format!("{k} names for {n} arrays")));
    }
    let arrays = if k == 0 {
        Arrays::Unnamed(tensors)
    } else {
        r.expect_count(k, LEAST_NAME, limits.max_tensors, "number of names")?;
        Arrays::Named(read_names(r, tensors, options, &mut warnings)?)
    };
    check_end(r, options, &mut warnings)?;
    Ok(warnings.with(ArrayFile { arrays, np_shape }))
}

fn read_names<R: Read>(
    r: &mut Reader<R>,
    tensors: Vec<Tensor>,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<IndexMap<String, Tensor>> {
    let mut named = IndexMap::new();
    for (index, tensor) in tensors.into_iter().enumerate() {
        let place = r.position();
        let name = r
            .string(options.limits.max_name, "name")
            .map_err(|e| e.context(format!("reading the name of array {index}")))?;
        if !options.lenient && named.contains_key(&name) {
            return Err(fault::at(place, FormatErrorKind::Duplicate, format!("array name `{name}`")));
        }
        if named.contains_key(&name) {
            warnings.push(|| format!("two arrays named `{name}`, the last one is kept"));
        }
        named.insert(name, tensor);
    }
    Ok(named)
}

/// Checks that the input has no more bytes. Trailing bytes are an error, or a warning in lenient reading.
pub(crate) fn check_end<R: Read>(r: &mut Reader<R>, options: &Options, warnings: &mut Warnings) -> Result<()> {
    let bytes = r.count_trailing()?;
    if bytes > 0 && !options.lenient {
        return Err(r.fault(FormatErrorKind::TrailingData { bytes }, "expected the end of the file"));
    }
    if bytes > 0 {
        warnings.push(|| format!("{bytes} bytes after the end, ignored"));
    }
    Ok(())
}
