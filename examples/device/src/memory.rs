//! The memory of the device: a file, mapped into the addresses of the process.

use memmap2::MmapRaw;
use mxrs::storage::{ALIGNMENT, DeviceMemory, MemoryInfo};
use mxrs::types::{Device, Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mapped file, and a list of its free pieces. The pools of mxrs are above it: they keep freed memory for reuse.
pub struct FileMemory {
    device: Device,
    map: MmapRaw,
    /// Lengths of the free pieces in bytes, by offset. No two of them touch.
    free: Mutex<BTreeMap<usize, usize>>,
}

impl FileMemory {
    /// Makes and maps a new file of `n_bytes` bytes.
    ///
    /// # Errors
    /// Fails if the file exists, or if it cannot be made or mapped.
    pub fn create(device: Device, path: &Path, n_bytes: usize) -> Result<Self> {
        let map = File::options().read(true).write(true).create_new(true).open(path).and_then(|file| {
            file.set_len(n_bytes as u64)?;
            MmapRaw::map_raw(&file)
        });
        let map = map.map_err(|error| Error::io(path, &error))?;
        let free = Mutex::new(BTreeMap::from([(0, n_bytes / ALIGNMENT * ALIGNMENT)]));
        Ok(Self { device, map, free })
    }

    fn free_pieces(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: `allocate` returns pieces that do not overlap, at multiples of `ALIGNMENT` from the start of a page. A piece is
// not returned again until `free` puts it back. The mapping exists as long as this value, which a storage keeps until all
// memory is freed.
unsafe impl DeviceMemory for FileMemory {
    fn device(&self) -> Device {
        self.device
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        let short = || Error::out_of_memory(self.device, size_bytes as u64, "no free piece of the file is long enough");
        let size = size_bytes.checked_next_multiple_of(ALIGNMENT).ok_or_else(short)?;
        let mut free = self.free_pieces();
        let (offset, len) =
            free.iter().map(|(offset, len)| (*offset, *len)).find(|(_, len)| *len >= size).ok_or_else(short)?;
        free.remove(&offset);
        if len > size {
            free.insert(offset + size, len - size);
        }
        NonNull::new(self.map.as_mut_ptr().wrapping_add(offset)).ok_or_else(short)
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        let offset = ptr.addr().get() - self.map.as_mut_ptr().addr();
        let mut len = size_bytes.next_multiple_of(ALIGNMENT);
        let mut free = self.free_pieces();
        if let Some(next) = free.remove(&(offset + len)) {
            len += next;
        }
        match free.range_mut(..offset).next_back() {
            Some((previous, n)) if *previous + *n == offset => *n += len,
            _ => _ = free.insert(offset, len),
        }
    }

    fn info(&self) -> MemoryInfo {
        let free = self.free_pieces().values().sum::<usize>();
        MemoryInfo { free: free as u64, total: self.map.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_pieces_join() {
        let dir = tempfile::tempdir().unwrap();
        let memory = FileMemory::create(Device::gpu(0), &dir.path().join("memory"), 10 * ALIGNMENT + 1).unwrap();
        let pieces = [1, ALIGNMENT + 1, ALIGNMENT].map(|n| (memory.allocate(n).unwrap(), n));
        let offsets = pieces.map(|(ptr, _)| (ptr.addr().get() - pieces[0].0.addr().get()) / ALIGNMENT);
        assert_eq!(offsets, [0, 1, 3]);
        assert_eq!(memory.info().free, 6 * ALIGNMENT as u64);
        assert!(memory.allocate(7 * ALIGNMENT).is_err() && memory.allocate(usize::MAX).is_err());
        for index in [2, 0, 1] {
            // SAFETY: allocated above with this size, freed once, and not used.
            unsafe { memory.free(pieces[index].0, pieces[index].1) };
        }
        assert_eq!(*memory.free_pieces(), BTreeMap::from([(0, 10 * ALIGNMENT)]));
    }

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = FileMemory::create(Device::gpu(0), file.path(), 4096).err().unwrap().to_string();
        assert!(error.contains("exists"), "{error}");
    }
}
