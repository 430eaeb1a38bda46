//! The profiler of a process.

use crate::config::Config;
use crate::costs::Costs;
use crate::drainer::Drainer;
use crate::outputs::Outputs;
use crate::schedule::{Phase, Schedule};
use crate::session::Session;
use crate::stats::{Format, SortBy, Stats};
use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_trace::{Collector, Kinds, Label, MemoryPlan, Open, SpanInfo, SpanKind, close, open_apart};
use mxrs_types::{Error, Result};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether a profiler records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum State {
    /// The profiler does not record.
    #[default]
    Stop,
    /// The profiler records, unless it is paused.
    Run,
}

/// Records what the process does and writes it, with MXNet's interface.
///
/// A process can have several profilers, but only one at a time may have run and not been finished by [`Profiler::dump`].
/// Dropping a profiler finishes it.
///
/// ```
/// use mxrs_profiler::{Config, Domain, Profiler, State};
/// # let dir = tempfile::tempdir().unwrap();
/// # let filename = dir.path().join("profile.json");
/// let profiler = Profiler::new(Config { filename, aggregate_stats: true, ..Config::default() })?;
/// profiler.set_state(State::Run)?;
/// let task = Domain::new("demo").task("work");
/// task.start();
/// // the work
/// task.stop();
/// profiler.dump(true)?;
/// assert!(profiler.dumps(false, Default::default(), Default::default(), false).contains("work"));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub struct Profiler {
    shared: Arc<Shared>,
    /// Lets `shared` take part in forks of the process as long as the profiler exists.
    _registration: Registration,
}

/// What the profiler and its thread share.
pub(crate) struct Shared {
    inner: RankedMutex<Inner>,
}

pub(crate) struct Inner {
    config: Config,
    state: State,
    is_paused: bool,
    schedule: Option<Steps>,
    session: Option<Session>,
    drainer: Option<Drainer>,
    stats: Stats,
    n_dropped: u64,
}

/// The progress of a schedule.
struct Steps {
    schedule: Schedule,
    step: u64,
    open: Option<Open>,
}

impl Profiler {
    /// A profiler with these settings, which does not run.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] for bad settings.
    pub fn new(config: Config) -> Result<Self> {
        config.validate()?;
        let inner = Inner {
            config,
            state: State::Stop,
            is_paused: false,
            schedule: None,
            session: None,
            drainer: None,
            stats: Stats::default(),
            n_dropped: 0,
        };
        let shared = Arc::new(Shared { inner: RankedMutex::new(Rank::Leaf, inner) });
        let guard: Arc<dyn ForkGuard> = Arc::<Shared>::clone(&shared);
        Ok(Self { shared, _registration: fork::register(Rank::Leaf, &guard) })
    }

