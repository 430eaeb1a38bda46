//! Growing a pool: the reserve, the request, and what is tried when the device refuses.

use super::Pool;
use crate::config::{Setting, device_word};
use crate::pressure::Pressure;
use crate::{ALIGNMENT, PoolStats};
use mxrs_sync::atomic::Ordering;
use mxrs_types::{Error, ErrorKind, Result};
use std::ptr::NonNull;
use std::time::Duration;

/// How a refused request waits for other threads that are returning blocks to the device: in naps, for 10 s at most.
const RETURN_NAP: Duration = Duration::from_micros(200);
const RETURN_NAPS: u32 = 50_000;

/// How many tags an error names.
const N_TAGS: usize = 5;

impl Pool {
    /// Returns all cached blocks to the device; live ones stay. Answers how many bytes that were.
    pub(crate) fn release_all(&self) -> u64 {
        self.empty_cache(|_, _| ())
    }

    /// Step (4): empties the cache unless the device can give `bytes` and keep its reserve.
    pub(super) fn keep_reserve(&self, bytes: usize) {
        let free = self.memory.info().free;
        let left = free.checked_sub(bytes as u64).filter(|&left| left > 0);
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
        let (segments, bytes) = self.frozen(|books, caches| {
            for cache in caches {
                cache.take_all().into_iter().for_each(|record| books.put(record));
            }
            let segments = books.drain();
            let bytes = segments.iter().map(|segment| segment.bytes as u64).sum();
            if !segments.is_empty() {
                count(&mut books.stats, bytes);
                self.returning.fetch_add(1, Ordering::Relaxed);
            }
            (segments, bytes)
        });
        if !segments.is_empty() {
            let _returning = Returning(self);
            segments.into_iter().for_each(|segment| self.give_back(segment));
        }
        bytes
    }

    /// Steps (5) to (7): `bytes` from the device, if need be after making room. `requested` is what the owner asked for.
    pub(super) fn request(&self, requested: usize, bytes: usize) -> Result<NonNull<u8>> {
        let mut refusal = match self.ask(bytes) {
            Ok(ptr) => return Ok(ptr),
            Err(error) => error,
        };
        let mut released = 0;
        if self.caches {
            released += self.make_room();
            refusal = match self.ask(bytes) {
                Ok(ptr) => return Ok(ptr),
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
            refusal = match self.ask(bytes) {
                Ok(ptr) => return Ok(ptr),
                Err(error) => error,
            };
        }
        Err(self.explain(refusal, requested, released))
    }

    /// One request; a refusal is counted.
    fn ask(&self, bytes: usize) -> Result<NonNull<u8>> {
        match self.memory.allocate(bytes) {
            Ok(ptr) => self.aligned(ptr, bytes),
            Err(error) => {
                self.books.lock().stats.refusals += 1;
                Err(error)
            }
        }
    }

    /// Empties the cache and waits for other threads that are emptying it.
    fn make_room(&self) -> u64 {
        let released = self.flush();
        // Rare, and as long as the device takes: naps will do.
        let mut n_naps = 0;
        while self.returning.load(Ordering::Acquire) > 0 && n_naps < RETURN_NAPS {
            mxrs_sync::thread::sleep(RETURN_NAP);
            n_naps += 1;
        }
        released
    }

    /// Refuses a pointer that breaks the device's promise.
    fn aligned(&self, ptr: NonNull<u8>, bytes: usize) -> Result<NonNull<u8>> {
        if ptr.addr().get().is_multiple_of(ALIGNMENT) {
            return Ok(ptr);
        }
        // SAFETY: the device has just returned this pointer for this size, and nobody else has seen it.
        unsafe { self.memory.free(ptr, bytes) };
        let message = format!("{} allocated {ptr:p}, which is not a multiple of {ALIGNMENT}", self.device);
        Err(Error::new(ErrorKind::Backend { backend: "device memory", message }))
    }

    /// Adds the pool's view to "no memory"; other errors of the device pass with a note of what was tried.
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
            (books.snapshot(super::search::with_threads(caches)), super::search::tags(books), largest as u64)
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
            false => format!("; {} blocks are not pooled ({variable})", device_word(self.device.kind)),
        };
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

/// While it exists a thread is returning blocks; dropping it, also in a panic of the device, lets those who wait go on.
struct Returning<'a>(&'a Pool);

impl Drop for Returning<'_> {
    fn drop(&mut self) {
        // A child of a fork starts again from 0 while its own thread may be in here. Release: whoever waits for 0 finds the
        // memory back at the device.
        let _ = self.0.returning.fetch_update(Ordering::Release, Ordering::Relaxed, |n| n.checked_sub(1));
    }
}
