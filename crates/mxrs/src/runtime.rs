//! The runtime: engine, storage, threads, operators and backends, built from one set of settings.

use crate::backends::Backends;
use crate::capabilities::capabilities;
use crate::device::array_context;
use crate::partitioning::{Subgraphs, subgraphs};
use crate::tuning::KernelTuning;
use crate::{DevicePlug, Model, Weights, Winograd, settings};
use mxrs_engine::Engine;
use mxrs_env::{Capabilities, EnvSource, OsSource, Settings, Snapshot, Warning};
use mxrs_exec::{BindOptions, CachedOpFlags, Imperative, Search, Warned};
use mxrs_ndarray::ArrayContext;
use mxrs_op::{Backend, OpDef, OpSet};
use mxrs_processor::Processor;
use mxrs_storage::Storage;
use mxrs_sync::{Team, TeamConfig, fork, physical_cores};
use mxrs_types::{DType, DeviceKind, Result};
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
    #[cfg(feature = "data")]
    image_team: Arc<crate::image_team::ImageTeam>,
    #[cfg(feature = "kvstore")]
    stores: mxrs_kvstore::StoreRegistry,
    ops: OpSet,
    backends: Backends,
    /// The backends of the registered devices.
    of_devices: Vec<Arc<dyn Backend>>,
    subgraphs: Subgraphs,
    tuning: KernelTuning,
    warned: Arc<Warned>,
}

/// Builds a [`Runtime`] from its parts.
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
    devices: Vec<Arc<dyn DevicePlug>>,
    operators: Vec<OpDef>,
    only: Option<String>,
    winograd: Winograd,
    weights: Weights,
    search: Option<Search>,
    #[cfg(feature = "kvstore")]
    pub(crate) stores: crate::stores::AddedStores,
}

/// The source of the settings.
#[derive(Default)]
enum SettingsFrom {
    /// The environment of the process, read when the runtime is built.
    #[default]
    Process,
    /// Variables that the caller gave; they are checked when the runtime is built.
    Snapshot(Snapshot),
    /// Settings that are already checked.
    Given(Box<Settings>),
}

