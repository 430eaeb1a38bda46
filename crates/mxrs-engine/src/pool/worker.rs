//! The life of a worker.

use super::rest::Bed;
use super::{Local, Pool, RawTask, SPIN};
use crate::context::Inside;
use crate::op::Task;
use crossbeam_deque::{Steal, Stealer};
use mxrs_sync::atomic::{Ordering, fence_after_rmw};
use mxrs_sync::hint;
use std::time::Instant;

/// Takes a task out of another worker's deque.
pub(super) fn steal(stealer: &Stealer<RawTask>) -> Option<RawTask> {
    loop {
        match stealer.steal() {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

/// Tasks a worker takes out of the backlog at once, besides the one it runs.
const SHARE: usize = 15;

impl Pool {
    pub(super) fn serve(&self, index: usize, runner: &(dyn Fn(Task, usize) -> Option<Task> + Send + Sync)) {
        let _inside = Inside::enter(self.engine);
        self.note_worker();
        let alone = self.size() == 1;
        while let Some(task) = self.next(index) {
            let mut task = Some(task);
            while let Some(t) = task {
                self.enter(alone);
                let executed = &self.seats[index].executed;
                executed.store(executed.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                task = runner(t, index);
                if !alone {
                    self.running.fetch_sub(1, Ordering::Relaxed);
                }
            }
        }
    }

    #[inline]
    fn enter(&self, alone: bool) {
        // A lone worker need not count to one.
        let running = if alone { 1 } else { self.running.fetch_add(1, Ordering::Relaxed) + 1 };
        if running > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(running, Ordering::Relaxed);
        }
    }

    /// The next task, or `None` when stopping and nothing is left.
    fn next(&self, index: usize) -> Option<Task> {
        let mut since = None;
        loop {
            if self.paused.load(Ordering::Relaxed) {
                self.wait_while_paused();
            }
            if let Some(task) = self.take(index) {
                return Some(task);
            }
            for _ in 0..16 {
                hint::spin_loop();
            }
            // Loom knows no time, and looking is what the search has for it.
            if !cfg!(loom) && since.get_or_insert_with(Instant::now).elapsed() < SPIN {
                continue;
            }
            if self.sleep() {
                return None;
            }
        }
    }

    /// A task from the worker's own lists, the inboxes, the heap or another worker.
    #[inline]
    fn take(&self, index: usize) -> Option<Task> {
        if let Some(heap) = &self.heap {
            return heap.lock().pop();
        }
        // SAFETY: this is the worker of this number, and the borrow ends with this call.
        let local = unsafe { &mut *self.seats[index].local.get() };
        self.urgent.take(&mut local.urgent);
        if let Some(task) = local.urgent.pop() {
            return Some(task);
        }
        match local.deque {
            None => {
                if local.list.is_empty() {
                    self.inbox.take(&mut local.list);
                }
                local.list.pop()
            }
            Some(_) => self.take_or_steal(local, index),
        }
    }

    fn take_or_steal(&self, local: &mut Local, index: usize) -> Option<Task> {
        let deque = local.deque.as_ref()?;
        if let Some(RawTask(op)) = deque.pop() {
            // SAFETY: taken out of the deque, which owned it.
            return Some(unsafe { Task::from_raw(op) });
        }
        let mut backlog = self.backlog.lock();
        self.inbox.take(&mut backlog);
        if let Some(first) = backlog.pop() {
            let mut taken = 0;
            while taken < SHARE
                && let Some(task) = backlog.pop()
            {
                deque.push(RawTask(task.into_raw()));
                taken += 1;
            }
            let more = taken > 0 || !backlog.is_empty();
            drop(backlog);
            if more {
                // They were in nobody's sight for a moment: workers that fell asleep in it have to look again.
                mxrs_sync::atomic::fence(Ordering::SeqCst);
                if self.sleepers.load(Ordering::Relaxed) > 0 {
                    self.wake_all();
                }
            }
            return Some(first);
        }
        drop(backlog);
        let seats = self.stealers.len();
        let others = (1..seats).map(|step| &self.stealers[(index + step) % seats]);
        // SAFETY: as above.
        others.into_iter().find_map(steal).map(|RawTask(op)| unsafe { Task::from_raw(op) })
    }

    /// Whether a task is queued where other threads can see it.
    fn has_tasks(&self) -> bool {
        match &self.heap {
            Some(heap) => !heap.lock().is_empty(),
            None => !self.inbox.is_empty() || !self.urgent.is_empty() || self.stealers.iter().any(|s| !s.is_empty()),
        }
    }

    /// Sleeps until there may be a task; true if the worker is to leave.
    fn sleep(&self) -> bool {
        let Bed { resting, wake, .. } = self.bed.get();
        let mut lock = resting.lock();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence_after_rmw();
        // Who leaves a task either sees this sleeper, and then notifies under the lock, or its task is seen here.
        let mut leave = false;
        while !self.has_tasks() && !leave && !self.paused.load(Ordering::Relaxed) {
            leave = self.stopping.load(Ordering::Acquire);
            if !leave {
                lock = lock.wait(wake);
            }
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        leave
    }
}
