//! Reserved addresses of the simulated device, and which of their units (pieces of equal size) have memory. Committing
//! a unit that has memory panics, and so does decommitting a unit that has none.

use super::{SimulatedCall, SimulatedMemory, State};
use mxrs_storage::GrowableMemory;
use mxrs_types::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;

/// The reserved ranges of a simulated device.
#[derive(Default)]
pub(super) struct Ranges {
    /// Lengths of the reserved ranges in bytes, by first address.
    reserved: BTreeMap<usize, usize>,
    /// First addresses of units that have memory.
    committed: BTreeSet<usize>,
}

impl Ranges {
    /// Panics unless these bytes are whole units within one reserved range.
    fn expect_units(&self, address: usize, size_bytes: usize, unit: usize) {
        let range = self.reserved.range(..=address).next_back();
        let inside = range.is_some_and(|(&start, &len)| address + size_bytes <= start + len);
        let whole = size_bytes > 0 && address.is_multiple_of(unit) && size_bytes.is_multiple_of(unit);
        assert!(inside && whole, "{size_bytes} bytes at {address:#x} are not units of {unit} bytes of one range");
    }
}

fn units(address: usize, size_bytes: usize, unit: usize) -> impl Iterator<Item = usize> {
    (address..address + size_bytes).step_by(unit)
}

impl SimulatedMemory {
    fn unit(&self) -> usize {
        self.growable.map_or(1, |(unit, _)| unit)
    }

    /// The memory behind reserved addresses; `None` if nothing accesses them.
    fn growable_backing(&self) -> Option<&dyn GrowableMemory> {
        self.backing.as_ref().and_then(|backing| backing.growable())
    }

    /// Removes the memory of the units from `address` on; panics if one of them has no memory.
    fn take_back(&self, state: &mut State, address: usize, size_bytes: usize) {
        for unit in units(address, size_bytes, self.unit()) {
            assert!(state.ranges.committed.remove(&unit), "{}: {unit:#x} has no memory", self.device);
        }
        state.counters.frees += 1;
        state.counters.used_bytes -= size_bytes as u64;
    }
}

impl GrowableMemory for SimulatedMemory {
    fn unit_bytes(&self) -> usize {
        self.unit()
    }

    fn reserve(&self, size_bytes: usize) -> Option<NonNull<u8>> {
        let (unit, limit) =
            self.growable.filter(|&(unit, limit)| size_bytes <= limit && size_bytes.is_multiple_of(unit))?;
        debug_assert!(limit >= unit);
        let mut state = self.state.lock();
        let ptr = match &self.backing {
            Some(backing) => {
                backing.growable().filter(|backing| unit.is_multiple_of(backing.unit_bytes()))?.reserve(size_bytes)?
            }
            None => state.unbacked_addresses(size_bytes, unit)?,
        };
        state.ranges.reserved.insert(ptr.addr().get(), size_bytes);
        Some(ptr)
    }

    unsafe fn commit(&self, ptr: NonNull<u8>, size_bytes: usize) -> Result<()> {
        self.pause();
        let address = ptr.addr().get();
        let granted = self.request(size_bytes, |state| {
            state.ranges.expect_units(address, size_bytes, self.unit());
            if let Some(backing) = self.growable_backing() {
                // SAFETY: the units belong to a range that `backing` reserved; the caller guarantees that they have no
                // memory.
                unsafe { backing.commit(ptr, size_bytes) }.ok()?;
            }
            for unit in units(address, size_bytes, self.unit()) {
                assert!(state.ranges.committed.insert(unit), "{}: {unit:#x} has memory already", self.device);
            }
            Some(())
        });
        self.finish(SimulatedCall::Commit { size_bytes, address, granted: granted.is_some() });
        granted.ok_or_else(|| self.refusal(size_bytes))
    }

    unsafe fn decommit(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.pause();
        let address = ptr.addr().get();
        let mut state = self.state.lock();
        state.ranges.expect_units(address, size_bytes, self.unit());
        self.take_back(&mut state, address, size_bytes);
        if let Some(backing) = self.growable_backing() {
            // SAFETY: these units were committed, and the caller guarantees that nothing uses them.
            unsafe { backing.decommit(ptr, size_bytes) };
        }
        drop(state);
        self.finish(SimulatedCall::Decommit { size_bytes, address });
    }

    unsafe fn unreserve(&self, ptr: NonNull<u8>, size_bytes: usize) {
        let address = ptr.addr().get();
        let mut state = self.state.lock();
        let known = state.ranges.reserved.remove(&address);
        assert_eq!(known, Some(size_bytes), "{}: gave up {size_bytes} bytes at {address:#x}", self.device);
        let left: Vec<usize> = state.ranges.committed.range(address..address + size_bytes).copied().collect();
        for unit in left {
            self.take_back(&mut state, unit, self.unit());
        }
        if let Some(backing) = self.growable_backing() {
            // SAFETY: `reserved` contained this range, and the entry is now removed.
            unsafe { backing.unreserve(ptr, size_bytes) };
        }
    }
}
