//! Lowering: turns a graph into a program, with a kernel for every node and copies where a layout changes.
//!
//! Layouts are decided from the first node to the last. A node gets its inputs in the layouts that their producers chose.
//! The kernel of the node determines which layouts it needs. If a layout differs, a copy is inserted, once per value and
//! layout. A copy of a constant is a *prepare* step, which runs when the constant changes and not in every run. At
//! inference, a call that depends on constants only is a prepare step too.
//!
//! - Needs a graph with shapes and types, after all graph passes.
//! - Promises an order of the steps in which each step comes after the steps whose outputs it reads. The same holds for
//!   prepare steps.
//! - Contains three decisions that no separate pass could make: kernels (`choose.rs`), because a kernel decides the layouts
//!   of its inputs; layouts, because a copy of a constant is a constant itself; and constant folding (`constants.rs`),
//!   because it decides which inputs of the next call are constants, and thereby its kernel.
//! - Switch: none, because only a program can run.

mod cross;
mod heads;

use crate::choose::{choose_adder, choose_reorder, choose_tuned};
use crate::constants::folded_nodes;
use crate::costly;
use crate::device::{backends_on, device_of};
use crate::options::BindOptions;
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use cross::give_arrays;
use mxrs_graph::{EntryId, Graph, Node, NodeId};
use mxrs_op::{FUSED_OP, Fused, OpCall, TensorDesc, View};
use mxrs_types::{DType, Device, Layout, Result, ResultExt, Shape, WriteReq};
use rustc_hash::{FxHashMap, FxHashSet};

/// What lowering needs to know of a bound variable.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Index among the bound arrays.
    pub index: usize,
    /// Whether the variable keeps its value from run to run.
    pub is_constant: bool,
}

/// The graph to lower, with all that lowering needs to know about it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// How many of the first nodes belong to the forward graph.
    pub n_forward_nodes: usize,
    /// Shape of each entry.
    pub shapes: &'a [Shape],
    /// Element type of each entry.
    pub dtypes: &'a [DType],
    /// Variables that have arrays.
    pub bound: &'a FxHashMap<NodeId, Bound>,
    /// What to do with the array of each head.
    pub output_reqs: &'a [WriteReq],
    /// How many of the first heads belong to the forward graph.
    pub n_forward_heads: usize,
    /// Whether the program is for training: parameters change from run to run, and operators work as in training.
    pub is_train: bool,
}

/// The value of a head that is not lowered yet.
const NO_VALUE: ValueId = ValueId::MAX;

struct Lowering<'a> {
    source: Source<'a>,
    graph: &'a Graph,
    options: &'a BindOptions,
    program: Program,
    /// Value of each graph entry, once produced.
    of_entry: FxHashMap<EntryId, ValueId>,
    /// Copies of values in other layouts.
    variants: FxHashMap<(ValueId, Layout), ValueId>,
    is_constant: Vec<bool>,
    /// Values that are copies of values of another device.
    copied: FxHashSet<ValueId>,
    /// For each node, whether it is computed once by a prepare step.
    is_folded: Vec<bool>,
    /// For each value, whether a kernel makes it. Such a kernel can write the value directly to an output array.
    is_computed: Vec<bool>,
    /// For each random node, the number of its random call. Clones of the node repeat this call.
    random_of: FxHashMap<NodeId, u32>,
    /// How often each entry is a head.
    n_heads_of: Vec<u32>,
}

/// Lowers a whole graph, and returns the value of each entry too.
///
/// # Errors
/// Returns an error if no backend runs some node, or none copies between two layouts. The error names the node.
pub fn lower_with_values(source: Source<'_>, options: &BindOptions) -> Result<(Program, FxHashMap<EntryId, ValueId>)> {
    let mut lowering = Lowering {
        source,
        graph: source.graph,
        options,
        program: Program {
            device: options.device,
            output_reqs: source.output_reqs.to_vec(),
            outputs: vec![NO_VALUE; source.graph.heads().len()],
            ..Program::default()
        },
        of_entry: FxHashMap::default(),
        variants: FxHashMap::default(),
        is_constant: Vec::new(),
        copied: FxHashSet::default(),
        is_folded: folded_nodes(&source),
        is_computed: Vec::new(),
        random_of: FxHashMap::default(),
        n_heads_of: vec![0; source.graph.n_entries()],
    };
    source.graph.heads().iter().for_each(|h| lowering.n_heads_of[source.graph.entry_id(*h).index()] += 1);
    let n_heads = source.graph.heads().len();
    let mut gradients: Vec<(NodeId, usize)> =
        (source.n_forward_heads..n_heads).map(|index| (source.graph.heads()[index].node, index)).collect();
    gradients.sort_unstable();
    gradients.retain(|(node, _)| node.index() >= source.n_forward_nodes);
    let mut gradients = gradients.into_iter().peekable();
    for (id, node) in source.graph.iter() {
        if id.index() == source.n_forward_nodes {
            lowering.end_forward()?;
        }
        if let Some(variable) = source.bound.get(&id) {
            let entry = source.graph.output_id(id, 0);
            let is_constant = variable.is_constant && !source.is_train;
            let (desc, device) = (lowering.desc(entry), device_of(node, options));
            let value = lowering.add_value(desc, Origin::Bound(variable.index), device, is_constant);
            lowering.of_entry.insert(entry, value);
        } else {
            lowering.node(id, node).context(|| format!("binding `{}`", node.name))?;
        }
        // Copies a gradient to its array right after it is made, so that the value need not be kept until the end of the
        // program.
        while let Some((_, index)) = gradients.next_if(|(node, _)| *node == id) {
            lowering.head(index)?;
        }
    }
    if source.graph.n_nodes() <= source.n_forward_nodes {
        lowering.end_forward()?;
    }
    lowering.heads(source.n_forward_heads..n_heads)?;
    give_arrays(&mut lowering.program);
    Ok((lowering.program, lowering.of_entry))
}

