//! Making arrays, on the host and on devices.

use super::chunk::{Chunk, Memory};
use super::{Handle, NdArray};
use crate::device::{RegisteredDevice, allocate_idle};
use crate::recorded::Slot;
use crate::{ArrayContext, ArrayMemory, Element};
use mxrs_engine::{Engine, Property, RunContext, Var};
use mxrs_storage::{Block, Storage, Tag};
use mxrs_types::{DType, Device, DeviceKind, DeviceStream, Error, Result, ResultExt, Shape};
use std::sync::Arc;

impl NdArray {
    /// Makes an array with unspecified content: zeros if the memory is fresh from the system. Waits for nothing if the
    /// array is on a device or in pinned memory.
    ///
    /// # Errors
    /// Fails if memory is short, the size overflows, or the device is neither host memory nor registered.
    pub fn empty(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        device: Device,
        name: impl Into<String>,
    ) -> Result<Self> {
        let home = context.registered().find(device)?;
        Self::allocate(context.engine(), context.storage(), home, (shape.into(), dtype), device, Tag::new(name.into()))
    }

    fn allocate(
        engine: &Engine,
        storage: &Storage,
        home: Option<&Arc<RegisteredDevice>>,
        (shape, dtype): (Shape, DType),
        device: Device,
        tag: Tag,
    ) -> Result<Self> {
        let n_bytes = shape.checked_size_bytes(dtype)?;
        if matches!(device.kind, DeviceKind::Cpu | DeviceKind::CpuShared) {
            // Copies to and from devices go through pinned memory, so no device still uses a block of these two kinds, and
            // there are no events to wait for.
            let block = storage.allocate(device, n_bytes, tag)?;
            return Ok(Self::of_block(engine, block, engine.new_var(), None, (shape, dtype), device));
        }
        let (block, events) = storage.allocate_with_events(device, n_bytes, tag)?;
        Ok(Self::of_block(engine, block, engine.new_var_after(events), home, (shape, dtype), device))
    }

    /// Makes an array in the pinned memory of the device `home`. No pending work uses the memory, so the host may write it
    /// immediately.
    pub(super) fn idle_pinned(&self, home: &RegisteredDevice) -> Result<Self> {
        Self::idle(self.engine(), &home.storage, (self.0.shape.clone(), self.0.dtype), home.pinned(), &STAGING)
    }

    /// Makes an array of the same shape in the memory of `device`, for one copy. `device` is the device `home` itself, or
    /// the pinned memory for it.
    pub(super) fn temporary(&self, home: &Arc<RegisteredDevice>, device: Device) -> Result<Self> {
        let of = if device.is_host() { None } else { Some(home) };
        let (shape, dtype) = (self.0.shape.clone(), self.0.dtype);
        Self::allocate(self.engine(), &home.storage, of, (shape, dtype), device, STAGING)
    }

    /// Makes an array in host memory that no device uses.
    fn idle(engine: &Engine, storage: &Storage, of: (Shape, DType), device: Device, tag: &Tag) -> Result<Self> {
        let block = allocate_idle(storage, device, of.0.checked_size_bytes(of.1)?, tag)?;
        Ok(Self::of_block(engine, block, engine.new_var(), None, of, device))
    }

    pub(super) fn of_block(
        engine: &Engine,
        block: Block,
        var: Var,
        home: Option<&Arc<RegisteredDevice>>,
        of: (Shape, DType),
        device: Device,
    ) -> Self {
        Self::of_memory(engine, Memory::of_block(block, home), var, of, device)
    }

    pub(super) fn of_memory(
        engine: &Engine,
        memory: Memory,
        var: Var,
        (shape, dtype): (Shape, DType),
        device: Device,
    ) -> Self {
        let chunk = Arc::new(Chunk::new(memory, var, engine.clone()));
        Self(Arc::new(Handle { chunk, shape, dtype, device, offset_bytes: 0, slot: Slot::default() }))
    }

    /// Makes an array of zeros in CPU memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::empty`].
    pub fn zeros(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType) -> Result<Self> {
        Self::zeros_on(context, shape, dtype, Device::cpu(0))
    }

