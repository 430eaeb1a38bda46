//! Every interleaving of a thread that records and a thread that drains:
//! `RUSTFLAGS="--cfg loom" cargo test -p mxrs-trace --release`.
#![cfg(loom)]

use loom::thread;
use mxrs_sync::Arc;
use mxrs_trace::ring::{Ring, WORDS};

/// Rules 2 to 4 of the ring: records arrive whole, in order and once, and those that are missing were counted.
#[test]
fn loom_records_are_whole_and_the_missing_ones_are_counted() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || (1..=3).filter(|number| ring.push([*number; WORDS])).count())
        };
        let mut seen = Vec::new();
        ring.drain(|words| seen.push(words));
        ring.drain(|words| seen.push(words));
        let pushed = writer.join().unwrap();
        ring.drain(|words| seen.push(words));
        assert!(seen.iter().all(|words| words.iter().all(|word| *word == words[0])), "torn: {seen:?}");
        assert!(seen.is_sorted_by(|a, b| a[0] < b[0]), "{seen:?}");
        assert_eq!(seen.len(), pushed);
        assert_eq!(seen.len() as u64 + ring.n_dropped(), 3);
    });
}
