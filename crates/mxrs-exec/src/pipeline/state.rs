//! The state that graph passes transform: a graph, the types of its entries, its bound variables and its gradient.

use crate::bind::{Known, infer};
use crate::gradients::GradReq;
use crate::lower::{Bound, Source, lower_with_values};
use crate::options::BindOptions;
use crate::program::{Program, ValueId};
use crate::report::FusedReport;
use mxrs_graph::{EntryId, Graph, NodeId, TrainingGraph};
use mxrs_types::{DType, Device, Error, Result, Shape, WriteReq};
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The description of an array that belongs to the gradient of a bound graph: it receives the gradient of an argument, or
/// it holds the gradient of an output.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Name of the argument, or of the output.
    pub name: String,
    /// What to do with the array.
    pub request: GradReq,
    /// Shape of the array.
    pub shape: Shape,
    /// Element type of the array.
    pub dtype: DType,
    /// The device of the array; `None` for the default device.
    pub device: Option<Device>,
}

/// What lowering needs to know of a graph besides its nodes.
pub struct Typed {
    /// Shape and element type of each entry.
    pub known: Known,
    /// The variables that have arrays.
    pub bound: FxHashMap<NodeId, Bound>,
}

/// How a graph is to be run, and the options it is bound with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The options that the caller has chosen.
    pub options: &'a BindOptions,
    /// Whether operators work as in training.
    pub is_train: bool,
    /// Whether [`BindOptions::gradients`] are computed. Only a graph without gradients may be partitioned.
    pub has_gradient: bool,
    /// How long the caller took to infer shapes and types.
    pub infer_time: Duration,
}

impl<'a> Context<'a> {
    /// A context in which inference has taken no time yet.
    pub fn new(options: &'a BindOptions, is_train: bool, has_gradient: bool) -> Self {
        Self { options, is_train, has_gradient, infer_time: Duration::ZERO }
    }
}

/// A lowered graph: its program, and the value of each entry.
pub type LoweredGraph = (Program, FxHashMap<EntryId, ValueId>);

/// A forward graph with its types: what the gradient pass differentiates.
pub struct ForwardGraph {
    pub graph: Arc<Graph>,
    pub typed: Arc<Typed>,
}

/// The state between two graph passes.
pub struct GraphState {
    /// The graph. It has no gradients before the gradient pass.
    pub graph: TrainingGraph,
    /// The forward graph, as it was before the gradient was appended.
    pub forward: Arc<ForwardGraph>,
    /// The gradients to compute, in the order of the arguments.
    pub gradients: Arc<[Wanted]>,
    /// Calls that the partition pass put in place of several others.
    pub replaced: Vec<FusedReport>,
    /// What to do with the array of each head.
    output_reqs: Arc<[WriteReq]>,
    typed: OnceLock<Arc<Typed>>,
    /// The program of exactly this graph, if a pass has needed it.
    lowered: OnceLock<LoweredGraph>,
    lowering_time: OnceLock<Duration>,
}

impl GraphState {
    /// A forward graph.
    pub fn new(graph: Arc<Graph>, typed: Typed) -> Self {
        let n_heads = graph.heads().len();
        let (n_nodes, typed) = (graph.n_nodes(), Arc::new(typed));
        let forward = ForwardGraph { graph: graph.clone(), typed: typed.clone() };
        Self {
            graph: TrainingGraph {
                graph: Graph::clone(&graph),
                n_forward_nodes: n_nodes,
                n_forward_heads: n_heads,
                wanted: Vec::new(),
                head_grads: vec![None; n_heads],
            },
            forward: Arc::new(forward),
            gradients: Arc::new([]),
            replaced: Vec::new(),
            output_reqs: vec![WriteReq::Write; n_heads].into(),
            typed: typed.into(),
            lowered: OnceLock::new(),
            lowering_time: OnceLock::new(),
        }
    }

    /// The forward graph of this state together with its gradient.
    pub fn differentiated(&self, graph: TrainingGraph, gradients: Vec<Wanted>) -> Self {
        let forward_reqs = std::iter::repeat_n(WriteReq::Write, graph.n_forward_heads);
        let output_reqs = forward_reqs.chain(gradients.iter().map(|g| g.request.write_req())).collect();
        Self { output_reqs, gradients: gradients.into(), ..self.with_graph(graph) }
    }

    /// This state with another training graph, whose types are inferred when they are first needed.
    pub fn with_graph(&self, graph: TrainingGraph) -> Self {
        Self {
            graph,
            forward: self.forward.clone(),
            gradients: self.gradients.clone(),
            replaced: self.replaced.clone(),
            output_reqs: self.output_reqs.clone(),
            typed: OnceLock::new(),
            lowered: OnceLock::new(),
            lowering_time: OnceLock::new(),
        }
    }

    /// This state with another graph, whose types and program are known already.
    pub fn with_program(&self, graph: TrainingGraph, typed: Typed, lowered: LoweredGraph) -> Self {
        Self { typed: Arc::new(typed).into(), lowered: lowered.into(), ..self.with_graph(graph) }
    }

