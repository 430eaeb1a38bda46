//! Settings that save memory in training.

use crate::{Bytes, Remat, settings};
use std::num::NonZeroUsize;

settings! {
    /// Settings that save memory in training.
    pub struct MemoryOptSettings in MemoryOpt {
        /// Drops the results of cheap operators and computes them again for the backward pass. If unset, a few values are
        /// recomputed, as with `MXRS_REMAT=light`; 0: none are.
        do_mirror: bool = 0, "MXNET_BACKWARD_DO_MIRROR" [D50 Owner Core];
        /// Saves memory in two ways: values are recomputed as with `MXNET_BACKWARD_DO_MIRROR=1`, and several match ranges
        /// are tried even with `NNVM_AUTO_SEARCH_MATCH_RANGE=0`. An activation keeps at most one array for the backward
        /// pass, with or without this setting.
        memory_opt: bool = 0, "MXNET_MEMORY_OPT" [D51 Owner Core];
        /// What the backward pass computes again: nothing; values that take almost no time, up to a tenth of the memory,
        /// such as relus after batch normalization; cheap operators, as with `MXNET_BACKWARD_DO_MIRROR`; segments of the
        /// graph; or as little as a budget of bytes allows. If this variable is set, it overrides the others.
        remat: Option<Remat> = unset("what MXRS_MEMORY_BUDGET, MXNET_BACKWARD_DO_MIRROR and MXNET_MEMORY_OPT say, else light"),
            "MXRS_REMAT" [M6 Owner Core];
        /// The most bytes of activations, intermediate gradients and workspaces of a training step. As little as possible
        /// is recomputed to meet the limit. If the limit cannot be met, binding fails with an error that gives the smallest
        /// limit that can.
        memory_budget: Option<Bytes> = unset("no limit"), "MXRS_MEMORY_BUDGET" [M7 Owner Core];
        /// In the oldest form of mirroring: number of candidates for recomputation between two that are kept. An older
        /// setting.
        mirror_step: NonZeroUsize = 100, "MXNET_BACKWARD_MIRROR_STEP" [O18 Owner OldMirror];
    }
}
