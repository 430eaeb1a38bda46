//! Which store a name makes. Crates with further stores add their names.

use crate::in_process::InProcess;
use crate::name::{Family, NAMES, unknown};
use crate::{KvStore, KvStoreOptions, StoreType};
use indexmap::IndexMap;
use mxrs_ndarray::ArrayContext;
use mxrs_types::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// Makes a store: the name as the user gave it, the context of its arrays, the settings.
pub type Constructor = Arc<dyn Fn(&str, &ArrayContext, &KvStoreOptions) -> Result<Arc<dyn KvStore>> + Send + Sync>;

/// The stores by name. Upper and lower case are equal in a name.
#[derive(Clone, Default)]
pub struct StoreRegistry {
    added: IndexMap<String, Constructor>,
}

impl StoreRegistry {
    /// A registry with the stores of this crate: `local` and `device`, with their aliases.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a store under a new name, or as the implementation of a name of MXNet.
    ///
    /// # Errors
    /// Fails if the name was added before.
    pub fn register(&mut self, name: &str, constructor: Constructor) -> Result<()> {
        let lower = name.to_lowercase();
        if self.added.contains_key(&lower) {
            return Err(Error::invalid("name of a store to add", format!("`{name}` again"), "a name without a store"));
        }
        self.added.insert(lower, constructor);
        Ok(())
    }

    /// Makes the store of this name.
    ///
    /// # Errors
    /// Fails for an unknown name, with the nearest names and the list of all; for a store that this build does not have;
    /// and for the reasons of the constructor.
    pub fn create(&self, name: &str, context: &ArrayContext, options: &KvStoreOptions) -> Result<Arc<dyn KvStore>> {
        if let Some(constructor) = self.added.get(&name.to_lowercase()) {
            return constructor(name, context, options);
        }
        let Ok(store_type) = name.parse::<StoreType>() else {
            return Err(unknown(name, &self.names()));
        };
        match store_type.family() {
            Family::InProcess => Ok(Arc::new(InProcess::new(store_type, context, options))),
            _ => {
                let reason = format!("it needs a crate that registers it; {} are built in", built_in().join(", "));
                Err(Error::not_built(format!("the key-value store `{name}`"), reason))
            }
        }
    }

    /// All names: MXNet's, then those that were added.
    pub fn names(&self) -> Vec<&str> {
        let added = self.added.keys().map(String::as_str).filter(|name| !NAMES.contains(name));
        NAMES.into_iter().chain(added).collect()
    }
}

/// The names of the stores of this crate.
fn built_in() -> Vec<&'static str> {
    let is_here = |name: &&str| name.parse::<StoreType>().is_ok_and(|t| t.family() == Family::InProcess);
    NAMES.into_iter().filter(is_here).collect()
}

impl fmt::Debug for StoreRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreRegistry").field("names", &self.names()).finish()
    }
}
