//! Records of tasks for a profiler, the log of [`crate::EngineConfig::info`] and the watch for stalls.
//!
//! All of them are off in most processes. So pushing, running and completing a task test one word,
//! [`mxrs_trace::is_on`], and continue here only if one of the three is on, in this engine or in another one.

use crate::config::EngineConfig;
use crate::engine::Inner;
use crate::op::Task;
use mxrs_sync::atomic::Ordering;
use mxrs_trace::{Kinds, Label, SpanGuard, SpanInfo, SpanKind, is_on, keep_on, span};

/// Whether a task may also have to be recorded, logged or watched.
#[inline(always)]
pub(crate) fn are_needed() -> bool {
    is_on(Kinds::ENGINE | Kinds::ENGINE_REPORTS)
}

/// Called when an engine is made: if it logs or watches for stalls, [`are_needed`] is true from now on.
pub(crate) fn note_engine(config: &EngineConfig) {
    if config.info || config.stall_after.is_some() {
        keep_on(Kinds::ENGINE_REPORTS);
    }
}

impl Inner {
    /// Begins a span of the task, if tasks are recorded.
    pub(crate) fn task_span(&self, kind: SpanKind, task: &Task) -> Option<SpanGuard> {
        is_on(Kinds::ENGINE).then(|| {
            let pending = match kind {
                SpanKind::Run => 0,
                _ => self.n_pending(),
            };
            // The address of a task's block identifies the task until it is completed.
            let (name, task_id) = (Label::of(task.name.as_str()), task.as_ptr().addr().get() as u64);
            span(SpanInfo { device: task.device, task: task_id, pending, ..SpanInfo::new(kind, name) })
        })
    }

    /// Logs a push or a completion, if this engine does that.
    pub(crate) fn log_if_asked(&self, task: &Task, event: &str) {
        if self.config.info {
            self.log_if_waited_for(task, event);
        }
    }

    fn n_pending(&self) -> u32 {
        let completed = self.tally.completed.load(Ordering::Relaxed);
        // Read second, so that the difference is not negative unless the reads are reordered.
        let pushed = self.tally.pushed.load(Ordering::Relaxed);
        u32::try_from(pushed.saturating_sub(completed)).unwrap_or(u32::MAX)
    }
}
