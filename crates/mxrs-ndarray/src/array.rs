//! The array handle: memory, the variable that orders its users, and access to its elements. `array/views.rs` has the
//! views.

mod views;

use crate::recorded::Slot;
use crate::writes::Writes;
use crate::{ArrayContext, ArrayMemory, Element, Recorded};
use mxrs_engine::{Engine, Var};
use mxrs_storage::{Block, Storage, Tag};
use mxrs_types::{DType, Device, Error, Result, Shape};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A block of storage and the variable that orders its users. Dropping the last handle deletes the variable, which
/// frees the block after all pending uses.
struct Chunk {
    block: Option<Block>,
    var: Var,
    engine: Engine,
    writes: Writes,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            // After the engine has stopped the block is freed immediately: `delete_var` runs or drops the closure.
            self.engine.delete_var(self.var.clone(), move || drop(block));
        }
    }
}

/// A dense array. The handle is cheap to clone, `Send` and `Sync`; clones and views share storage. A
/// [recorder](Recorded) treats clones as the same array, and views as separate arrays.
#[derive(Clone)]
pub struct NdArray(Arc<Handle>);

struct Handle {
    chunk: Arc<Chunk>,
    shape: Shape,
    dtype: DType,
    device: Device,
    offset_bytes: usize,
    slot: Slot,
}

impl NdArray {
    /// Makes an array with unspecified content: zeros if the memory is fresh from the system.
    ///
    /// # Errors
    /// Fails if memory is short, or the size overflows.
    pub fn empty(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        device: Device,
        name: impl Into<String>,
    ) -> Result<Self> {
        let shape = shape.into();
        let size_bytes = shape.checked_size_bytes(dtype)?;
        let block = Self::allocate(context.storage(), device, size_bytes, name.into())?;
        Ok(Self::of_block(context, block, shape, dtype, device))
    }

    fn of_block(context: &ArrayContext, block: Block, shape: Shape, dtype: DType, device: Device) -> Self {
        let engine = context.engine().clone();
        let chunk = Chunk { block: Some(block), var: engine.new_var(), engine, writes: Writes::default() };
        let slot = Slot::default();
        Self(Arc::new(Handle { chunk: Arc::new(chunk), shape, dtype, device, offset_bytes: 0, slot }))
    }

    fn allocate(storage: &Storage, device: Device, size_bytes: usize, name: String) -> Result<Block> {
        storage.allocate(device, size_bytes, Tag::new(name))
    }

    /// Makes an array of zeros in CPU memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::empty`].
    pub fn zeros(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType) -> Result<Self> {
        let array = Self::empty(context, shape, dtype, Device::cpu(0), "zeros")?;
        // SAFETY: the array was just made, so there is no other handle and no pending task.
        unsafe { array.bytes_mut() }.fill(0);
        Ok(array)
    }

    /// Makes an array of these elements in CPU memory.
    ///
    /// # Errors
    /// Fails if the number of elements does not fit the shape, or for a reason of [`Self::empty`].
    pub fn from_slice<T: Element>(context: &ArrayContext, shape: impl Into<Shape>, elements: &[T]) -> Result<Self> {
        Self::from_bytes(context, shape, T::DTYPE, bytemuck::cast_slice(elements))
    }

    /// Makes an array in CPU memory whose elements have these bytes (row-major, native endian).
    ///
    /// # Errors
    /// Fails if the number of bytes differs from the shape's, and for the reasons of [`Self::empty`].
    pub fn from_bytes(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType, bytes: &[u8]) -> Result<Self> {
        let array = Self::empty(context, shape, dtype, Device::cpu(0), "from_bytes")?;
        array.check_len(bytes.len())?;
        // SAFETY: the array was just made, so there is no other handle and no pending task.
        unsafe { array.bytes_mut() }.copy_from_slice(bytes);
        Ok(array)
    }

    /// Makes an array of this memory (row-major, native endian) without copying.
    ///
    /// # Errors
    /// Fails if the number of bytes differs from the shape's.
    pub fn from_memory(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        memory: ArrayMemory,
    ) -> Result<Self> {
        let (shape, block) = (shape.into(), memory.into_block());
        let expected = shape.checked_size_bytes(dtype)?;
        if block.len() != expected {
            let expected = format!("{expected} bytes for {dtype} {shape}");
            return Err(Error::invalid("array content", format!("{} bytes", block.len()), expected));
        }
        Ok(Self::of_block(context, block, shape, dtype, Device::cpu(0)))
    }

