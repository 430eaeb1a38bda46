//! Tests that really fork a process with many threads: locks, fork hooks and teams must work in the child. F1 to F5 are the
//! rules of `mxrs_sync::fork`, T1 to T10 those of a team (`src/team/mod.rs`), and E17 is a rule of the engine; D6 is a row
//! of `docs/env.md`.
#![cfg(all(unix, not(loom)))]
#![allow(unsafe_code)]

use mxrs_sync::fork::{self, ForkGuard, Kept};
use mxrs_sync::{Condvar, Mutex, Rank, RankedMutex, Team, TeamConfig};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// Only one test forks at a time, because each counts the effects of its own forks.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Forks; the child runs `child` and exits with the result, or with 99 if `child` panics.
fn fork_child(child: impl FnOnce() -> u8) -> libc::pid_t {
    // SAFETY: the child uses only the locks and threads under test, and ends by `_exit`, which does not run the
    // parent's exit handlers.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0, "{}", std::io::Error::last_os_error());
        if pid == 0 {
            let code = catch_unwind(AssertUnwindSafe(child)).unwrap_or(99);
            libc::_exit(code.into());
        }
        pid
    }
}

/// The child's result; a child that hangs is killed and reported.
fn answer(pid: libc::pid_t) -> Result<u8, String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call, and `pid` is a child of this process that no other code waits for.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 if Instant::now() < deadline => std::thread::sleep(Duration::from_micros(200)),
            0 => {
                // SAFETY: the child has not been waited for, so its process id is still valid.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                // SAFETY: `status` outlives the call; this waits for the killed child.
                unsafe { libc::waitpid(pid, &raw mut status, 0) };
                return Err("the child hangs".to_owned());
            }
            ended if ended == pid && libc::WIFEXITED(status) => return Ok(libc::WEXITSTATUS(status) as u8),
            ended if ended == pid => return Err(format!("the child died of signal {}", libc::WTERMSIG(status))),
            _ => return Err(std::io::Error::last_os_error().to_string()),
        }
    }
}

fn forked(child: impl FnOnce() -> u8) -> Result<u8, String> {
    answer(fork_child(child))
}

fn team(threads: usize) -> Arc<Team> {
    Team::new(TeamConfig { threads: NonZeroUsize::new(threads).unwrap(), cpus: None }).unwrap()
}

/// Runs a loop of `n` chunks. Returns the number of chunks that ran exactly once, and of threads that ran chunks.
fn run(team: &Team, n: usize) -> (usize, usize) {
    let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
    let threads = Mutex::new(std::collections::HashSet::new());
    team.run(n, &|i| {
        hits[i].fetch_add(1, Ordering::Relaxed);
        threads.lock().insert(std::thread::current().id());
    });
    (hits.iter().filter(|h| h.load(Ordering::Relaxed) == 1).count(), threads.into_inner().len())
}

/// E17, D6, T9: while other threads keep two teams busy, each child runs a serial loop on an inherited team and a
/// parallel one on a new team, and drops both.
#[test]
fn e17_loops_run_in_a_hundred_children_while_the_parent_runs_loops() {
    let _turn = ONE_AT_A_TIME.lock();
    let (busy, idle) = (team(3), team(2));
    let stop = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(run(&busy, 3), (3, 3));
                assert_eq!(run(&busy, 40).0, 40);
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let failures: Vec<_> = (0..100)
            .map(|_| {
                forked(|| {
                    let inherited = [&busy, &idle].map(|team| (team.size(), run(team, 3), run(team, 40)));
                    let new = team(8);
                    // Drops the inherited teams although the parent's code still owns them. The drop must not join the
                    // threads of these teams, because the system may already have reused the thread ids.
                    // SAFETY: this takes the reference counts of `busy` and `idle`. The child ends by `_exit` and does
                    // not use these two again.
                    drop([&busy, &idle].map(|team| unsafe { Arc::from_raw(Arc::as_ptr(team)) }));
                    let ours = (new.size(), run(&new, 8), run(&new, 40).0);
                    drop(new);
                    let ok = fork::is_child()
                        && inherited.iter().all(|i| *i == (1, (3, 1), (40, 1)))
                        && ours == (8, (8, 8), 40);
                    u8::from(!ok)
                })
            })
            .filter(|answer| *answer != Ok(0))
            .collect();
        let before = rounds.load(Ordering::Relaxed);
        while rounds.load(Ordering::Relaxed) < before + 2 {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        assert!(failures.is_empty(), "{failures:?}");
    });
    assert!(!fork::is_child());
    assert_eq!((busy.size(), idle.size()), (3, 2), "the parent keeps its teams");
}

