//! Log lines of no single owner.

use crate::settings;

settings! {
    /// Log lines of no single owner.
    pub struct LogSettings in Logging {
        /// Most stack frames that an error carries; 0: none.
        stack_trace_depth: usize = 0, "DMLC_LOG_STACK_TRACE_DEPTH" [D56 EveryUse NotYet];
        /// Tells once per case when sparse arrays are turned into temporary dense ones.
        storage_fallback: bool = 1, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE" [D57 FirstUse NotYet];
        /// Lines and checks for debugging.
        debug: bool = 0, "DMLC_LOG_DEBUG" [B66 FirstUse NotYet];
    }
}
