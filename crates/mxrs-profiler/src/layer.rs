//! Spans of `tracing` in the timeline of the profiler.

use mxrs_trace::{Kinds, Label, Open, SpanInfo, SpanKind, close, is_on, open};
use std::cell::RefCell;
use tracing::Subscriber;
use tracing::span::Id;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

std::thread_local! {
    /// The spans that this thread has entered and not left.
    static ENTERED: RefCell<Vec<(Id, Open)>> = const { RefCell::new(Vec::new()) };
}

/// Records each stay in a span, from entering to leaving it, while a profiler runs. The category is the target of the span.
///
/// ```
/// use tracing_subscriber::prelude::*;
/// let subscriber = tracing_subscriber::registry().with(mxrs_profiler::ProfilerLayer);
/// tracing::subscriber::with_default(subscriber, || tracing::info_span!("load").in_scope(|| { /* the work */ }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfilerLayer;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ProfilerLayer {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if !is_on(Kinds::USER) {
            return;
        }
        let Some(span) = context.span(id) else { return };
        let metadata = span.metadata();
        let info = SpanInfo::new(SpanKind::Region, Label::of(metadata.name()));
        let open = open(SpanInfo { category: Label::of(metadata.target()), ..info });
        // The list cannot be used any more if the thread is ending. Its last spans are then not recorded.
        let _ = ENTERED.try_with(|entered| entered.borrow_mut().push((id.clone(), open)));
    }

    fn on_exit(&self, id: &Id, _context: Context<'_, S>) {
        // Spans are left in the reverse order of entering them. A span that was entered before the profiler started is not in
        // the list.
        let last = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let at = entered.iter().rposition(|(other, _)| other == id)?;
            Some(entered.remove(at).1)
        });
        if let Ok(Some(open)) = last {
            close(open);
        }
    }
}
