//! Divides by the Euclidean norm: `out = data / (Σ data² + eps)^(1/2)`, with the sum over all elements of an example
//! (`instance`), over the channels at each position (`channel`), or over the positions of each channel (`spatial`).
//!
//! The second output, which is hidden, holds zeros in place of MXNet's norms, because nothing reads it.
//!
//! Gradient: of data.
//!
//! MXNet: `L2Normalization`. Dtypes: f32 f64 f16 bf16.

use crate::families::folded::members;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, learn, unify};
use mxrs_op::{OpDef, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_enum! {
    /// Which elements are normalized together.
    pub enum L2Mode { Channel = "channel", Instance = "instance", Spatial = "spatial" }
}

op_params! {
    /// Parameters of `L2Normalization`.
    pub struct L2NormalizationParams for "L2Normalization" {
        /// Added to the sum of squares.
        eps: f32 = 1e-10,
        /// Which elements are normalized together.
        mode: L2Mode = L2Mode::Instance,
    }
}

impl L2NormalizationParams {
    /// The axes over which squares are summed.
    fn summed(&self, ndim: usize) -> Vec<bool> {
        let is_summed = |axis: usize| match self.mode {
            L2Mode::Instance => axis > 0,
            L2Mode::Channel => axis == 1,
            L2Mode::Spatial => axis > 1,
        };
        (0..ndim).map(is_summed).collect()
    }
}

struct L2Normalization;

impl Formula for L2Normalization {
    type Params = L2NormalizationParams;
    const NAME: &'static str = "L2Normalization";
    const SUMMARY: &'static str = "divides by the Euclidean norm";
    const BACKWARD: &'static str = "_backward_L2Normalization";
    const OUTPUTS: &'static [&'static str] = &["output", "norm"];
    const N_HIDDEN: usize = 1;

    fn infer_shape(
        params: &L2NormalizationParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let ([data], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        unify(data, out, "output")?;
        let Some(dims) = data.dims() else { return Ok(()) };
        let least = if params.mode == L2Mode::Instance { 2 } else { 3 };
        if dims.len() < least {
            return Err(Error::shape(OP, "data", format!("at least {least} axes"), &*data));
        }
        let norms = match params.mode {
            L2Mode::Instance => PartialShape::new([dims[0]]),
            L2Mode::Channel => PartialShape::new([dims[0]].into_iter().chain(dims[2..].iter().copied())),
            L2Mode::Spatial => PartialShape::new([dims[0], dims[1]]),
        };
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &norms, "norm"))
    }

    fn n_parts(params: &L2NormalizationParams, inputs: &[Shape], _: &[Shape]) -> usize {
        let shape = &inputs[0];
        let summed = params.summed(shape.ndim());
        (0..shape.ndim()).filter(|axis| !summed[*axis]).map(|axis| shape[axis]).product()
    }

    fn part<T: Number>(
        params: &L2NormalizationParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let shape = &tensors.inputs[0];
        let values: Vec<(usize, T)> =
            members(shape, &params.summed(shape.ndim()), part).into_iter().map(|at| (at, tensors.at(0, at))).collect();
        let eps = T::of(f64::from(params.eps));
        let norm = values.iter().fold(eps, |sum, (_, x)| sum + *x * *x).sqrt();
        values.into_iter().for_each(|(at, x)| emit(0, at, x / norm));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("instance", &[&[2, 3, 4]]),
            Sample::new("channel", [("mode", "channel"), ("eps", "0.1")], &[&[2, 3, 4]]),
            Sample::new("spatial", [("mode", "spatial")], &[&[2, 3, 2, 2]]),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

/// Defines the operator `L2Normalization`.
pub fn define() -> OpDef {
    formula::define::<L2Normalization>()
}
