//! Tasks that are held back until the test lets them go on (opens a door).

use mxrs::Result;
use mxrs::engine::RunContext;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A time that is longer than any passing test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Task bodies that wait until the door is opened, and are counted. Dropping the door opens it, so a failing test leaves no
/// worker behind. If something waits for the tasks before that, they fail after [`PATIENCE`].
#[derive(Default)]
pub struct Door(Arc<(Mutex<Visitors>, Condvar)>);

#[derive(Default)]
struct Visitors {
    n_came: usize,
    may_go: bool,
}

impl Door {
    pub fn body(&self) -> impl FnOnce(&RunContext) -> Result<()> + Send + 'static {
        let visit = self.visit();
        move |_| {
            visit();
            Ok(())
        }
    }

    /// Returns the function that a task body calls. The function waits until the door is opened. It may be called several
    /// times.
    pub fn visit(&self) -> impl Fn() + Send + Sync + 'static {
        let door = Arc::clone(&self.0);
        move || {
            let (visitors, changed) = &*door;
            let mut visitors = visitors.lock().unwrap();
            visitors.n_came += 1;
            changed.notify_all();
            let waited = changed.wait_timeout_while(visitors, PATIENCE, |visitors| !visitors.may_go).unwrap();
            let (visitors, timeout) = waited;
            drop(visitors);
            assert!(!timeout.timed_out(), "the door was not opened");
        }
    }

    /// Waits until `n` bodies have arrived, or ten seconds have passed. Returns how many have arrived.
    pub fn wait_for(&self, n: usize) -> usize {
        let (visitors, changed) = &*self.0;
        let until = Instant::now() + Duration::from_secs(10);
        let mut visitors = visitors.lock().unwrap();
        while visitors.n_came < n && Instant::now() < until {
            visitors = changed.wait_timeout(visitors, Duration::from_millis(50)).unwrap().0;
        }
        visitors.n_came
    }

    pub fn open(&self) {
        self.0.0.lock().unwrap().may_go = true;
        self.0.1.notify_all();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.open();
    }
}
