//! From a graph to steps: a kernel for every node, copies where a layout changes.
//!
//! Layouts flow forward: a node sees its inputs as their producers left them, its backend says what it wants, and a copy
//! is inserted (once per value and layout) where the two differ. A copy of a constant is a *prepare* step, run when the
//! constant changes and not at every forward.

use crate::choose::{choose, choose_reorder};
use crate::options::BindOptions;
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use mxrs_graph::{EntryId, Graph, Node, NodeId};
use mxrs_op::{OpCall, TensorDesc, View};
use mxrs_types::{DType, Layout, Result, ResultExt, Shape};
use rustc_hash::FxHashMap;

/// What lowering needs to know of a bound variable.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Index among the bound arrays.
    pub index: usize,
    /// Whether it keeps its value from run to run.
    pub is_constant: bool,
}

pub struct Lowering<'a> {
    graph: &'a Graph,
    shapes: &'a [Shape],
    dtypes: &'a [DType],
    options: &'a BindOptions,
    program: Program,
    /// Value of each graph entry, once produced.
    of_entry: FxHashMap<EntryId, ValueId>,
    /// The same value in another layout.
    variants: FxHashMap<(ValueId, Layout), ValueId>,
    is_constant: Vec<bool>,
}

/// Lowers a whole graph.
///
/// # Errors
/// No backend runs some node, or none copies between two layouts; the node is named.
pub fn lower(
    graph: &Graph,
    shapes: &[Shape],
    dtypes: &[DType],
    bound: &FxHashMap<NodeId, Bound>,
    options: &BindOptions,
) -> Result<Program> {
    let mut lowering = Lowering {
        graph,
        shapes,
        dtypes,
        options,
        program: Program::default(),
        of_entry: FxHashMap::default(),
        variants: FxHashMap::default(),
        is_constant: Vec::new(),
    };
    for (id, node) in graph.iter() {
        if let Some(variable) = bound.get(&id) {
            let entry = graph.output_id(id, 0);
            let value = lowering.add_value(lowering.desc(entry), Origin::Bound(variable.index), variable.is_constant);
            lowering.of_entry.insert(entry, value);
        } else {
            lowering.node(id, node).context(|| format!("binding `{}`", node.name))?;
        }
    }
    lowering.heads()?;
    Ok(lowering.program)
}

