//! Every interleaving of two threads that use a brief lock: `RUSTFLAGS="--cfg loom" cargo test -p mxrs-sync --release`.
#![cfg(loom)]

use loom::thread;
use mxrs_sync::{Arc, BriefLock, Rank};

/// Rules 1 and 2 of the lock's module. Loom's `UnsafeCell` fails the test if two guards exist at the same time, or if a
/// holder does not see the write of the previous holder.
#[test]
fn one_guard_at_a_time_and_writes_are_seen() {
    loom::model(|| {
        let lock = Arc::new(BriefLock::new(Rank::Leaf, 0, 0));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}
