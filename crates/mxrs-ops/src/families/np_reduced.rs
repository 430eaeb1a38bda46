//! The parameters, axes and samples that NumPy's reductions share.

use crate::dtypes::dtype_of;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Sample, op_enum, op_params};
use mxrs_types::{DType, Error, Result};

op_enum! {
    /// Element type of a sum, product or mean.
    pub enum SumDtype {
        F16 = "float16",
        F32 = "float32",
        F64 = "float64",
        I8 = "int8",
        I32 = "int32",
        I64 = "int64",
        Bool = "bool",
    }
}

op_enum! {
    /// Element type of a variance or of a cumulative sum.
    pub enum SpreadDtype {
        F16 = "float16",
        F32 = "float32",
        F64 = "float64",
        I8 = "int8",
        I32 = "int32",
        I64 = "int64",
    }
}

op_params! {
    /// Parameters of `_np_sum`, `_np_prod` and `_npi_mean`.
    pub struct SumParams for "reduction" {
        /// Axes to reduce; all axes if absent, none if empty.
        axis: Option<ShapeAttr> = None,
        /// Element type of the result; it follows from the input if absent.
        dtype: Option<SumDtype> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
        /// The number to start with. MXNet refuses every number, and so does mxrs.
        initial: Option<f64> = None,
    }
}

op_params! {
    /// Parameters of `_np_max` and `_np_min`.
    pub struct ExtremeParams for "reduction" {
        /// Axes to reduce; all axes if absent, none if empty.
        axis: Option<ShapeAttr> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
        /// The number to start with. MXNet refuses every number, and so does mxrs.
        initial: Option<f64> = None,
    }
}

op_params! {
    /// Parameters of `_npi_std` and `_npi_var`.
    pub struct SpreadParams for "reduction" {
        /// Axes to reduce; all axes if absent, none if empty.
        axis: Option<ShapeAttr> = None,
        /// Element type of the result; that of the input if absent.
        dtype: Option<SpreadDtype> = None,
        /// Subtracted from the number of elements, by which the sum of squares is divided.
        ddof: i32 = 0,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
    }
}

op_params! {
    /// Parameters of `_np_any` and `_np_all`.
    pub struct TruthParams for "reduction" {
        /// Axes to reduce; all axes if absent, none if empty.
        axis: Option<ShapeAttr> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
    }
}

/// Refuses an initial number.
///
/// # Errors
/// Fails if there is one.
pub fn refuse_initial(initial: Option<f64>) -> Result<()> {
    match initial {
        None => Ok(()),
        Some(_) => Err(Error::not_built("a reduction with `initial`", "MXNet 1.9.1 does not compute it either")),
    }
}

impl SumParams {
    /// The type of the sum of data of this type, if `dtype` does not set it: bools are summed as `int64`.
    pub fn dtype_of_sum(&self, data: DType) -> DType {
        match self.dtype {
            Some(word) => dtype_of(word),
            None if data == DType::Bool => DType::I64,
            None => data,
        }
    }
}

/// Samples without `dtype`.
pub fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("all", &[&[3, 5]]),
        Sample::new("last", [("axis", "-1")], &[&[2, 3, 7]]),
        Sample::new("kept", [("axis", "(0, 2)"), ("keepdims", "True")], &[&[2, 3, 4]]),
        Sample::new("no_axis", [("axis", "()")], &[&[2, 3]]),
        Sample::plain("scalar", &[&[]]),
        Sample::new("no_rows", [("axis", "1")], &[&[0, 3]]),
    ]
}