impl Lowering<'_> {
    fn desc(&self, entry: EntryId) -> TensorDesc {
        TensorDesc::dense(self.shapes[entry.index()].clone(), self.dtypes[entry.index()])
    }

    fn add_value(&mut self, desc: TensorDesc, origin: Origin, is_constant: bool) -> ValueId {
        self.program.values.push(Value { desc, origin });
        self.is_constant.push(is_constant);
        self.program.values.len() - 1
    }

    fn node(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let Some((op, params)) = node.call() else { return Ok(()) };
        let inputs: Vec<ValueId> = self.graph.input_ids(id).map(|entry| self.of_entry[&entry]).collect();
        match (op.view)(params, false) {
            View::No => {}
            View::Identity => return self.view(id, node, inputs[0]),
            View::Reshape => {
                let dense = self.in_layout(inputs[0], &Layout::RowMajor, &node.name)?;
                return self.view(id, node, dense);
            }
        }
        let input_descs: Vec<TensorDesc> = inputs.iter().map(|&v| self.program.values[v].desc.clone()).collect();
        let output_descs: Vec<TensorDesc> = self.graph.output_ids(id).map(|e| self.desc(e)).collect();
        let is_constant: Vec<bool> = inputs.iter().map(|&v| self.is_constant[v]).collect();
        let call = OpCall {
            op,
            params,
            inputs: &input_descs,
            outputs: &output_descs,
            is_constant: &is_constant,
            is_train: false,
        };
        let choice = choose(&self.options.backends, &call)?;
        let planned = choice.planned;
        let ignored = op.ignored_at_inference;
        let mut wanted = Vec::with_capacity(inputs.len());
        for (position, (&value, layout)) in inputs.iter().zip(&planned.input_layouts).enumerate() {
            let name = &node.name;
            wanted.push(if ignored.contains(&position) { value } else { self.in_layout(value, layout, name)? });
        }
        let mut outputs = Vec::with_capacity(output_descs.len());
        let mut is_output_used = Vec::with_capacity(output_descs.len());
        for ((entry, desc), layout) in self.graph.output_ids(id).zip(&output_descs).zip(&planned.output_layouts) {
            let value = self.add_value(desc.with_layout(layout.clone()), Origin::Temporary, false);
            self.of_entry.insert(entry, value);
            outputs.push(value);
            is_output_used.push(self.is_used(entry));
        }
        let inplace =
            if planned.can_run_inplace { self.inplace_pairs(op.inplace, &wanted, &outputs) } else { Vec::new() };
        self.program.steps.push(Step {
            name: node.name.clone(),
            op: op.name.into(),
            action: Action::Run(planned.kernel),
            backend: choice.backend,
            inputs: wanted,
            outputs,
            is_output_used,
            inplace,
            ignored_inputs: ignored.to_vec(),
            scratch_bytes: planned.scratch_bytes,
            refusals: choice.refusals,
        });
        Ok(())
    }

    fn is_used(&self, entry: EntryId) -> bool {
        !self.graph.consumers(entry).is_empty() || self.graph.heads().iter().any(|h| self.graph.entry_id(*h) == entry)
    }

    /// Declared pairs whose tensors have the same size and layout, and whose input may be overwritten.
    fn inplace_pairs(
        &self,
        declared: &[(usize, usize)],
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Vec<(usize, usize)> {
        let same = |a: &TensorDesc, b: &TensorDesc| {
            a.layout == b.layout && a.dtype.size_of() == b.dtype.size_of() && a.size_bytes() == b.size_bytes()
        };
        declared
            .iter()
            .copied()
            .filter(|&(i, o)| match (inputs.get(i), outputs.get(o)) {
                (Some(&i), Some(&o)) => same(&self.program.values[i].desc, &self.program.values[o].desc),
                _ => false,
            })
            .collect()
    }

    /// A step whose output is its input's memory.
    fn view(&mut self, id: NodeId, node: &Node, input: ValueId) -> Result<()> {
        let entry = self.graph.output_id(id, 0);
        let desc = self.desc(entry).with_layout(self.program.values[input].desc.layout.clone());
        let output = self.add_value(desc, Origin::Temporary, false);
        self.of_entry.insert(entry, output);
        // Hidden outputs of views (Dropout's mask) exist for training only; give them a place nobody reads.
        for hidden in self.graph.output_ids(id).skip(1) {
            let value = self.add_value(self.desc(hidden), Origin::Temporary, false);
            self.of_entry.insert(hidden, value);
        }
        self.program.steps.push(Step {
            name: node.name.clone(),
            op: node.op_name().into(),
            action: Action::View,
            backend: "",
            inputs: vec![input],
            outputs: vec![output],
            is_output_used: vec![true],
            inplace: Vec::new(),
            ignored_inputs: Vec::new(),
            scratch_bytes: 0,
            refusals: Vec::new(),
        });
        Ok(())
    }

    /// The value in this layout: itself, a copy made earlier, or a new copy.
    fn in_layout(&mut self, value: ValueId, layout: &Layout, for_node: &str) -> Result<ValueId> {
        let from = self.program.values[value].desc.clone();
        if from.layout == *layout {
            return Ok(value);
        }
        let key = (value, layout.clone());
        if let Some(&variant) = self.variants.get(&key) {
            return Ok(variant);
        }
        let to = from.with_layout(layout.clone());
        let is_constant = self.is_constant[value];
        let origin = if is_constant { Origin::Packed } else { Origin::Temporary };
        let variant = self.add_value(to, origin, is_constant);
        let step = self.copy_step(value, variant, format!("{for_node}_reorder"))?;
        if is_constant {
            self.program.prepare.push(step);
        } else {
            self.program.steps.push(step);
        }
        self.variants.insert(key, variant);
        Ok(variant)
    }

    fn copy_step(&self, from: ValueId, to: ValueId, name: String) -> Result<Step> {
        let (from_desc, to_desc) = (&self.program.values[from].desc, &self.program.values[to].desc);
        let (backend, action) = if from_desc.layout == to_desc.layout {
            ("", Action::View)
        } else {
            let (backend, kernel) = choose_reorder(&self.options.backends, from_desc, to_desc)?;
            (backend, Action::Run(kernel))
        };
        Ok(Step {
            name,
            op: "reorder".into(),
            action,
            backend,
            inputs: vec![from],
            outputs: vec![to],
            is_output_used: vec![true],
            inplace: Vec::new(),
            ignored_inputs: Vec::new(),
            scratch_bytes: 0,
            refusals: Vec::new(),
        })
    }

    /// Lets the producers of row-major heads write the output arrays; everything else is copied there.
    fn heads(&mut self) -> Result<()> {
        let heads: Vec<EntryId> = self.graph.heads().iter().map(|h| self.graph.entry_id(*h)).collect();
        for (index, entry) in heads.into_iter().enumerate() {
            let value = self.of_entry[&entry];
            let v = &self.program.values[value];
            let is_made_by_kernel =
                self.program.steps.iter().any(|s| matches!(s.action, Action::Run(_)) && s.outputs.contains(&value));
            if v.origin == Origin::Temporary && v.desc.layout.is_row_major() && is_made_by_kernel {
                self.program.values[value].origin = Origin::Output(index);
                self.program.outputs.push(value);
                continue;
            }
            let desc = v.desc.with_layout(Layout::RowMajor);
            let output = self.add_value(desc, Origin::Output(index), false);
            let step = self.copy_step(value, output, format!("output{index}"))?;
            self.program.steps.push(step);
            self.program.outputs.push(output);
        }
        Ok(())
    }
}
