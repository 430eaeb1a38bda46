//! Many threads on one pool, and guarantee S10 (see `src/lib.rs`): the pool's lock is free while the device works.

use crate::{Bench, DEVICES, MIB};
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{Block, DeviceMemory, MemoryInfo, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::{Device, Result};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const GPU: Device = Device::gpu(0);

/// S10: during every call of the device another thread can read the statistics of the same pool.
#[test]
fn s10_no_lock_is_held_while_the_device_is_called() {
    for kind in PoolKind::ALL {
        let handle: Arc<Mutex<Option<Storage>>> = Arc::default();
        let seen = Arc::clone(&handle);
        let memory = SimulatedMemory::new(GPU, 100 * MIB).unbacked().on_call(move |call| {
            let Some(storage) = seen.lock().unwrap().clone() else { return };
            let (send, receive) = mpsc::channel();
            thread::spawn(move || send.send(storage.stats(GPU).reserved).ok());
            assert!(receive.recv_timeout(Duration::from_secs(20)).is_ok(), "the pool is locked during {call:?}");
        });
        let bench = Bench::of(StorageConfig::uniform(PoolConfig::of_kind(kind)), [memory]);
        *handle.lock().unwrap() = Some(bench.storage.clone());
        // The calls below cover growth, a free, a flush because the device must keep memory free (the reserve), a
        // refused request with its flush, a direct free, and release_all.
        drop(bench.allocate(GPU, 90 << 20));
        drop(bench.allocate(GPU, 8 << 20));
        drop(bench.allocate(GPU, 96 << 20));
        assert!(bench.storage.allocate(GPU, 200 << 20, Tag::default()).is_err());
        bench.allocate(GPU, 1000).free_directly();
        drop(bench.allocate(GPU, 2000));
        bench.storage.release_all(GPU);
        let counters = bench.memory(GPU).counters();
        assert!(counters.refusals > 0 && counters.used_bytes == 0);
        // The device's free memory is queried when the pool is made, when it checks the reserve, and when it returns
        // the error; `Unpooled` queries it only for the error.
        assert!(counters.infos >= if kind == PoolKind::Unpooled { 1 } else { 3 }, "{counters:?}");
        // Breaks a cycle: the memory owns the closure, the closure owns the storage, and the storage owns the memory.
        *handle.lock().unwrap() = None;
    }
}

/// The next number of a pseudo-random sequence (Marsaglia's xorshift).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

fn fill(block: &Block, byte: u8) {
    // SAFETY: memory of a simulated device with backing, owned by the calling thread.
    unsafe { block.as_ptr().write_bytes(byte, block.block_bytes()) };
}

fn is_filled(block: &Block, byte: u8) -> bool {
    // SAFETY: `fill` wrote all `block_bytes` bytes, and no other thread may write them.
    unsafe { std::slice::from_raw_parts(block.as_ptr(), block.block_bytes()) }.iter().all(|&found| found == byte)
}

/// S2 and S3 with four threads on one pool: a thread's bytes do not change, and the statistics are right in the end.
#[test]
fn s2_s3_threads_share_a_pool() {
    for kind in PoolKind::ALL {
        let config = StorageConfig::uniform(PoolConfig { page_size: 64, ..PoolConfig::of_kind(kind) });
        let bench = Bench::of(config, DEVICES.map(|device| SimulatedMemory::new(device, 64 * MIB)));
        thread::scope(|scope| {
            for thread_byte in 1..=4u8 {
                let bench = &bench;
                scope.spawn(move || {
                    let mut random = 0x1e37_79b9_7f4a_7c15 * u64::from(thread_byte);
                    let mut live = Vec::new();
                    for step in 0..if cfg!(miri) { 60 } else { 1500 } {
                        if live.len() > 8 || (!live.is_empty() && next(&mut random).is_multiple_of(2)) {
                            let block = live.swap_remove(next(&mut random) % live.len());
                            assert!(is_filled(&block, thread_byte));
                            if step % 16 == 0 { block.free_directly() } else { drop(block) }
                        } else {
                            let block = bench.allocate(GPU, 1 + next(&mut random) % 2000);
                            fill(&block, thread_byte);
                            live.push(block);
                        }
                        if step % 200 == 0 {
                            bench.storage.release_all(GPU);
                        }
                        let stats = bench.storage.stats(GPU);
                        assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
                    }
                    assert!(live.iter().all(|block| is_filled(block, thread_byte)));
                });
            }
        });
        bench.storage.release_all(GPU);
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.reserved, stats.live_requested, stats.allocations - stats.frees), (0, 0, 0));
        assert_eq!(bench.memory(GPU).counters().used_bytes, 0, "{kind}");
    }
}

