//! Backends: which backend has a fast kernel for a call, and how long one run of it takes.
//!
//! For each call of a graph the executor requests an [`Offer`] from every backend and builds the one with the fewest
//! estimated seconds. Only the seconds are compared, so a backend outside mxrs competes on the same terms as those of mxrs:
//!
//! - A backend that has measured its kernel offers the measured seconds.
//! - Any other backend offers a multiple of [`Speed::library`](crate::Speed::library), the seconds that a well-tuned
//!   library should take. The backends of mxrs do so: oneDNN offers exactly this time, or twice this time if it has to
//!   copy tensors or has only plain loops for the call. nnpack offers about 1.5 times this time; for convolutions it
//!   offers its own estimates, which start at 0.2 times this time. cpu offers twice this time. The reference kernels
//!   offer the time of plain scalar loops, which is hundreds of times as long.

use crate::{Kernel, OpCall, TensorDesc};
use mxrs_types::{Device, Error, Layout, Result};
use std::fmt;
use std::sync::Arc;

/// A backend's answer to a call: an offer, or a short reason why it has no kernel (`float64 numbers`), which
/// `mxrs ops --explain` shows.
pub type Answer<'a> = std::result::Result<Offer<'a>, String>;

/// A kernel that a backend can build for a call, and how long one run should take.
pub struct Offer<'a> {
    seconds: f64,
    is_reference: bool,
    build: Box<dyn FnOnce() -> Result<PlannedKernel> + 'a>,
}

impl<'a> Offer<'a> {
    /// Offers the kernel that `build` prepares, one run of which takes about `seconds`. `build` is called only if the
    /// executor chooses the offer. If `build` returns an error, the executor chooses the next best offer.
    pub fn new(seconds: f64, build: impl FnOnce() -> Result<PlannedKernel> + 'a) -> Self {
        Self { seconds, is_reference: false, build: Box::new(build) }
    }

    /// Marks the kernel as a reference kernel, made to be correct and not to be fast. Graphs are not rewritten in order to
    /// use it, and tuning does not time it.
    #[must_use]
    pub fn as_reference(self) -> Self {
        Self { is_reference: true, ..self }
    }

    /// Estimated seconds of one run.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Whether the kernel is a reference kernel.
    pub fn is_reference(&self) -> bool {
        self.is_reference
    }

    /// Prepares the kernel.
    ///
    /// # Errors
    /// Returns the error of the backend, such as one that a vendor library reports.
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

/// Name of the only [algorithm](Backend::algorithms) of a backend that has one kernel for a call.
pub const DEFAULT_ALGORITHM: &str = "default";

/// A kernel together with the layouts of its tensors and the scratch memory that it needs.
pub struct PlannedKernel {
    /// The layout that each input must have. The executor inserts a reorder if the producer chose another; a constant is
    /// reordered only once.
    pub input_layouts: Vec<Layout>,
    /// Layout of each output.
    pub output_layouts: Vec<Layout>,
    /// Bytes of scratch memory that one run needs.
    pub scratch_bytes: usize,
    /// Whether an output may be stored in the memory of an input. This concerns only the in-place pairs (input, output)
    /// that the operator declares.
    pub can_run_inplace: bool,
    /// The kernel itself.
    pub kernel: Arc<dyn Kernel>,
}

/// A set of kernels, usually over one vendor library.
pub trait Backend: Send + Sync {
    /// Short name of the backend: `onednn`, `reference`.
    fn name(&self) -> &'static str;

    /// Whether the kernels of this backend run on `device`: whether they may use its memory, and enqueue their work on its
    /// streams if it is not host memory. Calls on a device use only the backends that return true for it.
    fn runs_on(&self, device: Device) -> bool {
        device.is_host()
    }

    /// An offer for the call, or the reason why there is no kernel for it. Binding calls this method often, so the
    /// answer should be computed from shapes, types, layouts and parameters alone. Only [`Offer::build`] should build
    /// the kernel.
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a>;

    /// Names of the algorithms that may turn out to be the fastest for a call that the backend has an offer for. Tuning
    /// times them. The first is the algorithm that [`Self::offer`] uses. A name means the same in every process with
    /// the same [setup](Self::setup). The list may depend on sizes, settings and the kind of processor, but not on
    /// measurements.
    fn algorithms(&self, call: &OpCall<'_>) -> Vec<String> {
        let _ = call;
        vec![DEFAULT_ALGORITHM.into()]
    }

    /// Like [`Self::offer`], with the algorithm of this name. An algorithm that [`Self::algorithms`] does not list may have
    /// an offer too.
    fn offer_algorithm<'a>(&'a self, call: &'a OpCall<'a>, algorithm: &str) -> Answer<'a> {
        if algorithm == DEFAULT_ALGORITHM {
            self.offer(call)
        } else {
            Err(format!("no algorithm of the name `{algorithm}`"))
        }
    }

    /// Builds the kernel that the backend [offers](Self::offer) for a call.
    ///
    /// # Errors
    /// Returns `NotBuilt` with the reason if there is no offer, or the errors of [`Offer::build`].
    fn plan(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        self.offer(call).map_err(|reason| Error::not_built(call.op.name, reason))?.build()
    }

    /// Builds the kernel that the backend offers for a call [with one algorithm](Self::offer_algorithm).
    ///
    /// # Errors
    /// Returns the errors of [`Self::plan`].
    fn plan_algorithm(&self, call: &OpCall<'_>, algorithm: &str) -> Result<PlannedKernel> {
        let refused = |reason| Error::not_built(format!("{} by the algorithm `{algorithm}`", call.op.name), reason);
        self.offer_algorithm(call, algorithm).map_err(refused)?.build()
    }

    /// A short text of everything, besides the call and the processor, that determines the
    /// [algorithms](Self::algorithms) and their speed: version of the library, number of threads, settings. For kernels of
    /// a device also the model of the device and the version of its driver.
    fn setup(&self) -> String {
        String::new()
    }

    /// A kernel with one input and one output that copies between two layouts of one tensor (shape and dtype equal), or
    /// `None` if the backend does not know one of the layouts.
    ///
    /// # Errors
    /// Returns the error of the vendor library.
    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>>;
}
