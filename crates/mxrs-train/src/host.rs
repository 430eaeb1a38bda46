//! What trained networks run on.

use mxrs_exec::BindOptions;
use mxrs_ndarray::ArrayContext;

/// What a [`Module`](crate::Module) runs on: memory and threads, and how graphs are bound. The facade's `Runtime` is one; so is
/// the pair of both.
pub trait Host {
    /// Engine, storage and random numbers of arrays.
    fn arrays(&self) -> &ArrayContext;

    /// Backends, operators and passes of bound graphs.
    fn bind_options(&self) -> BindOptions;
}

impl Host for (ArrayContext, BindOptions) {
    fn arrays(&self) -> &ArrayContext {
        &self.0
    }

    fn bind_options(&self) -> BindOptions {
        self.1.clone()
    }
}