/// Threads that sleep in the parent, on locks or on condition variables, do not affect the child: its new threads sleep
/// and wake as usual.
#[test]
fn a_child_of_a_process_full_of_sleepers_can_sleep_and_wake() {
    let _turn = ONE_AT_A_TIME.lock();
    let stop = AtomicBool::new(false);
    let seats: Vec<(Mutex<u64>, Condvar)> = (0..8).map(|_| Default::default()).collect();
    std::thread::scope(|scope| {
        for (i, (lock, wake)) in seats.iter().enumerate() {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let mut value = lock.lock();
                    *value += 1;
                    wake.notify_all();
                    drop(wake.wait_for(value, Duration::from_micros(if i < 4 { 30 } else { 50_000 })));
                }
            });
        }
        let failures: Vec<_> = (0..50)
            .map(|_| {
                forked(|| {
                    let new: Vec<(Mutex<u64>, Condvar)> = (0..4).map(|_| Default::default()).collect();
                    std::thread::scope(|scope| {
                        for (lock, wake) in new.iter().chain(&new) {
                            scope.spawn(move || {
                                let mut value = lock.lock();
                                *value += 1;
                                wake.notify_all();
                                while *value < 2 {
                                    value = wake.wait(value);
                                }
                            });
                        }
                    });
                    0
                })
            })
            .filter(|answer| *answer != Ok(0))
            .collect();
        stop.store(true, Ordering::Relaxed);
        assert!(failures.is_empty(), "{failures:?}");
    });
}

/// A [`ForkGuard`] that holds the lock of its data during a fork, as the rules of `mxrs_sync::fork` require.
struct Account {
    /// Two numbers that are equal whenever the lock is free.
    sides: RankedMutex<(u64, u64)>,
    calls: AtomicUsize,
}

impl ForkGuard for Account {
    fn prepare(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        kept.keep(self.sides.lock());
    }
    fn parent(&self) {}
    fn child(&self) {
        assert!(self.sides.lock().0 > 0, "free in the hook");
    }
}

/// F1, F3: the data behind a guard's lock is consistent in the child, and the lock can be taken there, even if it was
/// contended.
#[test]
fn f3_a_contended_lock_is_free_and_its_content_whole_in_every_child() {
    let _turn = ONE_AT_A_TIME.lock();
    let account = |rank| Account { sides: RankedMutex::new(rank, (1, 1)), calls: AtomicUsize::new(0) };
    let accounts = [Rank::Storage, Rank::Leaf].map(|rank| Arc::new(account(rank)));
    let guards = accounts.clone().map(|account| account as Arc<dyn ForkGuard>);
    let registration = fork::register(Rank::Storage, &guards[0]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let mut sides = accounts[0].sides.lock();
                    sides.0 += 1;
                    std::hint::black_box(&mut sides);
                    sides.1 += 1;
                }
            });
        }
        // Registers and unregisters guards during forks.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drop(fork::register(Rank::Leaf, &guards[1]));
            }
        });
        let failures: Vec<_> = (0..100)
            .map(|_| {
                forked(|| {
                    let sides = accounts[0].sides.lock();
                    let whole = sides.0 == sides.1;
                    drop(sides);
                    let free = accounts[0].sides.lock().0 > 0;
                    u8::from(!(whole && free))
                })
            })
            .filter(|answer| *answer != Ok(0))
            .collect();
        stop.store(true, Ordering::Relaxed);
        assert!(failures.is_empty(), "{failures:?}");
    });
    assert_eq!(accounts[0].calls.load(Ordering::Relaxed), 100);
    drop(registration);
    assert_eq!(forked(|| 0), Ok(0));
    assert_eq!(accounts[0].calls.load(Ordering::Relaxed), 100, "unregistered");
}

