//! Objects with which a program marks its own work: domains, tasks, frames, events, counters, markers.
//!
//! They are recorded while a profiler runs. Otherwise a call costs one load of a flag. Names are cut to 127 bytes.

use crate::names::cut;
use mxrs_sync::Mutex;
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_trace::{
    Count, Event as Record, Kinds, Label, Mark, MarkScope, Open, SpanInfo, SpanKind, is_on, now_ns, record,
};
use mxrs_trace::{close, open_apart};

/// A group of objects. Its name is the category of their records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(Label);

impl Domain {
    /// A domain. Domains of one name are the same domain.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Label::of(cut(name)))
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.text()
    }

    /// A task of this domain.
    #[must_use]
    pub fn task(self, name: &str) -> Task {
        Task(Duration::new(SpanKind::Task, self.0, name))
    }

    /// A frame of this domain.
    #[must_use]
    pub fn frame(self, name: &str) -> Frame {
        Frame(Duration::new(SpanKind::Frame, self.0, name))
    }

    /// A counter of this domain. It begins at 0, and is recorded only when it changes.
    #[must_use]
    pub fn counter(self, name: &str) -> Counter {
        Counter { domain: self.0, name: Label::of(cut(name)), value: AtomicU64::new(0) }
    }

    /// A marker of this domain.
    #[must_use]
    pub fn marker(self, name: &str) -> Marker {
        Marker { domain: self.0, name: Label::of(cut(name)) }
    }
}

/// Something that starts and stops. It is recorded as a span when it stops.
#[derive(Debug)]
struct Duration {
    info: SpanInfo,
    open: Mutex<Option<Open>>,
}

impl Duration {
    fn new(kind: SpanKind, category: Label, name: &str) -> Self {
        let info = SpanInfo { category, ..SpanInfo::new(kind, Label::of(cut(name))) };
        Self { info, open: Mutex::new(None) }
    }

    fn start(&self) {
        // A second start replaces the first one, so the span begins now.
        *self.open.lock() = is_on(Kinds::USER).then(|| open_apart(self.info));
    }

    fn stop(&self) {
        let open = self.open.lock().take();
        if let Some(open) = open {
            close(open);
        }
    }
}

/// Stops its object when dropped.
#[derive(Debug)]
#[must_use = "the object stops when the guard is dropped"]
pub struct Started<'a>(&'a Duration);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

macro_rules! duration {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[derive(Debug)]
        pub struct $name(Duration);

        impl $name {
            /// Begins. If it has begun already, the earlier begin is forgotten.
            pub fn start(&self) {
                self.0.start();
            }

            /// Ends the span and records it. Does nothing if it has not begun while a profiler ran.
            pub fn stop(&self) {
                self.0.stop();
            }

            /// Begins, and returns a guard. Dropping the guard ends the span.
            pub fn started(&self) -> Started<'_> {
                self.0.start();
                Started(&self.0)
            }

            /// The name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                self.0.info.name.text()
            }
        }
    };
}

duration! {
    /// A unit of work of one thread. In statistics, all its runs form one entry.
    Task
}
duration! {
    /// One pass of something that repeats, such as a batch.
    Frame
}
duration! {
    /// Something that happens in a program. It has no domain.
    Event
}

impl Event {
    /// An event.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Duration::new(SpanKind::Event, Label::NONE, name))
    }
}

/// A number that changes over time; not negative. Each change is recorded.
#[derive(Debug)]
pub struct Counter {
    domain: Label,
    name: Label,
    value: AtomicU64,
}

impl Counter {
    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.record(value);
    }

    /// Adds to the value.
    pub fn increment(&self, by: u64) {
        self.change(|value| value.saturating_add(by));
    }

    /// Subtracts from the value, down to 0.
    pub fn decrement(&self, by: u64) {
        self.change(|value| value.saturating_sub(by));
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    fn change(&self, to: impl Fn(u64) -> u64) {
        let before = self.value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |value| Some(to(value)));
        // `fetch_update` never fails here, because the closure always returns a value.
        let (Ok(before) | Err(before)) = before;
        self.record(to(before));
    }

    fn record(&self, value: u64) {
        if is_on(Kinds::USER) {
            let &Self { domain: category, name, .. } = self;
            record(Record::Count(Count { name, category, at_ns: now_ns(), value, kinds: Kinds::USER }));
        }
    }
}

/// A name with which moments can be marked.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    domain: Label,
    name: Label,
}

impl Marker {
    /// Marks this moment.
    pub fn mark(self, scope: MarkScope) {
        if is_on(Kinds::USER) {
            let Self { domain: category, name } = self;
            record(Record::Mark(Mark { name, category, at_ns: now_ns(), scope }));
        }
    }
}
