//! Backends: who has a fast kernel for a call.

use crate::{Kernel, OpCall, TensorDesc};
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// Answer to "can you run this call?".
#[derive(Clone, Debug, PartialEq)]
pub enum Support {
    /// Yes; among backends the lowest cost wins. The reference kernel costs [`Support::REFERENCE_COST`].
    Yes {
        /// Relative cost of one run.
        cost: f64,
    },
    /// No, and why; shown by `mxrs ops --explain`.
    No(String),
}

impl Support {
    /// Cost of the reference kernel: any real backend is below.
    pub const REFERENCE_COST: f64 = 1e9;

    /// A plain yes of a vendor library.
    pub const VENDOR: Self = Self::Yes { cost: 1.0 };

    /// A no.
    pub fn no(reason: impl Into<String>) -> Self {
        Self::No(reason.into())
    }
}

/// Name of the way in which [`Backend::plan`] runs a call, for backends that have no other.
pub const DEFAULT_WAY: &str = "default";

/// A kernel together with how it wants its tensors.
pub struct PlannedKernel {
    /// Layout required of each input; the executor reorders where the producer left another, once only for constants.
    pub input_layouts: Vec<Layout>,
    /// Layout of each output.
    pub output_layouts: Vec<Layout>,
    /// Temporary memory per run, in bytes.
    pub scratch_bytes: usize,
    /// Whether outputs may be given the memory of the inputs the operator declares in-place pairs with.
    pub can_run_inplace: bool,
    /// The code.
    pub kernel: Arc<dyn Kernel>,
}

/// A set of kernels, usually over one vendor library.
pub trait Backend: Send + Sync {
    /// Short name: `onednn`, `reference`.
    fn name(&self) -> &'static str;

    /// Whether it can run the call, with a cost or a reason. Must be cheap: no kernel is built here.
    fn supports(&self, call: &OpCall<'_>) -> Support;

    /// Prepares a kernel for a call it supports.
    ///
    /// # Errors
    /// What the vendor library reports; the executor then falls back to the next backend.
    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel>;

    /// Ways to run a call it supports that may turn out to be the fastest: what a search by timing tries. [`Self::plan`] takes the
    /// first. Names mean the same in every process with the same [setup](Self::setup); they may depend on sizes, settings and
    /// the kind of processor, and on nothing that is measured.
    fn ways(&self, call: &OpCall<'_>) -> Vec<String> {
        let _ = call;
        vec![DEFAULT_WAY.into()]
    }

    /// As [`Self::plan`], in one of its ways.
    ///
    /// # Errors
    /// As [`Self::plan`]; a way that it does not know or that its settings forbid.
    fn plan_way(&self, call: &OpCall<'_>, way: &str) -> Result<PlannedKernel> {
        if way == DEFAULT_WAY {
            return self.plan(call);
        }
        Err(Error::not_built(format!("{} in the way `{way}`", call.op.name), "the backend has none of this name"))
    }

    /// In a few words, what its [ways](Self::ways) and their speed depend on besides the call and the processor: version,
    /// threads, settings.
    fn setup(&self) -> String {
        String::new()
    }

    /// A kernel with one input and one output that copies between layouts of one tensor (shape and dtype equal);
    /// `None` when this backend knows one of the layouts not at all.
    ///
    /// # Errors
    /// What the vendor library reports.
    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>>;
}
