//! The graph pass: replaces marked calls by their quantized forms, and inserts conversions between integers and floats.
//!
//! It writes MXNet's chain: `_contrib_quantize_v2` before a quantized call that reads a float value, the quantized
//! operators, `_contrib_requantize` after a quantized operator whose result is int32 sums, and `_contrib_dequantize` before
//! a float operator or graph output that reads integers. Names are MXNet's: `quantized_<node>`, `requantize_<node>`,
//! `<value>_quantize`, `<node>_dequantize`. A value is converted only once, even if several calls read it.
//!
//! Two things differ from MXNet. First: if a ReLU is the only reader of a requantized value, the value gets the range of the
//! ReLU's result. Values that the ReLU sets to 0 saturate, so all integers are used for the remaining values. Second: with
//! ranges per channel, which MXNet does not have, a bias stays float32, and int32 sums that a float operator reads are
//! converted to floats directly, without a conversion to 8 bits before.

use crate::mark::Marks;
use crate::report::WrittenRange;
use crate::rules::{Activations, Rule};
use crate::table::{CalibrationTable, Range};
use crate::{Granularity, QuantizeOptions, QuantizedDType};
use mxrs_graph::{Entry, EntryId, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{Error, Result};
use rustc_hash::FxHashMap;

/// Position of the bias among the inputs of a layer.
const BIAS: usize = 2;

const QUANTIZE: &str = "_contrib_quantize_v2";
const REQUANTIZE: &str = "_contrib_requantize";
const DEQUANTIZE: &str = "_contrib_dequantize";

/// The quantized graph, with its ranges and the names of the parameters to quantize.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub graph: Graph,
    /// The ranges of all conversions to 8-bit integers, in graph order.
    pub ranges: Vec<WrittenRange>,
    /// The parameters of each quantized layer.
    pub weights: Vec<LayerParams>,
    pub n_dequantize: usize,
}

/// Names of the parameters of a quantized layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerParams {
    pub weight: String,
    pub bias: Option<String>,
    /// The float value that the layer reads.
    pub data: String,
}

/// A quantized value in the new graph: the entries of the integers and of the two ends of their range.
type Quantized = [Entry; 3];

struct Pass<'a> {
    graph: &'a Graph,
    marks: &'a Marks,
    table: &'a CalibrationTable,
    dtype: QuantizedDType,
    /// Whether to write only what MXNet can read: MXNet's operators, with one range per tensor.
    is_plain: bool,
    ops: &'a OpSet,
    out: GraphBuilder,
    /// For values of the old graph: the entry in the new graph that has them as floats.
    floats: FxHashMap<EntryId, Entry>,
    /// For values of the old graph: the entries in the new graph that have them as 8-bit integers.
    integers: FxHashMap<EntryId, Quantized>,
    /// For values of the old graph: the entries in the new graph that have them as int32 sums.
    sums: FxHashMap<EntryId, Quantized>,
    /// Quantized parameters by name.
    params: FxHashMap<String, Quantized>,
    /// For nodes of the old graph: the corresponding node of the new graph.
    copied: FxHashMap<NodeId, NodeId>,
    ranges: Vec<WrittenRange>,
    weights: Vec<LayerParams>,
    n_dequantize: usize,
}

/// Creates the quantized graph. A range that is missing in `table` is computed in each run; [`Emitted::ranges`] lists the
/// values of all ranges.
///
/// # Errors
/// Fails if a value with negative numbers is quantized to uint8, or if a quantized operator refuses the attributes of the
/// float operator.
pub(crate) fn emit(
    graph: &Graph,
    marks: &Marks,
    table: &CalibrationTable,
    options: &QuantizeOptions,
    ops: &OpSet,
) -> Result<Emitted> {
    let mut pass = Pass {
        graph,
        marks,
        table,
        dtype: options.dtype,
        is_plain: options.granularity == Granularity::Tensor,
        ops,
        out: GraphBuilder::new(),
        floats: FxHashMap::default(),
        integers: FxHashMap::default(),
        sums: FxHashMap::default(),
        params: FxHashMap::default(),
        copied: FxHashMap::default(),
        ranges: Vec::new(),
        weights: Vec::new(),
        n_dequantize: 0,
    };
    for (key, value) in graph.attrs() {
        pass.out.set_attr(key.clone(), value.clone());
    }
    for (id, node) in graph.iter() {
        match &marks[id.index()] {
            Ok(rule) => pass.quantized_node(id, node, *rule)?,
            Err(_) => pass.float_node(id, node)?,
        }
    }
    let heads = graph.heads().iter().map(|head| pass.float(*head)).collect::<Result<Vec<_>>>()?;
    pass.out.set_heads(heads);
    let Pass { out, ranges, weights, n_dequantize, .. } = pass;
    Ok(Emitted { graph: out.build()?, ranges, weights, n_dequantize })
}

