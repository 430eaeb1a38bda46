//! Shared blocks in the reports of all pools (tags, records, hooks, events), and across a fork.

use crate::{SHARED, Turn, again, allocate, read, write};
use mxrs_storage::{Storage, StorageConfig, Tag};
use mxrs_trace::{Collector, Event, Kinds, MemoryStep};
use mxrs_types::{DeviceEvent, ErrorKind, Result, StreamId};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// S13: created and opened blocks are recorded; the tags add up to the live memory.
#[test]
fn s13_made_and_opened_blocks_are_reported() {
    let _turn = Turn::take();
    let mut collector = Collector::claim().unwrap();
    collector.switch(Kinds::MEMORY);
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let made = storage.allocate(SHARED, 5000, Tag::new("made")).unwrap();
    let handle = made.shared_handle().unwrap().unwrap();
    let opened = storage.open_shared(handle, Tag::new("opened")).unwrap();
    let tags: Vec<_> = storage.tags(SHARED).into_iter().map(|(tag, of_tag)| (tag.to_string(), of_tag.bytes)).collect();
    assert_eq!(tags, [("<unk>:made".to_owned(), 5000), ("<unk>:opened".to_owned(), 5000)]);
    drop((made, opened));
    let mut steps = Vec::new();
    collector.drain(|_, event| {
        if let Event::Memory(memory) = event {
            assert_eq!((memory.device, memory.block_bytes), (SHARED, 5000));
            steps.push((memory.step, memory.tag.text()));
        }
    });
    use MemoryStep::{Freed, Grown, New, Returned};
    let expected = [
        (Grown, ""),
        (New, "made"),
        (Grown, ""),
        (New, "opened"),
        (Freed, "made"),
        (Returned, ""),
        (Freed, "opened"),
        (Returned, ""),
    ];
    assert_eq!(steps, expected);
}

/// Out of memory: hooks run before a shared allocation fails, and the error names live memory by tag.
#[test]
fn s11_hooks_run_and_the_error_names_tags() {
    let _turn = Turn::take();
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let n_runs = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&n_runs);
    let guard = storage.on_pressure(move |_| _ = counter.fetch_add(1, Ordering::Relaxed));
    let live = storage.allocate(SHARED, 9000, Tag::new("batch")).unwrap();
    let error = storage.allocate(SHARED, 1 << 60, Tag::default()).unwrap_err();
    let ErrorKind::OutOfMemory { device, live: live_bytes, hint, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((*device, *live_bytes, n_runs.load(Ordering::Relaxed)), (SHARED, 9000, 1));
    assert!(hint.contains("<unk>:batch 9000 bytes in 1 blocks") && hint.contains("not pooled"), "{hint}");
    drop((live, guard));
}

/// A fake event of a GPU. It is unfinished until `wait` has been called. The number counts the calls of `wait`.
#[derive(Debug)]
struct Once(AtomicU64);

impl DeviceEvent for Once {
    fn stream(&self) -> StreamId {
        StreamId { device: mxrs_types::Device::gpu(0), number: 1 }
    }
    fn place(&self) -> u64 {
        0
    }
    fn is_finished(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
    fn wait(&self) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// S9: a mapping ends only after the work that uses it.
#[test]
fn s9_a_mapping_ends_after_its_events() {
    let _turn = Turn::take();
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let event = Arc::new(Once(AtomicU64::new(0)));
    let block = allocate(&storage, 5000);
    block.free_after([Arc::clone(&event) as Arc<dyn DeviceEvent>]);
    assert_eq!((event.0.load(Ordering::Relaxed), storage.stats(SHARED).reserved), (1, 0));
}

/// A child that was forked while another thread uses shared memory can use it too, and its copies do not count.
#[test]
fn a_forked_child_shares_and_does_not_count() {
    let _turn = Turn::take();
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let guard = storage.fork_guard();
    let block = allocate(&storage, 5000);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drop(allocate(&storage, 3000));
            }
        });
        for n in 1..=10 {
            guard.prepare();
            // SAFETY: the child uses glibc's allocator, which handles its own locks, and the storage, whose locks this
            // thread holds; then it exits without running code of the parent.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: sets a timer that ends the child if it hangs; the child does not use the signal otherwise.
                unsafe { libc::alarm(20) };
                guard.child();
                write(&block, 7, n);
                let other = again(&storage, &block);
                let works = read(&other, 7) == n && other.shared_mappings() == Some(2);
                drop(other);
                drop(allocate(&storage, 100));
                // SAFETY: ends the child immediately, without destructors or other code of the parent.
                unsafe { libc::_exit(i32::from(!works)) };
            }
            guard.parent();
            let mut status = -1;
            // SAFETY: waits for the child of this test.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            stop.store(n == 10 || status != 0, Ordering::Relaxed);
            assert_eq!((status, read(&block, 7), block.shared_mappings()), (0, n, Some(1)));
        }
    });
}
