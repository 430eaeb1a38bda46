//! The engine, storage and backends that a module runs on.

use mxrs_exec::BindOptions;
use mxrs_kvstore::{KvStore, KvStoreOptions, StoreRegistry};
use mxrs_ndarray::ArrayContext;
use mxrs_types::Result;
use std::sync::Arc;

/// What a [`Module`](crate::Module) runs on: the engine and storage of its arrays, and the options for binding graphs. The
/// facade's `Runtime` implements it, and so does the pair `(ArrayContext, BindOptions)`. Clones are handles to the same host.
pub trait Host: Clone + Send + Sync + 'static {
    /// Engine, storage and random numbers of arrays.
    fn arrays(&self) -> &ArrayContext;

    /// Backends, operators and passes of bound graphs.
    fn bind_options(&self) -> BindOptions;

    /// Creates the key-value store of this name, such as `local` or `device`. The default implementation creates the stores
    /// that connect devices of one process, with MXNet's default settings.
    ///
    /// # Errors
    /// Returns an error if no store has the name.
    fn kvstore(&self, name: &str) -> Result<Arc<dyn KvStore>> {
        StoreRegistry::new().create(name, self.arrays(), &KvStoreOptions::default())
    }

    /// Whether the store updates the weights, if nothing else decides (`MXNET_UPDATE_ON_KVSTORE`; default true). Otherwise
    /// it only sums gradients, and each device updates its own copy of the weights.
    fn update_on_kvstore(&self) -> bool {
        true
    }
}

impl Host for (ArrayContext, BindOptions) {
    fn arrays(&self) -> &ArrayContext {
        &self.0
    }

    fn bind_options(&self) -> BindOptions {
        self.1.clone()
    }
}

/// Makes the store of a name.
type Create = dyn Fn(&str) -> Result<Arc<dyn KvStore>> + Send + Sync;

/// Creates stores as a host does. A module keeps this value, because it creates its store later than it is given the host.
#[derive(Clone)]
pub(crate) struct Stores {
    create: Arc<Create>,
    /// [`Host::update_on_kvstore`].
    pub update_on_kvstore: bool,
}

impl Stores {
    pub fn of(host: &impl Host) -> Self {
        let update_on_kvstore = host.update_on_kvstore();
        let host = host.clone();
        Self { create: Arc::new(move |name| host.kvstore(name)), update_on_kvstore }
    }

    /// Makes the store of this name.
    pub fn create(&self, name: &str) -> Result<Arc<dyn KvStore>> {
        (self.create)(name)
    }
}
