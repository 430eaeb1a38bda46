//! The engine, storage and backends that a module runs on.

use mxrs_exec::BindOptions;
use mxrs_ndarray::ArrayContext;

/// What a [`Module`](crate::Module) runs on: the engine and storage of its arrays, and the options for binding graphs. The
/// facade's `Runtime` implements it, and so does the pair `(ArrayContext, BindOptions)`.
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
