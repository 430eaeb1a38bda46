//! The engine handle and the state behind it.

use crate::bulk::Buffers;
use crate::busy::Busy;
use crate::config::EngineConfig;
use crate::counters::{EngineCounters, Tally};
use crate::failure::Failures;
use crate::fork_reset::ForkReset;
use crate::gpu::{GpuDevice, Gpus, OnUse, VarEvents};
use crate::lifecycle::Handle;
use crate::op::{OpName, Property, Synchronous, Use};
use crate::pool::{Order, Pool, PoolId};
use crate::records;
use crate::task::TaskBuilder;
use crate::var::Var;
use crate::wait::{Idle, WaitedFor};
use crate::watch::{self, Watch};
use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use mxrs_sync::{OnceLock, Rank, RankedMutex, fork};
use mxrs_types::EngineKind;
use mxrs_types::{Device, DeviceEvent, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// The number of workers of [`EngineKind::Threaded`]; fixed, as in MXNet.
const GLOBAL_WORKERS: usize = 16;
/// The pools of CPU device ids below this number are found without a lock.
const FAST_IDS: usize = 8;

/// A dependency engine. Clones are handles to the same engine.
///
/// Dropping the last handle waits for all pushed tasks and ends the workers.
#[derive(Clone)]
pub struct Engine(Arc<Handle>);

/// A handle that does not keep the engine alive; made by [`Engine::downgrade`].
#[derive(Clone, Debug)]
pub struct WeakEngine(Weak<Handle>);

impl WeakEngine {
    /// The engine, unless its last handle is gone.
    pub fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(Engine)
    }
}

/// The state that handles and workers share.
pub(crate) struct Inner {
    /// The engine's id, unique in the process.
    pub(crate) id: u32,
    pub(crate) config: EngineConfig,
    pub(crate) tally: Tally,
    pub(crate) failures: Failures,
    pub(crate) idle: Idle,
    pub(crate) pools: Pools,
    pub(crate) gpus: Gpus,
    pub(crate) buffers: Buffers,
    pub(crate) watch: Option<Watch>,
    pub(crate) lifecycle: ForkReset<RankedMutex<()>>,
    pub(crate) stopped: AtomicBool,
    pub(crate) waited_for: WaitedFor,
    /// The process in which the engine was made, as a number ([`mxrs_sync::fork::generation`]).
    pub(crate) born_in: u64,
    /// The process in which the engine's workers were last started, as a number like `born_in`.
    pub(crate) generation: AtomicU64,
}

impl Inner {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// All pools; each is made at its first use.
pub(crate) struct Pools {
    engine: u32,
    /// The process in which the engine was made, as a number ([`mxrs_sync::fork::generation`]).
    born_in: u64,
    cpu: [OnceLock<Arc<Pool>>; FAST_IDS],
    cpu_priority: OnceLock<Arc<Pool>>,
    global: OnceLock<Arc<Pool>>,
    copy: OnceLock<Arc<Pool>>,
    /// Pools of GPUs, and of CPU device ids from `FAST_IDS` up.
    more: RankedMutex<BTreeMap<PoolId, Arc<Pool>>>,
}

impl Pools {
    fn new(engine: u32) -> Self {
        let more = RankedMutex::new(Rank::Leaf, BTreeMap::new());
        Self {
            engine,
            born_in: fork::generation(),
            cpu: std::array::from_fn(|_| OnceLock::new()),
            cpu_priority: OnceLock::new(),
            global: OnceLock::new(),
            copy: OnceLock::new(),
            more,
        }
    }

