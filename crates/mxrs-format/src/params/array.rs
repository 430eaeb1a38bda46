//! Reading of one array record, of any version.

use super::{V1, V2, V3};
use crate::byte_order::little_to_host;
use crate::options::Warnings;
use crate::reader::Reader;
use crate::tensor::{Csr, RowSparse, size_bytes};
use crate::{AlignedBytes, Options, Tensor, fault};
use mxrs_types::{DType, FormatErrorKind, Result, Shape, StorageType};
use std::io::Read;

/// An array, and whether the version of its record shows that the file has NumPy shape semantics.
pub(super) struct Record {
    pub tensor: Tensor,
    /// Whether the record was written with NumPy shape semantics.
    pub np_shape: bool,
}

/// Reads one record.
pub(super) fn read<R: Read>(r: &mut Reader<R>, options: &Options, warnings: &mut Warnings) -> Result<Record> {
    let start = r.position();
    let mut record = RecordReader { r, options, warnings };
    let tensor = match record.r.u32("array version")? {
        magic @ (V2 | V3) => record.versioned(magic == V3, start)?,
        V1 => {
            let shape = record.shape(false)?;
            record.old(shape)?
        }
        ndim => {
            let shape = record.narrow_shape(ndim)?;
            record.old(shape)?
        }
    };
    Ok(Record { np_shape: matches!(tensor, (_, true)), tensor: tensor.0 })
}

struct RecordReader<'a, R> {
    r: &'a mut Reader<R>,
    options: &'a Options,
    warnings: &'a mut Warnings,
}

