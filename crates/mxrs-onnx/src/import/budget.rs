//! Limits on the sizes of values. A model of a hundred bytes can ask for terabytes, by `ConstantOfShape` or `Tile`. The import
//! allocates none of them, but binding would.

use super::options::ImportOptions;
use mxrs_format::fault;
use mxrs_format::onnx::{TensorProto, dtype};
use mxrs_types::{DType, Error, FormatErrorKind, PartialShape, Result, Shape};

/// Factor of the limit on all constants together.
const ALL: u64 = 8;

/// What the calls of a model may still ask for.
pub(super) struct Budget {
    max_constant: u64,
    max_value: u64,
    /// The most bytes of all constants that calls make.
    max_constants: u64,
    /// Bytes of the constants that calls made so far.
    constants: u64,
}

impl Budget {
    /// The limits for a model with these arrays.
    pub fn new(arrays: &[TensorProto], options: &ImportOptions) -> Self {
        let sizes = |array: &TensorProto| PartialShape::new(array.dims.iter().map(|size| usize::try_from(*size).ok()));
        let of_arrays = arrays.iter().map(|array| size_bytes(&sizes(array), dtype(array.data_type)));
        let of_arrays = of_arrays.fold(0, u64::saturating_add);
        Self {
            max_constant: options.max_constant_bytes,
            max_value: options.max_value_bytes,
            max_constants: options.max_constant_bytes.saturating_add(of_arrays).saturating_mul(ALL),
            constants: 0,
        }
    }

    /// Checks an output of a call. `read` is the size in bytes of the constants that the call reads if it reads nothing else,
    /// and `None` for other calls.
    ///
    /// # Errors
    /// Returns `LimitExceeded` if the output is too large, or an error if it has too many axes.
    pub fn spend(&mut self, shape: &PartialShape, dtype: Option<DType>, read: Option<u64>) -> Result<()> {
        if let Some(ndim) = shape.ndim().filter(|ndim| *ndim > Shape::MAX_NDIM) {
            return Err(Error::invalid("number of axes of the output", ndim, format!("at most {}", Shape::MAX_NDIM)));
        }
        let bytes = size_bytes(shape, dtype);
        let output = || format!("{shape} {}", dtype.map_or("", DType::name));
        let Some(read) = read else {
            return within(bytes, self.max_value, "max_value_bytes", || format!("the output {}", output()));
        };
        let max = self.max_constant.saturating_add(read);
        within(bytes, max, "max_constant_bytes", || format!("the constant output {}", output()))?;
        self.constants = self.constants.saturating_add(bytes);
        let all = || format!("all constants that nodes make, with the output {}", output());
        within(self.constants, self.max_constants, "max_constant_bytes", all)
    }
}

fn within(bytes: u64, max: u64, option: &str, what: impl FnOnce() -> String) -> Result<()> {
    if bytes <= max {
        return Ok(());
    }
    let advice = format!("if the model is from a source that you trust, raise `ImportOptions::{option}`");
    let context = format!("bytes of {}; {advice}", what());
    Err(fault::whole(FormatErrorKind::LimitExceeded { value: bytes, max }, context))
}

/// The size of a value in bytes. Unknown sizes count as 1; a number of unknown type has 4 bytes.
pub(super) fn size_bytes(shape: &PartialShape, dtype: Option<DType>) -> u64 {
    let dims = shape.dims().unwrap_or_default();
    if dims.contains(&Some(0)) {
        return 0;
    }
    let size_of = dtype.map_or(4, DType::size_of) as u64;
    dims.iter().flatten().fold(size_of, |bytes, size| bytes.saturating_mul(*size as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_saturate() {
        let size = |sizes: &[Option<usize>]| size_bytes(&PartialShape::new(sizes.iter().copied()), Some(DType::I64));
        assert_eq!(size(&[Some(2), None, Some(3)]), 48);
        assert_eq!(size(&[Some(usize::MAX), Some(usize::MAX)]), u64::MAX);
        assert_eq!(size(&[Some(usize::MAX), Some(usize::MAX), Some(0)]), 0);
        assert_eq!(size_bytes(&PartialShape::unknown(), None), 4);
    }

    #[test]
    fn each_limit_has_its_error() {
        let options = ImportOptions { max_constant_bytes: 100, max_value_bytes: 1000, ..ImportOptions::default() };
        let array = TensorProto { dims: vec![5], data_type: 1, ..TensorProto::default() };
        let mut budget = Budget::new(&[array], &options);
        let of = |size: usize| PartialShape::from(Shape::from([size]));
        budget.spend(&of(250), Some(DType::F32), None).unwrap();
        let error = budget.spend(&of(251), Some(DType::F32), None).unwrap_err().to_string();
        assert!(error.contains("1004 > 1000") && error.contains("(251,) float32"), "{error}");
        budget.spend(&of(25), Some(DType::F32), Some(0)).unwrap();
        budget.spend(&of(30), Some(DType::F32), Some(20)).unwrap();
        let error = budget.spend(&of(31), Some(DType::F32), Some(20)).unwrap_err().to_string();
        assert!(error.contains("124 > 120") && error.contains("constant output (31,) float32"), "{error}");
        // All constants together may have 8 · (100 + 20) bytes; 220 are spent.
        for _ in 0..7 {
            budget.spend(&of(25), Some(DType::F32), Some(0)).unwrap();
        }
        let error = budget.spend(&of(25), Some(DType::F32), Some(0)).unwrap_err().to_string();
        assert!(error.contains("1020 > 960") && error.contains("all constants"), "{error}");
        let axes = PartialShape::of_rank(33);
        assert!(budget.spend(&axes, None, None).unwrap_err().to_string().contains("at most 32"));
    }
}
