//! Arrays in memory that other processes can map (`cpu_shared`).

use super::NdArray;
use crate::ArrayContext;
use mxrs_storage::{SharedHandle, SharedId, Tag};
use mxrs_types::{DType, Device, Error, Result, Shape};

impl NdArray {
    /// A descriptor of the memory of an array on `cpu_shared`, to be sent to another process, which opens it with
    /// [`Self::open_shared`]. Keep the array until then. The processes share the elements; each orders only its own tasks,
    /// so they have to agree on when to read and write.
    ///
    /// # Errors
    /// Fails for an array on another device, for a view that does not begin at the first element, for an array without
    /// elements, and if the process cannot open more descriptors.
    pub fn shared_handle(&self) -> Result<SharedHandle> {
        self.check_is_whole()?;
        let handle = self.0.chunk.block().map_or(Ok(None), mxrs_storage::Block::shared_handle)?;
        handle.ok_or_else(|| self.not_shared())
    }

    /// Identifies the memory of an array on `cpu_shared`, for [`SharedHandle::of`] in another process.
    ///
    /// # Errors
    /// Fails for the arrays for which [`Self::shared_handle`] fails.
    pub fn shared_id(&self) -> Result<SharedId> {
        self.check_is_whole()?;
        self.0.chunk.block().and_then(mxrs_storage::Block::shared_id).ok_or_else(|| self.not_shared())
    }

    /// Opens an array that another process, or this one, made on `cpu_shared`. Shape and dtype have to be sent along: the
    /// memory does not contain them.
    ///
    /// # Errors
    /// Fails if the descriptor is not that of shared memory, if the memory is shorter than the array or is freed already,
    /// and if the system refuses to map it.
    pub fn open_shared(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        handle: SharedHandle,
    ) -> Result<Self> {
        let shape = shape.into();
        let expected = shape.checked_size_bytes(dtype)?;
        let block = context.storage().open_shared(handle, Tag::new("shared"))?;
        if block.len() < expected {
            let expected = format!("at least {expected} bytes for {dtype} {shape}");
            return Err(Error::invalid("shared memory", format!("{} bytes", block.len()), expected));
        }
        let engine = context.engine();
        Ok(Self::of_block(engine, block, engine.new_var(), None, (shape, dtype), Device::cpu_shared(0)))
    }

    fn check_is_whole(&self) -> Result<()> {
        if self.0.offset_bytes == 0 {
            return Ok(());
        }
        let got = format!("a view that begins at byte {}", self.0.offset_bytes);
        Err(Error::invalid("array to share", got, "an array that begins at the first element of its memory"))
    }

    fn not_shared(&self) -> Error {
        let got = format!("{} bytes on {}", self.size_bytes(), self.0.device);
        Error::invalid("array to share", got, "an array with elements on cpu_shared; copy it there first")
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use mxrs_engine::{Engine, EngineConfig};
    use mxrs_storage::{Storage, StorageConfig};

    const SHARED: Device = Device::cpu_shared(0);

    fn context() -> ArrayContext {
        let engine = Engine::new(EngineConfig::default()).unwrap();
        ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap())
    }

    #[test]
    fn two_contexts_share_the_elements() {
        let (first, second) = (context(), context());
        let array = NdArray::from_slice_on(&first, [2, 3], &[1i32, 2, 3, 4, 5, 6], SHARED).unwrap();
        let opened = NdArray::open_shared(&second, [6], DType::I32, array.shared_handle().unwrap()).unwrap();
        assert_eq!((opened.device(), opened.to_vec::<i32>().unwrap()), (SHARED, vec![1, 2, 3, 4, 5, 6]));
        opened.slice(1, 2).unwrap().copy_from(&[20i32]).unwrap();
        assert_eq!(array.to_vec::<i32>().unwrap(), [1, 20, 3, 4, 5, 6]);
        let by_id = SharedHandle::of(array.shared_id().unwrap()).unwrap();
        drop(array);
        first.engine().wait_for_all().unwrap();
        let again = NdArray::open_shared(&second, [2], DType::I32, by_id).unwrap();
        assert_eq!(again.to_vec::<i32>().unwrap(), [1, 20], "a shorter array of the same memory");
        drop((opened, again));
        second.engine().wait_for_all().unwrap();
        assert_eq!([&first, &second].map(|context| context.storage().stats(SHARED).live_blocks), [0, 0]);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        let context = context();
        let text = |result: Result<SharedHandle>| result.map(drop).unwrap_err().to_string();
        let plain = NdArray::from_slice(&context, [2], &[1.0f32, 2.0]).unwrap();
        assert!(text(plain.shared_handle()).contains("8 bytes on cpu(0)") && plain.shared_id().is_err());
        let shared = NdArray::from_slice_on(&context, [2], &[1.0f32, 2.0], SHARED).unwrap();
        assert!(text(shared.slice(1, 2).unwrap().shared_handle()).contains("byte 4"));
        let handle = shared.shared_handle().unwrap();
        let opened = NdArray::open_shared(&context, [3], DType::F32, handle);
        assert!(opened.unwrap_err().to_string().contains("at least 12 bytes"));
        assert!(NdArray::zeros_on(&context, [0], DType::F32, SHARED).unwrap().shared_handle().is_err());
    }
}
