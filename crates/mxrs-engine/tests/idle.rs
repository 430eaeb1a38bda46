//! Idle workers cost nothing: they use no processor time and do not poll their queue.
#![cfg(all(not(loom), target_os = "linux"))]

mod support;

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property};
use mxrs_types::Device;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use support::{alone, engine_threads};

/// The length of a measurement; long compared with a scheduler's tick and with any polling interval.
const QUIET: Duration = Duration::from_millis(300);
/// The pause before a measurement: a worker may look for work for a moment before it sleeps.
const SETTLING: Duration = Duration::from_millis(100);

/// Processor time of a thread in ticks of the system's clock, usually 10 ms, and how often it went to sleep.
fn cost(thread: &Path) -> (u64, u64) {
    let read = |name: &str| std::fs::read_to_string(thread.join(name)).unwrap();
    // The file `stat` contains the thread's name in parentheses, with any characters. Counted from the closing
    // parenthesis, user and system time are fields 12 and 13.
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = [11, 12].map(|field| fields[field].parse::<u64>().unwrap());
    let status = read("status");
    let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    (ticks[0] + ticks[1], sleeps.trim().parse().unwrap())
}

/// The total cost of `threads` while no task is pending: processor time in ticks, and the number of wake-ups.
fn cost_of_silence(threads: &[std::path::PathBuf]) -> (u64, u64) {
    let before: Vec<_> = threads.iter().map(|thread| cost(thread)).collect();
    thread::sleep(QUIET);
    let after = threads.iter().map(|thread| cost(thread));
    before.into_iter().zip(after).fold((0, 0), |sum, (b, a)| (sum.0 + a.0 - b.0, sum.1 + a.1 - b.1))
}

/// Asserts that idle threads cost nothing in at least one of several measurements: the system may wake a thread for its
/// own reasons.
fn assert_silent(threads: &[std::path::PathBuf], what: &str) {
    let attempts: Vec<_> = (0..5).map(|_| cost_of_silence(threads)).collect();
    let silent = attempts.contains(&(0, 0));
    assert!(silent, "{what}: (ticks, wake-ups) of {} threads in {QUIET:?}: {attempts:?}", threads.len());
}

fn busy(engine: &Engine) {
    let vars: Vec<_> = (0..8).map(|_| engine.new_var()).collect();
    for i in 0..2000_usize {
        let property = if i % 5 == 0 { Property::CpuPrioritized } else { Property::Normal };
        let task = engine.task("work").read(&vars[i % 8]).write(&vars[(i * 3 + 1) % 8]);
        task.device(Device::cpu(i as u32 % 3)).property(property).push(|_| Ok(())).unwrap();
    }
    engine.wait_for_all().unwrap();
}

/// Idle workers of each kind of engine use no processor time after all their pools have worked.
#[test]
fn idle_workers_use_no_processor_time() {
    let _alone = alone();
    for kind in [EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let cpu_workers = NonZeroUsize::new(3).unwrap();
        let engine = Engine::new(EngineConfig { cpu_workers, ..EngineConfig::of_kind(kind) }).unwrap();
        busy(&engine);
        thread::sleep(SETTLING);
        let threads = engine_threads();
        assert!(threads.len() >= 9, "{threads:?}");
        assert_silent(&threads, &format!("{kind:?}"));
        // The workers run tasks again after the pause.
        busy(&engine);
    }
}

/// Workers that wait while a body sleeps, and a thread that waits for that body, use no processor time.
#[test]
fn waiting_costs_no_processor_time() {
    let _alone = alone();
    for kind in [EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        busy(&engine);
        let var = engine.new_var();
        let (open, closed) = channel::<()>();
        let blocked = move |_: &mxrs_engine::RunContext| {
            let _ = closed.recv();
            Ok(())
        };
        engine.task("blocked").write(&var).push(blocked).unwrap();
        engine.task("behind").read(&var).push(|_| Ok(())).unwrap();
        thread::scope(|scope| {
            let named = |name: &str| thread::Builder::new().name(format!("mxrs-test-{name}"));
            let all = named("all").spawn_scoped(scope, || engine.wait_for_all()).unwrap();
            let read = named("read").spawn_scoped(scope, || engine.wait_to_read(&var)).unwrap();
            let write = named("write").spawn_scoped(scope, || engine.wait_to_write(&var)).unwrap();
            thread::sleep(SETTLING);
            let threads = engine_threads();
            assert!(threads.len() >= 3 + 5, "the waiting threads are among them: {threads:?}");
            assert_silent(&threads, &format!("{kind:?}"));
            drop(open);
            for waiter in [all, read, write] {
                waiter.join().unwrap().unwrap();
            }
        });
    }
}
