//! Tests of ONNX models: writing then reading is the identity, damage never causes a panic, and files of other writers can
//! be read.

use mxrs_format::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use mxrs_format::{Limits, Options, Tensor};
use mxrs_types::{DType, ErrorKind, FormatErrorKind, Shape};
use proptest::collection::vec;
use proptest::prelude::*;

/// A chain of nodes, each with an attribute of some kind and a constant.
fn model() -> impl Strategy<Value = ModelProto> {
    let node = (0usize..6, any::<i64>(), any::<f32>(), vec(any::<i64>(), 0..4), "[a-z]{0,8}");
    let tensor = (0..DType::ALL.len(), vec(0usize..4, 0..4));
    (vec((node, tensor), 0..8), 13i64..=17).prop_map(|(nodes, opset)| {
        let mut graph = GraphProto {
            name: "g".into(),
            input: vec![ValueInfoProto::of("v0", DType::F32, &Shape::from([2, 3]))],
            ..GraphProto::default()
        };
        for (i, ((kind, int, float, ints, text), (dtype, shape))) in nodes.into_iter().enumerate() {
            let (dtype, shape) = (DType::ALL[dtype], Shape::from(&shape[..]));
            let zeros = vec![0u8; shape.checked_size_bytes(dtype).unwrap()];
            let tensor = Tensor::dense(dtype, shape, zeros.as_slice().into()).unwrap();
            let array = onnx::from_tensor(format!("w{i}"), tensor).unwrap();
            let attribute = match kind {
                0 => AttributeProto::int("a", int),
                1 => AttributeProto::float("a", float),
                2 => AttributeProto::ints("a", ints),
                3 => AttributeProto::text("a", &text),
                4 => AttributeProto::tensor("a", array.clone()),
                _ => AttributeProto { name: "other".into(), ..AttributeProto::int("a", 0) },
            };
            let inputs = [format!("v{i}"), String::new(), format!("w{i}")];
            let node = NodeProto::new("Op", text, inputs, [format!("v{}", i + 1)]);
            graph.node.push(NodeProto { attribute: vec![attribute], ..node });
            graph.initializer.push(array);
        }
        graph.output.push(ValueInfoProto::with_dims(
            format!("v{}", graph.node.len()),
            DType::F32,
            vec![onnx::Dimension::named("N"), onnx::Dimension::unknown(), onnx::Dimension::size(0)],
        ));
        ModelProto::of(graph, opset)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn writing_then_reading_is_the_identity(model in model()) {
        let bytes = onnx::to_bytes(&model).unwrap();
        let back = onnx::from_bytes(&bytes, &Options::default()).unwrap();
        prop_assert_eq!(onnx::to_bytes(&back.value).unwrap(), bytes);
        let (graph, read) = (model.graph.unwrap(), back.value.graph.unwrap());
        for (array, again) in graph.initializer.iter().zip(&read.initializer) {
            let limits = Limits::default();
            prop_assert_eq!(onnx::to_tensor(array, &limits).unwrap(), onnx::to_tensor(again, &limits).unwrap());
        }
        prop_assert_eq!(graph.initializer.len(), read.initializer.len());
        prop_assert_eq!(graph.output, read.output);
    }

    #[test]
    fn damage_is_an_error_or_another_model(model in model(), cut in any::<u16>(), at in any::<u16>(), to in any::<u8>()) {
        let bytes = onnx::to_bytes(&model).unwrap();
        let cut = cut as usize % bytes.len();
        let _ = onnx::from_bytes(&bytes[..cut], &Options::default());
        let mut bent = bytes;
        let at = at as usize % bent.len();
        bent[at] = to;
        if let Ok(read) = onnx::from_bytes(&bent, &Options::default()) {
            // An accepted model can be written, and the result is accepted too.
            let bytes = onnx::to_bytes(&read.value).unwrap();
            prop_assert!(onnx::from_bytes(&bytes, &Options::default()).is_ok());
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200)) {
        let _ = onnx::from_bytes(&bytes, &Options::default());
    }
}

/// Bytes that Python's `onnx.helper` 1.23 wrote for `y = Relu(x)`: x and y are float `[N, 2]`; version 8 of the format,
/// operators of version 13 and of `com.example`.
const FROM_PYTHON: &[u8] = b"\x08\x08\x12\x00:@\n\x0f\n\x01x\x12\x01y\x1a\x01n\"\x04Relu\x12\x01gZ\x14\n\x01x\x12\x0f\n\r\x08\x01\
\x12\t\n\x03\x12\x01N\n\x02\x08\x02b\x14\n\x01y\x12\x0f\n\r\x08\x01\x12\t\n\x03\x12\x01N\n\x02\x08\x02B\x04\n\x00\x10\rB\x0f\n\x0b\
com.example\x10\x01";

#[test]
fn bytes_of_another_writer_are_read() {
    let model = onnx::from_bytes(FROM_PYTHON, &Options::default()).unwrap().value;
    let graph = model.graph.as_ref().unwrap();
    assert_eq!((model.opset(), graph.node[0].op_type.as_str()), (Some(13), "Relu"));
    assert_eq!((&graph.node[0].input[0], &graph.output[0].name), (&"x".to_string(), &"y".to_string()));
    let dims = &graph.input[0].tensor_type().unwrap().shape.as_ref().unwrap().dim;
    assert_eq!(dims[..], [onnx::Dimension::named("N"), onnx::Dimension::size(2)]);
}

#[test]
fn a_file_of_another_kind_is_named() {
    for (bytes, word) in
        [(&b"{\"nodes\": []}"[..], "JSON"), (b"PK\x03\x04", "zip"), (b"version https://git-lfs", "Git LFS")]
    {
        let error = onnx::from_bytes(bytes, &Options::default()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(onnx::from_bytes(&[], &Options::default()).is_err());
}

#[test]
fn many_empty_messages_are_refused_before_they_are_decoded() {
    let graph: Vec<u8> = [0x0a, 0].repeat(1 << 20);
    let mut bytes = vec![0x3a, 0x80, 0x80, 0x80, 0x01];
    bytes.extend(graph);
    let options = Options { limits: Limits { max_nodes: 1000, ..Limits::default() }, ..Options::default() };
    let error = onnx::from_bytes(&bytes, &options).unwrap_err();
    let is_limit =
        matches!(error.kind(), ErrorKind::Format { kind: FormatErrorKind::LimitExceeded { max: 1000, .. }, .. });
    assert!(is_limit, "{error}");
}

/// The file is `y = Clip(Relu(x) + w, max = m)` with an attribute of each kind, written by Python's `onnx.helper`.
#[test]
fn a_file_of_another_writer_has_every_kind_of_field() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/onnx/clip.onnx");
    let graph = onnx::open(path, &Options::default()).unwrap().value.graph.unwrap();
    let clip = &graph.node[2];
    assert_eq!((clip.op_type.as_str(), clip.input.join(",")), ("Clip", "b,,m".to_string()));
    let attr = |name: &str| clip.attr(name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!((attr("k").i, attr("f").f, attr("s").s.as_deref()), (Some(0), Some(0.5), Some(&b"t"[..])));
    assert_eq!(attr("l").ints, [1, -1]);
    let limits = Limits::default();
    let w = Tensor::from_slice([2], &[1.5f32, -2.0]).unwrap();
    // Elements are in the list for their type, both in a node's attribute and in an initializer; the last array is a scalar.
    assert_eq!(onnx::to_tensor(attr("t").t.as_ref().unwrap(), &limits).unwrap(), w);
    assert_eq!(onnx::to_tensor(&graph.initializer[0], &limits).unwrap(), w);
    let m = onnx::to_tensor(&graph.initializer[1], &limits).unwrap();
    assert_eq!(m, Tensor::from_slice(Shape::scalar(), &[3.0f32]).unwrap());
}
