//! The backend: decides which calls it has a kernel for.

use crate::kernels;
use crate::level::Level;
use crate::plan::Planned;
use crate::pointwise;
use mxrs_op::{Answer, Backend, FUSED_OP, Kernel, Offer, OpCall, Pointwise, Speed, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::Result;
use std::sync::Arc;

/// This crate's kernels as a backend.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    level: Level,
    n_threads: usize,
    speed: Speed,
}

impl CpuBackend {
    /// Estimated time of a kernel relative to a well-tuned library: kernels are plain loops, vectorized by the
    /// compiler. A vendor library or nnpack is preferred if it has a kernel.
    pub const TIMES_LIBRARY: f64 = 2.0;

    /// Makes a backend for loops on this team, with the widest instructions of the processor.
    pub fn new(team: &Team) -> Arc<Self> {
        Self::with_level(team, Level::best())
    }

    /// Makes a backend with these instructions.
    pub fn with_level(team: &Team, level: Level) -> Arc<Self> {
        Arc::new(Self { level, n_threads: team.size(), speed: Speed::here(team.size()) })
    }

    /// The instructions that its loops use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the function that prepares a call, or the reason why there is no kernel for it.
    fn look_at(&self, call: &OpCall<'_>) -> Planned {
        if call.outputs.is_empty() {
            return Err("the call has no outputs".into());
        }
        if call.op.name == FUSED_OP {
            return pointwise::plan_fused(call, self.level, self.n_threads);
        }
        if let Some(planned) = kernels::plan_update(call, self.level) {
            return planned;
        }
        if call.op.pointwise == Pointwise::Yes || call.inputs.is_empty() {
            return pointwise::plan(call, self.level, self.n_threads);
        }
        kernels::plan(call, self.level)
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let build = self.look_at(call)?;
        Ok(Offer::new(self.speed.times_library(call, Self::TIMES_LIBRARY), || Ok(build())))
    }

    fn reorder(&self, _from: &TensorDesc, _to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}
