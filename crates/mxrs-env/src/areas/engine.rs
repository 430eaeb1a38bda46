//! The dependency engine.

use crate::settings;
use mxrs_types::{EngineType, GpuSync};
use std::num::NonZeroU64;

settings! {
    /// The dependency engine.
    pub struct EngineSettings in Engine {
        /// Which engine runs the operators. `Async` at the end orders GPU operators by device events.
        engine_type: EngineType = ThreadedEnginePerDevice, "MXNET_ENGINE_TYPE" [D29 Process Core];
        /// Logs each wait, and push and completion of the operator that is waited for.
        info: bool = 0, "MXNET_ENGINE_INFO" [B25 Engine Core];
        /// When an operator of a GPU counts as done: `host`, when its work is done; `event`, when its work is enqueued, and
        /// device events order what follows. An engine type that ends in `Async` stands for `event` whatever is said here.
        gpu_sync: GpuSync = host, "MXRS_GPU_SYNC" [M1 Engine Gpu];
        /// Errors of operators say where the operator was pushed. Costs a walk of the stack for each push.
        backtrace: bool = 0, "MXRS_ENGINE_BACKTRACE" [M2 Engine Core];
        /// An array whose operator failed tells every reader, until it is written anew, not only the first.
        sticky_errors: bool = 0, "MXRS_ENGINE_STICKY_ERRORS" [M3 Engine Core];
        /// Seconds without any operator ending, while some are pending, after which a warning says what they wait for.
        stall_secs: Option<NonZeroU64> = unset("no such warning"), "MXRS_ENGINE_STALL_SECS" [M4 Engine Core];
        /// Milliseconds that the end of the engine waits for pending operators before it leaves them behind and says how
        /// many they are.
        exit_timeout_ms: Option<u64> = unset("as long as they take"), "MXRS_EXIT_TIMEOUT_MS" [M5 Engine Core];
    }
}
