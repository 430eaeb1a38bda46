//! The heaps under comparison: one interface for our pools and for C's allocators.

use anyhow::{Result, bail};
use mxrs_storage::{Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;

/// An allocator under comparison.
pub trait Heap: Sync {
    /// A live block of memory; dropping it releases the memory.
    type Block: Send;

    /// Allocates `bytes` bytes, at least 1.
    ///
    /// # Errors
    /// Fails if there is not enough memory.
    fn allocate(&self, bytes: usize) -> Result<Self::Block>;

    /// Bytes that the heap holds from the system, as the heap itself reports.
    fn held(&self) -> Held;
}

/// Bytes a heap holds from the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes held now.
    pub now: u64,
    /// The most bytes held so far; `None` if the heap does not record that.
    pub peak: Option<u64>,
}

/// A heap to measure, selected on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// glibc's malloc.
    Glibc,
    /// mimalloc.
    Mimalloc,
    /// Our pool of this kind, with the documented settings.
    Pool(PoolKind),
}

impl Choice {
    /// All heaps, the peers first.
    pub fn all() -> Vec<Self> {
        [Self::Glibc, Self::Mimalloc].into_iter().chain(PoolKind::ALL.map(Self::Pool)).collect()
    }

    /// Name of the heap on the command line and in the table.
    pub fn word(self) -> String {
        match self {
            Self::Glibc => "glibc".into(),
            Self::Mimalloc => "mimalloc".into(),
            Self::Pool(kind) => kind.word().into(),
        }
    }

    /// The heap with this name.
    ///
    /// # Errors
    /// Fails if no heap has this name.
    pub fn parse(word: &str) -> Result<Self> {
        match Self::all().into_iter().find(|choice| choice.word() == word) {
            Some(choice) => Ok(choice),
            None => bail!("no heap is called {word}"),
        }
    }

    /// Why the heap cannot be measured; `None` if it can.
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Glibc if !cfg!(all(target_os = "linux", target_env = "gnu")) => {
                Some("this system's C library is another".into())
            }
            Self::Mimalloc if !cfg!(feature = "mimalloc") => {
                Some("build with the feature mimalloc (compiles C)".into())
            }
            _ => None,
        }
    }
}

/// One of our pools, used through the public interface of storage.
pub struct Pool(Storage);

impl Pool {
    /// Creates a pool of this kind.
    ///
    /// # Errors
    /// Fails if the settings are invalid.
    pub fn new(kind: PoolKind) -> Result<Self> {
        Ok(Self(Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind)))?))
    }
}

impl Heap for Pool {
    type Block = Block;

    fn allocate(&self, bytes: usize) -> Result<Block> {
        Ok(self.0.allocate(Device::cpu(0), bytes, Tag::from("trace"))?)
    }

    fn held(&self) -> Held {
        let stats = self.0.stats(Device::cpu(0));
        Held { now: stats.reserved, peak: Some(stats.peak_reserved) }
    }
}

/// glibc's `malloc` and `free`.
pub struct Glibc;

/// Memory from `malloc`.
pub struct GlibcBlock(*mut libc::c_void);

// SAFETY: memory from `malloc` may be freed on any thread, and the pointer has one owner.
unsafe impl Send for GlibcBlock {}

impl Drop for GlibcBlock {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `malloc`, is owned by this block, and is freed only in this `drop`.
        unsafe { libc::free(self.0) }
    }
}

impl Heap for Glibc {
    type Block = GlibcBlock;

