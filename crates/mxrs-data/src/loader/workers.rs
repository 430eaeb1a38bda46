//! Threads that make batches ahead of time.

use super::Maker;
use mxrs_format::Dense;
use mxrs_sync::{Arc, Condvar, Rank, RankedMutex, thread};
use mxrs_types::{Error, ErrorKind, Result};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

std::thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a worker of a [`DataLoader`](super::DataLoader).
pub fn is_loader_thread() -> bool {
    IS_WORKER.get()
}

/// The worker threads. Dropping this value waits for the batches that are being made.
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

struct Shared {
    maker: Arc<Maker>,
    state: RankedMutex<State>,
    /// Notified when there may be a batch to make.
    work: Condvar,
    /// Notified when there may be a batch to take.
    ready: Condvar,
}

/// State shared by workers and consumer. Workers begin batches in order, at most `ahead` batches before the one to be taken
/// next, and keep finished batches until they are taken.
struct State {
    epoch: u64,
    batches: Arc<Vec<Vec<u64>>>,
    /// Number of restarts. A batch is dropped if this number has changed since the batch was begun.
    generation: u64,
    /// Number of the batch to begin next.
    begin: u64,
    /// Number of the batch to be taken next.
    take: u64,
    ahead: u64,
    done: BTreeMap<u64, Result<Vec<Dense>>>,
    stop: bool,
}

impl Workers {
    pub(super) fn start(maker: &Arc<Maker>, n: usize, ahead: usize) -> Result<Self> {
        let state = State {
            epoch: 0,
            batches: Arc::default(),
            generation: 0,
            begin: 0,
            take: 0,
            ahead: ahead as u64,
            done: BTreeMap::new(),
            stop: false,
        };
        let shared = Arc::new(Shared {
            maker: Arc::clone(maker),
            state: RankedMutex::new(Rank::Leaf, state),
            work: Condvar::new(),
            ready: Condvar::new(),
        });
        // Threads are added to the value one by one: if one cannot be started, dropping the value stops the earlier ones.
        let mut workers = Self { shared, threads: Vec::new() };
        for i in 0..n {
            let shared = Arc::clone(&workers.shared);
            let thread = thread::Builder::new().name(format!("mxrs-load-{i}")).spawn(move || {
                IS_WORKER.set(true);
                shared.work();
            });
            workers.threads.push(thread.map_err(|e| Error::io("thread of a data loader", &e))?);
        }
        Ok(workers)
    }

    /// Restarts the workers with these batches of an epoch, beginning with batch `first`.
    pub(super) fn restart(&self, epoch: u64, batches: Arc<Vec<Vec<u64>>>, first: u64) {
        let mut state = self.shared.state.lock();
        state.generation += 1;
        (state.epoch, state.batches, state.begin, state.take) = (epoch, batches, first, first);
        state.done.clear();
        drop(state);
        self.shared.work.notify_all();
    }

    /// Waits for a batch, which must be the successor of the last one taken.
    pub(super) fn take(&self, number: u64) -> Result<Vec<Dense>> {
        let mut state = self.shared.state.lock();
        state.take = number;
        self.shared.work.notify_all();
        loop {
            if let Some(batch) = state.done.remove(&number) {
                state.take = number + 1;
                drop(state);
                self.shared.work.notify_all();
                return batch;
            }
            state = state.wait(&self.shared.ready);
        }
    }
}

impl Shared {
    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if state.stop {
                return;
            }
            let number = state.begin;
            let samples = usize::try_from(number).ok().and_then(|at| state.batches.get(at)).cloned();
            // The batch that the consumer waits for may always be made, even if `ahead` is 0.
            let may_begin = number < state.take.saturating_add(state.ahead.max(1));
            let Some(samples) = samples.filter(|_| may_begin) else {
                state = state.wait(&self.work);
                continue;
            };
            state.begin += 1;
            let (generation, epoch) = (state.generation, state.epoch);
            drop(state);
            let made = catch_unwind(AssertUnwindSafe(|| self.maker.make(epoch, &samples)));
            let batch = made.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Err(Error::new(ErrorKind::Panicked { what: "a data set or batchify".into(), message }))
            });
            state = self.state.lock();
            if state.generation == generation {
                state.done.insert(number, batch);
                self.ready.notify_all();
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.state.lock().stop = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // Panics in the data set were caught and returned as errors, so joining cannot report anything new.
            let _ = thread.join();
        }
    }
}
