//! Gets memory from the device for a pool: keeps the device's reserve free, requests memory, and tries further steps if
//! the device refuses. The head of `pool` lists the numbered steps.

use super::Pool;
use super::best_fit::reserve;
use super::container::{Grown, Growth};
use super::events::Patience;
use super::record::{RecordRef, Request, Segment};
use super::rounding::SizeClass;
use super::search;
use crate::config::{Setting, device_word};
use crate::memory::refused;
use crate::pressure::Pressure;
use crate::{ALIGNMENT, PoolStats, records};
use mxrs_sync::Arc;
use mxrs_sync::atomic::Ordering;
use mxrs_types::{DeviceKind, Error, ErrorKind, Result};
use std::ptr::NonNull;
use std::time::Duration;

/// After a refusal, the requesting thread sleeps for this long at a time while other threads are returning memory, at
/// most 10 s in total.
const RETURN_NAP: Duration = Duration::from_micros(200);
const RETURN_NAPS: u32 = 50_000;

/// The largest number of tags that an error names.
const N_TAGS: usize = 5;

impl Pool {
    /// Returns all cached blocks to the device, and the number of their bytes to the caller. Live blocks stay.
    pub(crate) fn release_all(&self) -> u64 {
        self.join_finished(Patience::Endless);
        self.empty_cache(|_, _| ())
    }

    /// Step (4): empties the cache unless the device can provide `bytes` and still has at least the reserve free.
    pub(super) fn keep_reserve(&self, bytes: usize) {
        let free = self.memory.info().free;
        let left = free.checked_sub(bytes as u64).filter(|&left| left > 0);
        if left.is_none_or(|left| left < self.reserve_bytes) {
            self.flush();
        }
    }

    /// Empties the cache to make room. Counts this as a flush if a block was released.
    fn flush(&self) -> u64 {
        self.join_finished(Patience::Endless);
        self.empty_cache(|stats, bytes| {
            stats.flushes += 1;
            stats.flushed_bytes += bytes;
        })
    }

    fn empty_cache(&self, count: impl FnOnce(&mut PoolStats, u64)) -> u64 {
        let (segments, bytes) = self.frozen(|books, caches| {
            search::gather(books, caches);
            let segments = books.drain();
            let bytes = segments.iter().map(|segment| segment.bytes as u64).sum();
            if !segments.is_empty() {
                count(&mut books.stats, bytes);
                self.begin_return();
            }
            (segments, bytes)
        });
        if !segments.is_empty() {
            self.finish_return(segments);
        }
        bytes
    }

