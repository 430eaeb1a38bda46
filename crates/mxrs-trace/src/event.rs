//! The records, and how they are stored as words.

use crate::Label;
use crate::kinds::Kinds;
use crate::ring::Words;
use mxrs_types::{Device, DeviceKind};

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Something that took time on one thread.
    Span(Span),
    /// A moment.
    Mark(Mark),
    /// A new value of a counter.
    Count(Count),
    /// Memory that was allocated or freed.
    Memory(Memory),
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum SpanKind {
    /// An operator of a bound graph.
    Symbolic = 0,
    /// A segment of a bound graph: the operators that it runs are spans inside it.
    Segment = 1,
    /// An operator called by itself.
    Imperative = 2,
    /// A call of the public interface.
    Api = 3,
    /// A thread hands a task to the engine.
    Push = 4,
    /// A task of the engine runs.
    Run = 5,
    /// The engine completes a task and starts those that waited for it.
    Complete = 6,
    /// A task of the user; its category is the domain.
    Task = 7,
    /// A frame of the user; its category is the domain.
    Frame = 8,
    /// An event of the user.
    Event = 9,
    /// A span of `tracing`; its category is the target.
    Region = 10,
}

impl SpanKind {
    const ALL: [Self; 11] = [
        Self::Symbolic,
        Self::Segment,
        Self::Imperative,
        Self::Api,
        Self::Push,
        Self::Run,
        Self::Complete,
        Self::Task,
        Self::Frame,
        Self::Event,
        Self::Region,
    ];

    /// The kinds of records that this span belongs to.
    #[inline]
    #[must_use]
    pub const fn kinds(self) -> Kinds {
        match self {
            Self::Symbolic | Self::Segment => Kinds::SYMBOLIC,
            Self::Imperative => Kinds::IMPERATIVE,
            Self::Api => Kinds::API,
            Self::Push | Self::Run | Self::Complete => Kinds::ENGINE,
            Self::Task | Self::Frame | Self::Event | Self::Region => Kinds::USER,
        }
    }
}

/// A span that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What the span is.
    pub kind: SpanKind,
    /// The name, such as that of an operator.
    pub name: Label,
    /// The domain of an object of the user, the target of a span of `tracing`; otherwise empty.
    pub category: Label,
    /// Shapes, kernel, costs: see [`crate::details_of`].
    pub details: Label,
    /// The device that the work ran on.
    pub device: Device,
    /// The time of the begin ([`crate::now_ns`]).
    pub begin_ns: u64,
    /// The time of the end.
    pub end_ns: u64,
    /// Identifies the span in the process. Not 0.
    pub id: u64,
    /// The span that was open on the thread when this one began; 0 if there was none.
    pub parent: u64,
    /// For [`SpanKind::Push`], [`SpanKind::Run`] and [`SpanKind::Complete`]: the task, so that the three are connected. Other
    /// spans have 0. Tasks that do not exist at the same time may have the same number.
    pub task: u64,
    /// For [`SpanKind::Push`] and [`SpanKind::Complete`]: the number of tasks that were pushed and not yet completed.
    pub pending: u32,
}

/// The part of a trace viewer's picture across which a mark is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum MarkScope {
    /// All processes.
    Global = 0,
    /// The process.
    #[default]
    Process = 1,
    /// The thread.
    Thread = 2,
    /// The task; drawn as [`MarkScope::Process`], as in MXNet.
    Task = 3,
    /// The mark itself; drawn as [`MarkScope::Process`], as in MXNet.
    Marker = 4,
}

/// A moment that the user marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The name.
    pub name: Label,
    /// The domain.
    pub category: Label,
    /// The time.
    pub at_ns: u64,
    /// The range in which the mark is drawn.
    pub scope: MarkScope,
}

/// A new value of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The name.
    pub name: Label,
    /// The domain.
    pub category: Label,
    /// The time.
    pub at_ns: u64,
    /// The value from now on.
    pub value: u64,
    /// The kind of records that the counter belongs to.
    pub kinds: Kinds,
}

/// What happened to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryStep {
    /// A pool handed out a block for which it got new memory from the device.
    New = 0,
    /// A pool handed out a block of memory that it already had.
    Reused = 1,
    /// The owner gave up a block; its memory stays with the pool or goes back to the device.
    Freed = 2,
    /// A pool got memory from the device.
    Grown = 3,
    /// A pool returned memory to the device.
    Returned = 4,
}

/// Memory that was allocated or freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What happened.
    pub step: MemoryStep,
    /// The time.
    pub at_ns: u64,
    /// The device whose memory it is.
    pub device: Device,
    /// The first address.
    pub address: u64,
    /// The number of bytes that the owner requested; 0 for [`MemoryStep::Grown`] and [`MemoryStep::Returned`].
    pub requested_bytes: u64,
    /// The number of bytes of the block, or those that the pool got or returned.
    pub block_bytes: u64,
    /// The use of the memory, such as `conv0_weight`; empty for [`MemoryStep::Grown`] and [`MemoryStep::Returned`].
    pub tag: Label,
    /// The profiler scope, such as `resnet:`; empty for the same steps as the tag.
    pub scope: Label,
}

const SPAN: u8 = 1;
const MARK: u8 = 2;
const COUNT: u8 = 3;
const MEMORY: u8 = 4;

/// The first word of a record: what the record is, and the device.
fn head(what: u8, sub: u8, device: Device) -> u64 {
    u64::from(what) | u64::from(sub) << 8 | (device.kind.code() as u64 & 255) << 16 | u64::from(device.id) << 32
}

