//! One round of a measurement: threads push operators at the same time, then the caller waits until all have run. The
//! threads live as long as the whole measurement.

use super::Peer;
use crate::machine;
use anyhow::{Result, bail, ensure};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Instant;

/// What the pushing threads do next: push `n_operators` to the engine with index `peer`.
#[derive(Clone, Copy)]
struct Order {
    peer: usize,
    n_operators: usize,
}

/// Threads that push operators. With one thread, the caller pushes and no thread is started.
pub struct Crew<'a> {
    peers: &'a [Box<dyn Peer + 'a>],
    n_threads: usize,
    order: Mutex<Option<Order>>,
    errors: Mutex<Vec<anyhow::Error>>,
    start: Barrier,
    end: Barrier,
    thread_ids: Mutex<Vec<i32>>,
    n_started: AtomicUsize,
}

/// Starts `n_threads` pushing threads for these peers, runs `work` with them, and ends them.
pub fn with_crew<'a, R>(peers: &'a [Box<dyn Peer + 'a>], n_threads: usize, work: impl FnOnce(&Crew<'a>) -> R) -> R {
    let crew = Crew {
        peers,
        n_threads,
        order: Mutex::new(None),
        errors: Mutex::new(Vec::new()),
        start: Barrier::new(n_threads + 1),
        end: Barrier::new(n_threads + 1),
        thread_ids: Mutex::new(Vec::new()),
        n_started: AtomicUsize::new(0),
    };
    if n_threads == 1 {
        lock(&crew.thread_ids).push(machine::thread_id());
        return work(&crew);
    }
    std::thread::scope(|scope| {
        let guard = Dismiss(&crew);
        for lane in 0..n_threads {
            let crew = &crew;
            scope.spawn(move || crew.serve(lane));
        }
        while crew.n_started.load(Ordering::Acquire) < n_threads {
            std::thread::yield_now();
        }
        let result = work(&crew);
        drop(guard);
        result
    })
}

/// Ends the threads when dropped, also if the work panics; otherwise the thread scope would wait for them forever.
struct Dismiss<'c, 'a>(&'c Crew<'a>);

impl Drop for Dismiss<'_, '_> {
    fn drop(&mut self) {
        *lock(&self.0.order) = None;
        self.0.start.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Crew<'_> {
    /// Pushes `n_operators` in total to peer number `peer` and waits until they have run; returns operators per second.
    ///
    /// # Errors
    /// Returns the error that the peer reports.
    pub fn round(&self, peer: usize, n_operators: usize) -> Result<f64> {
        let share = (n_operators / self.n_threads).max(1);
        let engine = &*self.peers[peer];
        let started = Instant::now();
        if self.n_threads == 1 {
            engine.push(0, share)?;
        } else {
            *lock(&self.order) = Some(Order { peer, n_operators: share });
            self.start.wait();
            self.end.wait();
        }
        engine.wait()?;
        let seconds = started.elapsed().as_secs_f64();
        if let Some(error) = lock(&self.errors).pop() {
            bail!(error);
        }
        ensure!(seconds > 0.0, "the clock stands still");
        Ok((share * self.n_threads) as f64 / seconds)
    }

    /// Ties each pushing thread to one of these CPUs and all other threads of the process to the rest.
    ///
    /// # Errors
    /// Fails if `cpus` is empty or the system does not let a thread be tied to its CPU.
    pub fn pin(&self, cpus: &[usize]) -> Result<()> {
        machine::pin(&lock(&self.thread_ids), cpus)
    }

    fn serve(&self, lane: usize) {
        lock(&self.thread_ids).push(machine::thread_id());
        self.n_started.fetch_add(1, Ordering::Release);
        loop {
            self.start.wait();
            let Some(order) = *lock(&self.order) else { return };
            if let Err(error) = self.peers[order.peer].push(lane, order.n_operators) {
                lock(&self.errors).push(error);
            }
            self.end.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Assignment;

    #[derive(Default)]
    struct Counting {
        pushed: [AtomicUsize; 3],
        fails: bool,
    }

    impl Peer for Counting {
        fn name(&self) -> &str {
            "counting"
        }

        fn prepare(&mut self, _: &Assignment<'_>) -> Result<()> {
            Ok(())
        }

        fn push(&self, lane: usize, n: usize) -> Result<()> {
            ensure!(!self.fails, "refused");
            self.pushed[lane].fetch_add(n, Ordering::Relaxed);
            Ok(())
        }

        fn wait(&self) -> Result<()> {
            let pushed: Vec<usize> = self.pushed.iter().map(|n| n.load(Ordering::Relaxed)).collect();
            ensure!(pushed.iter().filter(|n| **n > 0).all(|n| *n == pushed[0]), "waited before all had pushed");
            Ok(())
        }
    }

    #[test]
    fn every_thread_pushes_its_share_before_the_wait() {
        for n_threads in 1..=3 {
            let peers: Vec<Box<dyn Peer>> = vec![Box::new(Counting::default())];
            with_crew(&peers, n_threads, |crew| {
                for _ in 0..20 {
                    assert!(crew.round(0, 600).unwrap() > 0.0);
                }
            });
        }
    }

    #[test]
    fn a_refusal_on_any_thread_is_the_rounds() {
        for n_threads in 1..=2 {
            let peers: Vec<Box<dyn Peer>> = vec![Box::new(Counting { fails: true, ..Counting::default() })];
            let error = with_crew(&peers, n_threads, |crew| crew.round(0, 10).unwrap_err());
            assert_eq!(error.to_string(), "refused");
        }
    }
}
