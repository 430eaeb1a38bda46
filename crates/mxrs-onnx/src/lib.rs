//! Converts symbol graphs to ONNX models and back. For each operator, a function defines the corresponding nodes.
//!
//! [`export()`] takes a graph, its parameters and the shapes of its inputs, and returns a model that computes the same at
//! inference. Labels of loss heads and dropout are removed, and properties that MXNet derives from shapes (codes of
//! `Reshape`, rounding of pooling windows) are written explicitly. If ONNX cannot express some nodes, the error lists all of
//! them.
//!
//! [`import()`] is the reverse, for the ONNX operators that have a counterpart in mxrs. [`import_with`] takes sizes that the model
//! leaves open, and limits on what a small file can ask for.
//!
//! This crate contains the correspondence between the operators of `mxrs-ops` and those of ONNX. `mxrs_format::onnx` reads
//! and writes the files. This crate runs no models.
//!
//! ```
//! use mxrs_format::{Tensor, onnx};
//! use mxrs_graph::{NameManager, Symbol, SymbolCall};
//! use mxrs_onnx::{ExportOptions, export};
//!
//! let ops = mxrs_ops::catalog();
//! let call = SymbolCall::new(ops.get("FullyConnected")?).name("fc").attr("num_hidden", 2);
//! let graph = call.input(&Symbol::variable("data")).build(&mut NameManager::new())?.graph()?;
//! let params = [
//!     ("fc_weight".to_string(), Tensor::from_slice([2, 3], &[1.0f32; 6])?),
//!     ("fc_bias".to_string(), Tensor::from_slice([2], &[0.0f32; 2])?),
//! ];
//! let model = export(&graph, params, &ExportOptions::new([("data", [4, 3].into())]))?;
//! assert_eq!(model.graph.as_ref().unwrap().node[0].op_type, "Gemm");
//! let bytes = onnx::to_bytes(&model)?;
//! # assert!(!bytes.is_empty());
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `export/mod.rs` for the list of operators, `export/call.rs` for the helpers that write nodes.

mod export;
mod import;
mod names;
mod refusal;

pub use export::{ExportOptions, OPSETS, export, exported_operators};
pub use import::{ImportOptions, Imported, ImportedInput, import, import_with, imported_operators};
