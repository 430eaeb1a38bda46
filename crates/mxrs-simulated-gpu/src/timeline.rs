//! What ran on which stream and when, as a Chrome trace and as a drawing.

use mxrs_types::{Device, StreamId};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// One launch that ran, or failed on command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The stream.
    pub stream: StreamId,
    /// The name of the launch.
    pub name: Arc<str>,
    /// When it began, after the start of the timeline.
    pub start: Duration,
    /// When it ended, after the start of the timeline.
    pub end: Duration,
    /// Whether it failed.
    pub is_failed: bool,
}

/// The launches of one or more devices that started their timelines together ([`crate::SimulatedGpu::beside`]).
///
/// ```
/// use mxrs_engine::gpu::{GpuDevice, StreamUse};
/// use mxrs_simulated_gpu::{SimulatedGpu, SimulatedStream};
/// use mxrs_types::Device;
///
/// let gpu = SimulatedGpu::new(Device::gpu(0));
/// let stream = gpu.create_stream(StreamUse::Compute)?;
/// SimulatedStream::of(&*stream)?.launch("add", || {})?;
/// stream.synchronize()?;
/// let timeline = gpu.timeline();
/// assert_eq!(&*timeline.spans()[0].name, "add");
/// assert!(timeline.draw(40).contains("stream 0 of gpu(0)"));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline(Vec<Span>);

impl Timeline {
    pub(crate) fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| (span.start, span.stream));
        Self(spans)
    }

    /// The launches of all these timelines.
    pub fn merged(timelines: impl IntoIterator<Item = Self>) -> Self {
        Self::new(timelines.into_iter().flat_map(|timeline| timeline.0).collect())
    }

    /// The launches, by their start.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Whether launches of two names ran at the same time at some moment.
    pub fn overlap(&self, first: &str, second: &str) -> bool {
        let of = |name: &str| self.0.iter().filter(move |span| &*span.name == name).collect::<Vec<_>>();
        let seconds = of(second);
        of(first).iter().any(|a| seconds.iter().any(|b| a.start < b.end && b.start < a.end))
    }

    /// The timeline in the JSON format of Chrome's trace viewer: a process per device, a thread per stream, times in
    /// microseconds.
    pub fn to_chrome_trace(&self) -> String {
        let mut events = Vec::with_capacity(self.0.len());
        let streams: Vec<StreamId> = self.rows().into_iter().map(|(stream, _)| stream).collect();
        let mut devices: Vec<Device> = streams.iter().map(|stream| stream.device).collect();
        devices.dedup();
        let process = |stream: StreamId| devices.iter().position(|device| *device == stream.device).unwrap_or(0);
        for (pid, device) in devices.iter().enumerate() {
            let name = quoted(&device.to_string());
            events.push(format!(r#"{{"name":"process_name","ph":"M","pid":{pid},"tid":0,"args":{{"name":{name}}}}}"#));
        }
        for stream in streams {
            let (pid, number) = (process(stream), stream.number);
            events.push(format!(
                r#"{{"name":"thread_name","ph":"M","pid":{pid},"tid":{number},"args":{{"name":"stream {number}"}}}}"#
            ));
        }
        for span in &self.0 {
            let (name, pid, tid) = (quoted(&span.name), process(span.stream), span.stream.number);
            let (start, length) = (micros(span.start), micros(span.end.saturating_sub(span.start)));
            events.push(format!(
                r#"{{"name":{name},"ph":"X","pid":{pid},"tid":{tid},"ts":{start},"dur":{length},"args":{{"failed":{}}}}}"#,
                span.is_failed
            ));
        }
        format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
    }

    /// A drawing of `width` columns: a row per stream, in which each launch has a letter, and a list of the letters. A
    /// launch takes at least one column; if two share a column, the later one is drawn.
    pub fn draw(&self, width: usize) -> String {
        let width = width.max(1);
        let first = self.0.iter().map(|span| span.start).min().unwrap_or_default();
        let last = self.0.iter().map(|span| span.end).max().unwrap_or_default();
        let whole = last.saturating_sub(first).max(Duration::from_nanos(1));
        let column = |at: Duration| {
            let share = at.saturating_sub(first).as_secs_f64() / whole.as_secs_f64();
            ((share * width as f64) as usize).min(width - 1)
        };
        let mut letters: Vec<&str> = Vec::new();
        let mut drawing = String::new();
        for (stream, spans) in self.rows() {
            let mut row = vec!['.'; width];
            for span in spans {
                let known = letters.iter().position(|name| *name == &*span.name);
                let letter = letter(known.unwrap_or_else(|| {
                    letters.push(&span.name);
                    letters.len() - 1
                }));
                let (from, to) = (column(span.start), column(span.end));
                row[from..=to].fill(letter);
            }
            let _ = writeln!(drawing, "{:<22} {}", stream.to_string(), row.into_iter().collect::<String>());
        }
        for (index, name) in letters.iter().enumerate() {
            let _ = writeln!(drawing, "{} {name}", letter(index));
        }
        let _ = writeln!(drawing, "{width} columns are {:.3} ms", whole.as_secs_f64() * 1e3);
        drawing
    }

    /// The launches of each stream.
    fn rows(&self) -> Vec<(StreamId, Vec<&Span>)> {
        let mut rows: BTreeMap<StreamId, Vec<&Span>> = BTreeMap::new();
        for span in &self.0 {
            rows.entry(span.stream).or_default().push(span);
        }
        rows.into_iter().collect()
    }
}

/// The letter of a name: a to z, then A to Z, then `#`.
fn letter(index: usize) -> char {
    ('a'..='z').chain('A'..='Z').nth(index).unwrap_or('#')
}

fn micros(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e6)
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(device: u32, number: u32, name: &str, start: u64, end: u64) -> Span {
        let stream = StreamId { device: Device::gpu(device), number };
        let [start, end] = [start, end].map(Duration::from_micros);
        Span { stream, name: name.into(), start, end, is_failed: false }
    }

    #[test]
    fn rows_are_streams_and_columns_are_time() {
        let first = Timeline::new(vec![span(0, 1, "copy", 15, 25), span(0, 0, "conv", 10, 20)]);
        let timeline = Timeline::merged([first, Timeline::new(vec![span(1, 0, "conv", 29, 30)])]);
        let lines: Vec<String> = timeline.draw(20).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "stream 0 of gpu(0)     aaaaaaaaaaa.........");
        assert_eq!(lines[1], "stream 1 of gpu(0)     .....bbbbbbbbbbb....");
        assert_eq!(lines[2], "stream 0 of gpu(1)     ...................a");
        assert_eq!(lines[3..], ["a conv", "b copy", "20 columns are 0.020 ms"]);
        assert!(timeline.overlap("conv", "copy") && !timeline.overlap("copy", "zeros"));
    }

    #[test]
    fn traces_are_json_with_every_launch() {
        let trace = Timeline::new(vec![span(3, 2, "a \"b\"\n", 1, 4)]).to_chrome_trace();
        assert!(
            trace.contains(r#"{"name":"a \"b\"\u000a","ph":"X","pid":0,"tid":2,"ts":1.000,"dur":3.000"#),
            "{trace}"
        );
        assert!(trace.contains(r#""args":{"name":"gpu(3)"}"#) && trace.contains(r#""name":"stream 2""#));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(Timeline::default().draw(10), "10 columns are 0.000 ms\n");
        assert_eq!(Timeline::default().to_chrome_trace(), "{\"traceEvents\":[\n\n]}\n");
    }
}
