//! What a pool counted.

/// Counters and sizes of one pool, read at one moment. Sizes are in bytes.
///
/// `reserved == live_blocks_bytes + cached_bytes` at every moment. A failed allocation changes `refusals` and, if it
/// made the pool empty its cache, the cached and flushed figures; nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes the owners of live blocks asked for.
    pub live_requested: u64,
    /// Number of live blocks.
    pub live_blocks: u64,
    /// Bytes of live blocks, rounding included.
    pub live_blocks_bytes: u64,
    /// Number of blocks that wait for reuse.
    pub cached_blocks: u64,
    /// Bytes that wait for reuse.
    pub cached_bytes: u64,
    /// Bytes held from the device: live and cached blocks.
    pub reserved: u64,
    /// Largest `reserved` so far.
    pub peak_reserved: u64,
    /// Largest `live_requested` so far.
    pub peak_live_requested: u64,
    /// Allocations that succeeded; those of size 0 do not count.
    pub allocations: u64,
    /// Allocations served from the cache.
    pub hits: u64,
    /// Blocks obtained from the device.
    pub system_requests: u64,
    /// Blocks returned to the device.
    pub system_frees: u64,
    /// Requests that the device refused, those that succeeded when repeated included.
    pub refusals: u64,
    /// Blocks given up by their owners, into the cache or directly to the device.
    pub frees: u64,
    /// Times the pool emptied its cache to make room (cached blocks existed, and memory was short or refused).
    pub flushes: u64,
    /// Bytes returned by those flushes.
    pub flushed_bytes: u64,
}

impl PoolStats {
    pub(crate) fn block_lives(&mut self, requested: usize, block_bytes: usize) {
        self.allocations += 1;
        self.live_blocks += 1;
        self.live_requested += requested as u64;
        self.live_blocks_bytes += block_bytes as u64;
        self.peak_live_requested = self.peak_live_requested.max(self.live_requested);
    }

    pub(crate) fn block_dies(&mut self, requested: usize, block_bytes: usize) {
        self.frees += 1;
        self.live_blocks -= 1;
        self.live_requested -= requested as u64;
        self.live_blocks_bytes -= block_bytes as u64;
    }

    pub(crate) fn cache_gains(&mut self, block_bytes: usize) {
        self.cached_blocks += 1;
        self.cached_bytes += block_bytes as u64;
    }

    pub(crate) fn cache_loses(&mut self, block_bytes: usize) {
        self.cached_blocks -= 1;
        self.cached_bytes -= block_bytes as u64;
    }

    pub(crate) fn system_gave(&mut self, block_bytes: usize) {
        self.system_requests += 1;
        self.reserved += block_bytes as u64;
        self.peak_reserved = self.peak_reserved.max(self.reserved);
    }

    pub(crate) fn system_takes(&mut self, block_bytes: usize) {
        self.system_frees += 1;
        self.reserved -= block_bytes as u64;
    }
}