impl<R: Read> RecordReader<'_, R> {
    /// Reads the rest of a V0 or V1 record after its shape. A shape without axes means a "none" array.
    fn old(&mut self, shape: Option<Shape>) -> Result<(Tensor, bool)> {
        match shape.filter(|s| s.ndim() > 0) {
            None => Ok((Tensor::None, false)),
            Some(shape) => {
                self.device()?;
                let dtype = self.dtype()?;
                Ok((self.dense(dtype, shape)?, false))
            }
        }
    }

    fn versioned(&mut self, np_shape: bool, start: u64) -> Result<(Tensor, bool)> {
        let place = self.r.position();
        let code = self.r.i32("storage type")?;
        let stype =
            StorageType::from_code(code).filter(|&s| !np_shape || s == StorageType::Dense).ok_or_else(|| {
                let expected = if np_shape { "0 (dense) in a V3 array" } else { "0, 1 or 2" };
                fault::at(place, FormatErrorKind::InvalidValue, format!("storage type {code}, expected {expected}"))
            })?;
        let storage_shape = if stype == StorageType::Dense { None } else { self.shape(false)? };
        let Some(shape) = self.shape(np_shape)?.filter(|s| np_shape || s.ndim() > 0) else {
            return Ok((Tensor::None, np_shape));
        };
        self.device()?;
        let dtype = self.dtype()?;
        let tensor = match storage_shape {
            None => self.dense(dtype, shape)?,
            Some(stored) => self.sparse(stype, dtype, shape, stored).map_err(|e| fault::place(e, start))?,
        };
        Ok((tensor, np_shape))
    }

    /// Reads a shape stored as `i32 ndim, [ndim]i64`. `None` is an unknown shape, which exists only with NumPy semantics.
    fn shape(&mut self, unknown_allowed: bool) -> Result<Option<Shape>> {
        let place = self.r.position();
        let ndim = self.r.i32("number of axes")?;
        if ndim == -1 && unknown_allowed {
            return Ok(None);
        }
        let Ok(ndim) = u64::try_from(ndim) else {
            return Err(fault::at(place, FormatErrorKind::InvalidValue, format!("number of axes {ndim}")));
        };
        self.check_ndim(place, ndim)?;
        self.r.expect(ndim * 8, "axes")?;
        let mut shape = Shape::scalar();
        let mut unknown = false;
        for _ in 0..ndim {
            let place = self.r.position();
            let size = self.r.i64("axis")?;
            if size == -1 && unknown_allowed {
                unknown = true;
                continue;
            }
            shape.push(usize::try_from(size).map_err(|_| {
                fault::at(place, FormatErrorKind::InvalidValue, format!("axis of size {size}, expected 0 or more"))
            })?);
        }
        Ok(Some(shape).filter(|_| !unknown))
    }

    /// Reads a shape stored as `[ndim]u32`.
    fn narrow_shape(&mut self, ndim: u32) -> Result<Option<Shape>> {
        let place = self.r.position() - 4;
        self.check_ndim(place, u64::from(ndim))?;
        self.r.expect(u64::from(ndim) * 4, "axes")?;
        (0..ndim).map(|_| Ok(self.r.u32("axis")? as usize)).collect::<Result<Shape>>().map(Some)
    }

    fn check_ndim(&self, place: u64, ndim: u64) -> Result<()> {
        let max = self.options.limits.max_ndim;
        if ndim > max {
            return Err(fault::at(place, FormatErrorKind::LimitExceeded { value: ndim, max }, "number of axes"));
        }
        Ok(())
    }

    fn device(&mut self) -> Result<()> {
        let kind = self.r.i32("device type")?;
        let id = self.r.i32("device number")?;
        if !matches!(kind, 1 | 2 | 3 | 5) {
            self.warnings.push(|| format!("unknown device type {kind} (number {id}), read to the CPU"));
        }
        Ok(())
    }

    fn dtype(&mut self) -> Result<DType> {
        let place = self.r.position();
        let flag = self.r.i32("element type")?;
        DType::from_flag(flag).ok_or_else(|| {
            fault::at(place, FormatErrorKind::InvalidValue, format!("element type {flag}, expected 0 to 12"))
        })
    }

    fn dense(&mut self, dtype: DType, shape: Shape) -> Result<Tensor> {
        let place = self.r.position();
        let bytes = self.elements(dtype, &shape, dtype != DType::Bool)?;
        Tensor::dense(dtype, shape, bytes).map_err(|e| fault::place(e, place))
    }

    /// Reads elements. If `may_be_later` is set, the elements need no check, and the owner of lent memory may itself read
    /// them later.
    fn elements(&mut self, dtype: DType, shape: &Shape, may_be_later: bool) -> Result<AlignedBytes> {
        let size = size_bytes(shape, dtype).map_err(|e| fault::place(e, self.r.position()))?;
        let what = format!("data of shape {shape} {dtype}");
        let mut bytes = self.r.aligned_or_later(size as u64, &what, self.options.lender.as_ref(), may_be_later)?;
        little_to_host(&mut bytes, dtype.size_of());
        if dtype == DType::Bool && self.options.lenient {
            let odd = bytes.iter().filter(|&&b| b > 1).count();
            if odd > 0 {
                bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
                self.warnings.push(|| format!("{odd} bool elements other than 0 and 1, read as 1"));
            }
        }
        Ok(bytes)
    }

    fn sparse(&mut self, stype: StorageType, dtype: DType, shape: Shape, stored: Shape) -> Result<Tensor> {
        let n_aux = if stype == StorageType::Csr { 2 } else { 1 };
        let mut aux_shapes = Vec::with_capacity(n_aux);
        for _ in 0..n_aux {
            aux_shapes.push(self.aux_header()?);
        }
        let expected: Shape = match stype {
            StorageType::Csr => [aux_shapes[1].1].into(),
            _ => std::iter::once(aux_shapes[0].1).chain(shape.iter().skip(1).copied()).collect(),
        };
        // MXNet may save a csr array before it knows the number of elements; its own loader ignores the storage shape.
        let unsettled = stype == StorageType::Csr && stored[..] == [0] && stored != expected;
        if stored != expected && !unsettled {
            let context = format!("{stype} array stores shape {stored}, its indices ask for {expected}");
            if !self.options.lenient {
                return Err(self.r.fault(FormatErrorKind::Inconsistent, context));
            }
            self.warnings.push(|| format!("{context}, which is taken"));
        }
        let bytes = self.elements(dtype, &expected, false)?;
        let mut aux = Vec::with_capacity(n_aux);
        for (aux_dtype, len) in aux_shapes {
            let numbers = self.elements(aux_dtype, &[len].into(), false)?;
            aux.push(match aux_dtype {
                DType::I32 => bytemuck::cast_slice::<u8, i32>(&numbers).iter().map(|&v| i64::from(v)).collect(),
                _ => bytemuck::cast_slice::<u8, i64>(&numbers).to_vec(),
            });
        }
        let mut aux = aux.into_iter();
        let first: Vec<i64> = aux.next().unwrap_or_default();
        let Some(second) = aux.next() else {
            return Ok(Tensor::RowSparse(Box::new(RowSparse::new(dtype, shape, first, bytes)?)));
        };
        let mut array = if self.options.lenient {
            let (array, moved) = Csr::sorting(dtype, shape, first, second, bytes)?;
            if moved {
                self.warnings.push(|| "csr array with unsorted columns, sorted".to_string());
            }
            array
        } else {
            Csr::new(dtype, shape, first, second, bytes)?
        };
        if unsettled {
            array.set_unsettled();
        }
        Ok(Tensor::Csr(Box::new(array)))
    }

    /// Reads element type and length of one index array.
    fn aux_header(&mut self) -> Result<(DType, usize)> {
        let place = self.r.position();
        let dtype = self.dtype()?;
        if dtype != DType::I64 && !(dtype == DType::I32 && self.options.lenient) {
            let context = format!("indices of a sparse array are {dtype}, expected int64");
            return Err(fault::at(place, FormatErrorKind::InvalidValue, context));
        }
        if dtype == DType::I32 {
            self.warnings.push(|| "int32 indices of a sparse array, read as int64".to_string());
        }
        let shape = self.shape(false)?;
        match shape.as_deref() {
            Some(&[len]) => Ok((dtype, len)),
            _ => Err(fault::at(place, FormatErrorKind::Inconsistent, "indices of a sparse array are not a vector")),
        }
    }
}
