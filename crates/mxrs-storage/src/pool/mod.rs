//! A pool: rounding policy × container of freed blocks × device memory.
//!
//! Allocating: round the request and take the last block freed under its key (a *hit*). On a miss ask the device how
//! much is free; if the block would cut into the reserve, return all cached blocks first; then request the block, and if
//! that is refused empty the cache and try once more. Freeing pushes the block onto the stack of its key.
//!
//! Rules the code keeps (numbers as in the tests):
//! - S3: `reserved` is the sum of live and cached blocks whenever the lock is free.
//! - S10: the lock is never held while the device is called. So blocks on their way back to the device are first taken
//!   out of the books, and a thread whose request was refused waits for those under way before it tries again.
//! - S11: books are written only after the device has said yes.
//!
//! The pool that splits and joins blocks is [`best_fit`].

mod any;
mod best_fit;
mod free_lists;
mod inventory;
mod rounding;
mod shared;

use crate::config::{PoolConfig, PoolKind, Setting, device_word};
use crate::memory::DeviceMemory;
use crate::sync::{Arc, Condvar, Mutex};
use crate::{ALIGNMENT, Block, PoolStats, Tag};
pub(crate) use any::AnyPool;
use free_lists::{FreeBlock, FreeLists};
use inventory::Inventory;
use mxrs_types::{Device, Error, ErrorKind, Result};
pub(crate) use rounding::Rounding;
use std::ptr::NonNull;
use std::time::Duration;

/// How long a refused request waits for other threads that are returning blocks to the device.
const RETURN_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct Pool {
    /// The device in its canonical form (`cpu(0)` for every cpu).
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    rounding: Rounding,
    /// Whether freed blocks are kept.
    caches: bool,
    /// Bytes of the device that growth should leave free while there is something to release.
    reserve_bytes: u64,
    books: Mutex<Books>,
    /// Signalled when `Books::returning` falls to 0.
    returned: Condvar,
}

/// What the lock guards.
#[derive(Default)]
struct Books {
    free: FreeLists,
    stats: PoolStats,
    inventory: Inventory,
    /// Threads that are returning a drained cache to the device just now.
    returning: usize,
}

