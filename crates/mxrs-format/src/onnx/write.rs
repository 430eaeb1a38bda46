//! Writing of a model, one array at a time, so that memory never holds a second copy of all parameters.

use super::{GraphProto, ModelProto};
use crate::{fault, write_atomically};
use mxrs_types::{FormatErrorKind, Result};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len, message};
use std::io::Write;
use std::path::Path;

/// Size of the largest model in bytes: protobuf stores sizes as signed 32-bit integers.
pub const MAX_LEN_BYTES: u64 = (1 << 31) - 1;

/// Field numbers of the graph in a model, and of an initializer in a graph.
const GRAPH: u32 = 7;
const INITIALIZER: u32 = 5;

/// The bytes of a model.
///
/// # Errors
/// Returns `LimitExceeded` for a model of more than [`MAX_LEN_BYTES`].
pub fn to_bytes(model: &ModelProto) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut bytes, model)?;
    Ok(bytes)
}

/// Writes a model file, atomically.
///
/// # Errors
/// Returns the errors of [`to_bytes`], and I/O errors with the path.
pub fn save(path: impl AsRef<Path>, model: &ModelProto) -> Result<()> {
    write_atomically(path, |sink| write(sink, model))
}

fn write<W: Write + ?Sized>(sink: &mut W, model: &ModelProto) -> Result<()> {
    let frame = frame(model);
    let Some(graph) = &model.graph else { return put(sink, &frame.encode_to_vec()) };
    let skeleton = skeleton(graph);
    let arrays: u64 = graph.initializer.iter().map(|array| message::encoded_len(INITIALIZER, array) as u64).sum();
    let graph_len = skeleton.encoded_len() as u64 + arrays;
    let total = frame.encoded_len() as u64 + key_len(GRAPH) as u64 + encoded_len_varint(graph_len) as u64 + graph_len;
    if total > MAX_LEN_BYTES {
        let kind = FormatErrorKind::LimitExceeded { value: total, max: MAX_LEN_BYTES };
        let context = "bytes of an ONNX model; parameters in separate files are not written";
        return Err(fault::whole(kind, context));
    }
    let mut head = frame.encode_to_vec();
    encode_key(GRAPH, WireType::LengthDelimited, &mut head);
    encode_varint(graph_len, &mut head);
    put(sink, &head)?;
    put(sink, &skeleton.encode_to_vec())?;
    let mut bytes = Vec::new();
    for array in &graph.initializer {
        bytes.clear();
        message::encode(INITIALIZER, array, &mut bytes);
        put(sink, &bytes)?;
    }
    Ok(())
}

/// The model without its graph.
fn frame(model: &ModelProto) -> ModelProto {
    ModelProto {
        ir_version: model.ir_version,
        producer_name: model.producer_name.clone(),
        producer_version: model.producer_version.clone(),
        domain: model.domain.clone(),
        model_version: model.model_version,
        doc_string: model.doc_string.clone(),
        graph: None,
        opset_import: model.opset_import.clone(),
        metadata_props: model.metadata_props.clone(),
        functions: model.functions.clone(),
    }
}

/// The graph without its arrays.
fn skeleton(graph: &GraphProto) -> GraphProto {
    GraphProto {
        node: graph.node.clone(),
        name: graph.name.clone(),
        initializer: Vec::new(),
        doc_string: graph.doc_string.clone(),
        input: graph.input.clone(),
        output: graph.output.clone(),
        value_info: graph.value_info.clone(),
        sparse_initializer: graph.sparse_initializer.clone(),
    }
}

fn put<W: Write + ?Sized>(sink: &mut W, bytes: &[u8]) -> Result<()> {
    sink.write_all(bytes).map_err(|e| fault::io(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::{AttributeProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto, from_tensor};
    use crate::{Tensor, fault::category};
    use mxrs_types::{DType, Shape};
    use prost::bytes::Bytes;

    fn model() -> ModelProto {
        let shape = Shape::from([2, 3]);
        let mut node = NodeProto::new("Clip", "c", ["x", "", "w"], ["y"]);
        node.attribute =
            vec![AttributeProto::int("i", 0), AttributeProto::ints("l", [1, -1]), AttributeProto::text("t", "")];
        let graph = GraphProto {
            name: "g".into(),
            node: vec![node],
            initializer: vec![from_tensor("w", Tensor::from_slice([2], &[1.0f32, f32::NAN]).unwrap()).unwrap()],
            input: vec![ValueInfoProto::of("x", DType::F32, &shape)],
            output: vec![ValueInfoProto::of("y", DType::F32, &shape)],
            ..GraphProto::default()
        };
        ModelProto::of(graph, 13)
    }

    #[test]
    fn what_is_written_in_pieces_is_the_message() {
        let bytes = to_bytes(&model()).unwrap();
        assert_eq!(bytes.len(), model().encoded_len());
        let back = ModelProto::decode(bytes.as_slice()).unwrap();
        assert_eq!(back.encode_to_vec(), model().encode_to_vec());
        let frame = ModelProto { graph: None, ..model() };
        assert_eq!(to_bytes(&frame).unwrap(), frame.encode_to_vec());
    }

    #[test]
    fn zeros_and_the_empty_domain_are_written() {
        let back = ModelProto::decode(to_bytes(&model()).unwrap().as_slice()).unwrap();
        let node = &back.graph.as_ref().unwrap().node[0];
        assert_eq!((node.attribute[0].i, node.attribute[2].s.as_deref()), (Some(0), Some(&b""[..])));
        assert_eq!(back.opset_import, [OperatorSetIdProto { domain: Some(String::new()), version: 13 }]);
        assert_eq!(node.input, ["x", "", "w"]);
    }

    #[test]
    fn a_model_of_more_than_2_gib_is_refused_before_it_is_written() {
        // One buffer of 1 MiB, shared by 2048 arrays.
        let half = Bytes::from(vec![0; 1 << 20]);
        let array = TensorProto { raw_data: Some(half), ..TensorProto::default() };
        let graph = GraphProto { initializer: vec![array; 2048], ..GraphProto::default() };
        let mut sink = Vec::new();
        let error = write(&mut sink, &ModelProto::of(graph, 13)).unwrap_err();
        assert!(matches!(category(&error), Some(FormatErrorKind::LimitExceeded { max: MAX_LEN_BYTES, .. })), "{error}");
        assert!(sink.is_empty());
    }
}
