//! The executor: a graph bound to arrays.

use crate::aliases::check_aliases;
use crate::bind::{Missing, Variables, given, seeds, variables};
use crate::device::{device_of, on_device};
use crate::freeze;
use crate::gradients::BoundGradient;
use crate::monitor::Monitor;
use crate::options::BindOptions;
use crate::pipeline::{Context, lower_graph, prepare_graph};
use crate::pool::{Arrays, MemoryPool, Role};
use crate::report::ExecutorReport;
use crate::run::{Partial, Recorded};
use crate::runner::{Limits, Runner};
use crate::training::Training;
use indexmap::IndexMap;
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::return_freed_heap;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_trace::api_call;
use mxrs_types::{Error, Result, Shape};
use std::sync::{Arc, OnceLock};

/// After binding a graph with at least this many nodes, freed heap memory is returned to the operating system. That takes
/// milliseconds, so it is not done for smaller graphs.
const LARGE_GRAPH: usize = 1000;

/// A graph with arrays, kernels and memory: MXNet's executor.
///
/// [`forward`](Self::forward) runs the graph as at inference, [`forward_train`](Self::forward_train) as in training. After
/// `forward_train`, [`backward`](Self::backward) computes the gradients that [`BindOptions::gradients`] requests. Outputs
/// are the same arrays in every run. Calls return before the work is done. Reading an array waits for the work that writes
/// it, and returns the error of this work.
///
/// Temporary memory is in a [`MemoryPool`], which the training run and the inference run share, and which other executors
/// may share too.
pub struct Executor {
    pub(crate) context: ArrayContext,
    pub(crate) options: BindOptions,
    pub(crate) graph: Arc<Graph>,
    /// The graph as the caller gave it, if it has control flow. Reshaping starts from it, because other shapes may give
    /// loops more or fewer steps.
    pub(crate) source: Option<Arc<Graph>>,
    pub(crate) arrays: Arrays,
    pub(crate) variables: Variables,
    pub(crate) outputs: Vec<NdArray>,
    pub(crate) output_names: Vec<String>,
    pub(crate) training: Training,
    pub(crate) inference_runner: OnceLock<Runner>,
    pub(crate) training_runner: OnceLock<Runner>,
    /// Whether the executor released parameters that training or another shape would need.
    pub(crate) is_frozen: bool,
    /// The last training run, if its gradient has not been computed yet.
    pub(crate) recorded: RankedMutex<Option<Recorded>>,
    /// A forward run that is pushed step by step.
    pub(crate) partial: RankedMutex<Option<Partial>>,
    pub(crate) monitor: RankedMutex<Option<Monitor>>,
}

