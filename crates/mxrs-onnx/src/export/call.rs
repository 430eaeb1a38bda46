//! One call of the graph while it is converted to nodes of an ONNX model: the names of the call's inputs, its shapes, and
//! the nodes written so far.
//!
//! An operator is written in steps. Each step is a node with one output, whose name is unique. The value that the
//! operator's function returns becomes the output of the call, and the step that computes it gets the name of the call.

use super::facts::Facts;
use crate::names::Names;
use crate::refusal::{Refusal, refuse};
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_format::onnx::{AttributeProto, NodeProto, TensorProto, from_tensor};
use mxrs_graph::{EntryId, Graph, Node, NodeId};
use mxrs_op::param::Parameters;
use mxrs_types::{DType, Result, Shape};

/// The name of the value that a call computes, or the reason why the call cannot be exported.
pub(super) type Answer = Result<String, Refusal>;

/// The parts of a model that are written so far.
#[derive(Default)]
pub(super) struct Written {
    pub nodes: Vec<NodeProto>,
    /// Constants that are not parameters, by name.
    pub constants: IndexMap<String, TensorProto>,
    pub value_names: Names,
    pub node_names: Names,
    /// The name in the model of each entry of the graph that has been written.
    pub values: IndexMap<EntryId, String>,
}

/// A call of the graph that is being converted to nodes of the model.
pub(super) struct Call<'a> {
    pub graph: &'a Graph,
    pub facts: &'a Facts,
    pub id: NodeId,
    pub written: &'a mut Written,
}

