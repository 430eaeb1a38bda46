//! Copies between arrays: between any two devices, and to and from the host.
//!
//! A copy is one engine task, or two with *staging* memory between them:
//!
//! | from | to | tasks |
//! |---|---|---|
//! | host | host | a copy by the host |
//! | pinned | device | an upload |
//! | other host memory | device | a copy by the host to pinned memory, an upload |
//! | device | pinned | a download |
//! | device | other host memory | a download to pinned memory, a copy by the host |
//! | device | same device | a copy on the device; two if the ranges overlap |
//! | device | another that it reaches | a copy between the devices |
//! | device | any other | a download to pinned memory, an upload |
//!
//! The engine orders the tasks by events of the devices, so the caller waits for nothing. A device uses only its own memory
//! and pinned memory. So a host task that uses no pinned memory never waits for a device.

use super::NdArray;
use super::make::stream_of;
use crate::ArrayContext;
use crate::device::RegisteredDevice;
use mxrs_engine::{OpName, Property, RunContext};
use mxrs_trace::operator;
use mxrs_types::{Device, DeviceKind, Error, Result, ResultExt};
use std::sync::Arc;

impl NdArray {
    /// Overwrites the elements with those of another array, after the pending uses of both; returns immediately. The arrays
    /// may be on different devices.
    ///
    /// # Errors
    /// Fails if shape or dtype differ, if memory for the copy is short, and if a [recorder](crate::Recorded) refuses the
    /// write.
    #[track_caller]
    pub fn copy_from_array(&self, from: &Self) -> Result<()> {
        self.copy_with_priority(from, 0)
    }

    /// [`Self::copy_from_array`] with a priority: a device's copy workers begin with copies of larger priority.
    ///
    /// # Errors
    /// Returns the errors of [`Self::copy_from_array`].
    #[track_caller]
    pub fn copy_with_priority(&self, from: &Self, priority: i32) -> Result<()> {
        self.expect_like(from)?;
        if self.home().is_none() && from.home().is_none() {
            self.note_write()?;
            return self.copy_on_host(from, "copy".into(), priority, Property::Normal);
        }
        let doing = || format!("copying {} to {}", from.0.device, self.0.device);
        let staging = self.staging(from).context(doing)?;
        self.note_write()?;
        self.push_copy(from, staging.as_ref(), None, priority).context(doing)
    }

    /// [`Self::copy_from_array`] with a name for its tasks, for code that [counts](Self::note_write) its writes itself, such
    /// as an executor.
    ///
    /// # Errors
    /// Fails if shape or dtype differ, or if memory for the copy is short.
    pub fn copy_named(&self, from: &Self, name: OpName) -> Result<()> {
        self.expect_like(from)?;
        if self.home().is_none() && from.home().is_none() {
            return self.copy_on_host(from, name, 0, Property::Normal);
        }
        let doing = || format!("copying {} to {}", from.0.device, self.0.device);
        let staging = self.staging(from).context(doing)?;
        self.push_copy(from, staging.as_ref(), Some(&name), 0).context(doing)
    }

    fn expect_like(&self, from: &Self) -> Result<()> {
        if self.0.shape == from.0.shape && self.0.dtype == from.0.dtype {
            return Ok(());
        }
        let expected = format!("{} {}", self.0.dtype, self.0.shape);
        Err(Error::invalid("array to copy", format!("{} {}", from.0.dtype, from.0.shape), expected))
    }

    /// Copies the elements to another array, as MXNet's `copyto` does with an array: the same as
    /// [`to.copy_from_array(self)`](Self::copy_from_array).
    ///
    /// # Errors
    /// Returns the errors of [`Self::copy_from_array`].
    #[track_caller]
    pub fn copyto(&self, to: &Self) -> Result<()> {
        to.copy_from_array(self)
    }

    /// Makes a copy on `device`, as MXNet's `copyto` does with a context.
    ///
    /// # Errors
    /// Returns the errors of [`Self::empty`] and [`Self::copy_from_array`].
    #[track_caller]
    pub fn copy_to_device(&self, context: &ArrayContext, device: Device) -> Result<Self> {
        let doing = || format!("copying {} to {device}", self.0.device);
        let copy = Self::empty(context, self.0.shape.clone(), self.0.dtype, device, "copy").context(doing)?;
        copy.copy_from_array(self)?;
        Ok(copy)
    }

