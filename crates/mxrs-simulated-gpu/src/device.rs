//! A whole simulated device: memory, streams, and copies between this memory, the host's and that of other devices.

use crate::checker::{Checker, Touch};
use crate::{SimulatedGpu, SimulatedMemory, SimulatedStream};
use mxrs_engine::gpu::GpuDevice;
use mxrs_storage::{DeviceCopies, DeviceMemory};
use mxrs_sync::Mutex;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{Device, DeviceStream, Error, Result};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A simulated device that arrays can live on. Its copies run on its streams, take as long as the chosen bandwidth says,
/// are counted, report their accesses to the checker and fail on command.
///
/// ```
/// use mxrs_engine::{Engine, EngineConfig};
/// use mxrs_simulated_gpu::SimulatedDevice;
/// use mxrs_storage::{Storage, StorageConfig};
/// use mxrs_types::Device;
///
/// let device = SimulatedDevice::new(Device::gpu(0), 64 << 20);
/// let storage = Storage::builder(StorageConfig::default()).device(device.device_memory()).build()?;
/// let engine = Engine::builder(EngineConfig::default()).gpu(device.gpu_device()).build()?;
/// // An `ArrayContext` of this engine and storage registers the same device for copies.
/// assert_eq!(device.copies().uploads.n, 0);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub struct SimulatedDevice {
    gpu: Arc<SimulatedGpu>,
    memory: Arc<SimulatedMemory>,
    /// Bytes per second of each copy; 0 for copies that take no time.
    bandwidth: u64,
    machine: Arc<Machine>,
    copies: Mutex<State>,
}

/// The devices that were made as parts of one machine.
#[derive(Default)]
struct Machine {
    memories: Mutex<Vec<Arc<SimulatedMemory>>>,
    /// Whether the devices cannot copy to one another directly.
    is_apart: AtomicBool,
    /// Pairs of devices, the smaller first, that cannot copy to one another directly.
    cut: Mutex<BTreeSet<(Device, Device)>>,
}

/// The copies so far, and the future copies that must fail.
#[derive(Default)]
struct State {
    counters: CopyCounters,
    n_copies: u64,
    failing: BTreeSet<u64>,
}

/// Copies of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyCount {
    /// The number of copies.
    pub n: u64,
    /// The number of bytes of these copies.
    pub n_bytes: u64,
}

/// Copies that were enqueued on a [`SimulatedDevice`], by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyCounters {
    /// From the host.
    pub uploads: CopyCount,
    /// To the host.
    pub downloads: CopyCount,
    /// Within the device.
    pub within: CopyCount,
    /// To other devices.
    pub to_peers: CopyCount,
    /// Memory filled with zeros.
    pub fills: CopyCount,
}

impl SimulatedDevice {
    /// Makes a device with `total_bytes` of memory, which the host cannot touch ([`SimulatedMemory::hidden`]) and whose
    /// copies take no time.
    pub fn new(device: Device, total_bytes: u64) -> Arc<Self> {
        Self::of(SimulatedGpu::new(device), SimulatedMemory::new(device, total_bytes).hidden(), 0)
    }

    /// Makes a device of these streams and this memory. Each copy takes the time that its size needs at `bandwidth` bytes
    /// per second; 0 stands for no time.
    ///
    /// # Panics
    /// Panics if streams and memory are those of different devices.
    pub fn of(gpu: Arc<SimulatedGpu>, memory: SimulatedMemory, bandwidth: u64) -> Arc<Self> {
        Self::within(gpu, memory, bandwidth, Arc::default())
    }

    /// Makes a second device of the same machine, with the same bandwidth and with memory as [`new`](Self::new) makes it.
    /// The devices share a checker and can copy to one another, unless [`set_peers`](Self::set_peers) forbids it.
    pub fn beside(&self, device: Device, total_bytes: u64) -> Arc<Self> {
        let memory = SimulatedMemory::new(device, total_bytes).hidden();
        Self::within(self.gpu.beside(device), memory, self.bandwidth, Arc::clone(&self.machine))
    }

