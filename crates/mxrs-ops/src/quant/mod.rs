//! Operators on 8-bit integers and their ranges, for quantized networks at inference.
//!
//! Tensors, ranges and rounding are those of `families/quantized.rs`: an element `q` represents `q · max(|min|, |max|) /
//! levels`.

pub mod calibrate_entropy;
pub mod dequantize;
pub mod quantize;
pub mod quantize_asym;
pub mod quantize_v2;
pub mod quantized_act;
pub mod quantized_batch_norm;
pub mod quantized_concat;
pub mod quantized_conv;
pub mod quantized_elemwise_add;
pub mod quantized_elemwise_mul;
pub mod quantized_embedding;
pub mod quantized_flatten;
pub mod quantized_fully_connected;
pub mod quantized_pooling;
pub mod requantize;
