//! The state of the opened library: its engine, its thread pool (the team), its streams, and the layouts that it uses.

use crate::objects::{Attributes, EngineObject, MemDesc, PrimDesc, StreamObject, dims};
use crate::registry::Registry;
use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::{CpuRuntime, ThreadPool, ThreadPoolHandle, sys};
use mxrs_sync::Team;
use mxrs_types::{DType, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Loads oneDNN for the whole process, in a build that loads it at run time: from `file`, or else from the first file that is
/// found, also in the conda environment in the folder `conda`. A library that is loaded already stays. Without this call,
/// [`OneDnn::new`](crate::OneDnn::new) loads the first that is found outside of conda.
///
/// # Errors
/// Fails if no file can be loaded, with the reason of each attempt; if another file than `file` is loaded already; or if this
/// build does not load oneDNN and `file` is given.
pub fn load_library(file: Option<&Path>, conda: Option<&Path>) -> Result<()> {
    match file {
        Some(_) => mxrs_onednn_sys::open(file).map(drop),
        None => mxrs_onednn_sys::find(conda).map(drop),
    }
}

/// The team as a thread pool for oneDNN.
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

/// The state that all kernels share. Fields are dropped in the order of declaration: the streams before the pool that they
/// run on, and the engine last.
pub struct Library {
    streams: Mutex<Vec<StreamObject>>,
    pool: Option<ThreadPoolHandle>,
    /// The layouts that have an arrangement in oneDNN.
    pub registry: Registry,
    attributes: Attributes,
    row_major_weights: bool,
    engine: EngineObject,
    /// The library's version as text.
    pub version: String,
}

impl Library {
    /// Opens the library on `team`.
    ///
    /// # Errors
    /// Returns the reason why oneDNN is missing from this build or does not run on this machine.
    pub fn new(team: &Arc<Team>, row_major_weights: bool) -> Result<Self> {
        let version = mxrs_onednn_sys::version()?;
        let pool = match version.cpu_runtime {
            CpuRuntime::ThreadPool => Some(ThreadPoolHandle::new(Arc::new(TeamPool(team.clone())))?),
            _ => None,
        };
        // SAFETY: the out pointer is valid for the call; the other arguments are numbers. Engine 0 of the CPU exists on
        // every machine that the library runs on.
        let engine = created(|out| unsafe { result::engine_create(out, sys::dnnl_cpu, 0) }).map(EngineObject)?;
        Ok(Self {
            streams: Mutex::default(),
            pool,
            registry: Registry::default(),
            attributes: Attributes::user_scratchpad()?,
            engine,
            row_major_weights,
            version: version.to_string(),
        })
    }

    /// The engine's handle.
    pub fn engine(&self) -> sys::dnnl_engine_t {
        self.engine.0
    }

    /// The descriptor of weights `[n_out, k]` of a fully-connected layer: in the layout that the library prefers, or in
    /// row-major layout if the settings say so.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn layer_weights(&self, n_out: usize, k: usize, dtype: DType) -> Result<MemDesc> {
        let sizes = dims([n_out, k]);
        if self.row_major_weights { MemDesc::dense(&sizes, dtype) } else { MemDesc::any(&sizes, dtype) }
    }

    /// The attributes with which every primitive is created. They say that the caller provides the scratch memory.
    pub fn attributes(&self) -> sys::const_dnnl_primitive_attr_t {
        self.attributes.0
    }

    /// Creates a primitive descriptor on this engine, planned for the size of the team.
    ///
    /// # Errors
    /// The error that oneDNN reports, usually that it has no implementation for the combination.
    pub fn prim_desc(&self, call: impl FnOnce(*mut sys::dnnl_primitive_desc_t) -> Result<()>) -> Result<PrimDesc> {
        if let Some(pool) = &self.pool {
            pool.set_max_concurrency()?;
        }
        created(call).map(PrimDesc)
    }

    /// Calls `f` with a stream for one execution. Streams are kept for reuse; each is used by one thread at a time.
    ///
    /// # Errors
    /// Returns the error of oneDNN or of `f`, or an error if the team has panicked.
    pub fn with_stream(&self, f: impl FnOnce(sys::dnnl_stream_t) -> Result<()>) -> Result<()> {
        let kept = self.streams.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stream = match kept {
            Some(stream) => stream,
            // SAFETY: `self` owns the engine, so it is alive. The fields drop in order, `streams` before `pool`, so no
            // stream outlives its pool.
            None => unsafe { result::stream_on_pool(self.engine.0, self.pool.as_ref()) }.map(StreamObject)?,
        };
        let done = f(stream.0);
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        if let Some(pool) = &self.pool {
            pool.check_panic()?;
        }
        done
    }

    /// The descriptor of a tensor in its layout.
    ///
    /// # Errors
    /// Fails if oneDNN does not have the layout.
    pub fn md(&self, desc: &mxrs_op::TensorDesc) -> Result<Arc<MemDesc>> {
        self.registry.md(desc)
    }
}
