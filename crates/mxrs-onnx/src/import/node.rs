//! One node of a model that is being imported: its attributes, inputs and output. A node with an attribute that the import
//! does not read is refused.

use super::assembly::Assembly;
use crate::refusal::{Refusal, refuse};
use mxrs_format::Tensor;
use mxrs_format::onnx::{AttributeKind, AttributeProto, NodeProto, TensorProto};
use mxrs_graph::Entry;
use mxrs_op::Attrs;
use mxrs_op::param::ShapeAttr;
use mxrs_types::{DType, PartialShape, Result, Shape};
use std::collections::HashSet;

/// The most elements of a constant that sets a parameter, such as a list of sizes. A malicious model could have many nodes that
/// read one large constant.
const MOST_NUMBERS: usize = 1 << 16;

/// The entry of a node's first output, or the reason why the node cannot be read.
pub(super) type Answer = Result<Entry, Refusal>;

pub(super) struct Reading<'a, 'm> {
    /// The node.
    pub node: &'m NodeProto,
    pub assembly: &'a mut Assembly<'m>,
    /// Names of the attributes that were read.
    seen: HashSet<String>,
    n_outputs: usize,
}

impl<'a, 'm> Reading<'a, 'm> {
    pub fn new(node: &'m NodeProto, assembly: &'a mut Assembly<'m>) -> Self {
        Self { node, assembly, seen: HashSet::new(), n_outputs: 1 }
    }

    /// Version of the model's operators.
    pub fn opset(&self) -> i64 {
        self.assembly.opset
    }

