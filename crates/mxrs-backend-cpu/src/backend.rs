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
    narrow_sums: bool,
}

impl CpuBackend {
    /// How many times longer a kernel of this crate is estimated to take than one of a well-tuned library, because the
    /// kernels are plain loops, vectorized by the compiler. So a vendor library or nnpack is preferred if it has a kernel.
    pub const TIMES_LIBRARY: f64 = 2.0;

    /// Makes a backend whose loops run on this team, with the widest instructions of the processor.
    pub fn new(team: &Team) -> Arc<Self> {
        Self::with_level(team, Level::best())
    }

    /// Makes a backend whose loops use the instructions `level`.
    pub fn with_level(team: &Team, level: Level) -> Arc<Self> {
        Arc::new(Self { level, n_threads: team.size(), speed: Speed::here(team.size()), narrow_sums: false })
    }

    /// Makes a backend whose kernels are preferred for every softmax and log_softmax of 16-bit floats. They add up the
    /// terms in 16 bits, as MXNet does with `MXNET_SAFE_ACCUMULATION=0`, and are slower and less accurate than the
    /// usual kernels.
    pub fn with_narrow_sums(team: &Team) -> Arc<Self> {
        Arc::new(Self { narrow_sums: true, ..Arc::unwrap_or_clone(Self::new(team)) })
    }

    /// The instructions that the backend's loops use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the function that prepares a call, or the reason why there is no kernel for it.
    fn look_at(&self, call: &OpCall<'_>) -> Planned {
        if call.outputs.is_empty() {
            return Err("the call has no outputs".into());
        }
        if let Some((op, params)) = call.op.same_as.and_then(|same_as| same_as(call)) {
            return self.look_at(&OpCall { op: &op, params: &params, ..*call });
        }
        if call.op.name == FUSED_OP {
            return pointwise::plan_fused(call, self.level, self.n_threads);
        }
        if let Some(planned) = kernels::plan_update(call, self.level) {
            return planned;
        }
        if call.op.pointwise == Pointwise::Yes || call.inputs.is_empty() || pointwise::takes(call) {
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
        if self.narrow_sums
            && let Some(planned) = kernels::plan_narrow_sums(call)
        {
            let build = planned?;
            // The time 0 is not an estimate: it makes the executor prefer this kernel to faster ones, because the user has
            // selected 16-bit sums.
            return Ok(Offer::new(0.0, || Ok(build())));
        }
        let build = self.look_at(call)?;
        Ok(Offer::new(self.speed.times_library(call, Self::TIMES_LIBRARY), || Ok(build())))
    }

    fn reorder(&self, _from: &TensorDesc, _to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}
