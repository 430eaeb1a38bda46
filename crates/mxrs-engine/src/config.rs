//! Which scheduler, and how many workers.

use crate::gpu::{GpuSync, StreamLayout};
use mxrs_types::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use std::time::Duration;

/// How tasks meet threads. Results do not depend on it; where an error is reported does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum EngineKind {
    /// Each task runs on the pushing thread before the push returns, and its error is the push's: for debugging.
    Naive,
    /// One pool of 16 workers and one worker for copies between devices, first in, first out.
    Threaded,
    /// A pool per device and purpose; see [`crate::Property`].
    #[default]
    ThreadedPerDevice,
}

impl EngineKind {
    /// MXNet's word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Naive => "NaiveEngine",
            Self::Threaded => "ThreadedEngine",
            Self::ThreadedPerDevice => "ThreadedEnginePerDevice",
        }
    }

    /// Reads a value of `MXNET_ENGINE_TYPE`: the kind, and whether the suffix `Async` was there. The empty word stands
    /// for the default.
    ///
    /// # Errors
    /// [`ErrorKind::Env`] for any other word; case counts.
    ///
    /// ```
    /// use mxrs_engine::EngineKind;
    /// assert_eq!(EngineKind::parse("ThreadedEngineAsync")?, (EngineKind::Threaded, true));
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub fn parse(word: &str) -> Result<(Self, bool)> {
        let (base, is_async) = match word.strip_suffix("Async") {
            Some(base) => (base, true),
            None => (word, false),
        };
        let kind = match base {
            "NaiveEngine" => Self::Naive,
            "ThreadedEngine" => Self::Threaded,
            "ThreadedEnginePerDevice" => Self::ThreadedPerDevice,
            "" if !is_async => Self::default(),
            _ => {
                return Err(Error::new(ErrorKind::Env {
                    name: "MXNET_ENGINE_TYPE".into(),
                    value: word.into(),
                    expected:
                        "NaiveEngine, ThreadedEngine or ThreadedEnginePerDevice, each optionally followed by Async"
                            .into(),
                }));
            }
        };
        Ok((kind, is_async))
    }
}

/// Settings of an engine. The default is what MXNet documents for an empty environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Scheduler.
    pub kind: EngineKind,
    /// Whether GPU tasks depend on one another through device events ([`GpuSync::Event`]). No difference for CPU tasks.
    pub is_async: bool,
    /// Normal tasks that may run at once on each CPU device id.
    pub cpu_workers: NonZeroUsize,
    /// CPU-prioritised tasks that may run at once, over all CPU devices.
    pub cpu_priority_workers: NonZeroUsize,
    /// Normal tasks that may run at once on each GPU.
    pub gpu_workers: NonZeroUsize,
    /// Copies that may run at once for each GPU.
    pub gpu_copy_workers: NonZeroUsize,
    /// Streams of each GPU worker but those for copies: 1, or 2 for an auxiliary one.
    pub gpu_worker_streams: NonZeroUsize,
    /// Whether loops of a GPU's tasks on the host may be shared with a team's threads; otherwise each runs on its worker
    /// alone ([`mxrs_sync::Team::alone`]). Under [`EngineKind::Naive`] it makes no difference.
    pub gpu_workers_share_loops: bool,
    /// When a GPU task is complete; with `is_async` always when its work is enqueued. Under [`EngineKind::Naive`] it makes
    /// no difference: work is left on the stream.
    pub gpu_sync: GpuSync,
    /// Normal tasks that may run at once on each CPU device id in a forked child.
    pub child_workers: NonZeroUsize,
    /// Whether a variable keeps a failure that was told, and tells each reader again, until a write succeeds.
    pub sticky_errors: bool,
    /// Whether errors carry the place where their task was pushed.
    pub backtrace: bool,
    /// After how long without any task ending, while some are pending, the engine says what it waits for.
    pub stall_after: Option<Duration>,
    /// How long the end of the engine waits for pending tasks before it leaves them behind; no limit unless said.
    pub exit_timeout: Option<Duration>,
    /// Whether to log each wait, and push and completion of the tasks on the variable waited for.
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
            stall_after: None,
            exit_timeout: None,
            info: false,
        }
    }
}

impl EngineConfig {
    /// The documented defaults, with this scheduler.
    pub fn of_kind(kind: EngineKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// When a GPU task is complete.
    pub(crate) fn effective_gpu_sync(&self) -> GpuSync {
        if self.is_async || self.kind == EngineKind::Naive { GpuSync::Event } else { self.gpu_sync }
    }

    /// The streams of a GPU.
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
    fn words_round_trip_with_and_without_async() {
        for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
            assert_eq!(EngineKind::parse(kind.word()).unwrap(), (kind, false));
            assert_eq!(EngineKind::parse(&format!("{}Async", kind.word())).unwrap(), (kind, true));
        }
        assert_eq!(EngineKind::parse("").unwrap(), (EngineKind::ThreadedPerDevice, false));
    }

    #[test]
    fn other_words_name_the_variable() {
        for bad in ["naiveengine", "Async", "ThreadedEnginePooled", "NaiveEngineAsyncAsync"] {
            let message = EngineKind::parse(bad).unwrap_err().to_string();
            assert!(message.starts_with(&format!("MXNET_ENGINE_TYPE: invalid value \"{bad}\"")), "{message}");
        }
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let c = EngineConfig::default();
        assert_eq!((c.cpu_workers.get(), c.cpu_priority_workers.get()), (1, 4));
        assert_eq!((c.gpu_workers.get(), c.gpu_copy_workers.get()), (2, 2));
        assert!(!c.is_async && !c.info);
    }
}
