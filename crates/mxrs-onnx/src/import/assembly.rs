//! The graph under construction: values by name, shapes and types as far as they are known, and constants, which become
//! variables if a node uses them as operands.

use super::budget::{Budget, size_bytes};
use super::fold::{folded, is_small};
use super::open::{OpenInputs, OpenSet};
use super::options::ImportOptions;
use crate::names::Names;
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_format::onnx::{GraphProto, NodeProto, TensorProto, ValueInfoProto, to_tensor};
use mxrs_graph::{Entry, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};
use std::collections::{HashMap, HashSet};

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
    dtypes: HashMap<Entry, DType>,
    /// Nodes whose values depend on constants only.
    constants: HashSet<NodeId>,
    open_inputs: OpenInputs,
    /// For nodes with an output of unknown shape, the inputs with open sizes on which the node depends.
    open: HashMap<NodeId, OpenSet>,
    budget: Budget,
    params: IndexMap<String, Tensor>,
    names: Names,
    /// Names of the variables of constants whose own name was in use, by the name of the constant.
    renamed: HashMap<String, String>,
    options: &'m ImportOptions,
    /// Version of the model's operators.
    pub opset: i64,
}

impl<'m> Assembly<'m> {
    pub fn new(graph: &'m GraphProto, opset: i64, options: &'m ImportOptions) -> Self {
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
            dtypes: HashMap::new(),
            constants: HashSet::new(),
            open_inputs: OpenInputs::default(),
            open: HashMap::new(),
            budget: Budget::new(&graph.initializer, options),
            params: IndexMap::new(),
            names,
            renamed: HashMap::new(),
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
        self.claim_constant(name);
        self.computed.insert(name.to_owned(), tensor);
    }

    /// Stores a constant that a node defines.
    pub fn add_array(&mut self, name: &'m str, array: &'m TensorProto) {
        self.claim_constant(name);
        self.arrays.insert(name, array);
    }

    /// Reserves a name for the variable of a constant.
    fn claim_constant(&mut self, name: &str) {
        let own = self.names.claim(name);
        if own != name {
            self.renamed.insert(name.to_owned(), own);
        }
    }

    /// Adds an input of the model as a variable.
    pub fn add_input(&mut self, value: &ValueInfoProto, shape: PartialShape, dtype: DType) {
        self.names.claim(&value.name);
        let entry = Entry::new(self.builder.add_variable(&value.name, Attrs::new()), 0);
        self.open.insert(entry.node, self.open_inputs.add(value, &shape));
        self.shapes.insert(entry, shape);
        self.dtypes.insert(entry, dtype);
        self.values.insert(value.name.clone(), entry);
    }

    /// Whether all inputs of a node exist. An input is missing if the node that computes it was refused.
    pub fn knows_inputs_of(&self, node: &NodeProto) -> bool {
        node.input.iter().all(|name| name.is_empty() || self.values.contains_key(name) || self.is_array(name))
    }

    /// The shape of the constant with this name. Unlike [`Self::array`], this copies no elements.
    pub fn array_shape(&self, name: &str) -> Option<Shape> {
        let folded = || self.values.get(name).and_then(|entry| self.folded.get(entry));
        if let Some(tensor) = self.computed.get(name).or_else(folded) {
            return tensor.shape().cloned();
        }
        // The check of the model refuses negative sizes.
        let size = |size: &i64| usize::try_from(*size).unwrap_or(usize::MAX);
        self.arrays.get(name).map(|array| array.dims.iter().map(size).collect())
    }