    fn within(gpu: Arc<SimulatedGpu>, memory: SimulatedMemory, bandwidth: u64, machine: Arc<Machine>) -> Arc<Self> {
        assert_eq!(gpu.device(), memory.device(), "streams and memory of one device");
        let memory = Arc::new(memory.lost_with(gpu.is_lost()));
        machine.memories.lock().push(Arc::clone(&memory));
        Arc::new(Self { gpu, memory, bandwidth, machine, copies: Mutex::default() })
    }

    /// The streams.
    pub fn gpu(&self) -> &Arc<SimulatedGpu> {
        &self.gpu
    }

    /// The memory.
    pub fn memory(&self) -> &Arc<SimulatedMemory> {
        &self.memory
    }

    /// The streams, as an engine is given them.
    pub fn gpu_device(&self) -> Arc<dyn GpuDevice> {
        Arc::clone(&self.gpu) as _
    }

    /// The memory, as a storage is given it.
    pub fn device_memory(&self) -> Arc<dyn DeviceMemory> {
        Arc::clone(&self.memory) as _
    }

    /// The checker of the order of accesses.
    pub fn checker(&self) -> &Arc<Checker> {
        self.gpu.checker()
    }

    /// Sets whether the devices of this machine can copy to one another directly; at first they can. Where
    /// [`cut_link`](Self::cut_link) was called, they never can.
    pub fn set_peers(&self, can_reach: bool) {
        self.machine.is_apart.store(!can_reach, Ordering::Relaxed);
    }

    /// Makes this device and `peer` unable to copy to one another directly.
    pub fn cut_link(&self, peer: Device) {
        self.machine.cut.lock().insert(ordered(self.name(), peer));
    }

    /// Makes the `nth` copy fail, counted from 1 over all directions, fills included. Its bytes do not arrive. What the
    /// failure affects is described at [`SimulatedGpu::fail_launch`].
    pub fn fail_copy(&self, nth: u64) {
        self.copies.lock().failing.insert(nth);
    }

    /// The copies enqueued so far.
    pub fn copies(&self) -> CopyCounters {
        self.copies.lock().counters
    }

    /// The number of copies enqueued so far, over all directions, fills included.
    pub fn n_copies(&self) -> u64 {
        self.copies.lock().n_copies
    }

    /// Loses the device: streams and memory refuse every request from now on, and work that has not started fails. Memory
    /// can still be freed.
    pub fn lose(&self) {
        self.gpu.lose();
    }

    /// Loses the device when the `nth` launch is enqueued; see [`SimulatedGpu::lose_at_launch`]. Copies are launches too.
    pub fn lose_at_launch(&self, nth: u64) {
        self.gpu.lose_at_launch(nth);
    }

    /// Where a launch finds the bytes of `address`, which may be an address of any device of this machine, or of the host.
    pub fn reach(&self, address: *mut u8) -> *mut u8 {
        let memories = self.machine.memories.lock();
        memories.iter().find_map(|memory| memory.reach(address)).unwrap_or(address)
    }

    fn name(&self) -> Device {
        self.memory.device()
    }

    /// Enqueues `body`, which touches these bytes, as one copy of `n_bytes`.
    fn enqueue(
        &self,
        stream: &dyn DeviceStream,
        name: String,
        touches: &[Touch],
        (count, n_bytes): (fn(&mut CopyCounters) -> &mut CopyCount, usize),
        body: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        let simulated = SimulatedStream::of(stream)?;
        if stream.id().device != self.name() {
            return Err(Error::invalid("stream of a copy", stream.id(), format!("a stream of {}", self.name())));
        }
        let pause =
            Duration::from_secs_f64(if self.bandwidth == 0 { 0.0 } else { n_bytes as f64 / self.bandwidth as f64 });
        let name: Arc<str> = name.into();
        let fails = || {
            let mut state = self.copies.lock();
            state.n_copies += 1;
            let nth = state.n_copies;
            let counted = count(&mut state.counters);
            counted.n += 1;
            counted.n_bytes += n_bytes as u64;
            state.failing.contains(&nth).then(|| format!("copy {nth}, `{name}`, failed on {}", stream.id()))
        };
        simulated.enqueue(Arc::clone(&name), touches, fails, move || {
            if !pause.is_zero() {
                mxrs_sync::thread::sleep(pause);
            }
            body();
            Ok(())
        })
    }

