//! Writing of npz archives whose members are not compressed.

use super::directory::check_name;
use super::{CENTRAL, END, END64, EXTRA64, LOCAL, LOCATOR64};
use crate::{Arrays, Dense, Tensor, fault, npy};
use mxrs_types::{DType, Error, Result, Shape};
use std::io::Write;

/// 1 January 1980, the earliest date of the format. It is constant so that files do not depend on the time of writing.
const DATE: u32 = 0x0021_0000;
/// Zip version that a reader needs for zip64.
const VERSION64: u16 = 45;
/// Zip version that a reader needs for members without zip64 fields.
const VERSION: u16 = 20;

/// Writes the arrays as members without compression. Arrays without names are called `arr_0`, `arr_1`, ...
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] for names that an archive cannot hold and for "none" arrays, and I/O
/// errors.
pub fn write<W: Write + ?Sized>(sink: &mut W, arrays: &Arrays) -> Result<()> {
    let mut archive = Archive { sink, offset: 0, directory: Vec::new(), count: 0 };
    for (index, (name, tensor)) in arrays.iter().enumerate() {
        let unnamed = format!("arr_{index}");
        let name = name.unwrap_or(&unnamed);
        archive.array(name, tensor).map_err(|e| e.context(format!("writing array `{name}`")))?;
    }
    archive.finish()
}

struct Archive<'a, W: ?Sized> {
    sink: &'a mut W,
    offset: u64,
    directory: Vec<u8>,
    count: u64,
}

/// A sink that only computes the length and CRC-32 of a member, which are written before its data.
struct Measure {
    crc: crc32fast::Hasher,
    len: u64,
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.crc.update(bytes);
        self.len += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<W: Write + ?Sized> Archive<'_, W> {
    fn array(&mut self, name: &str, tensor: &Tensor) -> Result<()> {
        if name.ends_with("/format") {
            return Err(Error::invalid("array name in npz", name, "a name that does not end in /format"));
        }
        match tensor {
            Tensor::None => Err(Error::invalid("array in npz", "a none array", "values; use the list format")),
            Tensor::Dense(dense) => self.npy(name, dense),
            Tensor::RowSparse(array) => {
                self.npy(&format!("{name}/data"), &dense(array.dtype(), array.storage_shape(), array.bytes())?)?;
                self.integers(&format!("{name}/indices"), array.indices())?;
                self.shape_and_format(name, array.shape(), "row_sparse")
            }
            Tensor::Csr(array) => {
                let stored = [array.indices().len()].into();
                self.npy(&format!("{name}/data"), &dense(array.dtype(), stored, array.bytes())?)?;
                self.integers(&format!("{name}/indptr"), array.indptr())?;
                self.integers(&format!("{name}/indices"), array.indices())?;
                self.shape_and_format(name, array.shape(), "csr")
            }
        }
    }

    fn shape_and_format(&mut self, name: &str, shape: &Shape, format: &str) -> Result<()> {
        let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        self.integers(&format!("{name}/shape"), &sizes)?;
        self.member(&format!("{name}/format"), |sink| npy::write_text(sink, format))
    }

    fn integers(&mut self, name: &str, numbers: &[i64]) -> Result<()> {
        self.npy(name, &dense(DType::I64, [numbers.len()].into(), bytemuck::cast_slice(numbers))?)
    }

    fn npy(&mut self, name: &str, array: &Dense) -> Result<()> {
        self.member(name, |sink| npy::write(sink, array))
    }

