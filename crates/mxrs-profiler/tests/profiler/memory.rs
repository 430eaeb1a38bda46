//! Memory: the counters are compared with the statistics of storage, and the list of blocks is checked.

use crate::{Turn, records};
use mxrs_profiler::{Config, Kinds, enter_scope};
use mxrs_storage::{PoolConfig, Storage, StorageConfig, Tag};
use mxrs_types::{Device, PoolKind};
use std::sync::Mutex;

/// The last value of a counter in a trace.
fn last(records: &[serde_json::Value], counter: &str) -> Option<u64> {
    records.iter().filter_map(|event| event["args"][counter].as_u64()).next_back()
}

/// At the end, the counters must equal the statistics of storage, and the largest value must equal its peak. This is checked
/// for every kind of pool, with threads that free what other threads have allocated.
#[test]
fn counters_are_those_of_storage() {
    let turn = Turn::take();
    let cpu = Device::cpu(0);
    for kind in PoolKind::ALL {
        let profiler = turn.running(turn.config());
        assert!(mxrs_trace::is_on(Kinds::MEMORY));
        let storage = Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind))).unwrap();
        let passed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..4_usize {
                let (storage, passed) = (&storage, &passed);
                scope.spawn(move || {
                    for round in 0..200_usize {
                        let size = 1 + (round * 7919 + number * 104_729) % 100_000;
                        let block = storage.allocate(cpu, size, Tag::new("t")).unwrap();
                        let mut passed = passed.lock().unwrap();
                        passed.push(block);
                        let at = round % passed.len();
                        let other = (round % 3 > 0).then(|| passed.swap_remove(at));
                        drop(passed);
                        drop(other);
                    }
                });
            }
        });
        let stats = storage.stats(cpu);
        assert!(stats.live_requested > 0 && stats.reserved >= stats.live_requested);
        profiler.dump(true).unwrap();
        let records = records(&turn.path("t.json"));
        assert_eq!(last(&records, "Memory: cpu/0"), Some(stats.live_requested), "{kind}");
        assert_eq!(last(&records, "Pool: cpu/0"), Some(stats.reserved), "{kind}");
        let values = records.iter().filter_map(|event| event["args"]["Memory: cpu/0"].as_u64());
        assert!(values.max().unwrap() <= stats.peak_live_requested, "{kind}");
    }
}

/// Memory that was allocated before the start is not counted when it is freed.
#[test]
fn a_late_start_counts_from_zero() {
    let turn = Turn::take();
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let allocate = |size| storage.allocate(Device::cpu(0), size, Tag::default()).unwrap();
    let early = allocate(5000);
    let profiler = turn.running(turn.config());
    let late = allocate(700);
    drop(early);
    drop(late);
    profiler.dump(true).unwrap();
    let values: Vec<u64> =
        records(&turn.path("t.json")).iter().filter_map(|event| event["args"]["Memory: cpu/0"].as_u64()).collect();
    assert_eq!(values, [700, 700, 0]);
}

/// T1, T2: every block is listed with its tag, whether it is in use or kept by the pool. The blocks add up to no more than
/// the pool holds.
#[test]
fn t1_t2_blocks_are_listed_with_their_tags() {
    let turn = Turn::take();
    let prefix = turn.path("mem");
    let profiler = turn.running(Config { memory_csv_prefix: Some(prefix), ..turn.config() });
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let allocate = |size, tag: Tag| storage.allocate(Device::cpu(0), size, tag).unwrap();
    let scope = enter_scope("net");
    let weight = allocate(5000, Tag::new("conv0_weight"));
    drop(allocate(100_000, Tag::new("once")));
    let again = allocate(100_000, Tag::new("twice"));
    drop(scope);
    let apart = allocate(64, Tag::new("buffer").scoped("kvstore:"));
    profiler.dump(false).unwrap();
    let csv = std::fs::read_to_string(turn.path(&format!("mem-pid_{}.csv", std::process::id()))).unwrap();
    let size = |block: &mxrs_storage::Block| block.block_bytes();
    let expected = format!(
        "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Reuse?\"\n\
         \"kvstore:buffer\",\"64\",\"cpu/0\",\"{}\",\"0\"\n\
         \"net:conv0_weight\",\"5000\",\"cpu/0\",\"{}\",\"0\"\n\
         \"net:twice\",\"100000\",\"cpu/0\",\"{}\",\"1\"\n",
        size(&apart),
        size(&weight),
        size(&again)
    );
    assert_eq!(csv, expected);
    let listed = (size(&apart) + size(&weight) + size(&again)) as u64;
    assert!(listed <= storage.stats(Device::cpu(0)).reserved);
    drop((weight, again, apart));
    storage.release_all(Device::cpu(0));
    profiler.dump(true).unwrap();
    let csv = std::fs::read_to_string(turn.path(&format!("mem-pid_{}.csv", std::process::id()))).unwrap();
    assert_eq!(csv.lines().count(), 1, "{csv}");
}
