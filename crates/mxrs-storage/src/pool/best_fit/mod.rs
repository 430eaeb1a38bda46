//! The pool that cuts blocks out of longer free ranges and joins them again: `BestFit`.
//!
//! Allocating: round the request up to whole granules and take the shortest free range that fits, cut to that length (a
//! *hit*). On a miss the pool grows by what is missing; if that would cut into the reserve, or is refused, it first
//! returns all free memory that can leave. Freeing joins the block with the free ranges on both sides.
//!
//! Where the device can put memory behind reserved addresses ([`GrowableMemory`](crate::GrowableMemory)), all blocks lie
//! in one range that grows at its end, unit by unit, so every remainder touches memory it can be joined with. Elsewhere
//! memory comes in [segments](segments), and remainders are joined within them.
//!
//! Rules the code keeps (numbers as in the tests):
//! - S2, S3: [`heap`] holds each address once; `reserved` is the sum of live blocks and free ranges, remainders among
//!   them, whenever the lock is free.
//! - S7: a block that is freed directly leaves as far as it can: the units, or the segment, that hold nothing else.
//!   What stays is free memory like any other.
//! - S10: the lock is never held while the device is called. So addresses about to get memory, or to lose it, are first
//!   set aside in the heap, and a thread whose request was refused waits for memory under way before it tries again.
//! - S11: books are written only after the device has said yes; a growth that was refused is undone.
//!
//! This module knows no [`Block`](crate::Block): it hands out a pointer and a length, and is given them back.

mod backing;
mod books;
mod growth;
mod heap;
mod segments;

use crate::config::{PoolConfig, Setting};
use crate::memory::DeviceMemory;
use crate::{ALIGNMENT, PoolStats};
use backing::Backing;
use books::Books;
use heap::Leaving;
use mxrs_sync::{Arc, Condvar, Rank, RankedMutex};
use mxrs_types::{Device, DeviceKind, Error, ErrorKind, Result};
use std::ptr::NonNull;

/// Length and place of a block are multiples of this many bytes in host memory.
pub(crate) const HOST_GRANULE: usize = ALIGNMENT;
/// As [`HOST_GRANULE`], in the memory of a GPU.
const GPU_GRANULE: usize = 512;

/// See the module.
pub(crate) struct BestFitPool {
    /// The device in its canonical form.
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    granule: usize,
    backing: Backing,
    /// Bytes of the device that growth should leave free while there is something to release.
    reserve_bytes: u64,
    books: RankedMutex<Books>,
    /// Signalled when `Books::returning` falls to 0.
    returned: Condvar,
}

/// Memory that was handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) block_bytes: usize,
}

impl BestFitPool {
    /// Asks the device for its size and reserves addresses, so call it without a lock.
    pub(crate) fn new(device: Device, memory: Arc<dyn DeviceMemory>, config: &PoolConfig) -> Self {
        let total = memory.info().total;
        let reserve = u128::from(total) * u128::from(config.reserve_percent) / 100;
        let granule = match device.kind {
            DeviceKind::Gpu => GPU_GRANULE,
            DeviceKind::Cpu | DeviceKind::CpuPinned | DeviceKind::CpuShared => HOST_GRANULE,
        };
        let (backing, books) = Backing::open(memory.as_ref(), total, granule);
        Self {
            device,
            memory,
            granule,
            backing,
            reserve_bytes: u64::try_from(reserve).unwrap_or(u64::MAX),
            books: RankedMutex::new(Rank::Storage, books),
            returned: Condvar::new(),
        }
    }

    pub(crate) fn stats(&self) -> PoolStats {
        self.books.lock().stats()
    }

    pub(crate) fn reset_peaks(&self) {
        self.books.lock().reset_peaks();
    }