    /// Replaces the settings. If the profiler runs, they apply from now on: records that were made go into the former files.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] for bad settings, and [`mxrs_types::ErrorKind::Io`] if the profiler runs and a
    /// new file cannot be written; the former settings stay then.
    pub fn set_config(&self, config: Config) -> Result<()> {
        config.validate()?;
        let mut inner = self.shared.inner.lock();
        let inner = &mut *inner;
        let mut finished = Ok(());
        if inner.session.is_some() && !Outputs::are_same(&inner.config, &config) {
            inner.drain();
            if let Some(session) = &mut inner.session {
                finished = session.replace_outputs(&config);
            }
        }
        if finished.is_ok() {
            if let Some(session) = &mut inner.session {
                session.set_hardware(config.hardware_counters);
            }
            inner.config = config;
            inner.switch();
        }
        finished
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> Config {
        self.shared.inner.lock().config.clone()
    }

    /// Starts or stops recording. The first start, and the first one after a finishing dump, creates the files; a former
    /// trace of this name is lost. Stopping a profiler that does not run does nothing.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Io`] if a file cannot be written or the system refuses a thread;
    /// [`mxrs_types::ErrorKind::Engine`] if another profiler of the process was not finished.
    pub fn set_state(&self, state: State) -> Result<()> {
        let stopped = {
            let mut inner = self.shared.inner.lock();
            match state {
                State::Run => {
                    inner.run(&self.shared)?;
                    None
                }
                State::Stop => inner.stop(),
            }
        };
        // The thread needs the lock to end, so the lock was released before.
        if let Some(drainer) = stopped {
            drainer.join();
        }
        Ok(())
    }

    /// Whether the profiler records; a paused profiler counts as running.
    #[must_use]
    pub fn state(&self) -> State {
        self.shared.inner.lock().state
    }

    /// Stops recording until [`Profiler::resume`]. Calls do not nest: one `resume` ends any number of pauses. A profiler that
    /// does not run is paused when it starts.
    pub fn pause(&self) {
        self.shared.inner.lock().set_paused(true);
    }

    /// Ends a pause.
    pub fn resume(&self) {
        self.shared.inner.lock().set_paused(false);
    }

    /// Writes all records made so far to the files. If `finished`, also stops recording and closes the files.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] if the profiler has not run since its creation or since the last finishing
    /// dump; [`mxrs_types::ErrorKind::Io`] if a file cannot be written, or could not be written since the last dump. What was
    /// written before stays.
    pub fn dump(&self, finished: bool) -> Result<()> {
        if finished {
            self.set_state(State::Stop)?;
        }
        let mut inner = self.shared.inner.lock();
        let inner = &mut *inner;
        inner.drain();
        let Some(session) = &mut inner.session else {
            let got = "a profiler that has not run since its last finishing dump";
            return Err(Error::invalid("profiler dump", got, "a profiler that was started by `set_state`"));
        };
        let result = session.write(&inner.config, &inner.stats, finished);
        if finished {
            inner.session = None;
        }
        result
    }

    /// The statistics of all records made so far as text; empty unless [`Config::aggregate_stats`] is set. `reset` forgets them
    /// afterwards.
    #[must_use]
    pub fn dumps(&self, reset: bool, format: Format, sort_by: SortBy, ascending: bool) -> String {
        let mut inner = self.shared.inner.lock();
        inner.drain();
        let text = match inner.config.aggregate_stats {
            true => inner.stats.print(format, sort_by, ascending),
            false => String::new(),
        };
        if reset {
            inner.stats.reset();
        }
        text
    }

    /// The statistics of all records made so far. They are kept if [`Config::aggregate_stats`] or [`Config::report`] is set.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut inner = self.shared.inner.lock();
        inner.drain();
        inner.stats.clone()
    }

    /// The times and costs of operators since the first start or the start after the last finishing dump, those with the longest
    /// times first. Empty after a finishing dump.
    #[must_use]
    pub fn costs(&self) -> Vec<(&'static str, Costs)> {
        let mut inner = self.shared.inner.lock();
        inner.drain();
        inner.session.as_ref().map(Session::costs).unwrap_or_default()
    }

    /// The number of records that were dropped since the first start or the start after the last finishing dump, because a
    /// thread made them faster than they could be taken, or because too many threads made records.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.shared.inner.lock().n_dropped
    }

    /// The name of the trace that is being written, if one is. It differs from [`Config::filename`] if another process
    /// writes a file of that name.
    #[must_use]
    pub fn trace_path(&self) -> Option<PathBuf> {
        self.shared.inner.lock().session.as_ref().map(|session| session.trace_path().to_path_buf())
    }

    /// Adds the memory plan of a bound graph to the report, if the profiler has run and writes one. The report shows the last
    /// eight.
    pub fn add_memory_plan(&self, plan: MemoryPlan) {
        if let Some(session) = &mut self.shared.inner.lock().session {
            session.add_plan(plan);
        }
    }

    /// Records only some steps from now on, starting with step 0 of the schedule; `None` records all.
    pub fn set_schedule(&self, schedule: Option<Schedule>) {
        let mut inner = self.shared.inner.lock();
        inner.schedule = schedule.map(|schedule| Steps { schedule, step: 0, open: None });
        inner.enter_phase();
    }

    /// Ends a step of the schedule. Recorded steps are frames `step` of the domain `schedule`. Without a schedule this does
    /// nothing.
    pub fn step(&self) {
        let mut inner = self.shared.inner.lock();
        let Some(steps) = &mut inner.schedule else { return };
        if let Some(open) = steps.open.take() {
            close(open);
        }
        steps.step += 1;
        inner.enter_phase();
    }
}