impl Executor {
    /// Binds a graph, given only the shapes of the inputs. Every other variable gets the array that an executor of the same
    /// [pool](BindOptions::pool) has under the name of the variable. If there is none, it gets an array of zeros, which the
    /// caller fills.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, if shapes contradict each other or stay unknown, or if no backend runs some
    /// operator on the device. Returns an error if memory runs out, or if a parameter has another shape or type in an
    /// executor of the same pool.
    pub fn simple_bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        options: &BindOptions,
    ) -> Result<Self> {
        let _call = api_call("Executor::simple_bind");
        Self::build(graph, context, inputs, &IndexMap::new(), Missing::Allocate, options)
    }

    /// Binds a graph to existing parameter arrays: arguments and auxiliary states, found by name. Names that the graph
    /// lacks are ignored. The listed inputs get new arrays. Labels that inference ignores need not be given.
    ///
    /// # Errors
    /// Returns the errors of [`Self::simple_bind`]. Returns an error if a parameter is missing, has another shape or is on
    /// another device than the graph has for it.
    /// Returns an error if an array that an operator rewrites, such as a moving mean, shares memory with another array.
    pub fn bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        params: &IndexMap<String, NdArray>,
        options: &BindOptions,
    ) -> Result<Self> {
        let _call = api_call("Executor::bind");
        Self::build(graph, context, inputs, params, Missing::Refuse, options)
    }

    fn build(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        params: &IndexMap<String, NdArray>,
        missing: Missing,
        options: &BindOptions,
    ) -> Result<Self> {
        let output_names = graph.output_names();
        let options = &*on_device(options)?;
        let arrays = Arrays::new(context, &options.devices(), options.pool.as_ref())?;
        let source = graph.has_control_flow().then(|| Arc::new(graph.clone()));
        let graph = {
            let given = given(graph, params);
            let seeds = seeds(inputs, &given, options);
            Arc::new(prepare_graph(graph, &seeds, options.gradients.is_some(), options)?.0)
        };
        let variables = variables(&graph, &arrays, inputs, params, missing, options)?;
        Self::assemble((graph, source, output_names), arrays, variables, context, options)
    }

    /// Makes an executor over existing variables: allocates outputs and gradients, chooses kernels, plans memory.
    pub(crate) fn assemble(
        (graph, source, output_names): (Arc<Graph>, Option<Arc<Graph>>, Vec<String>),
        arrays: Arrays,
        variables: Variables,
        context: &ArrayContext,
        options: &BindOptions,
    ) -> Result<Self> {
        let outputs = graph.heads().iter().enumerate().map(|(i, head)| {
            let entry = graph.entry_id(*head).index();
            let of = (&variables.known.shapes[entry], variables.known.dtypes[entry]);
            arrays.get(Role::PerShape, &format!("output {i}"), of, device_of(graph.node(head.node), options))
        });
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let training = Training::new(&graph, &arrays, &variables, options)?;
        check_aliases(&graph, &variables, &training.gradients, &outputs)?;
        let executor = Self {
            context: context.clone(),
            options: options.clone(),
            output_names,
            graph,
            source,
            arrays,
            variables,
            outputs,
            training,
            inference_runner: OnceLock::new(),
            training_runner: OnceLock::new(),
            is_frozen: false,
            recorded: RankedMutex::new(Rank::Leaf, None),
            partial: RankedMutex::new(Rank::Leaf, None),
            monitor: RankedMutex::new(Rank::Leaf, None),
        };
        // Prepares training if there are gradients, otherwise inference, so that binding returns the errors of the
        // preparation. The other mode is prepared at its first use.
        executor.runner(!executor.training.gradients.is_empty())?;
        if executor.graph.n_nodes() >= LARGE_GRAPH {
            return_freed_heap();
        }
        Ok(executor)
    }

    /// The runner for training or for inference. It is made when it is first used.
    pub(crate) fn runner(&self, is_train: bool) -> Result<&Runner> {
        let place = if is_train { &self.training_runner } else { &self.inference_runner };
        if let Some(runner) = place.get() {
            return Ok(runner);
        }
        if self.is_frozen {
            return Err(freeze::refusal("training"));
        }
        let runner = if is_train {
            let pool = self.arrays.pool();
            self.training.runner(&self.graph, (&self.context, pool), &self.variables, &self.outputs, &self.options)?
        } else {
            self.inference()?
        };
        Ok(place.get_or_init(|| runner))
    }

    fn inference(&self) -> Result<Runner> {
        let context = Context::new(&self.options, false, false);
        let lowered = lower_graph(&self.graph, &self.variables.known, &self.variables.bound, &context)?;
        let limit = self.options.inference_limit();
        let limits = Limits { forward: limit, backward: limit };
        let bound = self.variables.arrays.iter().map(|(_, array)| array.clone()).collect();
        let memory = (&self.context, self.arrays.pool());
        Runner::new((lowered.graph, lowered.planned), memory, bound, self.outputs.clone(), limits, &self.options)
    }

    /// The array of an argument or auxiliary state.
    ///
    /// # Errors
    /// Returns an error if the graph has no variable of this name.
    pub fn argument(&self, name: &str) -> Result<&NdArray> {
        self.arrays().iter().find(|(n, _)| n == name).map(|(_, array)| array).ok_or_else(|| {
            let known: Vec<&str> = self.arrays().iter().map(|(n, _)| n.as_str()).take(12).collect();
            Error::invalid("argument name", name, format!("one of {}, …", known.join(", ")))
        })
    }

    /// Every bound array with its name, in graph order, auxiliary states included.
    pub fn arrays(&self) -> &[(String, NdArray)] {
        &self.variables.arrays
    }

    /// The outputs; the same arrays at every run.
    pub fn outputs(&self) -> &[NdArray] {
        &self.outputs
    }

    /// Names of the outputs.
    pub fn output_names(&self) -> &[String] {
        &self.output_names
    }

    /// The gradients this executor computes, in the order of the arguments.
    pub fn gradients(&self) -> &[BoundGradient] {
        &self.training.gradients
    }

    /// The gradient array of an argument.
    ///
    /// # Errors
    /// Returns an error if no argument has this name, or if the argument was bound with the request `null`.
    pub fn gradient(&self, name: &str) -> Result<&NdArray> {
        self.gradients().iter().find(|g| g.name == name).map(|g| &g.array).ok_or_else(|| {
            let known: Vec<&str> = self.gradients().iter().map(|g| g.name.as_str()).take(12).collect();
            let expected = match known.is_empty() {
                true => "an executor bound with gradients".into(),
                false => format!("an argument bound with grad_req write or add: {}, …", known.join(", ")),
            };
            Error::invalid("name of a gradient", name, expected)
        })
    }

    /// The memory pool of the executor, which other executors may [share](BindOptions::pool).
    pub fn pool(&self) -> &MemoryPool {
        self.arrays.pool()
    }

    /// The report about inference, or `None` if inference has not been prepared.
    pub fn report(&self) -> Option<ExecutorReport> {
        self.inference_runner.get().map(Runner::report)
    }

    /// The report about training, or `None` if training has not been prepared.
    pub fn training_report(&self) -> Option<ExecutorReport> {
        self.training_runner.get().map(Runner::report)
    }
}
