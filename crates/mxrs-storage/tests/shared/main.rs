//! Guarantee S12 (see `src/lib.rs`): memory of `cpu_shared`, shared by several mappings and processes, is freed exactly
//! once, even if another process misbehaves.
//!
//! The ignored tests play the other processes: a test starts this program again, to run an ignored test with a descriptor as
//! standard input. The tests run one at a time, because they count the descriptors of the process.
//!
//! Unsafe code: the tests read and write shared memory, and create files that a correct process would not create.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(unsafe_code)]

mod bad_input;
mod processes;
mod reports;

use mxrs_storage::{ALIGNMENT, Block, Storage, StorageConfig, Tag};
use mxrs_types::{Device, ErrorKind};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SHARED: Device = Device::cpu_shared(0);

/// Lets one test run at a time; checks at its end that the test left nothing behind.
struct Turn {
    _turn: MutexGuard<'static, ()>,
    before: Held,
}

/// The resources that this process holds, to compare before and after a test.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    n_descriptors: usize,
    n_mappings: usize,
    /// Names in `/dev/shm` that this process could have made.
    names: Vec<String>,
}

fn held() -> Held {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let pid = std::process::id();
    let own = |name: &String| name.contains("mxrs") || name.contains(&format!("{pid:x}"));
    let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    Held {
        n_descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        n_mappings: maps.lines().filter(|line| line.contains("memfd:")).count(),
        names: names.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(own).collect(),
    }
}

impl Turn {
    fn take() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { _turn: turn, before: held() }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(held(), self.before, "a test left something behind");
        }
    }
}

fn storage() -> Storage {
    Storage::new(StorageConfig::default()).unwrap()
}

fn allocate(storage: &Storage, size: usize) -> Block {
    storage.allocate(SHARED, size, Tag::new("shared")).unwrap()
}

/// Opens another mapping of `block`.
fn again(storage: &Storage, block: &Block) -> Block {
    storage.open_shared(block.shared_handle().unwrap().unwrap(), Tag::default()).unwrap()
}

fn write(block: &Block, at: usize, byte: u8) {
    assert!(at < block.len());
    // SAFETY: `at` is within the block; the processes of these tests take turns.
    unsafe { block.as_ptr().add(at).write_volatile(byte) };
}

fn read(block: &Block, at: usize) -> u8 {
    assert!(at < block.len());
    // SAFETY: `at` is within the block; the processes of these tests take turns.
    unsafe { block.as_ptr().add(at).read_volatile() }
}

/// S12, S1: every mapping sees every write; each mapping is counted once, and its end is counted once.
#[test]
fn s12_mappings_of_one_process_share_bytes_and_count() {
    let _turn = Turn::take();
    let storage = storage();
    for size in [1, 63, 64, 4032, 4033, 100_000, 3 << 20] {
        let first = allocate(&storage, size);
        assert_eq!((first.len(), first.device(), first.shared_mappings()), (size, SHARED, Some(1)));
        let second = again(&storage, &first);
        let third = again(&storage, &second);
        assert_eq!((second.len(), third.len(), first.shared_mappings()), (size, size, Some(3)));
        let starts = [&first, &second, &third].map(|block| block.as_ptr().addr());
        assert!(starts.iter().all(|start| start.is_multiple_of(ALIGNMENT)));
        assert!(starts[0] != starts[1] && starts[1] != starts[2] && starts[0] != starts[2]);
        assert_eq!((read(&first, 0), read(&first, size - 1)), (0, 0), "a new segment is zeroed");
        write(&first, size - 1, 17);
        assert_eq!((read(&second, size - 1), read(&third, size - 1)), (17, 17));
        drop(first);
        write(&third, 0, 18);
        assert_eq!((read(&second, 0), second.shared_mappings()), (18, Some(2)));
        second.free_directly();
        assert_eq!((read(&third, 0), third.shared_mappings()), (18, Some(1)));
    }
}

/// S3, S13: shared blocks are never cached; the statistics are those of the mappings.
#[test]
fn s3_s13_nothing_is_kept() {
    let _turn = Turn::take();
    let storage = storage();
    let first = allocate(&storage, 5000);
    let second = again(&storage, &first);
    let stats = storage.stats(SHARED);
    assert_eq!((stats.live_blocks, stats.live_requested, stats.reserved), (2, 10_000, 10_000));
    drop((first, second));
    let stats = storage.stats(SHARED);
    assert_eq!((stats.live_blocks, stats.cached_blocks, stats.reserved, stats.hits), (0, 0, 0, 0));
    assert_eq!((stats.system_requests, stats.system_frees, storage.release_all(SHARED)), (2, 2, 0));
    assert!(storage.allocate(SHARED, 0, Tag::default()).unwrap().is_empty());
}

/// A block outlives the storage. A descriptor outlives the block: it keeps the bytes in memory, but a freed block cannot be
/// opened again.
#[test]
fn s12_a_freed_block_cannot_be_opened() {
    let _turn = Turn::take();
    let first = allocate(&storage(), 100);
    let handle = first.shared_handle().unwrap().unwrap();
    drop(first);
    let error = storage().open_shared(handle, Tag::default()).unwrap_err();
    assert!(error.to_string().contains("its last owner has freed"), "{error}");
}

/// S11: sizes larger than any machine's memory are errors and change nothing.
#[test]
fn s11_impossible_sizes_are_errors() {
    let _turn = Turn::take();
    let storage = storage();
    for size in [usize::MAX, usize::MAX - 64, isize::MAX as usize, 1 << 60, 1 << 46] {
        let error = storage.allocate(SHARED, size, Tag::default()).unwrap_err();
        let ErrorKind::OutOfMemory { requested, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(*requested, size as u64);
    }
    let stats = storage.stats(SHARED);
    assert_eq!((stats.reserved, stats.live_blocks, stats.refusals), (0, 0, 5));
}

/// Only shared blocks have an id.
#[test]
fn other_blocks_are_not_shared() {
    let _turn = Turn::take();
    let storage = storage();
    for block in [storage.allocate(Device::cpu(0), 100, Tag::default()).unwrap(), {
        storage.allocate(SHARED, 0, Tag::default()).unwrap()
    }] {
        assert_eq!((block.shared_id(), block.shared_mappings()), (None, None));
        assert!(block.shared_handle().unwrap().is_none());
    }
}

/// A process that starts a program does not pass the descriptors of its blocks to it.
#[test]
fn descriptors_close_on_exec() {
    let _turn = Turn::take();
    let storage = storage();
    let first = allocate(&storage, 100);
    let handle = first.shared_handle().unwrap().unwrap();
    let second = again(&storage, &first);
    let seen = std::process::Command::new("ls").args(["-l", "/proc/self/fd"]).output().unwrap();
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.contains(" 0 -> "), "{seen}");
    assert!(!seen.contains("memfd"), "{seen}");
    assert_ne!(std::os::fd::AsRawFd::as_raw_fd(&handle.as_fd()), first.shared_id().unwrap().fd);
    drop(second);
}
