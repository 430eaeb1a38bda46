//! A network that is trained: parameters, an executor, an optimizer, and the loop over them.
//!
//! [`Module`] follows MXNet's: bind, initialize, then `forward`, `backward`, `update` for each batch, or [`Module::fit`] for all
//! of it. Its parameters live in the executor's arrays; gradients are overwritten in place; executors for other batch sizes
//! share parameters and temporaries with the first.

mod bind;
mod checkpoint;
mod fit;
pub(crate) mod guard;
mod options;
mod params;
mod run;
mod score;
mod training;

pub use bind::BindFor;
pub use fit::{FitReport, Outcome};
pub use options::{CheckpointOptions, FitOptions, InitOptions, ModuleNames};
pub use params::load_initializer;

use crate::Host;
use bind::Bound;
use mxrs_exec::{BindOptions, Executor, Imperative};
use mxrs_format::Checkpoint;
use mxrs_graph::{Graph, NodeId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_optim::{Parameter, Updater};
use mxrs_types::{DType, Error, Result};
use std::cell::RefCell;
use training::Training;

/// A network with everything that training it needs.
pub struct Module {
    graph: Graph,
    context: ArrayContext,
    options: BindOptions,
    nd: Imperative,
    names: ModuleNames,
    how: BindFor,
    /// The first is the one bound by the caller; others are for other shapes.
    bound: Vec<Bound>,
    current: usize,
    /// Parameters that were read before there were arrays for them.
    loaded: Option<Checkpoint>,
    is_initialized: bool,
    update: Option<Updater>,
    params: Vec<Parameter>,
    /// A checkpoint that is saved may be the first with its prefix, and makes this say so.
    training: RefCell<Training>,
}

impl Module {
    /// A module of this network, not bound yet, with inputs and labels of the usual [names](ModuleNames). Gradients in the
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
    /// An input `data` that the network does not have; out of memory.
    pub fn new(host: &impl Host, graph: &Graph) -> Result<Self> {
        Self::with_names(host, graph, ModuleNames::default())
    }

    /// As [`Self::new`], with inputs and labels of other names, or with parameters that stay as they are.
    ///
    /// # Errors
    /// A name of an input, or of a parameter to keep as it is, that the network does not have; out of memory.
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
            names,
            how: BindFor::default(),
            bound: Vec::new(),
            current: 0,
            loaded: None,
            is_initialized: false,
            update: None,
            params: Vec::new(),
            training: RefCell::default(),
        })
    }

    /// Mixed precision, as MXNet's AMP: what [`bind`](Self::bind) binds computes in this 16-bit type where that is worth it.
    /// Parameters, their gradients, checkpoints, inputs and outputs stay in float32; the network itself stays what it
    /// is, so that its checkpoints are those of training in float32. `bind` refuses other types than bfloat16 and float16;
    /// gradients in float16 may overflow, for nothing scales the loss.
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

    /// Calls of single operators on the same backends.
    pub fn imperative(&self) -> &Imperative {
        &self.nd
    }

    /// Names of inputs and labels.
    pub fn names(&self) -> &ModuleNames {
        &self.names
    }

    /// The executor that ran last, or was bound first.
    ///
    /// # Errors
    /// Nothing is bound.
    pub fn executor(&self) -> Result<&Executor> {
        Ok(&self.bound()?.executor)
    }

    /// What updates the weights, once [`init_optimizer`](Self::init_optimizer) was called.
    pub fn optimizer(&self) -> Option<&Updater> {
        self.update.as_ref()
    }

    /// Takes what is to update the weights, such as `Sgd { lr: 0.1, ..Sgd::default() }`: parameters that are not fixed, and have
    /// gradients. Gradients are scaled by one
    /// over the batch size. Factors of learning rate and weight decay are those that it has, else those of the attributes
    /// `__lr_mult__` and `__wd_mult__` of the variables: MXNet's module looks at these only where it makes the optimizer by its
    /// name, and leaves a given one as it is.
    ///
    /// # Errors
    /// The module is not bound for training; settings of the optimizer that are out of range; a learning rate or attributes that
    /// are no numbers.
    pub fn init_optimizer(&mut self, optimizer: impl Into<Updater>) -> Result<()> {
        let mut update = optimizer.into();
        update.check()?;
        let batch_size = self.batch_size()?;
        let lr = update.learning_rate();
        if !lr.is_finite() {
            return Err(Error::invalid("learning rate", lr, "a finite number"));
        }
        for &id in self.graph.variables() {
            let variable = self.graph.node(id);
            update.optimizer_mut().common_mut().mult.take_attributes(&variable.name, variable.attrs.iter())?;
        }
        update.set_rescale_grad(1.0 / batch_size as f64);
        self.params = self.parameters()?;
        self.update = Some(update);
        Ok(())
    }

    /// As [`init_optimizer`](Self::init_optimizer), by MXNet's name and settings, as command lines have them; a `rescale_grad`
    /// among them stays.
    ///
    /// # Errors
    /// As [`mxrs_optim::create`] and [`init_optimizer`](Self::init_optimizer).
    pub fn init_optimizer_named(&mut self, name: &str, settings: &[(&str, &str)]) -> Result<()> {
        let optimizer = mxrs_optim::create(name, settings)?;
        let rescale = settings.iter().any(|(key, _)| *key == "rescale_grad").then(|| optimizer.common().rescale_grad);
        self.init_optimizer(optimizer)?;
        if let (Some(rescale), Some(update)) = (rescale, &mut self.update) {
            update.set_rescale_grad(rescale);
        }
        Ok(())
    }

    /// Every parameter with a gradient.
    fn parameters(&self) -> Result<Vec<Parameter>> {
        let executor = &self.first()?.executor;
        let is_fed = |name: &str| self.names.data.iter().chain(&self.names.labels).any(|fed| fed == name);
        let trained = executor.gradients().iter().filter(|gradient| !is_fed(&gradient.name));
        let all = trained.map(|gradient| {
            let weight = executor.argument(&gradient.name)?.clone();
            Ok(Parameter { name: gradient.name.clone(), weight, grad: gradient.array.clone() })
        });
        let all = all.collect::<Result<Vec<_>>>()?;
        if all.is_empty() {
            return Err(Error::invalid("module", "no parameter with a gradient", "one bound for training"));
        }
        Ok(all)
    }

    /// Names of the outputs.
    ///
    /// # Errors
    /// Nothing is bound.
    pub fn output_names(&self) -> Result<&[String]> {
        Ok(self.executor()?.output_names())
    }

    /// Parameters and auxiliary states of the network: everything but inputs and labels. Auxiliary states come second.
    fn param_ids(&self) -> (Vec<NodeId>, Vec<NodeId>) {
        let graph = &self.graph;
        let is_fed = |id: &NodeId| {
            let name = &graph.node(*id).name;
            graph.is_label(*id) || self.names.data.contains(name) || self.names.labels.contains(name)
        };
        (graph.arguments().filter(|id| !is_fed(id)).collect(), graph.aux_states().collect())
    }

    fn bound(&self) -> Result<&Bound> {
        self.bound.get(self.current).ok_or_else(|| unbound("bind"))
    }

    fn first(&self) -> Result<&Bound> {
        self.bound.first().ok_or_else(|| unbound("bind"))
    }

    /// Rows of a batch, as bound.
    ///
    /// # Errors
    /// Nothing is bound, or inputs without axes.
    pub fn batch_size(&self) -> Result<usize> {
        let first = self.first()?.data.first().and_then(|desc| desc.shape.first().copied());
        first.ok_or_else(|| Error::invalid("inputs of a module", "none with a batch", "at least one"))
    }

    fn expect_initialized(&self) -> Result<()> {
        if self.is_initialized { Ok(()) } else { Err(unbound("init_params, or set_params")) }
    }
}

/// A call came too early.
fn unbound(first: &str) -> Error {
    Error::invalid("module", "a call before the ones it needs", format!("{first} first"))
}

/// What a batch shows to whoever watches: names with arrays.
fn named<'a>(names: &'a [String], arrays: &'a [NdArray]) -> Vec<(&'a str, &'a NdArray)> {
    names.iter().map(String::as_str).zip(arrays).collect()
}
