//! The messages of an ONNX file: the part of `onnx.proto` that models of one graph use, with its field numbers.
//!
//! Names follow `onnx.proto`; fields called `type` there are called `kind`. Fields that no reader here looks at are
//! skipped when a file is decoded. Fields where absent and zero differ are optional.

use prost::Message;
use prost::bytes::Bytes;

/// A model file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the format itself, from 3.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Program that wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Its version.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// Namespace of the model, in reverse DNS order.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// Version of the model.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// Text for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// What is computed.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Versions of the operators used, by domain.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Properties as text.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Functions of the model's own; not supported, only noticed.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<Unread>,
}

/// A version of the operators of a domain.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// The domain; empty for ONNX's own operators. Optional, so that the empty one is written.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// The version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A property.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Its text.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A message that is noticed but not read.
#[derive(Clone, PartialEq, Message)]
pub struct Unread {}

/// Nodes in an order of execution, with the values they share.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The calls, each after those that make its inputs.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constant values by name: the parameters.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Text for people.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// What is fed; before version 4 of the format, initializers too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What is computed.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values in between.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Sparse constants; not supported, only noticed.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<Unread>,
}

/// A call of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the values read; empty for an optional input that is absent.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the values made; empty for an optional output that nobody asks for.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node, for people.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Its parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Text for people.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// Domain of the operator; empty for ONNX's own.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A parameter of a node. `kind` tells which of the other fields counts.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A number.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// An integer.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A text.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// An array.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// A graph; not supported, only noticed.
    #[prost(message, optional, tag = "6")]
    pub g: Option<Unread>,
    /// Numbers.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Integers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// Text for people.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// Which field counts, an [`AttributeKind`].
    #[prost(enumeration = "AttributeKind", tag = "20")]
    pub kind: i32,
    /// In a function: the parameter of the function it stands for.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
}

/// Kinds of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeKind {
    /// Not said.
    Undefined = 0,
    /// `f`.
    Float = 1,
    /// `i`.
    Int = 2,
    /// `s`.
    String = 3,
    /// `t`.
    Tensor = 4,
    /// `g`.
    Graph = 5,
    /// `floats`.
    Floats = 6,
    /// `ints`.
    Ints = 7,
    /// `strings`.
    Strings = 8,
    /// A list of arrays; not supported.
    Tensors = 9,
    /// A list of graphs; not supported.
    Graphs = 10,
    /// A sparse array; not supported.
    SparseTensor = 11,
    /// A list of sparse arrays; not supported.
    SparseTensors = 12,
    /// A type; not supported.
    TypeProto = 13,
    /// A list of types; not supported.
    TypeProtos = 14,
}

/// An array: its elements in `raw_data`, or in the list of its type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Sizes of the axes.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type, a [`DataType`].
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    /// Part of a larger array; not supported, only noticed.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Unread>,
    /// Elements of float arrays.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of arrays of narrower integers and, by their bits, of 16-bit floats.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of text arrays; not supported, only noticed.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of int64 arrays.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name; that of the value for an initializer.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements as bytes, little-endian, row-major.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Elements of double arrays.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of uint32 and uint64 arrays.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Text for people.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// Where elements outside the file are; not supported, only noticed.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 when the elements are outside the file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// Element types that have a counterpart here, and text, which has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// Not said.
    Undefined = 0,
    /// 32-bit float.
    Float = 1,
    /// Unsigned 8-bit integer.
    Uint8 = 2,
    /// Signed 8-bit integer.
    Int8 = 3,
    /// Unsigned 16-bit integer.
    Uint16 = 4,
    /// Signed 16-bit integer.
    Int16 = 5,
    /// Signed 32-bit integer.
    Int32 = 6,
    /// Signed 64-bit integer.
    Int64 = 7,
    /// Text.
    String = 8,
    /// Truth value.
    Bool = 9,
    /// 16-bit float.
    Float16 = 10,
    /// 64-bit float.
    Double = 11,
    /// Unsigned 32-bit integer.
    Uint32 = 12,
    /// Unsigned 64-bit integer.
    Uint64 = 13,
    /// bfloat16.
    Bfloat16 = 16,
}

/// A value with its type.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name of the value.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(message, optional, tag = "2")]
    pub kind: Option<TypeProto>,
    /// Text for people.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// A type.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// A dense array; other types (sequences, maps) are not supported and read as absent.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// The type of a dense array.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Element type, a [`DataType`].
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    /// Shape; absent when not even the number of axes is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Sizes, as far as known.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// One per axis.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// The size of an axis.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// The size or its name; absent when nothing is known.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// A size or a name for it.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum DimensionValue {
    /// The size.
    #[prost(int64, tag = "1")]
    Size(i64),
    /// A name; equal names mean equal sizes.
    #[prost(string, tag = "2")]
    Param(String),
}
