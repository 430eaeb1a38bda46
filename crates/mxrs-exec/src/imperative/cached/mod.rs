//! A graph as a function of arrays: MXNet's CachedOp.
//!
//! A call looks for a kept plan with its signature: shapes, types, mode, and the inputs whose gradients are requested.
//! It makes output arrays and pushes the steps of the plan. A recorded call is one node of the tape: forward and
//! gradient are one program. The intermediate values of the call stay in a *state* until the gradient has been
//! computed.

mod plan;
mod replay;
mod run;

pub use run::CachedRun;

use super::flags;
use super::invoke::{Imperative, device_of, is_aligned};
use super::lru::Lru;
use super::signature::Operand;
use super::tape::{Desc, History, How, Link, Node, Saved, entry_of};
use crate::pipeline::prepare_graph;
use mxrs_graph::Graph;
use mxrs_ndarray::{NdArray, RandomCalls};
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_trace::api_call;
use mxrs_types::{Error, Result, ResultExt};
use plan::{Plan, Signature, State, push_segments};
use std::panic::Location;
use std::sync::Arc;

/// Switches of a [`CachedOp`]. The defaults are MXNet's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedOpFlags {
    /// Keep the memory of intermediate values from call to call. If false, each call allocates it.
    pub static_alloc: bool,
    /// Requires `static_alloc`. Keep the memory addresses of the steps from call to call. A step that uses arrays of one
    /// call only (outputs, and inputs that are not in `param_indices`) gets its addresses in each call. If a parameter gets
    /// another array, all addresses are computed again. Shapes may still change from call to call, because there is a plan
    /// for each signature.
    pub static_shape: bool,
    /// Without `static_alloc`, a graph with at most this many operators runs operator by operator. So does every graph with
    /// an operator whose output shapes depend on values, because it cannot be planned.
    pub inline_limit: usize,
    /// The most operators that one task of the forward half runs, in training or if the call is recorded. At inference
    /// [`BindOptions::bulk_inference`](crate::BindOptions::bulk_inference) decides.
    pub forward_bulk_size: usize,
    /// The most operators that one task of the gradient runs.
    pub backward_bulk_size: usize,
    /// The number of plans to keep (`MXRS_PLAN_CACHE`).
    pub plan_cache: usize,
    /// Inputs that may be a different array in every call. An input that is neither in this list nor in `param_indices` is
    /// treated as if it were in this list.
    pub data_indices: Vec<usize>,
    /// Inputs that rarely change. With `static_alloc`, calls that are not recorded keep packed copies of these inputs in
    /// the layouts that kernels read. A copy is kept until the array or its content changes.
    pub param_indices: Vec<usize>,
}

impl Default for CachedOpFlags {
    fn default() -> Self {
        Self {
            static_alloc: false,
            static_shape: false,
            inline_limit: 2,
            forward_bulk_size: 15,
            backward_bulk_size: 15,
            plan_cache: 32,
            data_indices: Vec::new(),
            param_indices: Vec::new(),
        }
    }
}

/// What a [`CachedOp`] has made so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CachedOpStats {
    /// Number of plans made. Making a plan infers shapes, chooses kernels and plans memory.
    pub plans_made: u64,
    /// Number of states made. A state is the memory for the intermediate values of one call at a time.
    pub states_made: u64,
    /// How often the addresses of a plan's forward steps were computed: once per call. With `static_shape`: once per
    /// state, and again each time that a parameter gets another array.
    pub bindings_made: u64,
}

/// A graph that is called like an operator. Clones are handles to the same graph and plans.
#[derive(Clone)]
pub struct CachedOp(Arc<Inner>);

struct Inner {
    imperative: Imperative,
    graph: Arc<Graph>,
    flags: CachedOpFlags,
    /// Whether calls run operator by operator.
    is_inlined: bool,
    plans: RankedMutex<Lru<Signature, Plan>>,
    plans_made: AtomicU64,
    states_made: AtomicU64,
    bindings_made: AtomicU64,
}

