//! Percentiles of the elements along axes: the element, or a number between two elements, below which `q` percent of the sorted
//! elements are. `q` is a number, or an input: a scalar, or a vector, whose axis comes first in the output.
//!
//! Gradient: of the elements, and of `q` where the result is between two elements. That of MXNet is zero.
//!
//! MXNet: `_npi_percentile`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; the result of f64 is f64, of all others f32.

use crate::dtypes::NUMBERS;
use crate::families::folded::{members, of_axes};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::LINALG;
use crate::inference::{OP, bad_attribute, learn, learn_dtype};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, OpDef, Sample, op_enum, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// What to take between two elements.
    pub enum Interpolation {
        /// A point on the line between them.
        Linear = "linear",
        /// The lower one.
        Lower = "lower",
        /// The higher one.
        Higher = "higher",
        /// The middle of both.
        Midpoint = "midpoint",
        /// The nearer one.
        Nearest = "nearest",
    }
}

op_params! {
    /// Parameters of `_npi_percentile`.
    pub struct PercentileParams for "_npi_percentile" {
        /// Axes to reduce; all axes if absent.
        axis: Option<ShapeAttr> = None,
        /// What to take between two elements.
        interpolation: Interpolation = Interpolation::Linear,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
        /// The percentage; an input if absent.
        q_scalar: Option<f64> = None,
    }
}

struct Percentile;

impl Formula for Percentile {
    type Params = PercentileParams;
    const NAME: &'static str = "_npi_percentile";
    const SUMMARY: &'static str = "percentiles of elements along axes";
    const BACKWARD: &'static str = "_backward_npi_percentile";
    const INPUTS: &'static [&'static str] = &["a", "q"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "q"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = NUMBERS;
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);

    fn n_inputs(params: &PercentileParams) -> usize {
        1 + usize::from(params.q_scalar.is_none())
    }

    fn infer_shape(params: &PercentileParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let (Some(dims), Some(q)) = (inputs[0].dims(), inputs.get(1).map_or(Some(&[][..]), PartialShape::dims)) else {
            return Ok(());
        };
        if q.len() > 1 {
            return Err(Error::shape(OP, "q", "at most one axis", &inputs[1]));
        }
        let is_reduced = of_axes(&params.axis, dims.len())?;
        if dims.iter().zip(&is_reduced).any(|(size, reduced)| *reduced && *size == Some(0)) {
            return Err(Error::shape(OP, "a", "axes with elements", &inputs[0]));
        }
        let left = dims.iter().zip(is_reduced).filter_map(|(size, reduced)| match (reduced, params.keepdims) {
            (false, _) => Some(*size),
            (true, keeps) => keeps.then_some(Some(1)),
        });
        let out = PartialShape::new(q.iter().copied().chain(left));
        learn(&mut outputs[0], &out, "output")
    }

    fn infer_dtype(_: &PercentileParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let Some(a) = inputs[0].or(outputs[0]) else { return Ok(()) };
        inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(a)));
        learn_dtype(&mut outputs[0], if a == DType::F64 { DType::F64 } else { DType::F32 }, "output")
    }

    fn part<T: Number>(
        params: &PercentileParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let a = &tensors.inputs[0];
        let is_reduced = of_axes(&params.axis, a.ndim())?;
        let n_groups: usize =
            a.iter().zip(&is_reduced).filter(|(_, reduced)| !**reduced).map(|(size, _)| *size).product();
        let percentage = match params.q_scalar {
            Some(q) => T::of(q),
            None => tensors.at(1, part / n_groups),
        };
        if !(0.0..=100.0).contains(&percentage.value()) {
            let q = percentage.value();
            return Err(match params.q_scalar {
                Some(_) => bad_attribute(Self::NAME, "q_scalar", "a number from 0 to 100", q),
                None => Error::invalid("q", q, "a number from 0 to 100"),
            });
        }
        let mut sorted: Vec<T> =
            members(a, &is_reduced, part % n_groups).into_iter().map(|at| tensors.at(0, at)).collect();
        sorted.sort_by(|x, y| x.value().total_cmp(&y.value()));
        let place = percentage * T::of((sorted.len() - 1) as f64 / 100.0);
        let at = |place: f64| sorted[(place.max(0.0) as usize).min(sorted.len() - 1)];
        let (below, above) = (place.value().floor(), place.value().ceil());
        let (low, high) = (at(below), at(above));
        emit(
            0,
            part,
            match params.interpolation {
                Interpolation::Linear => low + (high - low) * (place - T::of(below)),
                Interpolation::Lower => low,
                Interpolation::Higher => high,
                Interpolation::Midpoint => (low + high) * T::of(0.5),
                Interpolation::Nearest => at(place.value().round()),
            },
        );
        Ok(())
    }

    /// One part for each result, also if reduced axes are kept.
    fn n_parts(_: &PercentileParams, _: &[Shape], outputs: &[Shape]) -> usize {
        outputs[0].n_elements()
    }

    fn samples() -> Vec<Sample> {
        let q = Fill::Values(vec![10.0, 33.0, 90.0]);
        vec![
            Sample::new("rows", [("axis", "(1,)")], &[&[2, 6], &[3]]).fill(1, q.clone()),
            Sample::new("number", [("q_scalar", "30")], &[&[3, 4]]),
            Sample::new("kept", [("axis", "(0, 2)"), ("keepdims", "True")], &[&[2, 3, 4], &[3]]).fill(1, q),
            Sample::new("middle", [("q_scalar", "35"), ("interpolation", "midpoint"), ("axis", "0")], &[&[4, 3]]),
            Sample::new("nearest", [("q_scalar", "35"), ("interpolation", "nearest"), ("axis", "0")], &[&[4, 3]]),
            Sample::new("empty", [("q_scalar", "50"), ("axis", "(1,)")], &[&[0, 3]]),
        ]
    }
}

/// Defines the operator `_npi_percentile`.
pub fn define() -> OpDef {
    formula::define::<Percentile>()
}