struct Recorder(&'static str, Arc<Mutex<Vec<String>>>);

impl Recorder {
    fn note(&self, hook: &str) {
        self.1.lock().push(format!("{hook} {}", self.0));
        assert!(self.0 != "broken" || hook != "child", "on purpose");
    }
}

impl ForkGuard for Recorder {
    fn prepare(&self) {
        self.note("prepare");
    }
    fn parent(&self) {
        self.note("parent");
    }
    fn child(&self) {
        self.note("child");
    }
}

/// F1, F2, F4: the hooks of several guards run in the right order at a real fork, although one of them panics.
#[test]
fn f2_f4_hooks_come_in_order_on_both_sides_and_survive_a_panic() {
    let _turn = ONE_AT_A_TIME.lock();
    let log = Arc::new(Mutex::new(Vec::new()));
    let guards = ["storage", "broken", "engine"].map(|n| Arc::new(Recorder(n, Arc::clone(&log))) as Arc<dyn ForkGuard>);
    let ranks = [Rank::Storage, Rank::KernelCache, Rank::EngineLifecycle];
    let _registrations: Vec<_> = guards.iter().zip(ranks).map(|(guard, rank)| fork::register(rank, guard)).collect();
    let said = || log.lock().drain(..).collect::<Vec<_>>().join(", ");
    let before = "prepare engine, prepare storage, prepare broken";
    let child = forked(|| u8::from(said() != format!("{before}, child broken, child storage, child engine")));
    assert_eq!(child, Ok(0));
    assert_eq!(said(), format!("{before}, parent broken, parent storage, parent engine"));
}

#[test]
fn generations_count_forks_on_the_way_down() {
    let _turn = ONE_AT_A_TIME.lock();
    fork::watch();
    fork::watch();
    assert_eq!((fork::generation(), fork::is_child()), (0, false));
    let child = forked(|| {
        let mine = fork::generation() == 1;
        // In the grandchild, the threads of a team that the child made do not exist.
        let own = team(2);
        let grandchild = forked(|| u8::from(!(fork::generation() == 2 && own.size() == 1 && run(&own, 2) == (2, 1))));
        u8::from(!(mine && grandchild == Ok(0) && run(&own, 2) == (2, 2)))
    });
    assert_eq!(child, Ok(0));
    assert_eq!(fork::generation(), 0);
}

/// T9: if a body forks, neither the caller of the run nor a team thread hangs in the child.
#[test]
fn t9_a_body_that_forks_leaves_no_process_waiting_for_threads_of_another() {
    let _turn = ONE_AT_A_TIME.lock();
    let team = team(2);
    for forker in [0, 1] {
        let pid = AtomicUsize::new(0);
        let both_started = Barrier::new(2);
        let caller = std::thread::current().id();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            team.run(2, &|i| {
                both_started.wait();
                if i == forker {
                    // SAFETY: the child uses only the locks and threads under test, and ends by `_exit`.
                    pid.store(unsafe { libc::fork() } as usize, Ordering::Relaxed);
                } else {
                    // This chunk waits until the other chunk has forked, so it is unfinished at the time of the fork.
                    while pid.load(Ordering::Relaxed) == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }));
        if fork::is_child() {
            let panicked = outcome.is_err() && std::thread::current().id() == caller;
            // SAFETY: `_exit` does not run the parent's exit handlers.
            unsafe { libc::_exit(if panicked { 7 } else { 8 }) }
        }
        // The team thread has no caller to report to and ends. It is the last thread of its process, so the status is 0.
        let expected = if forker == 0 { 7 } else { 0 };
        assert_eq!(answer(pid.into_inner() as libc::pid_t), Ok(expected), "forked by the body of thread {forker}");
        assert!(outcome.is_ok());
    }
    assert_eq!(run(&team, 2), (2, 2));
}
