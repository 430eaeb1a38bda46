//! A device for tests: the test chooses its size, it fails on command, and it records its calls.

mod growable;
#[cfg(all(target_os = "linux", not(miri)))]
mod hidden;
mod reach;

use crate::gpu::lost;
use growable::Ranges;
use mxrs_storage::{DeviceMemory, GrowableMemory, HostMemory, MemoryInfo};
use mxrs_sync::Mutex;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use mxrs_types::{Device, Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// One call to a [`SimulatedMemory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulatedCall {
    /// A request: the address that was returned, or `None` if it was refused.
    Allocate {
        /// The number of bytes requested.
        size_bytes: usize,
        /// First address.
        address: Option<usize>,
    },
    /// Memory was freed.
    Free {
        /// The number of bytes.
        size_bytes: usize,
        /// First address.
        address: usize,
    },
    /// Memory was requested behind reserved addresses.
    Commit {
        /// The number of bytes requested.
        size_bytes: usize,
        /// First address.
        address: usize,
        /// Whether the request was granted.
        granted: bool,
    },
    /// Memory behind reserved addresses was removed.
    Decommit {
        /// The number of bytes.
        size_bytes: usize,
        /// First address.
        address: usize,
    },
    /// The amount of free memory was queried.
    Info,
}

/// Counters of a [`SimulatedMemory`]. Sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulatedCounters {
    /// Requests that were granted.
    pub allocations: u64,
    /// Requests that were refused.
    pub refusals: u64,
    /// Allocations that were freed.
    pub frees: u64,
    /// Queries of the amount of free memory.
    pub infos: u64,
    /// Bytes that are allocated now.
    pub used_bytes: u64,
    /// Largest `used_bytes` so far.
    pub peak_used_bytes: u64,
}

type Hook = Box<dyn Fn(&SimulatedCall) + Send + Sync>;

/// Simulated memory of any device. It panics if memory is freed that it did not allocate, or that is already free.
///
/// ```
/// use mxrs_simulated_gpu::SimulatedMemory;
/// use mxrs_storage::DeviceMemory;
/// use mxrs_types::Device;
///
/// let gpu = SimulatedMemory::new(Device::gpu(0), 1 << 30).unbacked();
/// gpu.fail_on_request(2);
/// assert!(gpu.allocate(4096).is_ok());
/// assert!(gpu.allocate(4096).is_err());
/// assert_eq!(gpu.counters().used_bytes, 4096);
/// ```
pub struct SimulatedMemory {
    device: Device,
    total_bytes: u64,
    /// The memory behind the addresses; `None` if nothing accesses them.
    backing: Option<Arc<dyn DeviceMemory>>,
    /// The backing again, if its bytes are not at the device addresses but in a second mapping.
    #[cfg(all(target_os = "linux", not(miri)))]
    hidden: Option<Arc<hidden::HiddenMemory>>,
    latency: Duration,
    hook: Option<Hook>,
    /// The size of a unit, and the length of the longest range of addresses that can be reserved, in bytes. `None` if the
    /// device cannot reserve addresses.
    growable: Option<(usize, usize)>,
    /// The number of requests so far, including refused ones.
    n_requests: AtomicU64,
    is_lost: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counters: SimulatedCounters,
    calls: Vec<SimulatedCall>,
    /// Sizes of live allocations by address.
    live: BTreeMap<usize, usize>,
    failing_requests: BTreeSet<u64>,
    /// Requests whose number is a multiple of this are refused; 0 refuses none.
    failing_multiple: u64,
    /// Requests from this number on are refused; 0 refuses none.
    failing_from: u64,
    ranges: Ranges,
    /// Without memory behind addresses: the number of addresses used so far.
    address_space: usize,
}

/// The start of addresses without memory behind them: far from anything that a process maps, like a GPU's addresses.
const UNBACKED_START: usize = 1 << 60;

impl SimulatedMemory {
    /// Simulates `device` with `total_bytes` bytes, backed by host memory that can be read and written.
    pub fn new(device: Device, total_bytes: u64) -> Self {
        Self {
            device,
            total_bytes,
            backing: Some(Arc::new(HostMemory::new(device))),
            #[cfg(all(target_os = "linux", not(miri)))]
            hidden: None,
            latency: Duration::ZERO,
            hook: None,
            growable: None,
            n_requests: AtomicU64::new(0),
            is_lost: Arc::default(),
            state: Mutex::new(State::default()),
        }
    }

