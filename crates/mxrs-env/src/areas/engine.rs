//! The dependency engine.

use crate::settings;
use crate::words::words;

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
    }
}
