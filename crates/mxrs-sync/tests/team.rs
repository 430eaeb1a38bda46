//! The guarantees of a team (T1 to T10 in `src/team/mod.rs`), through its public interface.
#![cfg(not(loom))]

use mxrs_sync::{Team, TeamConfig, affinity};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

fn team(threads: usize) -> Arc<Team> {
    Team::new(TeamConfig { threads: NonZeroUsize::new(threads).unwrap(), cpus: None }).unwrap()
}

#[test]
fn every_chunk_runs_once_for_any_size_and_count() {
    for threads in [1, 2, 3, 6, 9] {
        let team = team(threads);
        assert_eq!(team.size(), threads);
        for n in [0, 1, 2, threads - 1, threads, threads + 1, 50] {
            let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            team.run(n, &|i| {
                hits[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1), "{threads} threads, {n} chunks");
        }
    }
}

#[test]
fn at_most_size_chunks_are_all_in_progress_at_once() {
    let team = team(4);
    for n in [2, 3, 4, 4, 2] {
        // Each chunk waits for all others, so a thread that ran two chunks would hang here.
        let barrier = Barrier::new(n);
        let threads = Mutex::new(HashSet::new());
        team.run(n, &|_| {
            barrier.wait();
            threads.lock().unwrap().insert(thread::current().id());
        });
        assert_eq!(threads.lock().unwrap().len(), n);
    }
}

#[test]
fn thread_i_gets_chunk_i_each_time() {
    let team = team(3);
    let owner = |_: ()| {
        let owners = Mutex::new([None; 3]);
        team.run(3, &|i| owners.lock().unwrap()[i] = Some(thread::current().id()));
        owners.into_inner().unwrap()
    };
    let first = owner(());
    assert_eq!(first[0], Some(thread::current().id()), "the caller is thread 0");
    assert_eq!(first, owner(()));
}

#[test]
fn nested_runs_are_serial_and_finish() {
    let team = team(2);
    assert!(!Team::is_inside());
    let count = AtomicUsize::new(0);
    team.run(2, &|_| {
        assert!(Team::is_inside());
        let me = thread::current().id();
        team.run(5, &|_| {
            assert_eq!(thread::current().id(), me);
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert!(Team::is_inside());
    });
    assert!(!Team::is_inside());
    assert_eq!(count.into_inner(), 10);
}

#[test]
fn a_busy_team_leaves_the_second_caller_to_itself() {
    let team = team(2);
    let (started, release) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            team.run(2, &|i| {
                if i == 0 {
                    started.wait();
                    while !release.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                }
            });
        });
        started.wait();
        let me = thread::current().id();
        let mut order = Mutex::new(Vec::new());
        team.run(4, &|i| {
            assert_eq!(thread::current().id(), me);
            order.lock().unwrap().push(i);
        });
        assert_eq!(order.get_mut().unwrap(), &[0, 1, 2, 3]);
        release.store(true, Ordering::Release);
    });
}

#[test]
fn a_panic_reaches_the_caller_after_all_chunks_and_the_team_lives_on() {
    let team = team(3);
    for n in [3, 10, 1] {
        let done = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            team.run(n, &|i| {
                done.fetch_add(1, Ordering::Relaxed);
                assert!(i != n - 1, "chunk {i} fails");
            });
        }));
        let message = *outcome.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(message, format!("chunk {} fails", n - 1));
        assert_eq!(done.into_inner(), n);
        assert!(!Team::is_inside());
    }
    let ok = AtomicUsize::new(0);
    team.run(3, &|_| {
        ok.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(ok.into_inner(), 3);
}

/// A panic payload whose drop panics too.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("dropped");
        }
    }
}

