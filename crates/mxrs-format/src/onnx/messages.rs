//! Constructors of ONNX messages, and methods that read their fields.

use super::{
    AttributeKind, AttributeProto, Bytes, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, data_type,
};
use mxrs_types::{DType, Shape};

impl ModelProto {
    /// A model with this graph, which uses version `opset` of ONNX's own operators.
    pub fn of(graph: GraphProto, opset: i64) -> Self {
        Self {
            // The oldest version of the format that allows these operators.
            ir_version: if opset < 15 { 7 } else { 8 },
            producer_name: "mxrs".into(),
            producer_version: env!("CARGO_PKG_VERSION").into(),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: opset }],
            ..Self::default()
        }
    }

    /// The version of ONNX's own operators that the model uses.
    pub fn opset(&self) -> Option<i64> {
        let is_own = |set: &&OperatorSetIdProto| matches!(set.domain.as_deref(), None | Some("" | "ai.onnx"));
        self.opset_import.iter().find(is_own).map(|set| set.version)
    }
}

impl NodeProto {
    /// Makes a node without attributes.
    pub fn new(
        op_type: impl Into<String>,
        name: impl Into<String>,
        inputs: impl IntoIterator<Item: Into<String>>,
        outputs: impl IntoIterator<Item: Into<String>>,
    ) -> Self {
        Self {
            op_type: op_type.into(),
            name: name.into(),
            input: inputs.into_iter().map(Into::into).collect(),
            output: outputs.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&AttributeProto> {
        self.attribute.iter().find(|attribute| attribute.name == name)
    }

    /// Whether the operator is one of ONNX's own.
    pub fn is_own_domain(&self) -> bool {
        matches!(self.domain.as_str(), "" | "ai.onnx")
    }
}

impl AttributeProto {
    fn with(name: impl Into<String>, kind: AttributeKind) -> Self {
        Self { name: name.into(), kind: kind as i32, ..Self::default() }
    }

    /// An attribute that holds an integer.
    pub fn int(name: impl Into<String>, value: i64) -> Self {
        Self { i: Some(value), ..Self::with(name, AttributeKind::Int) }
    }

    /// An attribute that holds a float.
    pub fn float(name: impl Into<String>, value: f32) -> Self {
        Self { f: Some(value), ..Self::with(name, AttributeKind::Float) }
    }

    /// An attribute that holds a list of integers.
    pub fn ints(name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Self {
        Self { ints: values.into_iter().collect(), ..Self::with(name, AttributeKind::Ints) }
    }

    /// An attribute that holds a text.
    pub fn text(name: impl Into<String>, value: &str) -> Self {
        Self { s: Some(Bytes::copy_from_slice(value.as_bytes())), ..Self::with(name, AttributeKind::String) }
    }

    /// An attribute that holds an array.
    pub fn tensor(name: impl Into<String>, value: TensorProto) -> Self {
        Self { t: Some(Box::new(value)), ..Self::with(name, AttributeKind::Tensor) }
    }

    /// Whether the attribute has this kind. Files older than version 3 of the format, which do not store the kind, are not
    /// read.
    pub fn is(&self, kind: AttributeKind) -> bool {
        self.kind == kind as i32
    }
}

impl Dimension {
    /// An axis of known size.
    pub fn size(size: usize) -> Self {
        // The fallback is never used: no array that fits in memory has a longer axis.
        Self { value: Some(DimensionValue::Size(i64::try_from(size).unwrap_or(i64::MAX))) }
    }

    /// An axis whose size is given by a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { value: Some(DimensionValue::Param(name.into())) }
    }

    /// An axis of unknown size.
    pub fn unknown() -> Self {
        Self { value: None }
    }
}

impl ValueInfoProto {
    /// A value with a known shape.
    pub fn of(name: impl Into<String>, dtype: DType, shape: &Shape) -> Self {
        Self::with_dims(name, dtype, shape.iter().map(|size| Dimension::size(*size)).collect())
    }

    /// A value whose axes have the sizes `dim`.
    pub fn with_dims(name: impl Into<String>, dtype: DType, dim: Vec<Dimension>) -> Self {
        let tensor = TensorTypeProto { elem_type: data_type(dtype) as i32, shape: Some(TensorShapeProto { dim }) };
        Self { name: name.into(), kind: Some(TypeProto { tensor_type: Some(tensor) }), doc_string: String::new() }
    }

    /// The type of the value, if it is a dense array.
    pub fn tensor_type(&self) -> Option<&TensorTypeProto> {
        self.kind.as_ref()?.tensor_type.as_ref()
    }
}
