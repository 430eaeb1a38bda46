//! A team: threads that share one operator's loop.
//!
//! # Protocol
//!
//! A team of size `n` owns `n - 1` threads; the caller of [`Team::run`] is thread 0. Waiting threads poll one cache
//! line, the *board*. It contains `state = epoch | hands` and the *job*: the body and the number of chunks.
//!
//! - **T1** Only the caller that has set `busy` writes the job, and only while every chunk of the previous job is
//!   finished.
//! - **T2** A thread reads the job only while it owns an unfinished chunk of it.
//! - **T3** A run starts by storing a new epoch after the job. A thread acts on each epoch at most once.
//! - **T4** A run ends when every chunk is finished. So when `run` returns, no thread can use the body any more; that
//!   makes lending a borrowed closure sound.
//! - **T5** With at most `n` chunks, `hands` is the number of chunks, and chunk `i` belongs to thread `i`. The thread
//!   owns its chunk from the moment at which it sees the epoch until it stores the epoch in its *slot*, which marks the
//!   chunk as finished. So all chunks are in progress at the same time. With more chunks, `hands` is 0, and threads
//!   take chunks from `left`, the number of chunks not yet taken: a thread that decreases `left` while it is positive
//!   owns a chunk. A late thread finds no chunk, and the caller does not wait for it. A thread may even be so late that
//!   it takes a chunk of the next run; this is allowed, because it reads the job only after taking the chunk (T2).
//! - **T6** An idle thread polls for a while, then sets `asleep` in its slot, polls again, and parks. A sequentially
//!   consistent fence lies between setting `asleep` and polling again. Another one lies between the caller's store of
//!   the epoch and its last check of `asleep`. So the thread sees the epoch, or the caller sees the thread asleep. The
//!   caller makes this last check only if a thread has not finished long after the caller itself. Nearly always it is
//!   not needed, because the caller already saw the sleeping thread without a fence, directly after the store. Wake-ups
//!   spread as a tree: thread `i` wakes `4i + 1 ..= 4i + 4`.
//! - **T7** The caller waits in the same way, with `waiting` in the role of `asleep`.
//! - **T8** A run from inside a body, or while another caller uses the team, or with one chunk, runs on the caller
//!   only.
//! - **T9** A team stores the [`fork::generation`] in which its threads were started. In a forked child they do not
//!   exist, and the board, `busy` and the locks may be in any state. So in a child the team has size 1, every run
//!   happens on the caller alone and does not use the board, `busy` or the locks, and dropping the team joins no
//!   thread. A thread that was in a body when that body forked notices at its next wait: the caller's run panics, and a
//!   team thread ends.
//! - **T10** Threads that are kept back take no chunk from `left`, and later runs do not count them. A run that has
//!   already assigned chunks to such threads by number uses them until it ends, so T4 and T5 hold for that run.
//!
//! `idle` decides how long a thread polls before it parks.

mod idle;
mod shared;

use crate::{affinity, fork, thread};
use mxrs_types::{Error, ErrorKind, Result};
use shared::{Job, MAX_SIZE, Shared};
use std::cell::Cell;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

// Loom's macro does not support `const` initializers.
#[cfg(loom)]
crate::thread_local! { static IN_BODY: Cell<bool> = Cell::new(false); }
#[cfg(not(loom))]
crate::thread_local! { static IN_BODY: Cell<bool> = const { Cell::new(false) }; }

/// The size and placement of a [`Team`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// The number of threads that run a loop together, including the caller.
    pub threads: NonZeroUsize,
    /// The places to which threads are pinned; each is a list of logical CPUs. Thread `i` is pinned to place `i`, modulo
    /// the number of places. The caller, thread 0, is pinned at its first shared loop and stays pinned. Linux only. See
    /// [`affinity::cpu_list`].
    pub cpus: Option<Vec<Vec<usize>>>,
}

/// Threads that share one operator's loop. See the module for the protocol.
pub struct Team {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("size", &self.size()).field("cpus", &self.shared.cpus()).finish()
    }
}

impl Team {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for an empty CPU list or a CPU that this process may not use, [`ErrorKind::Io`] if
    /// the system refuses a thread.
    pub fn new(config: TeamConfig) -> Result<Arc<Self>> {
        let size = config.threads.get();
        if size > MAX_SIZE {
            return Err(Error::invalid("team size", size, format!("at most {MAX_SIZE}")));
        }
        if let Some(cpus) = &config.cpus {
            affinity::check(cpus)?;
        }
        fork::watch();
        let shared = Arc::new(Shared::new(size, config.cpus));
        let mut team = Self { shared: Arc::clone(&shared), threads: Vec::with_capacity(size - 1) };
        for i in 1..size {
            let shared = Arc::clone(&shared);
            let serve = move || {
                let _inside = Inside::enter();
                shared.serve(i);
            };
            // On an error `team` is dropped, which stops the threads started so far.
            let spawned = thread::Builder::new().name(format!("mxrs-team-{i}")).spawn(serve);
            team.threads.push(spawned.map_err(|e| {
                Error::new(ErrorKind::Io {
                    path: None,
                    message: format!("cannot start team thread {i} of {size}: {e}"),
                    kind: e.kind(),
                })
                .with_source(e)
            })?);
        }
        shared.can_wake(team.threads.iter().map(|t| t.thread().clone()).collect());
        Ok(Arc::new(team))
    }

