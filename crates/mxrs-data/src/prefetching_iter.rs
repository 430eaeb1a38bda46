//! An iterator that prefetches the batches of another iterator in a thread.

use crate::{DataBatch, DataDesc, DataIter};
use mxrs_sync::{Arc, Condvar, Rank, RankedMutex, thread};
use mxrs_trace::api_call;
use mxrs_types::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads another iterator ahead in its own thread, like MXNet's `PrefetchingIter`.
///
/// Batches and errors arrive in the order of the inner iterator. At most `prefetch_buffer` of them are read ahead. Dropping
/// this iterator stops the thread after the batch that it is making.
pub struct PrefetchingIter {
    shared: Arc<Shared>,
    worker: Option<thread::JoinHandle<()>>,
    data: Vec<DataDesc>,
    labels: Vec<DataDesc>,
    batch_size: usize,
    epoch: u64,
    n_examples: Option<u64>,
    n_batches: Option<u64>,
    n_bad_records: u64,
}

/// State shared by the worker and the consumer.
struct Shared {
    state: RankedMutex<State>,
    /// Notified when the worker may have something to do.
    work: Condvar,
    /// Notified when the consumer may have something to take.
    ready: Condvar,
}

/// The protocol between worker and consumer. The consumer sets `order` and waits until the worker has executed it and set
/// `answer`. The worker fills `queue` unless it is `halted`. The end of the epoch halts the worker until the next order; an
/// error halts it until the consumer has taken the error.
struct State {
    queue: VecDeque<Made>,
    buffer: usize,
    halted: bool,
    order: Option<Order>,
    answer: Option<Answer>,
    stop: bool,
    /// Whether the worker thread has ended.
    gone: bool,
}

/// A batch, the end of the epoch or an error, with the number of bad records that were left out so far.
struct Made {
    batch: Result<Option<DataBatch>>,
    n_bad_records: u64,
}

#[derive(Clone, Copy)]
enum Order {
    Reset,
    Seek(u64, u64),
}

/// The state of the inner iterator after it has executed an order.
struct Answer {
    outcome: Result<()>,
    epoch: u64,
    n_examples: Option<u64>,
    n_batches: Option<u64>,
    n_bad_records: u64,
}

impl Answer {
    fn of(inner: &dyn DataIter, outcome: Result<()>) -> Self {
        let (n_examples, n_batches) = (inner.n_examples(), inner.n_batches());
        Self { outcome, epoch: inner.epoch(), n_examples, n_batches, n_bad_records: inner.n_bad_records() }
    }
}

impl PrefetchingIter {
    /// Starts to prefetch up to `prefetch_buffer` batches of `inner`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] for a buffer of 0, and [`ErrorKind::Io`] if the thread cannot be started.
    pub fn new(inner: impl DataIter + 'static, prefetch_buffer: usize) -> Result<Self> {
        if prefetch_buffer == 0 {
            return Err(Error::invalid("prefetch_buffer", 0, "at least 1"));
        }
        let state = State {
            queue: VecDeque::new(),
            buffer: prefetch_buffer,
            halted: false,
            order: None,
            answer: None,
            stop: false,
            gone: false,
        };
        let shared = Arc::new(Shared {
            state: RankedMutex::new(Rank::Leaf, state),
            work: Condvar::new(),
            ready: Condvar::new(),
        });
        let answer = Answer::of(&inner, Ok(()));
        let (data, labels) = (inner.provide_data().to_vec(), inner.provide_label().to_vec());
        let batch_size = inner.batch_size();
        let theirs = Arc::clone(&shared);
        let worker = thread::Builder::new().name("mxrs-prefetch".into()).spawn(move || theirs.read_ahead(inner));
        let worker = worker.map_err(|e| Error::io("thread that reads ahead", &e))?;
        let Answer { epoch, n_examples, n_batches, n_bad_records, .. } = answer;
        let worker = Some(worker);
        Ok(Self { shared, worker, data, labels, batch_size, epoch, n_examples, n_batches, n_bad_records })
    }

