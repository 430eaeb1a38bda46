//! The loop of a worker: takes tasks and runs them, and sleeps while there are none.

use super::rest::WorkerSignals;
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

/// The number of tasks that a worker takes out of the backlog in one step, in addition to the one it runs.
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
                let executed = &self.slots[index].executed;
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
        // A lone worker runs exactly one task at a time, so the count is not needed.
        let running = if alone { 1 } else { self.running.fetch_add(1, Ordering::Relaxed) + 1 };
        if running > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(running, Ordering::Relaxed);
        }
    }

    /// The next task; `None` if the pool is stopping and no task is left.
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
            // Loom does not model time, and repeating the checks would only enlarge its search.
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
        // SAFETY: the caller is the worker of this number, and the borrow ends with this call.
        let local = unsafe { &mut *self.slots[index].local.get() };
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
            // SAFETY: the deque owned the task, and `pop` took it out.
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
                // While this worker moved tasks from the inbox to the backlog and its deque, other workers could not
                // see them. Workers that fell asleep meanwhile have to check again.
                mxrs_sync::atomic::fence(Ordering::SeqCst);
                if self.sleepers.load(Ordering::Relaxed) > 0 {
                    self.wake_all();
                }
            }
            return Some(first);
        }
        drop(backlog);
        let slots = self.stealers.len();
        let others = (1..slots).map(|step| &self.stealers[(index + step) % slots]);
        // SAFETY: the other worker's deque owned the task, and `steal` took it out.
        others.into_iter().find_map(steal).map(|RawTask(op)| unsafe { Task::from_raw(op) })
    }

    /// Whether a task is queued where other threads can see it.
    fn has_tasks(&self) -> bool {
        match &self.heap {
            Some(heap) => !heap.lock().is_empty(),
            // The backlog is checked too: the worker that left tasks in it may be running a long task.
            None => {
                !self.inbox.is_empty()
                    || !self.urgent.is_empty()
                    || self.stealers.iter().any(|s| !s.is_empty())
                    || (!self.stealers.is_empty() && !self.backlog.lock().is_empty())
            }
        }
    }

    /// Sleeps until there may be a task; true if the worker has to end.
    fn sleep(&self) -> bool {
        let WorkerSignals { resting, wake, .. } = self.signals.get();
        let mut lock = resting.lock();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence_after_rmw();
        // If a thread adds a task now, then either it sees this sleeper and notifies it under the lock, or `has_tasks`
        // sees the task.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Order, PoolId};
    use super::*;
    use crate::context::RunContext;
    use crate::op::{Dispatch, OpName, Property, Synchronous};
    use mxrs_types::Device;

    fn task() -> Task {
        let body = Synchronous(|_: &RunContext| Ok(()));
        Task::new(OpName::from("op"), &[], Device::cpu(0), 0, Property::Normal, Dispatch::Completer, body)
    }

    /// A worker takes some of 40 tasks at a time and leaves the others in the backlog. While it runs a long task,
    /// another worker that is about to sleep must see them.
    #[test]
    fn a_worker_does_not_sleep_while_the_backlog_has_tasks() {
        let pool = Pool::new(0, PoolId::Cpu(0), 2, 2, Order::Fifo);
        (0..40).for_each(|_| pool.push(task(), false));
        let mut taken: Vec<Task> = (0..=SHARE).filter_map(|_| pool.take(0)).collect();
        assert_eq!(taken.len(), SHARE + 1);
        assert!(pool.inbox.is_empty() && pool.stealers.iter().all(|stealer| stealer.is_empty()));
        assert!(pool.has_tasks(), "24 tasks are left");
        taken.extend(std::iter::from_fn(|| pool.take(1)));
        assert_eq!(taken.len(), 40);
        assert!(!pool.has_tasks());
        // These tasks were never granted, so nothing waits for them.
        taken.into_iter().for_each(drop);
    }
}