    pub(crate) fn check_len(&self, len_bytes: usize) -> Result<()> {
        if len_bytes == self.size_bytes() {
            return Ok(());
        }
        let expected = format!("{} bytes for {} {}", self.size_bytes(), self.0.dtype, self.0.shape);
        Err(Error::invalid("array content", format!("{len_bytes} bytes"), expected))
    }

    fn check_dtype<T: Element>(&self) -> Result<()> {
        if T::DTYPE == self.0.dtype {
            return Ok(());
        }
        Err(Error::invalid("element type", T::DTYPE, format!("{} of the array", self.0.dtype)))
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The device of the memory.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The size of this view in bytes.
    pub fn size_bytes(&self) -> usize {
        self.0.shape.n_elements() * self.0.dtype.size_of()
    }

    /// The variable that orders readers and writers of the storage, which views share.
    pub fn var(&self) -> &Var {
        &self.0.chunk.var
    }

    /// The engine of this array.
    pub fn engine(&self) -> &Engine {
        &self.0.chunk.engine
    }

    /// Whether two handles share storage.
    pub fn shares_storage(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.chunk, &other.0.chunk)
    }

    /// The start of this view's memory. It may be read or written only on a host device, and inside an engine task that
    /// reads or writes [`Self::var`].
    pub fn as_ptr(&self) -> *mut u8 {
        let base = self.0.chunk.block.as_ref().map_or(std::ptr::null_mut(), Block::as_ptr);
        base.wrapping_add(self.0.offset_bytes)
    }

