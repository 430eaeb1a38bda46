//! Writing npy arrays.

use super::{MAGIC, header};
use crate::byte_order::write_little;
use crate::{Dense, fault};
use mxrs_types::{Error, Result};
use std::io::Write;

/// Writes an npy array of version 1.0, or of version 2.0 if the header is too long for 1.0.
///
/// # Errors
/// Returns I/O errors.
pub fn write<W: Write + ?Sized>(sink: &mut W, array: &Dense) -> Result<()> {
    write_header(sink, header::descr_of(array.dtype()), &array.shape().to_string())?;
    write_little(sink, array.bytes(), array.dtype().size_of()).map_err(|e| fault::io(&e))
}

/// Writes a byte string as a NumPy scalar of type `|S<n>`.
pub(crate) fn write_text<W: Write + ?Sized>(sink: &mut W, text: &str) -> Result<()> {
    write_header(sink, &format!("|S{}", text.len()), "()")?;
    sink.write_all(text.as_bytes()).map_err(|e| fault::io(&e))
}

fn write_header<W: Write + ?Sized>(sink: &mut W, descr: &str, shape: &str) -> Result<()> {
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let wide = dict.len() + 64 > usize::from(u16::MAX);
    let prelude = MAGIC.len() + 2 + if wide { 4 } else { 2 };
    let unpadded = prelude + dict.len() + 1;
    dict.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    dict.push('\n');
    let mut head = MAGIC.to_vec();
    if wide {
        let len = u32::try_from(dict.len()).map_err(|_| Error::invalid("npy header", dict.len(), "below 4 GiB"))?;
        head.extend([2, 0]);
        head.extend(len.to_le_bytes());
    } else {
        head.extend([1, 0]);
        head.extend((dict.len() as u16).to_le_bytes());
    }
    head.extend(dict.as_bytes());
    sink.write_all(&head).map_err(|e| fault::io(&e))
}

#[cfg(test)]
mod tests {
    use crate::{Options, Tensor, npy};
    use mxrs_types::DType;

    #[test]
    fn every_type_comes_back() {
        for dtype in DType::ALL {
            let bytes = crate::AlignedBytes::copy_of(&[1].repeat(6 * dtype.size_of()));
            let tensor = Tensor::dense(dtype, [2, 3], bytes).unwrap();
            let mut file = Vec::new();
            npy::write(&mut file, tensor.as_dense().unwrap()).unwrap();
            assert_eq!((file.len() - 6 * dtype.size_of()) % 64, 0);
            assert_eq!(npy::read_bytes(&file, &Options::strict()).unwrap().value, tensor);
        }
    }

    #[test]
    fn a_long_header_uses_version_two() {
        let shape = mxrs_types::Shape::new(std::iter::repeat_n(1, 25_000));
        let tensor = Tensor::dense(DType::U8, shape, crate::AlignedBytes::copy_of(&[7])).unwrap();
        let mut file = Vec::new();
        npy::write(&mut file, tensor.as_dense().unwrap()).unwrap();
        assert_eq!(file[6], 2);
        let limits = crate::Limits { max_ndim: 25_000, ..Default::default() };
        assert_eq!(npy::read_bytes(&file, &Options { limits, ..Options::default() }).unwrap().value, tensor);
    }
}
