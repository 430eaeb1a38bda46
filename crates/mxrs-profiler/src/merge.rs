//! Merges the traces of several processes, such as the ranks of a distributed training, into one.

use crate::reader::{self, Footer};
use flate2::Compression;
use flate2::write::GzEncoder;
use mxrs_format::write_atomically;
use mxrs_types::{Error, Result};
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::Path;

type Event = Map<String, Value>;

/// Writes the traces of several processes as one trace. The number of a process in `inputs` is its rank. Names that end in `.gz`
/// are those of gzip files.
///
/// - Times are aligned by the system's clocks at the start of each process. Differences between the clocks of machines are not
///   corrected.
/// - The rows of each rank have numbers of their own, in the order of the ranks, and names such as `rank 1: cpu/0`.
/// - The numbers of arrows and tasks get the rank as a prefix, so those of two ranks are not connected.
///
/// The inputs are read twice, one event at a time. `output` gets its content only if everything was written; it may be the name
/// of an input.
///
/// # Errors
/// [`mxrs_types::ErrorKind::InvalidValue`] if there are no inputs, or if one lacks the time of its start, `zero_unix_ns` in
/// `otherData`, which traces of this profiler have; [`mxrs_types::ErrorKind::Format`] if an input is not a trace;
/// [`mxrs_types::ErrorKind::Io`] if a file cannot be read or written.
pub fn merge<P: AsRef<Path>>(inputs: &[P], output: impl AsRef<Path>) -> Result<()> {
    if inputs.is_empty() {
        return Err(Error::invalid("traces to merge", "no file", "at least one trace"));
    }
    let footers = inputs.iter().map(|path| footer(path.as_ref())).collect::<Result<Vec<_>>>()?;
    let zero = footers.iter().map(|(zero, _)| *zero).min().unwrap_or(0);
    let n_dropped = footers.iter().map(|(_, n_dropped)| n_dropped).fold(0, |sum: u64, n| sum.saturating_add(*n));
    let is_packed = output.as_ref().extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gz"));
    let inputs: Vec<(&Path, f64)> =
        inputs.iter().zip(&footers).map(|(path, (own, _))| (path.as_ref(), (own - zero) as f64 / 1000.0)).collect();
    let closing = format!(
        "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{{\"zero_unix_ns\":\"{zero}\",\"ranks\":\"{}\",\
         \"dropped_records\":\"{n_dropped}\"}}\n}}\n",
        inputs.len()
    );
    write_atomically(output, |sink| {
        if !is_packed {
            return write(sink, &inputs, &closing);
        }
        let mut encoder = GzEncoder::new(sink, Compression::fast());
        write(&mut encoder, &inputs, &closing)?;
        encoder.finish().map(|_| ()).map_err(|error| Error::from_io(&error))
    })
}

/// Writes the events of all inputs, each with the microseconds by which its times are later in the merged trace.
fn write(out: &mut dyn Write, inputs: &[(&Path, f64)], closing: &str) -> Result<()> {
    let mut lines = Lines { out, lead: "\n", pids: FxHashMap::default() };
    lines.write("{\"traceEvents\":[")?;
    for (rank, (path, later_us)) in inputs.iter().enumerate() {
        reader::read(path, |event: Event| lines.event(rank, event, *later_us))?;
    }
    lines.write(closing)
}

/// The time of the start of a trace, and the number of its dropped records.
fn footer(path: &Path) -> Result<(u64, u64)> {
    let Footer { zero_unix_ns, n_dropped, cut } = reader::read(path, |_: IgnoredAny| Ok(()))?;
    if let Some(cut) = &cut {
        tracing::warn!(target: "mxrs_profiler", "the trace {} is not complete: {cut}", path.display());
    }
    let Some(zero) = zero_unix_ns else {
        let got = match cut {
            Some(cut) => format!("no time of its start; {cut}"),
            None => "no time of its start".to_owned(),
        };
        let expected = "`zero_unix_ns` in `otherData`, which complete traces of this profiler have";
        return Err(Error::invalid(format!("trace {}", path.display()), got, expected));
    };
    Ok((zero, n_dropped))
}

/// The merged trace, which grows by one line for each event.
struct Lines<'a> {
    out: &'a mut dyn Write,
    lead: &'static str,
    /// The new number of each process, by its rank and its number in the input, as JSON.
    pids: FxHashMap<(usize, String), usize>,
}

impl Lines<'_> {
    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(|error| Error::from_io(&error))
    }

    /// Writes an event of a process. `later_us` is the time from moment 0 of the merged trace to moment 0 of this process,
    /// in microseconds.
    fn event(&mut self, rank: usize, mut event: Event, later_us: f64) -> Result<()> {
        if let Some(pid) = event.get_mut("pid") {
            let next = self.pids.len();
            *pid = (*self.pids.entry((rank, pid.to_string())).or_insert(next)).into();
        }
        for key in ["id", "bind_id"] {
            if let Some(id) = event.get_mut(key) {
                *id = format!("{rank}:{}", id.as_str().map_or_else(|| id.to_string(), str::to_owned)).into();
            }
        }
        let is_process_name = event.get("name").is_some_and(|name| name == "process_name");
        if is_process_name
            && let Some(Value::String(name)) = event.get_mut("args").and_then(|args| args.get_mut("name"))
        {
            *name = format!("rank {rank}: {name}");
        }
        let ts = event
            .remove("ts")
            .map(|ts| ts.as_f64().map_or_else(|| ts.to_string(), |ts| format!("{:.3}", ts + later_us)));
        let mut line = Value::Object(event).to_string();
        if let Some(ts) = ts {
            // The time is written as text, because a JSON number would lose trailing zeros of the decimals.
            let separator = if line.len() > 2 { "," } else { "" };
            line.truncate(line.len() - 1);
            line = format!("{line}{separator}\"ts\":{ts}}}");
        }
        let lead = std::mem::replace(&mut self.lead, ",\n");
        self.write(lead)?;
        self.write(&line)
    }
}