    /// Shapes and types of the graph as it is now.
    ///
    /// # Errors
    /// Returns an error if inference finds a contradiction.
    pub fn typed(&self, options: &BindOptions) -> Result<&Arc<Typed>> {
        if let Some(typed) = self.typed.get() {
            return Ok(typed);
        }
        let typed = self.forward.typed(&self.graph, options)?;
        Ok(self.typed.get_or_init(|| Arc::new(typed)))
    }

    /// The program of this graph. It is made once.
    ///
    /// # Errors
    /// Returns an error if no backend runs some operator.
    pub fn lowered(&self, context: &Context<'_>) -> Result<&LoweredGraph> {
        if let Some(lowered) = self.lowered.get() {
            return Ok(lowered);
        }
        let start = Instant::now();
        let source = self.source(&self.graph, self.typed(context.options)?, context.is_train);
        let lowered = lower_with_values(source, context.options)?;
        self.lowering_time.get_or_init(|| start.elapsed());
        Ok(self.lowered.get_or_init(|| lowered))
    }

    /// How long [`Self::lowered`] took to make the program; `None` if it made none, because a pass supplied it.
    pub fn lowering_time(&self) -> Option<Duration> {
        self.lowering_time.get().copied()
    }

    /// The program of another graph that could replace the graph of this state. Passes use it to compare candidates.
    ///
    /// # Errors
    /// Returns an error if no backend runs some operator of the candidate.
    pub fn lower_candidate(&self, candidate: &TrainingGraph, context: &Context<'_>) -> Result<Program> {
        let typed = self.forward.typed(candidate, context.options)?;
        Ok(lower_with_values(self.source(candidate, &typed, context.is_train), context.options)?.0)
    }

    /// The arguments of lowering.
    pub fn source<'a>(&'a self, graph: &'a TrainingGraph, typed: &'a Typed, is_train: bool) -> Source<'a> {
        Source {
            graph: &graph.graph,
            n_forward_nodes: graph.n_forward_nodes,
            shapes: &typed.known.shapes,
            dtypes: &typed.known.dtypes,
            bound: &typed.bound,
            output_reqs: &self.output_reqs,
            n_forward_heads: graph.n_forward_heads,
            is_train,
        }
    }

    /// The gradient that the caller gives for each head; `None` if the program does not read it.
    pub fn head_grads(&self) -> Vec<Option<Wanted>> {
        self.forward.head_grads(&self.graph)
    }

    /// Removes and returns the program of this graph. A later call makes it again.
    ///
    /// # Errors
    /// Returns the errors of [`Self::lowered`].
    pub fn take_program(&mut self, context: &Context<'_>) -> Result<Program> {
        self.lowered(context)?;
        let Some((program, _)) = self.lowered.take() else {
            return Err(Error::invalid("lowering", "no program", "a program"));
        };
        Ok(Program { fused: self.replaced.clone(), ..program })
    }
}

impl ForwardGraph {
    /// The description of an array with the shape, type and device of an entry.
    pub fn describe(&self, name: String, request: GradReq, entry: usize) -> Wanted {
        let known = &self.typed.known;
        let device = self.graph.node(self.graph.entry_at(EntryId::new(entry)).0).device;
        Wanted { name, request, shape: known.shapes[entry].clone(), dtype: known.dtypes[entry], device }
    }

    fn head_grads(&self, training: &TrainingGraph) -> Vec<Option<Wanted>> {
        let wanted = |(head, variable): (usize, &Option<NodeId>)| {
            let entry = self.graph.entry_id(self.graph.heads()[head]);
            variable.map(|_| self.describe(self.graph.entry_name(entry), GradReq::Write, entry.index()))
        };
        training.head_grads.iter().enumerate().map(wanted).collect()
    }

    /// Shapes and types of every entry of a training graph, and the arrays of its variables: first the variables of the
    /// forward graph, then the head gradients.
    fn typed(&self, training: &TrainingGraph, options: &BindOptions) -> Result<Typed> {
        let mut given: Vec<(String, Shape, DType)> = Vec::new();
        for &id in self.graph.variables() {
            let variable =
                self.describe(self.graph.node(id).name.clone(), GradReq::Null, self.graph.output_id(id, 0).index());
            given.push((variable.name, variable.shape, variable.dtype));
        }
        // A pass may have removed forward nodes, so variables are found by name.
        let moved = |(id, bound): (&NodeId, &Bound)| {
            let now = training.graph.find(&self.graph.node(*id).name)?;
            training.graph.node(now).is_variable().then_some((now, *bound))
        };
        let mut bound: FxHashMap<NodeId, Bound> = self.typed.bound.iter().filter_map(moved).collect();
        let mut next = self.typed.bound.len();
        for (variable, wanted) in training.head_grads.iter().zip(self.head_grads(training)) {
            let (Some(id), Some(wanted)) = (*variable, wanted) else { continue };
            given.push((training.graph.node(id).name.clone(), wanted.shape, wanted.dtype));
            bound.insert(id, Bound { index: next, is_constant: false });
            next += 1;
        }
        Ok(Typed { known: infer(&training.graph, &given, options)?, bound })
    }
}
