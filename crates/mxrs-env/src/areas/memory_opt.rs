//! Savers of training memory.

use crate::settings;
use std::num::NonZeroUsize;

settings! {
    /// Savers of training memory.
    pub struct MemoryOptSettings in MemoryOpt {
        /// Drops the results of cheap operators and computes them again for the backward pass.
        do_mirror: bool = 0, "MXNET_BACKWARD_DO_MIRROR" [D50 Owner NotYet];
        /// Turns on every saver of memory, at some cost in time.
        memory_opt: bool = 0, "MXNET_MEMORY_OPT" [D51 Owner NotYet];
        /// How many candidates lie between two kept ones in the oldest form of mirroring. An older setting.
        mirror_step: NonZeroUsize = 100, "MXNET_BACKWARD_MIRROR_STEP" [O18 Owner Inert];
    }
}
