//! Assigns to the elements that a mask chooses, as NumPy's `data[mask] = value`. The mask has the sizes of some axes of
//! data, from `start_axis` on, and chooses where it is not 0. The value is a number (`_npi_boolean_mask_assign_scalar`) or
//! an array (`_npi_boolean_mask_assign_tensor`). Each chosen element or block gets its own part of the array. If the array
//! has a single element or block, all of them get this one.
//!
//! Gradient: `data` gets `ograd` outside the mask, and `value` that of the elements it was assigned to. That of MXNet is zero.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; masks of any type.

use crate::dtypes::MOVABLE;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn_dim, unify, unify_dtypes};
use mxrs_op::param::Field;
use mxrs_op::{Accuracy, Fill, OpDef, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// A required number. MXNet's C API lists its type without the word `required`, unlike the types of other required
/// parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain<T>(pub T);

macro_rules! plain {
    ($($t:ty, $name:literal;)*) => {
        $(impl Field for Plain<$t> {
            fn type_name() -> String {
                $name.into()
            }
            fn parse(text: &str) -> std::result::Result<Self, String> {
                <$t>::parse(text).map(Self)
            }
            fn default_text(&self) -> String {
                self.0.default_text()
            }
            fn type_text(_: Option<&Self>) -> String {
                Self::type_name()
            }
        })*
    };
}

plain! {
    f64, "float";
    i32, "int";
}

op_params! {
    /// Parameters of `_npi_boolean_mask_assign_scalar`.
    pub struct AssignScalarParams for "_npi_boolean_mask_assign_scalar" {
        /// The number to assign.
        value: Plain<f64>,
        /// Axis of data that the first axis of the mask chooses from.
        start_axis: Plain<i32> = Plain(0),
    }
}

op_params! {
    /// Parameters of `_npi_boolean_mask_assign_tensor`.
    pub struct AssignTensorParams for "_npi_boolean_mask_assign_tensor" {
        /// Axis of data that the first axis of the mask chooses from.
        start_axis: Plain<i32> = Plain(0),
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[formula::define::<AssignScalar>, formula::define::<AssignTensor>];

fn start(op: &str, axis: i32) -> Result<usize> {
    usize::try_from(axis).map_err(|_| bad_attribute(op, "start_axis", "no negative number", axis))
}

/// Infers the shapes of data and mask. Returns the number of axes of both, if they are known.
fn infer(start: usize, data: &mut PartialShape, mask: &PartialShape, out: &mut PartialShape) -> Result<()> {
    unify(data, out, "output")?;
    let (Some(ndim), Some(dims)) = (data.ndim(), mask.dims()) else { return Ok(()) };
    if start.saturating_add(dims.len()) > ndim {
        return Err(Error::shape(OP, "mask", format!("at most {} axes", ndim.saturating_sub(start)), mask));
    }
    dims.iter().enumerate().try_for_each(|(i, size)| {
        let known = data.dim(start + i);
        if known.is_some() && size.is_some() && known != *size {
            return Err(Error::shape(OP, "mask", format!("size {known:?} of data on axis {i}"), mask));
        }
        learn_dim(data, start + i, *size, "data")
    })?;
    unify(data, out, "output")
}

/// The number of elements of data along the axes before those of the mask, along those of the mask, and along those after
/// them.
fn around(data: &Shape, mask: &Shape, start: usize) -> [usize; 3] {
    let end = start + mask.ndim();
    [data[..start].iter().product(), mask.n_elements(), data[end..].iter().product()]
}

struct AssignScalar;

impl Formula for AssignScalar {
    type Params = AssignScalarParams;
    const NAME: &'static str = "_npi_boolean_mask_assign_scalar";
    const SUMMARY: &'static str = "data with a number where the mask is not 0";
    const BACKWARD: &'static str = "_backward_npi_boolean_mask_assign_scalar";
    const INPUTS: &'static [&'static str] = &["data", "mask"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "mask"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = MOVABLE;
    const IS_WHOLE: bool = true;
    const ACCURACY: Accuracy = Accuracy::Elementwise;

    fn infer_shape(
        params: &AssignScalarParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let [data, mask] = inputs else { return Ok(()) };
        infer(start(Self::NAME, params.start_axis.0)?, data, mask, &mut outputs[0])
    }

    fn infer_dtype(_: &AssignScalarParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        inputs[1] = inputs[1].or(Some(DType::Bool));
        unify_dtypes([&mut inputs[0], &mut outputs[0]], "data")
    }

    fn part<T: Number>(
        params: &AssignScalarParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let start = start(Self::NAME, params.start_axis.0)?;
        let [_, middle, after] = around(&tensors.inputs[0], &tensors.inputs[1], start);
        let is_chosen = tensors.values(1)[part / after % middle] != 0.0;
        emit(0, part, if is_chosen { T::of(params.value.0) } else { tensors.at(0, part) });
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, axis, data: &[usize], mask: &[usize], chosen: &[f64]| {
            let sample = Sample::new(name, [("value", "2.5"), ("start_axis", axis)], &[data, mask]);
            sample.dtype(1, DType::Bool).fill(1, Fill::Values(chosen.to_vec()))
        };
        vec![
            of("elements", "0", &[2, 3], &[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
            of("rows", "0", &[3, 2], &[3], &[1.0, 0.0, 1.0]),
            of("columns", "1", &[2, 3, 2], &[3], &[0.0, 1.0, 1.0]),
            of("empty", "0", &[0, 3], &[0], &[]),
        ]
    }
}

struct AssignTensor;

impl Formula for AssignTensor {
    type Params = AssignTensorParams;
    const NAME: &'static str = "_npi_boolean_mask_assign_tensor";
    const SUMMARY: &'static str = "data with values where the mask is not 0";
    const BACKWARD: &'static str = "_backward_npi_boolean_mask_assign_tensor";
    const INPUTS: &'static [&'static str] = &["data", "mask", "value"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "mask", "value"];
    const DIFFERENTIATED: &'static [usize] = &[0, 2];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 3];
    const DTYPES: &'static [DType] = MOVABLE;
    const IS_WHOLE: bool = true;
    const ACCURACY: Accuracy = Accuracy::Elementwise;

    fn infer_shape(
        params: &AssignTensorParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let [data, mask, value] = inputs else { return Ok(()) };
        let start = start(Self::NAME, params.start_axis.0)?;
        infer(start, data, mask, &mut outputs[0])?;
        let (Some(data), Some(mask), Some(shape)) = (data.known(), mask.known(), value.known()) else { return Ok(()) };
        if shape.checked_n_elements()? == 1 {
            return Ok(());
        }
        // The value has the axes of data, but a single axis in place of those of the mask. This axis may also be absent.
        let (before, after) = (&data[..start], &data[start + mask.ndim()..]);
        let fits = match shape.ndim().checked_sub(before.len() + after.len()) {
            Some(extra @ (0 | 1)) => shape[..start] == *before && shape[start + extra..] == *after,
            _ => false,
        };
        let expected = || format!("{before:?}, the number of chosen elements or 1, and {after:?}");
        if fits { Ok(()) } else { Err(Error::shape(OP, "value", expected(), &*value)) }
    }

    fn infer_dtype(_: &AssignTensorParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [data, mask, value] = inputs else { return Ok(()) };
        *mask = mask.or(Some(DType::Bool));
        unify_dtypes([data, value].into_iter().chain(outputs), "value")
    }

    /// There is one part for the whole output, so that the chosen elements are counted only once.
    fn n_parts(_: &AssignTensorParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(
        params: &AssignTensorParams,
        tensors: &Tensors<'_, T>,
        _: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let start = start(Self::NAME, params.start_axis.0)?;
        let (data, value) = (&tensors.inputs[0], &tensors.inputs[2]);
        let [before, middle, after] = around(data, &tensors.inputs[1], start);
        // For each element of the mask, its number among those that are chosen.
        let mut n_chosen = 0;
        let number = |chosen: &f64| {
            let number = (*chosen != 0.0).then_some(n_chosen);
            n_chosen += usize::from(number.is_some());
            number
        };
        let numbers: Vec<Option<usize>> = tensors.values(1).iter().map(number).collect();
        let has_axis = value.ndim() == data.ndim() - tensors.inputs[1].ndim() + 1;
        let n_values = if has_axis { value[start] } else { 1 };
        if value.n_elements() != 1 && n_values != 1 && n_values != n_chosen && n_chosen > 0 {
            let expected = format!("{n_chosen}, as many as the mask chooses, or 1");
            return Err(Error::invalid("the number of values", n_values, expected));
        }
        for at in 0..before * middle * after {
            let (outer, inner) = (at / (middle * after), at % after);
            let assigned = match numbers[at / after % middle] {
                None => tensors.at(0, at),
                Some(_) if value.n_elements() == 1 => tensors.at(2, 0),
                Some(number) => tensors.at(2, (outer * n_values + number.min(n_values - 1)) * after + inner),
            };
            emit(0, at, assigned);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, axis, data: &[usize], mask: &[usize], chosen: &[f64], value: &[usize]| {
            let sample = Sample::new(name, [("start_axis", axis)], &[data, mask, value]);
            sample.dtype(1, DType::Bool).fill(1, Fill::Values(chosen.to_vec()))
        };
        vec![
            of("elements", "0", &[2, 3], &[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0], &[3]),
            of("one", "0", &[2, 2], &[2, 2], &[1.0, 0.0, 0.0, 1.0], &[]),
            of("rows", "0", &[3, 2], &[3], &[1.0, 0.0, 1.0], &[2, 2]),
            of("row", "0", &[3, 2], &[3], &[1.0, 0.0, 1.0], &[2]),
            of("columns", "1", &[2, 3, 2], &[3], &[0.0, 1.0, 1.0], &[2, 2, 2]),
            of("empty", "0", &[0, 3], &[0], &[], &[0, 3]),
        ]
    }
}
