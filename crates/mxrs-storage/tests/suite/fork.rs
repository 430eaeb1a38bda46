//! The pools across a fork: the child reuses what every thread of the parent had cached.
#![cfg(all(target_os = "linux", not(miri)))]

use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;
use std::sync::atomic::{AtomicBool, Ordering};

const CPU: Device = Device::cpu(0);

fn pass(storage: &Storage) -> bool {
    let blocks: Vec<_> = [5000, 5000, 70_000, 3 << 20]
        .into_iter()
        .filter_map(|size| storage.allocate(CPU, size, Tag::new("fork")).ok())
        .collect();
    let stats = storage.stats(CPU);
    blocks.len() == 4 && stats.reserved == stats.live_blocks_bytes + stats.cached_bytes
}

/// Forks while two other threads allocate, free and flush; the child exits with 0 if its pools work.
#[test]
fn a_child_of_a_busy_process_has_working_pools() {
    for kind in PoolKind::ALL {
        let storage = Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind))).unwrap();
        let guard = storage.fork_guard();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        assert!(pass(&storage));
                        storage.release_all(CPU);
                    }
                });
            }
            let _stop = StopAtEnd(&stop);
            for _ in 0..10 {
                assert!(pass(&storage));
                guard.prepare();
                // SAFETY: the child may use glibc's allocator, which handles its own locks. It may use the storage, because
                // `guard.prepare` took the storage's locks for this thread and `guard.child` releases them. Then it exits
                // at once, so that no destructor of the parent runs in it.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    guard.child();
                    let works = (0..20).all(|_| pass(&storage)) && {
                        storage.release_all(CPU);
                        // `BestFit` returns memory to the device only in whole units (`GrowableMemory::unit_bytes`). The
                        // other two threads may own blocks at the fork. They do not exist in the child, so nothing frees
                        // these blocks there. Free memory in the same unit as such a block stays cached.
                        kind == PoolKind::BestFit || storage.stats(CPU).cached_bytes == 0
                    };
                    // SAFETY: ends the child immediately, without destructors or other code of the parent.
                    unsafe { libc::_exit(if works { 0 } else { 1 }) };
                }
                guard.parent();
                assert!(pass(&storage));
                assert!(child > 0);
                assert_eq!(wait(child), Some(0), "{kind}");
            }
        });
        storage.release_all(CPU);
        assert_eq!(storage.stats(CPU).reserved, 0);
    }
}

/// Stops the other threads, even if an assertion fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The exit code of a child; `None` if it does not end by itself within 20 seconds.
fn wait(child: libc::pid_t) -> Option<i32> {
    for _ in 0..4000 {
        let mut status = 0;
        // SAFETY: waits for a child of this process.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // SAFETY: the child of this test hangs and is killed.
    unsafe { libc::kill(child, libc::SIGKILL) };
    None
}

/// The guard of a storage that is gone does nothing; a guard can be used repeatedly.
#[test]
fn a_guard_does_not_keep_the_storage() {
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let guard = storage.fork_guard();
    assert!(pass(&storage));
    for _ in 0..3 {
        guard.prepare();
        guard.parent();
        assert!(pass(&storage));
    }
    drop(storage);
    guard.prepare();
    guard.parent();
    guard.child();
}