fn pair(low: Label, high: u32) -> u64 {
    u64::from(low.number()) | u64::from(high) << 32
}

fn low(word: u64) -> Label {
    Label::of_number(word as u32)
}

fn high(word: u64) -> Label {
    Label::of_number((word >> 32) as u32)
}

impl Event {
    pub(crate) fn to_words(self) -> Words {
        match self {
            Self::Span(s) => [
                head(SPAN, s.kind as u8, s.device),
                s.begin_ns,
                s.end_ns,
                s.id,
                s.parent,
                pair(s.name, s.category.number()),
                pair(s.details, s.pending),
                s.task,
            ],
            Self::Mark(m) => {
                let head = head(MARK, m.scope as u8, Device::default());
                [head, m.at_ns, 0, 0, 0, pair(m.name, m.category.number()), 0, 0]
            }
            Self::Count(c) => {
                let head = head(COUNT, 0, Device::default());
                [head, c.at_ns, c.value, u64::from(c.kinds.bits()), 0, pair(c.name, c.category.number()), 0, 0]
            }
            Self::Memory(m) => [
                head(MEMORY, m.step as u8, m.device),
                m.at_ns,
                m.requested_bytes,
                m.address,
                m.block_bytes,
                pair(m.tag, m.scope.number()),
                0,
                0,
            ],
        }
    }

    /// The record of these words; `None` for words that [`Event::to_words`] did not make.
    pub(crate) fn of_words(words: Words) -> Option<Self> {
        let [head, at, second, third, fourth, names, more, task] = words;
        let (what, sub) = (head as u8, (head >> 8) as u8);
        let kind = DeviceKind::from_code((head >> 16 & 255) as i32)?;
        let device = Device { kind, id: (head >> 32) as u32 };
        let (name, category) = (low(names), high(names));
        Some(match what {
            SPAN => Self::Span(Span {
                kind: *SpanKind::ALL.get(usize::from(sub))?,
                name,
                category,
                details: low(more),
                device,
                begin_ns: at,
                end_ns: second,
                id: third,
                parent: fourth,
                task,
                pending: (more >> 32) as u32,
            }),
            MARK => {
                use MarkScope::{Global, Marker, Process, Task, Thread};
                let scope = *[Global, Process, Thread, Task, Marker].get(usize::from(sub))?;
                Self::Mark(Mark { name, category, at_ns: at, scope })
            }
            COUNT => {
                let kinds = Kinds::of_bits(third as u32);
                Self::Count(Count { name, category, at_ns: at, value: second, kinds })
            }
            MEMORY => {
                use MemoryStep::{Freed, Grown, New, Returned, Reused};
                Self::Memory(Memory {
                    step: *[New, Reused, Freed, Grown, Returned].get(usize::from(sub))?,
                    at_ns: at,
                    device,
                    address: third,
                    requested_bytes: second,
                    block_bytes: fourth,
                    tag: name,
                    scope: category,
                })
            }
            _ => return None,
        })
    }

    /// The time of the record. For a span this is the time of its end.
    #[must_use]
    pub const fn at_ns(&self) -> u64 {
        match self {
            Self::Span(span) => span.end_ns,
            Self::Mark(mark) => mark.at_ns,
            Self::Count(count) => count.at_ns,
            Self::Memory(memory) => memory.at_ns,
        }
    }

    /// The kinds of records that this record belongs to.
    #[inline]
    #[must_use]
    pub const fn kinds(&self) -> Kinds {
        match self {
            Self::Span(span) => span.kind.kinds(),
            Self::Mark(_) => Kinds::USER,
            Self::Count(count) => count.kinds,
            Self::Memory(_) => Kinds::MEMORY,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_keep_every_field() {
        let label = |text| Label::of(text);
        let (at_ns, device) = (u64::MAX - 7, Device { kind: DeviceKind::CpuShared, id: u32::MAX });
        let span = |kind| Span {
            kind,
            name: label("n"),
            category: label("c"),
            details: label("d"),
            device,
            begin_ns: 3,
            end_ns: at_ns,
            id: 1 << 63,
            parent: 5,
            task: u64::MAX,
            pending: u32::MAX,
        };
        let mut events: Vec<Event> = SpanKind::ALL.into_iter().map(|kind| Event::Span(span(kind))).collect();
        use MarkScope::{Global, Marker, Process, Task, Thread};
        for scope in [Global, Process, Thread, Task, Marker] {
            events.push(Event::Mark(Mark { name: label("m"), category: Label::MORE, at_ns, scope }));
        }
        let kinds = Kinds::ENGINE | Kinds::USER;
        events.push(Event::Count(Count { name: label("k"), category: label("c"), at_ns, value: u64::MAX, kinds }));
        use MemoryStep::{Freed, Grown, New, Returned, Reused};
        for step in [New, Reused, Freed, Grown, Returned] {
            let (tag, scope) = (label("t"), label("s:"));
            let (address, requested_bytes, block_bytes) = (u64::MAX, 9, 64);
            events.push(Event::Memory(Memory {
                step,
                at_ns,
                device,
                address,
                requested_bytes,
                block_bytes,
                tag,
                scope,
            }));
        }
        for event in events {
            assert_eq!(Event::of_words(event.to_words()), Some(event));
            assert_eq!(event.at_ns(), at_ns);
        }
        assert_eq!(Event::of_words([0; 8]), None);
        assert_eq!(Event::of_words([u64::MAX; 8]), None);
    }
}
