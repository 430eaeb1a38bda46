//! The backend: decides which calls it has a kernel for.

use crate::cache::{Cache, CacheCounters, Prepared, Signature};
use crate::kernels::{self, Prepare};
use crate::library::Library;
use crate::objects::data_type;
use mxrs_onednn_sys::result;
use mxrs_op::{Answer, Backend, DEFAULT_ALGORITHM, Kernel, Offer, OpCall, PlannedKernel, Speed, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{DType, ErrorKind, Layout, Result};
use std::sync::Arc;

/// The settings of the backend.
#[derive(Clone)]
pub struct OneDnnConfig {
    /// The threads that run the backend's loops.
    pub team: Arc<Team>,
    /// The cache keeps at most this many prepared primitives per operator (`MXNET_ONEDNN_CACHE_NUM`); `None` means no limit.
    pub cache_entries: Option<usize>,
    /// Whether the weights of fully-connected layers stay in row-major layout (`MXNET_ONEDNN_FORCE_FC_AB_FORMAT`).
    pub row_major_weights: bool,
}

/// The estimated time of a call is multiplied by this factor if the library has no fast code for the layout of the data.
/// Then other backends that read blocks of channels are preferred.
const AWKWARD: f64 = 2.0;

/// oneDNN as a backend.
pub struct OneDnn {
    library: Arc<Library>,
    cache: Cache,
    speed: Speed,
}

impl OneDnn {
    /// Opens the library.
    ///
    /// # Errors
    /// Returns the reason why oneDNN is missing from this build or does not run on this machine.
    pub fn new(config: OneDnnConfig) -> Result<Arc<Self>> {
        let library = Library::new(&config.team, config.row_major_weights)?;
        if let Some(entries) = config.cache_entries {
            // oneDNN keeps primitives in a cache of its own. Without this limit, a primitive that the cache of this crate
            // removes would stay in memory.
            // SAFETY: the call has no pointer arguments; it only sets a number inside the library.
            unsafe { result::set_primitive_cache_capacity(i32::try_from(entries).unwrap_or(i32::MAX))? };
        }
        let (library, cache) = (Arc::new(library), Cache::new(config.cache_entries));
        Ok(Arc::new(Self { library, cache, speed: Speed::here(config.team.size()) }))
    }

    /// Version and runtime of the library.
    pub fn version(&self) -> &str {
        &self.library.version
    }

    /// Counters of the primitive cache.
    pub fn cache_counters(&self) -> CacheCounters {
        self.cache.counters()
    }

    /// Returns the kernel of a call from the cache, or calls `prepare` to make it. `kind` distinguishes kernels of one call
    /// that different `prepare` functions make.
    fn prepared(&self, kind: &'static str, call: &OpCall<'_>, prepare: Prepare) -> Result<PlannedKernel> {
        let p = self.cache.get_or_prepare(kind, Signature::of(call), || prepare(&self.library, call))?;
        let Prepared { input_layouts, output_layouts, scratch_bytes, can_run_inplace, kernel } = p;
        Ok(PlannedKernel { input_layouts, output_layouts, scratch_bytes, can_run_inplace, kernel })
    }
}

fn preparer(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    let tensors = call.inputs.iter().chain(call.outputs);
    for tensor in tensors {
        if tensor.shape.n_elements() == 0 {
            return Err("oneDNN has no kernel for tensors without elements".into());
        }
        if tensor.shape.ndim() > 5 || tensor.shape.iter().any(|&d| i32::try_from(d).is_err()) {
            return Err(format!("oneDNN has no kernel for shape {}", tensor.shape));
        }
        if data_type(tensor.dtype).is_none() {
            return Err(format!("oneDNN has no element type {}", tensor.dtype));
        }
    }
    let takes_integers =
        matches!(call.op.name, "Cast" | "amp_cast" | "_sg_bn_relu_quantize") || kernels::is_quantized(call.op.name);
    if !takes_integers && !matches!(call.inputs[0].dtype, DType::F32 | DType::F16 | DType::BF16) {
        return Err(format!("{} on {}", call.op.name, call.inputs[0].dtype));
    }
    kernels::preparer(call)
}

impl Backend for OneDnn {
    fn name(&self) -> &'static str {
        "onednn"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.inputs.is_empty() {
            return Err("oneDNN has no kernel for operators without inputs".into());
        }
        let prepare = preparer(call)?;
        let prepared = move || self.prepared(call.op.name, call, prepare);
        // Only the library knows whether this processor has kernels for 16-bit and 8-bit types, so the primitive is prepared
        // here. It stays in the cache for the next offer and for the kernel.
        let is_half = |t: &TensorDesc| matches!(t.dtype, DType::F16 | DType::BF16);
        let is_special = matches!(call.op.name, "Cast" | "amp_cast") || kernels::is_quantized(call.op.name);
        if (is_special || call.inputs.iter().chain(call.outputs).any(is_half))
            && let Err(error) = prepared()
            && matches!(error.kind(), ErrorKind::NotBuilt { .. })
        {
            return Err(error.to_string());
        }
        // True if, for data in blocks of channels, the library would copy the data to another layout or use a plain loop.
        let is_awkward = matches!(call.op.name, "Pooling" | "LRN")
            && matches!(call.inputs[0].layout, Layout::Blocked { .. })
            && prepared().is_ok_and(|planned| {
                planned.input_layouts[0] != call.inputs[0].layout || planned.kernel.name().contains(":ref")
            });
        let factor = if is_awkward { AWKWARD } else { 1.0 };
        Ok(Offer::new(self.speed.times_library(call, factor), prepared))
    }

    fn algorithms(&self, call: &OpCall<'_>) -> Vec<String> {
        let mut algorithms = vec![DEFAULT_ALGORITHM.to_owned()];
        if kernels::convolution::blocked_preparer(call).is_some() {
            algorithms.push(kernels::convolution::BLOCKED.into());
        }
        algorithms
    }

    fn offer_algorithm<'a>(&'a self, call: &'a OpCall<'a>, algorithm: &str) -> Answer<'a> {
        if algorithm == DEFAULT_ALGORITHM {
            return self.offer(call);
        }
        preparer(call)?;
        let there = kernels::convolution::blocked_preparer(call).filter(|_| algorithm == kernels::convolution::BLOCKED);
        let (kind, prepare) = there.ok_or("oneDNN has no algorithm of this name for the call")?;
        Ok(Offer::new(self.speed.library(call), move || self.prepared(kind, call, prepare)))
    }

    fn setup(&self) -> String {
        format!("onednn {}", self.version())
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        if data_type(from.dtype).is_none() || !self.library.registry.knows(from) || !self.library.registry.knows(to) {
            return Ok(None);
        }
        match kernels::reorder::prepare(&self.library, from, to) {
            // On this processor, the library has no kernel that copies between these layouts.
            Err(error) if matches!(error.kind(), ErrorKind::NotBuilt { .. }) => Ok(None),
            other => other.map(Some),
        }
    }
}
