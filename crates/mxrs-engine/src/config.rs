//! Settings of an engine: the scheduler, the number of workers, reports.

use crate::gpu::StreamLayout;
use mxrs_types::{EngineKind, GpuSync};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Settings of an engine. The defaults are those that MXNet documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// The scheduler.
    pub kind: EngineKind,
    /// Whether GPU tasks depend on one another through device events ([`GpuSync::Event`]). CPU tasks are not affected.
    pub is_async: bool,
    /// The number of normal tasks that may run at the same time on each CPU device id.
    pub cpu_workers: NonZeroUsize,
    /// The number of CPU-prioritized tasks that may run at the same time, over all CPU devices.
    pub cpu_priority_workers: NonZeroUsize,
    /// The number of normal tasks that may run at the same time on each GPU.
    pub gpu_workers: NonZeroUsize,
    /// The number of copies that may run at the same time for each GPU. As many threads wait for the results of copies on
    /// behalf of CPU tasks.
    pub gpu_copy_workers: NonZeroUsize,
    /// The number of compute streams of each GPU worker: 1, or 2 for an additional auxiliary stream. Workers for copies
    /// always have one stream.
    pub gpu_worker_streams: NonZeroUsize,
    /// Whether loops that a GPU task executes on the host may use the threads of a team; otherwise each loop runs only
    /// on the worker's thread ([`mxrs_sync::Team::alone`]). Not used by [`EngineKind::Naive`].
    pub gpu_workers_share_loops: bool,
    /// When a GPU task counts as complete. If [`Self::is_async`] is set, this value is ignored, and a task is complete
    /// when its work is enqueued. Not used by [`EngineKind::Naive`], which leaves the work on the stream.
    pub gpu_sync: GpuSync,
    /// The number of normal tasks that may run at the same time on each CPU device id in a forked child.
    pub child_workers: NonZeroUsize,
    /// Whether a variable keeps a failure after it was reported, and returns it to every reader, until a write
    /// succeeds.
    pub sticky_errors: bool,
    /// Whether errors include the backtrace of the push of their task.
    pub backtrace: bool,
    /// The largest number of stack frames of the push that an error includes, unless [`Self::backtrace`] requests all.
    pub stack_trace_depth: usize,
    /// If tasks are pending and none ends for this long, the engine logs what it is waiting for.
    pub stall_after: Option<Duration>,
    /// The longest time that dropping the engine waits for pending tasks before it abandons them; `None` for no limit.
    pub exit_timeout: Option<Duration>,
    /// Whether to log each wait, and the push and completion of tasks that use the variable of the latest wait.
    pub info: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
        Self {
            kind: EngineKind::default(),
            is_async: false,
            cpu_workers: NonZeroUsize::MIN,
            cpu_priority_workers: NonZeroUsize::MIN.saturating_add(3),
            gpu_workers: TWO,
            gpu_copy_workers: TWO,
            gpu_worker_streams: NonZeroUsize::MIN,
            gpu_workers_share_loops: false,
            gpu_sync: GpuSync::Host,
            child_workers: NonZeroUsize::MIN,
            sticky_errors: false,
            backtrace: false,
            stack_trace_depth: 0,
            stall_after: None,
            exit_timeout: None,
            info: false,
        }
    }
}

impl EngineConfig {
    /// The default settings with this scheduler.
    pub fn of_kind(kind: EngineKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// When a GPU task counts as complete, after taking [`Self::is_async`] and the scheduler into account.
    pub(crate) fn effective_gpu_sync(&self) -> GpuSync {
        if self.is_async || self.kind == EngineKind::Naive { GpuSync::Event } else { self.gpu_sync }
    }

    /// The numbers of streams that each GPU needs.
    pub(crate) fn stream_layout(&self) -> StreamLayout {
        StreamLayout {
            workers: self.gpu_workers.get(),
            copy_workers: self.gpu_copy_workers.get(),
            with_aux: self.gpu_worker_streams.get() > 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_documented_ones() {
        let c = EngineConfig::default();
        assert_eq!((c.cpu_workers.get(), c.cpu_priority_workers.get()), (1, 4));
        assert_eq!((c.gpu_workers.get(), c.gpu_copy_workers.get()), (2, 2));
        assert!(!c.is_async && !c.info);
    }
}
