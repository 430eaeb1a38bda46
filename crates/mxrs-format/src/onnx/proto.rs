//! The messages of an ONNX file: the part of `onnx.proto` that models of one graph use, with its field numbers.
//!
//! Names follow `onnx.proto`, except that its fields called `type` are called `kind`. Decoding skips fields that this crate
//! never reads. A field is an `Option` if an absent value and the value zero have different meanings.

use prost::Message;
use prost::bytes::Bytes;

/// A model file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the ONNX format; versions below 3 cannot be read.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Program that wrote the file.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Version of the program that wrote the file.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// Namespace of the model, in reverse DNS order.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// Version of the model.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// Documentation for human readers.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The graph of operators that the model computes.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// For each domain, the version of its operators that the model uses.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Properties as text.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Functions that the model defines. They are not supported: only their presence is read, for an error.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<Unread>,
}

/// A domain of operators, and the version that is used.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// The domain; empty for ONNX's own operators. Optional, so that even an empty domain is written to the file.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// Version of the operator set.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// A property as a key with a value, both texts.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntryProto {
    /// Name of the property.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Value of the property.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A message whose presence is read, but not its content.
#[derive(Clone, PartialEq, Message)]
pub struct Unread {}

/// The nodes in execution order, with the values that they share.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// The nodes, each after those that compute its inputs.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constant values by name: the parameters.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Documentation for human readers.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// Inputs of the graph; before version 4 of the format, initializers are listed too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs of the graph.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of intermediate values.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Sparse constants. They are not supported: only their presence is read, for an error.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<Unread>,
}

/// A node of the graph: a call of an operator.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of the values that the node reads; an empty name stands for an optional input that is absent.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the values that the node computes; an empty name stands for an optional output that is not used.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node, for human readers.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Name of the operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Attributes of the operator.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Documentation for human readers.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// Domain of the operator; empty for ONNX's own.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// An attribute of a node. `kind` says which of the other fields holds its value.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name of the attribute.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The value, if it is a float.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// The value, if it is an integer.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// The value, if it is a text.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// The value, if it is an array.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// The value, if it is a graph. Graphs in nodes are not supported: only their presence is read, for an error.
    #[prost(message, optional, tag = "6")]
    pub g: Option<Unread>,
    /// The value, if it is a list of floats.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// The value, if it is a list of integers.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// The value, if it is a list of texts.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// Documentation for human readers.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// Which field holds the value, as an [`AttributeKind`].
    #[prost(enumeration = "AttributeKind", tag = "20")]
    pub kind: i32,
    /// In a function: the parameter of the function that supplies the value.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
}

/// Kinds of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeKind {
    /// The kind is not stated.
    Undefined = 0,
    /// A float, in the field `f`.
    Float = 1,
    /// An integer, in the field `i`.
    Int = 2,
    /// A text, in the field `s`.
    String = 3,
    /// An array, in the field `t`.
    Tensor = 4,
    /// A graph, in the field `g`; not supported.
    Graph = 5,
    /// A list of floats, in the field `floats`.
    Floats = 6,
    /// A list of integers, in the field `ints`.
    Ints = 7,
    /// A list of texts, in the field `strings`.
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

/// An array. Its elements are in `raw_data`, or in the list for its element type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Sizes of the axes.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type, a [`DataType`].
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    /// Set if the message is a part of a larger array. This is not supported: only its presence is read, for an error.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<Unread>,
    /// Elements of float32 arrays.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of arrays of narrower integers; also those of 16-bit floats, as bit patterns.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of text arrays. They are not supported: only their presence is read, for an error.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of int64 arrays.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name of the array; for an initializer, the name of the value.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements as bytes, little-endian, row-major.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Elements of float64 arrays.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of uint32 and uint64 arrays.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Documentation for human readers.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// Where elements outside the file are: the keys `location`, `offset` and `length`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// 1 if the elements are outside the file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// Element types that have a counterpart in `DType`, and text, which has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// The element type is not stated.
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
    /// Type of the value.
    #[prost(message, optional, tag = "2")]
    pub kind: Option<TypeProto>,
    /// Documentation for human readers.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// The type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Type of a dense array. Other types (sequences, maps) are not supported and are read as absent.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// The type of a dense array.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Element type, a [`DataType`].
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    /// Shape; absent if not even the number of axes is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// A shape whose sizes may be partly unknown.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// Sizes, one per axis.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// The size of an axis.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// The size or its name; absent if neither is known.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// A size or a name for it.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum DimensionValue {
    /// The size as a number.
    #[prost(int64, tag = "1")]
    Size(i64),
    /// A name; equal names mean equal sizes.
    #[prost(string, tag = "2")]
    Param(String),
}