impl CachedOp {
    /// A function that runs `graph`.
    ///
    /// # Errors
    /// Returns an error if `static_shape` is set without `static_alloc`, or if an index belongs to no input or is in both
    /// lists.
    pub fn new(imperative: &Imperative, graph: &Graph, flags: CachedOpFlags) -> Result<Self> {
        if flags.static_shape && !flags.static_alloc {
            return Err(Error::invalid("static_shape", "true without static_alloc", "both, or static_alloc alone"));
        }
        // The number of steps of a loop depends on the shapes of a call, so the plan of a call expands the graph.
        let has_control_flow = graph.has_control_flow();
        if has_control_flow && graph.has_shapes_by_values() {
            let got = "a loop or branch, and an operator whose output shapes depend on values";
            return Err(Error::invalid(
                "a cached graph",
                got,
                "one of both: a graph with such an operator cannot be planned",
            ));
        }
        let graph = match has_control_flow {
            true => graph.clone(),
            false => prepare_graph(graph, &[], false, imperative.options())?.0,
        };
        let n_inputs = graph.variables().len();
        let all = flags.data_indices.iter().chain(&flags.param_indices);
        if let Some(unknown) = all.into_iter().find(|i| **i >= n_inputs) {
            let expected = format!("indices of inputs, below {n_inputs}");
            return Err(Error::invalid("data_indices and param_indices", unknown, expected));
        }
        if let Some(both) = flags.data_indices.iter().find(|i| flags.param_indices.contains(i)) {
            return Err(Error::invalid("data_indices and param_indices", format!("{both} in both"), "one of them"));
        }
        let n_ops = graph.nodes().iter().filter(|node| !node.is_variable()).count();
        let is_small = !flags.static_alloc && n_ops <= flags.inline_limit;
        let is_inlined = !has_control_flow && (is_small || graph.has_shapes_by_values());
        Ok(Self(Arc::new(Inner {
            imperative: imperative.clone(),
            graph: Arc::new(graph),
            is_inlined,
            plans: RankedMutex::new(Rank::Leaf, Lru::new(flags.plan_cache)),
            flags,
            plans_made: AtomicU64::new(0),
            states_made: AtomicU64::new(0),
            bindings_made: AtomicU64::new(0),
        })))
    }

    /// Names of the inputs in the order in which a call takes them: all variables of the graph, including auxiliary states.
    pub fn input_names(&self) -> Vec<&str> {
        let graph = &self.0.graph;
        graph.variables().iter().map(|id| graph.node(*id).name.as_str()).collect()
    }

    /// The counters of what was made so far.
    pub fn stats(&self) -> CachedOpStats {
        CachedOpStats {
            plans_made: self.0.plans_made.load(Ordering::Relaxed),
            states_made: self.0.states_made.load(Ordering::Relaxed),
            bindings_made: self.0.bindings_made.load(Ordering::Relaxed),
        }
    }

    /// Runs the graph on these inputs, one per variable, and returns the outputs, which are new arrays. In training,
    /// operators rewrite auxiliary states. The call is recorded if recording is on and an input is tracked.
    ///
    /// # Errors
    /// Returns an error if the number of inputs is wrong, if the inputs are on different devices, or if shapes or types
    /// contradict the graph. Returns an error if no backend runs some operator, or if memory runs out. While calls are
    /// recorded, also returns an error if an operator has no gradient.
    #[track_caller]
    pub fn call(&self, inputs: &[&NdArray]) -> Result<Vec<NdArray>> {
        let _call = api_call("CachedOp::call");
        let site = Location::caller();
        self.check(inputs)?;
        let inner = &*self.0;
        if inner.is_inlined {
            let inputs: Vec<NdArray> = inputs.iter().map(|array| (*array).clone()).collect();
            return replay::replay(&inner.imperative, &inner.graph, &inputs, None, site);
        }
        let entries: Vec<_> = inputs.iter().map(|a| entry_of(a).filter(|_| flags::is_recording())).collect();
        let wants: Option<Vec<bool>> =
            entries.iter().any(Option::is_some).then(|| entries.iter().map(Option::is_some).collect());
        let operands: Vec<Operand<'_>> = inputs.iter().map(|array| Operand::Array(array)).collect();
        let device = device_of("a cached graph", &operands)?.unwrap_or(inner.imperative.options().device);
        let plan = self.plan(Signature::new(inputs, device, flags::is_training(), wants))?;
        let outputs = self.make_outputs(&plan)?;
        let bound = self.bind(&plan, inputs, site)?;
        let device = plan.device();
        let random = match plan.n_random() {
            0 => RandomCalls { seed: 0, first: 0 },
            n => inner.imperative.context().random().reserve(device, n),
        };
        let mut state = self.state(&plan)?;
        let run = self.forward(&plan, &mut state, &bound, &outputs, random);
        run.context(|| "calling a cached graph")?;
        if !plan.has_gradient() {
            // The state may be given back before its tasks have run: a later call that takes the state pushes its own tasks
            // after them.
            plan.give_back(state);
            return Ok(outputs);
        }
        let links = entries.into_iter().zip(&bound).map(|(from, array)| Link {
            from,
            desc: Desc::of(array),
            saved: Some(Saved::new(array)),
        });
        let links = links.collect();
        let saved = outputs.iter().enumerate().map(|(i, a)| plan.reads_output(i).then(|| Saved::new(a)));
        let saved = saved.collect();
        let run = CachedRun::new(plan, state, random);
        let history = History { how: How::Cached(Arc::new(run)), inputs: links, outputs: saved };
        Node::record("a cached graph", site, outputs.iter().map(Desc::of).collect(), history, &outputs);
        Ok(outputs)
    }

