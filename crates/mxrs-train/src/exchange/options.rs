//! Which store sums the gradients of several devices, and who updates the weights.

use crate::host::Stores;
use mxrs_kvstore::{Compression, KvStore, StoreType};
use mxrs_types::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The key-value store that sums gradients over devices.
#[derive(Clone)]
pub enum KvStoreChoice {
    /// No store. Several devices then train apart, each with the gradients of its own part of a batch.
    None,
    /// The store of this name, such as `local` or `device`, which the [host](crate::Host) makes. If there is one device, a
    /// store that connects no other processes has nothing to sum, so none is made.
    Name(String),
    /// This store, whose keys are the names of the parameters. It is used even if there is one device.
    Store(Arc<dyn KvStore>),
}

impl Default for KvStoreChoice {
    /// The store `local`, as in MXNet's module.
    fn default() -> Self {
        Self::Name("local".into())
    }
}

impl From<&str> for KvStoreChoice {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<Arc<dyn KvStore>> for KvStoreChoice {
    fn from(store: Arc<dyn KvStore>) -> Self {
        Self::Store(store)
    }
}

impl fmt::Debug for KvStoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Name(name) => write!(f, "Name({name:?})"),
            Self::Store(store) => write!(f, "Store({})", store.store_type()),
        }
    }
}

/// How gradients are summed over devices, and who updates the weights.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// The store; default `local`.
    pub kvstore: KvStoreChoice,
    /// Whether the store updates the weights and sends them to the devices. Otherwise it sends the sums of the gradients, and
    /// each device updates its own copy of the weights. `None` leaves the choice to the type of the store, the size of the
    /// parameters and [`Host::update_on_kvstore`](crate::Host::update_on_kvstore).
    pub update_on_kvstore: Option<bool>,
    /// How the store compresses gradients; `None` means that it does not.
    pub compression: Option<Compression>,
}

impl StoreOptions {
    /// Options with this store.
    pub fn new(kvstore: impl Into<KvStoreChoice>) -> Self {
        Self { kvstore: kvstore.into(), ..Self::default() }
    }

    /// Whether servers keep the weights. Servers take the weights only once, when the optimizer is initialized.
    pub(crate) fn is_served(&self) -> bool {
        match &self.kvstore {
            KvStoreChoice::None => false,
            KvStoreChoice::Name(name) => name.parse().is_ok_and(|store: StoreType| store.must_update()),
            KvStoreChoice::Store(store) => store.store_type().must_update(),
        }
    }

    /// Chooses the store and whether it updates the weights, by the same rules as MXNet. `None` means that no store is used.
    ///
    /// # Errors
    /// Returns an error if no store has the name, or if the store cannot do what `update_on_kvstore` says.
    pub(crate) fn decide(&self, of: &Trained, stores: &Stores) -> Result<Option<(Arc<dyn KvStore>, bool)>> {
        let (store, largest) = match &self.kvstore {
            KvStoreChoice::None => return Ok(None),
            KvStoreChoice::Name(name) => {
                let is_needless = |store: &StoreType| of.n_devices == 1 && !store.is_distributed();
                if name.parse().is_ok_and(|store| is_needless(&store)) {
                    return Ok(None);
                }
                let store = stores.create(name)?;
                if is_needless(store.store_type()) {
                    return Ok(None);
                }
                (store, of.largest)
            }
            // In MXNet, the size of the parameters decides who updates only if MXNet creates the store by its name. For a
            // given store, 0 is passed instead of the size.
            KvStoreChoice::Store(store) => (Arc::clone(store), 0),
        };
        let store_type = store.store_type();
        let refused = |got: &str, expected: String| {
            Err(Error::invalid("update_on_kvstore", got, format!("{expected} with the store `{store_type}`")))
        };
        let on_store = match self.update_on_kvstore {
            Some(false) if store_type.must_update() => return refused("false", "true".into()),
            Some(true) if !store_type.can_update() => return refused("true", "false".into()),
            Some(true) if of.has_scalars && store.num_workers() > 1 && !store_type.must_update() => {
                return refused("true", "false for an optimizer with a schedule of its own".into());
            }
            Some(true) if of.n_at_once > 1 => {
                let expected = format!("false with aggregate_num {}", of.n_at_once);
                return refused("true", expected);
            }
            Some(given) => given,
            None if store_type.must_update() => true,
            // If the workers divided the updates, each would count only its own calls in these numbers, so each device
            // updates all weights instead.
            None if of.has_scalars && store.num_workers() > 1 => false,
            None => stores.update_on_kvstore && store_type.updates_by_default(largest) && of.n_at_once <= 1,
        };
        Ok(Some((store, on_store)))
    }
}

/// The properties of a training on which the choice of the store depends.
pub(crate) struct Trained {
    pub n_devices: usize,
    /// The number of elements of the largest parameter.
    pub largest: usize,
    /// Whether the optimizer keeps numbers that change with each of its calls, such as the momentum schedule of Nadam.
    pub has_scalars: bool,
    /// The number of weights that one call of the optimizer updates, if the user has set it (`aggregate_num`); otherwise 1.
    /// A store updates one parameter at a time, so it is not chosen to update the weights if this number is larger than 1.
    pub n_at_once: usize,
}
