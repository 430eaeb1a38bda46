//! The calls that a simulated GPU received, and the future calls that it must refuse.

use mxrs_engine::gpu::StreamUse;
use mxrs_sync::Mutex;
use mxrs_types::StreamId;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Identifies an event of a simulated GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The stream that it was recorded on.
    pub stream: StreamId,
    /// The event's number among the events of that stream, starting at 1.
    pub place: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} of {}", self.place, self.stream)
    }
}

/// One call to a [`crate::SimulatedGpu`] or to one of its streams or events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulatedGpuCall {
    /// A request for a stream.
    CreateStream {
        /// The new stream, or `None` if it was refused.
        stream: Option<StreamId>,
        /// What the stream is for.
        stream_use: StreamUse,
    },
    /// Work was enqueued.
    Launch {
        /// The stream.
        stream: StreamId,
        /// The name given by the caller.
        name: Arc<str>,
    },
    /// An event was enqueued.
    Record(EventId),
    /// A stream was ordered to wait.
    StreamWait {
        /// The stream that waits.
        stream: StreamId,
        /// The event that it waits for.
        event: EventId,
    },
    /// A thread of the host waited for a stream.
    Synchronize(StreamId),
    /// A thread of the host waited for an event that was not finished yet.
    EventWait(EventId),
    /// The engine that used the device was dropped.
    Close,
}

/// Counters of a [`crate::SimulatedGpu`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulatedGpuCounters {
    /// Streams made.
    pub streams: u64,
    /// Launches enqueued.
    pub launches: u64,
    /// Launches that ran or failed.
    pub executed: u64,
    /// Launches that did not run because something before them had failed.
    pub skipped: u64,
    /// Launches that failed.
    pub failed: u64,
    /// Events recorded.
    pub records: u64,
    /// Requests for events that were refused.
    pub refused_records: u64,
    /// Waits of a stream for an event.
    pub stream_waits: u64,
    /// Waits of the host for a stream.
    pub synchronizations: u64,
    /// Waits of the host for an event that was not finished yet.
    pub event_waits: u64,
    /// The largest number of launches that ran at the same time.
    pub peak_running: usize,
}

/// A launch that was logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    /// Its number, starting at 1.
    pub(crate) number: u64,
    /// Whether it must fail.
    pub(crate) fails: bool,
    /// Whether the device is lost when this launch is enqueued.
    pub(crate) loses: bool,
}

#[derive(Default)]
pub(crate) struct Log(Mutex<State>);

#[derive(Default)]
struct State {
    calls: Vec<SimulatedGpuCall>,
    counters: SimulatedGpuCounters,
    n_stream_requests: u64,
    n_record_requests: u64,
    failing_launches: BTreeSet<u64>,
    /// The launch at which the device is lost; 0 for none.
    losing_launch: u64,
    failing_streams: BTreeSet<u64>,
    failing_records: BTreeSet<u64>,
}

impl Log {
    pub(crate) fn fail_launch(&self, nth: u64) {
        self.0.lock().failing_launches.insert(nth);
    }

    pub(crate) fn lose_at_launch(&self, nth: u64) {
        self.0.lock().losing_launch = nth;
    }

    pub(crate) fn fail_create_stream(&self, nth: u64) {
        self.0.lock().failing_streams.insert(nth);
    }

    pub(crate) fn fail_record(&self, nth: u64) {
        self.0.lock().failing_records.insert(nth);
    }

    pub(crate) fn calls(&self) -> Vec<SimulatedGpuCall> {
        self.0.lock().calls.clone()
    }

    pub(crate) fn counters(&self) -> SimulatedGpuCounters {
        self.0.lock().counters
    }

    pub(crate) fn create_stream(&self, stream: StreamId, stream_use: StreamUse) -> Result<(), String> {
        let mut state = self.0.lock();
        state.n_stream_requests += 1;
        let nth = state.n_stream_requests;
        let refused = state.failing_streams.contains(&nth);
        state.counters.streams += u64::from(!refused);
        state.calls.push(SimulatedGpuCall::CreateStream { stream: (!refused).then_some(stream), stream_use });
        if refused { Err(format!("request {nth} for a stream is refused")) } else { Ok(()) }
    }

    /// Logs a launch.
    pub(crate) fn launch(&self, stream: StreamId, name: &Arc<str>) -> Logged {
        let mut state = self.0.lock();
        state.counters.launches += 1;
        state.calls.push(SimulatedGpuCall::Launch { stream, name: Arc::clone(name) });
        let number = state.counters.launches;
        Logged { number, fails: state.failing_launches.contains(&number), loses: state.losing_launch == number }
    }

    pub(crate) fn record(&self, event: EventId) -> Result<(), String> {
        let mut state = self.0.lock();
        state.n_record_requests += 1;
        let nth = state.n_record_requests;
        if state.failing_records.contains(&nth) {
            state.counters.refused_records += 1;
            return Err(format!("request {nth} for an event is refused"));
        }
        state.counters.records += 1;
        state.calls.push(SimulatedGpuCall::Record(event));
        Ok(())
    }

    pub(crate) fn stream_wait(&self, stream: StreamId, event: EventId) {
        let mut state = self.0.lock();
        state.counters.stream_waits += 1;
        state.calls.push(SimulatedGpuCall::StreamWait { stream, event });
    }

    pub(crate) fn synchronize(&self, stream: StreamId) {
        let mut state = self.0.lock();
        state.counters.synchronizations += 1;
        state.calls.push(SimulatedGpuCall::Synchronize(stream));
    }

    pub(crate) fn event_wait(&self, event: EventId) {
        let mut state = self.0.lock();
        state.counters.event_waits += 1;
        state.calls.push(SimulatedGpuCall::EventWait(event));
    }

    pub(crate) fn close(&self) {
        self.0.lock().calls.push(SimulatedGpuCall::Close);
    }

    pub(crate) fn note_running(&self, running: usize) {
        let peak = &mut self.0.lock().counters.peak_running;
        *peak = running.max(*peak);
    }

    pub(crate) fn finish_launch(&self, failed: bool) {
        let counters = &mut self.0.lock().counters;
        counters.executed += 1;
        counters.failed += u64::from(failed);
    }

    pub(crate) fn skip_launch(&self) {
        self.0.lock().counters.skipped += 1;
    }
}
