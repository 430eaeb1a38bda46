//! Memory allocated as for arrays: the system maps large blocks with huge pages, so a kernel rarely waits for the
//! translation of addresses.

use anyhow::{Context, Result};
use mxrs_processor::bandwidth_in;
use mxrs_storage::{DeviceMemory, HostMemory};
use mxrs_sync::Team;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::time::Duration;

/// One cache line.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [u8; 64]);

/// Cache lines in memory of [`HostMemory`].
pub struct Lines {
    memory: HostMemory,
    start: NonNull<Line>,
    len: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { memory: HostMemory::default(), start: NonNull::dangling(), len: 0 }
    }
}

impl Lines {
    /// Makes room for at least `len` lines. If there were fewer, all lines are new, and zero.
    ///
    /// # Errors
    /// Fails if the system refuses the memory.
    pub fn grow(&mut self, len: usize) -> Result<()> {
        if len <= self.len {
            return Ok(());
        }
        self.release();
        let bytes = len.checked_mul(size_of::<Line>()).context("the size of the memory overflows")?;
        let start = self.memory.allocate(bytes)?;
        // SAFETY: the block has `bytes` bytes, and no other code uses it.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        (self.start, self.len) = (start.cast(), len);
        Ok(())
    }

    fn release(&mut self) {
        if self.len > 0 {
            // SAFETY: `grow` allocated this block with this size, and no slice of it exists.
            unsafe { self.memory.free(self.start.cast(), self.len * size_of::<Line>()) };
            (self.start, self.len) = (NonNull::dangling(), 0);
        }
    }
}

impl Deref for Lines {
    type Target = [Line];
    fn deref(&self) -> &[Line] {
        // SAFETY: `grow` allocated `len` lines, aligned to 64 bytes, and wrote all of them. They are freed only by methods
        // that borrow `self` mutably.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [Line] {
        // SAFETY: as in `deref`; the mutable borrow excludes other slices.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.release();
    }
}

/// Measures the bandwidth of memory between the calls.
pub struct Probe {
    lines: Lines,
}

/// Bytes of each of the three arrays of the probe. They are larger together than the caches of most processors.
const PROBE_BYTES: usize = 64 << 20;

impl Probe {
    /// Allocates the arrays.
    ///
    /// # Errors
    /// Fails if the system refuses the memory.
    pub fn new() -> Result<Self> {
        let mut lines = Lines::default();
        lines.grow(3 * PROBE_BYTES / size_of::<Line>())?;
        Ok(Self { lines })
    }

    /// Bytes per second of the loop of [`bandwidth_in`]. It takes at least `patience`.
    pub fn measure(&mut self, team: &Team, patience: Duration) -> f64 {
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(&mut self.lines);
        let (a, rest) = numbers.split_at_mut(PROBE_BYTES / size_of::<f32>());
        let (b, c) = rest.split_at_mut(a.len());
        bandwidth_in(team, [a, b, c], patience)
    }
}