    /// Enqueues a copy between two addresses of this machine or the host.
    ///
    /// # Safety
    /// As for [`DeviceCopies::upload`], except that `from` and `to` may be memory of any device of this machine or of the
    /// host.
    unsafe fn transfer(
        &self,
        stream: &dyn DeviceStream,
        (from, to): (*const u8, *mut u8),
        n_bytes: usize,
        name: String,
        count: fn(&mut CopyCounters) -> &mut CopyCount,
    ) -> Result<()> {
        let touches = [Touch::read(range(from, n_bytes)), Touch::write(range(to, n_bytes))];
        let places = Places(self.reach(from.cast_mut()).cast_const(), self.reach(to));
        self.enqueue(stream, name, &touches, (count, n_bytes), move || {
            let Places(from, to) = places.get();
            // SAFETY: the caller of the trait's method promised that both stay allocated with at least `n_bytes` bytes until
            // this work is done, do not overlap, and are not used in a conflicting way meanwhile.
            unsafe { std::ptr::copy_nonoverlapping(from, to, n_bytes) };
        })
    }
}

/// The addresses of a copy: from, to.
#[derive(Clone, Copy)]
struct Places(*const u8, *mut u8);

// SAFETY: the addresses are used by one launch, and the memory behind them is not tied to a thread.
unsafe impl Send for Places {}

impl Places {
    /// Returns both addresses. A closure that calls this method captures the whole value, which is `Send`. If it used the
    /// fields, it would capture the raw pointers, which are not.
    fn get(self) -> Self {
        self
    }
}

fn ordered(one: Device, other: Device) -> (Device, Device) {
    (one.min(other), one.max(other))
}

fn range(start: *const u8, n_bytes: usize) -> std::ops::Range<u64> {
    let start = start.addr() as u64;
    start..start + n_bytes as u64
}

// SAFETY: each method enqueues one launch on the stream that it is given. The launch copies or fills exactly `n_bytes`
// bytes at the addresses that it is given, or at those of the second mapping of the same memory, and nothing else.
unsafe impl DeviceCopies for SimulatedDevice {
    fn device(&self) -> Device {
        self.name()
    }

    unsafe fn upload(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        let name = format!("copy from the host to {}", self.name());
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, (from, to), n_bytes, name, |counters| &mut counters.uploads) }
    }

    unsafe fn download(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        let name = format!("copy from {} to the host", self.name());
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, (from, to), n_bytes, name, |counters| &mut counters.downloads) }
    }

    unsafe fn copy(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        let name = format!("copy within {}", self.name());
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, (from, to), n_bytes, name, |counters| &mut counters.within) }
    }

    unsafe fn fill_zero(&self, stream: &dyn DeviceStream, to: *mut u8, n_bytes: usize) -> Result<()> {
        let touches = [Touch::write(range(to, n_bytes))];
        let place = Places(std::ptr::null(), self.reach(to));
        let count: fn(&mut CopyCounters) -> &mut CopyCount = |counters| &mut counters.fills;
        self.enqueue(stream, format!("zeros on {}", self.name()), &touches, (count, n_bytes), move || {
            let Places(_, to) = place.get();
            // SAFETY: the caller promised that the memory has at least `n_bytes` bytes, stays allocated until this work is
            // done, and is not used meanwhile.
            unsafe { to.write_bytes(0, n_bytes) };
        })
    }

    fn reaches(&self, peer: Device) -> bool {
        let is_near = || self.machine.memories.lock().iter().any(|memory| memory.device() == peer);
        let is_cut = || self.machine.cut.lock().contains(&ordered(self.name(), peer));
        !self.machine.is_apart.load(Ordering::Relaxed) && is_near() && !is_cut()
    }

    unsafe fn copy_to_peer(
        &self,
        stream: &dyn DeviceStream,
        from: *const u8,
        peer: Device,
        to: *mut u8,
        n_bytes: usize,
    ) -> Result<()> {
        if !self.reaches(peer) {
            return Err(Error::invalid("peer", peer, format!("a device that {} reaches", self.name())));
        }
        let name = format!("copy from {} to {peer}", self.name());
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, (from, to), n_bytes, name, |counters| &mut counters.to_peers) }
    }
}

impl fmt::Debug for SimulatedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimulatedDevice").field(&self.name()).finish()
    }
}
