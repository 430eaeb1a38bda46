//! Arrays over memory that belongs to other code.

use super::NdArray;
use super::chunk::Memory;
use super::make::check_len;
use crate::ArrayContext;
use mxrs_types::{DType, Device, Error, Result, Shape};
use std::ptr::NonNull;

/// Memory of other code, and the function that gives it back, which is called once, when this is dropped.
pub(super) struct Foreign {
    pub(super) start: NonNull<u8>,
    give_back: Option<Box<dyn FnOnce() + Send>>,
}

// SAFETY: the address is used only as that of any array, under the engine's rules, and `from_foreign` requires memory that
// is not tied to a thread. The function is `Send`.
unsafe impl Send for Foreign {}
// SAFETY: a shared reference gives access to the address only; the function is called through the owner.
unsafe impl Sync for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(give_back) = self.give_back.take() {
            give_back();
        }
    }
}

impl NdArray {
    /// Makes an array over `n_bytes` of host memory that belongs to other code (row-major, native endian), without copying.
    /// `give_back` is called exactly once: when the last array over the memory is gone and all tasks that use it are done,
    /// on any thread; or before this function returns an error.
    ///
    /// # Errors
    /// Fails if the number of bytes differs from the shape's, or the address is null or not aligned to the element type.
    ///
    /// # Safety
    /// Until `give_back` is called, the `n_bytes` bytes at `start` are initialized host memory that may be read and written
    /// on any thread, and other code uses them only in the engine's order: inside tasks that read or write
    /// [`var`](Self::var), or while no such task is pending.
    pub unsafe fn from_foreign(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        start: *mut u8,
        n_bytes: usize,
        give_back: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        // An error drops this value, which gives the memory back.
        let mut foreign = Foreign { start: NonNull::dangling(), give_back: Some(Box::new(give_back)) };
        let shape = shape.into();
        check_len(&shape, dtype, n_bytes)?;
        if n_bytes > 0 {
            let align = dtype.size_of();
            let is_aligned = start.addr().is_multiple_of(align);
            foreign.start = NonNull::new(start).filter(|_| is_aligned).ok_or_else(|| {
                let expected = format!("memory at a multiple of {align} bytes, as {dtype} needs; or copy the elements");
                Error::invalid("memory of an array", format!("the address {start:p}"), expected)
            })?;
        }
        let engine = context.engine();
        let memory = Memory::Foreign(Box::new(foreign));
        Ok(Self::of_memory(engine, memory, engine.new_var(), (shape, dtype), Device::cpu(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::later::tests::context;
    use mxrs_engine::EngineKind;
    use mxrs_sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;

    #[test]
    fn memory_is_given_back_once_after_the_last_use() {
        for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
            let context = context(kind);
            let n_given_back = Arc::new(AtomicUsize::new(0));
            let (counter, mut memory) = (Arc::clone(&n_given_back), vec![1.0f32, 2.0, 3.0, 4.0]);
            let start = memory.as_mut_ptr();
            let give_back = move || {
                assert_eq!(memory, [1.0, 2.0, 7.0, 8.0]);
                counter.fetch_add(1, Ordering::SeqCst);
            };
            // SAFETY: the closure owns the vector, and only the array uses it before the closure is called.
            let array = unsafe { NdArray::from_foreign(&context, [2, 2], DType::F32, start.cast(), 16, give_back) };
            let array = array.unwrap();
            assert_eq!(array.as_ptr().addr(), start.addr());
            let row = array.slice(1, 2).unwrap();
            assert_eq!(row.to_vec::<f32>().unwrap(), [3.0, 4.0]);
            drop(array);
            context.engine().wait_for_all().unwrap();
            assert_eq!(n_given_back.load(Ordering::SeqCst), 0);
            let nap = |_: &mxrs_engine::RunContext| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                Ok(())
            };
            context.engine().task("slow").read(row.var()).push(nap).unwrap();
            row.copy_from_owned([7.0f32, 8.0].map(f32::to_ne_bytes).concat()).unwrap();
            drop(row);
            context.engine().wait_for_all().unwrap();
            assert_eq!(n_given_back.load(Ordering::SeqCst), 1);
        }
    }

    #[test]
    fn bad_memory_is_refused_and_given_back() {
        let context = context(EngineKind::Naive);
        let n_given_back = Arc::new(AtomicUsize::new(0));
        let memory = [0u64; 4];
        let start = memory.as_ptr().cast_mut().cast::<u8>();
        let cases =
            [(start, 15, "15 bytes"), (start.wrapping_add(2), 16, "multiple of 4"), (std::ptr::null_mut(), 16, "0x0")];
        for (nth, (start, n_bytes, expected)) in cases.into_iter().enumerate() {
            let counter = Arc::clone(&n_given_back);
            let give_back = move || {
                counter.fetch_add(1, Ordering::SeqCst);
            };
            // SAFETY: the memory is refused, so no array uses it.
            let made = unsafe { NdArray::from_foreign(&context, [4], DType::F32, start, n_bytes, give_back) };
            let text = made.unwrap_err().to_string();
            assert!(text.contains(expected), "{text}");
            assert_eq!(n_given_back.load(Ordering::SeqCst), nth + 1);
        }
        // SAFETY: an array without elements uses no memory.
        let empty =
            unsafe { NdArray::from_foreign(&context, [0], DType::F32, std::ptr::null_mut(), 0, || ()) }.unwrap();
        assert_eq!(empty.to_vec::<f32>().unwrap(), Vec::<f32>::new());
    }
}
