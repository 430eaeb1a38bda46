//! What an array needs from its surroundings: an engine, a storage manager and a source of random numbers.

use crate::RandomSource;
use mxrs_engine::Engine;
use mxrs_storage::Storage;
use std::sync::Arc;

/// Engine and storage that arrays are made with, and the random numbers of operators on them; cheap to clone.
#[derive(Clone)]
pub struct ArrayContext {
    engine: Engine,
    storage: Storage,
    random: Arc<RandomSource>,
}

impl ArrayContext {
    /// Arrays ordered by `engine`, stored in `storage`; random numbers are seeded by the clock.
    pub fn new(engine: Engine, storage: Storage) -> Self {
        Self { engine, storage, random: Arc::new(RandomSource::from_clock()) }
    }

    /// Where random operators get their numbers.
    pub fn random(&self) -> &RandomSource {
        &self.random
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