    fn check(&self, inputs: &[&NdArray]) -> Result<()> {
        let names = self.input_names();
        if inputs.len() != names.len() {
            let expected = format!("{} ({})", names.len(), names.join(", "));
            return Err(Error::invalid("number of inputs of a cached graph", inputs.len(), expected));
        }
        for (array, name) in inputs.iter().zip(&names) {
            if array.device() != inputs[0].device() {
                let what = format!("device of input `{name}`");
                let expected = format!("{}, as `{}`", inputs[0].device(), names[0]);
                return Err(Error::invalid(what, array.device(), expected));
            }
        }
        Ok(())
    }

    fn plan(&self, signature: Signature) -> Result<Arc<Plan>> {
        let inner = &*self.0;
        let hash = signature.hash();
        if let Some(plan) = inner.plans.lock().get(hash, |key| *key == signature) {
            return Ok(plan);
        }
        let options = inner.imperative.options_on(signature.device).context(|| "planning a cached graph")?;
        let plan = Plan::new(&inner.graph, &signature, &inner.flags, &options);
        let plan = Arc::new(plan.context(|| "planning a cached graph")?);
        inner.plans_made.fetch_add(1, Ordering::Relaxed);
        let evicted = inner.plans.lock().insert(hash, signature, plan.clone());
        drop(evicted);
        Ok(plan)
    }

    fn state(&self, plan: &Plan) -> Result<State> {
        if self.0.flags.static_alloc
            && let Some(state) = plan.take()
        {
            return Ok(state);
        }
        self.0.states_made.fetch_add(1, Ordering::Relaxed);
        State::new(plan, self.0.imperative.context(), self.0.flags.static_alloc)
    }

    fn make_outputs(&self, plan: &Plan) -> Result<Vec<NdArray>> {
        let context = self.0.imperative.context();
        let make = |(shape, dtype): &(mxrs_types::Shape, mxrs_types::DType)| {
            NdArray::empty(context, shape.clone(), *dtype, plan.device(), "output of a cached graph")
        };
        plan.outputs.iter().map(make).collect()
    }

    /// The arrays that the program reads: the inputs, or copies of inputs that are not aligned.
    fn bind(&self, plan: &Plan, inputs: &[&NdArray], site: &'static Location<'static>) -> Result<Vec<NdArray>> {
        let names = self.input_names();
        let mut bound = Vec::with_capacity(inputs.len());
        for (i, array) in inputs.iter().enumerate() {
            if plan.rewrites.contains(&i) {
                if plan.spoilt.contains(&i) {
                    array.count_write(site);
                }
                if !is_aligned(array) {
                    let what = format!("input `{}`, which the graph rewrites", names[i]);
                    return Err(Error::invalid(what, "a view that starts off a vector", "an array of its own"));
                }
            }
            bound.push(if is_aligned(array) { array.detach() } else { self.0.imperative.copy(array)? });
        }
        self.0.imperative.separate(&mut bound, &plan.rewrites)?;
        Ok(bound)
    }

    fn forward(
        &self,
        plan: &Plan,
        state: &mut State,
        inputs: &[NdArray],
        outputs: &[NdArray],
        random: RandomCalls,
    ) -> Result<()> {
        let nd = &self.0.imperative;
        // Extends a list of arrays to `n` arrays by an empty array. This array stands for gradients and head gradients,
        // which have no arrays yet and which the forward steps do not use.
        let pad = |arrays: &[NdArray], n: usize| -> Vec<NdArray> {
            let missing = n.saturating_sub(arrays.len());
            arrays.iter().cloned().chain(std::iter::repeat_n(nd.void().clone(), missing)).collect()
        };
        let bound = pad(inputs, plan.n_bound());
        let outputs = pad(outputs, plan.n_outputs());
        let team = nd.options().team.clone();
        let (ready, is_new) = state.ready(plan, false, bound.clone(), outputs.clone(), team);
        self.0.bindings_made.fetch_add(u64::from(is_new), Ordering::Relaxed);
        push_segments(
            (nd.context().engine(), plan.device()),
            &plan.forward,
            Arc::new(ready),
            state,
            &bound,
            &outputs,
            random,
        )
    }
}
