//! The output files: those that grow while the profiler runs, and those that are written only by a dump.

use crate::config::Config;
use crate::costs::{Costs, Roofline};
use crate::folded::Folded;
use crate::memory::{Book, Level};
use crate::perfetto::PerfettoTrace;
use crate::report::Store;
use crate::stats::Stats;
use crate::trace::ChromeTrace;
use mxrs_format::write_atomically;
use mxrs_trace::{Event, MemoryPlan, ThreadInfo};
use mxrs_types::{Error, Result};
use std::path::{Path, PathBuf};

/// Everything that takes records, except the statistics, which are kept longer than a trace.
pub(crate) struct Outputs {
    trace: ChromeTrace,
    perfetto: Option<PerfettoTrace>,
    folded: Option<Folded>,
    store: Option<Store>,
    costs: Roofline,
}

impl Outputs {
    /// Creates the files that grow while the profiler runs.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if one cannot be written.
    pub(crate) fn create(config: &Config) -> Result<Self> {
        Ok(Self {
            trace: ChromeTrace::create(&config.filename, config.n_gpus, config.continuous_dump)?,
            perfetto: config.perfetto.as_deref().map(PerfettoTrace::create).transpose()?,
            folded: config.folded.is_some().then(Folded::default),
            store: config.report.is_some().then(Store::default),
            costs: Roofline::default(),
        })
    }

    /// Whether two settings ask for the same outputs.
    pub(crate) fn are_same(one: &Config, other: &Config) -> bool {
        let outputs = |c: &Config| {
            (
                c.filename.clone(),
                c.perfetto.clone(),
                c.folded.is_some(),
                c.report.is_some(),
                c.n_gpus,
                c.continuous_dump,
            )
        };
        outputs(one) == outputs(other)
    }

    /// The name of the trace.
    pub(crate) fn trace_path(&self) -> &Path {
        self.trace.path()
    }

    /// Adds a record. For a record of memory, `level` is the memory of its device after it.
    pub(crate) fn take(&mut self, thread: ThreadInfo, event: &Event, level: Option<&Level>) {
        self.trace.take(thread, event, level);
        if let Some(perfetto) = &mut self.perfetto {
            perfetto.take(thread, event, level);
        }
        if let (Some(folded), Event::Span(span)) = (&mut self.folded, event) {
            folded.take(thread, span);
        }
        if let Some(store) = &mut self.store {
            store.take(thread, event);
        }
        if let Event::Span(span) = event {
            self.costs.take(span);
        }
    }

    /// The costs of operators, those with the longest times first.
    pub(crate) fn costs(&self) -> Vec<(&'static str, Costs)> {
        self.costs.sums()
    }

    /// Adds a memory plan to the report, if there is one.
    pub(crate) fn add_plan(&mut self, plan: MemoryPlan) {
        if let Some(store) = &mut self.store {
            store.add_plan(plan);
        }
    }

    /// Writes waiting records to the files that grow. `is_last` says that no more records follow.
    ///
    /// # Errors
    /// The first error of a write since the last call.
    pub(crate) fn commit(&mut self, n_dropped: u64, is_last: bool) -> Result<()> {
        self.trace.set_dropped(n_dropped);
        let trace = if is_last { self.trace.finish() } else { self.trace.commit() };
        let perfetto = self.perfetto.as_mut().map_or(Ok(()), PerfettoTrace::commit);
        trace.and(perfetto)
    }

    /// Writes the files that only a dump writes. `is_last` says that no span is open any more.
    ///
    /// # Errors
    /// The error of the first file that cannot be written. The other files are written all the same.
    pub(crate) fn write(
        &mut self,
        config: &Config,
        book: &mut Book,
        stats: &Stats,
        n_dropped: u64,
        is_last: bool,
    ) -> Result<()> {
        let mut results = Vec::new();
        if let Some(prefix) = &config.memory_csv_prefix {
            results.push(write(&csv_path(prefix), &book.blocks.csv()));
        }
        if let (Some(path), Some(folded)) = (&config.folded, &mut self.folded) {
            if is_last {
                folded.settle();
            }
            results.push(write(path, &folded.print()));
        }
        if let (Some(path), Some(store)) = (&config.report, &self.store) {
            book.settle();
            results.push(write(path, &store.page(config, &self.costs, book, stats, n_dropped)));
        }
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }
}

/// `<prefix>-pid_<process>.csv`, as MXNet names the list of memory.
fn csv_path(prefix: &Path) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("-pid_{}.csv", std::process::id()));
    PathBuf::from(name)
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, |sink| sink.write_all(text.as_bytes()).map_err(|error| Error::from_io(&error)))
}
