//! Stacks for flame graphs: one line per stack, with the time that was spent in it and in no inner span.

use mxrs_trace::{Label, Span, ThreadInfo};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A span name in one stack: the time that was spent in it but in no inner span, and the spans inside it.
#[derive(Debug, Default)]
struct Node {
    self_ns: u64,
    inner: BTreeMap<Label, Node>,
}

impl Node {
    fn add(&mut self, name: Label, node: Node) {
        let own = self.inner.entry(name).or_default();
        own.self_ns += node.self_ns;
        for (name, node) in node.inner {
            own.add(name, node);
        }
    }
}

/// The stacks of all threads. The record of a span arrives after the records of the spans inside it. So these wait under the
/// id of the outer span.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    /// For each span that has not ended, the ended spans inside it: their nodes, and the sum of their times.
    waiting: FxHashMap<u64, (Node, u64)>,
    /// Complete stacks, by thread.
    threads: BTreeMap<Label, Node>,
}

impl Folded {
    pub(crate) fn take(&mut self, thread: ThreadInfo, span: &Span) {
        let (mut node, inner_ns) = self.waiting.remove(&span.id).unwrap_or_default();
        let ns = span.end_ns.saturating_sub(span.begin_ns);
        node.self_ns = ns.saturating_sub(inner_ns);
        if span.parent == 0 {
            self.threads.entry(thread.name).or_default().add(span.name, node);
        } else {
            let (around, inner_ns) = self.waiting.entry(span.parent).or_default();
            around.add(span.name, node);
            *inner_ns += ns;
        }
    }

    /// Completes the stacks of spans whose outer spans were not recorded. Called when no span is open any more.
    pub(crate) fn settle(&mut self) {
        for (_, (node, _)) in self.waiting.drain() {
            let of_unknown = self.threads.entry(Label::NONE).or_default();
            for (name, node) in node.inner {
                of_unknown.add(name, node);
            }
        }
    }

    /// `thread;outer;inner nanoseconds`, one line per stack, in the order of the lines.
    pub(crate) fn print(&self) -> String {
        let mut lines = Vec::new();
        for (thread, node) in &self.threads {
            let name = if *thread == Label::NONE { "thread" } else { thread.text() };
            print(&mut lines, &clean(name), node);
        }
        lines.sort_unstable();
        lines.concat()
    }
}

fn print(lines: &mut Vec<String>, stack: &str, node: &Node) {
    if node.self_ns > 0 {
        lines.push(format!("{stack} {}\n", node.self_ns));
    }
    for (name, inner) in &node.inner {
        print(lines, &format!("{stack};{}", clean(name.text())), inner);
    }
}

/// A name without the characters that separate frames and lines.
fn clean(name: &str) -> String {
    name.replace(';', ",").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_trace::SpanKind;
    use mxrs_types::Device;

    fn span(name: &str, id: u64, parent: u64, begin_ns: u64, end_ns: u64) -> Span {
        let (name, category, details) = (Label::of(name), Label::NONE, Label::NONE);
        let (kind, device) = (SpanKind::Symbolic, Device::default());
        Span { kind, name, category, details, device, begin_ns, end_ns, id, parent, task: 0, pending: 0 }
    }

    #[test]
    fn each_stack_has_the_time_that_no_inner_span_has() {
        let mut folded = Folded::default();
        let thread = ThreadInfo { number: 1, name: Label::of("worker") };
        for (name, id, parent, begin, end) in [
            ("conv", 2, 1, 10, 40),
            ("relu", 3, 1, 40, 45),
            ("conv", 4, 1, 50, 60),
            ("seg;ment", 1, 0, 0, 100),
            ("seg;ment", 5, 0, 200, 230),
            ("lost", 7, 6, 0, 9),
        ] {
            folded.take(thread, &span(name, id, parent, begin, end));
        }
        folded.settle();
        assert_eq!(
            folded.print(),
            "thread;lost 9\nworker;seg,ment 85\nworker;seg,ment;conv 40\nworker;seg,ment;relu 5\n"
        );
    }
}
