//! A byte buffer aligned for every element type, without unsafe code. The buffer owns its memory, or the caller lends it.

use mxrs_types::Result;
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Bytes whose start is aligned to 8, so that they can be viewed as elements of any type.
pub struct AlignedBytes {
    memory: Memory,
    len: usize,
}

enum Memory {
    Words(Vec<u64>),
    Lent(Box<dyn Lent>),
}

/// Memory, aligned to 8 bytes, that the caller lends so that an array is read into it.
pub trait Lent: Any + Send + Sync {
    /// The bytes of the memory.
    fn bytes(&self) -> &[u8];
    /// The bytes of the memory, for writing.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Whether the owner of the memory will itself read the array later. The reader then skips the array's bytes, which
    /// begin at byte `offset` of the file and are as long as the memory. Called only if the elements are stored in the
    /// host's byte order and need no check.
    fn read_later(&mut self, offset: u64) -> bool {
        let _ = offset;
        false
    }
}

/// Lends memory for arrays, so that they are read directly into it and need no copy. It is called with a size only after a
/// check that the file contains that many bytes.
#[derive(Clone)]
pub struct Lender(Arc<dyn Fn(usize) -> Result<Box<dyn Lent>> + Send + Sync>);

impl Lender {
    /// Creates a lender from a function that returns memory of the given number of bytes, with any content, or an error.
    pub fn new(lend: impl Fn(usize) -> Result<Box<dyn Lent>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lend))
    }

    /// Returns memory of `len` bytes with any content. If the lent memory has another size or is not aligned, newly
    /// allocated memory is returned instead.
    ///
    /// # Errors
    /// Returns the errors of the lending function.
    pub fn lend(&self, len: usize) -> Result<AlignedBytes> {
        let memory = (self.0)(len)?;
        let is_fit = memory.bytes().len() == len && memory.bytes().as_ptr().align_offset(8) == 0;
        Ok(if is_fit { AlignedBytes { memory: Memory::Lent(memory), len } } else { AlignedBytes::zeroed(len) })
    }
}

/// Two lenders are equal if they are clones of the same lender.
impl PartialEq for Lender {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Lender {}

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lender")
    }
}

impl Default for AlignedBytes {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

/// The copy is in newly allocated memory, even if the original is in lent memory.
impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        Self::copy_of(self)
    }
}

impl AlignedBytes {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self { memory: Memory::Words(vec![0; len.div_ceil(8)]), len }
    }

    /// `len` zero bytes, or `None` if there is not enough memory. Used for lengths that a file states, because the file
    /// may be shorter than it states.
    pub(crate) fn try_zeroed(len: usize) -> Option<Self> {
        let mut probe: Vec<u64> = Vec::new();
        probe.try_reserve_exact(len.div_ceil(8)).ok()?;
        // `black_box` keeps the compiler from removing the unused allocation.
        std::hint::black_box(probe.as_ptr());
        drop(probe);
        // `vec![0; n]` gets zeroed pages from the system without writing to them; `Vec::resize` would write them.
        Some(Self::zeroed(len))
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }

    /// Changes the length. Added bytes are zero.
    pub(crate) fn resize(&mut self, len: usize) {
        let used = self.len;
        match &mut self.memory {
            Memory::Words(words) => words.resize(len.div_ceil(8), 0),
            Memory::Lent(memory) => {
                let mut words = vec![0; len.div_ceil(8)];
                let kept = used.min(len);
                bytemuck::cast_slice_mut(&mut words)[..kept].copy_from_slice(&memory.bytes()[..kept]);
                self.memory = Memory::Words(words);
            }
        }
        self.len = len;
        if len > used {
            self[used..].fill(0);
        }
    }

    /// Whether the bytes are lent memory whose owner will read them itself, from byte `offset` of the file.
    pub(crate) fn read_later(&mut self, offset: u64) -> bool {
        match &mut self.memory {
            Memory::Words(_) => false,
            Memory::Lent(memory) => memory.read_later(offset),
        }
    }

    /// The lent memory, if it has the type `T`.
    ///
    /// # Errors
    /// Returns `self` unchanged if the bytes are not lent memory of the type `T`.
    pub fn into_lent<T: Lent>(self) -> std::result::Result<Box<T>, Self> {
        let Self { memory, len } = self;
        match memory {
            Memory::Lent(memory) if (&*memory as &dyn Any).is::<T>() => {
                let memory: Box<dyn Any> = memory;
                memory.downcast().map_err(|_| Self::zeroed(len))
            }
            memory => Err(Self { memory, len }),
        }
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.memory {
            Memory::Words(words) => &bytemuck::cast_slice(words)[..self.len],
            Memory::Lent(memory) => memory.bytes(),
        }
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Words(words) => &mut bytemuck::cast_slice_mut(words)[..self.len],
            Memory::Lent(memory) => memory.bytes_mut(),
        }
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> Self {
        Self::copy_of(bytes)
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for AlignedBytes {}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Page(Vec<u64>);

    impl Lent for Page {
        fn bytes(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
        fn bytes_mut(&mut self) -> &mut [u8] {
            bytemuck::cast_slice_mut(&mut self.0)
        }
    }

    #[test]
    fn lent_memory_is_written_and_comes_back() {
        let lender = Lender::new(|len| Ok(Box::new(Page(vec![7; len / 8]))));
        let mut bytes = lender.lend(16).unwrap();
        assert_eq!((bytes.len(), bytes[0]), (16, 7));
        bytes[1] = 9;
        let copy = bytes.clone();
        assert_eq!(copy, bytes);
        assert!(copy.into_lent::<Page>().is_err());
        assert_eq!(bytes.into_lent::<Page>().map_err(|_| ()).unwrap().0, [0x0907, 7]);
        // Lent memory of another size than requested is not used.
        assert!(lender.lend(12).unwrap().into_lent::<Page>().is_err());
        let mut bytes = lender.lend(16).unwrap();
        bytes.resize(9);
        bytes.resize(11);
        assert_eq!(*bytes, [7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0]);
        assert!(lender == lender.clone() && lender != Lender::new(|_| Ok(Box::new(Page(vec![])))));
    }

    #[test]
    fn is_aligned_and_keeps_its_length() {
        for len in 0..20 {
            let bytes = AlignedBytes::zeroed(len);
            assert_eq!(bytes.len(), len);
            assert_eq!(bytes.as_ptr().align_offset(8), 0);
        }
    }

    #[test]
    fn growing_after_shrinking_shows_zeros() {
        let mut bytes = AlignedBytes::copy_of(&[1, 2, 3, 4, 5]);
        bytes.resize(2);
        bytes.resize(9);
        assert_eq!(&*bytes, &[1, 2, 0, 0, 0, 0, 0, 0, 0]);
    }
}
