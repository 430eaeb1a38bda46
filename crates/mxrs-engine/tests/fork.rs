//! Rule E17 of `mxrs_engine::var`: processes forked while the engine is busy compute with workers of their own, and the
//! parent continues.
//!
//! This is a test program without a harness: only the calling thread survives a fork, so no thread of another test may
//! exist.
// fork, waitpid and _exit are calls of the C library.
#![allow(unsafe_code)]

#[cfg(any(loom, not(unix)))]
fn main() {}

#[cfg(all(not(loom), unix))]
fn main() {
    // `cargo test -- --list` and filters are features of libtest; this program has one test and always runs it.
    if std::env::args().any(|arg| arg == "--list") {
        println!("e17_forked_children_compute: test");
        return;
    }
    println!("\nrunning 1 test");
    checks::e17_forked_children_compute();
    println!("test e17_forked_children_compute ... ok");
    println!("\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n");
}

#[cfg(all(not(loom), unix))]
mod checks {
    use mxrs_engine::{Engine, EngineConfig, EngineKind, PoolId, RunContext, Var};
    use mxrs_types::{Device, Error, Result};
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    const FORKS: usize = 100;
    const KINDS: [EngineKind; 3] = [EngineKind::ThreadedPerDevice, EngineKind::Threaded, EngineKind::Naive];
    /// A child that runs longer than this is considered hung.
    const PATIENCE: Duration = Duration::from_secs(20);
    /// Used instead of an exit code for a child that hangs; `DIES` is used for a child that was killed by a signal.
    const HANGS: i32 = -1;
    const DIES: i32 = -2;
    /// The number of workers of a child. Differs from the parent's number of workers and from 1, so that the tests see
    /// whether the setting takes effect.
    const CHILD_WORKERS: usize = 2;