impl Pool {
    /// Asks the device for its size, so call it without a lock.
    pub(crate) fn new(device: Device, memory: Arc<dyn DeviceMemory>, config: &PoolConfig) -> Self {
        let caches = config.kind != PoolKind::Unpooled;
        let total = if caches { memory.info().total } else { 0 };
        let reserve = u128::from(total) * u128::from(config.reserve_percent) / 100;
        Self {
            device,
            memory,
            rounding: Rounding::new(config),
            caches,
            reserve_bytes: u64::try_from(reserve).unwrap_or(u64::MAX),
            books: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    pub(crate) fn stats(&self) -> PoolStats {
        self.books.lock().stats
    }

    pub(crate) fn reset_peaks(&self) {
        let stats = &mut self.books.lock().stats;
        stats.peak_reserved = stats.reserved;
        stats.peak_live_requested = stats.live_requested;
    }

    /// A block for `size ≥ 1` bytes that calls itself memory of `device`.
    pub(crate) fn allocate(self: &Arc<Self>, device: Device, size: usize, tag: Tag) -> Result<Block> {
        let Some(class) = self.rounding.class(size) else {
            return Err(self.out_of_memory(size, 0));
        };
        let block_bytes = class.block_bytes;
        let mut something_to_release = false;
        if self.caches {
            let mut books = self.books.lock();
            if let Some(block) = books.free.take(class.key) {
                debug_assert_eq!(block.block_bytes, block_bytes);
                books.stats.cache_loses(block_bytes);
                books.stats.hits += 1;
                books.stats.block_lives(size, block_bytes);
                books.inventory.reused(block.ptr, &tag);
                drop(books);
                return Ok(Block::new(block.ptr, size, block_bytes, device, tag, Arc::clone(self)));
            }
            something_to_release = books.stats.cached_blocks > 0;
        }
        if something_to_release {
            self.keep_reserve(block_bytes);
        }
        let ptr = self.request(size, block_bytes)?;
        let mut books = self.books.lock();
        books.stats.system_gave(block_bytes);
        books.stats.block_lives(size, block_bytes);
        books.inventory.grown(ptr, block_bytes, &tag);
        drop(books);
        Ok(Block::new(ptr, size, block_bytes, device, tag, Arc::clone(self)))
    }

    /// Takes a live block back: into the cache, or to the device where nothing is cached.
    pub(crate) fn free(&self, ptr: NonNull<u8>, size: usize, block_bytes: usize) {
        if !self.caches {
            return self.free_directly(ptr, size, block_bytes);
        }
        // The class existed when the block was allocated, and the policy is fixed.
        let Some(class) = self.rounding.class(size) else { unreachable!("a live block of {size} bytes has no class") };
        let mut books = self.books.lock();
        books.inventory.cached(ptr, block_bytes);
        books.stats.block_dies(size, block_bytes);
        books.stats.cache_gains(block_bytes);
        books.free.put(class.key, FreeBlock { ptr, block_bytes });
    }

    /// Takes a live block back and returns it to the device.
    pub(crate) fn free_directly(&self, ptr: NonNull<u8>, size: usize, block_bytes: usize) {
        let mut books = self.books.lock();
        books.inventory.left(ptr, block_bytes, true);
        books.stats.block_dies(size, block_bytes);
        books.stats.system_takes(block_bytes);
        drop(books);
        // SAFETY: the block came from `self.memory.allocate(block_bytes)`; its only owner has just given it up, and it
        // has left the books, so nothing else can return it.
        unsafe { self.memory.free(ptr, block_bytes) };
    }

    /// Returns all cached blocks to the device; live ones stay. Answers how many bytes that were.
    pub(crate) fn release_all(&self) -> u64 {
        self.empty_cache(|_, _| ())
    }

    /// Empties the cache unless the device can give `block_bytes` and keep its reserve.
    fn keep_reserve(&self, block_bytes: usize) {
        let free = self.memory.info().free;
        let left = free.checked_sub(block_bytes as u64).filter(|&left| left > 0);
        if left.is_none_or(|left| left < self.reserve_bytes) {
            self.flush();
        }
    }

    /// Empties the cache to make room, and counts it if there was something to release.
    fn flush(&self) -> u64 {
        self.empty_cache(|stats, bytes| {
            stats.flushes += 1;
            stats.flushed_bytes += bytes;
        })
    }

    fn empty_cache(&self, count: impl FnOnce(&mut PoolStats, u64)) -> u64 {
        let mut books = self.books.lock();
        let blocks = books.free.drain();
        if blocks.is_empty() {
            return 0;
        }
        let mut bytes = 0;
        for block in &blocks {
            books.inventory.left(block.ptr, block.block_bytes, false);
            books.stats.cache_loses(block.block_bytes);
            books.stats.system_takes(block.block_bytes);
            bytes += block.block_bytes as u64;
        }
        count(&mut books.stats, bytes);
        books.returning += 1;
        drop(books);

        let _returning = Returning(self);
        for block in blocks {
            // SAFETY: the block came from `self.memory.allocate(block_bytes)`, was cached, so had no owner, and has
            // been taken out of the cache by this thread alone.
            unsafe { self.memory.free(block.ptr, block.block_bytes) };
        }
        bytes
    }

    /// `block_bytes` from the device, if need be after emptying the cache.
    fn request(&self, size: usize, block_bytes: usize) -> Result<NonNull<u8>> {
        let refused = match self.memory.allocate(block_bytes) {
            Ok(ptr) => return self.aligned(ptr, block_bytes),
            Err(error) => error,
        };
        self.books.lock().stats.refusals += 1;
        if !self.caches {
            return Err(self.explain(refused, size, 0));
        }
        let released = self.flush();
        self.returned.wait_while_for(&mut self.books.lock(), |books| books.returning > 0, RETURN_WAIT);
        match self.memory.allocate(block_bytes) {
            Ok(ptr) => self.aligned(ptr, block_bytes),
            Err(error) => {
                self.books.lock().stats.refusals += 1;
                Err(self.explain(error, size, released))
            }
        }
    }

    /// Refuses a pointer that breaks the device's promise.
    fn aligned(&self, ptr: NonNull<u8>, block_bytes: usize) -> Result<NonNull<u8>> {
        if ptr.addr().get().is_multiple_of(ALIGNMENT) {
            return Ok(ptr);
        }
        // SAFETY: the device has just returned this pointer for this size, and nobody else has seen it.
        unsafe { self.memory.free(ptr, block_bytes) };
        let message = format!("{} allocated {ptr:p}, which is not a multiple of {ALIGNMENT}", self.device);
        Err(Error::new(ErrorKind::Backend { backend: "device memory", message }))
    }

    /// Adds the pool's view to "no memory"; other errors of the device pass with a note of what was tried.
    fn explain(&self, error: Error, size: usize, released: u64) -> Error {
        match error.kind() {
            ErrorKind::OutOfMemory { .. } => self.out_of_memory(size, released),
            _ => error.context(format!("allocating {size} bytes on {}", self.device)),
        }
    }

    fn out_of_memory(&self, size: usize, released: u64) -> Error {
        let device_info = self.memory.info();
        let books = self.books.lock();
        let (stats, largest_cached) = (books.stats, books.free.largest_bytes() as u64);
        drop(books);
        let mut hint = format!("the device reports {} of {} bytes free", device_info.free, device_info.total);
        if released > 0 {
            hint += &format!(", after {released} cached bytes were released");
        }
        let waste = stats.live_blocks_bytes - stats.live_requested;
        let variable = Setting::Kind.variable(self.device.kind);
        hint += &match self.caches {
            true => format!("; rounding takes {waste} bytes of the live blocks, {variable} chooses how to round"),
            false => format!("; {} blocks are not pooled ({variable})", device_word(self.device.kind)),
        };
        hint += "; use a smaller batch or release arrays that are no longer needed";
        Error::new(ErrorKind::OutOfMemory {
            device: self.device,
            requested: size as u64,
            live: stats.live_blocks_bytes,
            cached: stats.cached_bytes,
            largest_cached,
            hint,
        })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Every live block holds an `Arc` of its pool, so only cached ones are left.
        self.release_all();
    }
}

/// While it exists a thread is returning blocks; dropping it, also in a panic of the device, tells those who wait.
struct Returning<'a>(&'a Pool);

impl Drop for Returning<'_> {
    fn drop(&mut self) {
        let mut books = self.0.books.lock();
        books.returning -= 1;
        if books.returning == 0 {
            self.0.returned.notify_all();
        }
    }
}
