//! A network in training: its parameters, executors and optimizer, and the training loop.
//!
//! [`Module`] works as MXNet's module: bind, initialize, then call `forward`, `backward` and `update` for each batch, or
//! [`Module::fit`] for a whole training. Its parameters are the arrays of the executor; gradients are overwritten in place;
//! executors for other batch sizes share parameters and temporary memory with the first. With several
//! [contexts](Module::contexts), each has an executor for its part of a batch.

mod bind;
mod checkpoint;
mod contexts;
mod copies;
mod fit;
mod group;
pub(crate) mod guard;
mod optimizer;
mod options;
mod params;
mod run;
mod scaling;
mod score;
mod training;
mod workers;

pub use bind::BindFor;
pub use fit::{FitReport, Outcome};
pub use options::{CheckpointOptions, FitOptions, InitOptions, ModuleNames};
pub use params::load_initializer;

use crate::Host;
use crate::exchange::Exchange;
use crate::host::Stores;
use group::Group;
use mxrs_exec::{BindOptions, Executor, Imperative};
use mxrs_format::Checkpoint;
use mxrs_graph::{Graph, NodeId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{DType, Device, Error, Result};
use scaling::Scaling;
use std::cell::RefCell;
use training::Training;

/// A network with everything that is needed to train it.
pub struct Module {
    graph: Graph,
    context: ArrayContext,
    options: BindOptions,
    nd: Imperative,
    stores: Stores,
    /// The devices, and the share of a batch that each gets.
    contexts: Vec<Device>,
    work_load: Vec<f64>,
    names: ModuleNames,
    how: BindFor,
    /// The executors, by the shapes of batches. The first group is the one that the caller bound.
    groups: Vec<Group>,
    current: usize,
    /// Parameters that were read before the module had arrays for them.
    loaded: Option<Checkpoint>,
    is_initialized: bool,
    /// The optimizer, the parameters that it updates, and the store.
    exchange: Option<Exchange>,
    /// Set if losses are multiplied by a loss scale.
    scaling: Option<Scaling>,
    /// The current training. It is in a `RefCell` because saving a checkpoint takes `&self` and may assign a number to
    /// the training.
    training: RefCell<Training>,
}

impl Module {
    /// An unbound module of this network, with inputs and labels of the usual [names](ModuleNames). Gradient requests in the
    /// options of the host are ignored.
    ///
    /// ```no_run
    /// # fn example(runtime: &impl mxrs_train::Host, graph: &mxrs_graph::Graph) -> mxrs_types::Result<()> {
    /// use mxrs_optim::Sgd;
    /// use mxrs_train::Module;
    ///
    /// let mut module = Module::new(runtime, graph)?;
    /// // After `bind` and `init_params`:
    /// module.init_optimizer(Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the network does not have the input `data`, or if memory is exhausted.
    pub fn new(host: &impl Host, graph: &Graph) -> Result<Self> {
        Self::with_names(host, graph, ModuleNames::default())
    }

    /// Like [`Self::new`], with other names of inputs and labels, or with fixed parameters.
    ///
    /// # Errors
    /// Returns an error if the network does not have an input or fixed parameter of that name, or if memory is exhausted.
    pub fn with_names(host: &impl Host, graph: &Graph, names: ModuleNames) -> Result<Self> {
        let (context, options) = (host.arrays(), &host.bind_options());
        let is_variable = |name: &String| graph.find(name).is_some_and(|id| graph.node(id).is_variable());
        if let Some(unknown) = names.fixed_params.iter().chain(&names.data).find(|name| !is_variable(name)) {
            let known = graph.argument_names();
            let known = known.iter().take(12).copied().collect::<Vec<_>>().join(", ");
            return Err(Error::invalid("name of an argument", unknown, format!("one of {known}, …")));
        }
        let nd = Imperative::new(context, options)?;
        Ok(Self {
            graph: graph.clone(),
            context: context.clone(),
            options: BindOptions { gradients: None, ..options.clone() },
            nd,
            stores: Stores::of(host),
            contexts: vec![options.device],
            work_load: vec![1.0],
            names,
            how: BindFor::default(),
            groups: Vec::new(),
            current: 0,
            loaded: None,
            is_initialized: false,
            exchange: None,
            scaling: None,
            training: RefCell::default(),
        })
    }

    /// Mixed precision, like MXNet's AMP: executors bound by [`bind`](Self::bind) compute in this 16-bit type where that is
    /// faster. Parameters, gradients, checkpoints, inputs and outputs stay in float32, and the graph itself is not changed,
    /// so checkpoints are the same as those of a training in float32. `bind` refuses types other than bfloat16 and float16.
    /// In float16 small gradients become 0; [`loss_scaling`](Self::loss_scaling) prevents that.
    #[must_use]
    pub fn amp(mut self, short: DType) -> Self {
        self.options.autocast = Some(short);
        self
    }

    /// The network.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Engine, storage and random numbers.
    pub fn context(&self) -> &ArrayContext {
        &self.context
    }

    /// Calls single operators on the same backends.
    pub fn imperative(&self) -> &Imperative {
        &self.nd
    }

    /// Names of inputs and labels.
    pub fn names(&self) -> &ModuleNames {
        &self.names
    }

    /// The executor of the first context that ran last; before the first run, the one that was bound first.
    ///
    /// # Errors
    /// Returns an error if the module is not bound.
    pub fn executor(&self) -> Result<&Executor> {
        Ok(self.group()?.executor())
    }

    /// Names of the outputs.
    ///
    /// # Errors
    /// Returns an error if the module is not bound.
    pub fn output_names(&self) -> Result<&[String]> {
        Ok(self.executor()?.output_names())
    }

    /// The parameters of the network (all arguments that are neither inputs nor labels), and its auxiliary states.
    fn param_ids(&self) -> (Vec<NodeId>, Vec<NodeId>) {
        let graph = &self.graph;
        let is_fed = |id: &NodeId| {
            let name = &graph.node(*id).name;
            graph.is_label(*id) || self.names.data.contains(name) || self.names.labels.contains(name)
        };
        (graph.arguments().filter(|id| !is_fed(id)).collect(), graph.aux_states().collect())
    }

    /// The group of the batch that ran last.
    fn group(&self) -> Result<&Group> {
        self.groups.get(self.current).ok_or_else(|| unbound("bind"))
    }

    /// The group that the caller bound.
    fn first(&self) -> Result<&Group> {
        self.groups.first().ok_or_else(|| unbound("bind"))
    }

    /// Number of rows of the batch that was bound.
    ///
    /// # Errors
    /// Returns an error if the module is not bound, or if its first input has no axes.
    pub fn batch_size(&self) -> Result<usize> {
        let first = self.first()?.data.first().and_then(|desc| desc.shape.first().copied());
        first.ok_or_else(|| Error::invalid("inputs of a module", "none with a batch", "at least one"))
    }

    fn expect_initialized(&self) -> Result<()> {
        if self.is_initialized { Ok(()) } else { Err(unbound("init_params, or set_params")) }
    }
}

/// The error of a method that was called before the method `first`.
fn unbound(first: &str) -> Error {
    Error::invalid("module", "a call before the ones it needs", format!("{first} first"))
}

/// Pairs of names and arrays, as metrics expect them.
fn named<'a>(names: &'a [String], arrays: &'a [NdArray]) -> Vec<(&'a str, &'a NdArray)> {
    names.iter().map(String::as_str).zip(arrays).collect()
}
