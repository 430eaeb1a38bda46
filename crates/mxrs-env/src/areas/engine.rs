//! The dependency engine.

use crate::settings;
use mxrs_types::{EngineType, GpuSync};
use std::num::NonZeroU64;

settings! {
    /// The dependency engine.
    pub struct EngineSettings in Engine {
        /// The engine that runs the operators. With the suffix `Async`, GPU operators are ordered by device events.
        engine_type: EngineType = ThreadedEnginePerDevice, "MXNET_ENGINE_TYPE" [D29 Process Core];
        /// Logs each wait for an operator, and the push and the completion of this operator.
        info: bool = 0, "MXNET_ENGINE_INFO" [B25 Engine Core];
        /// When an operator of a GPU counts as done: `host`, when its work is done; `event`, when its work is enqueued, so
        /// that device events order later work. An engine type that ends in `Async` implies `event` and overrides this
        /// setting.
        gpu_sync: GpuSync = host, "MXRS_GPU_SYNC" [M1 Engine Gpu];
        /// Adds the source location of the push to errors of operators. Costs a walk of the stack for each push.
        backtrace: bool = 0, "MXRS_ENGINE_BACKTRACE" [M2 Engine Core];
        /// Returns the error of a failed operator to every reader of its output until the array is written again, not only
        /// to the first reader.
        sticky_errors: bool = 0, "MXRS_ENGINE_STICKY_ERRORS" [M3 Engine Core];
        /// Seconds after which a warning is logged if operators are pending but none has ended. The warning says what they
        /// wait for.
        stall_secs: Option<NonZeroU64> = unset("no such warning"), "MXRS_ENGINE_STALL_SECS" [M4 Engine Core];
        /// Milliseconds that the engine waits for pending operators when it ends. Operators that are still pending after
        /// this time are abandoned, and their number is logged.
        exit_timeout_ms: Option<u64> = unset("as long as they take"), "MXRS_EXIT_TIMEOUT_MS" [M5 Engine Core];
    }
}