    fn allocate(&self, bytes: usize) -> Result<GlibcBlock> {
        // SAFETY: `malloc` accepts any size. `black_box` keeps the compiler from removing the pair of `malloc` and `free`.
        let block = std::hint::black_box(unsafe { libc::malloc(bytes) });
        anyhow::ensure!(!block.is_null(), "malloc has no {bytes} bytes");
        Ok(GlibcBlock(block))
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn held(&self) -> Held {
        // SAFETY: the function has no arguments and returns a struct of integers.
        let info = unsafe { libc::mallinfo2() };
        Held { now: (info.arena + info.hblkhd) as u64, peak: None }
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn held(&self) -> Held {
        Held::default()
    }
}

#[cfg(feature = "mimalloc")]
pub use self::mimalloc::Mimalloc;

#[cfg(feature = "mimalloc")]
mod mimalloc {
    //! mimalloc, linked under its own function names, so that the C library's `malloc` stays in place.

    use super::{Heap, Held};
    use anyhow::{Result, ensure};
    use libmimalloc_sys::{mi_free, mi_malloc, mi_process_info, mi_version};
    use std::ffi::c_void;
    use std::ptr;

    /// `mi_malloc` and `mi_free`.
    pub struct Mimalloc;

    impl Mimalloc {
        /// The version as text, such as `3.1.5`.
        pub fn version_text() -> String {
            // SAFETY: the function has no arguments and returns an integer such as 315.
            let version = unsafe { mi_version() };
            format!("{}.{}.{}", version / 100, version / 10 % 10, version % 10)
        }
    }

    /// Memory from `mi_malloc`.
    pub struct MimallocBlock(*mut c_void);

    // SAFETY: memory from `mi_malloc` may be freed on any thread, and the pointer has one owner.
    unsafe impl Send for MimallocBlock {}

    impl Drop for MimallocBlock {
        fn drop(&mut self) {
            // SAFETY: the pointer came from `mi_malloc`, is owned by this block, and is freed only in this `drop`.
            unsafe { mi_free(self.0) }
        }
    }

    impl Heap for Mimalloc {
        type Block = MimallocBlock;

        fn allocate(&self, bytes: usize) -> Result<MimallocBlock> {
            // SAFETY: `mi_malloc` accepts any size.
            let block = std::hint::black_box(unsafe { mi_malloc(bytes) });
            ensure!(!block.is_null(), "mi_malloc has no {bytes} bytes");
            Ok(MimallocBlock(block))
        }

        fn held(&self) -> Held {
            let (mut now, mut peak) = (0, 0);
            let nowhere = ptr::null_mut;
            // SAFETY: `now` and `peak` are writable `usize`; the function skips null pointers.
            unsafe {
                mi_process_info(nowhere(), nowhere(), nowhere(), nowhere(), nowhere(), &mut now, &mut peak, nowhere());
            }
            Held { now: now as u64, peak: Some(peak as u64) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A size so large that no heap keeps such a block in reserve: glibc maps each block of more than 32 MiB.
    const LARGE: usize = 40 << 20;

    /// Checks that a heap holds at least the live bytes. Some heaps count for the whole process, where another test may free
    /// memory between the two readings; then the check is repeated.
    fn holds_what_is_live<H: Heap>(heap: &H) {
        let mut seen = Vec::new();
        for _ in 0..20 {
            let before = heap.held().now;
            let blocks: Vec<_> = (0..4).map(|_| heap.allocate(LARGE).unwrap()).collect();
            let held = heap.held();
            assert!(held.peak.is_none_or(|peak| peak >= held.now), "{held:?}");
            drop(blocks);
            if held.now >= before + 4 * LARGE as u64 {
                return;
            }
            seen.push((held.now, before));
        }
        panic!("never as much more as was allocated: {seen:?}");
    }

    #[test]
    fn every_heap_accounts_for_its_blocks() {
        for kind in PoolKind::ALL {
            holds_what_is_live(&Pool::new(kind).unwrap());
        }
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        holds_what_is_live(&Glibc);
    }

    #[test]
    fn words_lead_back() {
        for choice in Choice::all() {
            assert_eq!(Choice::parse(&choice.word()).unwrap(), choice);
        }
        assert_eq!(Choice::parse("jemalloc").unwrap_err().to_string(), "no heap is called jemalloc");
    }
}