    /// Calls `f` with a pool, which is made if this is its first use. Takes no lock except for GPUs and CPU ids from
    /// `FAST_IDS` up.
    #[inline]
    pub(crate) fn with<R>(&self, id: PoolId, config: &EngineConfig, f: impl FnOnce(&Arc<Pool>) -> R) -> R {
        let engine = self.engine;
        let in_child = || fork::generation() != self.born_in;
        let cpu_workers = || if in_child() { config.child_workers.get() } else { config.cpu_workers.get() };
        let make = || match id {
            PoolId::Cpu(_) => Pool::new(engine, id, cpu_workers(), config.child_workers.get(), Order::Fifo),
            PoolId::CpuPriority => Pool::new(engine, id, config.cpu_priority_workers.get(), 1, Order::Priority),
            PoolId::Global => Pool::new(engine, id, GLOBAL_WORKERS, 1, Order::Fifo),
            PoolId::Copy => Pool::new(engine, id, 1, 1, Order::Fifo),
            PoolId::Gpu(_) => Pool::new(engine, id, config.gpu_workers.get(), 1, Order::Fifo),
            PoolId::GpuPriority(_) => Pool::new(engine, id, config.gpu_workers.get(), 1, Order::Priority),
            PoolId::GpuCopy(_) => Pool::new(engine, id, config.gpu_copy_workers.get(), 1, Order::Priority),
            PoolId::GpuWait(_) => Pool::new(engine, id, config.gpu_copy_workers.get(), 1, Order::Fifo),
        };
        let slot = match id {
            PoolId::CpuPriority => &self.cpu_priority,
            PoolId::Global => &self.global,
            PoolId::Copy => &self.copy,
            PoolId::Cpu(number) if (number as usize) < FAST_IDS => &self.cpu[number as usize],
            _ => {
                let pool = Arc::clone(self.more.lock().entry(id).or_insert_with(make));
                return f(&pool);
            }
        };
        f(slot.get_or_init(make))
    }

    /// The pools made so far.
    pub(crate) fn all(&self) -> Vec<Arc<Pool>> {
        let fixed = [&self.cpu_priority, &self.global, &self.copy];
        let mut all: Vec<_> = self.cpu.iter().chain(fixed).filter_map(|slot| slot.get().cloned()).collect();
        all.extend(self.more.lock().values().cloned());
        all
    }
}

/// Builds an engine; see [`Engine::builder`].
#[derive(Debug)]
#[must_use = "an engine is made by `build`"]
pub struct EngineBuilder {
    config: EngineConfig,
    gpus: Vec<Arc<dyn GpuDevice>>,
    at_first_gpu_task: OnUse,
}

impl EngineBuilder {
    /// Adds a GPU, so that tasks may be pushed for it.
    pub fn gpu(mut self, gpu: Arc<dyn GpuDevice>) -> Self {
        self.gpus.push(gpu);
        self
    }

    /// Calls `then` when the first GPU task is pushed, on the thread that pushes it. `then` must not push or wait.
    pub fn at_first_gpu_task(mut self, then: impl Fn() + Send + Sync + 'static) -> Self {
        self.at_first_gpu_task = OnUse(Some(Box::new(then)));
        self
    }

    /// Builds the engine. The workers of a pool start with its first task, except those for CPU-prioritized tasks,
    /// which start immediately.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if the system refuses a thread, [`mxrs_types::ErrorKind::InvalidValue`] for a
    /// device that is not a GPU or was added twice.
    pub fn build(self) -> Result<Engine> {
        // The standard library's atomic even under loom, because ids are not part of the protocol.
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let Self { config, gpus, at_first_gpu_task } = self;
        let gpus = Gpus::new(gpus, config.stream_layout())?.at_first_use(at_first_gpu_task);
        if config.kind != EngineKind::default() || config.is_async {
            let suffix = if config.is_async { "Async" } else { "" };
            tracing::info!(target: "mxrs_engine", "MXNet start using engine: {}{suffix}", config.kind.word());
        }
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let stall_after = config.stall_after;
        records::note_engine(&config);
        let inner = Arc::new(Inner {
            id,
            watch: stall_after.map(|_| Watch::new()),
            config,
            tally: Tally::default(),
            failures: Failures::new(),
            idle: Idle::new(),
            pools: Pools::new(id),
            gpus,
            buffers: Buffers::new(),
            lifecycle: ForkReset::new(|| RankedMutex::new(Rank::EngineLifecycle, ())),
            stopped: AtomicBool::new(false),
            waited_for: WaitedFor::new(0),
            born_in: fork::generation(),
            generation: AtomicU64::new(fork::generation()),
        });
        if let Some(after) = stall_after {
            watch::start(&inner, after)?;
        }
        let engine = Engine(Arc::new(Handle::new(inner)));
        engine.0.start_eager_pools()?;
        Ok(engine)
    }
}

impl Engine {
    /// Makes an engine with these settings and without a GPU.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if the system refuses a thread.
    pub fn new(config: EngineConfig) -> Result<Self> {
        Self::builder(config).build()
    }

