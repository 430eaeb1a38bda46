//! The engine handle and what it holds.

use crate::config::{EngineConfig, EngineKind};
use crate::counters::{EngineCounters, Tally};
use crate::failure::Failures;
use crate::lifecycle::Handle;
use crate::op::{Access, Accesses, Op, OpName, Property};
use crate::pool::{Pool, PoolId, Queue};
use crate::task::TaskBuilder;
use crate::var::Var;
use crate::wait::{Idle, WaitedFor};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Workers of [`EngineKind::Threaded`], whatever the settings say.
const GLOBAL_WORKERS: usize = 16;
/// CPU device ids whose pool is found without a lock.
const FAST_IDS: usize = 8;

/// A dependency engine. Clones are handles to the same one.
///
/// Dropping the last handle finishes all pushed tasks and ends the workers.
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

/// What workers share with handles.
pub(crate) struct Inner {
    /// Unique in the process.
    pub(crate) id: u64,
    pub(crate) config: EngineConfig,
    pub(crate) tally: Tally,
    pub(crate) failures: Failures,
    pub(crate) idle: Idle,
    pub(crate) pools: Pools,
    pub(crate) stopped: AtomicBool,
    pub(crate) waited_for: WaitedFor,
}

impl Inner {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// A pool of tasks.
type TaskPool = Pool<Arc<Op>>;

/// All pools, each made at first use.
#[derive(Default)]
pub(crate) struct Pools {
    cpu: [OnceLock<Arc<TaskPool>>; FAST_IDS],
    cpu_priority: OnceLock<Arc<TaskPool>>,
    global: OnceLock<Arc<TaskPool>>,
    copy: OnceLock<Arc<TaskPool>>,
    /// CPU device ids from `FAST_IDS` up.
    more_cpu: OnceLock<RankedMutex<BTreeMap<u32, Arc<TaskPool>>>>,
}

impl Pools {
    /// Lends a pool, made now if this is its first use. No lock, but for CPU ids from `FAST_IDS` up.
    pub(crate) fn with<R>(&self, id: PoolId, config: &EngineConfig, f: impl FnOnce(&Arc<TaskPool>) -> R) -> R {
        let make = || match id {
            PoolId::Cpu(_) => Pool::new(id, config.cpu_workers.get(), Queue::fifo()),
            PoolId::CpuPriority => Pool::new(id, config.cpu_priority_workers.get(), Queue::heap()),
            PoolId::Global => Pool::new(id, GLOBAL_WORKERS, Queue::fifo()),
            PoolId::Copy => Pool::new(id, 1, Queue::fifo()),
        };
        let slot = match id {
            PoolId::CpuPriority => &self.cpu_priority,
            PoolId::Global => &self.global,
            PoolId::Copy => &self.copy,
            PoolId::Cpu(number) => match self.cpu.get(number as usize) {
                Some(slot) => slot,
                None => {
                    let pool = Arc::clone(self.more().lock().entry(number).or_insert_with(make));
                    return f(&pool);
                }
            },
        };
        f(slot.get_or_init(make))
    }

    fn more(&self) -> &RankedMutex<BTreeMap<u32, Arc<TaskPool>>> {
        self.more_cpu.get_or_init(|| RankedMutex::new(Rank::Leaf, BTreeMap::new()))
    }

    /// Those made so far.
    pub(crate) fn all(&self) -> Vec<Arc<TaskPool>> {
        let fixed = [&self.cpu_priority, &self.global, &self.copy];
        let mut all: Vec<_> = self.cpu.iter().chain(fixed).filter_map(|slot| slot.get().cloned()).collect();
        if let Some(more) = self.more_cpu.get() {
            all.extend(more.lock().values().cloned());
        }
        all
    }
}

impl Engine {
    /// An engine with these settings. Workers start with their pool's first task; those for CPU-prioritised tasks at once.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] when the system refuses a thread.
    pub fn new(config: EngineConfig) -> Result<Self> {
        // Not loom's: ids are no part of the protocol.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        if config.kind != EngineKind::default() || config.is_async {
            let suffix = if config.is_async { "Async" } else { "" };
            tracing::info!(target: "mxrs_engine", "MXNet start using engine: {}{suffix}", config.kind.word());
        }
        let inner = Arc::new(Inner {
            id: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            config,
            tally: Tally::default(),
            failures: Failures::new(),
            idle: Idle::new(),
            pools: Pools::default(),
            stopped: AtomicBool::new(false),
            waited_for: WaitedFor::new(0),
        });
        let engine = Self(Arc::new(Handle::new(inner)));
        engine.0.start_eager_pools()?;
        Ok(engine)
    }

    /// A new variable, at version 0.
    pub fn new_var(&self) -> Var {
        Var::new(self.inner().id)
    }

    /// Begins a task of this name, which messages use. Literals, owned strings and `Arc<str>` are not copied.
    pub fn task(&self, name: impl Into<OpName>) -> TaskBuilder<'_> {
        TaskBuilder::new(self, name.into())
    }

    /// Ends a variable's life: `free` runs after every use pushed so far, whatever failed, and also on a stopped engine.
    /// Uses pushed later are refused (E11).
    ///
    /// False, with `free` dropped unrun, if the variable had been deleted before or belongs to another engine.
    pub fn delete_var(&self, var: Var, free: impl FnOnce() + Send + 'static) -> bool {
        let id = var.id();
        let accesses: Accesses = std::iter::once(Access { var, write: true }).collect();
        let body = move |_: &crate::RunContext| {
            free();
            Ok(())
        };
        let name = OpName::from("delete_var");
        let pushed = self.inner().push(name, accesses, Device::cpu(0), 0, Property::DeleteVar, body);
        if let Err(error) = &pushed {
            tracing::error!(target: "mxrs_engine", "delete_var of variable {id}: {error}");
        }
        pushed.is_ok()
    }

    /// A handle that does not keep the engine alive.
    pub fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0))
    }

    /// The settings it was made with.
    pub fn config(&self) -> &EngineConfig {
        &self.inner().config
    }

    /// What it has done so far.
    pub fn counters(&self) -> EngineCounters {
        let inner = self.inner();
        let tally = &inner.tally;
        let refused = tally.refused.load(Ordering::Relaxed);
        let mut pools: Vec<_> = inner.pools.all().iter().map(|pool| pool.counters()).collect();
        pools.sort_by_key(|p| p.id);
        EngineCounters {
            pushed: tally.pushed.load(Ordering::Relaxed).saturating_sub(refused),
            completed: tally.completed.load(Ordering::Relaxed).saturating_sub(refused),
            skipped: tally.skipped.load(Ordering::Relaxed),
            failed: tally.failed.load(Ordering::Relaxed),
            pools,
        }
    }

    /// Finishes all pushed tasks and ends the workers; errors are kept for later waits. Pushes are refused until
    /// [`Engine::start`], deletions are not. From inside a task: does nothing.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Takes pushes again after [`Engine::stop`].
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn start(&self) -> Result<()> {
        self.inner().stopped.store(false, Ordering::Release);
        self.0.start_eager_pools()
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
