//! The manager of `cpu_shared`: no pool, a segment of its own for each block, mapped by as many processes as like.
//!
//! A block of another process that is opened here counts like one that was made here: the figures are those of mappings.

use crate::PoolStats;
use crate::memory::{DeviceMemory, SharedHandle, SharedId, SharedSegment};
use crate::pool::best_fit::Piece;
use mxrs_sync::{Arc, Rank, RankedMutex};
use mxrs_types::{Device, Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::ptr::NonNull;

/// See the module.
pub(crate) struct SharedPool {
    /// Asked for its figures only.
    memory: Arc<dyn DeviceMemory>,
    books: RankedMutex<Books>,
}

#[derive(Default)]
struct Books {
    stats: PoolStats,
    /// Mappings by the address of their data.
    live: FxHashMap<usize, SharedSegment>,
}

impl SharedPool {
    /// `memory` says how much memory the machine has.
    pub(crate) fn new(memory: Arc<dyn DeviceMemory>) -> Self {
        Self { memory, books: RankedMutex::new(Rank::Storage, Books::default()) }
    }

    /// A new segment for `size ≥ 1` bytes.
    pub(crate) fn allocate(&self, size: usize) -> Result<Piece> {
        // Memory comes at once, and where it runs short the system ends processes: what cannot fit is not tried.
        let fits = size as u64 <= self.memory.info().total;
        match if fits { SharedSegment::create(size)? } else { None } {
            Some(segment) => Ok(self.enter(segment)),
            None => {
                self.books.lock().stats.refusals += 1;
                Err(self.out_of_memory(size))
            }
        }
    }

    /// A mapping of another owner's segment, and the bytes of its data.
    pub(crate) fn open(&self, handle: SharedHandle) -> Result<Piece> {
        SharedSegment::open(handle).map(|segment| self.enter(segment))
    }

    fn enter(&self, segment: SharedSegment) -> Piece {
        let piece = Piece { ptr: segment.data(), block_bytes: segment.len() };
        let mut books = self.books.lock();
        books.stats.system_gave(piece.block_bytes);
        books.stats.block_lives(piece.block_bytes, piece.block_bytes);
        books.live.insert(piece.ptr.addr().get(), segment);
        piece
    }

    /// Ends a mapping.
    pub(crate) fn free(&self, ptr: NonNull<u8>) {
        let mut books = self.books.lock();
        let segment = books.live.remove(&ptr.addr().get());
        if let Some(segment) = &segment {
            books.stats.block_dies(segment.len(), segment.len());
            books.stats.system_takes(segment.len());
        }
        drop(books);
        debug_assert!(segment.is_some(), "{ptr:p} is no shared block");
    }

    /// Asks about the live mapping that starts at `ptr`.
    fn with<T>(&self, ptr: NonNull<u8>, ask: impl FnOnce(&SharedSegment) -> T) -> Option<T> {
        self.books.lock().live.get(&ptr.addr().get()).map(ask)
    }

    pub(crate) fn id(&self, ptr: NonNull<u8>) -> Option<SharedId> {
        self.with(ptr, SharedSegment::id)
    }

    pub(crate) fn handle(&self, ptr: NonNull<u8>) -> Option<Result<SharedHandle>> {
        self.with(ptr, SharedSegment::handle)
    }

    pub(crate) fn mappings(&self, ptr: NonNull<u8>) -> Option<u32> {
        self.with(ptr, SharedSegment::count)
    }

    pub(crate) fn stats(&self) -> PoolStats {
        self.books.lock().stats
    }

    pub(crate) fn reset_peaks(&self) {
        let stats = &mut self.books.lock().stats;
        stats.peak_reserved = stats.reserved;
        stats.peak_live_requested = stats.live_requested;
    }

    fn out_of_memory(&self, size: usize) -> Error {
        let info = self.memory.info();
        let live = self.stats().live_blocks_bytes;
        Error::new(ErrorKind::OutOfMemory {
            device: Device::cpu_shared(0),
            requested: size as u64,
            live,
            cached: 0,
            largest_cached: 0,
            hint: format!(
                "the machine reports {} of {} bytes free; shared blocks are not pooled; use a smaller batch or release \
                 shared arrays that are no longer needed",
                info.free, info.total
            ),
        })
    }
}
