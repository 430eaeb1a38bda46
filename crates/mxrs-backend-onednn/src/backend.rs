//! The backend: which calls it takes, and who prepares them.

use crate::cache::{Cache, CacheCounters, Prepared, Signature};
use crate::kernels::{self, Prepare};
use crate::library::Library;
use crate::objects::data_type;
use mxrs_onednn_sys::result;
use mxrs_op::{Backend, DEFAULT_WAY, Kernel, OpCall, PlannedKernel, Support, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{DType, ErrorKind, Layout, Result};
use std::sync::Arc;

/// How to set the backend up.
#[derive(Clone)]
pub struct OneDnnConfig {
    /// Threads its loops run on.
    pub team: Arc<Team>,
    /// Most prepared primitives kept per operator kind (`MXNET_ONEDNN_CACHE_NUM`); `None` is unbounded.
    pub cache_entries: Option<usize>,
}

/// Cost of calls for which the library has no code as data come: others who know blocks of channels go first.
const AWKWARD: f64 = 2.0;

/// oneDNN as a backend.
pub struct OneDnn {
    library: Arc<Library>,
    cache: Cache,
}

impl OneDnn {
    /// Opens the library.
    ///
    /// # Errors
    /// Why there is no oneDNN in this build or on this machine.
    pub fn new(config: OneDnnConfig) -> Result<Arc<Self>> {
        let library = Library::new(&config.team)?;
        if let Some(entries) = config.cache_entries {
            // oneDNN keeps primitives too; without this a bound here would free nothing.
            // SAFETY: sets a number inside the library.
            unsafe { result::set_primitive_cache_capacity(i32::try_from(entries).unwrap_or(i32::MAX))? };
        }
        Ok(Arc::new(Self { library: Arc::new(library), cache: Cache::new(config.cache_entries) }))
    }

    /// Version and runtime of the library.
    pub fn version(&self) -> &str {
        &self.library.version
    }

    /// Counters of the primitive cache.
    pub fn cache_counters(&self) -> CacheCounters {
        self.cache.counters()
    }

    /// The kept kernel of a call, or a new one; `kind` tells apart those that are prepared in different ways.
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
            return Err("a tensor without elements".into());
        }
        if tensor.shape.ndim() > 5 || tensor.shape.iter().any(|&d| i32::try_from(d).is_err()) {
            return Err(format!("shape {}", tensor.shape));
        }
        if data_type(tensor.dtype).is_none() {
            return Err(format!("no {} in oneDNN", tensor.dtype));
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

    fn supports(&self, call: &OpCall<'_>) -> Support {
        if call.inputs.is_empty() {
            return Support::no("an operator without inputs");
        }
        if let Err(reason) = preparer(call) {
            return Support::No(reason);
        }
        // Which kernels there are for numbers of 16 and 8 bits depends on the processor: only the library knows. What it prepares is
        // kept for `plan`.
        let is_short = |t: &TensorDesc| matches!(t.dtype, DType::F16 | DType::BF16);
        let is_special = matches!(call.op.name, "Cast" | "amp_cast") || kernels::is_quantized(call.op.name);
        if is_special || call.inputs.iter().chain(call.outputs).any(is_short) {
            match self.plan(call) {
                Err(error) if matches!(error.kind(), ErrorKind::NotBuilt { .. }) => {
                    return Support::No(error.to_string());
                }
                _ => {}
            }
        }
        // Where data in blocks of channels have to be copied first, or the library has a plain loop only.
        if matches!(call.op.name, "Pooling" | "LRN")
            && matches!(call.inputs[0].layout, Layout::Blocked { .. })
            && let Ok(planned) = self.plan(call)
            && (planned.input_layouts[0] != call.inputs[0].layout || planned.kernel.name().contains(":ref"))
        {
            return Support::Yes { cost: AWKWARD };
        }
        Support::VENDOR
    }

    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        let prepare = preparer(call).map_err(|reason| mxrs_types::Error::not_built(call.op.name, reason))?;
        self.prepared(call.op.name, call, prepare)
    }

    fn ways(&self, call: &OpCall<'_>) -> Vec<String> {
        let mut ways = vec![DEFAULT_WAY.to_owned()];
        if kernels::convolution::blocked_preparer(call).is_some() {
            ways.push(kernels::convolution::BLOCKED.into());
        }
        ways
    }

    fn plan_way(&self, call: &OpCall<'_>, way: &str) -> Result<PlannedKernel> {
        if way == DEFAULT_WAY {
            return self.plan(call);
        }
        let refused = |reason| mxrs_types::Error::not_built(format!("{} in the way `{way}`", call.op.name), reason);
        preparer(call).map_err(refused)?;
        let there = kernels::convolution::blocked_preparer(call).filter(|_| way == kernels::convolution::BLOCKED);
        let (kind, prepare) = there.ok_or_else(|| refused("no such way".into()))?;
        self.prepared(kind, call, prepare)
    }

    fn setup(&self) -> String {
        format!("onednn {}", self.version())
    }

    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        if data_type(from.dtype).is_none() || !self.library.registry.knows(from) || !self.library.registry.knows(to) {
            return Ok(None);
        }
        match kernels::reorder::prepare(&self.library, from, to) {
            // As in `supports`: no such copy on this processor.
            Err(error) if matches!(error.kind(), ErrorKind::NotBuilt { .. }) => Ok(None),
            other => other.map(Some),
        }
    }
}
