//! Temporary workspaces: memory that operators use while they run, assigned in turn.
//!
//! A workspace is a growable block on a device together with an engine variable. The operator that uses it writes the
//! variable, so two operators with the same workspace never run at the same time, and no operator sees unfinished data of
//! another operator. If all workspaces are in use, the next operator waits for the workspace whose turn it is. A workspace
//! grows to the largest request and keeps its address for every request that fits, unless the device runs out of memory.
//! In that case the workspaces that no operator uses or waits for are freed.
//!
//! Graphs do not use these workspaces: their memory plan contains the scratch memory of every step.

use crate::device::allocate_for;
use mxrs_engine::{Engine, Var};
use mxrs_storage::{Block, PressureGuard, Storage, Tag};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, Result};
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// How many temporary workspaces there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TempSpaceCounts {
    /// How many workspaces all CPU devices share (`MXNET_CPU_TEMP_COPY`).
    pub cpu: NonZeroUsize,
    /// How many workspaces each GPU has (`MXNET_GPU_TEMP_COPY`).
    pub gpu: NonZeroUsize,
}

impl Default for TempSpaceCounts {
    fn default() -> Self {
        Self { cpu: NonZeroUsize::MIN.saturating_add(3), gpu: NonZeroUsize::MIN }
    }
}

/// The workspaces of all devices.
pub struct TempSpaces {
    engine: Engine,
    storage: Storage,
    counts: TempSpaceCounts,
    rings: RankedMutex<Vec<(Device, Ring)>>,
    /// Frees idle workspaces when memory is short.
    guard: OnceLock<PressureGuard>,
}

/// The workspaces of one device.
#[derive(Default)]
struct Ring {
    /// The workspaces that have been used.
    spaces: Vec<Space>,
    /// The index of the workspace to use next.
    turn: usize,
}

struct Space {
    var: Var,
    block: Option<Arc<Block>>,
}

/// A workspace assigned to one operator, whose task may use the memory while it writes [`var`](Self::var).
#[derive(Clone)]
pub struct TempSpace {
    var: Var,
    block: Arc<Block>,
}

impl TempSpace {
    /// The variable that the task using the memory must write.
    pub fn var(&self) -> &Var {
        &self.var
    }

    /// The memory, of at least the requested size. A task on a device gives it the event after its work
    /// ([`Block::used_by`]).
    pub fn block(&self) -> &Arc<Block> {
        &self.block
    }
}

impl TempSpaces {
    /// Sets up `counts` workspaces. The memory of a workspace is allocated when its first turn comes.
    pub fn new(engine: &Engine, storage: &Storage, counts: TempSpaceCounts) -> Arc<Self> {
        let rings = RankedMutex::new(Rank::Leaf, Vec::new());
        let (engine, storage) = (engine.clone(), storage.clone());
        let spaces = Arc::new(Self { engine, storage, counts, rings, guard: OnceLock::new() });
        let weak = Arc::downgrade(&spaces);
        let release = move |pressure: &mxrs_storage::Pressure| {
            if let Some(spaces) = weak.upgrade() {
                spaces.release_idle(pressure.device);
            }
        };
        // The result is ignored: no other code has `spaces` yet, so `guard` is empty and `set` succeeds.
        let _ = spaces.guard.set(spaces.storage.on_pressure(release));
        spaces
    }

    /// How many workspaces there are.
    pub fn counts(&self) -> TempSpaceCounts {
        self.counts
    }

    /// Returns the next workspace in turn, with at least `n_bytes`. On a device, the caller waits for nothing.
    ///
    /// # Errors
    /// Fails if memory is short.
    pub fn take(&self, device: Device, n_bytes: usize) -> Result<TempSpace> {
        let key = Self::key(device);
        let (slot, var, outgrown) = {
            let mut rings = self.rings.lock();
            let at = rings.iter().position(|(of, _)| *of == key).unwrap_or_else(|| {
                rings.push((key, Ring::default()));
                rings.len() - 1
            });
            let Ring { spaces, turn } = &mut rings[at].1;
            let slot = *turn;
            *turn = (slot + 1) % self.count(key).get();
            if slot == spaces.len() {
                spaces.push(Space { var: self.engine.new_var(), block: None });
            }
            let space = &mut spaces[slot];
            match &space.block {
                Some(block) if block.len() >= n_bytes => {
                    return Ok(TempSpace { var: space.var.clone(), block: block.clone() });
                }
                _ => (slot, space.var.clone(), space.block.take()),
            }
        };
        // Frees the old block, which was too small. If operators that use the old block are still pending, the last of
        // them frees it.
        if key.is_host() {
            give_back(outgrown);
        } else {
            // The pool keeps the memory: to return it, the host would have to wait until the device no longer uses it.
            drop(outgrown);
        }
        let tag = Tag::new("resource:temp_space");
        let block = Arc::new(allocate_for((&self.engine, &self.storage), key, n_bytes, tag, &var)?);
        let mut rings = self.rings.lock();
        let space = rings.iter_mut().find(|(of, _)| *of == key).map(|(_, ring)| &mut ring.spaces[slot]);
        // Another thread may have stored a larger block in the same workspace meanwhile; that block stays.
        if let Some(space) = space
            && space.block.as_ref().is_none_or(|other| other.len() < block.len())
        {
            space.block = Some(block.clone());
        }
        Ok(TempSpace { var, block })
    }

