//! Reading of MNIST's idx-ubyte files: arrays of bytes with a big-endian header, optionally gzipped.

use crate::fault;
use flate2::read::MultiGzDecoder;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// An array of bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct IdxArray {
    /// Sizes of the axes; there is at least one axis.
    pub sizes: Vec<usize>,
    /// The elements; their number is the product of the sizes.
    pub bytes: Vec<u8>,
}

/// The most axes that an array may have.
const MAX_AXES: usize = 8;
/// Largest ratio of unpacked to packed bytes of a gzipped file.
const MAX_RATIO: u64 = 1000;
/// Magic bytes of a gzip stream.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads an idx-ubyte file.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::Format`] with the offset in the unpacked bytes: `BadMagic`, `UnsupportedFeature` for
/// elements other than bytes, `Truncated`, `TrailingData`, `Overflow`. Returns I/O errors, also for a damaged gzip stream.
pub(crate) fn open(path: &Path) -> Result<IdxArray> {
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    let packed_bytes = file.metadata().map_err(|e| Error::io(path, &e))?.len();
    read_limited(BufReader::new(file), packed_bytes.saturating_mul(MAX_RATIO)).map_err(|e| e.with_path(path))
}

/// Reads an array from the start of a stream, which is unpacked if it has the gzip magic.
///
/// # Errors
/// Returns the errors of [`open`].
#[cfg(any(test, fuzzing))]
pub fn read(stream: impl Read) -> Result<IdxArray> {
    read_limited(stream, u64::MAX)
}

/// Reads an array from the start of a stream, which is unpacked if it has the gzip magic. Refuses a gzipped array of more
/// than `max_bytes`.
///
/// # Errors
/// Returns the errors of [`open`].
fn read_limited(mut stream: impl Read, max_bytes: u64) -> Result<IdxArray> {
    let mut start = [0; 2];
    let have = fill(&mut stream, &mut start)?;
    let whole = start[..have].chain(stream);
    if start[..have] == GZIP { read_plain(MultiGzDecoder::new(whole), max_bytes) } else { read_plain(whole, u64::MAX) }
}

fn read_plain(mut stream: impl Read, max_bytes: u64) -> Result<IdxArray> {
    let mut magic = [0; 4];
    let have = fill(&mut stream, &mut magic)?;
    if have < magic.len() {
        return Err(fault::truncated(0, 4, have, "header of an idx-ubyte file"));
    }
    let [0, 0, element, axes] = magic else {
        let found = u64::from(u32::from_be_bytes(magic));
        return Err(fault::at(0, FormatErrorKind::BadMagic { found }, "expected an idx-ubyte file (00 00 08 ..)"));
    };
    if element != 8 {
        let context = format!("idx file with elements of type {element:#04x}; bytes (0x08) are read");
        return Err(fault::at(2, FormatErrorKind::UnsupportedFeature, context));
    }
    let axes = usize::from(axes);
    if axes == 0 || axes > MAX_AXES {
        let context = format!("idx-ubyte file with {axes} axes, expected 1 to {MAX_AXES}");
        return Err(fault::at(3, FormatErrorKind::InvalidValue, context));
    }
    let mut sizes = Vec::with_capacity(axes);
    for axis in 0..axes {
        let mut word = [0; 4];
        let have = fill(&mut stream, &mut word)?;
        if have < word.len() {
            return Err(fault::truncated(4 + 4 * axis, 4, have, "sizes of an idx-ubyte file"));
        }
        sizes.push(u32::from_be_bytes(word) as usize);
    }
    let data = 4 + 4 * axes;
    let need = sizes.iter().try_fold(1_usize, |n, size| n.checked_mul(*size)).filter(|n| isize::try_from(*n).is_ok());
    let need = need.ok_or_else(|| fault::at(4, FormatErrorKind::Overflow, format!("sizes {sizes:?}")))?;
    if need as u64 > max_bytes {
        let kind = FormatErrorKind::LimitExceeded { value: need as u64, max: max_bytes };
        return Err(fault::at(
            4,
            kind,
            format!("gzipped array of sizes {sizes:?}, {MAX_RATIO} times its file at most"),
        ));
    }
    // The buffer grows with the bytes actually read, so a false header cannot cause a large allocation.
    let mut bytes = Vec::new();
    stream.by_ref().take(need as u64).read_to_end(&mut bytes).map_err(|e| io(&e))?;
    if bytes.len() < need {
        let have = bytes.len();
        return Err(fault::truncated(data, need as u64, have, format!("idx-ubyte array of sizes {sizes:?}")));
    }
    if fill(&mut stream, &mut [0])? > 0 {
        let kind = FormatErrorKind::TrailingData { bytes: 1 };
        return Err(fault::at(data + need, kind, format!("behind an idx-ubyte array of sizes {sizes:?}, or more")));
    }
    Ok(IdxArray { sizes, bytes })
}

