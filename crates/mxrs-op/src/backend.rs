//! Backends: which of them has a fast kernel for a call, and how long a run of it takes.
//!
//! For each call of a graph the executor asks every backend for an [`Offer`] and builds the one with the fewest estimated
//! seconds. Only the seconds are compared, so a backend from outside competes on the same terms as those of mxrs:
//!
//! - Who has measured a kernel offers the seconds of that measurement.
//! - Who has not offers a multiple of [`Speed::library`](crate::Speed::library), the seconds that a well-tuned library should take. The backends of
//!   mxrs do so: oneDNN offers once that time (twice where it has to copy or has plain loops only), nnpack about 1.5 times
//!   (convolutions: what its own estimates say, 0.2 and more), cpu twice. The reference kernels offer what plain scalar loops
//!   take, hundreds of times as much.

use crate::{Kernel, OpCall, TensorDesc};
use mxrs_types::{Error, Layout, Result};
use std::fmt;
use std::sync::Arc;

/// A backend's answer to a call: an offer, or in a few words why there is none (`float64 numbers`), which
/// `mxrs ops --explain` shows.
pub type Answer<'a> = std::result::Result<Offer<'a>, String>;

/// A kernel that a backend can build for a call, and how long one run should take.
pub struct Offer<'a> {
    seconds: f64,
    is_reference: bool,
    build: Box<dyn FnOnce() -> Result<PlannedKernel> + 'a>,
}

impl<'a> Offer<'a> {
    /// Offers the kernel that `build` prepares, one run of which takes about `seconds`. `build` is called only if the offer is
    /// taken. An error of `build` makes the executor take the next best offer.
    pub fn new(seconds: f64, build: impl FnOnce() -> Result<PlannedKernel> + 'a) -> Self {
        Self { seconds, is_reference: false, build: Box::new(build) }
    }

    /// The same offer, of a kernel that is there to be right and not to be fast: no graph is rewritten to have it, and no search
    /// by timing tries it.
    #[must_use]
    pub fn as_reference(self) -> Self {
        Self { is_reference: true, ..self }
    }

    /// Estimated seconds of one run.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Whether the kernel is there to be right and not to be fast.
    pub fn is_reference(&self) -> bool {
        self.is_reference
    }

    /// Prepares the kernel.
    ///
    /// # Errors
    /// Errors of the backend, such as those that a vendor library reports.
    pub fn build(self) -> Result<PlannedKernel> {
        (self.build)()
    }
}

impl fmt::Debug for Offer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, is_reference, .. } = self;
        f.debug_struct("Offer").field("seconds", seconds).field("is_reference", is_reference).finish_non_exhaustive()
    }
}

/// Name of the only [way](Backend::ways) of a backend that has one kernel for a call.
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

    /// The kernel it has for the call and the seconds of one run, or why it has none. Binding asks often, so the answer comes
    /// from shapes, types, layouts and parameters; the kernel is built by [`Offer::build`].
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a>;

    /// Names of the ways to run a call it has an offer for that may turn out to be the fastest: what a search by timing tries.
    /// The first is that of [`Self::offer`]. Names mean the same in every process with the same [setup](Self::setup); they may
    /// depend on sizes, settings and the kind of processor, and on nothing that is measured.
    fn ways(&self, call: &OpCall<'_>) -> Vec<String> {
        let _ = call;
        vec![DEFAULT_WAY.into()]
    }

    /// As [`Self::offer`], in the way of this name. Names that [`Self::ways`] does not list may have an offer too.
    fn offer_way<'a>(&'a self, call: &'a OpCall<'a>, way: &str) -> Answer<'a> {
        if way == DEFAULT_WAY { self.offer(call) } else { Err(format!("no way of the name `{way}`")) }
    }

    /// Takes the [offer](Self::offer) for a call.
    ///
    /// # Errors
    /// `NotBuilt` with the reason where there is no offer; otherwise as [`Offer::build`].
    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        self.offer(call).map_err(|reason| Error::not_built(call.op.name, reason))?.build()
    }

    /// Takes the offer for a call [in one way](Self::offer_way).
    ///
    /// # Errors
    /// As [`Self::plan`].
    fn plan_way(&self, call: &OpCall<'_>, way: &str) -> Result<PlannedKernel> {
        let refused = |reason| Error::not_built(format!("{} in the way `{way}`", call.op.name), reason);
        self.offer_way(call, way).map_err(refused)?.build()
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