impl RuntimeBuilder {
    /// Uses these settings instead of reading the environment of the process.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = SettingsFrom::Given(Box::new(settings));
        self
    }

    /// Uses these variables instead of the environment of the process. They are read now and checked in [`Self::build`].
    pub fn env(self, source: &dyn EnvSource) -> Self {
        self.snapshot(Snapshot::take(source))
    }

    /// Uses the settings of a snapshot, which may contain values that were given through the API.
    pub fn snapshot(mut self, snapshot: Snapshot) -> Self {
        self.settings = SettingsFrom::Snapshot(snapshot);
        self
    }

    /// Adds a backend that is not part of mxrs.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.extra.push(backend);
        self
    }

    /// Adds a device that is not part of mxrs.
    pub fn device(mut self, device: Arc<dyn DevicePlug>) -> Self {
        self.devices.push(device);
        self
    }

    /// Adds an operator that is not part of mxrs. It runs on its reference kernel, or on a [backend](Self::backend) that
    /// offers a faster one. Networks and imperative calls find it by its name.
    pub fn operator(mut self, operator: OpDef) -> Self {
        self.operators.push(operator);
        self
    }

    /// Uses only the backend of this name; the reference kernels run calls that it does not support.
    pub fn only_backend(mut self, name: impl Into<String>) -> Self {
        self.only = Some(name.into());
        self
    }

    /// Sets which of Winograd's algorithms may run convolutions.
    pub fn winograd(mut self, winograd: Winograd) -> Self {
        self.winograd = winograd;
        self
    }

    /// Sets the type in which float32 inference stores packed weights of layers that are limited by memory bandwidth.
    /// [`Weights::Bfloat16`] halves the bytes that fully-connected layers and convolutions with few pixels read, and rounds
    /// these weights to about three decimal digits. Activations and sums stay float32. With [`Model::freeze`] the weights
    /// also need half the memory.
    pub fn weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Finds the fastest kernels by timing whenever a network is bound for inference, which takes seconds. Results are
    /// stored in a file (`MXRS_TUNING_CACHE`). Other processes use them without timing again.
    pub fn search_kernels(mut self, search: Search) -> Self {
        self.search = Some(search);
        self
    }

    /// Builds the runtime, and logs each warning of the settings once.
    ///
    /// # Errors
    /// Returns an error if an environment variable has a value that is invalid or comes too late, if an operator has the name
    /// of another one, if the backend of [`Self::only_backend`] is absent, if a [device](Self::device) cannot be used or is
    /// registered twice, if two key-value stores that were added have the same name, if the trace of `MXNET_PROFILER_AUTOSTART`
    /// cannot be written, or if the system refuses threads or memory. A [search](Self::search_kernels) may be forbidden, too.
    pub fn build(self) -> Result<Runtime> {
        let Self { settings, extra, devices, operators, only, winograd, weights, search, .. } = self;
        let (settings, mut warnings) = match settings {
            SettingsFrom::Process => Settings::from_source(&OsSource)?,
            SettingsFrom::Snapshot(snapshot) => Settings::from_snapshot(&snapshot)?,
            SettingsFrom::Given(settings) => (*settings, Vec::new()),
        };
        // The limit comes before everything that chooses kernels by what the processor has.
        warnings.extend(settings::limit_instructions(&settings)?);
        #[cfg(feature = "profiler")]
        crate::profiling::apply(&settings)?;
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
            // In a forked process, the team has one thread and the engine has the number of workers for child processes. The
            // same happens to a runtime that was created before the fork: its team is abandoned.
            team_config = TeamConfig { threads: NonZeroUsize::MIN, cpus: None };
            engine_config.cpu_workers = engine_config.child_workers;
        }
        let team = Team::new(team_config)?;
        if let Some(elements) = settings.resources.cpu_parallel_elements {
            team.share_from(elements);
        }
        // The engine itself logs every choice except the default.
        if settings.is_set("MXNET_ENGINE_TYPE") && engine_config.kind == Default::default() && !engine_config.is_async {
            tracing::info!("MXNet start using engine: {}", engine_config.kind.word());
        }
        let mut engine = Engine::builder(engine_config);
        if let Some(threads) = settings::kept_back_for_gpus(&settings, team.size()) {
            let team = Arc::clone(&team);
            engine = engine.at_first_gpu_task(move || team.keep_back(threads));
        }
        let arrays = array_context(engine, &settings, &devices)?;
        let mut backends = Backends::load(&settings, &team, extra, settings::nnpack(&settings, winograd, weights));
        let has_gpu = devices.iter().any(|device| device.device().kind == DeviceKind::Gpu);
        let capabilities = capabilities(&settings, topology.as_ref(), &backends, has_gpu);
        log_warnings(&settings.warnings_without_effect(&capabilities));
        log_warnings(&settings::overruled(&settings));
        if let Some(name) = only {
            backends = backends.keep_only(&name)?;
        }
        let host = backends.list();
        let of_devices = devices.iter().flat_map(|device| device.backends(&host)).collect();
        let search = search.map(|search| search.on_devices(&arrays));
        let tuning = KernelTuning::new(&settings, &backends, team.size(), search)?;
        let subgraphs = subgraphs(&settings, &backends)?;
        log_warnings(&subgraphs.warnings);
        let ops = mxrs_ops::catalog().extended(operators)?;
        let warned = Arc::default();
        #[cfg(feature = "kvstore")]
        let stores = self.stores.registry(&settings)?;
        let shared = Shared {
            settings,
            capabilities,
            arrays,
            team,
            #[cfg(feature = "data")]
            image_team: crate::image_team::ImageTeam::new(),
            #[cfg(feature = "kvstore")]
            stores,
            ops,
            backends,
            of_devices,
            subgraphs,
            tuning,
            warned,
        };
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
    /// Starts to build a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// A runtime with the settings of the process's environment and every backend of this build.
    ///
    /// # Errors
    /// Fails as [`RuntimeBuilder::build`] does.
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// Reads `<prefix>-symbol.json` and `<prefix>-NNNN.params`; the same as [`Model::load`].
    ///
    /// # Errors
    /// Fails as [`Model::load`] does.
    pub fn load_checkpoint(&self, prefix: impl AsRef<Path>, epoch: u64) -> Result<Model> {
        Model::load(self, prefix, epoch)
    }

    /// The settings from which the runtime was built.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Peak float32 operations per second of the team's threads, without memory access, where a multiply-add counts as two.
    /// Kernel speeds are compared with it. The measurement takes `patience`.
    pub fn peak_flops(&self, patience: Duration) -> f64 {
        mxrs_processor::peak_flops(self.team(), patience)
    }

    /// Peak operations per second of the team's threads on numbers of a dtype, without memory access, where a multiply-add
    /// counts as two. Supports float32, bfloat16 (widened to float32 if the processor does not multiply it), int8 and uint8.
    /// Returns `None` for other dtypes, and for integers if the processor has no instruction that multiplies and adds them.
    /// Also returns `None` if the processor has matrix units for the dtype, because these are not measured. The measurement
    /// takes `patience`.
    pub fn peak_ops(&self, dtype: DType, patience: Duration) -> Option<f64> {
        mxrs_processor::peak_ops(self.team(), dtype, patience)
    }

    /// The capabilities that environment variables need, and which of them this build and machine have. A variable is
    /// in effect if what it needs is there.
    pub fn capabilities(&self) -> &Capabilities {
        &self.shared.capabilities
    }

    /// Engine and storage, in the form in which arrays take them.
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
    /// shared: the team's size is 1.
    pub fn team(&self) -> &Arc<Team> {
        &self.shared.team
    }

    #[cfg(feature = "data")]
    pub(crate) fn image_team(&self) -> &Arc<crate::image_team::ImageTeam> {
        &self.shared.image_team
    }

    #[cfg(feature = "kvstore")]
    pub(crate) fn stores(&self) -> &mxrs_kvstore::StoreRegistry {
        &self.shared.stores
    }

    /// The operators.
    pub fn ops(&self) -> &OpSet {
        &self.shared.ops
    }

    /// The backends of this runtime, and known backends that are absent.
    pub fn backends(&self) -> &Backends {
        &self.shared.backends
    }

    /// Runs and records single operators on arrays of this runtime, according to the settings.
    ///
    /// # Errors
    /// Returns an error if memory is exhausted.
    pub fn imperative(&self) -> Result<Imperative> {
        Imperative::with(self.arrays(), &self.bind_options(), settings::imperative(self.settings()))
    }

    /// Adds the kernels that searches have found to the tuning file, and returns its path; `None` if nothing was found or no
    /// file is used. [`Model::bind`] calls this.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn keep_kernels(&self) -> Result<Option<PathBuf>> {
        self.shared.tuning.keep()
    }

    /// Default flags of a [`CachedOp`](mxrs_exec::CachedOp): segment sizes and number of cached plans.
    pub fn cached_op_flags(&self) -> CachedOpFlags {
        settings::cached_op(self.settings())
    }

    /// Options for binding graphs according to the settings: backends, team, planner, segments, recomputation and passes.
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
            ..BindOptions::new(
                self.backends().list().into_iter().chain(self.shared.of_devices.iter().cloned()).collect(),
            )
        }
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
