//! The parts of a runtime that training uses: optimizers by name, and [`mxrs_train::Host`].

use crate::Runtime;
use mxrs_exec::BindOptions;
use mxrs_kvstore::KvStore;
use mxrs_ndarray::ArrayContext;
use mxrs_optim::Optimizer;
use mxrs_types::Result;
use std::sync::Arc;

impl Runtime {
    /// Creates an optimizer by MXNet's name, with settings as text: [`mxrs_optim::create`]. Rust code usually uses types
    /// such as [`optimizers::Sgd`](mxrs_optim::optimizers::Sgd) instead.
    ///
    /// # Errors
    /// Returns an error if the name is unknown or the optimizer refuses a setting.
    pub fn optimizer(&self, name: &str, params: &[(&str, &str)]) -> Result<Box<dyn Optimizer>> {
        mxrs_optim::create(name, params)
    }
}

impl mxrs_train::Host for Runtime {
    fn arrays(&self) -> &ArrayContext {
        Self::arrays(self)
    }

    fn bind_options(&self) -> BindOptions {
        Self::bind_options(self)
    }

    fn kvstore(&self, name: &str) -> Result<Arc<dyn KvStore>> {
        Self::kvstore(self, name)
    }

    fn update_on_kvstore(&self) -> bool {
        self.settings().kvstore.update_on_kvstore
    }
}
