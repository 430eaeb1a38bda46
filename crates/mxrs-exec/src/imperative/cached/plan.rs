//! A graph planned for one signature, and the memory of its intermediate values.

use super::CachedOpFlags;
use crate::bind::{Given, known, seeds};
use crate::gradients::{GradReq, GradRequests};
use crate::imperative::prepared::spoils;
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::packed::Packed;
use crate::pipeline::{Context, Wanted, lower_graph, prepare_graph};
use crate::program::Origin;
use crate::program_passes::Planned;
use crate::program_passes::plan_memory::arena_bytes;
use crate::ready::{Memory, ReadyProgram, ReadySteps};
use crate::segment::{Segment, push, push_prepare, segments};
use mxrs_engine::{Engine, RunContext, Var};
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_storage::{Block, Tag};
use mxrs_sync::{Rank, RankedMutex, Team};
use mxrs_types::{DType, Device, Result, Shape};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The properties of a call that determine its plan.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// The device of all arrays.
    pub device: Device,
    inputs: Vec<(Shape, DType)>,
    is_train: bool,
    /// For each input, whether its gradient is requested; `None` if the call is not recorded.
    wants: Option<Vec<bool>>,
}

impl Signature {
    pub fn new(inputs: &[&NdArray], device: Device, is_train: bool, wants: Option<Vec<bool>>) -> Self {
        let inputs = inputs.iter().map(|a| (a.shape().clone(), a.dtype())).collect();
        Self { device, inputs, is_train, wants }
    }

    pub fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}

/// A planned graph: forward only, or forward with gradient.
pub struct Plan {
    /// The graph without control flow. Its variables are the inputs of the cached graph, in the same order.
    pub graph: Arc<Graph>,
    pub planned: Planned,
    pub forward: Vec<Segment>,
    pub backward: Vec<Segment>,
    /// Shape and type of each output.
    pub outputs: Vec<(Shape, DType)>,
    /// Inputs that the forward steps rewrite.
    pub rewrites: Vec<usize>,
    /// Inputs whose value the forward steps may change. A value that was saved from such an input before the call is out of
    /// date.
    pub spoilt: Vec<usize>,
    /// Inputs that the gradient reads.
    pub reads: Vec<usize>,
    /// For each output, the head gradient that the program reads; `None` if it reads none.
    pub head_grads: Vec<Option<Wanted>>,
    /// For each gradient that the program makes: index of the input, and description of the gradient.
    pub gradients: Vec<(usize, Wanted)>,
    pub is_train: bool,
    /// With `static_shape`, the steps that use arrays of one call only: outputs, gradients, and inputs that are not
    /// parameters.
    per_call: Option<Vec<usize>>,
    params: Vec<usize>,
    states: RankedMutex<Vec<State>>,
}