fn io(error: &std::io::Error) -> Error {
    Error::from_io(error)
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes read.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match stream.read(&mut buffer[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(io(&e)),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use mxrs_types::ErrorKind;
    use proptest::prelude::*;
    use std::io::Write;

    fn encode(sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0, 8, sizes.len() as u8];
        out.extend(sizes.iter().flat_map(|s| s.to_be_bytes()));
        out.extend(bytes);
        out
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn kind(bytes: &[u8]) -> FormatErrorKind {
        match read(bytes).unwrap_err().kind() {
            ErrorKind::Format { kind, offset: Some(_), .. } => kind.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn plain_and_packed() {
        let bytes = encode(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let want = IdxArray { sizes: vec![2, 3], bytes: vec![1, 2, 3, 4, 5, 6] };
        assert_eq!(read(&bytes[..]).unwrap(), want);
        assert_eq!(read(&gzip(&bytes)[..]).unwrap(), want);
        let half = gzip(&bytes);
        assert!(read(&half[..half.len() - 9]).is_err());
        assert_eq!(kind(b"PNG!...."), FormatErrorKind::BadMagic { found: 0x504e_4721 });
        assert_eq!(kind(&[0, 0, 0xd, 1, 0, 0, 0, 0]), FormatErrorKind::UnsupportedFeature);
        assert_eq!(kind(&[0, 0, 8, 0]), FormatErrorKind::InvalidValue);
        assert_eq!(kind(&encode(&[u32::MAX; 3], &[])), FormatErrorKind::Overflow);
        assert_eq!(kind(&encode(&[u32::MAX], b"abc")), FormatErrorKind::Truncated { need: 0xffff_ffff, have: 3 });
        assert_eq!(kind(&encode(&[1], b"ab")), FormatErrorKind::TrailingData { bytes: 1 });
    }

    proptest! {
        /// Every truncation is noticed, no bytes cause a panic, and written arrays are read back.
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..80), sizes in prop::collection::vec(0_u32..5, 1..4)) {
            let _ = read(&bytes[..]);
            let _ = read(&[&[0, 0, 8][..], &bytes].concat()[..]);
            let _ = read(&[&GZIP[..], &bytes].concat()[..]);
            let n: u32 = sizes.iter().product();
            let data: Vec<u8> = (0..n).map(|i| i as u8).collect();
            let whole = encode(&sizes, &data);
            prop_assert_eq!(&read(&whole[..]).unwrap().bytes, &data);
            for len in 0..whole.len() {
                prop_assert!(read(&whole[..len]).is_err());
            }
        }
    }

    /// Gzipped zeros unpack to more than 1,000 times their size; deflate can reach 1,032 times.
    #[test]
    fn a_gzipped_file_cannot_unpack_without_limit() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&encode(&[1 << 24], &vec![0; 1 << 24])).unwrap();
        let packed = gzip.finish().unwrap();
        assert!(((1 << 24) / packed.len()) > 1000, "{} bytes", packed.len());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.gz");
        std::fs::write(&path, packed).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("zeros.gz") && error.contains("1000 times its file"), "{error}");
    }
}
