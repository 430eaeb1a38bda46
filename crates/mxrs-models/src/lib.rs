//! The benchmark networks as symbols, one file each, and initializers for their parameters.
//!
//! The networks are those of MXNet 1.9.1's image-classification example, and two of Gluon's model zoo, with the same nodes,
//! names, attributes and order. So checkpoints of MXNet can be loaded, and symbol files compare equal. This crate does not
//! depend on file formats, arrays or executors: an initializer fills a slice.
//!
//! ```
//! use mxrs_models::{Initializer, ModelOptions, model};
//! use mxrs_types::Shape;
//!
//! let lenet = model("lenet", &ModelOptions { n_classes: 10, ..ModelOptions::default() })?;
//! assert_eq!(lenet.symbol.outputs(), ["softmax_output"]);
//! assert_eq!(lenet.image, [1, 28, 28]);
//!
//! let xavier = Initializer::xavier(2.0);
//! let weights = xavier.values("convolution0_weight", None, &Shape::from([20, 1, 5, 5]), 42)?;
//! assert_eq!(weights.len(), 500);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `lenet.rs` for a small network, `resnet.rs` for a large one, `squeezenet.rs` for one of Gluon, `registry.rs` for
//! all names.

mod alexnet;
mod builder;
mod densenet;
mod gluon;
mod googlenet;
mod inception_bn;
mod inception_resnet_v2;
mod inception_v3;
mod inception_v4;
mod init;
mod lenet;
mod mlp;
mod mobilenet;
mod mobilenet_v2;
mod net;
mod registry;
mod residual;
mod resnet;
mod resnet_v1;
mod resnext;
mod squeezenet;
mod vgg;

pub use builder::NetBuilder;
pub use init::{FactorKind, Initializer, Load, Mixed, RandomKind};
pub use registry::{BENCHMARK_NETWORKS, Family, Model, ModelOptions, families, model, networks};
