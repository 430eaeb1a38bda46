//! The container of `Naive` and `Round`: a stack of freed blocks for each size class. Under `Unpooled` it stays empty.

use super::container::{Container, Grown};
use super::record::{RecordRef, Request, Segment};
use super::rounding::SizeClass;
use rustc_hash::FxHashMap;

/// Stacks of free blocks by size class; last in, first out.
#[derive(Debug, Default)]
pub(crate) struct FreeLists {
    by_key: FxHashMap<usize, Vec<RecordRef>>,
    n_blocks: u64,
    n_bytes: u64,
}

impl Container for FreeLists {
    fn take(&mut self, class: SizeClass) -> Option<RecordRef> {
        let record = self.by_key.get_mut(&class.key)?.pop()?;
        debug_assert_eq!(record.block_bytes(), class.block_bytes);
        self.n_blocks -= 1;
        self.n_bytes -= record.block_bytes() as u64;
        Some(record)
    }

    fn put(&mut self, record: RecordRef) {
        self.n_blocks += 1;
        self.n_bytes += record.block_bytes() as u64;
        self.by_key.entry(record.key()).or_default().push(record);
    }

    fn growth_bytes(&self, class: SizeClass) -> usize {
        class.block_bytes
    }

    fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef {
        RecordRef::new(memory.ptr, memory.bytes, class.key, memory.pool, request)
    }

    fn discard(&mut self, record: RecordRef) -> Option<Segment> {
        // SAFETY: `Books::discard` has removed the record from the pool's list of blocks and passes the last pointer to
        // it.
        Some(unsafe { record.destroy() })
    }

    fn drain(&mut self) -> Vec<Segment> {
        (self.n_blocks, self.n_bytes) = (0, 0);
        // SAFETY: a record inside the container has left the pool's list of blocks, so these lists have the only
        // pointer to it.
        self.by_key.drain().flat_map(|(_, records)| records).map(|record| unsafe { record.destroy() }).collect()
    }

    fn inside(&self) -> (u64, u64) {
        (self.n_blocks, self.n_bytes)
    }

    fn largest_bytes(&self) -> usize {
        self.by_key.values().filter_map(|records| records.last()).map(|record| record.block_bytes()).max().unwrap_or(0)
    }
}