    /// A team of one: every loop runs on its caller.
    pub fn serial() -> Arc<Self> {
        Arc::new(Self { shared: Arc::new(Shared::new(1, None)), threads: Vec::new() })
    }

    /// Excludes the last `threads` of the team's threads from loops from now on, so that their CPUs are free for other
    /// work; the caller always takes part. A later call replaces this setting.
    ///
    /// ```
    /// use mxrs_sync::{Team, TeamConfig};
    /// let team = Team::new(TeamConfig { threads: std::num::NonZeroUsize::MIN.saturating_add(1), cpus: None })?;
    /// team.keep_back(1);
    /// assert_eq!(team.size(), 1);
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub fn keep_back(&self, threads: usize) {
        self.shared.keep_back(threads);
    }

    /// Makes kernels run loops of fewer than `elements` elements on one thread from now on. Without this setting each
    /// kernel decides by itself.
    pub fn share_from(&self, elements: usize) {
        self.shared.share_from(elements);
    }

    /// The smallest number of elements for which kernels share a loop among threads; 0 if each kernel decides by itself.
    pub fn shares_from(&self) -> usize {
        self.shared.shares_from()
    }

    /// The number of threads that run a loop together, including the caller and excluding those [kept
    /// back](Self::keep_back); 1 in a process forked since the team was made.
    pub fn size(&self) -> usize {
        if self.shared.is_orphan() { 1 } else { self.shared.size() }
    }

    /// Makes the calling thread run its loops alone until the result is dropped: [`Team::run`] is serial, as inside a
    /// body.
    ///
    /// ```
    /// use mxrs_sync::{Team, TeamConfig};
    /// let team = Team::new(TeamConfig { threads: std::num::NonZeroUsize::MIN.saturating_add(1), cpus: None })?;
    /// let (here, _alone) = (std::thread::current().id(), Team::alone());
    /// team.run(2, &|_| assert_eq!(std::thread::current().id(), here));
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub fn alone() -> Alone {
        Alone { _inside: Inside::enter(), _thread: PhantomData }
    }

    /// Whether the calling thread is inside a team's loop body, or runs its loops alone ([`Team::alone`]), so that
    /// [`Team::run`] is serial.
    pub fn is_inside() -> bool {
        IN_BODY.with(Cell::get)
    }

    /// Runs `body(i)` for every `i` in `0..n_chunks` on the team's threads, including the caller; returns when all are
    /// done.
    ///
    /// With `n_chunks <= size`, chunk `i` runs on thread `i` and all run at the same time; with more, each thread takes
    /// the next chunk when it is free. Inside a body, or while another caller uses the team, or in a process forked
    /// since the team was made, all chunks run on the caller in ascending order.
    ///
    /// # Panics
    /// Panics with the first panic of a body, after all chunks have run. Also panics in a process that a body forked, if
    /// the run would wait for threads that exist only in the parent.
    pub fn run(&self, n_chunks: usize, body: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let countable = (2..=isize::MAX as usize).contains(&n_chunks);
        let alone = !countable || shared.size() == 1 || shared.is_orphan() || Self::is_inside();
        if alone || !shared.begin() {
            return run_inline(n_chunks, body);
        }
        let inside = Inside::enter();
        // SAFETY: only the lifetime changes. `run` returns when the last chunk is finished (T4), so no thread uses the
        // body after the borrow ends. `run` unwinds earlier only in a forked process, which has no threads that could
        // use it (T9), because panics of bodies are caught one by one.
        let body = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const shared::Body>(body) };
        shared.run(Job { body, n_chunks });
        drop(inside);
        if let Some(panic) = shared.end() {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if self.shared.is_orphan() {
            // This is a forked child, without the threads of the parent. The system may have reused their ids, so the
            // handles are neither joined nor detached.
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.stop();
        for thread in &self.threads {
            thread.thread().unpark();
        }
        for thread in self.threads.drain(..) {
            // Panics of bodies are caught, so a thread's result carries no information.
            let _ = thread.join();
        }
    }
}

fn run_inline(n_chunks: usize, body: &(dyn Fn(usize) + Sync)) {
    let inside = Inside::enter();
    let mut panic = None;
    for chunk in 0..n_chunks {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(chunk))) {
            match &panic {
                None => panic = Some(payload),
                Some(_) => shared::discard(payload),
            }
        }
    }
    drop(inside);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// Makes loops serial while it exists; see [`Team::alone`].
#[must_use = "loops are kept to the thread only while this lives"]
#[derive(Debug)]
pub struct Alone {
    _inside: Inside,
    /// Makes the value `!Send`: it belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

/// Marks the thread as inside a body, and restores the earlier mark when dropped.
#[derive(Debug)]
struct Inside {
    before: bool,
}

impl Inside {
    fn enter() -> Self {
        Self { before: IN_BODY.with(|inside| inside.replace(true)) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IN_BODY.with(|inside| inside.set(self.before));
    }
}
