//! Group normalization: the channels of each example of data [N, C, …] are normalized in `num_groups` groups of consecutive
//! channels, `out = (data - mean) / std · gamma + beta` with `std = (variance + eps)^(1/2)`. Gamma and beta have one element
//! per group, as in MXNet; the hidden outputs, mean and `std`, are [N, num_groups]. Wu and He 2018.
//!
//! Gradient: of data, gamma and beta, for the first output.
//!
//! MXNet: `GroupNorm`. Dtypes: f32 f64 f16 bf16.

use crate::families::normalized::{self, Normalized, Places};
use crate::inference::{OP, bad_attribute};
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `GroupNorm`.
    pub struct GroupNormParams for "GroupNorm" {
        /// Number of groups of channels.
        num_groups: i32 = 1,
        /// Added to the variance.
        eps: f32 = 1e-5,
        /// Whether mean and `std` are outputs that a user sees.
        output_mean_var: bool = false,
    }
}

struct GroupNorm;

impl Normalized for GroupNorm {
    type Params = GroupNormParams;
    const NAME: &'static str = "GroupNorm";
    const SUMMARY: &'static str = "normalizes groups of channels of each example";
    const BACKWARD: &'static str = "_backward_GroupNorm";

    fn shows_moments(params: &GroupNormParams) -> bool {
        params.output_mean_var
    }

    fn eps(params: &GroupNormParams) -> f32 {
        params.eps
    }

    fn shapes(params: &GroupNormParams, data: &PartialShape) -> Result<Option<[PartialShape; 2]>> {
        let n_groups = match usize::try_from(params.num_groups) {
            Ok(n) if n > 0 => n,
            _ => return Err(bad_attribute("GroupNorm", "num_groups", "a positive number", params.num_groups)),
        };
        match data.dims() {
            None => Ok(None),
            Some([_, Some(c), _, ..]) if c % n_groups != 0 => {
                Err(Error::shape(OP, "data", format!("a multiple of {n_groups} channels"), data))
            }
            Some([n, _, _, ..]) => {
                Ok(Some([PartialShape::new([Some(n_groups)]), PartialShape::new([*n, Some(n_groups)])]))
            }
            Some(_) => Err(Error::shape(OP, "data", "at least 3 axes", data)),
        }
    }

    fn places(params: &GroupNormParams, data: &Shape) -> Result<Places> {
        let n_groups = params.num_groups as usize;
        let size = data[1..].iter().product::<usize>() / n_groups;
        Ok((0..data.n_elements()).map(|i| (i / size, i / size % n_groups)).collect())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("two", [("num_groups", "2")], &[&[2, 4, 3, 2], &[2], &[2]]),
            Sample::plain("one_group", &[&[2, 3, 4], &[1], &[1]]),
            Sample::new("each_channel", [("num_groups", "3"), ("eps", "0.1")], &[&[2, 3, 4], &[3], &[3]]),
            Sample::new("empty", [("num_groups", "2")], &[&[0, 4, 2], &[2], &[2]]),
        ]
    }
}

/// Defines the operator `GroupNorm`.
pub fn define() -> OpDef {
    normalized::define::<GroupNorm>()
}