    /// Starts to build an engine with these settings.
    pub fn builder(config: EngineConfig) -> EngineBuilder {
        EngineBuilder { config, gpus: Vec::new(), at_first_gpu_task: OnUse::default() }
    }

    /// A new variable, at version 0.
    pub fn new_var(&self) -> Var {
        Var::new(self.inner().id)
    }

    /// A new variable for memory that device work from before still uses: until the first write is ordered, every task
    /// that uses the variable waits for these events, on the device if it can.
    pub fn new_var_after(&self, events: Vec<Arc<dyn DeviceEvent>>) -> Var {
        let var = self.new_var();
        if !events.is_empty() {
            var.cell().with_events(|known| *known = VarEvents::of_former(events));
        }
        var
    }

    /// Starts to describe a task. Messages contain its name; literals, owned strings and `Arc<str>` are not copied.
    pub fn task(&self, name: impl Into<OpName>) -> TaskBuilder<'_> {
        TaskBuilder::new(self, name.into())
    }

    /// Deletes a variable: `free` runs after every use pushed so far, even if uses failed and even if the engine is stopped.
    /// Later uses are refused (rule E11 of [`crate::var`]). The deletion waits for device work of earlier uses.
    ///
    /// Returns false and drops `free` without running it if the variable is already deleted or belongs to another
    /// engine.
    pub fn delete_var(&self, var: Var, free: impl FnOnce() + Send + 'static) -> bool {
        self.delete_var_with(var, |events| {
            for event in events {
                // A failure is ignored here: the task whose work failed has reported it, or the next wait for the
                // device will.
                let _ = event.wait();
            }
            free();
        })
    }

    /// [`Engine::delete_var`] without waiting for devices: `free` gets the events of device work that may still use the
    /// variable's memory, so that it can pass them on to the next user of that memory.
    pub fn delete_var_with(&self, var: Var, free: impl FnOnce(Vec<Arc<dyn DeviceEvent>>) + Send + 'static) -> bool {
        let id = var.id();
        let body = Synchronous(move |context: &crate::RunContext| {
            free(context.take_events().into_vec());
            Ok(())
        });
        let name = OpName::from("delete_var");
        let uses = [Use::new(&var, true)].into_iter().collect();
        let pushed = self.inner().push(name, uses, Device::cpu(0), 0, Property::DeleteVar, body);
        if let Err(error) = &pushed {
            tracing::error!(target: "mxrs_engine", "delete_var of variable {id}: {error}");
        }
        pushed.is_ok()
    }

    /// A handle that does not keep the engine alive.
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0))
    }

    /// The settings that the engine was made with.
    pub fn config(&self) -> &EngineConfig {
        &self.inner().config
    }

    /// The engine's counters now.
    pub fn counters(&self) -> EngineCounters {
        let inner = self.inner();
        let _busy = Busy::enter();
        let tally = &inner.tally;
        let refused = tally.refused.load(Ordering::Relaxed);
        let mut pools: Vec<_> = inner.pools.all().iter().map(|pool| pool.counters()).collect();
        pools.sort_by_key(|p| p.id);
        EngineCounters {
            pushed: tally.pushed.load(Ordering::Relaxed).saturating_sub(refused),
            completed: tally.completed.load(Ordering::Relaxed).saturating_sub(refused),
            bulked: tally.bulked.load(Ordering::Relaxed),
            skipped: tally.skipped.load(Ordering::Relaxed),
            failed: tally.failed.load(Ordering::Relaxed),
            pools,
        }
    }

    /// Waits for all pushed tasks and ends the workers; errors are kept for later waits. Pushes are refused until
    /// [`Engine::start`], but deletions are accepted. Does nothing inside a task.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Accepts pushes again after [`Engine::stop`], and waits for a stop that is still in progress. Does nothing inside
    /// a task.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::new`].
    pub fn start(&self) -> Result<()> {
        self.0.start()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        self.0.inner()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner();
        f.debug_struct("Engine").field("id", &inner.id).field("config", &inner.config).finish_non_exhaustive()
    }
}
