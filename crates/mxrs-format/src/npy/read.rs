//! Reading npy arrays.

use super::{Header, MAGIC};
use crate::byte_order::{big_to_host, little_to_host};
use crate::options::Warnings;
use crate::params::check_end;
use crate::reader::Reader;
use crate::tensor::size_bytes;
use crate::{AlignedBytes, Loaded, Options, Tensor, fault};
use mxrs_types::{DType, FormatErrorKind, Result};
use std::io::Read;

/// Reads an npy array from memory.
///
/// # Errors
/// Returns format errors with the offset.
pub fn read_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<Tensor>> {
    let mut warnings = Warnings::default();
    let tensor = read_from(&mut Reader::from_slice(bytes), options, &mut warnings)?;
    Ok(warnings.with(tensor))
}

/// Reads an npy array from a stream of unknown length.
///
/// # Errors
/// Returns the errors of [`read_bytes`], and I/O errors.
pub fn read_from_stream<R: Read>(stream: R, options: &Options) -> Result<Loaded<Tensor>> {
    let mut warnings = Warnings::default();
    let tensor = read_from(&mut Reader::from_stream(stream), options, &mut warnings)?;
    Ok(warnings.with(tensor))
}

/// Reads an array and checks that the file ends after it.
pub(crate) fn read_from<R: Read>(r: &mut Reader<R>, options: &Options, warnings: &mut Warnings) -> Result<Tensor> {
    let header = read_header(r, options)?;
    let place = r.position();
    let Header { dtype, big_endian, fortran_order, shape } = header;
    let size = size_bytes(&shape, dtype).map_err(|e| fault::place(e, place))?;
    let mut bytes = r.aligned(size as u64, &format!("data of shape {shape} {dtype}"))?;
    if big_endian {
        big_to_host(&mut bytes, dtype.size_of());
    } else {
        little_to_host(&mut bytes, dtype.size_of());
    }
    if dtype == DType::Bool && options.lenient && bytes.iter().any(|&b| b > 1) {
        bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
        warnings.push(|| "bool elements other than 0 and 1, read as 1".to_string());
    }
    if fortran_order && shape.ndim() > 1 && !bytes.is_empty() {
        bytes = to_row_major(&bytes, &shape, dtype.size_of());
    }
    let tensor = Tensor::dense(dtype, shape, bytes).map_err(|e| fault::place(e, place))?;
    check_end(r, options, warnings)?;
    Ok(tensor)
}

/// Reads the magic bytes, the version and the length of the header; returns that length.
pub(crate) fn read_prelude<R: Read>(r: &mut Reader<R>, options: &Options) -> Result<u64> {
    let place = r.position();
    let mut magic = [0; 6];
    r.fill(&mut magic, "npy magic")?;
    if magic != *MAGIC {
        let found = magic.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        return Err(fault::at(place, FormatErrorKind::BadMagic { found }, "not an npy array"));
    }
    let place = r.position();
    let (major, minor) = (r.u8("npy version")?, r.u8("npy version")?);
    let len = match (major, minor) {
        (1, 0) => u64::from(r.u16("npy header length")?),
        (2 | 3, 0) => u64::from(r.u32("npy header length")?),
        _ => {
            let context = format!("npy version {major}.{minor}, expected 1.0, 2.0 or 3.0");
            return Err(fault::at(place, FormatErrorKind::UnsupportedVersion, context));
        }
    };
    r.expect_count(len, 1, options.limits.max_header, "npy header length")?;
    Ok(len)
}

/// Reads all bytes before the data.
fn read_header<R: Read>(r: &mut Reader<R>, options: &Options) -> Result<Header> {
    let len = read_prelude(r, options)?;
    let place = r.position();
    let text = r.bytes(len, "npy header")?;
    Header::parse(&text, place, &options.limits)
}

/// Converts elements from column-major order (first axis fastest) to row-major order.
fn to_row_major(bytes: &[u8], shape: &[usize], item: usize) -> AlignedBytes {
    let mut out = AlignedBytes::zeroed(bytes.len());
    let mut index = vec![0usize; shape.len()];
    // Distance in bytes between neighbors along each axis of `bytes`.
    let mut step = vec![item; shape.len()];
    for axis in 1..shape.len() {
        step[axis] = step[axis - 1] * shape[axis - 1].max(1);
    }
    let mut from = 0;
    for slot in out.chunks_exact_mut(item) {
        slot.copy_from_slice(&bytes[from..from + item]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += step[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= step[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An npy file of version 1.0, built according to the specification of the format.
    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        [&MAGIC[..], &[1, 0], &(dict.len() as u16).to_le_bytes(), dict.as_bytes(), data].concat()
    }

    fn read(bytes: &[u8]) -> Result<Tensor> {
        read_bytes(bytes, &Options::strict()).map(|l| l.value)
    }

    #[test]
    fn fortran_order_is_transposed() {
        // a[i][j] = 10 i + j of shape (2, 3), first axis fastest.
        let t = read(&file("|u1", "True", "(2, 3)", &[0, 10, 1, 11, 2, 12])).unwrap();
        assert_eq!(t.as_slice::<u8>().unwrap(), &[0, 1, 2, 10, 11, 12]);
        let t = read(&file("|u1", "True", "(2, 1, 2)", &[0, 10, 1, 11])).unwrap();
        assert_eq!(t.as_slice::<u8>().unwrap(), &[0, 1, 10, 11]);
    }

    #[test]
    fn big_endian_is_swapped() {
        let t = read(&file(">f4", "False", "(1,)", &1.5f32.to_be_bytes())).unwrap();
        assert_eq!(t.as_slice::<f32>().unwrap(), &[1.5]);
        let t = read(&file("<b2", "False", "(1,)", &half::bf16::from_f32(1.5).to_le_bytes())).unwrap();
        assert_eq!(t.to_f32_vec().unwrap(), [1.5]);
    }

    #[test]
    fn broken_files() {
        let good = file("<f4", "False", "(1,)", &[0; 4]);
        let kind = |bytes: &[u8]| fault::category(&read(bytes).unwrap_err()).cloned().unwrap();
        assert!(matches!(kind(&good[..good.len() - 1]), FormatErrorKind::Truncated { need: 4, have: 3 }));
        assert_eq!(kind(&[&good[..], &[0]].concat()), FormatErrorKind::TrailingData { bytes: 1 });
        let version = [&good[..6], &[4, 0], &good[8..]].concat();
        assert_eq!(kind(&version), FormatErrorKind::UnsupportedVersion);
        assert!(matches!(kind(b"\x93NUMPX\x01\0\0\0"), FormatErrorKind::BadMagic { .. }));
        let huge = file("<f4", "False", "(4294967296, 4294967296)", &[]);
        assert_eq!(kind(&huge), FormatErrorKind::Overflow);
        let long = file("<f4", "False", "(1152921504606846975,)", &[]);
        assert!(matches!(kind(&long), FormatErrorKind::Truncated { .. }));
        assert_eq!(kind(&file("|b1", "False", "(1,)", &[2])), FormatErrorKind::InvalidValue);
    }
}