/// The team reports one panic and drops the payloads of the others. A panic in such a drop must not end a team thread,
/// nor unwind the caller while other threads are running.
#[test]
fn payloads_whose_drop_panics_neither_hang_nor_unwind_a_run() {
    let team = team(3);
    for n in [3, 30] {
        let done = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            team.run(n, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
                std::panic::panic_any(Bomb);
            });
        }));
        let payload = outcome.unwrap_err();
        assert!(payload.is::<Bomb>());
        std::mem::forget(payload);
        assert_eq!(done.into_inner(), n, "every chunk ran before the caller unwound");
    }
    let ok = AtomicUsize::new(0);
    team.run(3, &|_| {
        ok.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(ok.into_inner(), 3);
}

#[test]
fn callers_from_many_threads_and_sleeps_between_runs() {
    let team = team(3);
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for caller in 0..4_u64 {
            let (team, total) = (&team, &total);
            scope.spawn(move || {
                for round in 0..200 {
                    if round % 20 == caller {
                        // Long enough for the threads to park.
                        thread::sleep(std::time::Duration::from_micros(300));
                    }
                    team.run(2 + (round % 6) as usize, &|_| {
                        total.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
        }
    });
    let per_caller: usize = (0..200).map(|round| 2 + round % 6).sum();
    assert_eq!(total.into_inner(), 4 * per_caller);
}

/// T6: an idle thread stops polling.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_thread_uses_no_processor() {
    let team = team(2);
    let task = Mutex::new(None);
    for _ in 0..100 {
        team.run(2, &|i| {
            if i == 1 {
                *task.lock().unwrap() = std::fs::read_link("/proc/thread-self").ok();
            }
        });
    }
    let Some(task) = task.into_inner().unwrap() else { return };
    // The processor time of the thread so far in nanoseconds: the first number in `schedstat`, a file that not all
    // kernels provide.
    let used = || -> Option<u64> {
        let text = std::fs::read_to_string(std::path::Path::new("/proc").join(&task).join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    thread::sleep(std::time::Duration::from_millis(50));
    let before = used();
    thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(used(), before);
    assert_ne!(before, Some(0), "the thread did work");
}

#[test]
fn threads_stop_on_drop() {
    for _ in 0..20 {
        let team = team(4);
        team.run(4, &|_| {});
        drop(team);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn each_thread_is_pinned_to_its_cpu() {
    let allowed = affinity::current().unwrap();
    let cpus: Vec<usize> = allowed.iter().copied().take(2).collect();
    // Runs on a separate thread, because the caller of a pinned team stays pinned.
    thread::spawn(move || {
        let threads = NonZeroUsize::new(cpus.len()).unwrap();
        let team = Team::new(TeamConfig { threads, cpus: Some(cpus.iter().map(|cpu| vec![*cpu]).collect()) }).unwrap();
        let seen = Mutex::new(vec![Vec::new(); cpus.len()]);
        if cpus.len() > 1 {
            team.run(cpus.len(), &|i| seen.lock().unwrap()[i] = affinity::current().unwrap());
            let expected: Vec<Vec<usize>> = cpus.iter().map(|c| vec![*c]).collect();
            assert_eq!(seen.into_inner().unwrap(), expected);
        }
    })
    .join()
    .unwrap();
    let bad = |cpus| Team::new(TeamConfig { threads: NonZeroUsize::MIN, cpus: Some(cpus) }).unwrap_err().to_string();
    assert!(bad(vec![]).contains("an empty list"));
    assert!(bad(vec![vec![]]).contains("an empty list"));
    assert!(bad(vec![vec![100_000]]).contains("got 100000"));
}

/// T10: threads that are kept back take no part, for any number of chunks, and take part again later.
#[test]
fn t10_threads_kept_back_take_no_part() {
    let team = team(4);
    for (kept, expected) in [(0, 4), (1, 3), (3, 1), (9, 1), (2, 2), (0, 4)] {
        team.keep_back(kept);
        assert_eq!(team.size(), expected);
        for n in [expected, 40] {
            let threads = Mutex::new(HashSet::new());
            team.run(n, &|_| {
                threads.lock().unwrap().insert(thread::current().id());
                thread::sleep(std::time::Duration::from_millis(2));
            });
            assert_eq!(threads.into_inner().unwrap().len(), expected, "{kept} kept back, {n} chunks");
        }
    }
}

/// T10: keeping threads back while loops run neither loses a chunk nor runs one twice.
#[test]
fn t10_keeping_back_while_loops_run() {
    let (team, over) = (team(4), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0.. {
                team.keep_back(i % 4);
                if over.load(Ordering::Relaxed) {
                    break;
                }
                thread::yield_now();
            }
        });
        for n in (0..2000).map(|i| 2 + i % 9) {
            let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            team.run(n, &|i| {
                hits[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1), "{n} chunks");
        }
        over.store(true, Ordering::Relaxed);
    });
}
