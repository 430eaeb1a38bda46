//! The arrangement of a dense tensor's elements in memory.

use crate::{DType, Shape};
use smallvec::SmallVec;
use std::fmt;

/// The layout of a dense tensor.
///
/// `Blocked` covers every layout of activations that vendor libraries use (`nhwc`, `nChw16c`). `Opaque` is a packed
/// form of weights that only the named backend can read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// Row-major (C) order without padding.
    #[default]
    RowMajor,
    /// Outer axes with explicit strides, over inner blocks that are contiguous.
    Blocked {
        /// The sizes after each axis was padded to a multiple of its blocks.
        padded: SmallVec<[usize; 5]>,
        /// The stride of each outer axis, in elements.
        strides: SmallVec<[usize; 5]>,
        /// The inner blocks `(axis, size)`, outermost first.
        blocks: SmallVec<[(u8, u16); 2]>,
    },
    /// A packed form that only one backend reads.
    Opaque {
        /// Name of the backend that can read it.
        backend: &'static str,
        /// The number by which the backend identifies the packed form. Equal numbers mean the same order of elements.
        id: u64,
        /// The size in bytes.
        size_bytes: usize,
    },
}

impl Layout {
    /// The size of a tensor in this layout in bytes, including padding. It saturates at `usize::MAX` instead of
    /// wrapping.
    pub fn size_bytes(&self, shape: &Shape, dtype: DType) -> usize {
        match self {
            Self::RowMajor => shape.n_elements().saturating_mul(dtype.size_of()),
            Self::Blocked { padded, strides, blocks } => {
                if padded.contains(&0) {
                    return 0;
                }
                let inner: usize = blocks.iter().map(|b| b.1 as usize).product();
                let mut last = inner - 1;
                for (axis, (&size, &stride)) in padded.iter().zip(strides).enumerate() {
                    let block: usize = blocks.iter().filter(|b| b.0 as usize == axis).map(|b| b.1 as usize).product();
                    last = (size / block - 1).saturating_mul(stride).saturating_add(last);
                }
                last.saturating_add(1).saturating_mul(dtype.size_of())
            }
            Self::Opaque { size_bytes, .. } => *size_bytes,
        }
    }

    /// Whether this is plain row-major order.
    pub fn is_row_major(&self) -> bool {
        matches!(self, Self::RowMajor)
    }
}

impl fmt::Display for Layout {
    /// Prints `row-major`, a tag such as `aBcd16b`, or `backend#id`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowMajor => f.write_str("row-major"),
            Self::Blocked { strides, blocks, .. } => {
                let mut order: Vec<usize> = (0..strides.len()).collect();
                order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
                for axis in order {
                    let letter = (b'a' + axis as u8) as char;
                    let is_blocked = blocks.iter().any(|b| b.0 as usize == axis);
                    write!(f, "{}", if is_blocked { letter.to_ascii_uppercase() } else { letter })?;
                }
                for (axis, size) in blocks {
                    write!(f, "{size}{}", (b'a' + axis) as char)?;
                }
                Ok(())
            }
            Self::Opaque { backend, id, .. } => write!(f, "{backend}#{id:x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn blocked_size_counts_padding() {
        // The layout nChw16c of a 1x20x3x3 tensor, whose channels are padded to 32.
        let layout = Layout::Blocked {
            padded: smallvec![1, 32, 3, 3],
            strides: smallvec![2 * 3 * 3 * 16, 3 * 3 * 16, 3 * 16, 16],
            blocks: smallvec![(1, 16)],
        };
        assert_eq!(layout.size_bytes(&Shape::from([1, 20, 3, 3]), DType::F32), 32 * 9 * 4);
        assert_eq!(layout.to_string(), "aBcd16b");
    }

    #[test]
    fn row_major_size_is_dense() {
        assert_eq!(Layout::RowMajor.size_bytes(&Shape::from([2, 3]), DType::F16), 12);
    }
}
