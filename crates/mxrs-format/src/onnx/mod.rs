//! ONNX models: a graph of operators with its parameters in one protobuf file.
//!
//! This module handles the file: its messages ([`ModelProto`] and those it contains), bounded reading ([`open`]), writing
//! ([`save`]), the rules for every model ([`check`]) and arrays ([`to_tensor`], [`from_tensor`]). It does not know the
//! meaning of ONNX operators or which MXNet operator each corresponds to; `mxrs-onnx` does.
//!
//! Versions 3 to 10 of the format and versions 7 to 21 of the operators can be read. [`open`] also reads weights in other files
//! of the model's folder. Text arrays, sparse constants, functions and graphs inside nodes are refused. The largest file is
//! 2 GiB, protobuf's own limit; weights in other files do not count.
//!
//! ```
//! use mxrs_format::onnx::{self, GraphProto, ModelProto, NodeProto, ValueInfoProto};
//! use mxrs_format::{Options, Tensor};
//! use mxrs_types::{DType, Shape};
//!
//! let shape = Shape::from([2]);
//! let graph = GraphProto {
//!     name: "sum".into(),
//!     node: vec![NodeProto::new("Add", "add", ["x", "one"], ["y"])],
//!     initializer: vec![onnx::from_tensor("one", Tensor::from_slice([2], &[1.0f32; 2])?)?],
//!     input: vec![ValueInfoProto::of("x", DType::F32, &shape)],
//!     output: vec![ValueInfoProto::of("y", DType::F32, &shape)],
//!     ..GraphProto::default()
//! };
//! let bytes = onnx::to_bytes(&ModelProto::of(graph, 13))?;
//! assert_eq!(onnx::from_bytes(&bytes, &Options::default())?.value.graph.unwrap().node[0].op_type, "Add");
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `proto.rs` for the messages, `check.rs` for the rules.

mod check;
mod external;
mod messages;
mod proto;
mod read;
mod scan;
mod tensor;
mod write;

pub use check::check;
pub use prost::bytes::Bytes;
pub use proto::{
    AttributeKind, AttributeProto, DataType, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, Unread,
    ValueInfoProto,
};
pub use read::{from_bytes, open};
pub use tensor::{data_type, dtype, from_tensor, to_tensor};
pub use write::{MAX_LEN_BYTES, save, to_bytes};
