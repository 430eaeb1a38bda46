//! Devices whose memory the host cannot access: which of them an [`ArrayContext`](crate::ArrayContext) has, and memory
//! through which copies go.

use mxrs_engine::{Engine, Var};
use mxrs_storage::{Block, DeviceCopies, Storage, Tag};
use mxrs_types::{Device, DeviceEvent, Error, Result};
use std::fmt;
use std::sync::Arc;

/// The largest number of blocks of one size that [`allocate_idle`] passes over because a device still uses them. Beyond this
/// number it waits until the device no longer uses a block.
const MAX_BUSY_BLOCKS: usize = 1024;

/// The largest size in bytes of all blocks that [`allocate_idle`] passes over. The limit is needed because other programs
/// cannot use pinned memory.
const MAX_BUSY_BYTES: usize = 256 << 20;

/// A device that a context has: its copies, and the storage of its memory and of pinned memory.
pub(crate) struct RegisteredDevice {
    pub(crate) copies: Arc<dyn DeviceCopies>,
    pub(crate) storage: Storage,
    are_copies_direct: bool,
}

impl RegisteredDevice {
    /// Whether a copy to `peer` goes directly between the two devices.
    pub(crate) fn reaches(&self, peer: Device) -> bool {
        self.are_copies_direct && self.copies.reaches(peer)
    }

    pub(crate) fn device(&self) -> Device {
        self.copies.device()
    }

    /// The pinned memory through which copies between this device and the host go.
    pub(crate) fn pinned(&self) -> Device {
        Device::cpu_pinned(self.device().id)
    }
}

impl fmt::Debug for RegisteredDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RegisteredDevice").field(&self.device()).finish()
    }
}

/// The devices of a context. For a context without devices this is `None`, which allocates no memory and is cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices(Option<Arc<[Arc<RegisteredDevice>]>>);

impl Devices {
    /// Registers these devices. `are_copies_direct` says whether those that reach each other copy directly.
    ///
    /// # Errors
    /// Fails for a device whose memory the host can access, that occurs twice, or that has no memory in `storage`.
    pub(crate) fn new(all: Vec<Arc<dyn DeviceCopies>>, storage: &Storage, are_copies_direct: bool) -> Result<Self> {
        let mut devices: Vec<Arc<RegisteredDevice>> = Vec::with_capacity(all.len());
        for copies in all {
            let device = copies.device();
            if device.is_host() {
                let expected = "a device whose memory the host cannot access; host memory needs no registration";
                return Err(Error::invalid("device to register", device, expected));
            }
            if devices.iter().any(|known| known.device() == device) {
                return Err(Error::invalid("devices to register", format!("{device} twice"), "each device once"));
            }
            if !storage.devices().any(|known| known == device) {
                let known: Vec<String> = storage.devices().map(|known| known.to_string()).collect();
                let expected = format!("a device with memory in the storage, which has {}", known.join(", "));
                return Err(Error::invalid("device to register", device, expected));
            }
            devices.push(Arc::new(RegisteredDevice { copies, storage: storage.clone(), are_copies_direct }));
        }
        Ok(Self((!devices.is_empty()).then(|| devices.into())))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<RegisteredDevice>> {
        self.0.iter().flat_map(|devices| devices.iter())
    }

    /// The registered device; `None` for host memory, which is not registered.
    ///
    /// # Errors
    /// Fails for a device that is neither host memory nor registered.
    pub(crate) fn find(&self, device: Device) -> Result<Option<&Arc<RegisteredDevice>>> {
        if device.is_host() {
            return Ok(None);
        }
        self.iter().find(|known| known.device() == device).map(Some).ok_or_else(|| self.unknown(device))
    }

    #[cold]
    fn unknown(&self, device: Device) -> Error {
        let known: Vec<String> = self.iter().map(|known| known.device().to_string()).collect();
        let reason = match known.is_empty() {
            true => "no device is registered; use cpu(0), or register the device when the context is built".to_owned(),
            false => format!("registered are {}; use one of them, or cpu(0)", known.join(", ")),
        };
        Error::not_built(format!("arrays on {device}"), reason)
    }
}

/// Allocates memory for tasks that write `var`. If a device still works with the memory for an earlier owner, the tasks that
/// are pushed from now on wait for that work, on the device. The caller waits only for host memory.
///
/// # Errors
/// Fails if memory is short, or if the engine refuses the task that waits.
pub(crate) fn allocate_for(
    (engine, storage): (&Engine, &Storage),
    device: Device,
    n_bytes: usize,
    tag: Tag,
    var: &Var,
) -> Result<Block> {
    if device.is_host() {
        return storage.allocate(device, n_bytes, tag);
    }
    let (block, events) = storage.allocate_with_events(device, n_bytes, tag)?;
    if !events.is_empty() {
        let former = engine.new_var_after(events);
        let waiting = engine.task("reuse of memory").device(device).read(&former).write(var).push(|_| Ok(()));
        engine.delete_var_with(former, drop);
        waiting?;
    }
    Ok(block)
}

/// Allocates host memory that no device uses any more, so that the host may write it now. Prefers other memory to waiting:
/// the host waits only if memory is short, or if a device is behind by [`MAX_BUSY_BLOCKS`] or [`MAX_BUSY_BYTES`] of blocks
/// of this size.
///
/// # Errors
/// Fails if memory is short, or if a device does not finish its work on the memory.
pub(crate) fn allocate_idle(storage: &Storage, device: Device, n_bytes: usize, tag: &Tag) -> Result<Block> {
    let mut busy: Vec<(Block, Vec<Arc<dyn DeviceEvent>>)> = Vec::new();
    let max_busy = MAX_BUSY_BLOCKS.min(MAX_BUSY_BYTES / n_bytes.max(1));
    let (block, events) = loop {
        match storage.allocate_with_events(device, n_bytes, tag.clone()) {
            Ok((block, events)) if events.is_empty() => return Ok(block),
            Ok(pair) if busy.len() < max_busy => busy.push(pair),
            Ok(pair) => break pair,
            // Waits for the block that was allocated last. The pool allocates the most recently freed blocks first, so this
            // block was freed before the others and is likely to be idle first.
            Err(error) => break busy.pop().ok_or(error)?,
        }
    };
    for event in events {
        if let Err(error) = event.wait()
            && !event.is_finished()
        {
            return Err(error.context(format!("waiting for earlier work on {n_bytes} bytes of {device}")));
        }
    }
    Ok(block)
}