    fn order(&mut self, order: Order) -> Result<()> {
        let mut state = self.shared.state.lock();
        state.order = Some(order);
        self.shared.work.notify_one();
        let answer = loop {
            if let Some(answer) = state.answer.take() {
                break answer;
            }
            if state.gone {
                return Err(gone());
            }
            state = state.wait(&self.shared.ready);
        };
        drop(state);
        (self.epoch, self.n_examples, self.n_batches) = (answer.epoch, answer.n_examples, answer.n_batches);
        self.n_bad_records = answer.n_bad_records;
        answer.outcome
    }
}

fn gone() -> Error {
    panicked("it ended earlier".into())
}

fn panicked(message: String) -> Error {
    Error::new(ErrorKind::Panicked { what: "the thread that reads ahead".into(), message })
}

impl Shared {
    /// The main loop of the worker thread.
    fn read_ahead(&self, mut inner: impl DataIter) {
        loop {
            let mut state = self.state.lock();
            while !state.stop && state.order.is_none() && (state.halted || state.queue.len() >= state.buffer) {
                state = state.wait(&self.work);
            }
            if state.stop {
                break;
            }
            let order = state.order;
            if order.is_some() {
                state.queue.clear();
            }
            drop(state);
            // A panic in the inner iterator is reported as an error; the iterator is not used after it.
            let done = catch_unwind(AssertUnwindSafe(|| match order {
                None => {
                    let batch = inner.next_batch();
                    Step::Batch(Made { batch, n_bad_records: inner.n_bad_records() })
                }
                Some(order) => {
                    let outcome = match order {
                        Order::Reset => inner.reset(),
                        Order::Seek(epoch, batch) => inner.seek(epoch, batch),
                    };
                    Step::Answer(Answer::of(&inner, outcome))
                }
            }));
            let mut state = self.state.lock();
            match done {
                Ok(Step::Batch(made)) => {
                    state.halted = !matches!(made.batch, Ok(Some(_)));
                    state.queue.push_back(made);
                }
                Ok(Step::Answer(answer)) => {
                    state.order = None;
                    state.halted = false;
                    state.answer = Some(answer);
                }
                Err(panic) => {
                    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                    let batch = Err(panicked(text.unwrap_or_else(|| "no message".into())));
                    // The inner iterator, which has panicked, is not asked for its count. The consumer keeps the largest
                    // count that it receives, so 0 changes nothing.
                    state.queue.push_back(Made { batch, n_bad_records: 0 });
                    state.gone = true;
                }
            }
            let ends = state.gone;
            drop(state);
            self.ready.notify_one();
            if ends {
                return;
            }
        }
    }
}

/// What the worker has done last: read a batch ahead, or executed an order.
enum Step {
    Batch(Made),
    Answer(Answer),
}

impl DataIter for PrefetchingIter {
    fn provide_data(&self) -> &[DataDesc] {
        &self.data
    }

    fn provide_label(&self) -> &[DataDesc] {
        &self.labels
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let _call = api_call("PrefetchingIter::next_batch");
        let mut state = self.shared.state.lock();
        loop {
            match state.queue.front() {
                Some(made) => {
                    self.n_bad_records = self.n_bad_records.max(made.n_bad_records);
                    // The end of the epoch stays in the queue, so that later calls return it too.
                    if matches!(made.batch, Ok(None)) {
                        return Ok(None);
                    }
                    break;
                }
                None if state.gone => return Err(gone()),
                None => state = state.wait(&self.shared.ready),
            }
        }
        let next = state.queue.pop_front().map_or_else(|| Err(gone()), |made| made.batch);
        if next.is_err() {
            state.halted = false;
        }
        drop(state);
        self.shared.work.notify_one();
        next
    }

    fn reset(&mut self) -> Result<()> {
        self.order(Order::Reset)
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.order(Order::Seek(epoch, batch))
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn n_examples(&self) -> Option<u64> {
        self.n_examples
    }

    fn n_batches(&self) -> Option<u64> {
        self.n_batches
    }

    fn n_bad_records(&self) -> u64 {
        self.n_bad_records
    }
}

impl Drop for PrefetchingIter {
    fn drop(&mut self) {
        self.shared.state.lock().stop = true;
        self.shared.work.notify_one();
        if let Some(worker) = self.worker.take() {
            // Panics of the worker were caught and returned as errors, so joining cannot report anything new.
            let _ = worker.join();
        }
    }
}
