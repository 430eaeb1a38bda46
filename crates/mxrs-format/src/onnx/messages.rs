//! Messages in one line, and their fields as values.

use super::{
    AttributeKind, AttributeProto, Bytes, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, data_type,
};
use mxrs_types::{DType, Shape};

impl ModelProto {
    /// A model of this graph, with ONNX's own operators of this version.
    pub fn of(graph: GraphProto, opset: i64) -> Self {
        Self {
            // The oldest format that has the operators.
            ir_version: if opset < 15 { 7 } else { 8 },
            producer_name: "mxrs".into(),
            producer_version: env!("CARGO_PKG_VERSION").into(),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: opset }],
            ..Self::default()
        }
    }

    /// The version of ONNX's own operators.
    pub fn opset(&self) -> Option<i64> {
        let is_own = |set: &&OperatorSetIdProto| matches!(set.domain.as_deref(), None | Some("" | "ai.onnx"));
        self.opset_import.iter().find(is_own).map(|set| set.version)
    }
}

impl NodeProto {
    /// A call without attributes.
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

    /// The attribute of this name.
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

    /// An integer.
    pub fn int(name: impl Into<String>, value: i64) -> Self {
        Self { i: Some(value), ..Self::with(name, AttributeKind::Int) }
    }

    /// A number.
    pub fn float(name: impl Into<String>, value: f32) -> Self {
        Self { f: Some(value), ..Self::with(name, AttributeKind::Float) }
    }

    /// A list of integers.
    pub fn ints(name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Self {
        Self { ints: values.into_iter().collect(), ..Self::with(name, AttributeKind::Ints) }
    }

    /// A text.
    pub fn text(name: impl Into<String>, value: &str) -> Self {
        Self { s: Some(Bytes::copy_from_slice(value.as_bytes())), ..Self::with(name, AttributeKind::String) }
    }

    /// An array.
    pub fn tensor(name: impl Into<String>, value: TensorProto) -> Self {
        Self { t: Some(Box::new(value)), ..Self::with(name, AttributeKind::Tensor) }
    }

    /// Its kind; files older than version 3 of the format, which leave it out, are not read.
    pub fn is(&self, kind: AttributeKind) -> bool {
        self.kind == kind as i32
    }
}

impl Dimension {
    /// A known size.
    pub fn size(size: usize) -> Self {
        // No array that fits in memory has a longer axis.
        Self { value: Some(DimensionValue::Size(i64::try_from(size).unwrap_or(i64::MAX))) }
    }

    /// A size with a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { value: Some(DimensionValue::Param(name.into())) }
    }

    /// Nothing known.
    pub fn unknown() -> Self {
        Self { value: None }
    }
}

impl ValueInfoProto {
    /// A value of a known shape.
    pub fn of(name: impl Into<String>, dtype: DType, shape: &Shape) -> Self {
        Self::with_dims(name, dtype, shape.iter().map(|size| Dimension::size(*size)).collect())
    }

    /// A value with these sizes.
    pub fn with_dims(name: impl Into<String>, dtype: DType, dim: Vec<Dimension>) -> Self {
        let tensor = TensorTypeProto { elem_type: data_type(dtype) as i32, shape: Some(TensorShapeProto { dim }) };
        Self { name: name.into(), kind: Some(TypeProto { tensor_type: Some(tensor) }), doc_string: String::new() }
    }

    /// Its type, when it is a dense array.
    pub fn tensor_type(&self) -> Option<&TensorTypeProto> {
        self.kind.as_ref()?.tensor_type.as_ref()
    }
}
