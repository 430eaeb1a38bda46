//! The counters and sizes that a pool reports: in total, and by tag.

/// Counters and sizes of one pool, at one moment. Sizes are in bytes.
///
/// `reserved == live_blocks_bytes + cached_bytes` at every moment. A failed allocation changes only `refusals`; the figures
/// of pressure hooks, if there are any; and the cached and flushed figures, if it made the pool empty its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes that the owners of live blocks requested.
    pub live_requested: u64,
    /// Number of live blocks.
    pub live_blocks: u64,
    /// Bytes of live blocks, including rounding.
    pub live_blocks_bytes: u64,
    /// Number of cached blocks, in threads or in the container.
    pub cached_blocks: u64,
    /// Bytes of cached blocks, in threads or in the container.
    pub cached_bytes: u64,
    /// Bytes that the pool holds from the device: live and cached blocks.
    pub reserved: u64,
    /// Largest `reserved` so far.
    pub peak_reserved: u64,
    /// Largest `live_requested` so far. Exact if only one thread allocates and frees. With several threads the error is at
    /// most the bytes that the other threads allocated or freed in their own caches since their counts were last added to
    /// those of the pool, because a hit does not read the counts of other threads. The value never exceeds `peak_reserved`.
    pub peak_live_requested: u64,
    /// Allocations that succeeded, except allocations of size 0.
    pub allocations: u64,
    /// Allocations served from the cache.
    pub hits: u64,
    /// Blocks obtained from the device.
    pub system_requests: u64,
    /// Blocks returned to the device.
    pub system_frees: u64,
    /// Requests that the device refused, including those that succeeded when repeated.
    pub refusals: u64,
    /// Blocks that their owners freed, into the cache or directly to the device.
    pub frees: u64,
    /// How often the pool emptied its cache to make room (cached blocks existed, and memory was short or refused).
    pub flushes: u64,
    /// Bytes that the flushes returned to the device.
    pub flushed_bytes: u64,
    /// How often the hooks of [`Storage::on_pressure`](crate::Storage::on_pressure) ran because emptying the cache was
    /// not enough.
    pub pressure_rounds: u64,
    /// Bytes of this pool returned to the device right after the hooks ran.
    pub pressure_bytes: u64,
    /// Bytes that left the pool without returning to the device, because the work that used them failed and may never
    /// end.
    pub abandoned_bytes: u64,
}

/// Live memory of one [`Tag`](crate::Tag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagStats {
    /// Number of live blocks.
    pub blocks: u64,
    /// Bytes of these blocks, including rounding.
    pub bytes: u64,
}