impl Pass<'_> {
    /// Copies a variable, or a call that is not quantized.
    fn float_node(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let new = match node.call() {
            None => self.out.add_variable(&node.name, node.attrs.clone()),
            Some((op, params)) => {
                let inputs = node.inputs.iter().map(|input| self.float(*input)).collect::<Result<Vec<_>>>()?;
                let new = self.out.add_parsed_op(op, &node.name, node.attrs.clone(), params.clone(), inputs)?;
                self.out.set_subgraphs(new, node.subgraphs.clone())?;
                new
            }
        };
        self.keep_order(id, node, new)?;
        for (index, entry) in self.graph.output_ids(id).enumerate() {
            self.floats.insert(entry, Entry::new(new, index as u32));
        }
        Ok(())
    }

    fn keep_order(&mut self, id: NodeId, node: &Node, new: NodeId) -> Result<()> {
        self.copied.insert(id, new);
        let deps: Vec<NodeId> = node.control_deps.iter().filter_map(|dep| self.copied.get(dep).copied()).collect();
        self.out.add_control_deps(new, &deps)
    }

    /// Adds the quantized form of a call.
    fn quantized_node(&mut self, id: NodeId, node: &Node, rule: Rule) -> Result<()> {
        let mut inputs: Vec<Quantized> = Vec::with_capacity(node.inputs.len());
        for (position, input) in node.inputs.iter().enumerate() {
            let is_parameter = rule.n_activations == Activations::First && position > 0;
            inputs.push(match is_parameter {
                true => self.parameter(*input, position == BIAS && !self.is_plain)?,
                false => self.quantized(*input)?,
            });
        }
        if rule.n_activations == Activations::First {
            let name =
                |position: usize| node.inputs.get(position).map(|input| self.graph.node(input.node).name.clone());
            self.weights.push(LayerParams {
                weight: name(1).unwrap_or_default(),
                bias: name(2),
                data: self.graph.entry_name(self.graph.entry_id(node.inputs[0])),
            });
        }
        let mut attrs = node.attrs.clone();
        if node.op_name() == "relu" {
            attrs.set("act_type", "relu");
        }
        let values = inputs.iter().map(|input| input[0]);
        let ranges = inputs.iter().flat_map(|input| [input[1], input[2]]);
        let name = format!("quantized_{}", node.name);
        let new = self.out.add_op(self.ops.get(rule.op)?, name, attrs, values.chain(ranges).collect())?;
        self.keep_order(id, node, new)?;
        let output = self.graph.output_id(id, 0);
        let values = if rule.needs_requantize { &mut self.sums } else { &mut self.integers };
        values.insert(output, triple(new));
        if self.is_plain {
            self.bytes(output)?;
        }
        Ok(())
    }

    /// The entries that have the value `output` as 8-bit integers; `None` if the new graph computes the value as floats.
    fn bytes(&mut self, output: EntryId) -> Result<Option<Quantized>> {
        if let Some(found) = self.integers.get(&output) {
            return Ok(Some(*found));
        }
        let Some(sums) = self.sums.get(&output).copied() else { return Ok(None) };
        let name = format!("requantize_{}", self.graph.node(self.graph.entry_at(output).0).name);
        let made = triple(self.convert(REQUANTIZE, name, &sums, &self.requantized_value(output))?);
        self.integers.insert(output, made);
        Ok(Some(made))
    }

    /// Adds a call of `op` that converts `value` to 8-bit integers. If the range of `value` is known, the call gets it as
    /// attributes.
    fn convert(&mut self, op: &str, name: String, inputs: &[Entry], value: &str) -> Result<NodeId> {
        let range = self.table.get(value).map(Range::widened);
        let mut attrs = Attrs::new();
        attrs.set("out_type", self.dtype.to_string());
        if let Some(Range { min, max }) = range {
            if self.dtype == QuantizedDType::UInt8 && min < 0.0 {
                return Err(Error::invalid(
                    format!("range of `{value}`, which is quantized to uint8"),
                    format!("{min} to {max}"),
                    "no negative numbers; use auto or int8, or exclude the nodes that read it",
                ));
            }
            attrs.set("min_calib_range", min.to_string());
            attrs.set("max_calib_range", max.to_string());
        }
        self.ranges.push(WrittenRange { node: name.clone(), value: value.to_owned(), range });
        self.out.add_op(self.ops.get(op)?, name, attrs, inputs.to_vec())
    }

    /// Name of the value whose range a requantized output gets: the result of the ReLU if a ReLU is its only reader,
    /// otherwise the output itself.
    fn requantized_value(&self, output: EntryId) -> String {
        let is_head = self.graph.heads().iter().any(|head| self.graph.entry_id(*head) == output);
        let entry = match self.graph.consumers(output) {
            [(reader, _)] if !is_head => match &self.marks[reader.index()] {
                Ok(rule) if rule.op == "_contrib_quantized_act" => self.graph.output_id(*reader, 0),
                _ => output,
            },
            _ => output,
        };
        self.graph.entry_name(entry)
    }

    /// The value of `entry` as 8-bit integers.
    fn quantized(&mut self, entry: Entry) -> Result<Quantized> {
        let id = self.graph.entry_id(entry);
        if let Some(found) = self.bytes(id)? {
            return Ok(found);
        }
        let value = self.graph.entry_name(id);
        let float = self.float(entry)?;
        let made = triple(self.convert(QUANTIZE, format!("{value}_quantize"), &[float], &value)?);
        self.integers.insert(id, made);
        Ok(made)
    }

    /// The value of `entry` as float32.
    fn float(&mut self, entry: Entry) -> Result<Entry> {
        let id = self.graph.entry_id(entry);
        if let Some(found) = self.floats.get(&id) {
            return Ok(Entry { version: entry.version, ..*found });
        }
        // The result of a convolution or fully connected layer is converted from its int32 sums, unless MXNet must be
        // able to read the graph. All other values are converted from 8-bit integers.
        let is_product = self.marks[entry.node.index()].as_ref().is_ok_and(|rule| rule.is_must);
        let exact = if self.is_plain || !is_product { None } else { self.sums.get(&id).copied() };
        let integers = if exact.is_some() { exact } else { self.bytes(id)? };
        let integers = integers.ok_or_else(|| {
            // This error does not happen in a verified graph, where a node comes after the nodes that it reads.
            Error::invalid("order of a graph", format!("`{}` not computed yet", self.graph.entry_name(id)), "computed")
        })?;
        let name = format!("{}_dequantize", self.graph.node(entry.node).name);
        let node = self.out.add_op(self.ops.get(DEQUANTIZE)?, name, Attrs::new(), integers.to_vec())?;
        self.n_dequantize += 1;
        let made = Entry::new(node, 0);
        self.floats.insert(id, made);
        Ok(made)
    }

    /// A parameter as integers: three variables for values and range. If `stays_float` is set, the first variable is
    /// the float parameter itself.
    fn parameter(&mut self, entry: Entry, stays_float: bool) -> Result<Quantized> {
        let name = &self.graph.node(entry.node).name;
        if let Some(found) = self.params.get(name) {
            return Ok(*found);
        }
        let mut variable = |name: &String| Entry::new(self.out.add_variable(name, Attrs::new()), 0);
        let [integers, min, max] = &param_names(name);
        let (min, max) = (variable(min), variable(max));
        let made = [if stays_float { self.float(entry)? } else { variable(integers) }, min, max];
        self.params.insert(name.clone(), made);
        Ok(made)
    }
}

/// The three outputs of a quantized call: values, minimum and maximum.
fn triple(node: NodeId) -> Quantized {
    [0, 1, 2].map(|index| Entry::new(node, index))
}

/// Names of the arrays that replace a quantized parameter.
pub(crate) fn param_names(name: &str) -> [String; 3] {
    ["", "_min", "_max"].map(|suffix| format!("{name}_quantize{suffix}"))
}