    /// A copy of the constant with this name.
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
        self.arrays.get(name).map(|array| to_tensor(array, &self.options.format.limits)).transpose()
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
        let own = self.renamed.get(name).cloned();
        let entry = self.add_param(own.as_deref().unwrap_or(name), tensor);
        self.values.insert(name.to_owned(), entry);
        Ok(entry)
    }

    fn add_param(&mut self, name: &str, tensor: Tensor) -> Entry {
        let entry = Entry::new(self.builder.add_variable(name, Attrs::new()), 0);
        self.shapes.insert(entry, tensor.shape().cloned().unwrap_or_default().into());
        self.dtypes.extend(tensor.dtype().map(|dtype| (entry, dtype)));
        self.constants.insert(entry.node);
        self.params.insert(name.to_owned(), tensor);
        entry
    }

    /// The value of an entry, if the entry is a constant that is small enough for [`folded`].
    fn small_constant(&self, entry: Entry) -> Option<Tensor> {
        let node = self.builder.node(entry.node).filter(|node| node.is_variable())?;
        let tensor = self.params.get(&node.name)?;
        tensor.shape().is_some_and(is_small).then(|| tensor.clone())
    }

    /// Whether an entry is a variable. An auxiliary state must be one.
    pub fn is_variable(&self, entry: Entry) -> bool {
        self.builder.node(entry.node).is_some_and(Node::is_variable)
    }

    /// The shape of an entry, as far as it can be inferred from the inputs.
    pub fn shape(&self, entry: Entry) -> PartialShape {
        self.shapes.get(&entry).cloned().unwrap_or_default()
    }

    /// The element type of an entry, if it can be inferred from the inputs.
    pub fn dtype(&self, entry: Entry) -> Option<DType> {
        self.dtypes.get(&entry).copied()
    }

    /// Why the shape of an entry is not known. `what` is the value with this shape.
    pub fn why_unknown(&self, entry: Entry, what: &str) -> String {
        let open = self.open.get(&entry.node).copied().unwrap_or_default();
        format!("the shape {} of {what} is not known{}", self.shape(entry), self.open_inputs.reason(open))
    }

    /// Calls an operator.
    ///
    /// # Errors
    /// Fails if the operator refuses the parameters or shapes, or if an output is too large.
    pub fn call(&mut self, op: &str, name: &str, attrs: Attrs, inputs: Vec<Entry>) -> Result<Entry> {
        let def = self.ops.get(op)?.clone();
        let name = self.names.claim(name);
        let mut shapes: Vec<PartialShape> = inputs.iter().map(|entry| self.shape(*entry)).collect();
        let mut dtypes: Vec<Option<DType>> = inputs.iter().map(|entry| self.dtype(*entry)).collect();
        let n_read = shapes.iter().zip(&dtypes).map(|(shape, dtype)| size_bytes(shape, *dtype));
        let n_read = n_read.fold(0, u64::saturating_add);
        let reads_constants = inputs.iter().all(|entry| self.constants.contains(&entry.node));
        let open = inputs.iter().filter_map(|entry| self.open.get(&entry.node));
        let open = open.fold(OpenSet::default(), |all, set| all | *set);
        let constants = inputs.iter().map(|entry| self.small_constant(*entry)).collect::<Option<Vec<Tensor>>>();
        let id = self.builder.add_op(&def, name.clone(), attrs, inputs)?;
        let entry = Entry::new(id, 0);
        let Some((_, params)) = self.builder.node(id).and_then(Node::call) else { return Ok(entry) };
        let mut outputs = vec![PartialShape::unknown(); def.n_outputs.get(params)];
        def.infer_shapes(params, &mut shapes, &mut outputs)?;
        let mut types = vec![None; outputs.len()];
        if def.infer_dtypes(params, &mut dtypes, &mut types).is_err() {
            // Types that contradict each other are reported when the graph is bound.
            types.fill(None);
        }
        let is_constant = reads_constants && !def.has_effect(params, false);
        for (shape, dtype) in outputs.iter().zip(&types) {
            self.budget.spend(shape, *dtype, is_constant.then_some(n_read))?;
        }
        if let Some(tensor) = constants.and_then(|constants| folded(&def, params, &constants, &outputs[0])) {
            // The computed constant takes the place of the call. The call stays in the builder, but no other node reads it,
            // so the finished graph does not contain it.
            let name = self.names.claim(&name);
            let entry = self.add_param(&name, tensor.clone());
            self.folded.insert(entry, tensor);
            return Ok(entry);
        }
        if is_constant {
            self.constants.insert(id);
        }
        if !outputs.iter().all(PartialShape::is_known) {
            self.open.insert(id, open);
        }
        for (index, (shape, dtype)) in outputs.into_iter().zip(types).enumerate() {
            let output = Entry::new(id, index as u32);
            self.shapes.insert(output, shape);
            self.dtypes.extend(dtype.map(|dtype| (output, dtype)));
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