    /// Makes an array of zeros on `device`. On a device that the host cannot access, a task writes them.
    ///
    /// # Errors
    /// Returns the errors of [`Self::empty`].
    pub fn zeros_on(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType, device: Device) -> Result<Self> {
        if device.is_host() {
            let of = (shape.into(), dtype);
            let array = Self::idle(context.engine(), context.storage(), of, device, &Tag::new("zeros"))?;
            // SAFETY: the array was just made in host memory that no device uses, so there is no other handle and no
            // pending task.
            unsafe { array.bytes_mut() }.fill(0);
            return Ok(array);
        }
        let array = Self::empty(context, shape, dtype, device, "zeros")?;
        let Some(home) = array.home().cloned() else { return Ok(array) };
        let to = array.clone();
        let task = context.engine().task("zeros").write(array.var()).device(device).property(Property::Normal);
        task.push(move |run| {
            // SAFETY: this task writes the array's variable, so other users of the memory are ordered before or after it.
            // The memory is freed only after the events of this task's work.
            unsafe { home.copies.fill_zero(stream_of(run)?, to.as_ptr(), to.size_bytes()) }
        })
        .context(|| format!("filling an array on {device} with zeros"))?;
        Ok(array)
    }

    /// Makes an array of these elements in CPU memory.
    ///
    /// # Errors
    /// Fails if the number of elements does not fit the shape, or for a reason of [`Self::empty`].
    pub fn from_slice<T: Element>(context: &ArrayContext, shape: impl Into<Shape>, elements: &[T]) -> Result<Self> {
        Self::from_bytes(context, shape, T::DTYPE, bytemuck::cast_slice(elements))
    }

    /// [`Self::from_slice`] on `device`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_slice`].
    pub fn from_slice_on<T: Element>(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        elements: &[T],
        device: Device,
    ) -> Result<Self> {
        Self::from_bytes_on(context, shape, T::DTYPE, bytemuck::cast_slice(elements), device)
    }

    /// Makes an array in CPU memory whose elements have these bytes (row-major, native endian).
    ///
    /// # Errors
    /// Fails if the number of bytes differs from the shape's, and for the reasons of [`Self::empty`].
    pub fn from_bytes(context: &ArrayContext, shape: impl Into<Shape>, dtype: DType, bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_on(context, shape, dtype, bytes, Device::cpu(0))
    }

    /// [`Self::from_bytes`] on `device`. On a device that the host cannot access, the bytes are copied to pinned memory, and
    /// a task copies them to the device.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`].
    pub fn from_bytes_on(
        context: &ArrayContext,
        shape: impl Into<Shape>,
        dtype: DType,
        bytes: &[u8],
        device: Device,
    ) -> Result<Self> {
        let shape = shape.into();
        check_len(&shape, dtype, bytes.len())?;
        if device.is_host() {
            let array =
                Self::idle(context.engine(), context.storage(), (shape, dtype), device, &Tag::new("from_bytes"))?;
            // SAFETY: the array was just made in host memory that no device uses, so there is no other handle and no
            // pending task.
            unsafe { array.bytes_mut() }.copy_from_slice(bytes);
            return Ok(array);
        }
        let array = Self::empty(context, shape, dtype, device, "from_bytes")?;
        array.upload_bytes(bytes)?;
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
        check_len(&shape, dtype, block.len())?;
        let engine = context.engine();
        Ok(Self::of_block(engine, block, engine.new_var(), None, (shape, dtype), Device::cpu(0)))
    }

    pub(crate) fn check_len(&self, len_bytes: usize) -> Result<()> {
        check_len(&self.0.shape, self.0.dtype, len_bytes)
    }
}

/// The tag of memory through which copies go.
const STAGING: Tag = Tag { name: std::borrow::Cow::Borrowed("staging"), scope: std::borrow::Cow::Borrowed("<unk>:") };

/// Checks that an array has `len_bytes` bytes.
pub(super) fn check_len(shape: &Shape, dtype: DType, len_bytes: usize) -> Result<()> {
    let expected = shape.checked_size_bytes(dtype)?;
    if len_bytes == expected {
        return Ok(());
    }
    let expected = format!("{expected} bytes for {dtype} {shape}");
    Err(Error::invalid("array content", format!("{len_bytes} bytes"), expected))
}

/// The stream of a task for a device.
pub(super) fn stream_of(run: &RunContext) -> Result<&dyn DeviceStream> {
    match run.stream() {
        Some(stream) => Ok(&**stream),
        None => Err(Error::not_built(format!("copies on {}", run.device()), "the engine has no streams of it")),
    }
}
