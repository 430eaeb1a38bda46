//! The running library: engine, the team as a thread pool, streams, layouts, counters.

use crate::objects::{Attributes, EngineObject, MemDesc, PrimDesc, StreamObject};
use crate::registry::Registry;
use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::{CpuRuntime, ThreadPool, ThreadPoolHandle, sys};
use mxrs_sync::Team;
use mxrs_types::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// The team in the form oneDNN takes.
struct TeamPool(Arc<Team>);

impl ThreadPool for TeamPool {
    fn n_threads(&self) -> usize {
        self.0.size()
    }
    fn in_parallel(&self) -> bool {
        Team::is_inside()
    }
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.0.run(n, body);
    }
}

/// What every kernel shares. Fields drop in order: streams before the pool they run on, the engine last.
pub struct Library {
    streams: Mutex<Vec<StreamObject>>,
    pool: Option<ThreadPoolHandle>,
    /// Layouts handed out.
    pub registry: Registry,
    attributes: Attributes,
    engine: EngineObject,
    /// Text of the version.
    pub version: String,
}

impl Library {
    /// Opens the library on `team`.
    ///
    /// # Errors
    /// Why there is no oneDNN in this build or on this machine.
    pub fn new(team: &Arc<Team>) -> Result<Self> {
        let version = mxrs_onednn_sys::version()?;
        let pool = match version.cpu_runtime {
            CpuRuntime::ThreadPool => Some(ThreadPoolHandle::new(Arc::new(TeamPool(team.clone())))?),
            _ => None,
        };
        // SAFETY: the out pointer is valid; engine 0 of the CPU exists wherever the library runs.
        let engine = created(|out| unsafe { result::engine_create(out, sys::dnnl_cpu, 0) }).map(EngineObject)?;
        Ok(Self {
            streams: Mutex::default(),
            pool,
            registry: Registry::default(),
            attributes: Attributes::user_scratchpad()?,
            engine,
            version: version.to_string(),
        })
    }

    /// The engine's handle.
    pub fn engine(&self) -> sys::dnnl_engine_t {
        self.engine.0
    }

    /// Attributes every primitive is created with: scratch memory is the caller's.
    pub fn attributes(&self) -> sys::const_dnnl_primitive_attr_t {
        self.attributes.0
    }

    /// Creates a primitive descriptor on this engine, planned for the team's size.
    ///
    /// # Errors
    /// What oneDNN reports: usually that it has no implementation for the combination.
    pub fn prim_desc(&self, call: impl FnOnce(*mut sys::dnnl_primitive_desc_t) -> Result<()>) -> Result<PrimDesc> {
        if let Some(pool) = &self.pool {
            pool.set_max_concurrency()?;
        }
        created(call).map(PrimDesc)
    }

    /// Lends a stream for one execution. Streams are kept and used by one thread at a time.
    ///
    /// # Errors
    /// What oneDNN or `f` reports, or a panic of the team.
    pub fn with_stream(&self, f: impl FnOnce(sys::dnnl_stream_t) -> Result<()>) -> Result<()> {
        let kept = self.streams.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stream = match kept {
            Some(stream) => stream,
            // SAFETY: the engine is alive; `streams` drops before `pool`.
            None => unsafe { result::stream_on_pool(self.engine.0, self.pool.as_ref()) }.map(StreamObject)?,
        };
        let done = f(stream.0);
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        if let Some(pool) = &self.pool {
            pool.check_panic()?;
        }
        done
    }

    /// Descriptor of a tensor in its layout.
    ///
    /// # Errors
    /// A layout from elsewhere.
    pub fn md(&self, desc: &mxrs_op::TensorDesc) -> Result<Arc<MemDesc>> {
        self.registry.md(desc)
    }
}
