//! Resources that operators share, and how exactly operators compute.

use crate::{Kind, settings};
use std::num::NonZeroUsize;

settings! {
    /// Resources that operators share, and how exactly operators compute.
    pub struct ResourceSettings in Resources {
        /// Only algorithms that give the same bits at every run, in every process: kernels are chosen by sizes alone, and never
        /// by timing. An operator that has none fails; those of this version all have one.
        deterministic: bool = 0, "MXNET_ENFORCE_DETERMINISM" [D77 EveryUse Core];
        /// Elements from which on the loop of an operator uses the team; smaller loops stay on one thread. It acts on pointwise
        /// operators, copies, sums and softmax, not on convolutions and matrix products.
        cpu_parallel_elements: Option<usize> = unset("a thread for each 16384 elements"), "MXNET_CPU_PARALLEL_SIZE"
            [D78 FirstUse Core];
        /// Weights that one call of an aggregating optimizer updates.
        optimizer_aggregation: u8 = 4, "MXNET_OPTIMIZER_AGGREGATION_SIZE" [D79 Owner Core], Kind::int(1, 60);
        /// Temporary workspaces of all CPU devices together, given out in turn.
        cpu_temp_spaces: NonZeroUsize = 4, "MXNET_CPU_TEMP_COPY" [D80 Process Core];
        /// Temporary workspaces of each GPU, given out in turn.
        gpu_temp_spaces: NonZeroUsize = 1, "MXNET_GPU_TEMP_COPY" [D81 Process Gpu];
        /// Parallel random generators of all CPU devices together, given out in turn.
        cpu_parallel_rand: NonZeroUsize = 1, "MXNET_CPU_PARALLEL_RAND_COPY" [D82 Process Core];
        /// Parallel random generators of each GPU, given out in turn.
        gpu_parallel_rand: NonZeroUsize = 4, "MXNET_GPU_PARALLEL_RAND_COPY" [D83 Process Gpu];
        /// Dropout states of each GPU, given out in turn.
        gpu_dropout_states: NonZeroUsize = 4, "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY" [D84 Process Cudnn];
        /// Adds up in a wider type than that of the input, which this version always does.
        safe_accumulation: bool = 1, "MXNET_SAFE_ACCUMULATION" [D85 EveryUse NarrowSums];
    }
}
