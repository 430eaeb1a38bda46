//! Post-training quantization: converts a float network to 8-bit integers, using a few examples.
//!
//! [`Quantizer`] decides what can be quantized, and folds batch normalization into the convolutions before it. A
//! [`Calibrator`] runs the float network on examples and collects the range of each value ([`CalibrationTable`]). The
//! graph pass then writes MXNet's chain of quantized operators, and weights are converted to int8 once. The result, a
//! symbol file and a parameter file, is what MXNet's `quantize_model` writes, except for weights with a range per
//! output channel, which MXNet does not have ([`Granularity`]).
//!
//! This crate decides which operators are quantized. It does not contain the quantized operators themselves, backends, data
//! loading, or terminal output.
//!
//! ```
//! use mxrs_format::Tensor;
//! use mxrs_graph::{NameManager, Symbol, SymbolCall};
//! use mxrs_quantize::{CalibMode, CalibrationTable, QuantizeOptions, Quantizer};
//!
//! let ops = mxrs_ops::catalog();
//! let call = SymbolCall::new(ops.get("FullyConnected")?).name("fc").attr("num_hidden", 2);
//! let graph = call.input(&Symbol::variable("data")).build(&mut NameManager::new())?.graph()?;
//! let params = [
//!     ("fc_weight".to_string(), Tensor::from_slice([2, 3], &[0.5f32, -1.0, 0.25, 0.1, 0.2, 0.3])?),
//!     ("fc_bias".to_string(), Tensor::from_slice([2], &[1.0f32, -1.0])?),
//! ];
//! let options = QuantizeOptions { calib_mode: CalibMode::None, ..QuantizeOptions::default() };
//! let quantizer = Quantizer::new(&graph, &params.into_iter().collect(), &ops, &options)?;
//! let quantized = quantizer.finish(&CalibrationTable::empty())?;
//! assert_eq!(quantized.graph.output_names(), ["fc_dequantize_output"]);
//! assert_eq!(quantized.checkpoint.arg["fc_weight_quantize"].as_slice::<i8>()?[1], -127);
//! assert_eq!(quantized.report.n_quantized(), 1);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `pass.rs` for the chain, `calibrate/entropy.rs` for the choice of a threshold.

pub mod calibrate;
mod fold;
mod mark;
mod options;
mod pass;
mod quantize;
mod report;
mod rules;
mod table;
pub mod weights;

pub use calibrate::Calibrator;
pub use options::{CalibMode, Granularity, QuantizeMode, QuantizeOptions, QuantizedDType};
pub use quantize::{QuantizedNetwork, Quantizer};
pub use report::{NodeReport, Outcome, QuantizeReport, WrittenRange};
pub use table::{Calibrated, CalibrationTable, Range};
