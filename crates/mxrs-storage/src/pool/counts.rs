//! Counting: each thread counts hits and frees in its own cache; the pool's shared data (`Books`) counts everything
//! else.

use crate::PoolStats;

/// The counts of one thread since they were last added to the pool's statistics. The amounts are signed, because a
/// thread may free blocks that another thread allocated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    hits: u64,
    frees: u64,
    live_requested: i64,
    live_bytes: i64,
    /// The largest `live_requested` since the counts were last added to the pool's statistics.
    high: i64,
}

impl Counts {
    /// Counts a cached block that got an owner.
    #[inline]
    pub(super) fn hit(&mut self, requested: usize, block_bytes: usize) {
        self.hits += 1;
        self.live_requested += requested as i64;
        self.live_bytes += block_bytes as i64;
        self.high = self.high.max(self.live_requested);
    }

    /// Undoes [`hit`](Self::hit) for a block that could not be used.
    pub(super) fn unhit(&mut self, requested: usize, block_bytes: usize) {
        self.hits = self.hits.wrapping_sub(1);
        self.live_requested -= requested as i64;
        self.live_bytes -= block_bytes as i64;
    }

    /// Counts a block that its owner freed.
    #[inline]
    pub(super) fn freed(&mut self, requested: usize, block_bytes: usize) {
        self.frees += 1;
        self.live_requested -= requested as i64;
        self.live_bytes -= block_bytes as i64;
    }
}

/// The counts of a thread that frees a block may be added before those of the thread that allocated it, so the numbers
/// of live blocks may wrap below zero for a while. They are exact once the counts of all threads are added.
impl PoolStats {
    /// Adds the counts of a thread and resets them.
    pub(super) fn fold(&mut self, counts: &mut Counts) {
        let Counts { hits, frees, live_requested, live_bytes, high } = std::mem::take(counts);
        self.note_peak((self.live_requested as i64).wrapping_add(high));
        self.hits = self.hits.wrapping_add(hits);
        self.allocations = self.allocations.wrapping_add(hits);
        self.frees = self.frees.wrapping_add(frees);
        self.live_blocks = self.live_blocks.wrapping_add(hits).wrapping_sub(frees);
        self.live_requested = self.live_requested.wrapping_add(live_requested as u64);
        self.live_blocks_bytes = self.live_blocks_bytes.wrapping_add(live_bytes as u64);
    }

    fn note_peak(&mut self, live_requested: i64) {
        let live_requested = u64::try_from(live_requested).unwrap_or(0);
        self.peak_live_requested = self.peak_live_requested.max(live_requested);
    }

    /// Counts a block that was made from new memory of the device and has an owner.
    pub(super) fn grew(&mut self, requested: usize, block_bytes: usize, device_bytes: usize) {
        self.system_requests += 1;
        self.reserved += device_bytes as u64;
        self.peak_reserved = self.peak_reserved.max(self.reserved);
        self.fold(&mut Counts {
            hits: 1,
            frees: 0,
            live_requested: requested as i64,
            live_bytes: block_bytes as i64,
            high: requested as i64,
        });
        self.hits = self.hits.wrapping_sub(1);
    }

    /// Counts a segment that was returned to the device.
    pub(super) fn shrank(&mut self, bytes: usize) {
        self.system_frees += 1;
        self.reserved -= bytes as u64;
    }
}
