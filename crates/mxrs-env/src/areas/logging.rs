//! Log settings that concern several parts of mxrs.

use crate::settings;

settings! {
    /// Log settings that concern several parts of mxrs.
    pub struct LogSettings in Logging {
        /// The most stack frames of the pushing call that the error of an operator carries; 0: none. Costs time in every
        /// call. With `MXRS_ENGINE_BACKTRACE=1` errors carry all frames.
        stack_trace_depth: usize = 0, "DMLC_LOG_STACK_TRACE_DEPTH" [D56 EveryUse Core];
        /// Logs, once per case, that sparse arrays are converted to temporary dense ones.
        storage_fallback: bool = 1, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE" [D57 FirstUse Sparse];
        /// Makes the command `mxrs` log for debugging, like its flag `--verbose`. The flag `--quiet` takes precedence.
        debug: bool = 0, "DMLC_LOG_DEBUG" [B66 FirstUse Core];
    }
}
