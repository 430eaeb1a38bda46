//! The runtime: everything a program needs once, made from one set of settings.

use crate::backends::Backends;
use crate::capabilities::capabilities;
use crate::image_team::ImageTeam;
use crate::partitioning::{Subgraphs, subgraphs};
use crate::tuning::KernelTuning;
use crate::{Model, Winograd, settings};
use mxrs_backend_nnpack::{Processor, Weights};
use mxrs_data::ImageThreads;
use mxrs_engine::Engine;
use mxrs_env::{Capabilities, EnvSource, OsSource, Settings, Snapshot, Warning};
use mxrs_exec::{BindOptions, CachedOpFlags, Imperative, Search, Warned};
use mxrs_ndarray::ArrayContext;
use mxrs_op::{Backend, OpDef, OpSet};
use mxrs_optim::Optimizer;
use mxrs_quantize::QuantizeOptions;
use mxrs_storage::Storage;
use mxrs_sync::{Team, TeamConfig, fork, physical_cores};
use mxrs_types::{DType, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Settings, engine, storage, thread team, operators and backends. Clones are handles to the same runtime.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    capabilities: Capabilities,
    arrays: ArrayContext,
    team: Arc<Team>,
    image_team: Arc<ImageTeam>,
    ops: OpSet,
    backends: Backends,
    subgraphs: Subgraphs,
    tuning: KernelTuning,
    warned: Arc<Warned>,
}

/// Collects what a [`Runtime`] is made of.
///
/// ```
/// use mxrs::Runtime;
/// use mxrs::env::MapSource;
///
/// let variables = MapSource::new([("MXNET_ENGINE_TYPE", "NaiveEngine"), ("OMP_NUM_THREADS", "1")]);
/// let runtime = Runtime::builder().env(&variables).only_backend("reference").build()?;
/// assert_eq!(runtime.team().size(), 1);
/// # Ok::<(), mxrs::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct RuntimeBuilder {
    settings: SettingsFrom,
    extra: Vec<Arc<dyn Backend>>,
    operators: Vec<OpDef>,
    only: Option<String>,
    winograd: Winograd,
    weights: Weights,
    search: Option<Search>,
}

/// Where settings come from.
#[derive(Default)]
enum SettingsFrom {
    /// The environment of the process, when the runtime is built.
    #[default]
    Process,
    /// Variables that the caller chose, still to be checked.
    Snapshot(Snapshot),
    /// Finished settings.
    Given(Box<Settings>),
}

