//! CUDA graphs: bulks that are captured once and launched many times.

use crate::settings;

settings! {
    /// CUDA graphs: bulks that are captured once and launched many times.
    pub struct CudaGraphSettings in Bulking {
        /// Captures a bulk at its second run and launches the captured graph from the third run on.
        enabled: bool = 0, "MXNET_ENABLE_CUDA_GRAPHS" [D35 Owner Cuda];
        /// Logs which operators were captured, which were not and why, and each launch.
        verbose: bool = 0, "MXNET_CUDA_GRAPHS_VERBOSE" [D36 Owner Cuda];
        /// The most log lines about created graphs. If there are more, one line says that further lines are omitted.
        max_log_entries: usize = 0, "MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES" [D37 FirstUse Cuda];
        /// Prefix of the names of the dot files to which created graphs are written; empty: none are written.
        dot_prefix: String = "", "MXNET_CUDA_GRAPHS_DBG_FILE" [D38 FirstUse Cuda];
        /// Bit mask for the driver that selects what the dot files contain; 1 is everything.
        dot_flags: u32 = 1, "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS" [D39 FirstUse Cuda];
    }
}
