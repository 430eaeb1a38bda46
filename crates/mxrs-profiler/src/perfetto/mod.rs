//! The trace for Perfetto in its own format, protobuf: smaller than JSON, with exact nanoseconds.
//!
//! There is one process. Each thread has a row with its nested spans. Spans that need not nest (tasks, frames and events of
//! the user) have a row for each thread and kind. Each counter has a row.

mod proto;

use crate::memory::Level;
use crate::names;
use mxrs_trace::{Event, Label, MarkScope, Span, SpanKind, ThreadInfo, details_of};
use mxrs_types::{Error, Result};
use prost::Message;
use proto::{
    CounterDescriptor, DebugAnnotation, ProcessDescriptor, ThreadDescriptor, Trace, TracePacket, TrackDescriptor,
    TrackEvent, Type,
};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The number of the track of the process.
const PROCESS: u64 = 1;
/// The number of packets from which waiting packets are written even without a commit.
const MOST_WAITING: usize = 4096;

/// What a track is for.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Track {
    Thread(u32),
    /// Spans of one category and thread that need not nest with the other spans of the thread.
    Apart(u32, String),
    Counter(String),
}

/// A Perfetto trace that grows.
pub(crate) struct PerfettoTrace {
    path: PathBuf,
    file: File,
    waiting: Trace,
    tracks: FxHashMap<Track, u64>,
    failed: Option<Error>,
}

impl PerfettoTrace {
    /// Creates or empties the file.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if the file cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|error| Error::io(path, &error))?;
        let (waiting, tracks) = (Trace::default(), FxHashMap::default());
        let mut trace = Self { path: path.to_path_buf(), file, waiting, tracks, failed: None };
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let process = ProcessDescriptor { pid: Some(pid), process_name: Some(format!("mxrs {pid}")) };
        trace.describe(TrackDescriptor { uuid: Some(PROCESS), process: Some(process), ..Default::default() });
        trace.commit()?;
        Ok(trace)
    }

    /// Adds a record. For a record of memory, `level` is the memory of its device after it.
    pub(crate) fn take(&mut self, thread: ThreadInfo, event: &Event, level: Option<&Level>) {
        match event {
            Event::Span(span) => self.span(thread, span),
            Event::Mark(mark) => {
                let track = match mark.scope {
                    MarkScope::Thread => self.thread(thread),
                    _ => PROCESS,
                };
                let category = names::marks_of(mark.category);
                self.event(mark.at_ns, track, Type::Instant, named(&mark.name, &category));
            }
            Event::Count(count) => {
                let counter = format!("{} {}", names::domain_of(count.category), count.name);
                self.counter(count.at_ns, counter, count.value);
            }
            Event::Memory(memory) => {
                if let Some(level) = level {
                    let (_, counter, bytes) = names::counter_of(level);
                    self.counter(memory.at_ns, counter, bytes);
                }
            }
            _ => {}
        }
        if self.waiting.packet.len() >= MOST_WAITING {
            self.write();
        }
    }

    /// Writes the waiting packets. The file is a whole trace afterwards.
    ///
    /// # Errors
    /// The first error since the last call of this function; the packets of that write are lost.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.write();
        self.failed.take().map_or(Ok(()), Err)
    }

    fn write(&mut self) {
        let bytes = self.waiting.encode_to_vec();
        self.waiting.packet.clear();
        if let Err(error) = self.file.write_all(&bytes)
            && self.failed.is_none()
        {
            self.failed = Some(Error::io(&self.path, &error));
        }
    }

    fn span(&mut self, thread: ThreadInfo, span: &Span) {
        let category = names::category_of(span);
        let track = match span.kind {
            SpanKind::Task | SpanKind::Frame | SpanKind::Event => {
                let track = Track::Apart(thread.number, category.clone().into_owned());
                let row = TrackDescriptor { name: Some(category.clone().into_owned()), ..Default::default() };
                self.track(track, row)
            }
            _ => self.thread(thread),
        };
        let details = details_of(span.details).map(|(name, value)| {
            let number = value.parse().ok();
            let string_value = number.is_none().then(|| value.to_owned());
            DebugAnnotation { uint_value: number, string_value, name: Some(name.to_owned()) }
        });
        let (flow_ids, terminating_flow_ids) = match span.kind {
            SpanKind::Push | SpanKind::Run => (vec![span.task], Vec::new()),
            SpanKind::Complete => (Vec::new(), vec![span.task]),
            _ => Default::default(),
        };
        let begin = TrackEvent {
            debug_annotations: details.collect(),
            flow_ids,
            terminating_flow_ids,
            ..named(&span.name, &category)
        };
        self.event(span.begin_ns, track, Type::SliceBegin, begin);
        self.event(span.end_ns, track, Type::SliceEnd, TrackEvent::default());
        if matches!(span.kind, SpanKind::Push | SpanKind::Complete) {
            self.counter(span.begin_ns, "Pending tasks".to_owned(), span.pending.into());
        }
    }

    fn counter(&mut self, at_ns: u64, name: String, value: u64) {
        let row =
            TrackDescriptor { name: Some(name.clone()), counter: Some(CounterDescriptor {}), ..Default::default() };
        let track = self.track(Track::Counter(name), row);
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.event(at_ns, track, Type::Counter, TrackEvent { counter_value: Some(value), ..Default::default() });
    }

    fn thread(&mut self, thread: ThreadInfo) -> u64 {
        let tid = i32::try_from(thread.number).unwrap_or(i32::MAX);
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let thread_name = (thread.name != Label::NONE).then(|| thread.name.text().to_owned());
        let row = ThreadDescriptor { pid: Some(pid), tid: Some(tid), thread_name };
        self.track(Track::Thread(thread.number), TrackDescriptor { thread: Some(row), ..Default::default() })
    }

    /// The number of a track. A new track is first described in the trace.
    fn track(&mut self, track: Track, description: TrackDescriptor) -> u64 {
        if let Some(uuid) = self.tracks.get(&track) {
            return *uuid;
        }
        let uuid = PROCESS + 1 + self.tracks.len() as u64;
        self.tracks.insert(track, uuid);
        self.describe(TrackDescriptor { uuid: Some(uuid), parent_uuid: Some(PROCESS), ..description });
        uuid
    }

    fn describe(&mut self, description: TrackDescriptor) {
        self.waiting.packet.push(TracePacket {
            trusted_packet_sequence_id: Some(1),
            track_descriptor: Some(description),
            ..Default::default()
        });
    }

    fn event(&mut self, at_ns: u64, track: u64, kind: Type, event: TrackEvent) {
        let event = TrackEvent { r#type: Some(kind as i32), track_uuid: Some(track), ..event };
        self.waiting.packet.push(TracePacket {
            timestamp: Some(at_ns),
            trusted_packet_sequence_id: Some(1),
            track_event: Some(event),
            ..Default::default()
        });
    }
}

fn named(name: &Label, category: &str) -> TrackEvent {
    TrackEvent {
        name: Some(names::cut(name.text()).to_owned()),
        categories: vec![category.to_owned()],
        ..Default::default()
    }
}
