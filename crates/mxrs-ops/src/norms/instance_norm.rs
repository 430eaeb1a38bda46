//! Instance normalization: each channel of each example of data [N, C, …] is normalized by itself, `out = (data - mean) /
//! (variance + eps)^(1/2) · gamma + beta`. Gamma and beta are `[C]`; the hidden outputs, mean and variance, `[N, C]`. Ulyanov
//! et al. 2016.
//!
//! Gradient: of data, gamma and beta.
//!
//! MXNet: `InstanceNorm`. Dtypes: f32 f64 f16 bf16 (MXNet has only f32).

use crate::families::normalized::{self, Normalized, Places};
use crate::inference::OP;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `InstanceNorm`.
    pub struct InstanceNormParams for "InstanceNorm" {
        /// Added to the variance.
        eps: f32 = 1e-3,
    }
}

struct InstanceNorm;

impl Normalized for InstanceNorm {
    type Params = InstanceNormParams;
    const NAME: &'static str = "InstanceNorm";
    const SUMMARY: &'static str = "normalizes each channel of each example";
    const BACKWARD: &'static str = "_backward_InstanceNorm";
    const OUTPUTS: &'static [&'static str] = &["output", "mean", "var"];
    const IS_VARIANCE: bool = true;

    fn shows_moments(_: &InstanceNormParams) -> bool {
        false
    }

    fn eps(params: &InstanceNormParams) -> f32 {
        params.eps
    }

    fn shapes(_: &InstanceNormParams, data: &PartialShape) -> Result<Option<[PartialShape; 2]>> {
        match data.dims() {
            None => Ok(None),
            Some([n, c, _, ..]) => Ok(Some([PartialShape::new([*c]), PartialShape::new([*n, *c])])),
            Some(_) => Err(Error::shape(OP, "data", "at least 3 axes", data)),
        }
    }

    fn places(_: &InstanceNormParams, data: &Shape) -> Result<Places> {
        let inner: usize = data[2..].iter().product();
        Ok((0..data.n_elements()).map(|i| (i / inner, i / inner % data[1])).collect())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("images", &[&[2, 3, 4, 2], &[3], &[3]]),
            Sample::plain("sequences", &[&[2, 3, 5], &[3], &[3]]),
            Sample::new("eps", [("eps", "0.1")], &[&[1, 2, 2, 3], &[2], &[2]]),
            Sample::plain("empty", &[&[0, 3, 2], &[3], &[3]]),
        ]
    }
}

/// Defines the operator `InstanceNorm`.
pub fn define() -> OpDef {
    normalized::define::<InstanceNorm>()
}
