//! The environment of arrays: an engine, a storage, and the resources that operators share.

use crate::{RandomCopies, RandomSource, TempSpaceCounts, TempSpaces};
use mxrs_engine::Engine;
use mxrs_storage::Storage;
use std::sync::Arc;

/// The engine and storage with which arrays are made, and the shared resources of operators: random generators and
/// temporary workspaces. Cheap to clone.
#[derive(Clone)]
pub struct ArrayContext {
    engine: Engine,
    storage: Storage,
    random: Arc<RandomSource>,
    temp_spaces: Arc<TempSpaces>,
}

/// How many shared resources of each kind a context has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ResourceCounts {
    /// How many temporary workspaces there are.
    pub temp_spaces: TempSpaceCounts,
    /// How many random generators each device has.
    pub random: RandomCopies,
}

impl ArrayContext {
    /// Makes a context of `engine` and `storage`; random generators are seeded by the clock.
    pub fn new(engine: Engine, storage: Storage) -> Self {
        Self::with_resources(engine, storage, ResourceCounts::default())
    }

    /// [`Self::new`] with other numbers of shared resources.
    pub fn with_resources(engine: Engine, storage: Storage, counts: ResourceCounts) -> Self {
        let temp_spaces = TempSpaces::new(&engine, &storage, counts.temp_spaces);
        Self { engine, storage, random: Arc::new(RandomSource::from_clock(counts.random)), temp_spaces }
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
