//! Runs the same program of allocations and frees repeatedly, with the device refusing a different request each time:
//! nothing is lost and nothing leaks (guarantee S11, see `src/lib.rs`).

use crate::{Bench, DEVICES, MIB};
use mxrs_storage::{Block, PoolConfig, PoolKind, StorageConfig, Tag};
use mxrs_types::{Device, ErrorKind};
use std::collections::HashMap;
use std::time::Duration;

const N_STEPS: usize = 200;

/// The expected numbers of allocated and freed blocks, counted by the test.
#[derive(Default)]
struct Model {
    live: Vec<(Block, u64)>,
    allocations: u64,
    frees: u64,
    failures: u64,
}

impl Model {
    fn free(&mut self, at: usize, directly: bool) {
        let (block, requested) = self.live.swap_remove(at % self.live.len());
        assert_eq!(block.len() as u64, requested);
        self.frees += 1;
        if directly { block.free_directly() } else { drop(block) }
    }

    fn check(&self, bench: &Bench, device: Device) {
        let stats = bench.storage.stats(device);
        let counters = bench.memory(device).counters();
        assert_eq!((stats.allocations, stats.frees), (self.allocations, self.frees));
        assert_eq!(stats.live_blocks, self.live.len() as u64);
        assert_eq!(stats.live_requested, self.live.iter().map(|(_, requested)| requested).sum::<u64>());
        assert_eq!(stats.live_blocks_bytes, self.live.iter().map(|(block, _)| block.block_bytes() as u64).sum::<u64>());
        assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
        assert_eq!((stats.reserved, stats.peak_reserved), (counters.used_bytes, counters.peak_used_bytes));
        assert_eq!((stats.system_requests, stats.system_frees), (counters.allocations, counters.frees));
        assert_eq!(stats.refusals, counters.refusals);
        assert_eq!(stats.hits + stats.system_requests, stats.allocations);
        let mut by_tag: HashMap<String, u64> = HashMap::new();
        for (block, _) in &self.live {
            *by_tag.entry(block.tag().to_string()).or_default() += block.block_bytes() as u64;
        }
        let tags = bench.storage.tags(device);
        assert_eq!(
            tags.into_iter().map(|(tag, of_tag)| (tag.to_string(), of_tag.bytes)).collect::<HashMap<_, _>>(),
            by_tag
        );
    }
}

/// Runs the program and returns the model. The program's random choices come from a linear congruential generator with
/// Knuth's MMIX constants.
fn run(bench: &Bench, device: Device) -> Model {
    let mut model = Model::default();
    let mut state = 42_u64;
    for step in 0..N_STEPS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 33) as usize;
        match draw % 16 {
            0..9 => {
                let size = [1 + draw % 5000, 1 + draw % (300 << 10), (1 + draw % 3) << 20][draw / 16 % 3];
                match bench.storage.allocate(device, size, Tag::from(format!("t{}", draw % 5))) {
                    Ok(block) => {
                        model.live.push((block, size as u64));
                        model.allocations += 1;
                    }
                    Err(error) => {
                        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
                        model.failures += 1;
                    }
                }
            }
            9..14 if !model.live.is_empty() => model.free(draw / 16, false),
            14 if !model.live.is_empty() => model.free(draw / 16, true),
            15 if (draw / 16).is_multiple_of(4) => drop(bench.storage.release_all(device)),
            _ => {}
        }
        if step % 10 == 0 {
            model.check(bench, device);
        }
    }
    model.check(bench, device);
    model
}

fn finish(bench: Bench, device: Device, mut model: Model) {
    while !model.live.is_empty() {
        model.free(0, false);
    }
    model.check(&bench, device);
    let Bench { storage, memories } = bench;
    let cached = storage.stats(device).cached_bytes;
    assert_eq!(storage.release_all(device), cached);
    drop(storage);
    for memory in memories {
        assert_eq!(memory.counters().used_bytes, 0);
        assert_eq!(memory.counters().frees, memory.counters().allocations);
    }
}

fn bench(kind: PoolKind, total_mib: u64) -> Bench {
    Bench::uniform(PoolConfig::of_kind(kind), total_mib * MIB)
}

/// S11 on every kind of device: for every n, the nth request and its repetitions are refused, so that an allocation
/// fails.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn s11_refused_at_every_place() {
    for device in DEVICES {
        for kind in PoolKind::ALL {
            let whole = bench(kind, 1000);
            let model = run(&whole, device);
            assert_eq!(model.failures, 0);
            let n_requests = whole.memory(device).n_requests();
            // `BestFit` requests longer pieces, and fewer of them.
            assert!(n_requests > if kind == PoolKind::BestFit { 2 } else { 10 }, "{device} {kind} {n_requests}");
            finish(whole, device, model);
            for nth in 1..=n_requests {
                let bench = bench(kind, 1000);
                bench.memory(device).fail_on_request(nth);
                bench.memory(device).fail_on_request(nth + 1);
                if kind == PoolKind::BestFit {
                    // `BestFit` makes a third request, for fewer bytes, which is refused too.
                    bench.memory(device).fail_on_request(nth + 2);
                }
                let model = run(&bench, device);
                assert!(model.failures > 0, "{device} {kind} {nth}");
                finish(bench, device, model);
            }
        }
    }
}

/// S11: every nth request is refused, for n from 1 to 20. For n of at least 2 a pool recovers, because its repeated request
/// succeeds.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn s11_every_nth_request_is_refused() {
    for kind in PoolKind::ALL {
        for n in 1..=20 {
            let bench = bench(kind, 1000);
            let device = Device::gpu(0);
            bench.memory(device).fail_every(n);
            let model = run(&bench, device);
            match (kind, n) {
                (_, 1) => assert_eq!(model.allocations, 0),
                (PoolKind::Unpooled, _) => assert_eq!(model.failures, bench.memory(device).n_requests() / n),
                _ => assert_eq!(model.failures, 0, "{kind}: the repetition is not refused, n = {n}"),
            }
            finish(bench, device, model);
        }
    }
}

/// S11 with a slow device that is sometimes full, on two threads.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn s11_a_full_and_slow_device_on_two_threads() {
    for kind in PoolKind::ALL {
        let memory = |device| crate::addresses_only(device, 4 * MIB).latency(Duration::from_micros(5));
        let bench = Bench::of(StorageConfig::uniform(PoolConfig::of_kind(kind)), DEVICES.map(memory));
        let device = Device::cpu_pinned(0);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let bench = &bench;
                scope.spawn(move || {
                    let mut live: Vec<Block> = Vec::new();
                    for step in 0..150_usize {
                        let size = 1 + (step * 7919 + thread * 104_729) % (3 << 20);
                        live.extend(bench.storage.allocate(device, size, Tag::default()));
                        if step % 3 == 0 && !live.is_empty() {
                            drop(live.swap_remove(step % live.len()));
                        }
                        if live.len() > 6 {
                            live.clear();
                        }
                    }
                });
            }
        });
        let stats = bench.storage.stats(device);
        assert!(stats.refusals > 0);
        assert_eq!((stats.live_blocks, stats.live_requested, stats.allocations - stats.frees), (0, 0, 0));
        // The pool never counts more bytes than the device has provided: it counts after an allocation and before a
        // free.
        assert!(stats.peak_reserved <= bench.memory(device).counters().peak_used_bytes);
        assert_eq!(stats.reserved, bench.memory(device).counters().used_bytes);
        assert_eq!(bench.storage.release_all(device), stats.cached_bytes);
        assert_eq!(bench.memory(device).counters().used_bytes, 0);
    }
}