    /// Memory for `size ≥ 1` bytes.
    pub(crate) fn allocate(&self, size: usize) -> Result<Piece> {
        let whole = size.checked_next_multiple_of(self.granule);
        let Some(block_bytes) = whole.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return Err(self.out_of_memory(size, 0));
        };
        let taken = self.books.lock().take(self.backing.arena(block_bytes), size, block_bytes);
        let start = match taken {
            Some(start) => start,
            None => self.grow(size, block_bytes)?,
        };
        Ok(Piece { ptr: pointer(start), block_bytes })
    }

    /// Takes a live piece back and keeps its memory.
    pub(crate) fn free(&self, ptr: NonNull<u8>, size: usize) {
        let known = self.books.lock().give(ptr.addr().get(), size);
        debug_assert!(known, "{}: {ptr:p} of {size} bytes was freed, but is not live", self.device);
    }

    /// Takes a live piece back and returns what can leave to the device.
    pub(crate) fn free_directly(&self, ptr: NonNull<u8>, size: usize) {
        let mut books = self.books.lock();
        let given = books.give_directly(ptr.addr().get(), size);
        drop(books);
        debug_assert!(given.is_some(), "{}: {ptr:p} of {size} bytes was freed, but is not live", self.device);
        self.give_back(given.flatten().into_iter().collect());
    }

    /// Returns all free memory that can leave: whole units, whole segments. Answers how many bytes that were.
    pub(crate) fn release_all(&self) -> u64 {
        self.empty(false)
    }

    /// As [`release_all`](Self::release_all), to make room; counted if there was something to release.
    fn flush(&self) -> u64 {
        self.empty(true)
    }

    fn empty(&self, is_flush: bool) -> u64 {
        let leaving = self.books.lock().detach_all(is_flush);
        let bytes = leaving.iter().map(|leaving| leaving.len as u64).sum();
        self.give_back(leaving);
        bytes
    }

    /// Hands memory that was set aside to the device.
    fn give_back(&self, leaving: Vec<Leaving>) {
        if leaving.is_empty() {
            return;
        }
        let _returning = Returning(self);
        for leaving in leaving {
            let (ptr, len) = (pointer(leaving.start), leaving.len);
            // SAFETY: the heap had this range as free memory, so nobody uses it, and has set it aside for this thread.
            // It is whole units of a range that have memory, or a whole segment as the device gave it.
            unsafe { self.backing.give_back(self.memory.as_ref(), ptr, len) };
            self.books.lock().left(leaving);
        }
    }

    /// Waits for threads that are returning memory to the device just now.
    fn wait_for_returns(&self) {
        let mut books = self.books.lock();
        while books.is_returning() {
            books = books.wait(&self.returned);
        }
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
        let (stats, largest_cached) = (books.stats(), books.longest_free() as u64);
        drop(books);
        let mut hint = format!("the device reports {} of {} bytes free", device_info.free, device_info.total);
        if released > 0 {
            hint += &format!(", after {released} cached bytes were released");
        }
        let waste = stats.live_blocks_bytes - stats.live_requested;
        let variable = Setting::Kind.variable(self.device.kind);
        hint += &format!(
            "; rounding takes {waste} bytes of the live blocks, and {} cached bytes lie between them in {} pieces \
             ({variable} chooses how to keep blocks); use a smaller batch or release arrays that are no longer needed",
            stats.cached_bytes, stats.cached_blocks
        );
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

impl Drop for BestFitPool {
    fn drop(&mut self) {
        // Every live block holds its pool, so only free memory is left.
        self.release_all();
        for (start, len) in self.books.get_mut().take_ranges() {
            // SAFETY: the range was reserved with this length, and is given up once; no block is left in it.
            unsafe { self.backing.unreserve(self.memory.as_ref(), pointer(start), len) };
        }
    }
}

/// The pointer to an address of a region, whose provenance was exposed when the region came.
fn pointer(start: usize) -> NonNull<u8> {
    let start = std::num::NonZero::new(start).expect("no region contains address 0");
    NonNull::with_exposed_provenance(start)
}

/// While it exists a thread is returning memory; dropping it, also in a panic of the device, tells those who wait.
struct Returning<'a>(&'a BestFitPool);

impl Drop for Returning<'_> {
    fn drop(&mut self) {
        if self.0.books.lock().has_returned() {
            self.0.returned.notify_all();
        }
    }
}
