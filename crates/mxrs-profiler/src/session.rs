//! A session lasts from the first run to the finishing dump. It has the collector of records, and what takes its records.

use crate::config::Config;
use crate::costs::Costs;
use crate::hardware::Hardware;
use crate::memory::Book;
use crate::outputs::Outputs;
use crate::stats::Stats;
use mxrs_trace::{Collector, Event, Kinds, Label, MemoryPlan, ThreadInfo, now_ns};
use mxrs_types::Result;
use std::path::Path;
use std::time::Instant;

pub(crate) struct Session {
    collector: Collector,
    outputs: Outputs,
    book: Book,
    /// The counters of the processor, if they are asked for.
    hardware: Option<Hardware>,
    /// Records that are held back until the next drain, because an earlier record of another thread may not have been taken
    /// yet.
    held: Vec<(ThreadInfo, Event)>,
    committed: Instant,
    n_dropped: u64,
    /// Whether the current step warms up. Then all records are discarded except those of memory.
    is_warming_up: bool,
}

impl Session {
    /// Claims the collector of the process and creates the files.
    ///
    /// # Errors
    /// Fails if another profiler of the process is running or a file cannot be written.
    pub(crate) fn start(config: &Config) -> Result<Self> {
        let collector = Collector::claim()?;
        Ok(Self {
            collector,
            outputs: Outputs::create(config)?,
            book: Book::default(),
            hardware: config.hardware_counters.then(Hardware::open),
            held: Vec::new(),
            committed: Instant::now(),
            n_dropped: 0,
            is_warming_up: false,
        })
    }

    /// Sets the kinds of records that are made from now on.
    pub(crate) fn switch(&self, kinds: Kinds) {
        self.collector.switch(kinds);
        if let Some(hardware) = &self.hardware {
            hardware.set_counting(kinds != Kinds::NONE);
        }
    }

    /// Opens the counters of the processor or closes them. They do not count until the next [`Session::switch`].
    pub(crate) fn set_hardware(&mut self, is_on: bool) {
        match (is_on, &self.hardware) {
            (true, None) => self.hardware = Some(Hardware::open()),
            (false, Some(_)) => self.hardware = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// The name of the trace.
    pub(crate) fn trace_path(&self) -> &Path {
        self.outputs.trace_path()
    }

    /// Takes the records that were made before this call, in the order of their times; returns their number. `stats` are the
    /// statistics to keep, if any.
    ///
    /// If record A was made before record B, A was in its ring when B was made. So records that are newer than the start of
    /// a drain are held back until the next drain, which also finds all records that were made before them.
    pub(crate) fn drain(&mut self, mut stats: Option<&mut Stats>) -> usize {
        let until = now_ns();
        self.collect();
        let n_ready = self.held.partition_point(|(_, event)| event.at_ns() < until);
        let mut held = std::mem::take(&mut self.held);
        for (thread, event) in held.drain(..n_ready) {
            self.take(thread, &event, stats.as_deref_mut());
        }
        self.held = held;
        self.count(until, stats, false);
        n_ready
    }

    /// Takes all records, for a profiler that has been switched off; returns their number.
    pub(crate) fn drain_all(&mut self, mut stats: Option<&mut Stats>) -> usize {
        self.collect();
        let held = std::mem::take(&mut self.held);
        for (thread, event) in &held {
            self.take(*thread, event, stats.as_deref_mut());
        }
        self.count(now_ns(), stats, true);
        held.len()
    }

    /// Adds the values of the counters of the processor.
    fn count(&mut self, at_ns: u64, mut stats: Option<&mut Stats>, is_last: bool) {
        let Some(hardware) = &mut self.hardware else { return };
        // These counts belong to the process, not to a thread.
        let thread = ThreadInfo { number: 0, name: Label::NONE };
        for event in hardware.read(at_ns, is_last) {
            self.take(thread, &event, stats.as_deref_mut());
        }
    }

    /// The number of records that were dropped.
    pub(crate) fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    fn collect(&mut self) {
        let held = &mut self.held;
        self.collector.drain(|thread, event| held.push((thread, event)));
        held.sort_by_key(|(_, event)| event.at_ns());
        self.n_dropped = self.collector.n_dropped();
        self.collector.take_plans().into_iter().for_each(|plan| self.outputs.add_plan(plan));
    }

    fn take(&mut self, thread: ThreadInfo, event: &Event, stats: Option<&mut Stats>) {
        // Memory records are used even while a step warms up, because the memory stays in use in later steps.
        let level = match event {
            Event::Memory(memory) => Some(self.book.take(memory)),
            _ => None,
        };
        if self.is_warming_up {
            return;
        }
        if let Some(stats) = stats {
            stats.add(event);
            level.iter().for_each(|level| stats.add_memory(level));
        }
        self.outputs.take(thread, event, level.as_ref());
    }

    /// Discards the records of steps from now on, or keeps them. Records made so far are taken first.
    pub(crate) fn set_warming_up(&mut self, is_warming_up: bool, stats: Option<&mut Stats>) {
        self.drain(stats);
        self.is_warming_up = is_warming_up;
    }

    /// The costs of operators.
    pub(crate) fn costs(&self) -> Vec<(&'static str, Costs)> {
        self.outputs.costs()
    }

    /// Adds a memory plan to the report, if there is one.
    pub(crate) fn add_plan(&mut self, plan: MemoryPlan) {
        self.outputs.add_plan(plan);
    }

    /// Whether it is time for the next commit of a continuous dump.
    pub(crate) fn is_due(&self, config: &Config) -> bool {
        config.continuous_dump && self.committed.elapsed() >= config.dump_period
    }

    /// Writes waiting records to the files that grow.
    ///
    /// # Errors
    /// The first error of a write since the last call.
    pub(crate) fn commit(&mut self, is_last: bool) -> Result<()> {
        self.committed = Instant::now();
        self.outputs.commit(self.n_dropped, is_last)
    }

    /// Writes all files.
    ///
    /// # Errors
    /// The first error of a write.
    pub(crate) fn write(&mut self, config: &Config, stats: &Stats, is_last: bool) -> Result<()> {
        let grown = self.commit(is_last);
        grown.and(self.outputs.write(config, &mut self.book, stats, self.n_dropped, is_last))
    }

    /// Finishes the files, and continues with files for the new settings.
    ///
    /// # Errors
    /// Fails if the new files cannot be created, and then continues with the old ones; fails with the error of a write of the
    /// old files, and then continues with the new ones.
    pub(crate) fn replace_outputs(&mut self, config: &Config) -> Result<()> {
        let outputs = Outputs::create(config)?;
        let finished = self.commit(true);
        self.outputs = outputs;
        finished
    }
}