impl Inner {
    fn run(&mut self, shared: &Arc<Shared>) -> Result<()> {
        if self.state == State::Run {
            return Ok(());
        }
        if self.session.is_none() {
            self.session = Some(Session::start(&self.config)?);
        }
        self.drainer = Some(Drainer::start(shared)?);
        self.state = State::Run;
        self.enter_phase();
        Ok(())
    }

    /// Stops recording. Returns the thread, which the caller joins after it has released the lock.
    fn stop(&mut self) -> Option<Drainer> {
        self.state = State::Stop;
        self.switch();
        self.drain();
        let drainer = self.drainer.take();
        drainer.iter().for_each(Drainer::ask_to_end);
        drainer
    }

    fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        self.switch();
    }

    fn phase(&self) -> Phase {
        self.schedule.as_ref().map_or(Phase::Record, |steps| steps.schedule.phase(steps.step))
    }

    /// Starts or stops recording as the phase of the current step requires.
    fn enter_phase(&mut self) {
        let phase = self.phase();
        let stats = keeps_stats(&self.config).then_some(&mut self.stats);
        if let Some(session) = &mut self.session {
            session.set_warming_up(phase == Phase::WarmUp, stats);
        }
        self.switch();
        if let Some(steps) = &mut self.schedule
            && phase == Phase::Record
        {
            let info = SpanInfo::new(SpanKind::Frame, Label::of("step"));
            steps.open = Some(open_apart(SpanInfo { category: Label::of("schedule"), ..info }));
        }
    }

    /// Sets the kinds of records that are made from now on.
    fn switch(&mut self) {
        let is_on = self.state == State::Run && !self.is_paused && self.phase() != Phase::Wait;
        if let Some(session) = &self.session {
            session.switch(if is_on { self.config.kinds() } else { Kinds::NONE });
        }
    }

    /// Takes the records made so far; returns their number.
    fn drain(&mut self) -> usize {
        let stats = keeps_stats(&self.config).then_some(&mut self.stats);
        let Some(session) = &mut self.session else { return 0 };
        let n_records = match self.state {
            State::Run => session.drain(stats),
            State::Stop => session.drain_all(stats),
        };
        self.n_dropped = session.n_dropped();
        n_records
    }
}

fn keeps_stats(config: &Config) -> bool {
    config.aggregate_stats || config.report.is_some()
}

impl Shared {
    /// Takes the records made so far, and writes them if a continuous dump is due. For the thread; returns the number of
    /// records.
    pub(crate) fn tend(&self) -> usize {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        let n_records = inner.drain();
        if let Some(session) = &mut inner.session
            && session.is_due(&inner.config)
            && let Err(error) = session.commit(false)
        {
            tracing::error!(target: "mxrs_profiler", "records are lost: {error}");
        }
        n_records
    }
}

impl ForkGuard for Shared {
    fn prepare(&self) {}

    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        kept.keep(self.inner.lock());
    }

    fn parent(&self) {}

    /// The child has no records, and its profiler does not run: the files belong to the parent.
    fn child(&self) {
        let mut inner = self.inner.lock();
        if let Some(session) = inner.session.take() {
            Collector::forget_in_child();
            // Dropping the session would write to the files of the parent process, so it is leaked.
            std::mem::forget(session);
        }
        std::mem::forget(inner.drainer.take());
        inner.state = State::Stop;
        inner.stats.reset();
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        let is_open = self.shared.inner.lock().session.is_some();
        if is_open && let Err(error) = self.dump(true) {
            tracing::error!(target: "mxrs_profiler", "the last records are lost: {error}");
        }
    }
}

impl fmt::Debug for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.shared.inner.lock();
        f.debug_struct("Profiler").field("state", &inner.state).field("config", &inner.config).finish_non_exhaustive()
    }
}