    /// # Safety
    /// No writer runs while the slice exists.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.size_bytes() == 0 {
            return &[];
        }
        // SAFETY: the view is inside the block (checked when the view was made), the block lives as long as `self`, and
        // the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.size_bytes()) }
    }

    /// # Safety
    /// No other code reads or writes the memory while the slice exists.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn bytes_mut(&self) -> &mut [u8] {
        if self.size_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: the view is inside the block, the block lives as long as `self`, and the caller excludes all other
        // users.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.size_bytes()) }
    }

    /// Runs `f` over the bytes of this array in an engine task that reads the array, and waits for the result.
    ///
    /// # Errors
    /// Returns the deferred error of the task that should have written the array. Fails with `NotBuilt` for device
    /// memory.
    pub fn read_bytes<R: Send + 'static>(&self, f: impl FnOnce(&[u8]) -> R + Send + 'static) -> Result<R> {
        self.check_host()?;
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
        // The read is a task, because another thread could start a writer after the wait above.
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let view = self.clone();
        self.0.chunk.engine.task("read_bytes").read(&self.0.chunk.var).device(Device::cpu(0)).push(move |_| {
            // SAFETY: this task holds the variable for reading, so no writer runs.
            let result = f(unsafe { view.bytes() });
            // The receiver waits below; if it is gone, the result is not needed.
            drop(sender.send(result));
            Ok(())
        })?;
        receiver.recv().or_else(|_| {
            // The task was skipped, because a writer that was pushed after the wait above has failed.
            self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
            Err(Error::invalid("read", "a skipped task", "an array whose producer succeeded"))
        })
    }

    /// Copies the elements to the host, after pending writes.
    ///
    /// # Errors
    /// Returns the deferred error of a writer. Fails for a wrong element type, and for device memory.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_dtype::<T>()?;
        self.read_bytes(|bytes| bytemuck::pod_collect_to_vec(bytes))
    }

    /// Overwrites the elements, after every pending use; returns once they are stored.
    ///
    /// # Errors
    /// Returns the deferred error of an earlier task. Fails for a wrong length or element type, for device memory, and
    /// if a [recorder](Recorded) refuses the write.
    #[track_caller]
    pub fn copy_from<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.copy_from_bytes(bytemuck::cast_slice(elements))
    }

    /// Like [`Self::copy_from`], but from row-major bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::copy_from`].
    #[track_caller]
    pub fn copy_from_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.check_len(bytes.len())?;
        self.check_host()?;
        self.note_write()?;
        let owned: Box<[u8]> = bytes.into();
        let view = self.clone();
        self.0.chunk.engine.task("copy_from").write(&self.0.chunk.var).device(Device::cpu(0)).push(move |_| {
            // SAFETY: this task holds the variable for writing, so no other code uses the memory.
            unsafe { view.bytes_mut() }.copy_from_slice(&owned);
            Ok(())
        })?;
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }

    /// Overwrites the elements with those of another array, after the pending uses of both; returns immediately.
    ///
    /// # Errors
    /// Fails if shape or dtype differ, for device memory, and if a recorder refuses the write.
    #[track_caller]
    pub fn copy_from_array(&self, from: &Self) -> Result<()> {
        if self.0.shape != from.0.shape || self.0.dtype != from.0.dtype {
            let expected = format!("{} {}", self.0.dtype, self.0.shape);
            return Err(Error::invalid("array to copy", format!("{} {}", from.0.dtype, from.0.shape), expected));
        }
        self.check_host()?;
        from.check_host()?;
        self.note_write()?;
        let (to, from) = (self.clone(), from.clone());
        let task = self.0.chunk.engine.task("copy").write(&self.0.chunk.var).device(Device::cpu(0));
        if to.shares_storage(&from) {
            let n_bytes = to.size_bytes();
            return task.push(move |_| {
                // SAFETY: this task holds the common variable for writing, so no other code uses the storage. Both views
                // have `n_bytes` bytes, because their shapes and dtypes are equal, and `copy` allows them to overlap.
                unsafe { std::ptr::copy(from.as_ptr(), to.as_ptr(), n_bytes) };
                Ok(())
            });
        }
        let var = from.var().clone();
        task.read(&var).push(move |_| {
            // SAFETY: this task holds the variable of `from` for reading and that of `to` for writing, so no other code
            // writes `from` or uses `to`. The arrays do not share storage.
            unsafe { to.bytes_mut().copy_from_slice(from.bytes()) };
            Ok(())
        })
    }

    /// Waits for pending writes.
    ///
    /// # Errors
    /// Returns the deferred error of a failed writer.
    pub fn wait_to_read(&self) -> Result<()> {
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }

    pub(crate) fn check_host(&self) -> Result<()> {
        if self.0.device.is_host() {
            return Ok(());
        }
        Err(Error::not_built(format!("host access to {}", self.0.device), "copy the array to cpu(0) first"))
    }

    /// The value that a recorder attached to this array.
    pub fn recorded(&self) -> Option<Arc<dyn Recorded>> {
        self.0.slot.get()
    }

    /// Replaces the value that a recorder attached to this array and all its clones.
    pub fn set_recorded(&self, recorded: Option<Arc<dyn Recorded>>) {
        self.0.slot.set(recorded);
    }

    /// Counts a write that is about to be pushed, and stores the calling line of the program. Code that pushes tasks which
    /// write [`Self::var`] must call this function, so that recorders know that a value which they need is lost.
    ///
    /// # Errors
    /// Returns the error with which a recorder refuses the write.
    #[track_caller]
    pub fn note_write(&self) -> Result<()> {
        let site = Location::caller();
        if let Some(recorded) = self.recorded() {
            recorded.before_write(site)?;
        }
        self.count_write(site);
        Ok(())
    }

    /// Like [`Self::note_write`], for a write that a recorder cannot refuse (an operator that rewrites its input).
    pub fn count_write(&self, site: &'static Location<'static>) {
        self.0.chunk.writes.note(site);
    }

    /// The number of [counted](Self::note_write) writes to any array of this storage.
    pub fn n_writes(&self) -> u64 {
        self.0.chunk.writes.count()
    }

    /// The line of the program that requested the last counted write to an array of this storage.
    pub fn last_write(&self) -> Option<&'static Location<'static>> {
        self.0.chunk.writes.last()
    }
}

impl fmt::Debug for NdArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<NdArray {} {} @{}>", self.0.dtype, self.0.shape, self.0.device)
    }
}

#[cfg(test)]
mod tests;
