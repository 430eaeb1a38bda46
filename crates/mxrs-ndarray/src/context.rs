//! The environment of arrays: an engine, a storage, devices, and the resources that operators share.

use crate::device::{Devices, allocate_for};
use crate::{RandomCopies, RandomSource, TempSpaceCounts, TempSpaces};
use mxrs_engine::{Engine, Var};
use mxrs_storage::{Block, DeviceCopies, Storage, Tag};
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// The engine and storage with which arrays are made, the devices on which they may live, and the shared resources of
/// operators: random generators and temporary workspaces. Cheap to clone.
#[derive(Clone)]
pub struct ArrayContext {
    engine: Engine,
    storage: Storage,
    random: Arc<RandomSource>,
    temp_spaces: Arc<TempSpaces>,
    devices: Devices,
}

/// How many shared resources of each kind a context has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ResourceCounts {
    /// How many temporary workspaces there are.
    pub temp_spaces: TempSpaceCounts,
    /// How many random generators each device has.
    pub random: RandomCopies,
}

/// Builds an [`ArrayContext`] with devices; see [`ArrayContext::builder`].
#[must_use = "a context is made by `build`"]
pub struct ArrayContextBuilder {
    engine: Engine,
    storage: Storage,
    counts: ResourceCounts,
    devices: Vec<Arc<dyn DeviceCopies>>,
    are_copies_direct: bool,
}

impl ArrayContextBuilder {
    /// Sets the numbers of shared resources.
    pub fn resources(mut self, counts: ResourceCounts) -> Self {
        self.counts = counts;
        self
    }

    /// Registers a device whose memory the host cannot access. The storage of this context must have the memory of the
    /// device, and the engine must have its streams.
    pub fn device(mut self, copies: Arc<dyn DeviceCopies>) -> Self {
        self.devices.push(copies);
        self
    }

    /// Sets whether devices copy to each other directly where they [reach](DeviceCopies::reaches) each other, which is the
    /// default. Otherwise all copies between devices go through host memory.
    pub fn direct_copies(mut self, are_direct: bool) -> Self {
        self.are_copies_direct = are_direct;
        self
    }

    /// Makes the context; random generators are seeded by the clock.
    ///
    /// # Errors
    /// Fails for a registered device that is host memory, occurs twice, or has no memory in the storage.
    pub fn build(self) -> Result<ArrayContext> {
        let devices = Devices::new(self.devices, &self.storage, self.are_copies_direct)?;
        Ok(ArrayContext { devices, ..ArrayContext::with_resources(self.engine, self.storage, self.counts) })
    }
}

impl ArrayContext {
    /// Makes a context of `engine` and `storage` without devices: arrays are in host memory. Random generators are seeded
    /// by the clock.
    pub fn new(engine: Engine, storage: Storage) -> Self {
        Self::with_resources(engine, storage, ResourceCounts::default())
    }

    /// [`Self::new`] with other numbers of shared resources.
    pub fn with_resources(engine: Engine, storage: Storage, counts: ResourceCounts) -> Self {
        let temp_spaces = TempSpaces::new(&engine, &storage, counts.temp_spaces);
        let random = Arc::new(RandomSource::from_clock(counts.random));
        Self { engine, storage, random, temp_spaces, devices: Devices::default() }
    }

    /// Starts to build a context, to which devices can be added.
    pub fn builder(engine: Engine, storage: Storage) -> ArrayContextBuilder {
        let counts = ResourceCounts::default();
        ArrayContextBuilder { engine, storage, counts, devices: Vec::new(), are_copies_direct: true }
    }

    /// The registered devices, in the order in which they were registered. Host memory is always there, too.
    pub fn devices(&self) -> impl Iterator<Item = Device> + '_ {
        self.devices.iter().map(|device| device.device())
    }

    /// Checks that arrays can live on `device`.
    ///
    /// # Errors
    /// Fails for a device that is neither host memory nor registered; the message names the registered ones.
    pub fn check_device(&self, device: Device) -> Result<()> {
        self.devices.find(device).map(drop)
    }

    /// The copies of a registered device; `None` for host memory.
    ///
    /// # Errors
    /// Returns the error of [`Self::check_device`].
    pub fn copies(&self, device: Device) -> Result<Option<&Arc<dyn DeviceCopies>>> {
        Ok(self.devices.find(device)?.map(|device| &device.copies))
    }

    /// Whether copies from one device to another go directly between the two. False for host memory, for devices that are
    /// not registered, and if both are the same device.
    pub fn copies_directly(&self, from: Device, to: Device) -> bool {
        let is_registered = |device| self.devices.iter().any(|known| known.device() == device);
        let from = self.devices.iter().find(|known| known.device() == from && from != to);
        from.is_some_and(|from| is_registered(to) && from.reaches(to))
    }

    /// Allocates memory that is not an array, for tasks that write `var`. If a device still works with the memory for an
    /// earlier owner, the tasks that are pushed from now on wait for that work, on the device. The caller waits only for
    /// host memory. Before the block is freed, it must be given the events of the last work on it ([`Block::used_by`]).
    ///
    /// # Errors
    /// Fails if memory is short, or if the engine refuses the task that waits.
    pub fn allocate_for(&self, device: Device, n_bytes: usize, tag: Tag, var: &Var) -> Result<Block> {
        allocate_for((&self.engine, &self.storage), device, n_bytes, tag, var)
    }

    pub(crate) fn registered(&self) -> &Devices {
        &self.devices
    }

    /// The source of numbers for random operators.
    pub fn random(&self) -> &RandomSource {
        &self.random
    }

    /// The workspaces for operators that are called individually.
    pub fn temp_spaces(&self) -> &TempSpaces {
        &self.temp_spaces
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The storage manager.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }
}
