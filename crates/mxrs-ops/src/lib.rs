//! The operator catalog: one file per operator, with its parameters, inference, reference kernel and samples.
//!
//! Each file under `nn`, `elemwise`, `scalar`, `shape`, `init`, `reduce` and `quant` declares one [`mxrs_op::OpDef`], each under `optim` those of a family;
//! [`catalog`] lists them all. Names, aliases and parameters are those of MXNet 1.9.1. This crate knows no backend,
//! no graph and no file format: its kernels are slow and only there to be right.
//!
//! ```
//! use mxrs_op::Attrs;
//! use mxrs_types::{PartialShape, Shape};
//!
//! let ops = mxrs_ops::catalog();
//! let op = ops.get("Convolution")?;
//! let params = op.parse(&Attrs::from([("kernel", "(3, 3)"), ("num_filter", "8")]))?;
//! let data = PartialShape::from(Shape::from([1, 3, 32, 32]));
//! let mut inputs = vec![data, PartialShape::unknown(), PartialShape::unknown()];
//! let mut outputs = vec![PartialShape::unknown()];
//! op.infer_shapes(&params, &mut inputs, &mut outputs)?;
//! assert_eq!(inputs[1].to_string(), "(8, 3, 3, 3)");
//! assert_eq!(outputs[0].to_string(), "(1, 8, 30, 30)");
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`nn::activation`] for a small operator, [`nn::convolution`] for a large one, `inference.rs` for the
//! words inference is written in.

mod backward;
mod broadcast;
mod broadcast_back;
mod catalog;
mod docs;
pub mod dtypes;
pub mod elemwise;
mod filled;
pub mod fused;
mod fused_product;
pub mod fused_quantized;
mod gradients;
mod indexing;
mod inference;
pub mod init;
mod known;
mod legacy;
pub mod nn;
mod numeric;
pub mod optim;
mod pairwise;
mod products;
pub mod quant;
mod quantized;
mod quantized_product;
pub mod reduce;
mod reduction;
mod reshape_back;
pub mod scalar;
pub mod shape;
mod unary;
mod updates;
pub mod window;
mod with_scalar;

pub use catalog::{catalog, declared_in};
pub use docs::docs_markdown;
pub use fused::{Fusions, patterns};
pub use known::{find, known_names, not_built};
pub use legacy::legacy_name;
pub use quantized::{QuantType, Range};
pub use reduction::ReduceParams;
pub use updates::PreloadedAdamParams;
pub use with_scalar::ScalarParams;
