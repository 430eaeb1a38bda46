//! Records of memory: each block when it is allocated and when it is freed, and the memory of the pools (S13 in
//! `src/lib.rs`).

use crate::{DEVICES, MIB, addresses_only};
use mxrs_storage::{Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_trace::{Collector, Event, Kinds, Memory, MemoryStep};
use mxrs_types::Device;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const GPU: Device = Device::gpu(0);

/// Records memory. Other tests of this process may be recorded at the same time. So each test uses devices with an id of its
/// own, and looks only at the records of these devices.
struct Recording {
    collector: Collector,
    number: u32,
    _turn: MutexGuard<'static, ()>,
}

impl Recording {
    fn start(number: u32) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let collector = Collector::claim().unwrap();
        collector.switch(Kinds::MEMORY);
        Self { collector, number, _turn: turn }
    }

    fn taken(&mut self) -> Vec<Memory> {
        let mut taken = Vec::new();
        self.collector.drain(|_, event| match event {
            Event::Memory(memory) if memory.device.id == self.number => taken.push(memory),
            _ => {}
        });
        taken
    }
}

fn sum_of(records: &[Memory], step: MemoryStep) -> u64 {
    records.iter().filter(|m| m.step == step).map(|m| m.block_bytes).sum()
}

/// S13: as many frees as allocations are recorded, each with the block's own figures, and the pools get and return the
/// memory that the statistics show, for every kind of pool.
#[test]
fn s13_records_agree_with_blocks_and_statistics() {
    const NUMBER: u32 = 71;
    let mut recording = Recording::start(NUMBER);
    let devices = [Device::gpu(NUMBER), Device::cpu_pinned(NUMBER)];
    for kind in PoolKind::ALL {
        let config = StorageConfig::uniform(PoolConfig::of_kind(kind));
        let builder = Storage::builder(config).device(Arc::new(addresses_only(DEVICES[0], MIB)));
        let memory = |device| Arc::new(addresses_only(device, 100 * MIB));
        let storage = devices.into_iter().fold(builder, |b, device| b.device(memory(device))).build().unwrap();
        let mut live: Vec<Block> = Vec::new();
        for n in 0..60 {
            let block = storage.allocate(devices[n % 2], n * 700, Tag::new("t").scoped("s:")).unwrap();
            match n % 5 {
                0 => block.free_directly(),
                1 | 3 => drop(block),
                _ => live.push(block),
            }
        }
        assert!(storage.allocate(devices[0], 200 << 20, Tag::default()).is_err(), "a failure is not recorded");
        let records = recording.taken();
        let allocated: Vec<_> =
            records.iter().filter(|m| matches!(m.step, MemoryStep::New | MemoryStep::Reused)).collect();
        let n_freed = records.iter().filter(|m| m.step == MemoryStep::Freed).count();
        assert_eq!((allocated.len(), n_freed), (59, 59 - live.len()), "{kind}: all but the one of size 0");
        for block in &live {
            let found = allocated.iter().any(|m| {
                let (address, requested) = (block.as_ptr().addr() as u64, block.len() as u64);
                (m.device, m.address, m.requested_bytes) == (block.device(), address, requested)
                    && m.block_bytes == block.block_bytes() as u64
                    && (m.scope.text(), m.tag.text()) == ("s:", "t")
            });
            assert!(found, "{kind}: {block:?}");
        }
        let held = |records: &[Memory]| sum_of(records, MemoryStep::Grown) - sum_of(records, MemoryStep::Returned);
        let reserved: u64 = devices.iter().map(|device| storage.stats(*device).reserved).sum();
        assert_eq!(held(&records), reserved, "{kind}");
        drop(storage);
        std::thread::spawn(move || drop(live)).join().unwrap();
        let rest = recording.taken();
        assert_eq!(rest.iter().filter(|m| m.step == MemoryStep::Freed).count() + n_freed, 59, "{kind}");
        assert_eq!(sum_of(&rest, MemoryStep::Returned), reserved, "{kind}: everything went back");
    }
}

/// A block from the cache is recorded as reused, and a block of new memory is not.
#[test]
fn records_show_which_blocks_are_reused() {
    const NUMBER: u32 = 72;
    let mut recording = Recording::start(NUMBER);
    let device = Device::gpu(NUMBER);
    for kind in PoolKind::ALL {
        let config = StorageConfig::uniform(PoolConfig::of_kind(kind));
        let memory = Arc::new(addresses_only(device, 100 * MIB));
        let storage = Storage::builder(config).device(memory).build().unwrap();
        for _ in 0..2 {
            drop(storage.allocate(device, 5000, Tag::default()).unwrap());
        }
        let steps: Vec<_> = recording.taken().iter().map(|m| m.step).collect();
        use MemoryStep::{Freed, Grown, New, Returned, Reused};
        match kind {
            PoolKind::Unpooled => assert_eq!(steps, [Grown, New, Freed, Returned, Grown, New, Freed, Returned]),
            _ => assert_eq!(steps, [Grown, New, Freed, Reused, Freed], "{kind}"),
        }
        drop(storage);
        recording.taken();
    }
}

/// Memory without a scope of its own gets the scope of the thread.
#[test]
fn the_scope_of_the_thread_is_part_of_the_tag() {
    const NUMBER: u32 = 73;
    let mut recording = Recording::start(NUMBER);
    let device = Device::gpu(NUMBER);
    let memory = Arc::new(addresses_only(device, 100 * MIB));
    let storage = Storage::builder(StorageConfig::default()).device(memory).build().unwrap();
    let allocate = |tag: Tag| drop(storage.allocate(device, 100, tag).unwrap());
    let scope = mxrs_trace::enter_scope("net");
    allocate(Tag::new("a"));
    allocate(Tag::new("b").scoped("own:"));
    drop(scope);
    allocate(Tag::new("c"));
    let allocated = |m: &&Memory| matches!(m.step, MemoryStep::New | MemoryStep::Reused);
    let tags: Vec<_> = recording.taken().iter().filter(allocated).map(|m| format!("{}{}", m.scope, m.tag)).collect();
    assert_eq!(tags, ["net:a", "own:b", "<unk>:c"]);
}

/// Without memory records nothing is recorded.
#[test]
fn nothing_is_recorded_while_records_are_off() {
    let mut recording = Recording::start(0);
    recording.collector.switch(Kinds::ALL.without(Kinds::MEMORY));
    recording.collector.discard();
    let storage = Storage::builder(StorageConfig::default()).device(Arc::new(addresses_only(GPU, 100 * MIB)));
    drop(storage.build().unwrap().allocate(GPU, 100, Tag::default()).unwrap());
    assert_eq!(recording.taken(), []);
}
