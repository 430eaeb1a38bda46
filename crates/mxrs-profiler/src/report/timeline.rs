//! The spans that the report draws: the longest ones, if there are too many.

use crate::names::category_of;
use mxrs_trace::{Label, Span, ThreadInfo};
use std::collections::BTreeMap;

/// The most spans that are kept. They take about 2 MB of the page.
const MOST: usize = 50_000;

/// One span of the timeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub(super) thread: u32,
    pub(super) name: Label,
    pub(super) category: Label,
    pub(super) details: Label,
    pub(super) begin_ns: u64,
    pub(super) ns: u64,
}

/// The spans, in the order of their ends.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) spans: Vec<Drawn>,
    pub(super) threads: BTreeMap<u32, Label>,
    /// Spans that are shorter than this are left out.
    pub(super) shortest_ns: u64,
    pub(super) n_left_out: u64,
}

impl Timeline {
    pub(super) fn take(&mut self, thread: ThreadInfo, span: &Span) {
        let ns = span.end_ns.saturating_sub(span.begin_ns);
        self.threads.entry(thread.number).or_insert(thread.name);
        if ns < self.shortest_ns {
            self.n_left_out += 1;
            return;
        }
        let category = Label::of(&category_of(span));
        let &Span { name, details, begin_ns, .. } = span;
        self.spans.push(Drawn { thread: thread.number, name, category, details, begin_ns, ns });
        if self.spans.len() > MOST {
            self.keep_the_longer_half();
        }
    }

    /// Leaves out the shorter half of the spans. Later spans that are as short are left out, too.
    fn keep_the_longer_half(&mut self) {
        let mut lengths: Vec<u64> = self.spans.iter().map(|span| span.ns).collect();
        let (_, median, _) = lengths.select_nth_unstable(MOST / 2);
        // Spans that are as long as the median are left out, too. Otherwise spans of equal length would all stay.
        self.shortest_ns = *median + 1;
        let before = self.spans.len();
        self.spans.retain(|span| span.ns >= self.shortest_ns);
        self.n_left_out += (before - self.spans.len()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_trace::SpanKind;

    #[test]
    fn the_longest_of_many_spans_stay_and_the_others_are_counted() {
        let mut timeline = Timeline::default();
        let thread = ThreadInfo { number: 3, name: Label::NONE };
        const SPANS: u64 = 400_000;
        for i in 0..SPANS {
            let (name, category, details) = (Label::of("x"), Label::NONE, Label::NONE);
            let (kind, device) = (SpanKind::Symbolic, mxrs_types::Device::default());
            let (begin_ns, end_ns) = (i * 1000, i * 1000 + i % 997);
            let span =
                Span { kind, name, category, details, device, begin_ns, end_ns, id: i, parent: 0, task: 0, pending: 0 };
            timeline.take(thread, &span);
        }
        assert!((1000..=MOST).contains(&timeline.spans.len()), "{}", timeline.spans.len());
        assert_eq!(timeline.spans.len() as u64 + timeline.n_left_out, SPANS);
        assert!(timeline.spans.iter().all(|span| span.ns >= timeline.shortest_ns));
        assert_eq!(timeline.spans.iter().map(|span| span.ns).max(), Some(996));
    }
}
