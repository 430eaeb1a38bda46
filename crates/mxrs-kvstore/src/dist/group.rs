//! The workers of a training, as one of them sees them.

use super::collect::Collected;
use super::job::Job;
use super::liveness::{GroupOptions, lost};
use super::packet::Packet;
use super::talker::Talker;
use super::wire::{Connect, Waker};
use mxrs_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use mxrs_sync::{Mutex, MutexGuard};
use mxrs_types::{Error, Result};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the thread that communicates is asked to do.
pub(super) enum Command {
    /// Look for received messages.
    Wake,
    /// Queue a message for a worker.
    Send { to: usize, priority: i32, packet: Arc<Packet> },
    /// Wait for the messages of a round.
    Job(Job),
    /// Give these bytes to all workers, or only to worker 0, and return the bytes of all workers to those that get them.
    Collect { number: u64, bytes: Vec<u8>, to_all: bool, reply: Sender<Result<Collected>> },
    /// Sum these values by the transport's own function, and return the time that it took.
    AllReduce { sum: AllReduce, reply: Sender<Result<Option<AllReduce>>> },
    /// Send what is queued, and end.
    Close,
}

/// A sum of the values of all workers by the transport's own function, such as `MPI_Allreduce`. It is the baseline in
/// measurements of stores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllReduce {
    /// The values of this worker.
    pub values: Vec<f32>,
    /// The sums over all workers. As long as `values`.
    pub sums: Vec<f32>,
    /// How long the function took on this worker.
    pub time: Duration,
}

/// The workers of a training, as one of them sees them. A thread of its own sends and receives messages.
///
/// If a worker fails, or is silent for too long, every operation of every worker returns an error that says so.
pub struct Group {
    rank: usize,
    size: usize,
    description: String,
    commands: Sender<Command>,
    n_stores: AtomicU32,
    n_collections: AtomicU64,
    /// Locked while a collection gets its number and its command is sent, so that commands are sent in the order of their
    /// numbers.
    collecting: Mutex<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Group {
    /// Connects to the other workers. `connect` is called on the new thread.
    ///
    /// # Errors
    /// Returns the error of `connect`, or fails if the system refuses a thread.
    pub fn start(connect: Connect, options: GroupOptions) -> Result<Arc<Self>> {
        let (commands, received) = channel();
        let waker = Waker(commands.clone());
        let (started, wait) = channel();
        let body = move || {
            let wire = match connect(waker) {
                Ok(wire) => wire,
                Err(error) => return drop(started.send(Err(error))),
            };
            drop(started.send(Ok((wire.rank(), wire.size(), wire.description()))));
            Talker::new(wire, received, options).run();
        };
        let thread = std::thread::Builder::new().name("mxrs-kvstore".into()).spawn(body);
        let thread = thread.map_err(|error| Error::from_io(&error).context("starting the thread that communicates"))?;
        let (rank, size, description) = wait.recv().map_err(|_| gone())??;
        tracing::info!("worker {rank} of {size}, connected by {description}");
        Ok(Arc::new(Self {
            rank,
            size,
            description,
            commands,
            n_stores: AtomicU32::new(0),
            n_collections: AtomicU64::new(0),
            collecting: Mutex::new(()),
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// The number of this worker, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of workers.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What carries the messages, such as `MPI (Open MPI 4.1.4)`.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The number of the next store. All workers make their stores in the same order.
    pub(super) fn next_store(&self) -> u32 {
        self.n_stores.fetch_add(1, Ordering::Relaxed)
    }

    /// A sender of commands, for tasks of the engine.
    pub(super) fn commands(&self) -> Sender<Command> {
        self.commands.clone()
    }

    /// Gives bytes to all workers, and returns those of every worker by rank. Waits until all workers have called this
    /// function. All workers make their calls of this function, [`Self::gather`] and [`Self::barrier`] in the same order.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    pub fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(self.collect(bytes, true)?.unwrap_or_default())
    }

    /// Gives bytes to worker 0, which gets those of every worker by rank. The others get `None`, and do not wait.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    pub fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        self.collect(bytes, false)
    }

    /// Waits until all workers have called this function.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    pub fn barrier(&self) -> Result<()> {
        self.collect(&[], true).map(drop)
    }

    /// Sums values by the transport's own function, such as `MPI_Allreduce`. Returns `None` if the transport has no such
    /// function. All workers call it at the same time, while no other messages are exchanged.
    ///
    /// # Errors
    /// Fails if the transport fails, or if a worker is lost.
    pub fn all_reduce(&self, sum: AllReduce) -> Result<Option<AllReduce>> {
        let (reply, result) = channel();
        self.commands.send(Command::AllReduce { sum, reply }).map_err(|_| gone())?;
        result.recv().map_err(|_| gone())?
    }

    fn collect(&self, bytes: &[u8], to_all: bool) -> Result<Collected> {
        let (reply, result) = channel();
        {
            let _order: MutexGuard<'_, ()> = self.collecting.lock();
            let number = self.n_collections.fetch_add(1, Ordering::Relaxed);
            let command = Command::Collect { number, bytes: bytes.to_vec(), to_all, reply };
            self.commands.send(command).map_err(|_| gone())?;
        }
        result.recv().map_err(|_| gone())?
    }
}

/// The error if the thread has ended before its group, which only a panic can cause.
pub(super) fn gone() -> Error {
    lost(io::ErrorKind::BrokenPipe, "the thread that communicates with other workers has ended".to_owned())
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.commands.send(Command::Close));
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the thread was reported when it happened, so the result of `join` is ignored.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("rank", &self.rank).field("size", &self.size).finish_non_exhaustive()
    }
}
