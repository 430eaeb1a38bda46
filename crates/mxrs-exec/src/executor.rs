//! The bound graph.

use crate::bind::{Missing, Variables, variables};
use crate::fuse::lower_fused;
use crate::gradients::BoundGradient;
use crate::joined::forward_graph;
use crate::lower::Source;
use crate::options::BindOptions;
use crate::report::ExecutorReport;
use crate::runner::{Limits, Runner};
use crate::training::Training;
use indexmap::IndexMap;
use mxrs_graph::Graph;
use mxrs_ndarray::{ArrayContext, NdArray, RandomCalls};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Error, Result, Shape, WriteReq};
use std::sync::{Arc, OnceLock};

/// A graph with arrays, kernels and memory: MXNet's executor.
///
/// [`forward`](Self::forward) runs it as at inference, [`forward_train`](Self::forward_train) as in training, and
/// [`backward`](Self::backward) after that the gradients asked for by [`BindOptions::gradients`]. Outputs are the same
/// arrays at every run. Calls return at once; reading an array waits for it and delivers errors.
pub struct Executor {
    context: ArrayContext,
    options: BindOptions,
    graph: Arc<Graph>,
    variables: Variables,
    outputs: Vec<NdArray>,
    output_names: Vec<String>,
    training: Training,
    inference_runner: OnceLock<Runner>,
    training_runner: OnceLock<Runner>,
    /// Random calls of the training run whose gradient has not been asked for yet.
    recorded: RankedMutex<Option<RandomCalls>>,
}

