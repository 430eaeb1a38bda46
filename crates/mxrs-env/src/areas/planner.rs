//! The memory planner.

use crate::settings;
use crate::words::words;
use std::num::NonZeroUsize;

words! {
    /// The algorithm that places the arrays of a graph in memory.
    pub enum PlanWord {
        /// Uses the algorithm whose plan is smaller, if both are allowed.
        Auto = "auto",
        /// Assigns a block to each array, which later arrays reuse, as MXNet does.
        Pool = "pool",
        /// Assigns offsets in one block: first to the largest arrays, or first to the arrays that are alive at the fullest
        /// steps.
        Offset = "offset",
    }
}

settings! {
    /// The memory planner: how the arrays of a graph share storage.
    pub struct PlannerSettings in Memory {
        /// Lets an output use the storage of an input that is not read any more.
        enable_inplace: bool = true, "MXNET_EXEC_ENABLE_INPLACE" [D10 Owner Core];
        /// Factor by which a released block may be larger or smaller than the request that reuses it. Several factors up to
        /// this one are tried. 0: released blocks are not reused.
        match_range: usize = 16, "NNVM_EXEC_MATCH_RANGE" [D11 Owner Core];
        /// Number of colors of the operators of a graph, at most `MXNET_GPU_WORKER_NTHREADS`. Operators of the same color
        /// share storage for results and workspaces; operators of different colors do not. More colors cost memory and
        /// allow more parallel work.
        num_temp: NonZeroUsize = 1, "MXNET_EXEC_NUM_TEMP" [D12 Owner Core];
        /// Tries several match ranges; 0: only the value of `NNVM_EXEC_MATCH_RANGE`.
        sweep_match_range: bool = 1, "NNVM_AUTO_SEARCH_MATCH_RANGE" [B28 Owner Core];
        /// The algorithm that places arrays. `offset` needs operators that run in order: with more than one color, or with
        /// an explicit `NNVM_EXEC_MATCH_RANGE`, `pool` is used instead.
        plan: PlanWord = auto, "MXRS_PLAN" [M8 Owner Core];
        /// Number of plans that each cached graph keeps, one per signature of its inputs. The least recently used is
        /// dropped first.
        plan_cache: NonZeroUsize = 32, "MXRS_PLAN_CACHE" [M9 Owner Core];
        /// Logs each planned array with its storage and the origin of that storage.
        verbose: bool = 0, "MXNET_MEM_PLAN_VERBOSE_LOGGING" [B29 Owner Core];
    }
}
