//! Matrix product of integers: products of 8-bit integers, summed in 32 bits, and the range of the sums.
//!
//! data, weight, bias and parameters are those of [`FullyConnected`](crate::nn::fully_connected). Shapes of the ranges:
//! min_data, max_data, min_bias, max_bias `[1]`; min_weight, max_weight `[1]`, or, if out is [N, H], `[H]` for a range per
//! output. out is i32; min_output and max_output have the shape of min_weight.
//!
//! MXNet: `_contrib_quantized_fully_connected`. In MXNet, a weight has one range, and 127 and 255 levels are used, which
//! makes the range of out 0.8 or 0.6 % larger. Dtypes: data i8 u8, weight i8, bias i8 or, beyond MXNet, f32; the range of an
//! f32 bias is not read.

use super::quantized_conv::inputs;
use crate::families::quantized::sample;
use crate::families::quantized_product::{self, QuantizedProduct};
use crate::nn::fully_connected::{FullyConnected, FullyConnectedParams};
use mxrs_op::{OpDef, Sample};
use mxrs_types::{DType, Result};

/// Name of the operator.
pub const NAME: &str = "_contrib_quantized_fully_connected";

impl QuantizedProduct for FullyConnected {
    fn check(_: &FullyConnectedParams) -> Result<()> {
        Ok(())
    }
}

/// Defines the operator `_contrib_quantized_fully_connected`.
pub fn define() -> OpDef {
    OpDef {
        summary: "matrix product of int8, summed up in int32",
        companions: || vec![crate::families::fused_quantized::define_fully_connected()],
        samples,
        ..quantized_product::define::<FullyConnected>(NAME)
    }
}

fn samples() -> Vec<Sample> {
    let (i8, u8) = (DType::I8, DType::U8);
    let five = ("num_hidden", "5");
    let (bare, not_flat) = (("no_bias", "True"), ("flatten", "False"));
    vec![
        sample("rows", &[five], inputs(&[3, 7], u8, &[5, 7], Some(i8), false)),
        sample("signed", &[five], inputs(&[3, 7], i8, &[5, 7], Some(i8), false)),
        sample("images", &[five], inputs(&[2, 3, 4, 5], u8, &[5, 60], Some(DType::F32), false)),
        sample("columns", &[five], inputs(&[3, 7], i8, &[5, 7], Some(i8), true)),
        sample("without_bias", &[("num_hidden", "16"), bare], inputs(&[4, 32], u8, &[16, 32], None, true)),
        sample("last_axis", &[five, not_flat], inputs(&[2, 4, 6], i8, &[5, 6], Some(i8), false)),
        sample("no_rows", &[five], inputs(&[0, 4], u8, &[5, 4], Some(i8), false)),
    ]
}