    fn count(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    pub fn e17_forked_children_compute() {
        for kind in KINDS {
            let config = EngineConfig {
                cpu_workers: count(3),
                child_workers: count(CHILD_WORKERS),
                ..EngineConfig::of_kind(kind)
            };
            let engine = Engine::new(config).unwrap();
            fork_from_a_busy_engine(&engine, kind);
            pending_failures_stay(&engine, kind);
            unforked_engines_still_work(kind);
            engines_end_during_forks(&engine, kind);
            fork_from_collecting_threads(&engine, kind);
            fork_during_stops_and_waits(&engine, kind);
            fork_at_once_again(&engine, kind);
        }
    }

    /// Two threads push without pause while a third forks.
    fn fork_from_a_busy_engine(engine: &Engine, kind: EngineKind) {
        let (over, pushed) = (AtomicBool::new(false), AtomicU64::new(0));
        let vars: Vec<Var> = (0..6).map(|_| engine.new_var()).collect();
        let before: u64 = engine.counters().completed;
        let mut statuses = Vec::new();
        thread::scope(|scope| {
            for thread in 0..2 {
                let (over, pushed, vars) = (&over, &pushed, &vars);
                scope.spawn(move || {
                    for i in thread.. {
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                        let body = move |_: &RunContext| {
                            if i % 50 == 0 {
                                thread::sleep(Duration::from_micros(100));
                            }
                            Ok(())
                        };
                        let task = engine.task("busy").read(&vars[i % 6]).write(&vars[(i * 5 + 1) % 6]);
                        task.device(Device::cpu(i as u32 % 2)).push(body).unwrap();
                        pushed.fetch_add(1, Ordering::Relaxed);
                        if i % 100 == 0 {
                            engine.wait_to_read(&vars[i % 6]).unwrap();
                        }
                    }
                });
            }
            // The exit codes are checked after the scope: a panic here would wait forever for the pushing threads,
            // which end only once `over` is set.
            statuses.extend((0..FORKS).map(|_| in_child(|| child(engine, kind))).take_while(|status| *status != HANGS));
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(statuses, [0; FORKS], "E17, {kind:?}: exit codes, see `child`; one that hangs is not listed");
        engine.wait_for_all().unwrap();
        let (pushed, counters) = (pushed.into_inner(), engine.counters());
        assert!(pushed > FORKS as u64, "{kind:?}: the parent went on pushing: {pushed}");
        assert_eq!(counters.completed - before, pushed, "E6, {kind:?}: the parent lost nothing");
        assert_eq!(vars.iter().map(Var::version).sum::<u64>(), pushed, "E5, {kind:?}");
        if kind == EngineKind::ThreadedPerDevice {
            let workers = counters.pool(PoolId::Cpu(0)).unwrap().threads;
            assert_eq!(workers, 3, "the parent keeps its workers");
        }
    }

    /// Runs a graph of 100 operators whose result depends on their order, on the engine and variables of the parent;
    /// returns an exit code.
    fn child(engine: &Engine, kind: EngineKind) -> i32 {
        let Some(first) = graph(engine) else { return 11 };
        let Some(second) = graph(engine) else { return 12 };
        if first != expected() || second != first {
            return 13;
        }
        if kind == EngineKind::ThreadedPerDevice {
            let counters = engine.counters();
            if counters.pool(PoolId::Cpu(0)).map(|pool| pool.threads) != Some(CHILD_WORKERS) {
                return 14;
            }
        }
        // A failure is reported in the child as in any process.
        let var = engine.new_var();
        let pushed = engine.task("bad").write(&var).push(|_| Err(Error::invalid("a", "b", "c")));
        if pushed.and_then(|()| engine.wait_to_read(&var)).is_ok() {
            return 15;
        }
        // A child cannot use a GPU, and the error names the GPU.
        match engine.task("gpu").device(Device::gpu(0)).push(|_| Ok(())) {
            Err(error) if error.to_string().contains("gpu(0)") => {}
            Err(_) => return 16,
            Ok(()) => return 17,
        }
        if engine.wait_for_all().is_err() {
            return 18;
        }
        0
    }

    const STEPS: u64 = 100;

    fn step(i: u64, a: u64, b: u64) -> u64 {
        (a ^ (b << 1) ^ i).wrapping_mul(0x100_0000_01b3).rotate_left(17)
    }

    fn graph(engine: &Engine) -> Option<u64> {
        let vars: Vec<Var> = (0..5).map(|_| engine.new_var()).collect();
        let cells: Arc<[AtomicU64; 5]> = Arc::new([const { AtomicU64::new(1) }; 5]);
        for i in 0..STEPS {
            let (read, write) = ((i % 5) as usize, ((i * 3 + 1) % 5) as usize);
            let own = Arc::clone(&cells);
            let body = move |_: &RunContext| -> Result<()> {
                let value = step(i, own[read].load(Ordering::Relaxed), own[write].load(Ordering::Relaxed));
                own[write].store(value, Ordering::Relaxed);
                Ok(())
            };
            engine.task("child").read(&vars[read]).write(&vars[write]).push(body).ok()?;
        }
        engine.wait_for_all().ok()?;
        Some(cells.iter().fold(0, |sum, cell| sum ^ cell.load(Ordering::Relaxed)))
    }

    fn expected() -> u64 {
        let mut cells = [1_u64; 5];
        for i in 0..STEPS {
            let (read, write) = ((i % 5) as usize, ((i * 3 + 1) % 5) as usize);
            cells[write] = step(i, cells[read], cells[write]);
        }
        cells.iter().fold(0, |sum, cell| sum ^ cell)
    }

    /// A fork neither reports nor drops a failure that has not been reported.
    fn pending_failures_stay(engine: &Engine, kind: EngineKind) {
        if kind == EngineKind::Naive {
            return;
        }
        let var = engine.new_var();
        engine.task("bad").write(&var).push(|_| Err(Error::invalid("test", "before the fork", "nothing"))).unwrap();
        let status = in_child(|| i32::from(graph(engine) != Some(expected())));
        // A wait for all in the child may return the parent's failure; a wait for the child's own variables may not.
        assert!(status == 0 || status == 1, "{kind:?}: {status}");
        let text = engine.wait_to_read(&var).unwrap_err().to_string();
        assert!(text.contains("before the fork"), "E13, {kind:?}: {text}");
        engine.wait_for_all().unwrap();
    }

    /// An engine made after all the forks works in parent and child.
    fn unforked_engines_still_work(kind: EngineKind) {
        let make = move || {
            let engine = Engine::new(EngineConfig::of_kind(kind)).ok()?;
            let result = graph(&engine);
            engine.stop();
            result
        };
        assert_eq!(make(), Some(expected()), "{kind:?}");
        assert_eq!(in_child(|| i32::from(make() != Some(expected()))), 0, "{kind:?}");
    }

    /// Engines that are dropped while another thread forks do not block later pushes.
    fn engines_end_during_forks(engine: &Engine, kind: EngineKind) {
        let over = AtomicBool::new(false);
        let statuses: Vec<i32> = thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let short = Engine::new(EngineConfig::of_kind(kind)).unwrap();
                    short.task("short").push(|_| Ok(())).unwrap();
                }
            });
            let statuses = (0..FORKS).map(|_| in_child(|| i32::from(graph(engine) != Some(expected()))));
            let statuses = statuses.take_while(|status| *status != HANGS).collect();
            over.store(true, Ordering::Relaxed);
            statuses
        });
        assert_eq!(statuses, [0; FORKS], "E17, {kind:?}");
        assert_eq!(graph(engine), Some(expected()), "E17, {kind:?}: the parent can still push");
    }

    /// E16: without pause, two threads collect tasks on common variables into bulks (`Engine::bulk`), while a third
    /// thread forks.
    fn fork_from_collecting_threads(engine: &Engine, kind: EngineKind) {
        let (over, done) = (AtomicBool::new(false), Arc::new(AtomicU64::new(0)));
        let vars: Vec<Var> = (0..4).map(|_| engine.new_var()).collect();
        let mut pushed = 0;
        let statuses: Vec<i32> = thread::scope(|scope| {
            let collecting: Vec<_> = (0..2)
                .map(|thread| {
                    let (over, vars, done) = (&over, &vars, &done);
                    scope.spawn(move || {
                        let mut pushed = 0;
                        while !over.load(Ordering::Relaxed) {
                            let _scope = engine.bulk(5);
                            for i in 0..13 {
                                let own = Arc::clone(done);
                                let body = move |_: &RunContext| {
                                    own.fetch_add(1, Ordering::Relaxed);
                                    Ok(())
                                };
                                engine.task("collected").write(&vars[(thread + i) % 4]).push(body).unwrap();
                                pushed += 1;
                            }
                            if pushed % 130 == 0 {
                                engine.flush();
                                engine.wait_to_read(&vars[0]).unwrap();
                            }
                        }
                        pushed
                    })
                })
                .collect();
            let child = || {
                let _scope = engine.bulk(7);
                i32::from(graph(engine) != Some(expected()))
            };
            let statuses = (0..FORKS).map(|_| in_child(child)).take_while(|status| *status != HANGS).collect();
            over.store(true, Ordering::Relaxed);
            pushed = collecting.into_iter().map(|thread| thread.join().unwrap()).sum();
            statuses
        });
        assert_eq!(statuses, [0; FORKS], "E17, {kind:?}");
        engine.wait_for_all().unwrap();
        assert_eq!(done.load(Ordering::Relaxed), pushed, "E6, {kind:?}: the parent lost nothing");
    }

    /// One thread stops and starts the engine, one waits for all, a third forks; children start, compute and stop.
    fn fork_during_stops_and_waits(engine: &Engine, kind: EngineKind) {
        let over = AtomicBool::new(false);
        let again = |f: &dyn Fn()| {
            while !over.load(Ordering::Relaxed) {
                f();
            }
        };
        let child = || {
            if engine.start().is_err() {
                return 20;
            }
            let code = i32::from(graph(engine) != Some(expected()));
            engine.stop();
            code
        };
        let statuses: Vec<i32> = thread::scope(|scope| {
            scope.spawn(|| {
                again(&|| {
                    engine.stop();
                    engine.start().unwrap();
                });
            });
            scope.spawn(|| {
                again(&|| {
                    let _ = engine.task("waited for").push(|_| Ok(()));
                    engine.wait_for_all().unwrap();
                });
            });
            let statuses = (0..FORKS).map(|_| in_child(child)).take_while(|status| *status != HANGS).collect();
            over.store(true, Ordering::Relaxed);
            statuses
        });
        assert_eq!(statuses, [0; FORKS], "E17, {kind:?}");
    }

    /// The next fork happens while workers are still waking from the last fork.
    fn fork_at_once_again(engine: &Engine, kind: EngineKind) {
        let statuses: Vec<i32> = (0..FORKS)
            .flat_map(|_| {
                assert_eq!(graph(engine), Some(expected()), "{kind:?}: workers are awake");
                let children: Vec<_> = (0..5).map(|_| start_child(|| 0)).collect();
                children.into_iter().map(end_of)
            })
            .take_while(|status| *status != HANGS)
            .collect();
        assert_eq!(statuses, [0; 5 * FORKS], "E17, {kind:?}");
    }

    /// Runs `f` in a forked child and returns its exit code.
    fn in_child(f: impl FnOnce() -> i32) -> i32 {
        end_of(start_child(f))
    }

    /// Forks a child that runs `f`; returns its process id.
    fn start_child(f: impl FnOnce() -> i32) -> i32 {
        // SAFETY: the child runs `f` on this thread's stack and ends by `_exit`, so that nothing of the parent is
        // unwound or flushed twice. The calls that `f` makes after a fork are what this test checks.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
        if pid == 0 {
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(10);
            // SAFETY: `_exit` ends the process immediately, without running destructors.
            unsafe { libc::_exit(code) };
        }
        pid
    }

    /// The exit code of a child, once it has ended.
    fn end_of(pid: i32) -> i32 {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut status = 0;
            // SAFETY: `status` is valid for writes, and the child has not been waited for yet.
            match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
                0 if Instant::now() < until => thread::sleep(Duration::from_micros(200)),
                0 => {
                    // SAFETY: the child has not been waited for, so its process id is still valid.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                    // SAFETY: `status` is valid for writes; this call blocks until the killed child has ended.
                    unsafe { libc::waitpid(pid, &raw mut status, 0) };
                    return HANGS;
                }
                _ if libc::WIFEXITED(status) => return libc::WEXITSTATUS(status),
                _ => return DIES,
            }
        }
    }
}