impl Plan {
    /// Infers shapes and types, chooses kernels and plans the memory.
    ///
    /// # Errors
    /// Returns an error if shapes or types contradict the graph, or an operator is not differentiable or runs on no
    /// backend.
    pub fn new(
        graph: &Arc<Graph>,
        signature: &Signature,
        flags: &CachedOpFlags,
        options: &BindOptions,
    ) -> Result<Self> {
        let names: Vec<&str> = graph.variables().iter().map(|id| graph.node(*id).name.as_str()).collect();
        let given: Vec<Given<'_>> =
            names.iter().zip(&signature.inputs).map(|(name, (shape, dtype))| (*name, shape, *dtype)).collect();
        let graph = &match graph.has_control_flow() {
            true => {
                let seeds = seeds(&[], &given, options);
                Arc::new(prepare_graph(graph, &seeds, signature.wants.is_some(), options)?.0)
            }
            false => graph.clone(),
        };
        let known = known(graph, &[], &given, options)?;
        // In recorded calls no input is constant, because parameters are expected to change from call to call.
        let is_constant =
            |index| flags.static_alloc && signature.wants.is_none() && flags.param_indices.contains(&index);
        let place = |(index, id): (usize, &mxrs_graph::NodeId)| (*id, Bound { index, is_constant: is_constant(index) });
        let bound = graph.variables().iter().enumerate().map(place).collect();
        let outputs = graph.heads().iter().map(|head| {
            let entry = graph.entry_id(*head).index();
            (known.shapes[entry].clone(), known.dtypes[entry])
        });
        let outputs: Vec<_> = outputs.collect();
        let mut head_grads = vec![None; outputs.len()];
        let mut gradients = Vec::new();
        let planned = match &signature.wants {
            None if !signature.is_train => {
                let context = Context::new(options, false, false);
                lower_graph(graph, &known, &bound, &context)?.planned
            }
            None => {
                let context = Context::new(options, true, false);
                lower_graph(graph, &known, &bound, &context)?.planned
            }
            Some(wants) => {
                let mut requests = GradRequests::all(GradReq::Null);
                let is_argument = |i: &usize| !graph.is_aux_state(graph.variables()[*i]);
                for i in (0..names.len()).filter(|i| wants[*i]).filter(is_argument) {
                    requests = requests.with(names[i], GradReq::Write);
                }
                let options = BindOptions { gradients: Some(requests), ..options.clone() };
                let context = Context::new(&options, signature.is_train, true);
                let lowered = lower_graph(graph, &known, &bound, &context)?;
                head_grads = lowered.head_grads;
                for wanted in lowered.gradients {
                    if let Some(input) = names.iter().position(|name| *name == wanted.name) {
                        gradients.push((input, wanted));
                    }
                }
                lowered.planned
            }
        };
        let mut spoilt = Vec::new();
        for node in graph.nodes() {
            let Some((op, params)) = node.call() else { continue };
            let rewritten = (op.rewrites)(params, signature.is_train).iter().filter(|i| spoils(op, params, **i));
            let inputs = rewritten.map(|i| node.inputs[*i].node);
            spoilt.extend(inputs.filter_map(|id| graph.variables().iter().position(|v| *v == id)));
        }
        let program = &planned.program;
        let n_steps = program.steps.len();
        let is_inference = signature.wants.is_none() && !signature.is_train;
        let limit = if is_inference { options.inference_limit() } else { flags.forward_bulk_size };
        let forward = segments(program, 0..program.n_forward, limit);
        let backward = segments(program, program.n_forward..n_steps, flags.backward_bulk_size);
        let mut rewrites: Vec<usize> = forward.iter().flat_map(|s| s.rewrites.iter().copied()).collect();
        rewrites.sort_unstable();
        rewrites.dedup();
        let is_per_call = |value: &usize| match program.values[*value].origin {
            Origin::Bound(index) => !flags.param_indices.contains(&index),
            Origin::Output(_) => true,
            _ => false,
        };
        let uses = |step: &usize| {
            let step = &program.steps[*step];
            step.inputs.iter().chain(&step.outputs).any(is_per_call)
        };
        let per_call = flags.static_shape.then(|| (0..n_steps).filter(uses).collect());
        let reads = backward.iter().flat_map(|s| s.reads.iter().copied()).filter(|i| *i < names.len()).collect();
        Ok(Self {
            graph: graph.clone(),
            planned,
            forward,
            backward,
            outputs,
            rewrites,
            spoilt,
            reads,
            head_grads,
            gradients,
            is_train: signature.is_train,
            per_call,
            params: flags.param_indices.clone(),
            states: RankedMutex::new(Rank::Leaf, Vec::new()),
        })
    }

    pub fn has_gradient(&self) -> bool {
        !self.gradients.is_empty()
    }

    /// The device on which the graph runs.
    pub fn device(&self) -> Device {
        self.planned.program.device
    }

    pub fn n_random(&self) -> u64 {
        u64::from(self.planned.program.n_random)
    }

    /// Number of arrays that the program reads: the inputs, then the gradients of the outputs.
    pub fn n_bound(&self) -> usize {
        let n_inputs = self.planned.program.values.iter();
        let indexes = n_inputs.filter_map(|v| match v.origin {
            Origin::Bound(index) => Some(index + 1),
            _ => None,
        });
        indexes.max().unwrap_or(0)
    }

    /// Number of arrays that the program makes: the outputs, then the gradients of the inputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len() + self.gradients.len()
    }

    /// Whether the gradient reads this output.
    pub fn reads_output(&self, output: usize) -> bool {
        self.backward.iter().any(|s| s.reads_outputs.contains(&output))
    }

    /// Takes a state that was kept for later calls and that no call uses now.
    pub fn take(&self) -> Option<State> {
        self.states.lock().pop()
    }

    /// Keeps a state for later calls, if it was made with `static_alloc`. Drops it otherwise.
    pub fn give_back(&self, state: State) {
        if state.is_static {
            self.states.lock().push(state);
        }
    }
}

/// Memory for the intermediate values of one call at a time.
pub struct State {
    device: Device,
    arena: Option<Arc<Block>>,
    packed: Arc<Packed>,
    /// The engine variable that every task that uses the memory writes.
    var: Var,
    engine: Engine,
    is_static: bool,
    /// The addresses of the forward half and of the gradient, if they are kept.
    halves: [Option<Half>; 2],
}

/// One half of a program with its addresses, which stay valid as long as the parameters are the arrays `params`.
struct Half {
    steps: Arc<ReadySteps>,
    params: Vec<NdArray>,
}

