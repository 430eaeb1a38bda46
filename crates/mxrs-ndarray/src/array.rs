//! The array handle: memory, the variable that orders its users, shape, dtype and device. `array/make.rs` makes arrays,
//! `array/access.rs` reads and writes elements, `array/copies.rs` copies between arrays, `array/views.rs` has the views,
//! `array/shared.rs`, `array/foreign.rs` and `array/dlpack.rs` share memory with other processes and libraries.

mod access;
mod chunk;
mod copies;
mod dlpack;
mod foreign;
mod make;
mod shared;
mod views;

use crate::Recorded;
use crate::device::RegisteredDevice;
use crate::recorded::Slot;
use chunk::Chunk;
use mxrs_engine::{Engine, Var};
use mxrs_types::{DType, Device, DeviceKind, Result, Shape};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

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
    /// Sizes of the axes.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The device of the memory, which MXNet calls the array's context.
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

    /// The start of this view's memory. The host may read or write it only on a host device, and inside an engine task that
    /// reads or writes [`Self::var`]. On another device it is an address for work on a stream of such a task.
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.chunk.start().wrapping_add(self.0.offset_bytes)
    }

    /// The device that copies to and from this array; `None` for host memory.
    pub(crate) fn home(&self) -> Option<&Arc<RegisteredDevice>> {
        self.0.chunk.home()
    }

    /// The device for which tasks that use this array on the host are pushed: its own if it is a `cpu`, else `cpu(0)`.
    pub(crate) fn host_worker(&self) -> Device {
        if self.0.device.kind == DeviceKind::Cpu { self.0.device } else { Device::cpu(0) }
    }

    /// # Safety
    /// The array is in host memory, and no writer runs while the slice exists.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.size_bytes() == 0 {
            return &[];
        }
        // SAFETY: the view is inside the block (checked when the view was made), the block lives as long as `self`, and
        // the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.size_bytes()) }
    }

    /// # Safety
    /// The array is in host memory, and no other code reads or writes the memory while the slice exists.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn bytes_mut(&self) -> &mut [u8] {
        if self.size_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: the view is inside the block, the block lives as long as `self`, and the caller excludes all other
        // users.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.size_bytes()) }
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
