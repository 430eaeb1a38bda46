//! The lines of the trace, one JSON object each.

use crate::memory::Level;
use crate::names::{self, cut, json_string};
use mxrs_sync::Arc;
use mxrs_trace::{Count, Event, Label, Mark, MarkScope, Span, SpanKind, ThreadInfo, details_of};
use mxrs_types::{Device, DeviceKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{self, Write as _};

/// The number of process numbers that MXNet reserves for GPUs.
const GPUS: u32 = 32;

/// Lines that wait to be written, and the processes, threads and texts that earlier lines have introduced.
pub(super) struct Lines {
    text: String,
    n_cpus: u32,
    n_gpus: u32,
    /// The processes whose names have been written.
    processes: FxHashSet<u32>,
    /// The threads, by process, whose names have been written.
    threads: FxHashSet<(u32, u32)>,
    /// Names as JSON strings.
    quoted: FxHashMap<Label, Arc<str>>,
    /// The common text of spans that differ only in their times.
    spans: FxHashMap<SpanKey, Arc<SpanText>>,
    /// The common text of the values of one counter on one thread: the text before the time, between time and value, and
    /// after the value.
    counters: FxHashMap<(CounterKey, u32), Arc<[String; 3]>>,
    is_first: bool,
}

/// What identifies a counter, and so decides its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum CounterKey {
    /// The name and category of a counter that a program has made.
    Named(Label, Label),
    /// The memory of a device: the part in use, or the part that its pool holds.
    Memory(Device, bool),
    /// The tasks of the engine that were pushed and have not run.
    Pending,
}

/// What identifies the text of a span, apart from its times.
type SpanKey = (SpanKind, Device, u32, [Label; 3]);

/// The text of a span before and after the time of its begin, and before and after the time of its end. Most spans of a
/// program differ only in their times, so this text is formatted once and reused.
struct SpanText {
    begin: [String; 2],
    end: [String; 2],
    process: u32,
}

/// Nanoseconds as microseconds with three decimals.
struct Micros(u64);

