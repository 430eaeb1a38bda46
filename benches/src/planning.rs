//! The training steps whose planning is timed. Graph passes turn the graph of a step into a [`Program`], the input of the
//! memory planner.

use mxrs_graph::{
    Entry, EntryId, EntryKind, GradientRequest, Graph, HeadGrads, MemoryPlan, NameManager, PlanEntry, PlanOptions,
    PlanStep, Symbol, SymbolCall, Unreachable, gradient, infer_dtypes, infer_shapes, plan_memory,
};
use mxrs_op::{OpSet, View};
use mxrs_types::{DType, Device, PartialShape, Shape};
use std::hint::black_box;

/// A graph whose parameters are trained.
pub struct Training {
    graph: Graph,
    ops: OpSet,
    input: &'static str,
    shape: Shape,
}

/// Input of the memory planner.
pub struct Program {
    /// One step per operator call.
    pub steps: Vec<PlanStep>,
    entries: Vec<PlanEntry>,
    heads: Vec<EntryId>,
}

impl Program {
    /// Plans the memory.
    ///
    /// # Panics
    /// Panics if the memory planner rejects the program, which would be a bug.
    pub fn plan(&self, options: &PlanOptions) -> MemoryPlan {
        plan_memory(&self.steps, &self.entries, &self.heads, options).expect("steps that fit together")
    }
}

impl Training {
    /// Trains the parameters of `graph`, whose argument `input` has the shape `shape`. All other arguments are parameters,
    /// except labels.
    pub fn new(graph: Graph, input: &'static str, shape: Shape) -> Self {
        Self { graph, ops: mxrs_ops::catalog(), input, shape }
    }

    /// Runs all passes, then plans the memory.
    ///
    /// # Panics
    /// Panics if [`Self::program`] or [`Program::plan`] does.
    pub fn plan(&self, options: &PlanOptions) {
        black_box(self.program().plan(options));
    }

    /// Runs all passes before memory planning: shape inference, the gradient, then shape and dtype inference of the training
    /// graph.
    ///
    /// # Panics
    /// Panics if an operator of the graph has no gradient or a shape is not known.
    pub fn program(&self) -> Program {
        let graph = &self.graph;
        let seed = [(self.input, PartialShape::from(&self.shape))];
        let shapes = infer_shapes(graph, seed).and_then(|s| s.complete(graph)).expect("known shapes");
        let is_wanted = |name: &str| name != self.input;
        let wanted = graph.arguments().filter(|id| is_wanted(&graph.node(*id).name) && !graph.is_label(*id));
        let request = GradientRequest {
            wanted: wanted.map(|id| Entry::new(id, 0)).collect(),
            head_grads: HeadGrads::Variables,
            sum_cap: 8,
            unreachable: Unreachable::Zeros,
        };
        let joined = gradient(graph, &self.ops, &request).expect("differentiable operators");
        let seeds = graph
            .variables()
            .iter()
            .map(|id| (graph.node(*id).name.as_str(), PartialShape::from(&shapes[graph.output_id(*id, 0).index()])));
        let whole = &joined.graph;
        let seeds = seeds.filter(|(name, _)| whole.find(name).is_some());
        let head_grads = joined.head_grads.iter().enumerate().filter_map(|(head, variable)| {
            let shape = &shapes[graph.entry_id(graph.heads()[head]).index()];
            Some((whole.node((*variable)?).name.as_str(), PartialShape::from(shape)))
        });
        let shapes =
            infer_shapes(whole, seeds.chain(head_grads)).and_then(|s| s.complete(whole)).expect("known shapes");
        let dtypes = infer_dtypes(whole, [], Some(DType::F32)).and_then(|d| d.complete(whole)).expect("known types");
        program(whole, &shapes, &dtypes)
    }
}

fn program(graph: &Graph, shapes: &[Shape], dtypes: &[DType]) -> Program {
    let sizes = shapes.iter().zip(dtypes).map(|(shape, dtype)| shape.n_elements() * dtype.size_of());
    let mut entries: Vec<PlanEntry> =
        sizes.map(|size_bytes| PlanEntry { size_bytes, device: Device::cpu(0), kind: EntryKind::Planned }).collect();
    for id in graph.variables() {
        entries[graph.output_id(*id, 0).index()].kind = EntryKind::External;
    }
    let mut steps = Vec::new();
    for (id, node) in graph.iter() {
        let Some((op, params)) = node.call() else { continue };
        let (inputs, outputs): (Vec<_>, Vec<_>) = (graph.input_ids(id).collect(), graph.output_ids(id).collect());
        let same = |(i, o): &&(usize, usize)| match (inputs.get(*i), outputs.get(*o)) {
            (Some(i), Some(o)) => entries[i.index()].size_bytes == entries[o.index()].size_bytes,
            _ => false,
        };
        steps.push(PlanStep {
            inplace: op.inplace.iter().filter(same).copied().collect(),
            identity: if (op.view)(params, true) == View::No { Vec::new() } else { vec![(0, 0)] },
            ignored_inputs: op.unread_inputs(true).collect(),
            inputs,
            outputs,
            scratch_bytes: 0,
        });
    }
    let heads = graph.heads().iter().map(|head| graph.entry_id(*head)).collect();
    Program { steps, entries, heads }
}

/// A chain of residual layers with about `n_nodes` forward nodes. Each layer multiplies its input by a weight, applies tanh,
/// and adds the layer's input.
///
/// # Panics
/// Panics if the catalog lacks an operator, which its own tests exclude.
pub fn residual_chain(n_nodes: usize) -> Graph {
    let ops = mxrs_ops::catalog();
    let op = |name: &str| ops.get(name).expect("in the catalog");
    let mut names = NameManager::new();
    let mut x = Symbol::variable("x");
    // Each layer has four nodes: three calls and a weight.
    for _ in 0..n_nodes / 4 {
        let layer = SymbolCall::new(op("FullyConnected")).attr("num_hidden", 16).attr("no_bias", true).input(&x);
        let layer = layer.build(&mut names).expect("a well-formed call");
        let tanh = SymbolCall::new(op("tanh")).input(&layer).build(&mut names).expect("a well-formed call");
        x = SymbolCall::new(op("elemwise_add")).inputs([&x, &tanh]).build(&mut names).expect("a well-formed call");
    }
    x.graph().expect("a well-formed graph")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_training_is_planned() {
        let training = Training::new(residual_chain(40), "x", [4, 16].into());
        let program = training.program();
        // Each of the ten layers has three forward calls and their gradients.
        assert!(program.steps.len() >= 60, "{}", program.steps.len());
        let report = program.plan(&PlanOptions::default()).report;
        assert!(report.lower_bound_bytes > 0 && report.bytes >= report.lower_bound_bytes, "{report}");
    }
}
