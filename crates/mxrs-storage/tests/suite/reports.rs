//! Reports of the storage: tags, and the hooks that run if memory is short.

use crate::{Bench, MIB};
use mxrs_storage::{Block, PoolConfig, PoolKind, Pressure, Tag};
use mxrs_types::{Device, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const GPU: Device = Device::gpu(0);

fn tagged(bench: &Bench, size: usize, tag: Tag) -> Block {
    bench.storage.allocate(GPU, size, tag).unwrap()
}

/// The bytes of all tags add up to the live bytes. This holds for blocks of all threads, from the cache or from the device.
#[test]
fn tags_add_up_to_what_is_live() {
    for kind in PoolKind::ALL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        assert_eq!(bench.storage.tags(GPU), []);
        let weights: Vec<_> = (0..3).map(|_| tagged(&bench, 4096, Tag::new("weight").scoped("net:"))).collect();
        drop(tagged(&bench, 4096, Tag::new("gone")));
        let hit = tagged(&bench, 4096, Tag::new("hit"));
        // Tags are equal if their strings are equal, even if the strings are separate allocations.
        let owned = std::thread::scope(|scope| {
            scope.spawn(|| tagged(&bench, 1 << 20, Tag::from(String::from("hit")))).join().unwrap()
        });
        let tags = bench.storage.tags(GPU);
        let expected = [("<unk>:hit", 2, (1 << 20) + 4096), ("net:weight", 3, 3 * 4096)];
        assert_eq!(
            tags.iter().map(|(tag, of_tag)| (tag.to_string(), of_tag.blocks, of_tag.bytes)).collect::<Vec<_>>(),
            expected.map(|(tag, blocks, bytes)| (tag.to_owned(), blocks, bytes))
        );
        assert_eq!(
            tags.iter().map(|(_, of_tag)| of_tag.bytes).sum::<u64>(),
            bench.storage.stats(GPU).live_blocks_bytes
        );
        drop((weights, hit, owned));
        assert_eq!(bench.storage.tags(GPU), []);
    }
}

#[test]
fn the_error_names_the_largest_tags_and_the_peak() {
    let bench = Bench::uniform(PoolConfig::default(), 100 * MIB);
    drop(bench.allocate(GPU, 90 << 20));
    let live: Vec<_> = (1..=7).map(|n| tagged(&bench, n << 20, Tag::from(format!("layer{n}")))).collect();
    let error = bench.storage.allocate(GPU, 80 << 20, Tag::default()).unwrap_err();
    let ErrorKind::OutOfMemory { hint, .. } = error.kind() else { panic!("{error}") };
    let peak = bench.storage.stats(GPU).peak_reserved;
    assert!(hint.contains(&format!("at most {peak} bytes were held so far")), "{hint}");
    // The five largest tags: 8, 6, 6, 4 and 4 MiB, rounded to 2 MiB. Equal sizes are sorted by name.
    let list = &hint[hint.find("largest live tags: <unk>:layer7 8388608 bytes in 1 blocks").expect(hint)..];
    let places = [7, 5, 6, 3, 4].map(|n| list.find(&format!("layer{n} ")).expect(hint));
    assert!(places.is_sorted(), "{hint}");
    assert!(!hint.contains("layer2") && !hint.contains("layer1"), "{hint}");
    drop(live);
}

/// The hook runs after the flush and before an error is returned, while no lock is held (S10). The memory that it releases
/// is sufficient.
#[test]
fn pressure_hooks_make_room() {
    for kind in PoolKind::ALL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let arena = Arc::new(Mutex::new(Some(bench.allocate(GPU, 64 << 20))));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let guard = {
            let (arena, seen, storage) = (Arc::clone(&arena), Arc::clone(&seen), bench.storage.clone());
            bench.storage.on_pressure(move |pressure: &Pressure| {
                let stats = storage.stats(GPU);
                assert_eq!((stats.cached_bytes, stats.pressure_rounds), (0, 0), "after the flush");
                seen.lock().unwrap().push(*pressure);
                // An allocation in a hook may fail, and does not run the hook again.
                assert!(storage.allocate(GPU, 80 << 20, Tag::default()).is_err());
                arena.lock().unwrap().take();
            })
        };
        drop(bench.allocate(GPU, 8 << 20));
        let block = bench.allocate(GPU, 64 << 20);
        assert_eq!(block.block_bytes(), 64 << 20);
        let seen_now = seen.lock().unwrap().clone();
        assert_eq!(seen_now.len(), 1);
        assert_eq!((seen_now[0].device, seen_now[0].requested_bytes), (GPU, 64 * MIB));
        let stats = bench.storage.stats(GPU);
        let pooled = kind != PoolKind::Unpooled;
        assert_eq!((stats.pressure_rounds, stats.pressure_bytes), (1, if pooled { 64 * MIB } else { 0 }));
        assert_eq!(stats.flushes, if pooled { 2 } else { 0 });

        drop(guard);
        assert!(bench.storage.allocate(GPU, 80 << 20, Tag::default()).is_err());
        assert_eq!((seen.lock().unwrap().len(), bench.storage.stats(GPU).pressure_rounds), (1, 1), "the guard is gone");
    }
}

/// Hooks run in the order in which they were added; if they do not help, the error is unchanged.
#[test]
fn pressure_hooks_run_in_order_and_may_fail_to_help() {
    let bench = Bench::uniform(PoolConfig::default(), 10 * MIB);
    let clock = Arc::new(AtomicUsize::new(0));
    let guards = [0, 1].map(|place| {
        let clock = Arc::clone(&clock);
        bench.storage.on_pressure(move |_| assert_eq!(clock.fetch_add(1, Ordering::SeqCst), place))
    });
    let error = bench.storage.allocate(GPU, 20 << 20, Tag::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }));
    assert_eq!(clock.load(Ordering::SeqCst), 2);
    assert_eq!(bench.storage.stats(GPU).refusals, 3, "first, after the flush, after the hooks");
    drop(guards);
}