impl Micros {
    /// Appends the same text as [`fmt::Display`] would, but about ten times as fast.
    fn push(&self, to: &mut String) {
        to.push_str(itoa::Buffer::new().format(self.0 / 1000));
        to.push('.');
        let rest = self.0 % 1000;
        [rest / 100, rest / 10 % 10, rest % 10].into_iter().for_each(|digit| to.push((b'0' + digit as u8) as char));
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl Lines {
    /// The head of a trace: the processes of devices, as MXNet numbers them. There are rows for GPUs if `n_gpus > 0`.
    pub(super) fn new(n_gpus: u32) -> Self {
        let n_cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let n_gpus = if n_gpus > 0 { n_gpus.max(GPUS) } else { 0 };
        let mut lines = Self {
            text: "{\"traceEvents\":[".to_owned(),
            n_cpus,
            n_gpus,
            processes: FxHashSet::default(),
            threads: FxHashSet::default(),
            quoted: FxHashMap::default(),
            spans: FxHashMap::default(),
            counters: FxHashMap::default(),
            is_first: true,
        };
        let cpus = (0..n_cpus).map(Device::cpu);
        let others = (0..n_gpus).map(Device::gpu).chain([Device::cpu_pinned(0), Device::cpu_shared(0)]);
        for device in cpus.chain(others) {
            lines.device(device);
        }
        lines
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    fn begin_line(&mut self) {
        self.text.push_str(if self.is_first { "\n" } else { ",\n" });
        self.is_first = false;
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        self.begin_line();
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(line);
    }

    /// The number of the process that stands for a device. A new process is named first.
    fn device(&mut self, device: Device) -> u32 {
        let name = names::device(device);
        let number = match device.kind {
            DeviceKind::Cpu if device.id < self.n_cpus => device.id,
            DeviceKind::Gpu if device.id < self.n_gpus => self.n_cpus + device.id,
            DeviceKind::CpuPinned => self.n_cpus + self.n_gpus,
            DeviceKind::CpuShared => self.n_cpus + self.n_gpus + 1,
            DeviceKind::Cpu | DeviceKind::Gpu => hash(&name),
        };
        self.process(number, &name)
    }

    /// The number of the process that stands for a category.
    fn category(&mut self, category: &str) -> u32 {
        self.process(hash(category), category)
    }

    fn process(&mut self, number: u32, name: &str) -> u32 {
        if self.processes.insert(number) {
            let name = json_string(name);
            self.line(format_args!(
                "{{\"ph\":\"M\",\"args\":{{\"name\":{name}}},\"pid\":{number},\"name\":\"process_name\"}}"
            ));
        }
        number
    }

    /// A name as a JSON string.
    fn quoted(&mut self, name: Label) -> Arc<str> {
        Arc::clone(self.quoted.entry(name).or_insert_with(|| json_string(cut(name.text())).into()))
    }

    /// Writes the name of the thread in a process, unless it was written before.
    fn thread(&mut self, process: u32, thread: ThreadInfo) {
        if self.threads.insert((process, thread.number)) && thread.name != Label::NONE {
            let (name, number) = (json_string(cut(thread.name.text())), thread.number);
            self.line(format_args!(
                "{{\"ph\":\"M\",\"args\":{{\"name\":{name}}},\"pid\":{process},\"tid\":{number},\"name\":\"thread_name\"}}"
            ));
        }
    }

    pub(super) fn add(&mut self, thread: ThreadInfo, event: &Event, level: Option<&Level>) {
        match event {
            Event::Span(span) => self.span(thread, span),
            Event::Mark(mark) => self.mark(thread, mark),
            Event::Count(Count { name, category, at_ns, value, .. }) => {
                let key = CounterKey::Named(*name, *category);
                self.counter(thread, key, (*at_ns, *value), || (names::domain_of(*category), name.text().to_owned()));
            }
            Event::Memory(memory) => {
                if let Some(level) = level {
                    let key = CounterKey::Memory(level.device, level.is_of_pool);
                    let bytes = if level.is_of_pool { level.pool_bytes } else { level.live_bytes };
                    self.counter(thread, key, (memory.at_ns, bytes), || {
                        let (category, counter, _) = names::counter_of(level);
                        (category, counter)
                    });
                }
            }
            _ => {}
        }
    }

    /// Writes a line that consists of a text, a time, and another text.
    fn line_at(&mut self, at_ns: u64, [before, after]: &[String; 2]) {
        self.begin_line();
        self.text.push_str(before);
        Micros(at_ns).push(&mut self.text);
        self.text.push_str(after);
    }

    fn span(&mut self, thread: ThreadInfo, span: &Span) {
        let key = (span.kind, span.device, thread.number, [span.name, span.category, span.details]);
        let text = match self.spans.get(&key) {
            Some(text) => Arc::clone(text),
            None => {
                let text = Arc::new(self.span_text(thread, span));
                self.spans.insert(key, Arc::clone(&text));
                text
            }
        };
        self.line_at(span.begin_ns, &text.begin);
        self.line_at(span.end_ns, &text.end);
        self.flow(thread, span, text.process);
    }

    fn span_text(&mut self, thread: ThreadInfo, span: &Span) -> SpanText {
        let category = names::category_of(span);
        let process = match span.kind {
            SpanKind::Symbolic | SpanKind::Segment | SpanKind::Imperative => self.device(span.device),
            SpanKind::Push | SpanKind::Run | SpanKind::Complete => self.category(names::ENGINE),
            SpanKind::Region => self.category("tracing"),
            _ => self.category(&category),
        };
        self.thread(process, thread);
        let (begin, end, more) = match span.kind {
            SpanKind::Api | SpanKind::Task => ("b", "e", format!(",\"id\":{}", thread.number)),
            SpanKind::Frame => ("(", ")", String::new()),
            _ => ("B", "E", String::new()),
        };
        let (name, category, tid) = (self.quoted(span.name), json_string(&category), thread.number);
        let before = |phase: &str| format!("{{\"name\":{name},\"cat\":{category},\"ph\":\"{phase}\",\"ts\":");
        let after = |args: &str| format!("{more},\"pid\":{process},\"tid\":{tid}{args}}}");
        SpanText { begin: [before(begin), after(&arguments(span.details))], end: [before(end), after("")], process }
    }

    /// Writes the arrow from the push of a task to its run and its completion, and the number of pending tasks.
    fn flow(&mut self, thread: ThreadInfo, span: &Span, process: u32) {
        let (step, at_ns) = match span.kind {
            SpanKind::Push => ("\"s\"", span.begin_ns),
            SpanKind::Run => ("\"t\"", span.begin_ns),
            SpanKind::Complete => ("\"f\",\"bp\":\"e\"", span.begin_ns),
            _ => return,
        };
        let (id, ts, tid) = (span.task, Micros(at_ns), thread.number);
        self.line(format_args!(
            "{{\"name\":\"task\",\"cat\":\"engine\",\"ph\":{step},\"id\":\"0x{id:x}\",\"ts\":{ts},\"pid\":{process},\"tid\":{tid}}}"
        ));
        if span.kind != SpanKind::Run {
            let value = (span.begin_ns, span.pending.into());
            self.counter(thread, CounterKey::Pending, value, || (names::ENGINE, "Pending tasks".to_owned()));
        }
    }

    fn mark(&mut self, thread: ThreadInfo, mark: &Mark) {
        let category = names::marks_of(mark.category);
        let process = self.category(&category);
        self.thread(process, thread);
        let scope = match mark.scope {
            MarkScope::Global => "g",
            MarkScope::Thread => "t",
            MarkScope::Process | MarkScope::Task | MarkScope::Marker => "p",
        };
        let (name, category) = (self.quoted(mark.name), json_string(&category));
        let (ts, tid) = (Micros(mark.at_ns), thread.number);
        self.line(format_args!(
            "{{\"name\":{name},\"cat\":{category},\"ph\":\"n\",\"ts\":{ts},\"s\":\"{scope}\",\"pid\":{process},\"tid\":{tid}}}"
        ));
    }

    /// Writes a value of a counter. `name` returns the category and the name of the counter.
    fn counter(
        &mut self,
        thread: ThreadInfo,
        key: CounterKey,
        (at_ns, value): (u64, u64),
        name: impl FnOnce() -> (&'static str, String),
    ) {
        let key = (key, thread.number);
        let text = match self.counters.get(&key) {
            Some(text) => Arc::clone(text),
            None => {
                let (category, name) = name();
                let process = self.category(category);
                let (name, category, tid) = (json_string(cut(&name)), json_string(category), thread.number);
                let text = Arc::new([
                    format!("{{\"name\":{name},\"cat\":{category},\"ph\":\"C\",\"ts\":"),
                    format!(",\"args\":{{{name}:"),
                    format!("}},\"pid\":{process},\"tid\":{tid}}}"),
                ]);
                self.counters.insert(key, Arc::clone(&text));
                text
            }
        };
        let [before, between, after] = &*text;
        self.begin_line();
        self.text.push_str(before);
        Micros(at_ns).push(&mut self.text);
        self.text.push_str(between);
        self.text.push_str(itoa::Buffer::new().format(value));
        self.text.push_str(after);
    }
}

/// The details as the JSON member `,"args":{…}`. Details that are numbers are written as numbers.
fn arguments(details: Label) -> String {
    let mut text = String::new();
    let mut lead = ",\"args\":{";
    for (name, value) in details_of(details) {
        let value = value.parse::<u64>().map_or_else(|_| json_string(value), |number| number.to_string());
        let _ = write!(text, "{lead}{}:{value}", json_string(name));
        lead = ",";
    }
    if !text.is_empty() {
        text.push('}');
    }
    text
}

/// Computes a process number from a name: an FNV-1a hash, mapped to numbers above those of devices and below 2³¹.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash & 0x3fff_ffff | 0x4000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_categories_differ_from_those_of_devices() {
        let names = ["operator", "event", "MXNET_C_API", "engine", "Device Storage", "Dom", "Dom,frame"];
        let numbers: std::collections::HashSet<u32> = names.iter().map(|name| hash(name)).collect();
        assert_eq!(numbers.len(), names.len());
        assert!(numbers.iter().all(|number| (1 << 30..1 << 31).contains(number)));
    }

    #[test]
    fn microseconds_have_three_decimals() {
        assert_eq!(Micros(7).to_string(), "0.007");
        assert_eq!(Micros(12_345_060).to_string(), "12345.060");
        for ns in [0, 7, 999, 1000, 12_345_060, u64::MAX] {
            let mut text = String::new();
            Micros(ns).push(&mut text);
            assert_eq!(text, Micros(ns).to_string());
        }
    }
}
