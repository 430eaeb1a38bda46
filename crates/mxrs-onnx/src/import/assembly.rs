//! The graph under construction: values by name, shapes as far as they are known, and constants, which become variables if a
//! node uses them as operands.

use super::fold::folded;
use crate::names::Names;
use indexmap::IndexMap;
use mxrs_format::onnx::{GraphProto, NodeProto, TensorProto, to_tensor};
use mxrs_format::{Options, Tensor};
use mxrs_graph::{Entry, Graph, GraphBuilder};
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{Error, PartialShape, Result, Shape};
use std::collections::HashMap;

pub(super) struct Assembly<'m> {
    ops: OpSet,
    builder: GraphBuilder,
    arrays: HashMap<&'m str, &'m TensorProto>,
    /// Constants that the import of a node computed, by the name of the node's output.
    computed: HashMap<String, Tensor>,
    /// Results of calls that were computed during the import, because all inputs of the call are constants.
    folded: HashMap<Entry, Tensor>,
    values: HashMap<String, Entry>,
    shapes: HashMap<Entry, PartialShape>,
    params: IndexMap<String, Tensor>,
    names: Names,
    options: &'m Options,
    /// Version of the model's operators.
    pub opset: i64,
}

impl<'m> Assembly<'m> {
    pub fn new(graph: &'m GraphProto, opset: i64, options: &'m Options) -> Self {
        let arrays = graph.initializer.iter().map(|array| (array.name.as_str(), array)).collect();
        let mut names = Names::default();
        // A constant keeps its name; a node whose name collides with the name of a constant gets another name.
        for array in &graph.initializer {
            names.claim(&array.name);
        }
        Self {
            ops: mxrs_ops::catalog(),
            builder: GraphBuilder::new(),
            arrays,
            computed: HashMap::new(),
            folded: HashMap::new(),
            values: HashMap::new(),
            shapes: HashMap::new(),
            params: IndexMap::new(),
            names,
            options,
            opset,
        }
    }

    /// Whether a value is a constant.
    pub fn is_array(&self, name: &str) -> bool {
        self.arrays.contains_key(name) || self.computed.contains_key(name)
    }

    /// Stores a constant that was computed.
    pub fn add_computed(&mut self, name: &str, tensor: Tensor) {
        self.names.claim(name);
        self.computed.insert(name.to_owned(), tensor);
    }

    /// Stores a constant that a node defines.
    pub fn add_array(&mut self, name: &'m str, array: &'m TensorProto) {
        self.arrays.insert(name, array);
    }

    /// Adds an input of the model as a variable.
    pub fn add_input(&mut self, name: &str, shape: PartialShape) {
        self.names.claim(name);
        let entry = Entry::new(self.builder.add_variable(name, Attrs::new()), 0);
        self.shapes.insert(entry, shape);
        self.values.insert(name.to_owned(), entry);
    }

    /// Whether all inputs of a node exist. An input is missing if the node that computes it was refused.
    pub fn knows_inputs_of(&self, node: &NodeProto) -> bool {
        node.input.iter().all(|name| name.is_empty() || self.values.contains_key(name) || self.is_array(name))
    }

    /// The constant with this name.
    ///
    /// # Errors
    /// Returns an error if the array is invalid.
    pub fn array(&self, name: &str) -> Result<Option<Tensor>> {
        if let Some(tensor) = self.computed.get(name) {
            return Ok(Some(tensor.clone()));
        }
        if let Some(tensor) = self.values.get(name).and_then(|entry| self.folded.get(entry)) {
            return Ok(Some(tensor.clone()));
        }
        self.arrays.get(name).map(|array| to_tensor(array, &self.options.limits)).transpose()
    }

    /// The entry of the value `name`, for use as an operand. If the value is a constant, it becomes a parameter.
    ///
    /// # Errors
    /// Returns an error for an invalid constant, and for a name that no value has.
    pub fn operand(&mut self, name: &str) -> Result<Entry> {
        if let Some(entry) = self.values.get(name) {
            return Ok(*entry);
        }
        let Some(tensor) = self.array(name)? else {
            return Err(Error::invalid("value of the ONNX model", format!("`{name}`"), "a value made before"));
        };
        let entry = self.add_param(name, tensor);
        self.values.insert(name.to_owned(), entry);
        Ok(entry)
    }

    fn add_param(&mut self, name: &str, tensor: Tensor) -> Entry {
        let entry = Entry::new(self.builder.add_variable(name, Attrs::new()), 0);
        self.shapes.insert(entry, tensor.shape().cloned().unwrap_or_default().into());
        self.params.insert(name.to_owned(), tensor);
        entry
    }

    /// The value of an entry, if the entry is a constant.
    fn constant(&self, entry: Entry) -> Option<Tensor> {
        let node = self.builder.node(entry.node).filter(|node| node.is_variable())?;
        self.params.get(&node.name).cloned()
    }

    /// Whether an entry is a variable. An auxiliary state must be one.
    pub fn is_variable(&self, entry: Entry) -> bool {
        self.builder.node(entry.node).is_some_and(mxrs_graph::Node::is_variable)
    }

    /// The shape of an entry, as far as it can be inferred from the inputs.
    pub fn shape(&self, entry: Entry) -> PartialShape {
        self.shapes.get(&entry).cloned().unwrap_or_default()
    }

    /// Calls an operator.
    ///
    /// # Errors
    /// Fails if the operator refuses the parameters or shapes.
    pub fn call(&mut self, op: &str, name: &str, attrs: Attrs, inputs: Vec<Entry>) -> Result<Entry> {
        let def = self.ops.get(op)?.clone();
        let name = self.names.claim(name);
        let mut shapes: Vec<PartialShape> = inputs.iter().map(|entry| self.shape(*entry)).collect();
        let constants = inputs.iter().map(|entry| self.constant(*entry)).collect::<Option<Vec<Tensor>>>();
        let id = self.builder.add_op(&def, name.clone(), attrs, inputs)?;
        let entry = Entry::new(id, 0);
        let Some((def, params)) = self.builder.node(id).and_then(mxrs_graph::Node::call) else { return Ok(entry) };
        let mut outputs = vec![PartialShape::unknown(); def.n_outputs.get(params)];
        def.infer_shapes(params, &mut shapes, &mut outputs)?;
        if let Some(tensor) = constants.and_then(|constants| folded(def, params, &constants, &outputs[0])) {
            // The computed constant takes the place of the call. The call stays in the builder, but no other node reads it,
            // so the finished graph does not contain it.
            let name = self.names.claim(&name);
            let entry = self.add_param(&name, tensor.clone());
            self.folded.insert(entry, tensor);
            return Ok(entry);
        }
        for (index, shape) in outputs.into_iter().enumerate() {
            self.shapes.insert(Entry::new(id, index as u32), shape);
        }
        Ok(entry)
    }

    /// Assigns an entry to the model's value with this name.
    pub fn set(&mut self, name: &str, entry: Entry) {
        self.values.insert(name.to_owned(), entry);
    }

    /// Returns the finished graph with its parameters.
    ///
    /// # Errors
    /// Returns the error of the builder.
    pub fn finish(mut self, outputs: Vec<Entry>) -> Result<(Graph, IndexMap<String, Tensor>)> {
        self.builder.set_heads(outputs);
        let graph = self.builder.build()?;
        let mut params = self.params;
        params.retain(|name, _| graph.find(name).is_some_and(|id| graph.node(id).is_variable()));
        Ok((graph, params))
    }
}

/// Returns the shape if all sizes are known.
pub(super) fn known(shape: &PartialShape) -> Option<Shape> {
    shape.known()
}
