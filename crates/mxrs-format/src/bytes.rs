//! A byte buffer aligned for every element type, without unsafe code; or memory of the caller's.

use mxrs_types::Result;
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Bytes whose start is aligned to 8, so that they can be viewed as any element type.
pub struct AlignedBytes {
    memory: Memory,
    len: usize,
}

enum Memory {
    Words(Vec<u64>),
    Lent(Box<dyn Lent>),
}

/// Memory of the caller's that an array is read into. Aligned to 8 bytes.
pub trait Lent: Any + Send + Sync {
    /// The bytes, for reading.
    fn bytes(&self) -> &[u8];
    /// The bytes, for writing.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Whether the owner of the memory reads what belongs there later, himself: the reader passes over it then. It begins
    /// at this byte of the file and is as long as the memory. Asked only where elements are stored as this host has them
    /// and need no check.
    fn read_later(&mut self, offset: u64) -> bool {
        let _ = offset;
        false
    }
}

/// Who lends memory for arrays: what is read into it need not be copied there. Asked only for sizes that a file was seen to
/// have.
#[derive(Clone)]
pub struct Lender(Arc<dyn Fn(usize) -> Result<Box<dyn Lent>> + Send + Sync>);

impl Lender {
    /// One that lends so many bytes, of any content, or says why not.
    pub fn new(lend: impl Fn(usize) -> Result<Box<dyn Lent>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lend))
    }

    /// Memory of this many bytes, of any content; other memory when what was lent is of another size or not aligned.
    ///
    /// # Errors
    /// Those of the lender.
    pub fn lend(&self, len: usize) -> Result<AlignedBytes> {
        let memory = (self.0)(len)?;
        let is_fit = memory.bytes().len() == len && memory.bytes().as_ptr().align_offset(8) == 0;
        Ok(if is_fit { AlignedBytes { memory: Memory::Lent(memory), len } } else { AlignedBytes::zeroed(len) })
    }
}

/// Two are equal when they are the same.
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

/// A copy is never in lent memory.
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

    /// `len` zero bytes, or `None` if there is no memory for them: for lengths that a file states without having the bytes.
    pub(crate) fn try_zeroed(len: usize) -> Option<Self> {
        let mut probe: Vec<u64> = Vec::new();
        probe.try_reserve_exact(len.div_ceil(8)).ok()?;
        // An allocation that nobody sees may be left out.
        std::hint::black_box(probe.as_ptr());
        drop(probe);
        // Pages of zeros that the system gives are not written before they are used; `Vec::resize` would write them.
        Some(Self::zeroed(len))
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }

    /// Changes the length; new bytes are zero.
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

    /// Whether the owner of lent memory reads it later himself, from this byte of the file on.
    pub(crate) fn read_later(&mut self, offset: u64) -> bool {
        match &mut self.memory {
            Memory::Words(_) => false,
            Memory::Lent(memory) => memory.read_later(offset),
        }
    }

    /// The memory that was lent for it, if it is of this type; else the bytes again.
    ///
    /// # Errors
    /// The bytes, in other memory.
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
        // Another size than asked for is not taken.
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
