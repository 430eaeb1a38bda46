//! The trace for chrome://tracing and Perfetto: JSON with the fields that MXNet writes.
//!
//! Each record becomes one line as soon as it is taken; [`ChromeTrace::commit`] appends the lines to the file. Differences to
//! MXNet: times are microseconds since the start of the process, with three decimals, because spans of less than a microsecond
//! would not nest otherwise (`otherData` has the wall time of the start); numbers of processes fit into 31 bits, because
//! JavaScript rounds larger ones; an operator is written once, and not again as a task; names are escaped.

mod lines;
mod medium;
mod packed;
mod plain;

use crate::memory::Level;
use lines::Lines;
use mxrs_trace::{Event, ThreadInfo, zero_wall_ns};
use mxrs_types::{Error, Result};
use packed::PackedFile;
use plain::PlainFile;
use std::io;
use std::path::{Path, PathBuf};

/// The number of waiting bytes from which lines are appended even without a commit: with continuous dumps, and without them.
const MOST_WAITING: [usize; 2] = [1 << 20, 16 << 20];

/// A trace that grows.
pub(crate) struct ChromeTrace {
    path: PathBuf,
    file: Kind,
    lines: Lines,
    /// The size at which waiting lines are appended.
    most_waiting: usize,
    /// The number of dropped records, which the end of the trace states.
    n_dropped: u64,
    /// The first error of an append that was not reported yet.
    failed: Option<Error>,
}

enum Kind {
    Plain(PlainFile),
    Packed(PackedFile),
}

impl ChromeTrace {
    /// Creates the file, with a valid trace without records. A name that ends in `.gz` makes a gzip file.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if the file cannot be written.
    pub(crate) fn create(path: &Path, n_gpus: u32, is_continuous: bool) -> Result<Self> {
        let (path, file) = medium::open(path)?;
        let (mut lines, closing) = (Lines::new(n_gpus), closing(0));
        let file = match path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("gz")) {
            false => PlainFile::start(Box::new(file), lines.text(), &closing).map(Kind::Plain),
            true => PackedFile::start(Box::new(file), lines.text(), &closing).map(Kind::Packed),
        };
        let file = file.map_err(|error| Error::io(&path, &error))?;
        let most_waiting = MOST_WAITING[usize::from(!is_continuous)];
        lines.clear();
        Ok(Self { path, file, lines, most_waiting, n_dropped: 0, failed: None })
    }

    /// The name of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record, and for a record of memory the state of its device.
    pub(crate) fn take(&mut self, thread: ThreadInfo, event: &Event, level: Option<&Level>) {
        self.lines.add(thread, event, level);
        if self.lines.text().len() >= self.most_waiting {
            self.append();
        }
    }

    /// Sets the number of dropped records, which the end of the trace states.
    pub(crate) fn set_dropped(&mut self, n_dropped: u64) {
        self.n_dropped = n_dropped;
    }

    /// Appends the waiting lines to the file, which is valid JSON afterwards.
    ///
    /// # Errors
    /// The first error since the last call of this function or of [`ChromeTrace::finish`]. The file is valid then; lines that
    /// were to be appended are lost.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.append();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// [`ChromeTrace::commit`] for the last time.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.append();
        if let Kind::Plain(file) = &mut self.file {
            let finished = file.finish();
            self.keep(finished);
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    fn append(&mut self) {
        let closing = closing(self.n_dropped);
        let result = match &mut self.file {
            Kind::Plain(file) => file.append(self.lines.text()).and_then(|()| file.set_closing(&closing)),
            Kind::Packed(file) => file.append(self.lines.text(), &closing),
        };
        self.keep(result);
        self.lines.clear();
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result
            && self.failed.is_none()
        {
            self.failed = Some(Error::io(&self.path, &error));
        }
    }
}

/// The closing text of a trace. Its length does not depend on the number, so it can be overwritten in place.
fn closing(n_dropped: u64) -> String {
    format!(
        "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{{\"zero_unix_ns\":\"{}\",\"process\":\"{}\",\"dropped_records\":\"{n_dropped:20}\"}}\n}}\n",
        zero_wall_ns(),
        std::process::id(),
    )
}
