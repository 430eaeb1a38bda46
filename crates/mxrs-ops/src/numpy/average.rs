//! Weighted averages over axes: `Σ weights · a / Σ weights`, or means without weights. The weights have the shape of a; if
//! there is one axis to average over, they may be a vector along it. With `returned` the second output is the sum of the
//! weights: a scalar if the weights are a vector or absent.
//!
//! Gradient: of a and of the weights.
//!
//! MXNet: `_npi_average`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; integers are truncated.

use crate::dtypes::NUMBERS;
use crate::families::folded::{members, of_axes};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::around_axis;
use crate::inference::{OP, bad_attribute, learn, learn_dim, resolve_axis, unify};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, OpDef, OutputCount, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_npi_average`.
    pub struct AverageParams for "_npi_average" {
        /// Axes to average over; all axes if absent.
        axis: Option<ShapeAttr> = None,
        /// Whether the sum of the weights is an output too.
        returned: bool = false,
        /// Whether the weights are an input.
        weighted: bool = true,
    }
}

struct Average;

impl AverageParams {
    /// The axis of a vector of weights.
    fn axis_of_vector(&self, ndim: usize) -> Result<usize> {
        match self.axis.as_deref() {
            Some([axis]) => resolve_axis(*axis, ndim, "a"),
            _ => Err(bad_attribute("_npi_average", "axis", "one axis with a vector of weights", "other axes")),
        }
    }
}

/// The sizes of the axes that are not reduced.
fn reduced(dims: &[Option<usize>], is_reduced: &[bool]) -> PartialShape {
    PartialShape::new(dims.iter().zip(is_reduced).filter(|(_, reduced)| !**reduced).map(|(size, _)| *size))
}

impl Formula for Average {
    type Params = AverageParams;
    const NAME: &'static str = "_npi_average";
    const SUMMARY: &'static str = "weighted average over axes";
    const BACKWARD: &'static str = "_backward_npi_average";
    const INPUTS: &'static [&'static str] = &["a", "weights"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "ograd_sum", "a", "weights"];
    const OUTPUTS: &'static [&'static str] = &["output", "sum_of_weights"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = NUMBERS;

    fn n_inputs(params: &AverageParams) -> usize {
        1 + usize::from(params.weighted)
    }

    fn infer_shape(params: &AverageParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let [average, sum] = outputs else { return Ok(()) };
        let Some((a, weights)) = inputs.split_first_mut() else { return Ok(()) };
        let Some(ndim) = a.ndim() else { return Ok(()) };
        let is_reduced = of_axes(&params.axis, ndim)?;
        let mut of_weights = Some(PartialShape::new([]));
        if let [weights] = weights {
            of_weights = match weights.ndim() {
                None => None,
                Some(n) if n == ndim => {
                    unify(a, weights, "weights")?;
                    Some(reduced(a.dims().unwrap_or_default(), &is_reduced))
                }
                Some(1) => {
                    let axis = params.axis_of_vector(ndim)?;
                    learn_dim(weights, 0, a.dim(axis), "weights")?;
                    learn_dim(a, axis, weights.dim(0), "a")?;
                    of_weights
                }
                Some(_) => {
                    return Err(Error::shape(OP, "weights", format!("the shape {a} of a, or a vector"), &*weights));
                }
            };
        }
        learn(average, &reduced(a.dims().unwrap_or_default(), &is_reduced), "output")?;
        of_weights.map_or(Ok(()), |shape| learn(sum, &shape, "sum_of_weights"))
    }

    fn part<T: Number>(params: &AverageParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let a = &tensors.inputs[0];
        let members = members(a, &of_axes(&params.axis, a.ndim())?, part);
        let (mut sum, mut weights) = (T::of(0.0), T::of(0.0));
        for at in members {
            let weight = match tensors.inputs.get(1) {
                None => T::of(1.0),
                Some(shape) if shape.ndim() == a.ndim() => tensors.at(1, at),
                Some(_) => {
                    let (_, size, inner) = around_axis(a, params.axis_of_vector(a.ndim())?);
                    tensors.at(1, at / inner % size)
                }
            };
            sum = sum + tensors.at(0, at) * weight;
            weights = weights + weight;
        }
        emit(0, part, sum / weights);
        // If the weights are a vector, the sum of the weights is the same for all averages, and the output has one element.
        if part < tensors.outputs[1].n_elements() {
            emit(1, part, weights);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let plain = ("weighted", "False");
        let positive = |sample: Sample| sample.fill(1, Fill::Uniform(1.0, 2.0));
        vec![
            Sample::new("mean", [plain], &[&[2, 3]]),
            Sample::new("rows", [plain, ("axis", "(1,)"), ("returned", "True")], &[&[2, 3]]),
            positive(Sample::plain("weights", &[&[2, 3], &[2, 3]])),
            positive(Sample::new("axes", [("axis", "(0, 2)"), ("returned", "True")], &[&[2, 3, 2], &[2, 3, 2]])),
            positive(Sample::new("vector", [("axis", "(1,)"), ("returned", "True")], &[&[2, 3, 2], &[3]])),
            Sample::new("empty", [plain, ("axis", "(1,)")], &[&[0, 3]]),
        ]
    }
}

/// Defines the operator `_npi_average`.
pub fn define() -> OpDef {
    OpDef {
        n_visible: OutputCount::ByParams(|params| 1 + usize::from(params.get::<AverageParams>().returned)),
        ..formula::define::<Average>()
    }
}