    /// This array if it is on `device`, else a copy there.
    ///
    /// # Errors
    /// Returns the errors of [`Self::copy_to_device`].
    #[track_caller]
    pub fn as_in_context(&self, context: &ArrayContext, device: Device) -> Result<Self> {
        if self.0.device == device { Ok(self.clone()) } else { self.copy_to_device(context, device) }
    }

    /// Memory for the copy from `from` to `self`; `None` if it needs none.
    fn staging(&self, from: &Self) -> Result<Option<Self>> {
        match (from.home(), self.home()) {
            (None, Some(home)) if !from.is_pinned() => self.idle_pinned(home).map(Some),
            (Some(home), None) if !self.is_pinned() => self.temporary(home, home.pinned()).map(Some),
            (Some(a), Some(b)) if a.device() == b.device() => {
                if self.overlaps(from) {
                    self.temporary(a, a.device()).map(Some)
                } else {
                    Ok(None)
                }
            }
            (Some(a), Some(b)) if !a.reaches(b.device()) => self.temporary(a, a.pinned()).map(Some),
            _ => Ok(None),
        }
    }

    fn push_copy(&self, from: &Self, staging: Option<&Self>, name: Option<&OpName>, priority: i32) -> Result<()> {
        let Some(staging) = staging else { return self.push_hop(from, name, priority) };
        staging.push_hop(from, name, priority)?;
        self.push_hop(staging, name, priority)
    }

    /// Pushes the task of a copy that needs no memory between the two arrays. Without a name, it is named after the devices.
    fn push_hop(&self, from: &Self, name: Option<&OpName>, priority: i32) -> Result<()> {
        let name =
            || name.cloned().unwrap_or_else(|| format!("copy from {} to {}", from.0.device, self.0.device).into());
        let hop = match (from.home(), self.home()) {
            (None, None) => return self.copy_on_host(from, name(), priority, Property::CpuPrioritized),
            (None, Some(home)) => Hop { on: Arc::clone(home), property: Property::CopyToGpu, kind: Kind::Upload },
            (Some(home), None) => Hop { on: Arc::clone(home), property: Property::CopyFromGpu, kind: Kind::Download },
            (Some(home), Some(peer)) if home.device() == peer.device() => {
                Hop { on: Arc::clone(home), property: Property::Normal, kind: Kind::Within }
            }
            (Some(home), Some(peer)) => {
                Hop { on: Arc::clone(home), property: Property::CopyFromGpu, kind: Kind::Peer(peer.device()) }
            }
        };
        let task = self.engine().task(name()).read(from.var()).write(self.var()).device(hop.on.device());
        let task = task.property(hop.property).priority(priority);
        let (to, source) = (self.detach(), from.detach());
        task.push(move |run| {
            let _span = operator(hop.kind.name(), hop.on.device());
            // SAFETY: this task writes the variable of `to` and reads that of `source`, so other users of the memory are
            // ordered before or after it. Both are freed only after the events of this task's work. Memory of a device
            // belongs to `hop.on` or, for `Kind::Peer`, to the peer; the rest is host memory. Ranges on one device do not
            // overlap: `staging` has provided memory between them otherwise.
            unsafe { hop.run(run, &source, &to) }
        })
    }