    /// Announces that memory has left the pool's shared data but is not yet returned to the device;
    /// [`finish_return`](Self::finish_return) must follow. The caller holds the lock of the shared data.
    pub(super) fn begin_return(&self) {
        self.returning.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns to the device the memory that [`begin_return`](Self::begin_return) announced. The caller holds no lock.
    pub(super) fn finish_return(&self, segments: impl IntoIterator<Item = Segment>) {
        let _returning = Returning(self);
        segments.into_iter().for_each(|segment| self.give_back(segment));
    }

    /// Steps (5) to (7): makes a block from new memory of the device; if it refuses, makes room and repeats the
    /// request.
    pub(super) fn request(self: &Arc<Self>, class: SizeClass, request: &mut Option<Request>) -> Result<RecordRef> {
        let requested = request.as_ref().map_or(0, |request| request.size);
        let mut refusal = match self.attempt(class, request) {
            Ok(record) => return Ok(record),
            Err(error) => error,
        };
        let mut released = 0;
        if self.caches {
            released += self.make_room();
            refusal = match self.attempt_all(class, request) {
                Ok(record) => return Ok(record),
                Err(error) => error,
            };
        }
        if self.hooks.run(&Pressure { device: self.device, requested_bytes: requested as u64 }) {
            let freed = self.make_room();
            released += freed;
            {
                let mut books = self.books.lock();
                books.stats.pressure_rounds += 1;
                books.stats.pressure_bytes += freed;
            }
            refusal = match self.attempt_all(class, request) {
                Ok(record) => return Ok(record),
                Err(error) => error,
            };
        }
        Err(self.explain(refusal, requested, released))
    }

    /// Makes one attempt. If the device refuses and the pool had requested more than the block needs, requests fewer
    /// bytes.
    fn attempt_all(self: &Arc<Self>, class: SizeClass, request: &mut Option<Request>) -> Result<RecordRef> {
        let outcome = self.attempt(class, request);
        let refused = |error: &Error| matches!(error.kind(), ErrorKind::OutOfMemory { .. });
        if self.joins && outcome.as_ref().is_err_and(refused) {
            let least = self.books.lock().container.least_bytes(class);
            if let Some(bytes) = least {
                return self.allocate_bytes(bytes, class, request);
            }
        }
        outcome
    }

    /// Makes one request to the device. If the pool joins blocks, first searches the container again, because a block
    /// may have become free meanwhile.
    fn attempt(self: &Arc<Self>, class: SizeClass, request: &mut Option<Request>) -> Result<RecordRef> {
        if !self.joins {
            return self.allocate_bytes(class.block_bytes, class, request);
        }
        let mut growth = match self.hit_or_begin(class, request) {
            Ok(record) => return Ok(record),
            Err(growth) => growth,
        };
        if let Growth::Reserve(lengths) = growth {
            let growable = self.memory.growable();
            let range = lengths.into_iter().find_map(|bytes| Some((reserve(growable?, bytes)?, bytes)));
            if let Some((start, bytes)) = range {
                self.books.lock().container.add_range(start, bytes);
            }
            growth = match self.hit_or_begin(class, request) {
                Ok(record) => return Ok(record),
                Err(growth) => growth,
            };
        }
        match growth {
            Growth::Allocate(bytes) => self.allocate_bytes(bytes, class, request),
            Growth::Reserve(_) => Err(self.refused(refused(self.device, class.block_bytes))),
            Growth::Commit(claim) => {
                let (ptr, bytes) = (claim.ptr(), claim.len);
                // SAFETY: these units are in a reservation of this device, have no memory, and were set aside for this
                // thread.
                let outcome = self.memory.growable().map(|growable| unsafe { growable.commit(ptr, bytes) });
                if let Some(Ok(())) = outcome {
                    return Ok(self.grown(
                        Grown { ptr, bytes, pool: Arc::as_ptr(self), claim: Some(claim) },
                        class,
                        request,
                    ));
                }
                self.books.lock().container.not_grown(claim);
                let error = outcome.and_then(Result::err);
                Err(self.refused(error.unwrap_or_else(|| refused(self.device, bytes))))
            }
        }
    }

    /// Takes a block from the container, or if there is none, decides how to grow.
    fn hit_or_begin(&self, class: SizeClass, request: &mut Option<Request>) -> std::result::Result<RecordRef, Growth> {
        let mut books = self.books.lock();
        match books.take(class) {
            Some(record) => {
                books.hit(record, taken(request));
                Ok(record)
            }
            None => Err(books.container.begin_growth(class)),
        }
    }

    fn allocate_bytes(
        self: &Arc<Self>,
        bytes: usize,
        class: SizeClass,
        request: &mut Option<Request>,
    ) -> Result<RecordRef> {
        // If the pool requests more memory than the block has, later blocks will use the excess, so all of it counts as
        // used.
        let used =
            request.as_ref().map_or(bytes, |request| if bytes == class.block_bytes { request.size } else { bytes });
        let ptr = self.memory.allocate_for(bytes, used).map_err(|error| self.refused(error))?;
        let ptr = self.aligned(ptr, bytes)?;
        Ok(self.grown(Grown { ptr, bytes, pool: Arc::as_ptr(self), claim: None }, class, request))
    }

    fn grown(&self, grown: Grown, class: SizeClass, request: &mut Option<Request>) -> RecordRef {
        records::grown(self.device, grown.ptr, grown.bytes);
        let request = taken(request);
        self.with_books(|books| books.grow(grown, class, request))
    }

    /// Counts a refusal by the device and returns its error.
    fn refused(&self, error: Error) -> Error {
        self.books.lock().stats.refusals += 1;
        error
    }

    /// Empties the cache and waits for other threads that are returning memory.
    fn make_room(&self) -> u64 {
        let released = self.flush();
        // Waiting is rare and takes as long as the device needs to take memory back, so polling is sufficient.
        let mut n_naps = 0;
        while self.returning.load(Ordering::Acquire) > 0 && n_naps < RETURN_NAPS {
            mxrs_sync::thread::sleep(RETURN_NAP);
            n_naps += 1;
        }
        released
    }

    /// Rejects a pointer that violates the device's promise of alignment.
    fn aligned(&self, ptr: NonNull<u8>, bytes: usize) -> Result<NonNull<u8>> {
        if ptr.addr().get().is_multiple_of(ALIGNMENT) {
            return Ok(ptr);
        }
        // SAFETY: the device has just returned this pointer for this size, and no other code has it.
        unsafe { self.memory.free(ptr, bytes) };
        let message = format!("{} allocated {ptr:p}, which is not a multiple of {ALIGNMENT}", self.device);
        Err(Error::new(ErrorKind::Backend { backend: "device memory", message }))
    }

    /// Adds the pool's byte counts to an out-of-memory error, and the size of the request to any other error.
    fn explain(&self, error: Error, requested: usize, released: u64) -> Error {
        match error.kind() {
            ErrorKind::OutOfMemory { .. } => self.out_of_memory(requested, released),
            _ => error.context(format!("allocating {requested} bytes on {}", self.device)),
        }
    }

    pub(super) fn out_of_memory(&self, requested: usize, released: u64) -> Error {
        let device_info = self.memory.info();
        let (stats, tags, largest_cached) = self.frozen(|books, caches| {
            let with_threads = caches.iter().map(|cache| cache.largest_bytes()).max().unwrap_or(0);
            let largest = with_threads.max(books.container.largest_bytes());
            (books.snapshot(search::with_threads(caches)), search::tags(books), largest as u64)
        });
        let mut hint = format!("the device reports {} of {} bytes free", device_info.free, device_info.total);
        if released > 0 {
            hint += &format!(", after {released} cached bytes were released");
        }
        hint += &format!("; at most {} bytes were held so far", stats.peak_reserved);
        let mut lead = "; largest live tags: ";
        for (tag, of_tag) in tags.iter().take(N_TAGS) {
            hint += &format!("{lead}{tag} {} bytes in {} blocks", of_tag.bytes, of_tag.blocks);
            lead = ", ";
        }
        let waste = stats.live_blocks_bytes - stats.live_requested;
        let variable = Setting::Kind.variable(self.device.kind);
        hint += &match self.caches {
            true => format!("; rounding takes {waste} bytes of the live blocks, {variable} chooses how to round"),
            false if self.device.kind == DeviceKind::CpuShared => "; shared blocks are not pooled".to_owned(),
            false => format!("; {} blocks are not pooled ({variable})", device_word(self.device.kind)),
        };
        if self.joins {
            let (bytes, pieces) = (stats.cached_bytes, stats.cached_blocks);
            hint += &format!("; {bytes} cached bytes lie between live blocks in {pieces} pieces");
        }
        hint += "; use a smaller batch or release arrays that are no longer needed";
        Error::new(ErrorKind::OutOfMemory {
            device: self.device,
            requested: requested as u64,
            live: stats.live_blocks_bytes,
            cached: stats.cached_bytes,
            largest_cached,
            hint,
        })
    }
}

/// Takes the request out of the option, because only one block can have it.
fn taken(request: &mut Option<Request>) -> Request {
    match request.take() {
        Some(request) => request,
        None => unreachable!("the request was given to a block that was not found"),
    }
}

/// Marks a thread as returning blocks. Dropping it, also during a panic of the device, lets waiting threads continue.
struct Returning<'a>(&'a Pool);

impl Drop for Returning<'_> {
    fn drop(&mut self) {
        // The child of a fork resets the count to 0, possibly while the forking thread has a `Returning`. So the count must
        // not wrap below 0. Release: a thread that reads 0 finds the memory returned.
        let _ = self.0.returning.fetch_update(Ordering::Release, Ordering::Relaxed, |n| n.checked_sub(1));
    }
}
