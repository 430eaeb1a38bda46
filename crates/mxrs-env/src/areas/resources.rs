//! Resources that operators share, the precision of operators, and the instruction sets that kernels may use.

use crate::words::words;
use crate::{Kind, settings};
use std::num::NonZeroUsize;

words! {
    /// The widest instructions that kernels may use.
    pub enum InstructionSet {
        /// The instructions that every processor of an architecture has.
        Portable = "portable",
        /// AVX2 and FMA: 256-bit vectors.
        Avx2 = "avx2",
        /// The parts F, BW, DQ and VL of AVX-512: 512-bit vectors.
        Avx512 = "avx512",
    }
}

settings! {
    /// Resources that operators share, the precision of operators, and the instruction sets that kernels may use.
    pub struct ResourceSettings in Resources {
        /// Uses only algorithms that give the same bits in every run and every process: kernels are chosen by sizes alone,
        /// never by timing. An operator without such an algorithm fails; in this version every operator has one.
        deterministic: bool = 0, "MXNET_ENFORCE_DETERMINISM" [D77 EveryUse Core];
        /// Number of elements from which the loop of an operator uses the team; smaller loops stay on one thread. Applies
        /// to pointwise operators, copies, sums and softmax, not to convolutions and matrix products.
        cpu_parallel_elements: Option<usize> = unset("a thread for each 16384 elements"), "MXNET_CPU_PARALLEL_SIZE"
            [D78 FirstUse Core];
        /// Number of weights that one call of an aggregating optimizer updates.
        optimizer_aggregation: u8 = 4, "MXNET_OPTIMIZER_AGGREGATION_SIZE" [D79 Owner Core], Kind::int(1, 60);
        /// Number of temporary workspaces of all CPU devices together, used in turn.
        cpu_temp_spaces: NonZeroUsize = 4, "MXNET_CPU_TEMP_COPY" [D80 Process Core];
        /// Number of temporary workspaces of each GPU, used in turn.
        gpu_temp_spaces: NonZeroUsize = 1, "MXNET_GPU_TEMP_COPY" [D81 Process Gpu];
        /// Number of parallel random generators of all CPU devices together, used in turn.
        cpu_parallel_rand: NonZeroUsize = 1, "MXNET_CPU_PARALLEL_RAND_COPY" [D82 Process Core];
        /// Number of parallel random generators of each GPU, used in turn.
        gpu_parallel_rand: NonZeroUsize = 4, "MXNET_GPU_PARALLEL_RAND_COPY" [D83 Process Gpu];
        /// Number of dropout states of each GPU, used in turn.
        gpu_dropout_states: NonZeroUsize = 4, "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY" [D84 Process Cudnn];
        /// Accumulates sums in a wider type than that of the input. With 0, softmax and log_softmax of 16-bit floats
        /// accumulate in 16 bits, as in MXNet, which is slower and less accurate. All other sums are accumulated in the
        /// wider type even then. MXNet compensates the rounding of these sums, so the results hardly differ.
        safe_accumulation: bool = 1, "MXNET_SAFE_ACCUMULATION" [D85 EveryUse Core];
        /// The widest instructions that kernels of mxrs may use: `portable`, those of every processor; `avx2`, also AVX2
        /// and FMA; `avx512`, also the parts F, BW, DQ and VL of AVX-512, but not its products of bfloat16 and of 8-bit
        /// integers, and not the matrix units (AMX). The first runtime sets this limit for the whole process. oneDNN has
        /// a variable of its own, `ONEDNN_MAX_CPU_ISA`.
        isa: Option<InstructionSet> = unset("all that the processor has"), "MXRS_ISA" [M27 FirstUse Core];
    }
}
