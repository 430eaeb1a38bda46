//! Reading of npz archives: converts their members to arrays.

use super::archive::Archive;
use super::directory::Member;
use crate::npy;
use crate::options::Warnings;
use crate::tensor::{Csr, Dense, RowSparse};
use crate::{AlignedBytes, ArrayFile, Arrays, Loaded, Options, Tensor, fault};
use indexmap::IndexMap;
use mxrs_types::{DType, FormatErrorKind, Result, Shape};
use std::collections::HashMap;
use std::io::{Cursor, Read, Seek};

/// Largest number of bytes accepted for the name of the sparse format (`csr`) in `format.npy`.
const MAX_FORMAT_WORD: u64 = 64;

/// Reads an npz archive from memory.
///
/// # Errors
/// Returns the errors of [`read`].
pub fn read_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<ArrayFile>> {
    read(Cursor::new(bytes), bytes.len() as u64, options)
}

/// Reads an npz archive of `len` bytes.
///
/// # Errors
/// Returns format errors: `Truncated` if the directory is missing, `UnsupportedFeature` for encryption and for compression
/// other than deflate, `InvalidValue` for names that lead out of the archive, `Duplicate` for repeated names,
/// `LimitExceeded` for members that unpack to more than 1000 times their size, `Inconsistent` for a wrong CRC-32 or sparse
/// parts that disagree; also the errors of npy arrays.
pub fn read<R: Read + Seek>(source: R, len: u64, options: &Options) -> Result<Loaded<ArrayFile>> {
    let mut warnings = Warnings::default();
    let mut archive = Archive::open(source, len, options)?;
    let members = std::mem::take(&mut archive.members);
    let by_name: HashMap<&str, &Member> = members.iter().map(|m| (m.name.as_str(), m)).collect();
    let mut named: IndexMap<String, Tensor> = IndexMap::new();
    for member in &members {
        if member.name.ends_with('/') {
            continue;
        }
        let Some(stem) = member.name.strip_suffix(".npy") else {
            if options.lenient {
                warnings.push(|| format!("zip member `{}` is not an npy array, ignored", member.name));
                continue;
            }
            let context = format!("zip member `{}`, expected a name that ends in .npy", member.name);
            return Err(fault::at(member.header_offset, FormatErrorKind::InvalidValue, context));
        };
        let folder = stem.rsplit_once('/').map(|(folder, _)| folder);
        let sparse = folder.filter(|folder| by_name.contains_key(format!("{folder}/format.npy").as_str()));
        let (name, tensor) = match sparse {
            Some(folder) if named.contains_key(folder) => continue,
            Some(folder) => {
                let mut parts =
                    Parts { archive: &mut archive, by_name: &by_name, folder, options, warnings: &mut warnings };
                let tensor = parts.sparse().map_err(|e| e.context(format!("reading sparse array `{folder}`")))?;
                (folder, tensor)
            }
            None => (stem, archive.unpack(member, |r| npy::read_from(r, options, &mut warnings))?),
        };
        if named.insert(name.to_string(), tensor).is_some() {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("array `{name}`, dense and sparse")));
        }
    }
    let is_list = named.keys().enumerate().all(|(i, name)| *name == format!("arr_{i}"));
    let arrays = if is_list { Arrays::Unnamed(named.into_values().collect()) } else { Arrays::Named(named) };
    Ok(warnings.with(ArrayFile { arrays, np_shape: false }))
}

/// The members of one sparse array, which are in one folder.
struct Parts<'a, R> {
    archive: &'a mut Archive<R>,
    by_name: &'a HashMap<&'a str, &'a Member>,
    folder: &'a str,
    options: &'a Options,
    warnings: &'a mut Warnings,
}

