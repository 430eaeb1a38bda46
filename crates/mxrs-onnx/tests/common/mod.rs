//! Helpers for tests: models of a few nodes, and graphs that run on the reference kernels.
#![allow(dead_code)] // each test binary uses only some of these functions

use mxrs_format::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use mxrs_format::{AlignedBytes, Tensor};
use mxrs_graph::{Graph, infer_dtypes, infer_shapes};
use mxrs_onnx::Imported;
use mxrs_op::{RefInput, RefOutput, RunMode, TensorDesc};
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, Shape};
use std::collections::HashMap;

/// Tensors by name.
pub type Values = HashMap<String, (TensorDesc, AlignedBuffer)>;

/// The outputs of the graph, computed by the reference kernels.
pub fn outputs(graph: &Graph, given: &Values) -> Vec<(TensorDesc, Vec<f64>)> {
    let shapes = given.iter().map(|(name, (desc, _))| (name.as_str(), desc.shape.clone().into()));
    let shapes: Vec<_> = shapes.filter(|(name, _)| graph.find(name).is_some()).collect();
    let shapes = infer_shapes(graph, shapes).unwrap().complete(graph).unwrap();
    let dtypes: Vec<_> = given.iter().map(|(name, (desc, _))| (name.as_str(), desc.dtype)).collect();
    let dtypes = dtypes.into_iter().filter(|(name, _)| graph.find(name).is_some());
    let dtypes = infer_dtypes(graph, dtypes, Some(DType::F32)).unwrap().complete(graph).unwrap();
    let descs: Vec<TensorDesc> =
        shapes.into_iter().zip(&dtypes).map(|(shape, dtype)| TensorDesc::dense(shape, *dtype)).collect();
    let mut buffers: Vec<AlignedBuffer> = descs.iter().map(|desc| AlignedBuffer::zeroed(desc.size_bytes())).collect();
    for (id, node) in graph.iter() {
        let Some((op, params)) = node.call() else {
            if let Some((_, data)) = given.get(&node.name) {
                buffers[graph.output_id(id, 0).index()] = AlignedBuffer::from_bytes(data.bytes());
            }
            continue;
        };
        let of = |entry: mxrs_graph::EntryId| RefInput {
            desc: &descs[entry.index()],
            bytes: buffers[entry.index()].bytes(),
        };
        let inputs: Vec<RefInput<'_>> = graph.input_ids(id).map(of).collect();
        let mut made: Vec<AlignedBuffer> =
            graph.output_ids(id).map(|entry| AlignedBuffer::zeroed(descs[entry.index()].size_bytes())).collect();
        let mut outputs: Vec<RefOutput<'_>> = graph
            .output_ids(id)
            .zip(&mut made)
            .map(|(entry, buffer)| RefOutput { desc: &descs[entry.index()], bytes: buffer.bytes_mut() })
            .collect();
        op.reference.unwrap()(params, &inputs, &mut outputs, RunMode { is_train: false, random: None }).unwrap();
        for (entry, buffer) in graph.output_ids(id).zip(made) {
            buffers[entry.index()] = buffer;
        }
    }
    let of_head = |head: &mxrs_graph::Entry| {
        let head = graph.entry_id(*head).index();
        (descs[head].clone(), buffers[head].to_f64(descs[head].dtype))
    };
    graph.heads().iter().map(of_head).collect()
}

/// An array for [`Values`].
pub fn array(dtype: DType, shape: &[usize], values: &[f64]) -> (TensorDesc, AlignedBuffer) {
    (TensorDesc::dense(Shape::from(shape), dtype), AlignedBuffer::from_f64(values, dtype))
}

/// The same array as a constant of a model.
pub fn tensor(dtype: DType, shape: &[usize], values: &[f64]) -> Tensor {
    let bytes = AlignedBytes::copy_of(AlignedBuffer::from_f64(values, dtype).bytes());
    Tensor::dense(dtype, Shape::from(shape), bytes).unwrap()
}

/// The outputs of an imported model for these inputs.
pub fn run(
    imported: &Imported,
    inputs: impl IntoIterator<Item = (String, (TensorDesc, AlignedBuffer))>,
) -> Vec<(TensorDesc, Vec<f64>)> {
    let mut values: Values = inputs.into_iter().collect();
    for (name, param) in &imported.params {
        let dense = param.as_dense().unwrap();
        let desc = TensorDesc::dense(dense.shape().clone(), dense.dtype());
        values.insert(name.clone(), (desc, AlignedBuffer::from_bytes(dense.bytes())));
    }
    outputs(&imported.graph, &values)
}

/// A node with attributes.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str], attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto { attribute, ..NodeProto::new(op, format!("{op}_node"), inputs.iter().copied(), outputs.iter().copied()) }
}

/// A model of these nodes. The outputs are those of the last node.
pub fn model(
    opset: i64,
    inputs: Vec<ValueInfoProto>,
    constants: impl IntoIterator<Item = (String, Tensor)>,
    nodes: Vec<NodeProto>,
) -> ModelProto {
    let outputs = nodes.last().map(|node| node.output.clone()).unwrap_or_default();
    let graph = GraphProto {
        initializer: constants.into_iter().map(|(name, tensor)| onnx::from_tensor(name, tensor).unwrap()).collect(),
        input: inputs,
        // The type of an output is not read.
        output: outputs.iter().map(|name| ValueInfoProto::with_dims(name, DType::F32, Vec::new())).collect(),
        node: nodes,
        ..GraphProto::default()
    };
    ModelProto::of(graph, opset)
}
