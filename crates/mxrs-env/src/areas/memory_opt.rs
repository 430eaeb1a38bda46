//! Savers of training memory.

use crate::{Bytes, Remat, settings};
use std::num::NonZeroUsize;

settings! {
    /// Savers of training memory.
    pub struct MemoryOptSettings in MemoryOpt {
        /// Drops the results of cheap operators and computes them again for the backward pass. When it is not set, a little
        /// is computed again, as with `MXRS_REMAT=light`; when it is 0, nothing is.
        do_mirror: bool = 0, "MXNET_BACKWARD_DO_MIRROR" [D50 Owner Core];
        /// Turns on the savers of memory: recomputation as `MXNET_BACKWARD_DO_MIRROR=1`, and the sweep over ranges even with
        /// `NNVM_AUTO_SEARCH_MATCH_RANGE=0`. Activations keep no more than one array for the backward pass with or without it.
        memory_opt: bool = 0, "MXNET_MEMORY_OPT" [D51 Owner Core];
        /// What the backward pass computes again: nothing, what takes next to no time (up to a tenth of the memory, relus
        /// behind batch normalization), cheap operators as `MXNET_BACKWARD_DO_MIRROR`, segments, or as
        /// little as a number of bytes asks for. When set, it decides alone.
        remat: Option<Remat> = unset("what MXRS_MEMORY_BUDGET, MXNET_BACKWARD_DO_MIRROR and MXNET_MEMORY_OPT say, else light"),
            "MXRS_REMAT" [M6 Owner Core];
        /// Most bytes of activations, gradients on the way and workspaces of a training step; as little as possible is
        /// computed again for that, and binding fails where it cannot be reached, saying what can.
        memory_budget: Option<Bytes> = unset("no limit"), "MXRS_MEMORY_BUDGET" [M7 Owner Core];
        /// How many candidates lie between two kept ones in the oldest form of mirroring. An older setting.
        mirror_step: NonZeroUsize = 100, "MXNET_BACKWARD_MIRROR_STEP" [O18 Owner OldMirror];
    }
}