    fn member(&mut self, stem: &str, write: impl Fn(&mut dyn Write) -> Result<()>) -> Result<()> {
        let name = format!("{stem}.npy");
        check_name(&name).map_err(|why| Error::invalid("array name in npz", stem, format!("no {why}")))?;
        let Ok(name_len) = u16::try_from(name.len()) else {
            return Err(Error::invalid("array name in npz", format!("{} bytes", name.len()), "below 64 KiB"));
        };
        let mut measure = Measure { crc: crc32fast::Hasher::new(), len: 0 };
        write(&mut measure)?;
        let (crc, len) = (measure.crc.finalize(), measure.len);
        let wide = len >= u64::from(u32::MAX) || self.offset >= u64::from(u32::MAX);
        let version = if wide { VERSION64 } else { VERSION };
        // Bit 11 means that the name is UTF-8. Method 0 means not compressed.
        let mut head = [version.to_le_bytes(), 0x0800u16.to_le_bytes(), 0u16.to_le_bytes()].concat();
        head.extend(DATE.to_le_bytes());
        head.extend(crc.to_le_bytes());
        let narrow = if wide { u32::MAX } else { len as u32 };
        head.extend(narrow.to_le_bytes().repeat(2));
        head.extend(name_len.to_le_bytes());
        let mut local_extra = Vec::new();
        let mut central_extra = Vec::new();
        if wide {
            local_extra = extra(&[len, len]);
            central_extra = extra(&[len, len, self.offset]);
        }

        let directory = &mut self.directory;
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(version.to_le_bytes());
        directory.extend(&head);
        directory.extend((central_extra.len() as u16).to_le_bytes());
        // The length of the comment, the number of the disk and the attributes are zero.
        directory.extend([0; 10]);
        directory.extend(if wide { u32::MAX } else { self.offset as u32 }.to_le_bytes());
        directory.extend(name.as_bytes());
        directory.extend(&central_extra);
        self.count += 1;

        let local_extra_len = (local_extra.len() as u16).to_le_bytes();
        self.put(&[&LOCAL.to_le_bytes()[..], &head, &local_extra_len, name.as_bytes(), &local_extra].concat())?;
        write(DynSink(&mut *self.sink).as_write())?;
        self.offset += len;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.offset += bytes.len() as u64;
        self.sink.write_all(bytes).map_err(|e| fault::io(&e))
    }

    fn finish(mut self) -> Result<()> {
        let start = self.offset;
        let directory = std::mem::take(&mut self.directory);
        let size = directory.len() as u64;
        self.put(&directory)?;
        let wide = self.count >= u64::from(u16::MAX) || start + size >= u64::from(u32::MAX);
        if wide {
            let record = self.offset;
            let mut end = END64.to_le_bytes().to_vec();
            end.extend(44u64.to_le_bytes());
            end.extend(VERSION64.to_le_bytes().repeat(2));
            end.extend(0u64.to_le_bytes());
            end.extend([self.count, self.count, size, start].map(u64::to_le_bytes).concat());
            end.extend(LOCATOR64.to_le_bytes());
            end.extend(0u32.to_le_bytes());
            end.extend(record.to_le_bytes());
            end.extend(1u32.to_le_bytes());
            self.put(&end)?;
        }
        let narrow = |value: u64| if wide { u32::MAX } else { value as u32 };
        let count = if wide { u16::MAX } else { self.count as u16 };
        let mut end = END.to_le_bytes().to_vec();
        end.extend([0; 4]);
        end.extend(count.to_le_bytes().repeat(2));
        end.extend(narrow(size).to_le_bytes());
        end.extend(narrow(start).to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)
    }
}

/// Lets a possibly unsized sink be used as a trait object.
struct DynSink<'a, W: ?Sized>(&'a mut W);

impl<W: Write + ?Sized> DynSink<'_, W> {
    fn as_write(&mut self) -> &mut dyn Write {
        self
    }
}

impl<W: Write + ?Sized> Write for DynSink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// The zip64 extra field.
fn extra(fields: &[u64]) -> Vec<u8> {
    let mut bytes = EXTRA64.to_le_bytes().to_vec();
    bytes.extend((fields.len() as u16 * 8).to_le_bytes());
    bytes.extend(fields.iter().flat_map(|f| f.to_le_bytes()));
    bytes
}

fn dense(dtype: DType, shape: Shape, bytes: &[u8]) -> Result<Dense> {
    Dense::new(dtype, shape, bytes.into())
}