impl State {
    /// Memory for a plan.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn new(plan: &Plan, context: &ArrayContext, is_static: bool) -> Result<Self> {
        let engine = context.engine().clone();
        let packed = Arc::new(Packed::new(&plan.planned, context, plan.device(), None)?);
        let (device, var) = (plan.device(), engine.new_var());
        let mut state = Self { device, arena: None, packed, var, engine, is_static, halves: [None, None] };
        state.arena = match arena_bytes(&plan.planned.plan) {
            0 => None,
            n => Some(Arc::new(context.allocate_for(device, n, Tag::new("executor:arena"), &state.var)?)),
        };
        Ok(state)
    }

    /// The forward steps or the gradient steps with addresses for these arrays, ready to run. With `static_shape`, steps
    /// that use only parameters and temporary values keep their addresses until a parameter is another array. Also returns
    /// whether this call computed all addresses, because none were kept.
    pub fn ready(
        &mut self,
        plan: &Plan,
        is_gradient: bool,
        bound: Vec<NdArray>,
        outputs: Vec<NdArray>,
        team: Arc<Team>,
    ) -> (ReadyProgram, bool) {
        let (planned, memory) = (&plan.planned, self.memory());
        let n_forward = planned.program.n_forward;
        let range = if is_gradient { n_forward..planned.program.steps.len() } else { 0..n_forward };
        let Some(per_call) = &plan.per_call else {
            return (ReadyProgram::over(planned, memory, bound, outputs, range, team), true);
        };
        let place = &mut self.halves[usize::from(is_gradient)];
        let params = || plan.params.iter().filter_map(|i| bound.get(*i));
        let is_same = |(a, b): (&NdArray, &NdArray)| a.shares_storage(b) && a.as_ptr() == b.as_ptr();
        let known = place.as_ref().filter(|half| half.params.iter().zip(params()).all(is_same));
        let (steps, is_new) = match known {
            Some(half) => (half.steps.clone(), false),
            None => {
                let steps = Arc::new(ReadySteps::new(planned, &memory, &bound, &outputs, range.clone()));
                let params = params().cloned().collect();
                *place = Some(Half { steps: steps.clone(), params });
                (steps, true)
            }
        };
        let begin = per_call.partition_point(|step| *step < range.start);
        let end = per_call.partition_point(|step| *step < range.end);
        (ReadyProgram::of(steps, &per_call[begin..end], planned, memory, bound, outputs, team), is_new)
    }

    /// The arena and the packed constants of this state, as [`ReadyProgram::over`] takes them.
    fn memory(&self) -> Memory {
        Memory::on_one(self.device, self.arena.clone(), self.packed.clone())
    }

    /// A new state with the same content. The copy is made after all tasks pushed so far have run.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn duplicate(&self, context: &ArrayContext) -> Result<Self> {
        let mut arena = None;
        let var = self.engine.new_var();
        if let Some(from) = self.arena.clone() {
            let tag = Tag::new("executor:arena");
            let to = Arc::new(context.allocate_for(from.device(), from.len(), tag, &var)?);
            arena = Some(to.clone());
            let task = self.engine.task("copy of a state").device(from.device()).read(&self.var).write(&var);
            let copies = context.copies(from.device())?.cloned();
            task.push(move |task| {
                if let (Some(copies), Some(stream)) = (copies, task.stream()) {
                    // SAFETY: as for the copy by the host below. The blocks stay allocated until the work is done: `State`
                    // frees them with the events of their variables.
                    return unsafe { copies.copy(&**stream, from.as_ptr(), to.as_ptr(), from.len()) };
                }
                // SAFETY: `to` is a new block of `from.len()` bytes, so the blocks do not overlap and the copy fits. This
                // task keeps both blocks alive. It holds the variable of `from` for reading, so no task writes `from`
                // meanwhile. It holds the variable of `to` for writing, so later tasks on the new state wait.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), from.len()) };
                Ok(())
            })?;
        }
        Ok(Self {
            device: self.device,
            arena,
            packed: self.packed.clone(),
            var,
            engine: self.engine.clone(),
            is_static: false,
            halves: [None, None],
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let arena = self.arena.take();
        self.engine.delete_var_with(self.var.clone(), move |events| {
            let Some(arena) = arena else { return };
            events.into_iter().for_each(|event| arena.used_by(event));
        });
    }
}

/// Pushes segments of the steps in `ready` to the engine. Their intermediate values are in the memory of `state`.
///
/// # Errors
/// Returns the errors of the engine; with `NaiveEngine` also the errors of kernels.
pub fn push_segments(
    (engine, device): (&Engine, Device),
    segments: &[Segment],
    ready: Arc<ReadyProgram>,
    state: &State,
    bound: &[NdArray],
    outputs: &[NdArray],
    random: RandomCalls,
) -> Result<()> {
    if ready.has_prepare() {
        let ready = ready.clone();
        push_prepare((engine, device), &state.var, bound.iter().map(NdArray::var), move |task| ready.prepare(task))?;
    }
    for segment in segments {
        let (ready, steps) = (ready.clone(), segment.steps.clone());
        let run = move |task: &RunContext| ready.run(steps, random, task);
        let (of_bound, of_output) = (|index: usize| bound[index].var(), |index: usize| outputs[index].var());
        push((engine, device), segment, [&state.var], of_bound, of_output, &[], run)?;
    }
    Ok(())
}