    /// Frees the workspaces that no operator uses or waits for.
    pub fn release_idle(&self, device: Device) {
        let mut idle = Vec::new();
        {
            let mut rings = self.rings.lock();
            let of_device = rings.iter_mut().filter(|(of, _)| *of == Self::key(device));
            for space in of_device.flat_map(|(_, ring)| &mut ring.spaces) {
                idle.push(space.block.take_if(|block| Arc::strong_count(block) == 1));
            }
        }
        idle.into_iter().for_each(give_back);
    }

    fn count(&self, device: Device) -> NonZeroUsize {
        if device.is_host() { self.counts.cpu } else { self.counts.gpu }
    }

    /// The device whose workspaces `device` uses: all CPU devices share those of `cpu(0)`.
    fn key(device: Device) -> Device {
        if device.is_host() { Device::cpu(0) } else { device }
    }
}

/// Frees a block, unless it has another owner. The memory goes directly to the device, not into a pool for reuse.
fn give_back(block: Option<Arc<Block>>) {
    if let Some(block) = block.and_then(Arc::into_inner) {
        block.free_directly();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_engine::EngineConfig;
    use mxrs_simulated_gpu::SimulatedMemory;
    use mxrs_storage::StorageConfig;

    const CPU: Device = Device::cpu(0);
    const MIB: usize = 1 << 20;

    fn spaces(n_cpu: usize) -> (Arc<TempSpaces>, Storage) {
        let memories = [Device::cpu(0), Device::gpu(0), Device::gpu(1)].map(|d| SimulatedMemory::new(d, 64 << 20));
        let builder = Storage::builder(StorageConfig::default());
        let storage = memories.into_iter().fold(builder, |b, memory| b.device(Arc::new(memory))).build().unwrap();
        let engine = Engine::new(EngineConfig::default()).unwrap();
        let counts = TempSpaceCounts { cpu: NonZeroUsize::new(n_cpu).unwrap(), ..TempSpaceCounts::default() };
        (TempSpaces::new(&engine, &storage, counts), storage)
    }

    fn address(space: &TempSpace) -> usize {
        space.block().as_ptr().addr()
    }

    #[test]
    fn r5_addresses_are_stable_between_requests_of_one_size() {
        let (spaces, _) = spaces(2);
        let take = |n| address(&spaces.take(CPU, n).unwrap());
        let first = [take(1000), take(1000)];
        assert_ne!(first[0], first[1]);
        assert_eq!([take(1000), take(1)], first, "in turn, and smaller requests fit");
        let grown = [take(MIB), take(1000)];
        assert_eq!(grown[1], first[1], "the other one did not grow");
        assert_eq!([take(MIB), take(1000)], grown);
    }

    #[test]
    fn cpus_share_theirs_and_each_gpu_has_its_own() {
        let (spaces, _) = spaces(3);
        let take = |device| spaces.take(device, 64).unwrap().var().id();
        let on_cpu: Vec<u64> = (0..6).map(|i| take(Device::cpu(i))).collect();
        assert_eq!(on_cpu[..3], on_cpu[3..]);
        let mut all = vec![on_cpu[0], on_cpu[1], on_cpu[2], take(Device::gpu(0)), take(Device::gpu(1))];
        assert_eq!((take(Device::gpu(0)), take(Device::gpu(1))), (all[3], all[4]), "one of each");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn a_smaller_block_lives_as_long_as_somebody_has_it() {
        let (spaces, storage) = spaces(1);
        let small = spaces.take(CPU, 4096).unwrap();
        let large = spaces.take(CPU, 8192).unwrap();
        assert_eq!(small.var().id(), large.var().id());
        assert_eq!(storage.stats(CPU).live_requested, 4096 + 8192);
        drop(small);
        assert_eq!(storage.stats(CPU).live_requested, 8192);
        assert_eq!(address(&spaces.take(CPU, 4096).unwrap()), address(&large));
    }

    #[test]
    fn where_memory_is_short_idle_ones_are_given_back() {
        let (spaces, storage) = spaces(2);
        let used = spaces.take(CPU, 16 * MIB).unwrap();
        drop(spaces.take(CPU, 40 * MIB).unwrap());
        assert_eq!(storage.stats(CPU).live_requested, (56 * MIB) as u64);
        let block = storage.allocate(CPU, 30 * MIB, Tag::new("test")).expect("an idle workspace makes room");
        assert_eq!(storage.stats(CPU).live_requested, (46 * MIB) as u64);
        drop(block);
        assert!(spaces.take(CPU, 100 * MIB).is_err());
        drop(used);
        assert!(spaces.take(CPU, 60 * MIB).is_ok(), "a failed request left nothing behind");
    }
}
