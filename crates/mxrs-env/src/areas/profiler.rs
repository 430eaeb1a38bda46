//! The initial settings of the profiler.

use crate::{Kind, settings};

settings! {
    /// The initial settings of the profiler. Calls may change them later.
    pub struct ProfilerSettings in Profiler {
        /// Profiles from the start and writes `profile.json` to the working folder at the end.
        autostart: bool = 0, "MXNET_PROFILER_AUTOSTART" [D52 Process Profiler];
        /// What is recorded, as a sum: 1 operators of graphs, 2 operators called one by one, 4 C API calls, 8 memory.
        mode: u8 = 13, "MXNET_PROFILER_MODE" [D53 Process Profiler], Kind::int(0, 15);
    }
}
