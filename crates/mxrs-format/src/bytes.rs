//! A byte buffer aligned for every element type, without unsafe code.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes whose start is aligned to 8, so that they can be viewed as any element type.
#[derive(Clone, Default)]
pub struct AlignedBytes {
    words: Vec<u64>,
    len: usize,
}

impl AlignedBytes {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(8)], len }
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
        self.words.resize(len.div_ceil(8), 0);
        self.len = len;
        if len > used {
            self[used..].fill(0);
        }
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
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