impl RuntimeBuilder {
    /// Takes these settings instead of reading the environment of the process.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = SettingsFrom::Given(Box::new(settings));
        self
    }

    /// Reads settings from these variables instead of those of the process: now, and checks them in [`Self::build`].
    pub fn env(self, source: &dyn EnvSource) -> Self {
        self.snapshot(Snapshot::take(source))
    }

    /// Takes settings from a snapshot, which may hold values given through the API.
    pub fn snapshot(mut self, snapshot: Snapshot) -> Self {
        self.settings = SettingsFrom::Snapshot(snapshot);
        self
    }

    /// Adds a backend from outside mxrs.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.extra.push(backend);
        self
    }

    /// Adds an operator from outside mxrs. It runs on its reference kernel, and on a backend that [offers](Self::backend) a
    /// faster one. Networks and imperative calls find it by its name.
    pub fn operator(mut self, operator: OpDef) -> Self {
        self.operators.push(operator);
        self
    }

    /// Uses the backend of this name only; the reference kernels still run what it cannot.
    pub fn only_backend(mut self, name: impl Into<String>) -> Self {
        self.only = Some(name.into());
        self
    }

    /// Which of Winograd's algorithms may run convolutions.
    pub fn winograd(mut self, winograd: Winograd) -> Self {
        self.winograd = winograd;
        self
    }

    /// How inference in float32 keeps packed weights of layers that wait for them: [`Weights::Bfloat16`] reads half the bytes of
    /// fully-connected layers and of convolutions of few pixels, and rounds these weights to three digits. Activations
    /// and sums stay float32. With [`Model::freeze`] the weights take half the memory too.
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Looks for the fastest kernels by timing whenever a network is bound for inference, which takes seconds. Results are
    /// kept in a file (`MXRS_TUNING_CACHE`) and used by other processes, which do not look for more.
    pub fn search_kernels(mut self, search: Search) -> Self {
        self.search = Some(search);
        self
    }

    /// Makes the runtime, and logs the warnings of the settings, each once.
    ///
    /// # Errors
    /// A bad value of a variable; an operator with the name of another one; a backend asked for by name that is not there; a search for kernels that a variable forbids;
    /// threads or memory refused by the system.
    pub fn build(self) -> Result<Runtime> {
        let Self { settings, extra, operators, only, winograd, weights, search } = self;
        let (settings, warnings) = match settings {
            SettingsFrom::Process => Settings::from_source(&OsSource)?,
            SettingsFrom::Snapshot(snapshot) => Settings::from_snapshot(&snapshot)?,
            SettingsFrom::Given(settings) => (*settings, Vec::new()),
        };
        let topology = settings::topology(&settings);
        log_warnings(&warnings);
        if let Some(warning) = settings::affinity_warning(&settings, topology.as_ref()) {
            tracing::warn!("{warning}");
        }
        let mut team_config = settings::team(&settings, physical_cores(), topology.as_ref());
        if settings.threads.affinity.as_ref().is_some_and(|affinity| affinity.verbose) {
            match &team_config.cpus {
                Some(cpus) => {
                    tracing::info!("KMP_AFFINITY: team threads are pinned to the cpus {cpus:?}, in this order")
                }
                None => tracing::info!("KMP_AFFINITY: team threads are not pinned"),
            }
        }
        let mut engine_config = settings::engine(&settings);
        if fork::is_child() {
            // A runtime that was made before the fork is the same here: its team is left behind, its engine counts anew.
            team_config = TeamConfig { threads: NonZeroUsize::MIN, cpus: None };
            engine_config.cpu_workers = engine_config.child_workers;
        }
        let team = Team::new(team_config)?;
        if let Some(elements) = settings.resources.cpu_parallel_elements {
            team.share_from(elements);
        }
        // The engine itself announces every choice but the default.
        if settings.is_set("MXNET_ENGINE_TYPE") && engine_config.kind == Default::default() && !engine_config.is_async {
            tracing::info!("MXNet start using engine: {}", engine_config.kind.word());
        }
        let mut engine = Engine::builder(engine_config);
        if let Some(threads) = settings::kept_back_for_gpus(&settings, team.size()) {
            let team = Arc::clone(&team);
            engine = engine.at_first_gpu_task(move || team.keep_back(threads));
        }
        let arrays = ArrayContext::with_resources(
            engine.build()?,
            Storage::new(settings::storage(&settings))?,
            settings::resources(&settings),
        );
        let mut backends = Backends::load(&settings, &team, extra, settings::nnpack(&settings, winograd, weights));
        let capabilities = capabilities(&settings, topology.as_ref(), &backends);
        log_warnings(&settings.warnings_without_effect(&capabilities));
        log_warnings(&settings::overruled(&settings));
        if let Some(name) = only {
            backends = backends.keep_only(&name)?;
        }
        let tuning = KernelTuning::new(&settings, &backends, team.size(), search)?;
        let subgraphs = subgraphs(&settings, &backends)?;
        log_warnings(&subgraphs.warnings);
        let ops = mxrs_ops::catalog().extended(operators)?;
        let image_team = ImageTeam::new();
        let warned = Arc::default();
        let shared =
            Shared { settings, capabilities, arrays, team, image_team, ops, backends, subgraphs, tuning, warned };
        Ok(Runtime { shared: Arc::new(shared) })
    }
}

fn log_warnings(warnings: &[Warning]) {
    for warning in warnings {
        if warning.is_about_shared_name() {
            tracing::debug!("{warning}");
        } else {
            tracing::warn!("{warning}");
        }
    }
}

impl Runtime {
    /// Begins a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// A runtime with the settings of the process's environment and every backend of this build.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// Reads `<prefix>-symbol.json` and `<prefix>-NNNN.params`; the same as [`Model::load`].
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_checkpoint(&self, prefix: impl AsRef<Path>, epoch: u64) -> Result<Model> {
        Model::load(self, prefix, epoch)
    }

    /// The settings it was made from.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Float32 operations per second that the threads of loops reach at best, a multiply-add being two, without reading
    /// memory: what kernels are measured against. Takes `patience`.
    pub fn peak_flops(&self, patience: Duration) -> f64 {
        mxrs_backend_nnpack::peak_flops(self.team(), patience)
    }

    /// Operations per second that the threads of loops reach at best on numbers of a type, a multiply-add being two, without
    /// reading memory: float32, bfloat16, which is widened where there are no products of it, int8 or uint8. `None` for others,
    /// for integers where no instruction multiplies and adds them, and where the processor has units for matrices of them,
    /// which are not measured. Takes `patience`.
    pub fn peak_ops(&self, dtype: DType, patience: Duration) -> Option<f64> {
        mxrs_backend_nnpack::peak_ops(self.team(), dtype, patience)
    }

    /// What this build and machine can do with variables: from it follows which of them are in effect.
    pub fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    /// Engine and storage, as arrays take them.
    pub fn arrays(&self) -> &ArrayContext {
        &self.shared.arrays
    }