impl Lowering<'_> {
    fn desc(&self, entry: EntryId) -> TensorDesc {
        TensorDesc::dense(self.source.shapes[entry.index()].clone(), self.source.dtypes[entry.index()])
    }

    fn add_value(&mut self, desc: TensorDesc, origin: Origin, device: Device, is_constant: bool) -> ValueId {
        self.program.values.push(Value { desc, origin, device });
        self.is_constant.push(is_constant);
        self.is_computed.push(false);
        self.program.values.len() - 1
    }

    /// Lowers the forward heads and ends the forward half. In training, copies of bound arrays in other layouts are not
    /// kept for the gradient: making them again costs less than keeping the memory.
    fn end_forward(&mut self) -> Result<()> {
        self.heads(0..self.source.n_forward_heads)?;
        self.program.n_forward = self.program.steps.len();
        let values = &self.program.values;
        self.variants
            .retain(|(value, _), _| !matches!(values[*value].origin, Origin::Bound(_)) || !self.source.is_train);
        Ok(())
    }

    fn node(&mut self, id: NodeId, node: &Node) -> Result<()> {
        let Some((op, params)) = node.call() else { return Ok(()) };
        let inputs: Vec<ValueId> = self.graph.input_ids(id).map(|entry| self.of_entry[&entry]).collect();
        let (device, is_train) = (device_of(node, self.options), self.source.is_train);
        if op.crosses_devices && self.program.values[inputs[0]].device != device {
            return self.cross(id, node, inputs[0], device);
        }
        match (op.view)(params, is_train) {
            View::No => {}
            View::Identity => return self.view(id, node, inputs[0]),
            View::Reshape => {
                let dense = self.in_layout(inputs[0], &Layout::RowMajor, &node.name)?;
                return self.view(id, node, dense);
            }
        }
        let rewrites = (op.rewrites)(params, is_train);
        let input_descs: Vec<TensorDesc> = inputs.iter().map(|&v| self.program.values[v].desc.clone()).collect();
        let mut output_descs: Vec<TensorDesc> = self.graph.output_ids(id).map(|e| self.desc(e)).collect();
        let n_plain = output_descs.len();
        output_descs.extend(rewrites.iter().map(|i| input_descs[*i].clone()));
        let is_constant: Vec<bool> = inputs.iter().map(|&v| self.is_constant[v]).collect();
        let call =
            OpCall { op, params, inputs: &input_descs, outputs: &output_descs, is_constant: &is_constant, is_train };
        let backends = backends_on(self.options, device);
        let tuning = (Some(&self.options.tuning), &*self.options.team);
        let choice = choose_tuned(&backends, &call, device, tuning, &node.name)?;
        costly::warn(&call, &choice, &backends, &self.options.warned, &node.name);
        let multiply_adds = (op.multiply_adds)(&call);
        let planned = choice.planned;
        let ignored: Vec<usize> = op.unread_inputs(is_train).collect();
        let mut wanted = Vec::with_capacity(inputs.len());
        for (position, (&value, layout)) in inputs.iter().zip(&planned.input_layouts).enumerate() {
            let name = &node.name;
            wanted.push(if ignored.contains(&position) { value } else { self.in_layout(value, layout, name)? });
        }
        let is_folded = self.is_folded[id.index()];
        let origin = if is_folded { Origin::Packed } else { Origin::Temporary };
        let mut outputs = Vec::with_capacity(output_descs.len());
        let mut is_output_used = Vec::with_capacity(output_descs.len());
        for ((entry, desc), layout) in self.graph.output_ids(id).zip(&output_descs).zip(&planned.output_layouts) {
            let value = self.add_value(desc.with_layout(layout.clone()), origin, device, is_folded);
            self.is_computed[value] = true;
            self.of_entry.insert(entry, value);
            outputs.push(value);
            is_output_used.push(self.is_used(entry));
        }
        let is_clone = node.clone_of.is_some();
        for (input, desc) in rewrites.iter().zip(&output_descs[n_plain..]) {
            // The clone of a recomputed operator must not rewrite the input a second time, so it writes to a new value.
            let value = match is_clone {
                true => self.add_value(desc.clone(), Origin::Temporary, device, false),
                false => inputs[*input],
            };
            outputs.push(value);
            is_output_used.push(!is_clone);
        }
        let random = (op.is_random)(params, is_train).then(|| self.random_call(id, node));
        let inplace = if planned.can_run_inplace {
            self.inplace_pairs(op.inplace_pairs(params), &wanted, &outputs)
        } else {
            Vec::new()
        };
        self.push(
            is_folded,
            Step {
                name: node.name.clone(),
                op: op.name.into(),
                combines: op.combines,
                params: if is_folded { format!("{params:?}") } else { String::new() },
                action: Action::Run(planned.kernel),
                backend: choice.backend,
                device,
                inputs: wanted,
                outputs,
                is_output_used,
                n_rewrites: rewrites.len(),
                is_clone,
                random,
                inplace,
                ignored_inputs: ignored,
                scratch_bytes: planned.scratch_bytes,
                multiply_adds,
                n_calls: if op.name == FUSED_OP { params.get::<Fused>().calls.len() } else { 1 },
                chosen_by: choice.chosen_by,
                refusals: choice.refusals,
            },
        );
        Ok(())
    }

    /// Adds a step: a folded one to the prepare steps, any other to the steps of every run.
    fn push(&mut self, is_folded: bool, step: Step) {
        if is_folded { self.program.prepare.push(step) } else { self.program.steps.push(step) }
    }

    /// The number of the random call of a node: a new number, or for a clone the number of the original node.
    fn random_call(&mut self, id: NodeId, node: &Node) -> u32 {
        let original = node.clone_of.unwrap_or(id);
        let next = &mut self.program.n_random;
        *self.random_of.entry(original).or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }

    fn is_used(&self, entry: EntryId) -> bool {
        !self.graph.consumers(entry).is_empty() || self.n_heads_of[entry.index()] > 0
    }

    /// The declared in-place pairs (input, output) whose two tensors have the same size and layout.
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

    /// Adds a step whose output is the memory of its input.
    fn view(&mut self, id: NodeId, node: &Node, input: ValueId) -> Result<()> {
        let entry = self.graph.output_id(id, 0);
        let desc = self.desc(entry).with_layout(self.program.values[input].desc.layout.clone());
        let is_folded = self.is_folded[id.index()];
        let origin = if is_folded { Origin::Packed } else { Origin::Temporary };
        let device = self.program.values[input].device;
        let output = self.add_value(desc, origin, device, is_folded);
        self.of_entry.insert(entry, output);
        // Hidden outputs of views, such as the mask of Dropout, are needed in training only. Here they get values that no
        // step reads.
        for hidden in self.graph.output_ids(id).skip(1) {
            let value = self.add_value(self.desc(hidden), Origin::Temporary, device, false);
            self.of_entry.insert(hidden, value);
        }
        self.push(
            is_folded,
            Step {
                op: node.op_name().into(),
                is_clone: node.clone_of.is_some(),
                ..Step::copy(node.name.clone(), ("", Action::View), device, vec![input], vec![output])
            },
        );
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
        let variant = self.add_value(to, origin, self.program.values[value].device, is_constant);
        let step = self.copy_step(value, variant, format!("{for_node}_reorder"), WriteReq::Write)?;
        if is_constant {
            self.program.prepare.push(step);
        } else {
            self.program.steps.push(step);
        }
        self.variants.insert(key, variant);
        Ok(variant)
    }

    /// A step that copies between layouts, or a view if the layouts are equal. The host can run a view with the request to
    /// add. A device cannot, so there a copy that must add is always a kernel.
    fn copy_step(&self, from: ValueId, to: ValueId, name: String, req: WriteReq) -> Result<Step> {
        let (from_desc, to_desc) = (&self.program.values[from].desc, &self.program.values[to].desc);
        let device = self.program.values[to].device;
        let backends = backends_on(self.options, device);
        if from_desc.layout == to_desc.layout && req == WriteReq::Add && !device.is_host() {
            let (backend, planned) = choose_adder(&backends, &self.options.ops, from_desc)?;
            let step = Step::copy(name, (backend, Action::Run(planned.kernel)), device, vec![from], vec![to]);
            return Ok(Step { scratch_bytes: planned.scratch_bytes, ..step });
        }
        let (backend, action) = if from_desc.layout == to_desc.layout {
            ("", Action::View)
        } else {
            let (backend, kernel) = choose_reorder(&backends, from_desc, to_desc)?;
            (backend, Action::Run(kernel))
        };
        Ok(Step::copy(name, (backend, action), device, vec![from], vec![to]))
    }
}
