//! The backend: which calls it takes, and who prepares them.

use crate::kernels;
use crate::level::Level;
use crate::plan::Planned;
use crate::pointwise;
use mxrs_op::{Backend, FUSED_OP, Kernel, OpCall, PlannedKernel, Pointwise, Support, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// Our own kernels as a backend.
#[derive(Clone, Debug)]
pub struct CpuBackend {
    level: Level,
    n_threads: usize,
}

impl CpuBackend {
    /// What a call costs: more than a vendor library's, so that one is asked first, and less than the reference's.
    pub const COST: f64 = 10.0;

    /// A backend for loops on this team, with the widest instructions there are.
    pub fn new(team: &Team) -> Arc<Self> {
        Self::with_level(team, Level::best())
    }

    /// A backend with these instructions.
    pub fn with_level(team: &Team, level: Level) -> Arc<Self> {
        Arc::new(Self { level, n_threads: team.size() })
    }

    /// The instructions its loops use.
    pub fn level(&self) -> Level {
        self.level
    }

    fn prepare(&self, call: &OpCall<'_>) -> Planned {
        if call.outputs.is_empty() {
            return Err("a call without outputs".into());
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

    fn supports(&self, call: &OpCall<'_>) -> Support {
        match self.prepare(call) {
            Ok(_) => Support::Yes { cost: Self::COST },
            Err(reason) => Support::No(reason),
        }
    }

    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        self.prepare(call).map_err(|reason| Error::not_built(call.op.name, reason))
    }

    fn reorder(&self, _from: &TensorDesc, _to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}