/// A device that also reports refusals, and whose `free` signals that it has begun and then waits for permission.
struct Gated {
    inner: SimulatedMemory,
    begun: mpsc::SyncSender<()>,
    proceed: Mutex<mpsc::Receiver<()>>,
    refused: mpsc::SyncSender<()>,
}

// SAFETY: forwards to `inner`, which keeps the contract.
unsafe impl DeviceMemory for Gated {
    fn device(&self) -> Device {
        self.inner.device()
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        self.inner.allocate(size_bytes).inspect_err(|_| self.refused.send(()).unwrap())
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.begun.send(()).unwrap();
        // A closed channel (the sender is dropped at the end of the test) lets every call through.
        let _ = self.proceed.lock().unwrap().recv();
        // SAFETY: the caller keeps the contract, and the arguments are forwarded.
        unsafe { self.inner.free(ptr, size_bytes) };
    }

    fn info(&self) -> MemoryInfo {
        self.inner.info()
    }
}

/// A refused thread waits for blocks that another thread is returning, instead of failing.
#[test]
fn no_thread_runs_out_of_memory_while_another_returns_it() {
    for kind in [PoolKind::Naive, PoolKind::Round, PoolKind::BestFit] {
        refused_while_another_returns(kind, |storage, block| {
            drop(block);
            storage.release_all(GPU);
        });
        refused_while_another_returns(kind, |_, block| block.free_directly());
    }
}

/// Checks that a request waits for memory that another thread is returning to the device; `give_back` starts returning it.
fn refused_while_another_returns(kind: PoolKind, give_back: impl FnOnce(&Storage, Block) + Send) {
    let (begun, has_begun) = mpsc::sync_channel(9);
    let (refused, was_refused) = mpsc::sync_channel(9);
    let (go, proceed) = mpsc::sync_channel(9);
    let inner = SimulatedMemory::new(GPU, 40 * MIB).unbacked();
    let gated = Arc::new(Gated { inner, begun, proceed: Mutex::new(proceed), refused });
    let config = StorageConfig::uniform(PoolConfig::of_kind(kind));
    let storage = Storage::builder(config).device(gated).build().unwrap();
    let block = storage.allocate(GPU, 30 << 20, Tag::default()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| give_back(&storage, block));
        has_begun.recv().unwrap();
        // At least 30 of 40 MiB are on their way back to the device: no longer in the pool's cache, and not yet free on the
        // device.
        let second = scope.spawn(|| storage.allocate(GPU, 20 << 20, Tag::default()));
        was_refused.recv().unwrap();
        // Sleeps so long that the other thread's request would by now be refused a second time if it did not wait for the
        // memory.
        thread::sleep(Duration::from_millis(50));
        go.send(()).unwrap();
        assert!(second.join().unwrap().is_ok(), "{kind}");
    });
    drop(go);
}

/// Four threads that use a device for the first time open one pool.
#[test]
fn first_use_from_many_threads_makes_one_pool() {
    for _ in 0..20 {
        let bench = Bench::uniform(PoolConfig::default(), 100 * MIB);
        let barrier = std::sync::Barrier::new(4);
        let blocks: Vec<Block> = thread::scope(|scope| {
            let allocate = || {
                barrier.wait();
                bench.allocate(GPU, 100)
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(allocate)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.live_blocks, stats.reserved), (blocks.len() as u64, 4 * 4096));
    }
}
