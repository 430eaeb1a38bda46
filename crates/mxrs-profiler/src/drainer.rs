//! The thread that takes records out of the rings while the profiler runs.

use crate::profiler::Shared;
use mxrs_sync::{Condvar, Mutex, thread};
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The shortest and the longest time between two drains. A ring holds 8192 records. A thread that does nothing but make
/// records fills it in about a millisecond; in a training it takes seconds.
const SHORTEST: Duration = Duration::from_micros(500);
const LONGEST: Duration = Duration::from_millis(20);
/// If a drain takes more records than this, the next one follows in half the time, otherwise in twice the time.
const MANY: usize = 2048;

pub(crate) struct Drainer {
    thread: thread::JoinHandle<()>,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct Signal {
    ends: Mutex<bool>,
    wake: Condvar,
}

impl Drainer {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the system refuses it.
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self> {
        let signal = Arc::new(Signal::default());
        let (shared, of_thread) = (Arc::downgrade(shared), Arc::clone(&signal));
        let spawned = thread::Builder::new().name("mxrs-profiler".into()).spawn(move || drain(&shared, &of_thread));
        let thread = spawned.map_err(|error| {
            let message = format!("cannot start the thread of the profiler: {error}");
            Error::new(ErrorKind::Io { path: None, message, kind: error.kind() }).with_source(error)
        })?;
        Ok(Self { thread, signal })
    }

    /// Asks the thread to end, without waiting for it.
    pub(crate) fn ask_to_end(&self) {
        *self.signal.ends.lock() = true;
        self.signal.wake.notify_all();
    }

    /// Waits for the end of the thread, which was asked to end.
    pub(crate) fn join(self) {
        // The thread does not panic, and its result carries no information.
        let _ = self.thread.join();
    }
}

fn drain(shared: &Weak<Shared>, signal: &Signal) {
    let mut pause = LONGEST;
    loop {
        {
            let ends = signal.ends.lock();
            if *ends {
                return;
            }
            let (ends, _) = signal.wake.wait_for(ends, pause);
            if *ends {
                return;
            }
        }
        let Some(shared) = shared.upgrade() else { return };
        let n_records = shared.tend();
        pause = if n_records > MANY { pause / 2 } else { pause * 2 }.clamp(SHORTEST, LONGEST);
    }
}
