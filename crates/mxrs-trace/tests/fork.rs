//! A process that forks while it records: the child records nothing, has none of the parent's records, and may collect its own.
//!
//! Unsafe code: the tests fork.
#![cfg(all(unix, not(any(loom, miri))))]
#![allow(unsafe_code)]

use mxrs_trace::{Collector, Event, Kinds, Label, SpanInfo, SpanKind, is_on, span};
use std::sync::atomic::{AtomicBool, Ordering};

fn busy() {
    drop(span(SpanInfo::new(SpanKind::Api, Label::of("work"))));
}

fn n_spans(collector: &mut Collector) -> usize {
    let mut n = 0;
    collector.drain(|_, event| n += usize::from(matches!(event, Event::Span(_))));
    n
}

/// Runs in the forked child, and returns whether all is as expected. When the parent forked, other threads of it may have
/// been in the middle of making a record.
fn child() -> bool {
    Collector::forget_in_child();
    if is_on(Kinds::ALL) {
        return false;
    }
    busy();
    let Ok(mut own) = Collector::claim() else { return false };
    if n_spans(&mut own) != 0 {
        return false;
    }
    own.switch(Kinds::API);
    busy();
    std::thread::spawn(busy).join().is_ok() && n_spans(&mut own) == 2 && own.n_dropped() == 0
}

#[test]
fn children_start_without_records() {
    let mut collector = Collector::claim().unwrap();
    collector.switch(Kinds::API);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..3 {
            let stop = &stop;
            scope.spawn(move || {
                let mut round = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    busy();
                    // New labels, so that a fork may happen while one is added.
                    let _ = Label::of(&format!("{n} {}", round % 5000));
                    round += 1;
                }
            });
        }
        let mut failed = Vec::new();
        for round in 0..50 {
            busy();
            // SAFETY: the child uses the crate under test, the allocator, which handles its own locks, and threads of its
            // own; then it exits without running code of the parent.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                // SAFETY: sets a timer that ends the child if it hangs; ends the child without destructors of the parent.
                unsafe {
                    libc::alarm(20);
                    libc::_exit(i32::from(!child()));
                }
            }
            let mut status = -1;
            // SAFETY: waits for the child of this test.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            if status != 0 {
                failed.push((round, status));
            }
            assert!(is_on(Kinds::API));
            collector.drain(|_, _| ());
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(failed, []);
    });
    busy();
    assert!(n_spans(&mut collector) > 0, "the parent still records");
}
