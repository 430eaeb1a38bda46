//! The dependency engine.

use crate::settings;
use crate::words::words;
use std::num::NonZeroU64;

words! {
    /// Which engine runs the operators.
    pub enum EngineType {
        /// Runs each operator on the pushing thread, before the push returns.
        Naive = "NaiveEngine",
        /// Sixteen workers for all devices and one for copies.
        Threaded = "ThreadedEngine",
        /// Pools of workers for each device.
        PerDevice = "ThreadedEnginePerDevice",
        /// [`Self::Naive`]; the suffix changes nothing here.
        NaiveAsync = "NaiveEngineAsync",
        /// [`Self::Threaded`], with GPU operators ordered by device events.
        ThreadedAsync = "ThreadedEngineAsync",
        /// [`Self::PerDevice`], with GPU operators ordered by device events.
        PerDeviceAsync = "ThreadedEnginePerDeviceAsync",
    }
}

words! {
    /// When an operator of a GPU counts as done.
    pub enum GpuSyncWord {
        /// When its work is done: the worker waits for its stream.
        Host = "host",
        /// When its work is enqueued: later operators wait for device events.
        Event = "event",
    }
}

impl EngineType {
    /// The same engine without the suffix `Async`.
    #[must_use]
    pub const fn without_async(self) -> Self {
        match self {
            Self::Naive | Self::NaiveAsync => Self::Naive,
            Self::Threaded | Self::ThreadedAsync => Self::Threaded,
            Self::PerDevice | Self::PerDeviceAsync => Self::PerDevice,
        }
    }

    /// Whether GPU operators are ordered by device events.
    pub const fn is_async(self) -> bool {
        matches!(self, Self::ThreadedAsync | Self::PerDeviceAsync)
    }
}

settings! {
    /// The dependency engine.
    pub struct EngineSettings in Engine {
        /// Which engine runs the operators. `Async` at the end orders GPU operators by device events.
        engine_type: EngineType = ThreadedEnginePerDevice, "MXNET_ENGINE_TYPE" [D29 Process InEffect];
        /// Logs each wait, and push and completion of the operator that is waited for.
        info: bool = 0, "MXNET_ENGINE_INFO" [B25 Engine InEffect];
        /// When an operator of a GPU counts as done: `host`, when its work is done; `event`, when its work is enqueued, and
        /// device events order what follows. An engine type that ends in `Async` stands for `event` whatever is said here.
        gpu_sync: GpuSyncWord = host, "MXRS_GPU_SYNC" [M1 Engine InEffect];
        /// Errors of operators say where the operator was pushed. Costs a walk of the stack for each push.
        backtrace: bool = 0, "MXRS_ENGINE_BACKTRACE" [M2 Engine InEffect];
        /// An array whose operator failed tells every reader, until it is written anew, not only the first.
        sticky_errors: bool = 0, "MXRS_ENGINE_STICKY_ERRORS" [M3 Engine InEffect];
        /// Seconds without any operator ending, while some are pending, after which a warning says what they wait for.
        stall_secs: Option<NonZeroU64> = unset("no such warning"), "MXRS_ENGINE_STALL_SECS" [M4 Engine InEffect];
        /// Milliseconds that the end of the engine waits for pending operators before it leaves them behind and says how
        /// many they are.
        exit_timeout_ms: Option<u64> = unset("as long as they take"), "MXRS_EXIT_TIMEOUT_MS" [M5 Engine InEffect];
    }
}
