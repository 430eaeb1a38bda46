//! Adds up the records of memory: live blocks, memory of pools, and how both change over time.

mod blocks;
mod course;

pub(crate) use blocks::Blocks;
pub(crate) use course::{Course, Point};

use mxrs_trace::{Label, Memory, MemoryStep};
use mxrs_types::Device;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The memory of a device after a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) device: Device,
    /// The sum of the requested bytes of all live blocks.
    pub(crate) live_bytes: u64,
    /// The number of bytes that pools have obtained from the device and not returned.
    pub(crate) pool_bytes: u64,
    /// Whether the record changed `pool_bytes`; otherwise it changed `live_bytes`.
    pub(crate) is_of_pool: bool,
}

/// The bytes of each tag at the time when a device had the most live bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtPeak {
    pub(crate) at_ns: u64,
    pub(crate) live_bytes: u64,
    /// The tags with their scopes, and the bytes of each. The largest comes first.
    pub(crate) tags: Vec<(String, u64)>,
}

/// The memory of one device.
#[derive(Debug, Default)]
pub(crate) struct OfDevice {
    live_bytes: u64,
    pool_bytes: u64,
    by_tag: FxHashMap<(Label, Label), u64>,
    pub(crate) course: Course,
    pub(crate) peak: AtPeak,
    /// Whether `live_bytes` has exceeded the peak since the tags of the peak were stored.
    has_new_peak: bool,
}

/// Adds up the memory of all devices, from records in the order of their times.
///
/// Frees of blocks that were allocated before memory was recorded are ignored, so that no sum becomes negative.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) devices: BTreeMap<Device, OfDevice>,
    pub(crate) blocks: Blocks,
}

impl Book {
    /// Adds a record; returns the memory of its device from then on.
    pub(crate) fn take(&mut self, memory: &Memory) -> Level {
        let device = self.devices.entry(memory.device).or_default();
        match memory.step {
            MemoryStep::Grown => device.pool_bytes += memory.block_bytes,
            MemoryStep::Returned => {
                device.pool_bytes = device.pool_bytes.saturating_sub(memory.block_bytes);
                self.blocks.returned(memory);
            }
            MemoryStep::New | MemoryStep::Reused => {
                self.blocks.allocated(memory);
                device.allocated(memory);
            }
            MemoryStep::Freed => {
                if self.blocks.freed(memory) {
                    device.freed(memory);
                }
            }
        }
        device.course.add(Point { at_ns: memory.at_ns, live: device.live_bytes, pool: device.pool_bytes });
        Level {
            device: memory.device,
            live_bytes: device.live_bytes,
            pool_bytes: device.pool_bytes,
            is_of_pool: matches!(memory.step, MemoryStep::Grown | MemoryStep::Returned),
        }
    }

    /// Stores the bytes by tag at the peaks that were reached since the last call. Must be called before the results are
    /// written.
    pub(crate) fn settle(&mut self) {
        self.devices.values_mut().for_each(OfDevice::settle);
    }
}

impl OfDevice {
    fn allocated(&mut self, memory: &Memory) {
        self.live_bytes += memory.requested_bytes;
        *self.by_tag.entry((memory.scope, memory.tag)).or_default() += memory.requested_bytes;
        if self.live_bytes > self.peak.live_bytes {
            (self.peak.live_bytes, self.peak.at_ns) = (self.live_bytes, memory.at_ns);
            self.has_new_peak = true;
        }
    }

    fn freed(&mut self, memory: &Memory) {
        self.settle();
        self.live_bytes = self.live_bytes.saturating_sub(memory.requested_bytes);
        if let Some(bytes) = self.by_tag.get_mut(&(memory.scope, memory.tag)) {
            *bytes = bytes.saturating_sub(memory.requested_bytes);
            if *bytes == 0 {
                self.by_tag.remove(&(memory.scope, memory.tag));
            }
        }
    }

    fn settle(&mut self) {
        if !std::mem::take(&mut self.has_new_peak) {
            return;
        }
        let mut tags: Vec<_> =
            self.by_tag.iter().map(|((scope, tag), bytes)| (format!("{scope}{tag}"), *bytes)).collect();
        tags.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        self.peak.tags = tags;
    }
}