    /// Uses addresses without memory behind them, so that terabytes cost nothing and a host access crashes.
    ///
    /// # Panics
    /// Panics for a host device, because safe code writes to the memory of a host device. See [`Self::unbacked_host`].
    #[must_use]
    pub fn unbacked(mut self) -> Self {
        assert!(!self.device.is_host(), "{}: memory of the host needs something behind it", self.device);
        self.backing = None;
        self
    }

    /// Like [`Self::unbacked`], but also allowed for a host device.
    ///
    /// # Safety
    /// Nothing may read or write the memory of this device. Making an array in it, for example, writes.
    #[must_use]
    pub unsafe fn unbacked_host(mut self) -> Self {
        self.backing = None;
        self
    }

    /// Makes every call take at least this long; a call takes effect at its end.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Runs `hook` at the end of every call, on the calling thread, while this object holds none of its locks.
    #[must_use]
    pub fn on_call(mut self, hook: impl Fn(&SimulatedCall) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Lets the device add memory behind reserved addresses, in units of `unit_bytes` and in ranges of at most `range_bytes`
    /// bytes. A unit is a power of two and at least a page; if the device is backed by memory, it is a multiple of 2 MiB.
    /// Commits count as requests; reservations do not.
    #[must_use]
    pub fn with_ranges(mut self, unit_bytes: usize, range_bytes: usize) -> Self {
        self.growable = Some((unit_bytes, range_bytes));
        self
    }

    /// Refuses the `nth` request, counted from 1 since this object was made. Several calls of this method mark several
    /// requests.
    pub fn fail_on_request(&self, nth: u64) {
        self.state.lock().failing_requests.insert(nth);
    }

    /// Refuses every `n`th request from now on, counted from 1 since this object was made; 0 refuses none.
    pub fn fail_every(&self, n: u64) {
        self.state.lock().failing_multiple = n;
    }

    /// Refuses every request from the `nth` on, counted from 1 since this object was made; 0 refuses none.
    pub fn fail_from(&self, nth: u64) {
        self.state.lock().failing_from = nth;
    }

    /// Loses the device: every later request fails. Memory can still be freed.
    pub fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    /// Makes the memory part of a device that is lost when `is_lost` becomes true.
    pub(crate) fn lost_with(self, is_lost: &Arc<AtomicBool>) -> Self {
        Self { is_lost: Arc::clone(is_lost), ..self }
    }

    /// The number of requests so far, including refused ones.
    pub fn n_requests(&self) -> u64 {
        self.n_requests.load(Ordering::Relaxed)
    }

    /// All calls so far, in order.
    pub fn calls(&self) -> Vec<SimulatedCall> {
        self.state.lock().calls.clone()
    }

    /// The current values of the counters.
    pub fn counters(&self) -> SimulatedCounters {
        self.state.lock().counters
    }

    fn pause(&self) {
        if !self.latency.is_zero() {
            mxrs_sync::thread::sleep(self.latency);
        }
    }

    fn finish(&self, call: SimulatedCall) {
        self.state.lock().calls.push(call);
        if let Some(hook) = &self.hook {
            hook(&call);
        }
    }

    /// The error of a refused request.
    fn refusal(&self, size_bytes: usize) -> Error {
        if self.is_lost.load(Ordering::Relaxed) {
            return lost(self.device);
        }
        Error::out_of_memory(self.device, size_bytes as u64, "the device refused")
    }

    fn grant(&self, size_bytes: usize) -> Option<NonNull<u8>> {
        self.request(size_bytes, |state| {
            let ptr = match &self.backing {
                Some(backing) => backing.allocate(size_bytes).ok()?,
                None => state.unbacked_addresses(size_bytes, 4096)?,
            };
            state.live.insert(ptr.addr().get(), size_bytes);
            Some(ptr)
        })
    }

    /// Counts a request, and refuses it (returns `None`) if it is marked to fail, if there is not enough memory, or if
    /// `give` returns `None`.
    fn request<T>(&self, size_bytes: usize, give: impl FnOnce(&mut State) -> Option<T>) -> Option<T> {
        let nth = self.n_requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = self.state.lock();
        let used_bytes = state.counters.used_bytes.checked_add(size_bytes as u64);
        let fails = state.failing_requests.contains(&nth)
            || self.is_lost.load(Ordering::Relaxed)
            || (state.failing_from > 0 && nth >= state.failing_from)
            || (state.failing_multiple > 0 && nth.is_multiple_of(state.failing_multiple));
        let room = used_bytes.filter(|&used| used <= self.total_bytes && !fails);
        let granted = room.and_then(|used| Some((give(&mut state)?, used)));
        let Some((given, used)) = granted else {
            state.counters.refusals += 1;
            return None;
        };
        state.counters.allocations += 1;
        state.counters.used_bytes = used;
        state.counters.peak_used_bytes = state.counters.peak_used_bytes.max(used);
        Some(given)
    }
}

impl State {
    /// Returns addresses without memory behind them that were never returned before.
    fn unbacked_addresses(&mut self, size_bytes: usize, align: usize) -> Option<NonNull<u8>> {
        let offset = self.address_space.checked_next_multiple_of(align)?;
        self.address_space = offset.checked_add(size_bytes.checked_next_multiple_of(4096)?)?;
        Some(NonNull::without_provenance(NonZero::new(UNBACKED_START.checked_add(offset)?)?))
    }
}

// SAFETY: with backing, the memory is that of a `HostMemory` or `HiddenMemory`, which fulfil the contract. Without backing,
// `unbacked_addresses` returns no address twice, and nothing accesses the memory: `unbacked` rejects host devices, and
// the caller of `unbacked_host` guaranteed it.
unsafe impl DeviceMemory for SimulatedMemory {
    fn device(&self) -> Device {
        self.device
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        self.pause();
        let granted = self.grant(size_bytes);
        self.finish(SimulatedCall::Allocate { size_bytes, address: granted.map(|ptr| ptr.addr().get()) });
        granted.ok_or_else(|| self.refusal(size_bytes))
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.pause();
        let address = ptr.addr().get();
        let mut state = self.state.lock();
        let known = state.live.remove(&address);
        assert_eq!(known, Some(size_bytes), "{}: freed {size_bytes} bytes at {address:#x}", self.device);
        state.counters.frees += 1;
        state.counters.used_bytes -= size_bytes as u64;
        drop(state);
        if let Some(backing) = &self.backing {
            // SAFETY: `live` contained this address with this size, so it came from `backing`, and the entry is now
            // removed.
            unsafe { backing.free(ptr, size_bytes) };
        }
        self.finish(SimulatedCall::Free { size_bytes, address });
    }