    /// The dependency engine.
    pub fn engine(&self) -> &Engine {
        self.shared.arrays.engine()
    }

    /// The memory pools.
    pub fn storage(&self) -> &Storage {
        self.shared.arrays.storage()
    }

    /// The threads that share the loop of one operator. In a forked process (a worker of a data loader) loops are not
    /// shared: its size is 1 there.
    pub fn team(&self) -> &Arc<Team> {
        &self.shared.team
    }

    /// The threads that share the work on one image, to be handed to [`mxrs_data::resize_on`] and its like: the calling
    /// one alone, and in a worker of a data loader (a forked process, or a thread of [`mxrs_data::DataLoader`])
    /// `MXNET_MP_OPENCV_NUM_THREADS`, made at the first image there.
    pub fn image_threads(&self) -> ImageThreads {
        let n_threads = usize::try_from(self.settings().threads.mp_image_threads).ok().and_then(NonZeroUsize::new);
        n_threads.map_or_else(ImageThreads::calling, |n_threads| self.shared.image_team.threads(n_threads))
    }

    /// The operators.
    pub fn ops(&self) -> &OpSet {
        &self.shared.ops
    }

    /// The backends that are there, and those that are not.
    pub fn backends(&self) -> &Backends {
        &self.shared.backends
    }

    /// Calls of single operators on arrays of this runtime, and their recording, as the settings say.
    ///
    /// # Errors
    /// Out of memory.
    pub fn imperative(&self) -> Result<Imperative> {
        Imperative::with(self.arrays(), &self.bind_options(), settings::imperative(self.settings()))
    }

    /// An optimizer by MXNet's name, with settings as texts: [`mxrs_optim::create`]. Programs write
    /// [`optimizers::Sgd`](mxrs_optim::optimizers::Sgd) and its like.
    ///
    /// # Errors
    /// An unknown name, settings that it refuses.
    pub fn optimizer(&self, name: &str, params: &[(&str, &str)]) -> Result<Box<dyn Optimizer>> {
        mxrs_optim::create(name, params)
    }

    /// Adds the kernels that searches have found to the file they are kept in, which is returned; `None` where nothing was
    /// found or nothing is kept. [`Model::bind`] does it by itself.
    ///
    /// # Errors
    /// Those of writing.
    pub fn keep_kernels(&self) -> Result<Option<PathBuf>> {
        self.shared.tuning.keep()
    }

    /// The switches of a [`CachedOp`](mxrs_exec::CachedOp) whose caller says nothing else: bulks and number of plans.
    pub fn cached_op_flags(&self) -> CachedOpFlags {
        settings::cached_op(self.settings())
    }

    /// How networks are quantized where a caller says nothing else: whether it is logged what becomes of each node
    /// (`MXNET_QUANTIZATION_VERBOSE`).
    pub fn quantize_options(&self) -> QuantizeOptions {
        QuantizeOptions { verbose: self.settings().graph.quantization_verbose, ..QuantizeOptions::default() }
    }

    /// How graphs are bound: backends, team, planner, bulks, recomputation and passes as the settings say.
    pub fn bind_options(&self) -> BindOptions {
        let settings = self.settings();
        let (bulk_train_forward, bulk_train_backward) = settings::training_bulks(settings);
        BindOptions {
            tuning: self.shared.tuning.tuning().clone(),
            team: Arc::clone(self.team()),
            plan: settings::planner(settings),
            bulk_inference: settings.bulk.inference,
            bulk_train_forward,
            bulk_train_backward,
            grad_sum_cap: settings.graph.grad_sum_cap,
            recompute: settings::recompute(settings),
            eliminate_common: settings.graph.eliminate_common,
            fuse: settings.graph.use_fusion,
            fuse_verbose: settings.cuda.rtc_verbose,
            patterns: Arc::clone(&self.shared.subgraphs.patterns),
            pattern_backend: self.shared.subgraphs.backend,
            pattern_verbosity: self.shared.subgraphs.verbosity,
            optimizer_aggregation: settings.resources.optimizer_aggregation.into(),
            half_products: Processor::multiplies_bfloat16(),
            warned: Arc::clone(&self.shared.warned),
            ops: self.ops().clone(),
            ..BindOptions::new(self.backends().list())
        }
    }
}

impl mxrs_train::Host for Runtime {
    fn arrays(&self) -> &ArrayContext {
        Self::arrays(self)
    }

    fn bind_options(&self) -> BindOptions {
        Self::bind_options(self)
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("engine", &self.engine().config().kind.word())
            .field("team", &self.team().size())
            .field("backends", self.backends())
            .finish_non_exhaustive()
    }
}
