//! The team: threads that share one operator's loop.
//!
//! # Protocol
//!
//! A team of size `n` owns `n - 1` threads; the caller of [`Team::run`] is thread 0. What the threads look at while they
//! wait is one cache line, the *board*: `state = epoch | hands`, and the *job*, that is the body and how many chunks.
//!
//! - **T1** Only the caller that won `busy` writes the job, and only while every chunk of the job before is finished.
//! - **T2** A thread reads the job only while it owns an unfinished chunk of it.
//! - **T3** A run starts by storing a new epoch after the job. A thread acts on each epoch at most once.
//! - **T4** A run ends when every chunk is finished. So when `run` returns, nobody can still see the body: that is what
//!   makes lending a borrowed closure sound.
//! - **T5** With at most `n` chunks, `hands` is their number and chunk `i` belongs to thread `i`, from the moment it sees the
//!   epoch until it stores the epoch in its *seat*, which says that the chunk is finished. So all chunks are in progress at
//!   the same time. With more chunks, `hands` is 0 and the chunks are taken from `left`, the number not yet taken:
//!   whoever lowers it while it is positive owns a chunk. A thread that comes too late finds none and is not waited for;
//!   one that comes so late that it takes a chunk of the next run may, since it reads the job only then (T2).
//! - **T6** An idle thread looks for a while, then announces in its seat that it is `asleep`, looks once more, and parks. A
//!   sequentially consistent fence stands between the two, and another between the caller's store of the epoch and its
//!   last look at `asleep`, so one of them sees the other. That last look comes late, when a thread has not finished long
//!   after the caller has: a sleeper is nearly always seen without a fence, right after the store. Wake-ups spread as a
//!   tree: thread `i` wakes `4i + 1 ..= 4i + 4`.
//! - **T7** The caller waits the same way, with `waiting` in the part of `asleep`.
//! - **T8** A run from inside a body, or while another caller has the team, or with one chunk, happens on the caller alone.
//! - **T9** A team remembers the [`fork::generation`] its threads were started in. In a forked child they do not exist, and
//!   the board, `busy` and the locks are as some thread of the parent left them; so there the team has size 1, every run
//!   happens on the caller and touches none of these, and dropping the team joins nobody. A thread that was itself in a
//!   body when that body forked finds out at its next wait: the caller's run panics, a team thread ends.
//! - **T10** Threads that are kept back take no chunk from `left`, and a run that begins later counts without them. A run
//!   that had counted with them as hands keeps them until it ends, so T4 and T5 hold for it.
//!
//! How long a thread looks before it parks is in `idle`.

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

// Loom's macro knows no `const` initializers.
#[cfg(loom)]
crate::thread_local! { static IN_BODY: Cell<bool> = Cell::new(false); }
#[cfg(not(loom))]
crate::thread_local! { static IN_BODY: Cell<bool> = const { Cell::new(false) }; }

/// Size and place of a [`Team`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// Threads that run a loop together, the caller included.
    pub threads: NonZeroUsize,
    /// Logical CPUs to pin to: thread `i` to the `i`-th, starting over at the end. The caller, thread 0, is pinned at its
    /// first shared loop and stays so. Linux only. See [`affinity::cpu_list`].
    pub cpus: Option<Vec<usize>>,
}

/// Threads that share one operator's loop. See the module for how.
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
    /// [`ErrorKind::InvalidValue`] for an empty CPU list or a CPU this process may not use, [`ErrorKind::Io`] when the
    /// system refuses a thread.
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
            // On failure `team` is dropped, which stops the threads made so far.
            let spawned = thread::Builder::new().name(format!("mxrs-team-{i}")).spawn(serve);
            team.threads.push(spawned.map_err(|e| {
                Error::new(ErrorKind::Io {
                    path: None,
                    message: format!("cannot start team thread {i} of {size}: {e}"),
                    kind: e.kind(),
                })
            })?);
        }
        shared.can_wake(team.threads.iter().map(|t| t.thread().clone()).collect());
        Ok(Arc::new(team))
    }

    /// A team of one: every loop runs on its caller.
    pub fn serial() -> Arc<Self> {
        Arc::new(Self { shared: Arc::new(Shared::new(1, None)), threads: Vec::new() })
    }

    /// Leaves `threads` of the team's threads out of loops from now on, the last ones, so that their CPUs are free for
    /// something else; the caller always takes part. The last call counts.
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

    /// Threads that run a loop together, the caller included, without those [kept back](Self::keep_back); 1 in a process
    /// forked since the team was made.
    pub fn size(&self) -> usize {
        if self.shared.is_orphan() { 1 } else { self.shared.size() }
    }

    /// Keeps the calling thread's loops to itself until the answer is dropped: [`Team::run`] is serial, as inside a body.
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

    /// Whether the calling thread is inside a team's loop body right now, or keeps its loops to itself ([`Team::alone`]):
    /// a further [`Team::run`] is serial.
    pub fn is_inside() -> bool {
        IN_BODY.with(Cell::get)
    }

    /// Runs `body(i)` for every `i` in `0..n_chunks`, the caller included; returns when all are done.
    ///
    /// With `n_chunks <= size`, chunk `i` runs on thread `i` and all run at the same time; with more, each thread takes
    /// the next chunk when it is free. From inside a body, or while another caller has the team, or in a process forked
    /// since the team was made, all chunks run on the caller, in ascending order.
    ///
    /// # Panics
    /// With the first panic of a body, after all chunks have been run; in a process that a body forked, when the run would
    /// wait for threads that exist in the parent only.
    pub fn run(&self, n_chunks: usize, body: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let countable = (2..=isize::MAX as usize).contains(&n_chunks);
        let alone = !countable || shared.size() == 1 || shared.is_orphan() || Self::is_inside();
        if alone || !shared.begin() {
            return run_inline(n_chunks, body);
        }
        let inside = Inside::enter();
        // SAFETY: only the lifetime changes. `run` returns when the last chunk is finished (T4), so nobody uses the body once
        // the borrow ends; it unwinds before that only in a process without the threads that could (T9), as panics of bodies
        // are caught one by one.
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
            // The system may have given the numbers of the parent's threads to new ones: neither join nor detach.
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.stop();
        for thread in &self.threads {
            thread.thread().unpark();
        }
        for thread in self.threads.drain(..) {
            // Bodies' panics are caught; a thread has nothing else to say.
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

/// See [`Team::alone`].
#[must_use = "loops are kept to the thread only while this lives"]
#[derive(Debug)]
pub struct Alone {
    _inside: Inside,
    /// Belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

/// Marks the thread as being in a body, and restores what was there.
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
