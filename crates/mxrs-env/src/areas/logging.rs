//! Log lines of no single owner.

use crate::settings;

settings! {
    /// Log lines of no single owner.
    pub struct LogSettings in Logging {
        /// Most stack frames, of the call that pushed it, that the error of an operator carries; 0: none. It costs time at every
        /// call. With `MXRS_ENGINE_BACKTRACE=1` errors carry all frames.
        stack_trace_depth: usize = 0, "DMLC_LOG_STACK_TRACE_DEPTH" [D56 EveryUse Core];
        /// Logs once per case when sparse arrays are turned into temporary dense ones.
        storage_fallback: bool = 1, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE" [D57 FirstUse Sparse];
        /// Log lines for debugging from the command `mxrs`, as its flag `--verbose`; `--quiet` wins.
        debug: bool = 0, "DMLC_LOG_DEBUG" [B66 FirstUse Core];
    }
}
