//! What a pool counted.

/// Counters and sizes of one pool, read at one moment. Sizes are in bytes.
///
/// `reserved == live_blocks_bytes + cached_bytes` at every moment. A failed allocation changes `refusals`, the figures of
/// pressure hooks if there are any and, if it made the pool empty its cache, the cached and flushed figures; nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes the owners of live blocks asked for.
    pub live_requested: u64,
    /// Number of live blocks.
    pub live_blocks: u64,
    /// Bytes of live blocks, rounding included.
    pub live_blocks_bytes: u64,
    /// Number of blocks that wait for reuse, wherever they wait.
    pub cached_blocks: u64,
    /// Bytes that wait for reuse, wherever they wait.
    pub cached_bytes: u64,
    /// Bytes held from the device: live and cached blocks.
    pub reserved: u64,
    /// Largest `reserved` so far.
    pub peak_reserved: u64,
    /// Largest `live_requested` so far. Exact as long as one thread allocates and frees. With several it can be off by
    /// what the other threads have allocated or freed from their own caches since they last shared a block, as a hit
    /// is not compared with theirs; it is never above `peak_reserved`.
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
    /// Times the hooks of [`Storage::on_pressure`](crate::Storage::on_pressure) ran because emptying the cache was not
    /// enough.
    pub pressure_rounds: u64,
    /// Bytes of this pool returned to the device right after those.
    pub pressure_bytes: u64,
    /// Bytes that left the pool but not for the device, because the work that used them failed without an end.
    pub abandoned_bytes: u64,
}

/// What is live under one [`Tag`](crate::Tag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagStats {
    /// Number of live blocks.
    pub blocks: u64,
    /// Their bytes, rounding included.
    pub bytes: u64,
}
