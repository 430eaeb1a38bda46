//! Key-value stores by name, with the settings of a runtime.

use crate::{Runtime, RuntimeBuilder, settings};
use mxrs_env::Settings;
use mxrs_kvstore::tree::LinkFacts;
use mxrs_kvstore::{Constructor, KvStore, KvStoreOptions, LinkSource, StoreRegistry};
use mxrs_ndarray::ArrayContext;
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// Stores that are not part of mxrs, with their names.
#[derive(Default)]
pub(crate) struct AddedStores(Vec<(String, Constructor)>);

impl AddedStores {
    /// A registry of the stores of this build and of the added stores.
    ///
    /// # Errors
    /// Returns an error if two added stores have the same name.
    pub(crate) fn registry(self, settings: &Settings) -> Result<StoreRegistry> {
        let mut registry = StoreRegistry::new();
        let distributed = crate::distributed::constructor(settings);
        for name in crate::distributed::NAMES {
            if !self.0.iter().any(|(added, _)| added.eq_ignore_ascii_case(name)) {
                registry.register(name, Arc::clone(&distributed))?;
            }
        }
        let asynchronous = crate::asynchronous::constructor(settings);
        for name in crate::asynchronous::NAMES {
            if !self.0.iter().any(|(added, _)| added.eq_ignore_ascii_case(name)) {
                registry.register(name, Arc::clone(&asynchronous))?;
            }
        }
        for (name, constructor) in self.0 {
            registry.register(&name, constructor)?;
        }
        Ok(registry)
    }
}

impl RuntimeBuilder {
    /// Adds a key-value store that is not part of mxrs, or replaces the store that a name of MXNet makes. Upper and lower case
    /// are equal in a name. The constructor is given the name as [`Runtime::kvstore`] got it, and
    /// [`Runtime::kvstore_options`].
    pub fn kvstore(mut self, name: impl Into<String>, constructor: Constructor) -> Self {
        self.stores.0.push((name.into(), constructor));
        self
    }
}

impl Runtime {
    /// Creates the key-value store of this name: `local`, `device`, `dist_sync`, `p3`, `horovod`,
    /// `dist_async` (with the feature `grpc`), an alias of them, or the name of a store
    /// that [`RuntimeBuilder::kvstore`] added.
    ///
    /// The stores `dist_sync`, `p3` and `horovod` connect processes that a launcher has started, such as `mxrs launch` or
    /// `mpirun`. The first of them connects this process to the others, and waits for them.
    ///
    /// ```
    /// use mxrs::Runtime;
    /// use mxrs::ndarray::NdArray;
    /// use mxrs::types::Device;
    ///
    /// let runtime = Runtime::from_env()?;
    /// let store = runtime.kvstore("local")?;
    /// let on = |id, gradient: &[f32]| NdArray::from_slice_on(runtime.arrays(), [2], gradient, Device::cpu(id));
    /// store.init(&[("weight".into(), on(0, &[0.0, 0.0])?)])?;
    ///
    /// let gradients = [on(0, &[1.0, 2.0])?, on(1, &[10.0, 20.0])?];
    /// store.pushpull(&gradients.each_ref().map(|gradient| ("weight".into(), gradient.into())), &[], 0)?;
    /// assert_eq!(gradients[1].to_vec::<f32>()?, [11.0, 22.0]);
    /// # Ok::<(), mxrs::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for an unknown name, with the nearest names and the list of all, and for a store that this build does
    /// not have. A store of several processes also fails if no launcher has started this process, or if the others do not join;
    /// `dist_async` fails if the servers do not answer.
    pub fn kvstore(&self, name: &str) -> Result<Arc<dyn KvStore>> {
        self.stores().create(name, self.arrays(), &self.kvstore_options())
    }

    /// Options of key-value stores according to the settings. The runtime's team sums large arrays. The links between devices
    /// are those that the registered devices report.
    pub fn kvstore_options(&self) -> KvStoreOptions {
        // If the user has switched direct copies off, the links are not given, so that no warning says that they are
        // missing.
        let links = self.settings().kvstore.gpu_p2p.then(|| links(self.arrays()));
        KvStoreOptions { team: Some(Arc::clone(self.team())), links, ..settings::kvstore(self.settings()) }
    }
}

/// The links between the devices of `arrays`. A device does not report the speed of a link, so all ranks are 0.
fn links(arrays: &ArrayContext) -> LinkSource {
    let arrays = arrays.clone();
    Arc::new(move |devices: &[Device]| {
        let pairs = devices.iter().flat_map(|from| devices.iter().map(move |to| (*from, *to)));
        let is_direct = pairs.map(|(from, to)| arrays.copies_directly(from, to)).collect();
        LinkFacts { is_direct, ..LinkFacts::indirect(devices.len()) }
    })
}