impl Executor {
    /// Binds with shapes of the inputs only: every other variable gets an array of zeros that the caller fills.
    ///
    /// # Errors
    /// Unknown names, contradictory or unresolved shapes, an operator no backend runs, out of memory.
    pub fn simple_bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        options: &BindOptions,
    ) -> Result<Self> {
        Self::build(graph, context, inputs, &IndexMap::new(), Missing::Allocate, options)
    }

    /// Binds to existing parameter arrays (arguments and auxiliary states by name; extra names are ignored). The inputs
    /// listed get arrays of their own; labels that inference ignores need not be given.
    ///
    /// # Errors
    /// As [`Self::simple_bind`]; parameters that are missing or have another shape.
    pub fn bind(
        graph: &Graph,
        context: &ArrayContext,
        inputs: &[(&str, Shape)],
        params: &IndexMap<String, NdArray>,
        options: &BindOptions,
    ) -> Result<Self> {
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
        let graph = &forward_graph(graph, options)?;
        let variables = variables(graph, context, inputs, params, missing, options)?;
        let outputs = graph.heads().iter().map(|head| {
            let entry = graph.entry_id(*head).index();
            NdArray::zeros(context, variables.known.shapes[entry].clone(), variables.known.dtypes[entry])
        });
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let graph = Arc::new(graph.clone());
        let training = Training::new(&graph, context, &variables, options)?;
        let executor = Self {
            context: context.clone(),
            options: options.clone(),
            output_names,
            graph,
            variables,
            outputs,
            training,
            inference_runner: OnceLock::new(),
            training_runner: OnceLock::new(),
            recorded: RankedMutex::new(Rank::Leaf, None),
        };
        // Everything that can go wrong should go wrong here. The other mode is prepared when it is first used.
        if executor.training.gradients.is_empty() {
            executor.inference()?
        } else {
            executor.training_runner()?
        };
        Ok(executor)
    }

    fn inference(&self) -> Result<&Runner> {
        if let Some(runner) = self.inference_runner.get() {
            return Ok(runner);
        }
        let n_heads = self.outputs.len();
        let program = lower_fused(
            Source {
                graph: &self.graph,
                n_forward_nodes: self.graph.n_nodes(),
                shapes: &self.variables.known.shapes,
                dtypes: &self.variables.known.dtypes,
                bound: &self.variables.bound,
                output_reqs: &vec![WriteReq::Write; n_heads],
                n_forward_heads: n_heads,
                is_train: false,
            },
            &self.options,
        )?;
        let limit = if self.options.bulk_inference { usize::MAX } else { 1 };
        let limits = Limits { forward: limit, backward: limit };
        let bound = self.variables.arrays.iter().map(|(_, array)| array.clone()).collect();
        let runner = Runner::new(program, &self.context, bound, self.outputs.clone(), limits, &self.options)?;
        Ok(self.inference_runner.get_or_init(|| runner))
    }

    fn training_runner(&self) -> Result<&Runner> {
        if let Some(runner) = self.training_runner.get() {
            return Ok(runner);
        }
        let runner = self.training.runner(&self.context, &self.variables, &self.outputs, &self.options)?;
        Ok(self.training_runner.get_or_init(|| runner))
    }

    /// The array of an argument or auxiliary state.
    ///
    /// # Errors
    /// A name the graph does not have.
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
    /// A name without gradient: unknown, or bound with `null`.
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

    /// Pushes one run as at inference. Under `NaiveEngine` it happens before this returns.
    ///
    /// # Errors
    /// Under `NaiveEngine` what a kernel reports; otherwise errors surface when an output is read.
    #[track_caller]
    pub fn forward(&self) -> Result<()> {
        let runner = self.inference()?;
        self.note_writes(false)?;
        // The outputs are about to be overwritten: the gradient of an earlier training run would be wrong.
        *self.recorded.lock() = None;
        runner.forward(runner.reserve(&self.context))
    }

    /// Pushes one run as in training: statistics of the batch, dropout, auxiliary states updated.
    ///
    /// # Errors
    /// As [`Self::forward`].
    #[track_caller]
    pub fn forward_train(&self) -> Result<()> {
        let runner = self.training_runner()?;
        self.note_writes(true)?;
        let random = runner.reserve(&self.context);
        *self.recorded.lock() = None;
        runner.forward(random)?;
        *self.recorded.lock() = Some(random);
        Ok(())
    }

    /// Pushes the gradients of the last [`forward_train`](Self::forward_train). `head_grads` are the gradients of the
    /// outputs, in order; none are needed when every output is a loss, which ignores them.
    ///
    /// # Errors
    /// No gradient was asked for at binding; no `forward_train` since the last `backward` or `forward`; head gradients that
    /// are missing, too many, or of another shape or dtype; and as [`Self::forward`].
    #[track_caller]
    pub fn backward(&self, head_grads: &[NdArray]) -> Result<()> {
        if self.training.gradients.is_empty() {
            return Err(Error::invalid(
                "backward",
                "a graph bound without gradients",
                "BindOptions::gradients at bind",
            ));
        }
        let recorded = *self.recorded.lock();
        let Some(random) = recorded else {
            return Err(Error::invalid(
                "backward",
                "no training run whose gradient is still to come",
                "forward_train before each backward, with no forward between them",
            ));
        };
        self.training.set_head_grads(head_grads)?;
        for gradient in self.gradients() {
            gradient.array.note_write()?;
        }
        *self.recorded.lock() = None;
        self.training_runner()?.backward(random)
    }

    /// Lets an autograd tape know which arrays are about to change.
    #[track_caller]
    fn note_writes(&self, is_train: bool) -> Result<()> {
        for output in &self.outputs {
            output.note_write()?;
        }
        if is_train {
            for (name, array) in self.arrays() {
                if self.graph.find(name).is_some_and(|id| self.graph.is_aux_state(id)) {
                    array.note_write()?;
                }
            }
        }
        Ok(())
    }

    /// What was decided for inference, once it is bound.
    pub fn report(&self) -> Option<ExecutorReport> {
        self.inference_runner.get()?.report()
    }

    /// What was decided for training, once it is bound.
    pub fn training_report(&self) -> Option<ExecutorReport> {
        self.training_runner.get()?.report()
    }
}