    fn attribute(&mut self, name: &str, kind: AttributeKind) -> Result<Option<&'m AttributeProto>, Refusal> {
        self.seen.insert(name.to_owned());
        match self.node.attr(name) {
            Some(attribute) if !attribute.is(kind) => refuse(format!("attribute `{name}` is not of the kind {kind:?}")),
            other => Ok(other),
        }
    }

    /// The value of an integer attribute.
    pub fn int(&mut self, name: &str, default: i64) -> Result<i64, Refusal> {
        Ok(self.attribute(name, AttributeKind::Int)?.and_then(|attribute| attribute.i).unwrap_or(default))
    }

    /// The value of a float attribute.
    pub fn float(&mut self, name: &str, default: f32) -> Result<f32, Refusal> {
        Ok(self.attribute(name, AttributeKind::Float)?.and_then(|attribute| attribute.f).unwrap_or(default))
    }

    /// The value of an attribute that is a list of integers.
    pub fn ints(&mut self, name: &str) -> Result<Option<&'m [i64]>, Refusal> {
        Ok(self.attribute(name, AttributeKind::Ints)?.map(|attribute| attribute.ints.as_slice()))
    }

    /// The value of an attribute that is an array.
    pub fn tensor(&mut self, name: &str) -> Result<Option<&'m TensorProto>, Refusal> {
        Ok(self.attribute(name, AttributeKind::Tensor)?.and_then(|attribute| attribute.t.as_deref()))
    }

    /// The value of a text attribute.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.attribute(name, AttributeKind::String)?.and_then(|attribute| attribute.s.as_deref());
        Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
    }

    /// The value of an attribute that is a list of texts.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let attribute = self.attribute(name, AttributeKind::Strings)?;
        let texts = |attribute: &AttributeProto| {
            attribute.strings.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
        };
        Ok(attribute.map(texts))
    }

    /// The value of a `Constant` node that is given by numbers in attributes (`value_int`, `value_floats`); `None` if the
    /// value is an array.
    pub fn literal(&mut self) -> Result<Option<Tensor>, Refusal> {
        if let Some(value) = self.attribute("value_int", AttributeKind::Int)?.and_then(|attribute| attribute.i) {
            return Ok(Some(Tensor::from_slice(Shape::from([]), &[value])?));
        }
        if let Some(value) = self.attribute("value_float", AttributeKind::Float)?.and_then(|attribute| attribute.f) {
            return Ok(Some(Tensor::from_slice(Shape::from([]), &[value])?));
        }
        if let Some(values) = self.ints("value_ints")? {
            return Ok(Some(Tensor::from_slice([values.len()], values)?));
        }
        match self.attribute("value_floats", AttributeKind::Floats)? {
            Some(attribute) => Ok(Some(Tensor::from_slice([attribute.floats.len()], &attribute.floats)?)),
            None => Ok(None),
        }
    }

    /// Refuses the node if the integer attribute `name` has a value other than `only`.
    pub fn require_int(&mut self, name: &str, only: i64) -> Result<(), Refusal> {
        let got = self.int(name, only)?;
        if got == only { Ok(()) } else { refuse(format!("attribute `{name}` is {got}, only {only} is read")) }
    }

    /// Refuses the node if the text attribute `name` has a value that is not in `known`.
    pub fn require_text(&mut self, name: &str, known: &[&str]) -> Result<(), Refusal> {
        match self.text(name)? {
            Some(text) if !known.contains(&text.as_str()) => refuse(format!("attribute `{name}` is {text}")),
            _ => Ok(()),
        }
    }

    /// Marks attributes that have no effect in mxrs as read.
    pub fn ignore(&mut self, names: &[&str]) {
        self.seen.extend(names.iter().map(|name| name.to_string()));
    }

    /// The first attribute that was not read.
    pub fn unread(&self) -> Option<&'m str> {
        self.node.attribute.iter().map(|attribute| attribute.name.as_str()).find(|name| !self.seen.contains(*name))
    }

    /// Whether the node has input `index`.
    pub fn has_input(&self, index: usize) -> bool {
        self.node.input.get(index).is_some_and(|name| !name.is_empty())
    }

    fn input_name(&self, index: usize) -> Result<&'m str, Refusal> {
        match self.node.input.get(index) {
            Some(name) if !name.is_empty() => Ok(name),
            _ => refuse(format!("it has no input {index}")),
        }
    }

    /// The entry of input `index`, for use as an operand.
    pub fn operand(&mut self, index: usize) -> Answer {
        let name = self.input_name(index)?;
        Ok(self.assembly.operand(name)?)
    }

    /// Assigns output `index` to an entry, if the node has this output.
    pub fn set_output(&mut self, index: usize, entry: Entry) {
        if let Some(name) = self.node.output.get(index).filter(|name| !name.is_empty()) {
            self.assembly.set(name, entry);
        }
        self.n_outputs = self.n_outputs.max(index + 1);
    }

    /// How many outputs were assigned.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Number of outputs of the node.
    pub fn n_wanted(&self) -> usize {
        self.node.output.len()
    }

    /// The entries of all inputs, for use as operands.
    pub fn operands(&mut self) -> Result<Vec<Entry>, Refusal> {
        (0..self.node.input.len()).map(|index| self.operand(index)).collect()
    }

    /// Input `index`, if it is a constant. It must not be large, because it is copied.
    pub fn array(&self, index: usize) -> Result<Option<Tensor>, Refusal> {
        let name = self.input_name(index)?;
        let n = self.assembly.array_shape(name).map_or(0, |shape| shape.n_elements());
        if n > MOST_NUMBERS {
            return refuse(format!("input {index} is a constant of {n} elements, at most {MOST_NUMBERS} are read"));
        }
        Ok(self.assembly.array(name)?)
    }

    /// Input `index`, if it is a constant without axes.
    pub fn scalar(&self, index: usize) -> Result<Option<Tensor>, Refusal> {
        let name = self.input_name(index)?;
        match self.assembly.array_shape(name) {
            Some(shape) if shape.ndim() == 0 => Ok(self.assembly.array(name)?),
            _ => Ok(None),
        }
    }

    /// The integers of input `index`, which must be a constant; `None` if the node does not have this input.
    pub fn constant_ints(&self, index: usize) -> Result<Option<Vec<i64>>, Refusal> {
        if !self.has_input(index) {
            return Ok(None);
        }
        match self.array(index)? {
            Some(tensor) => Ok(Some(tensor.cast(DType::I64).as_slice::<i64>()?.to_vec())),
            None => refuse(format!("input {index} is not a constant")),
        }
    }

    /// The axes of a reduction or shape change. They are a constant input from operator version `input_since` on, and an
    /// attribute in older versions.
    pub fn axes(&mut self, input_since: i64) -> Result<Option<Vec<i64>>, Refusal> {
        let axes = match self.opset() >= input_since {
            true => self.constant_ints(1)?,
            false => self.ints("axes")?.map(<[i64]>::to_vec),
        };
        match axes {
            Some(axes) if axes.len() > Shape::MAX_NDIM => {
                refuse(format!("{} axes, at most {} are read", axes.len(), Shape::MAX_NDIM))
            }
            axes => Ok(axes),
        }
    }

    /// Shape of an entry.
    pub fn shape(&self, entry: Entry) -> PartialShape {
        self.assembly.shape(entry)
    }

    /// Shape of an entry, all of whose sizes must be known. `what` is the value with this shape, such as "its input".
    pub fn known_shape(&self, entry: Entry, what: &str) -> Result<Shape, Refusal> {
        match self.shape(entry).known() {
            Some(shape) => Ok(shape),
            None => self.unknown(entry, what),
        }
    }

    /// Number of axes of an entry, which must be known.
    pub fn known_ndim(&self, entry: Entry, what: &str) -> Result<usize, Refusal> {
        match self.shape(entry).ndim() {
            Some(ndim) => Ok(ndim),
            None => self.unknown(entry, what),
        }
    }

    /// Refuses the node because a size of an entry is not known. The reason names the inputs of the model with open sizes.
    pub fn unknown<T>(&self, entry: Entry, what: &str) -> Result<T, Refusal> {
        refuse(self.assembly.why_unknown(entry, what))
    }

    /// Element type of an entry, if it is known.
    pub fn dtype(&self, entry: Entry) -> Option<DType> {
        self.assembly.dtype(entry)
    }

    /// Assigns a constant to output 0, and returns it as an operand.
    pub fn constant(&mut self, tensor: Tensor) -> Answer {
        let Some(name) = self.node.output.first() else { return refuse("it has no output") };
        self.assembly.add_computed(name, tensor);
        Ok(self.assembly.operand(name)?)
    }

    /// Output `index` of the call that made an entry.
    pub fn output_of(&self, entry: Entry, index: u32) -> Entry {
        Entry::new(entry.node, index)
    }

    /// Calls an operator with attributes as text.
    pub fn call(&mut self, op: &str, attrs: &[(&str, String)], inputs: Vec<Entry>) -> Answer {
        let attrs = attrs.iter().map(|(key, value)| (*key, value.as_str())).collect::<Attrs>();
        let output = self.node.output.first().map_or("", String::as_str);
        let name = if self.node.name.is_empty() { output.trim_end_matches("_output") } else { &self.node.name };
        Ok(self.assembly.call(op, name, attrs, inputs)?)
    }
}

/// Converts sizes to the text form of a parameter.
pub(super) fn tuple(values: &[i64]) -> String {
    ShapeAttr::new(values.iter().copied()).to_text()
}

/// Converts a flag to the text form of a parameter.
pub(super) fn flag(value: bool) -> String {
    if value { "True".into() } else { "False".into() }
}
