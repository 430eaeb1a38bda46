//! The operator catalog: one file per operator, with its parameters, inference, reference kernel and samples.
//!
//! Most files under `nn`, `norms`, `losses`, `products`, `elemwise`, `shape`, `spatial`, `boxes`, `recurrent`, `sorting`, `init`,
//! `reduce` and `quant` declare one [`mxrs_op::OpDef`]; each file under `optim` declares the operators of one family of
//! optimizers; [`tables`] declares functions of one and of two numbers, one line or entry each. Files under [`numpy`],
//! [`linalg`], [`random`] and [`attention`] declare several similar operators. Those of [`control`] have no kernels. Code that
//! several files share is in `families`. [`catalog()`] lists all operators. Names, aliases and parameters are those of MXNet 1.9.1. The crate does not depend on
//! backends, graphs or file formats. Its kernels are slow: they serve only as the reference for correct results.
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
//! helpers of inference.

pub mod attention;
pub mod boxes;
pub mod by_values;
mod catalog;
pub mod control;
pub mod custom;
mod docs;
pub mod dtypes;
pub mod elemwise;
mod families;
pub mod fused;
mod inference;
pub mod init;
mod known;
pub mod layers;
mod legacy;
pub mod linalg;
pub mod losses;
pub mod nn;
pub mod norms;
mod numeric;
pub mod numpy;
pub mod optim;
pub mod products;
pub mod quant;
pub mod random;
pub mod recurrent;
pub mod reduce;
pub mod shape;
pub mod sorting;
pub mod spatial;
pub mod tables;

pub use catalog::{catalog, declared_in};
pub use docs::docs_markdown;
pub use families::quantized::{QuantType, Range};
pub use families::reduction::ReduceParams;
pub use families::with_scalar::ScalarParams;
pub use families::{entropy, fused_quantized, window};
pub use fused::{Fusions, patterns};
pub use known::{find, known_names, not_built};
pub use legacy::legacy_name;
pub use optim::adadelta::Params as AdaDeltaParams;
pub use optim::adamax::Params as AdamaxParams;
pub use optim::dcasgd::Params as DcAsgdParams;
pub use optim::multi_adam::PreloadedAdamParams;
pub use optim::nadam::Params as NadamParams;
pub use optim::sgld::Params as SgldParams;
pub use optim::two_bit::Params as TwoBitParams;
