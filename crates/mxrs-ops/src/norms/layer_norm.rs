//! Layer normalization over one axis: `out = (data - mean) / std · gamma + beta` with `std = (variance + eps)^(1/2)`. Gamma and
//! beta have the size of the axis; the hidden outputs, mean and `std`, have size 1 there. Ba et al. 2016.
//!
//! Gradient: of data, gamma and beta, for the first output.
//!
//! MXNet: `LayerNorm`, also `_npx_layer_norm`. Dtypes: f32 f64 f16 bf16.

use crate::families::indexing::around_axis;
use crate::families::normalized::{self, Normalized, Places};
use crate::inference::resolve_axis;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `LayerNorm`.
    pub struct LayerNormParams for "LayerNorm" {
        /// The axis whose elements are normalized together.
        axis: i32 = -1,
        /// Added to the variance.
        eps: f32 = 1e-5,
        /// Whether mean and `std` are outputs that a user sees.
        output_mean_var: bool = false,
    }
}

struct LayerNorm;

impl Normalized for LayerNorm {
    type Params = LayerNormParams;
    const NAME: &'static str = "LayerNorm";
    const ALIASES: &'static [&'static str] = &["_npx_layer_norm"];
    const SUMMARY: &'static str = "normalizes along an axis";
    const BACKWARD: &'static str = "_backward_LayerNorm";

    fn shows_moments(params: &LayerNormParams) -> bool {
        params.output_mean_var
    }

    fn eps(params: &LayerNormParams) -> f32 {
        params.eps
    }

    fn shapes(params: &LayerNormParams, data: &PartialShape) -> Result<Option<[PartialShape; 2]>> {
        let Some(mut dims) = data.dims().map(<[_]>::to_vec) else { return Ok(None) };
        let axis = resolve_axis(i64::from(params.axis), dims.len(), "data")?;
        let gamma = PartialShape::new([dims[axis]]);
        dims[axis] = Some(1);
        Ok(Some([gamma, PartialShape::new(dims)]))
    }

    fn places(params: &LayerNormParams, data: &Shape) -> Result<Places> {
        let (_, size, inner) = around_axis(data, resolve_axis(i64::from(params.axis), data.ndim(), "data")?);
        Ok((0..data.n_elements()).map(|i| (i / (size * inner) * inner + i % inner, i / inner % size)).collect())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("last", &[&[3, 5], &[5], &[5]]),
            Sample::new("first", [("axis", "0")], &[&[4, 3], &[4], &[4]]),
            Sample::new("middle", [("axis", "1"), ("eps", "0.1")], &[&[2, 3, 4], &[3], &[3]]),
            Sample::new("empty", [("axis", "1")], &[&[0, 3], &[3], &[3]]),
        ]
    }
}

/// Defines the operator `LayerNorm`.
pub fn define() -> OpDef {
    normalized::define::<LayerNorm>()
}
