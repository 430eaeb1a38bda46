//! Differences of neighbors, and polynomials. `_npi_diff` takes differences along an axis, `n` times. `_npi_ediff1d` takes
//! those of the flattened array, and can put a given array or number before and after them. `_npi_polyval` computes the
//! values of a polynomial with the coefficients p; the coefficient of the highest power comes first.
//!
//! Gradient: of all inputs.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; integers wrap.

use crate::dtypes::NUMBERS;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::around_axis;
use crate::inference::{bad_attribute, learn, product, require_ndim, resolve_axis, unify};
use mxrs_op::param::NoParams;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Diff>, formula::define::<Ediff1d>, formula::define::<Polyval>];

op_params! {
    /// Parameters of `_npi_diff`.
    pub struct DiffParams for "_npi_diff" {
        /// How often differences are taken.
        n: i32 = 1,
        /// Axis along which they are taken.
        axis: i32 = -1,
    }
}

op_params! {
    /// Parameters of `_npi_ediff1d`.
    pub struct Ediff1dParams for "_npi_ediff1d" {
        /// Whether the next input is what comes before the differences.
        to_begin_arr_given: bool = false,
        /// Whether the last input is what comes after the differences.
        to_end_arr_given: bool = false,
        /// A number that comes before the differences.
        to_begin_scalar: Option<f64> = None,
        /// A number that comes after the differences.
        to_end_scalar: Option<f64> = None,
    }
}

/// The most times that differences are taken of elements.
const MOST_TIMES: usize = 1024;

struct Diff;

impl DiffParams {
    fn times(&self) -> Result<usize> {
        usize::try_from(self.n).map_err(|_| bad_attribute("_npi_diff", "n", "no negative number", self.n))
    }
}

impl Formula for Diff {
    type Params = DiffParams;
    const NAME: &'static str = "_npi_diff";
    const SUMMARY: &'static str = "differences of neighbors along an axis";
    const BACKWARD: &'static str = "_backward_npi_diff";
    const INPUTS: &'static [&'static str] = &["a"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_WHOLE: bool = true;

    fn infer_shape(params: &DiffParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let times = params.times()?;
        let Some(dims) = inputs[0].dims() else { return Ok(()) };
        let axis = resolve_axis(i64::from(params.axis), dims.len(), "a")?;
        let size = |(i, size): (usize, &Option<usize>)| match i == axis {
            true => size.map(|size| size.saturating_sub(times)),
            false => *size,
        };
        let out = PartialShape::new(dims.iter().enumerate().map(size));
        learn(&mut outputs[0], &out, "output")?;
        // Each element takes steps in proportion to the square of `n`.
        if times > MOST_TIMES && out.dim(axis) != Some(0) {
            return Err(bad_attribute(
                "_npi_diff",
                "n",
                format!("at most {MOST_TIMES} for a result with elements"),
                times,
            ));
        }
        Ok(())
    }

    fn part<T: Number>(params: &DiffParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let axis = resolve_axis(i64::from(params.axis), data.ndim(), "a")?;
        let (_, size, inner) = around_axis(data, axis);
        let (line, at) = (part / (out[axis] * inner), part / inner % out[axis]);
        let first = (line * size + at) * inner + part % inner;
        let mut values: Vec<T> = (0..=params.times()?).map(|i| tensors.at(0, first + i * inner)).collect();
        while values.len() > 1 {
            values = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        }
        emit(0, part, values[0]);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("last", &[&[2, 4]]),
            Sample::new("rows", [("n", "2"), ("axis", "0")], &[&[4, 3]]),
            Sample::new("middle", [("n", "3"), ("axis", "1")], &[&[2, 5, 2]]),
            Sample::new("more", [("n", "5")], &[&[2, 3]]),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

struct Ediff1d;

impl Ediff1dParams {
    /// For the begin and the end: the number, or the input.
    fn ends(&self) -> [(Option<f64>, Option<usize>); 2] {
        let begin = self.to_begin_arr_given.then_some(1);
        let end = self.to_end_arr_given.then_some(1 + usize::from(self.to_begin_arr_given));
        [(self.to_begin_scalar, begin), (self.to_end_scalar, end)]
    }
}

impl Formula for Ediff1d {
    type Params = Ediff1dParams;
    const NAME: &'static str = "_npi_ediff1d";
    const SUMMARY: &'static str = "differences of neighbors of the flattened array";
    const BACKWARD: &'static str = "_backward_npi_ediff1d";
    const INPUTS: &'static [&'static str] = &["input1", "input2", "input3"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "input1", "input2", "input3"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1, 2];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 2, 3];
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_WHOLE: bool = true;

    fn n_inputs(params: &Ediff1dParams) -> usize {
        1 + usize::from(params.to_begin_arr_given) + usize::from(params.to_end_arr_given)
    }

    fn infer_shape(params: &Ediff1dParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let sizes = inputs.iter().map(|input| input.dims().and_then(product));
        let Some(sizes) = sizes.collect::<Option<Vec<usize>>>() else { return Ok(()) };
        let mut n = Some(sizes[0].saturating_sub(1));
        for (number, input) in params.ends() {
            let more = input.map_or(usize::from(number.is_some()), |input| sizes[input]);
            n = n.and_then(|n| n.checked_add(more));
        }
        learn(&mut outputs[0], &PartialShape::new([n]), "output")
    }

    fn n_parts(_: &Ediff1dParams, _: &[Shape], _: &[Shape]) -> usize {
        1
    }

    fn part<T: Number>(params: &Ediff1dParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let mut at = 0;
        let mut push = |value| {
            emit(0, at, value);
            at += 1;
        };
        let ends = params.ends().map(|(number, input)| match input {
            Some(input) => (0..tensors.inputs[input].n_elements()).map(|i| tensors.at(input, i)).collect(),
            None => number.into_iter().map(T::of).collect::<Vec<T>>(),
        });
        ends[0].iter().for_each(|value| push(*value));
        (1..tensors.inputs[0].n_elements()).for_each(|i| push(tensors.at(0, i) - tensors.at(0, i - 1)));
        ends[1].iter().for_each(|value| push(*value));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let arrays = [("to_begin_arr_given", "True"), ("to_end_arr_given", "True")];
        vec![
            Sample::plain("plain", &[&[2, 3]]),
            Sample::new("numbers", [("to_begin_scalar", "1.5"), ("to_end_scalar", "-2.5")], &[&[5]]),
            Sample::new("arrays", arrays, &[&[4], &[2], &[2, 3]]),
            Sample::new("end", [arrays[1]], &[&[4], &[2]]),
            Sample::plain("empty", &[&[0]]),
        ]
    }
}

struct Polyval;

impl Formula for Polyval {
    type Params = NoParams;
    const NAME: &'static str = "_npi_polyval";
    const SUMMARY: &'static str = "values of a polynomial";
    const BACKWARD: &'static str = "_backward_npi_polyval";
    const INPUTS: &'static [&'static str] = &["p", "x"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "p", "x"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_WHOLE: bool = true;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        require_ndim(&mut inputs[0], 1, "p")?;
        unify(&mut inputs[1], &mut outputs[0], "output")
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let coefficients = (0..tensors.inputs[0][0]).map(|i| tensors.at(0, i));
        let x = tensors.at(1, part);
        emit(0, part, coefficients.reduce(|sum, coefficient| sum * x + coefficient).unwrap_or(T::of(0.0)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("vector", &[&[3], &[4]]),
            Sample::plain("matrix", &[&[4], &[2, 3]]),
            Sample::plain("constant", &[&[1], &[3]]),
            Sample::plain("empty", &[&[2], &[0, 3]]),
        ]
    }
}