impl<R: Read + Seek> Parts<'_, R> {
    fn sparse(&mut self) -> Result<Tensor> {
        let format = self.format()?;
        let data = self.part("data")?;
        let (dtype, stored, bytes) = data.into_parts();
        let shape = self.shape()?;
        let indices = self.integers("indices")?;
        let check = |expected: Shape| {
            if stored == expected {
                return Ok(());
            }
            let context = format!("data of shape {stored}, the indices ask for {expected}");
            Err(fault::whole(FormatErrorKind::Inconsistent, context))
        };
        match format.as_str() {
            "row_sparse" => {
                let array = RowSparse::new(dtype, shape, indices, bytes)?;
                check(array.storage_shape())?;
                Ok(Tensor::RowSparse(Box::new(array)))
            }
            "csr" => {
                let indptr = self.integers("indptr")?;
                check([indices.len()].into())?;
                self.csr(dtype, shape, indptr, indices, bytes)
            }
            other => {
                let context = format!("sparse format `{}`, expected row_sparse or csr", other.escape_debug());
                Err(fault::whole(FormatErrorKind::InvalidValue, context))
            }
        }
    }

    fn csr(
        &mut self,
        dtype: DType,
        shape: Shape,
        indptr: Vec<i64>,
        indices: Vec<i64>,
        bytes: AlignedBytes,
    ) -> Result<Tensor> {
        if !self.options.lenient {
            return Ok(Tensor::Csr(Box::new(Csr::new(dtype, shape, indptr, indices, bytes)?)));
        }
        let (array, moved) = Csr::sorting(dtype, shape, indptr, indices, bytes)?;
        if moved {
            self.warnings.push(|| "csr array with unsorted columns, sorted".to_string());
        }
        Ok(Tensor::Csr(Box::new(array)))
    }

    fn member(&self, part: &str) -> Result<Member> {
        let name = format!("{}/{part}.npy", self.folder);
        self.by_name.get(name.as_str()).map(|&m| m.clone()).ok_or_else(|| {
            fault::whole(FormatErrorKind::Inconsistent, format!("a sparse array without its member `{name}`"))
        })
    }

    fn part(&mut self, part: &str) -> Result<Dense> {
        let member = self.member(part)?;
        let (options, warnings) = (self.options, &mut *self.warnings);
        match self.archive.unpack(&member, |r| npy::read_from(r, options, warnings))? {
            Tensor::Dense(dense) => Ok(*dense),
            other => other.as_dense().cloned(),
        }
    }

    /// Reads the name of the sparse format, which is everything after the header of `format.npy`. The header is skipped,
    /// because MXNet 2.0 writes a header that is not a valid dictionary.
    fn format(&mut self) -> Result<String> {
        let member = self.member("format")?;
        let options = self.options;
        let bytes = self.archive.unpack(&member, |r| {
            let start = r.position();
            let header = npy::read_prelude(r, options)?;
            r.bytes(header, "npy header")?;
            let used = r.position() - start;
            let len = member.size.saturating_sub(used);
            r.expect_count(len, 1, MAX_FORMAT_WORD, "format word")?;
            r.bytes(len, "format word")
        })?;
        let word: Vec<u8> = bytes.into_iter().filter(|&b| b != 0).collect();
        Ok(String::from_utf8_lossy(&word).trim().to_string())
    }

    fn integers(&mut self, part: &str) -> Result<Vec<i64>> {
        let dense = self.part(part)?;
        match dense.dtype() {
            DType::I64 if dense.shape().ndim() == 1 => Ok(dense.as_slice::<i64>()?.to_vec()),
            DType::I32 if dense.shape().ndim() == 1 => {
                Ok(dense.as_slice::<i32>()?.iter().map(|&v| i64::from(v)).collect())
            }
            dtype => {
                let context = format!("`{part}` is {dtype} of shape {}, expected a vector of int64", dense.shape());
                Err(fault::whole(FormatErrorKind::InvalidValue, context))
            }
        }
    }

    fn shape(&mut self) -> Result<Shape> {
        let sizes = self.integers("shape")?;
        let max = self.options.limits.max_ndim;
        if sizes.len() as u64 > max {
            let value = sizes.len() as u64;
            return Err(fault::whole(FormatErrorKind::LimitExceeded { value, max }, "number of axes"));
        }
        sizes
            .iter()
            .map(|&size| {
                usize::try_from(size).map_err(|_| {
                    fault::whole(FormatErrorKind::InvalidValue, format!("axis of size {size}, expected 0 or more"))
                })
            })
            .collect()
    }
}