    fn info(&self) -> MemoryInfo {
        self.pause();
        let mut state = self.state.lock();
        state.counters.infos += 1;
        let free = self.total_bytes - state.counters.used_bytes;
        drop(state);
        self.finish(SimulatedCall::Info);
        MemoryInfo { free, total: self.total_bytes }
    }

    fn growable(&self) -> Option<&dyn GrowableMemory> {
        self.growable.is_some().then_some(self as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_a_limit_and_calls_are_logged() {
        let memory = SimulatedMemory::new(Device::gpu(0), 100).unbacked();
        let ptr = memory.allocate(60).unwrap();
        assert!(memory.allocate(41).is_err());
        assert_eq!(memory.info(), MemoryInfo { free: 40, total: 100 });
        // SAFETY: allocated above with this size.
        unsafe { memory.free(ptr, 60) };
        let address = ptr.addr().get();
        assert_eq!(
            memory.calls(),
            [
                SimulatedCall::Allocate { size_bytes: 60, address: Some(address) },
                SimulatedCall::Allocate { size_bytes: 41, address: None },
                SimulatedCall::Info,
                SimulatedCall::Free { size_bytes: 60, address },
            ]
        );
    }

    #[test]
    #[should_panic(expected = "gpu(0): freed 64 bytes at")]
    fn double_free_panics() {
        let memory = SimulatedMemory::new(Device::gpu(0), 1000).unbacked();
        let ptr = memory.allocate(64).unwrap();
        // SAFETY: the second call breaks the contract on purpose; without backing no memory is accessed.
        unsafe {
            memory.free(ptr, 64);
            memory.free(ptr, 64);
        }
    }
}
