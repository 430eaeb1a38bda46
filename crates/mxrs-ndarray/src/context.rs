//! What an array needs from its surroundings: an engine, a storage manager and what operators share.

use crate::{RandomCopies, RandomSource, TempSpaceCounts, TempSpaces};
use mxrs_engine::Engine;
use mxrs_storage::Storage;
use std::sync::Arc;

/// Engine and storage that arrays are made with, and the resources of operators on them: random numbers and temporary
/// workspaces; cheap to clone.
#[derive(Clone)]
pub struct ArrayContext {
    engine: Engine,
    storage: Storage,
    random: Arc<RandomSource>,
    temp_spaces: Arc<TempSpaces>,
}

/// How many there are of what operators share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ResourceCounts {
    /// Temporary workspaces.
    pub temp_spaces: TempSpaceCounts,
    /// Random generators.
    pub random: RandomCopies,
}

impl ArrayContext {
    /// Arrays ordered by `engine`, stored in `storage`; random numbers are seeded by the clock.
    pub fn new(engine: Engine, storage: Storage) -> Self {
        Self::with_resources(engine, storage, ResourceCounts::default())
    }

    /// As [`Self::new`], with so many resources.
    pub fn with_resources(engine: Engine, storage: Storage, counts: ResourceCounts) -> Self {
        let temp_spaces = TempSpaces::new(&engine, &storage, counts.temp_spaces);
        Self { engine, storage, random: Arc::new(RandomSource::from_clock(counts.random)), temp_spaces }
    }

    /// Where random operators get their numbers.
    pub fn random(&self) -> &RandomSource {
        &self.random
    }

    /// Where operators that are called alone get their workspaces.
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