impl<'a> Call<'a> {
    /// The node of the graph.
    pub fn node(&self) -> &'a Node {
        self.graph.node(self.id)
    }

    /// Parameters of the operator.
    ///
    /// # Panics
    /// Panics if the operator's parameters are not of type `P`. This does not happen, because the list of operators pairs
    /// each operator with the right function.
    pub fn params<P: Parameters>(&self) -> &'a P {
        let (_, params) = self.node().call().expect("a call, no variable");
        params.get()
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.node().inputs.len()
    }

    fn input_id(&self, index: usize) -> EntryId {
        self.graph.entry_id(self.node().inputs[index])
    }

    fn output_id(&self) -> EntryId {
        self.graph.output_id(self.id, 0)
    }

    /// Name of input `index`.
    pub fn input(&self, index: usize) -> String {
        let entry = self.input_id(index);
        // A node is written after the nodes that it reads, so the name is normally known. Otherwise the name that the graph
        // gives the entry is used.
        self.written.values.get(&entry).cloned().unwrap_or_else(|| self.graph.entry_name(entry))
    }

    /// Names of all inputs.
    pub fn inputs(&self) -> Vec<String> {
        (0..self.n_inputs()).map(|index| self.input(index)).collect()
    }

    /// Shape of input `index`.
    pub fn shape(&self, index: usize) -> &'a Shape {
        self.facts.shape(self.input_id(index))
    }

    /// Shape of the output.
    pub fn out_shape(&self) -> &'a Shape {
        self.facts.shape(self.output_id())
    }

    /// Element type of input `index`.
    pub fn dtype(&self, index: usize) -> DType {
        self.facts.dtype(self.input_id(index))
    }

    /// Element type of the output.
    pub fn out_dtype(&self) -> DType {
        self.facts.dtype(self.output_id())
    }

    /// Converts `axis`, which may be negative, to an axis of input 0, counted from the start.
    pub fn axis(&self, axis: i64) -> Result<usize> {
        self.shape(0).axis(axis)
    }

    /// Refuses the call if the dtype of its data is not in `dtypes`, the dtypes that ONNX's operator `op_type`
    /// supports.
    pub fn require_dtype(&self, op_type: &str, dtypes: &[DType]) -> Result<(), Refusal> {
        let got = if self.n_inputs() == 0 { self.out_dtype() } else { self.dtype(0) };
        if dtypes.contains(&got) { Ok(()) } else { refuse(format!("{op_type} has no element type {got}")) }
    }

    /// Writes a node and returns the name of its output.
    pub fn step<S: AsRef<str>>(&mut self, op_type: &str, inputs: &[S], attributes: Vec<AttributeProto>) -> String {
        let wanted = format!("{}_{}", self.node().name, op_type.to_ascii_lowercase());
        let name = self.written.node_names.claim(&wanted);
        let output = self.written.value_names.claim(&wanted);
        let node = NodeProto::new(op_type, name, inputs.iter().map(AsRef::as_ref), [output.as_str()]);
        self.written.nodes.push(NodeProto { attribute: attributes, ..node });
        output
    }

    /// Adds a constant. `part` is the role of the constant in the call and becomes part of its name.
    ///
    /// # Errors
    /// Fails if the array is not dense.
    pub fn constant(&mut self, part: &str, tensor: Tensor) -> Result<String> {
        let name = self.written.value_names.claim(&format!("{}_{part}", self.node().name));
        self.written.constants.insert(name.clone(), from_tensor(&name, tensor)?);
        Ok(name)
    }

    /// Adds a constant list of integers.
    ///
    /// # Errors
    /// Never fails in practice, because a list always makes a dense array.
    pub fn ints(&mut self, part: &str, values: &[i64]) -> Result<String> {
        self.constant(part, Tensor::from_slice([values.len()], values)?)
    }

    /// Adds a constant scalar.
    ///
    /// # Errors
    /// Returns the errors of [`Self::ints`].
    pub fn scalar(&mut self, part: &str, dtype: DType, value: f64) -> Result<String> {
        self.constant(part, scalar(dtype, Shape::scalar(), value)?)
    }

    /// Reshapes a value to the shape of the output.
    ///
    /// # Errors
    /// Returns a refusal in two cases: the batch size is open (dynamic) and several sizes of the output depend on it;
    /// or the array is empty, because in ONNX's `Reshape` the size 0 means "copy the size of the input".
    pub fn reshape_to_output(&mut self, value: &str) -> Answer {
        let target = self.reshape_target()?;
        let target = self.ints("shape", &target)?;
        Ok(self.step("Reshape", &[value, &target], Vec::new()))
    }

    fn reshape_target(&self) -> Result<Vec<i64>, Refusal> {
        let sizes = self.facts.fixed_sizes(self.output_id());
        if self.out_shape().contains(&0) {
            return refuse("an empty array is reshaped");
        }
        match sizes.iter().filter(|size| size.is_none()).count() {
            0 | 1 => Ok(sizes.iter().map(|size| size.map_or(-1, |size| size as i64)).collect()),
            _ => refuse("several sizes of its output follow the batch, which is to stay open"),
        }
    }

    /// Adds the output's shape as a constant.
    ///
    /// # Errors
    /// Returns a refusal if the batch size is open (dynamic) and a size of the output depends on it.
    pub fn output_sizes(&mut self) -> Answer {
        let sizes = self.facts.fixed_sizes(self.output_id());
        match sizes.into_iter().map(|size| size.map(|size| size as i64)).collect::<Option<Vec<_>>>() {
            Some(sizes) => Ok(self.ints("shape", &sizes)?),
            None => refuse("its shape follows the batch, which is to stay open"),
        }
    }

    /// Whether the output's shape does not depend on the batch size.
    pub fn has_fixed_output(&self) -> bool {
        self.facts.fixed_sizes(self.output_id()).iter().all(Option::is_some)
    }

    /// Permutes the axes of a value.
    pub fn transposed(&mut self, value: &str, axes: &[usize]) -> String {
        let perm = AttributeProto::ints("perm", axes.iter().map(|axis| *axis as i64));
        self.step("Transpose", &[value], vec![perm])
    }

    /// Casts a value to another dtype.
    pub fn cast(&mut self, value: &str, dtype: DType) -> String {
        let to = AttributeProto::int("to", mxrs_format::onnx::data_type(dtype) as i64);
        self.step("Cast", &[value], vec![to])
    }
}

/// An array filled with one value.
///
/// # Errors
/// Fails if the array does not fit in memory.
pub(super) fn scalar(dtype: DType, shape: Shape, value: f64) -> Result<Tensor> {
    let values = vec![value; shape.n_elements()];
    Ok(Tensor::from_slice(shape, &values)?.cast(dtype))
}

/// Converts sizes to the integer type of ONNX attributes.
pub(super) fn sizes(values: &[usize]) -> impl Iterator<Item = i64> + '_ {
    values.iter().map(|value| *value as i64)
}
