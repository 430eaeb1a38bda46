//! Spans: made while their kind is on, recorded when they end.

use crate::event::{Event, Span, SpanKind};
use crate::kinds::{Kinds, is_on};
use crate::thread::{begin_span, record, reopen, tick};
use crate::{Label, now_ns};
use mxrs_types::Device;
use std::marker::PhantomData;

/// What is known about a span when it begins.
///
/// ```
/// use mxrs_trace::{Kinds, Label, SpanInfo, SpanKind};
/// let _span = mxrs_trace::is_on(Kinds::API)
///     .then(|| mxrs_trace::span(SpanInfo::new(SpanKind::Api, Label::of("predict"))));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SpanInfo {
    /// What the span is.
    pub kind: SpanKind,
    /// The name.
    pub name: Label,
    /// The domain or target; see [`Span::category`].
    pub category: Label,
    /// Shapes, kernel, costs: made by [`crate::details`].
    pub details: Label,
    /// The device that the work runs on.
    pub device: Device,
    /// The engine's task; see [`Span::task`].
    pub task: u64,
    /// Tasks not completed; see [`Span::pending`].
    pub pending: u32,
}

impl SpanInfo {
    /// A span with this name on `cpu(0)`, without a category, details or a task.
    #[must_use]
    pub fn new(kind: SpanKind, name: Label) -> Self {
        let (category, details) = (Label::NONE, Label::NONE);
        Self { kind, name, category, details, device: Device::default(), task: 0, pending: 0 }
    }
}

/// A span that has begun. It is plain data, for code that cannot keep a [`SpanGuard`]; [`close`] ends it.
#[derive(Clone, Copy, Debug)]
#[must_use = "a span is recorded when it is closed"]
pub struct Open {
    info: SpanInfo,
    begin_ns: u64,
    id: u64,
    parent: u64,
    is_around: bool,
}

/// Begins a span, which is the parent of this thread's later spans until it ends. Of the spans opened by this function, the
/// last must end first.
#[inline]
pub fn open(info: SpanInfo) -> Open {
    begin(info, true)
}

/// Begins a span that is not the parent of other spans. So such spans may end in any order and on any thread.
pub fn open_apart(info: SpanInfo) -> Open {
    begin(info, false)
}

fn begin(info: SpanInfo, is_around: bool) -> Open {
    let (id, parent) = begin_span(is_around);
    Open { info, begin_ns: tick(), id, parent, is_around }
}

/// Ends a span and records it, unless its kind is off by now.
#[inline]
pub fn close(open: Open) {
    let Open { info, begin_ns, id, parent, is_around } = open;
    if is_around {
        reopen(parent);
    }
    if !is_on(info.kind.kinds()) {
        return;
    }
    let SpanInfo { kind, name, category, details, device, task, pending } = info;
    // A span may end on another thread than it began on, and must still end later than it began.
    let end_ns = if is_around { tick() } else { now_ns().max(begin_ns + 1) };
    record(Event::Span(Span { kind, name, category, details, device, begin_ns, end_ns, id, parent, task, pending }));
}

/// Begins a span that ends when the guard is dropped.
#[inline]
pub fn span(info: SpanInfo) -> SpanGuard {
    SpanGuard { open: open(info), _on_this_thread: PhantomData }
}

/// Begins a span of a task that is not an operator call but that MXNet records as one, such as a copy or a sum of gradients.
/// `None` while operators that are called one by one are not recorded.
#[inline]
pub fn operator(name: &'static str, device: Device) -> Option<SpanGuard> {
    is_on(Kinds::IMPERATIVE).then(|| span(SpanInfo { device, ..SpanInfo::new(SpanKind::Imperative, Label::of(name)) }))
}

/// Ends its span when dropped.
#[derive(Debug)]
#[must_use = "the span ends when the guard is dropped"]
pub struct SpanGuard {
    open: Open,
    /// Makes the guard `!Send`: the span belongs to the thread on which it began.
    _on_this_thread: PhantomData<*const ()>,
}

impl SpanGuard {
    /// Changes what is known about the span, before it ends.
    pub fn info_mut(&mut self) -> &mut SpanInfo {
        &mut self.open.info
    }
}

impl Drop for SpanGuard {
    #[inline]
    fn drop(&mut self) {
        close(self.open);
    }
}
