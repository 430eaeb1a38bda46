//! The array handle: memory, what orders its users, and access to the elements. `array/views.rs` has views.

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

/// A block and the variable that orders its users. Dropping the last handle deletes the variable, which frees the
/// block after every pending use.
struct Chunk {
    block: Option<Block>,
    var: Var,
    engine: Engine,
    writes: Writes,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            // After engine shutdown the block is freed here and now: `delete_var` runs or drops the closure.
            self.engine.delete_var(self.var.clone(), move || drop(block));
        }
    }
}

/// A dense array handle: cheap to clone, `Send` and `Sync`; clones and views share storage. Clones are the same array also to whoever
/// [records](Recorded) what is done with it; views are arrays of their own.
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
    /// An array whose content is whatever the memory held: zeros when it is fresh from the system.
    ///
    /// # Errors
    /// Out of memory, or a size that does not fit.
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

    /// An array of zeros in CPU memory.
    ///
    /// # Errors
    /// As [`Self::empty`].
    pub fn zeros(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType) -> Result<Self> {
        let array = Self::empty(context, shape, dtype, Device::cpu(0), "zeros")?;
        // SAFETY: the array was just made; no other handle exists and no task was pushed.
        unsafe { array.bytes_mut() }.fill(0);
        Ok(array)
    }

    /// An array of these elements in CPU memory.
    ///
    /// # Errors
    /// A length that is not the shape's, or as [`Self::empty`].
    pub fn from_slice<T: Element>(context: &ArrayContext, shape: impl Into<Shape>, elements: &[T]) -> Result<Self> {
        Self::from_bytes(context, shape, T::DTYPE, bytemuck::cast_slice(elements))
    }

    /// An array of these bytes (row-major, native endian) in CPU memory.
    ///
    /// # Errors
    /// A length that is not the shape's, or as [`Self::empty`].
    pub fn from_bytes(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType, bytes: &[u8]) -> Result<Self> {
        let array = Self::empty(context, shape, dtype, Device::cpu(0), "from_bytes")?;
        array.check_len(bytes.len())?;
        // SAFETY: the array was just made; no other handle exists and no task was pushed.
        unsafe { array.bytes_mut() }.copy_from_slice(bytes);
        Ok(array)
    }

    /// An array of what this memory holds (row-major, native endian); nothing is copied.
    ///
    /// # Errors
    /// A length that is not the shape's.
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

    /// Where the memory is.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Bytes of this view.
    pub fn size_bytes(&self) -> usize {
        self.0.shape.n_elements() * self.0.dtype.size_of()
    }

    /// The variable that orders readers and writers of the storage; views share it.
    pub fn var(&self) -> &Var {
        &self.0.chunk.var
    }

    /// The engine this array was made with.
    pub fn engine(&self) -> &Engine {
        &self.0.chunk.engine
    }

    /// Whether two handles share storage.
    pub fn shares_storage(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.chunk, &other.0.chunk)
    }

    /// Start of this view's memory. Reading or writing it is only sound inside an engine task that reads or writes
    /// [`Self::var`], on a host device.
    pub fn as_ptr(&self) -> *mut u8 {
        let base = self.0.chunk.block.as_ref().map_or(std::ptr::null_mut(), Block::as_ptr);
        base.wrapping_add(self.0.offset_bytes)
    }

    /// # Safety
    /// No writer runs while the slice lives.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.size_bytes() == 0 {
            return &[];
        }
        // SAFETY: the view lies inside the block (checked when the view was made), the block lives as long as `self`,
        // and the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.size_bytes()) }
    }

    /// # Safety
    /// Nobody else reads or writes while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn bytes_mut(&self) -> &mut [u8] {
        if self.size_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: as in `bytes`; the caller excludes every other user.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.size_bytes()) }
    }

    /// Runs `f` over the bytes as an engine task that reads them, and waits for it.
    ///
    /// # Errors
    /// The deferred error of whoever should have written the array; `NotBuilt` for device memory.
    pub fn read_bytes<R: Send + 'static>(&self, f: impl FnOnce(&[u8]) -> R + Send + 'static) -> Result<R> {
        self.check_host()?;
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
        // Waiting alone would leave a window in which another thread's writer starts; the read is a task of its own.
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let view = self.clone();
        self.0.chunk.engine.task("read_bytes").read(&self.0.chunk.var).device(Device::cpu(0)).push(move |_| {
            // SAFETY: this task holds the variable for reading, so no writer runs.
            let result = f(unsafe { view.bytes() });
            // The receiver waits below; a closed channel only means that it gave up.
            drop(sender.send(result));
            Ok(())
        })?;
        receiver.recv().or_else(|_| {
            // The task was skipped because a failure arrived between the wait and the push.
            self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
            Err(Error::invalid("read", "a skipped task", "an array whose producer succeeded"))
        })
    }

    /// The elements, after pending writes.
    ///
    /// # Errors
    /// A deferred error, a wrong element type, or device memory.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_dtype::<T>()?;
        self.read_bytes(|bytes| bytemuck::pod_collect_to_vec(bytes))
    }

    /// Overwrites the elements, after every pending use; returns once they are stored.
    ///
    /// # Errors
    /// A wrong length or element type, a deferred error, device memory, or the refusal of a [recorder](Recorded).
    #[track_caller]
    pub fn copy_from<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.copy_from_bytes(bytemuck::cast_slice(elements))
    }

    /// As [`Self::copy_from`], from row-major bytes.
    ///
    /// # Errors
    /// As [`Self::copy_from`].
    #[track_caller]
    pub fn copy_from_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.check_len(bytes.len())?;
        self.check_host()?;
        self.note_write()?;
        let owned: Box<[u8]> = bytes.into();
        let view = self.clone();
        self.0.chunk.engine.task("copy_from").write(&self.0.chunk.var).device(Device::cpu(0)).push(move |_| {
            // SAFETY: this task holds the variable for writing, so nobody else uses the memory.
            unsafe { view.bytes_mut() }.copy_from_slice(&owned);
            Ok(())
        })?;
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }

    /// Overwrites the elements with those of another array, once both are free; returns at once.
    ///
    /// # Errors
    /// Another shape or dtype, device memory, or the refusal of a recorder.
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
                // SAFETY: this task holds the one variable for writing; `copy` allows overlap.
                unsafe { std::ptr::copy(from.as_ptr(), to.as_ptr(), n_bytes) };
                Ok(())
            });
        }
        let var = from.var().clone();
        task.read(&var).push(move |_| {
            // SAFETY: this task holds one variable for reading and the other for writing.
            unsafe { to.bytes_mut().copy_from_slice(from.bytes()) };
            Ok(())
        })
    }

    /// Waits for pending writes.
    ///
    /// # Errors
    /// The deferred error of a failed writer.
    pub fn wait_to_read(&self) -> Result<()> {
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }

    pub(crate) fn check_host(&self) -> Result<()> {
        if self.0.device.is_host() {
            return Ok(());
        }
        Err(Error::not_built(format!("host access to {}", self.0.device), "copy the array to cpu(0) first"))
    }

    /// What a recorder keeps with this array.
    pub fn recorded(&self) -> Option<Arc<dyn Recorded>> {
        self.0.slot.get()
    }

    /// Replaces what a recorder keeps with this array and all clones of it.
    pub fn set_recorded(&self, recorded: Option<Arc<dyn Recorded>>) {
        self.0.slot.set(recorded);
    }

    /// Counts a write that is about to be pushed, with the place in the program that asked for it. Whoever pushes tasks
    /// that write [`Self::var`] calls this, so that recorders notice that a value they rely on is gone.
    ///
    /// # Errors
    /// The recorder's refusal.
    #[track_caller]
    pub fn note_write(&self) -> Result<()> {
        let site = Location::caller();
        if let Some(recorded) = self.recorded() {
            recorded.before_write(site)?;
        }
        self.count_write(site);
        Ok(())
    }

    /// As [`Self::note_write`], for a write that no recorder may refuse (an operator that rewrites its input).
    pub fn count_write(&self, site: &'static Location<'static>) {
        self.0.chunk.writes.note(site);
    }

    /// Number of writes [noted](Self::note_write) so far, to any array of this storage.
    pub fn n_writes(&self) -> u64 {
        self.0.chunk.writes.count()
    }

    /// Where the last of them was asked for.
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
