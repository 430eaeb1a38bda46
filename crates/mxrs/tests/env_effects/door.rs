//! Tasks that wait until they are let go.

use mxrs::Result;
use mxrs::engine::RunContext;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Longer than any test that does not fail.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bodies that stay until the door is opened, and are counted meanwhile. Its drop opens it, so that a test which fails
/// leaves no worker behind; where something waits for them before that, they go by themselves after [`PATIENCE`].
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

    /// What a body does, any number of times.
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
            assert!(!timeout.timed_out(), "nobody opens the door");
        }
    }

    /// Waits until `n` bodies have come; how many have, after a while, if fewer come.
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
