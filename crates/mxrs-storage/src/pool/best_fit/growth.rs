//! What a best-fit pool does on a miss.

use super::backing::Backing;
use super::{BestFitPool, pointer, segments};
use crate::ALIGNMENT;
use mxrs_types::{Error, ErrorKind, Result};

impl BestFitPool {
    /// Memory from the device for a block that no free memory fits; its address. If the device refuses, all free memory
    /// is returned and the request repeated; where segments are asked for, at last with no more than the block itself.
    #[cold]
    pub(super) fn grow(&self, size: usize, block_bytes: usize) -> Result<usize> {
        self.keep_reserve(block_bytes);
        if let Ok(start) = self.extend(size, block_bytes, segments::segment_bytes(block_bytes)) {
            return Ok(start);
        }
        let released = self.flush();
        self.wait_for_returns();
        let mut outcome = self.extend(size, block_bytes, segments::segment_bytes(block_bytes));
        let is_refused = |error: &Error| matches!(error.kind(), ErrorKind::OutOfMemory { .. });
        if matches!(self.backing, Backing::Segments)
            && block_bytes < segments::segment_bytes(block_bytes)
            && outcome.as_ref().is_err_and(is_refused)
        {
            outcome = self.extend(size, block_bytes, block_bytes);
        }
        outcome.map_err(|error| self.explain(error, size, released))
    }

    /// Returns all free memory unless the device can give what is missing and keep its reserve.
    fn keep_reserve(&self, block_bytes: usize) {
        let books = self.books.lock();
        if !books.has_free() {
            return;
        }
        let growth = match self.backing {
            Backing::Ranges { .. } => books.growth_bytes(block_bytes).unwrap_or(block_bytes),
            Backing::Segments => segments::segment_bytes(block_bytes),
        };
        drop(books);
        let free = self.memory.info().free;
        let left = free.checked_sub(growth as u64).filter(|&left| left > 0);
        if left.is_none_or(|left| left < self.reserve_bytes) {
            self.flush();
        }
    }

    /// One attempt: free memory, which another thread may have left meanwhile, or else growth.
    fn extend(&self, size: usize, block_bytes: usize, segment_bytes: usize) -> Result<usize> {
        let arena = self.backing.arena(block_bytes);
        if let Some(start) = self.books.lock().take(arena, size, block_bytes) {
            return Ok(start);
        }
        match self.backing {
            Backing::Ranges { .. } => self.extend_range(size, block_bytes),
            Backing::Segments => {
                let outcome = self.memory.allocate(segment_bytes);
                let ptr = outcome.inspect_err(|_| self.books.lock().refused())?;
                if !ptr.addr().get().is_multiple_of(ALIGNMENT) {
                    // SAFETY: the device has just returned this pointer for this size, and nobody else has seen it.
                    unsafe { self.memory.free(ptr, segment_bytes) };
                    let message = format!("{} allocated {ptr:p}, which is not a multiple of {ALIGNMENT}", self.device);
                    return Err(Error::new(ErrorKind::Backend { backend: "device memory", message }));
                }
                let segment = (ptr.expose_provenance().get(), segment_bytes);
                let start = self.books.lock().add_segment(segment, arena, size, block_bytes);
                start.ok_or_else(|| self.out_of_memory(size, 0))
            }
        }
    }

    /// Puts memory behind the addresses that a block needs beyond free memory.
    fn extend_range(&self, size: usize, block_bytes: usize) -> Result<usize> {
        let begun = self.books.lock().begin_growth(block_bytes);
        let growth = match begun {
            Some(growth) => growth,
            None => {
                let range = self.backing.another_range(self.memory.as_ref(), block_bytes);
                let mut books = self.books.lock();
                if let Some((start, len)) = range {
                    books.add_range(start, len);
                }
                match books.begin_growth(block_bytes) {
                    Some(growth) => growth,
                    None => {
                        books.refused();
                        drop(books);
                        return Err(self.out_of_memory(size, 0));
                    }
                }
            }
        };
        let Some(growable) = self.memory.growable() else {
            self.books.lock().not_grown(growth);
            return Err(self.out_of_memory(size, 0));
        };
        // SAFETY: these units lie in a reservation of this device, have no memory, and were set aside for this thread.
        match unsafe { growable.commit(pointer(growth.start), growth.len) } {
            Ok(()) => Ok(self.books.lock().grown(growth, size, block_bytes)),
            Err(error) => {
                self.books.lock().not_grown(growth);
                Err(error)
            }
        }
    }
}
