//! Memory that is filled first and becomes an array later.

use crate::ArrayContext;
use mxrs_storage::{Block, Tag};
use mxrs_types::{Device, Result};

/// CPU memory with a single owner, aligned like all [storage](mxrs_storage).
#[derive(Debug)]
pub struct ArrayMemory(Block);

impl ArrayMemory {
    /// Allocates `len` bytes with unspecified content.
    ///
    /// # Errors
    /// Fails if memory is short.
    pub fn new(context: &ArrayContext, len: usize) -> Result<Self> {
        Ok(Self(context.storage().allocate(Device::cpu(0), len, Tag::new("array"))?))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block is aligned host memory of this length, which only `self` owns. Host memory is allocated zeroed,
        // so its bytes are initialized.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block is aligned host memory of this length, which only `self` owns, and `self` is borrowed mutably.
        // Host memory is allocated zeroed, so its bytes are initialized.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr(), self.0.len()) }
    }

    pub(crate) fn into_block(self) -> Block {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NdArray;
    use mxrs_engine::{Engine, EngineConfig};
    use mxrs_storage::{Storage, StorageConfig};
    use mxrs_types::DType;

    #[test]
    fn an_array_takes_its_memory_over() {
        let engine = Engine::new(EngineConfig::default()).unwrap();
        let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
        let mut memory = ArrayMemory::new(&context, 12).unwrap();
        memory.bytes_mut().copy_from_slice(bytemuck::cast_slice(&[1.0f32, 2.0, 3.0]));
        let place = memory.bytes().as_ptr();
        let array = NdArray::from_memory(&context, [3], DType::F32, memory).unwrap();
        assert_eq!((array.to_vec::<f32>().unwrap(), array.as_ptr().cast_const()), (vec![1.0, 2.0, 3.0], place));
        let short = ArrayMemory::new(&context, 11).unwrap();
        let error = NdArray::from_memory(&context, [3], DType::F32, short).unwrap_err().to_string();
        assert!(error.contains("11 bytes") && error.contains("12 bytes"), "{error}");
        let empty = ArrayMemory::new(&context, 0).unwrap();
        assert_eq!(NdArray::from_memory(&context, [0, 3], DType::F32, empty).unwrap().size_bytes(), 0);
    }
}