    /// Pushes a copy by the host. Both arrays are in host memory.
    fn copy_on_host(&self, from: &Self, name: OpName, priority: i32, property: Property) -> Result<()> {
        let (to, from) = (self.clone(), from.clone());
        let task = self.0.chunk.engine.task(name).write(&self.0.chunk.var).device(self.host_worker());
        let task = task.priority(priority).property(property);
        if to.shares_storage(&from) {
            let n_bytes = to.size_bytes();
            return task.push(move |_| {
                let _span = operator("CopyCPU2CPU", to.0.device);
                // SAFETY: this task holds the common variable for writing, so no other code uses the storage. Both views
                // have `n_bytes` bytes, because their shapes and dtypes are equal, and `copy` allows them to overlap.
                unsafe { std::ptr::copy(from.as_ptr(), to.as_ptr(), n_bytes) };
                Ok(())
            });
        }
        let var = from.var().clone();
        task.read(&var).push(move |_| {
            let _span = operator("CopyCPU2CPU", to.0.device);
            // SAFETY: this task holds the variable of `from` for reading and that of `to` for writing, so no other code
            // writes `from` or uses `to`. The arrays do not share storage.
            unsafe { to.bytes_mut().copy_from_slice(from.bytes()) };
            Ok(())
        })
    }

    /// A copy in pinned memory, if the host cannot access this array.
    pub(crate) fn copy_for_host(&self) -> Result<Option<Self>> {
        let Some(home) = self.home() else { return Ok(None) };
        let doing = || format!("reading an array on {} through {}", home.device(), home.pinned());
        let copy = self.temporary(home, home.pinned()).context(doing)?;
        copy.push_hop(self, None, 0).context(doing)?;
        Ok(Some(copy))
    }

    /// Overwrites the array, which is on a device, with the content of an array of [`Self::copy_for_host`].
    pub(crate) fn copy_from_host(&self, copy: &Self) -> Result<()> {
        self.push_hop(copy, None, 0).context(|| format!("copying {} to {}", copy.0.device, self.0.device))
    }

    /// Overwrites the array, which is on a device, with these bytes, of which there are as many as it has.
    pub(super) fn upload_bytes(&self, bytes: &[u8]) -> Result<()> {
        let Some(home) = self.home() else { return Ok(()) };
        let doing = || format!("copying {} to {}", home.pinned(), home.device());
        let staging = self.idle_pinned(home).context(doing)?;
        // SAFETY: the array was just made in host memory that no device uses, so there is no other handle and no pending
        // task.
        unsafe { staging.bytes_mut() }.copy_from_slice(bytes);
        self.push_hop(&staging, None, 0).context(doing)
    }

    fn is_pinned(&self) -> bool {
        self.0.device.kind == DeviceKind::CpuPinned
    }

    /// Whether two arrays of equal size have bytes in common.
    fn overlaps(&self, other: &Self) -> bool {
        self.shares_storage(other) && self.0.offset_bytes.abs_diff(other.0.offset_bytes) < self.size_bytes()
    }
}

/// One copy on a stream.
struct Hop {
    /// The device whose stream is used.
    on: Arc<RegisteredDevice>,
    property: Property,
    kind: Kind,
}

/// The direction of a copy, seen from its device.
#[derive(Clone, Copy)]
enum Kind {
    Upload,
    Download,
    Within,
    Peer(Device),
}

impl Kind {
    /// MXNet's name of the copy in profiles.
    fn name(self) -> &'static str {
        match self {
            Self::Upload => "CopyCPU2GPU",
            Self::Download => "CopyGPU2CPU",
            Self::Within | Self::Peer(_) => "CopyGPU2GPU",
        }
    }
}

impl Hop {
    /// Enqueues the copy on the stream of a running task.
    ///
    /// # Safety
    /// The task reads `from` and writes `to`, which are where `kind` says. Both have the same size and do not overlap.
    unsafe fn run(&self, run: &RunContext, from: &NdArray, to: &NdArray) -> Result<()> {
        let (stream, copies) = (stream_of(run)?, &self.on.copies);
        let (from, to, n_bytes) = (from.as_ptr().cast_const(), to.as_ptr(), to.size_bytes());
        // SAFETY: promised by the caller. The engine keeps the memory and orders its users by the events of the task.
        unsafe {
            match self.kind {
                Kind::Upload => copies.upload(stream, from, to, n_bytes),
                Kind::Download => copies.download(stream, from, to, n_bytes),
                Kind::Within => copies.copy(stream, from, to, n_bytes),
                Kind::Peer(peer) => copies.copy_to_peer(stream, from, peer, to, n_bytes),
            }
        }
    }
}
