//! What an array needs from its surroundings: an engine and a storage manager.

use mxrs_engine::Engine;
use mxrs_storage::Storage;

/// Engine and storage that arrays are made with; cheap to clone.
#[derive(Clone)]
pub struct ArrayContext {
    engine: Engine,
    storage: Storage,
}

impl ArrayContext {
    /// Arrays ordered by `engine`, stored in `storage`.
    pub fn new(engine: Engine, storage: Storage) -> Self {
        Self { engine, storage }
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
