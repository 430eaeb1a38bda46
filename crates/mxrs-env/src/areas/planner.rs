//! The memory planner.

use crate::settings;
use crate::words::words;
use std::num::NonZeroUsize;

words! {
    /// How the arrays of a graph get their places.
    pub enum PlanWord {
        /// The smaller of the two, where both are legal.
        Auto = "auto",
        /// Blocks that are handed from array to array, as MXNet does.
        Pool = "pool",
        /// Places in one block, by size.
        Offset = "offset",
    }
}

settings! {
    /// The memory planner: how the arrays of a graph share storage.
    pub struct PlannerSettings in Memory {
        /// Lets an output take over the storage of an input that nobody reads any more.
        enable_inplace: bool = true, "MXNET_EXEC_ENABLE_INPLACE" [D10 Owner Core];
        /// How much larger or smaller a released block may be than the request that reuses it; several ranges up to
        /// this one are tried. 0: released blocks are not reused.
        match_range: usize = 16, "NNVM_EXEC_MATCH_RANGE" [D11 Owner Core];
        /// Colors of the operators of a graph; at most `MXNET_GPU_WORKER_NTHREADS`. Results and workspaces of one color share
        /// storage, those of different colors do not. More colors cost memory and allow more parallel work.
        num_temp: NonZeroUsize = 1, "MXNET_EXEC_NUM_TEMP" [D12 Owner Core];
        /// 0: only the value of `NNVM_EXEC_MATCH_RANGE` itself is tried.
        sweep_match_range: bool = 1, "NNVM_AUTO_SEARCH_MATCH_RANGE" [B28 Owner Core];
        /// Which algorithm places arrays. `offset` needs operators that run in order: with more than one color, and with an
        /// explicit `NNVM_EXEC_MATCH_RANGE`, it is the pool nevertheless.
        plan: PlanWord = auto, "MXRS_PLAN" [M8 Owner Core];
        /// Plans that each cached graph keeps, one for each signature of its inputs; what was not used for longest goes first.
        plan_cache: NonZeroUsize = 32, "MXRS_PLAN_CACHE" [M9 Owner Core];
        /// Logs each planned array with its storage and where that comes from.
        verbose: bool = 0, "MXNET_MEM_PLAN_VERBOSE_LOGGING" [B29 Owner Core];
    }
}
