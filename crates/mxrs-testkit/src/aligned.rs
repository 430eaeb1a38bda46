//! Memory for test tensors: aligned to 64 bytes, with guard bytes after the end.

use mxrs_op::elements;
use mxrs_types::DType;

/// One cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The content of guard bytes. Floats that consist of them are large negative numbers, not zero.
const GUARD: u8 = 0xC5;

/// Bytes aligned to 64, as kernels expect their tensors, followed by guard bytes that reveal a write beyond the end.
#[derive(Clone, Debug)]
pub struct AlignedBuffer {
    lines: Vec<Line>,
    len_bytes: usize,
}

impl AlignedBuffer {
    /// A buffer of `len_bytes` zero bytes.
    pub fn zeroed(len_bytes: usize) -> Self {
        let mut buffer = Self { lines: vec![Line([GUARD; 64]); len_bytes.div_ceil(64) + 1], len_bytes };
        buffer.bytes_mut().fill(0);
        buffer
    }

    /// A buffer of `len_bytes` bytes with a pattern that is NaN in every float type, which reveals elements that were not
    /// written.
    pub fn poisoned(len_bytes: usize) -> Self {
        let mut buffer = Self::zeroed(len_bytes);
        buffer.bytes_mut().fill(0xFF);
        buffer
    }

    /// A buffer with a copy of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        buffer
    }

    /// A buffer of these numbers as elements of `dtype`; see [`elements::write_f64`] for the rounding.
    pub fn from_f64(values: &[f64], dtype: DType) -> Self {
        let mut buffer = Self::zeroed(values.len() * dtype.size_of());
        elements::write_f64(values, dtype, buffer.bytes_mut());
        buffer
    }

    /// The elements as `f64`.
    pub fn to_f64(&self, dtype: DType) -> Vec<f64> {
        elements::read_f64(self.bytes(), dtype)
    }

    /// The length in bytes, without the guard.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The bytes, without the guard.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len_bytes]
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len_bytes]
    }

    /// Whether the guard after the end is unchanged.
    pub fn guard_is_intact(&self) -> bool {
        bytemuck::cast_slice::<Line, u8>(&self.lines)[self.len_bytes..].iter().all(|b| *b == GUARD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_and_guarded() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let buffer = AlignedBuffer::zeroed(len);
            assert_eq!(buffer.bytes().as_ptr() as usize % 64, 0);
            assert_eq!(buffer.bytes().len(), len);
            assert!(buffer.guard_is_intact());
        }
        let mut broken = AlignedBuffer::zeroed(10);
        bytemuck::cast_slice_mut::<Line, u8>(&mut broken.lines)[10] = 0;
        assert!(!broken.guard_is_intact());
    }

    #[test]
    fn poison_is_nan() {
        let poisoned = AlignedBuffer::poisoned(16);
        for dtype in DType::FLOATS {
            assert!(poisoned.to_f64(dtype).iter().all(|v| v.is_nan()), "{dtype}");
        }
    }
}
