//! Logs what an engine is waiting for if no task ends any more.
//!
//! The watch takes a lock for each task, so an engine has one only if [`crate::EngineConfig::stall_after`] is set.

use crate::busy::Busy;
use crate::engine::Inner;
use crate::op::Task;
use crate::var::VarCell;
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_sync::{Rank, RankedMutex, thread};
use mxrs_types::{Device, Error, ErrorKind, Result};
use std::fmt::Write as _;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The largest number of running or waiting tasks that a report names; it only counts the others.
const NAMED: usize = 8;

/// The tasks that are running now.
pub(crate) struct Watch {
    running: RankedMutex<Vec<Running>>,
    next: AtomicU64,
}

struct Running {
    number: u64,
    name: String,
    device: Device,
    since: Instant,
    /// The variables that the task writes. They are alive as long as the task is in the list of running tasks.
    vars: Vec<NonNull<VarCell>>,
}

// SAFETY: the variables are shared `VarCell`s, which are used only through their locks.
unsafe impl Send for Running {}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { running: RankedMutex::new(Rank::EngineWatch, Vec::new()), next: AtomicU64::new(0) }
    }

    /// Registers a running task; returns the number for [`Watch::end`].
    pub(crate) fn begin(&self, task: &Task) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let vars = task.accesses().iter().filter(|a| a.write).map(|a| a.var_ptr()).collect();
        let (name, device) = (task.name.as_str().to_owned(), task.device);
        self.running.lock().push(Running { number, name, device, since: Instant::now(), vars });
        number
    }

    /// Removes a task that has ended.
    pub(crate) fn end(&self, number: u64) {
        let mut running = self.running.lock();
        if let Some(at) = running.iter().position(|r| r.number == number) {
            running.swap_remove(at);
        }
    }

    /// The text of a report: which tasks run, for how long, and which tasks wait for them.
    fn report(&self) -> String {
        let _busy = Busy::enter();
        let running = self.running.lock();
        let mut text = String::new();
        for Running { name, device, since, vars, .. } in running.iter().take(NAMED) {
            let age = since.elapsed().as_secs_f64();
            let _ = write!(text, "\n  `{name}` has been running on {device} for {age:.1} s");
            for var in vars.iter().take(NAMED) {
                // SAFETY: the task is in the list of running tasks, so it has not ended and keeps the variable alive.
                let var = unsafe { var.as_ref() };
                let waiting = var.waiting_names();
                let named: Vec<String> = waiting.iter().take(NAMED).map(|n| format!("`{n}`")).collect();
                let more = waiting.len().saturating_sub(NAMED);
                let _ = write!(text, "\n    it writes variable {}", var.id());
                if !named.is_empty() {
                    let _ = write!(text, ", which these wait for: {}", named.join(", "));
                }
                if more > 0 {
                    let _ = write!(text, " and {more} more");
                }
            }
        }
        match running.len() {
            0 => {
                text.push_str("\n  nothing runs: a task with asynchronous work was not completed, or a worker has died")
            }
            n if n > NAMED => {
                let _ = write!(text, "\n  and {} more", n - NAMED);
            }
            _ => {}
        }
        text
    }
}

/// Starts the thread that watches an engine until the engine is dropped.
///
/// # Errors
/// Fails if the system refuses the thread.
pub(crate) fn start(engine: &Arc<Inner>, after: Duration) -> Result<()> {
    let engine = Arc::downgrade(engine);
    let look = move || look(&engine, after);
    let spawned = thread::Builder::new().name("mxrs-engine-watch".into()).spawn(look);
    spawned.map(drop).map_err(|e| {
        let message = format!("cannot start the thread that watches for stalls: {e}");
        Error::new(ErrorKind::Io { path: None, message, kind: e.kind() }).with_source(e)
    })
}

fn look(engine: &Weak<Inner>, after: Duration) {
    let step = (after / 4).clamp(Duration::from_millis(1), Duration::from_secs(1));
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        std::thread::sleep(step);
        let Some(engine) = engine.upgrade() else { return };
        let completed = engine.tally.completed.load(Ordering::SeqCst);
        let pending = engine.tally.pushed.load(Ordering::SeqCst) - completed;
        if completed != seen || pending == 0 {
            (seen, since) = (completed, Instant::now());
        } else if since.elapsed() >= after {
            let report = engine.watch.as_ref().map(Watch::report).unwrap_or_default();
            let seconds = since.elapsed().as_secs_f64();
            tracing::warn!(target: "mxrs_engine", "no task has ended for {seconds:.1} s; {pending} are pending{report}");
            since = Instant::now();
        }
    }
}
