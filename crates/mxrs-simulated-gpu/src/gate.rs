//! Holds back work: one launch, or a whole device.

use mxrs_sync::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes closures that wait until the gate is opened, and counts how many have started. Dropping the gate opens it, so
/// that a failing test leaves no thread behind.
#[derive(Debug, Default)]
pub struct Gate(Arc<(Mutex<Visitors>, Condvar)>);

#[derive(Debug, Default)]
struct Visitors {
    n_came: usize,
    is_open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// A body for a launch that waits at the gate.
    pub fn body(&self) -> impl FnOnce() + Send + 'static {
        let gate = Arc::clone(&self.0);
        move || {
            let (visitors, changed) = &*gate;
            let mut visitors = visitors.lock();
            visitors.n_came += 1;
            changed.notify_all();
            while !visitors.is_open {
                visitors = changed.wait(visitors);
            }
        }
    }

    /// Waits until `n` bodies have reached the gate, at most ten seconds; returns the number of bodies that reached it.
    pub fn wait_for(&self, n: usize) -> usize {
        let (visitors, changed) = &*self.0;
        let until = Instant::now() + Duration::from_secs(10);
        let mut visitors = visitors.lock();
        while visitors.n_came < n && Instant::now() < until {
            visitors = changed.wait_for(visitors, Duration::from_millis(50)).0;
        }
        visitors.n_came
    }

    /// Opens the gate, for waiting bodies and for later ones.
    pub fn open(&self) {
        self.0.0.lock().is_open = true;
        self.0.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// Keeps a device's streams from starting work until it is dropped; made by [`crate::SimulatedGpu::hold`].
#[derive(Debug)]
#[must_use = "dropped at once, it holds nothing"]
pub struct Hold(Arc<Holds>);

impl Hold {
    pub(crate) fn new(holds: &Arc<Holds>) -> Self {
        holds.n_holds.lock().0 += 1;
        Self(Arc::clone(holds))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.n_holds.lock().0 -= 1;
        self.0.changed.notify_all();
    }
}

/// The number of [`Hold`]s of a device, and whether they have become ineffective because the device was dropped.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    n_holds: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Holds {
    /// Waits until there is no hold, or until all holds have become ineffective.
    pub(crate) fn pass(&self) {
        let mut n_holds = self.n_holds.lock();
        while n_holds.0 > 0 && !n_holds.1 {
            n_holds = self.changed.wait(n_holds);
        }
    }

    /// Makes all holds ineffective from now on.
    pub(crate) fn abolish(&self) {
        self.n_holds.lock().1 = true;
        self.changed.notify_all();
    }
}
