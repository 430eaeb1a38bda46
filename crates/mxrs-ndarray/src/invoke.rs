//! The interface through which optimizers and parameter stores call operators by name.

use crate::{ArrayContext, NdArray};
use mxrs_types::Result;

/// Runs operators on arrays. The imperative executor implements it; this crate knows no operator.
///
/// These calls are not recorded for gradients.
pub trait Invoke {
    /// The context in which new arrays are made: engine, storage and random numbers.
    fn context(&self) -> &ArrayContext;

    /// Runs an operator and returns its outputs. Attributes are texts, as in a symbol file. The outputs are ready once
    /// the engine has run the call.
    ///
    /// # Errors
    /// Returns an error if the operator is unknown or refuses attributes or inputs.
    fn invoke(&self, op: &str, attrs: &[(&'static str, String)], inputs: &[&NdArray]) -> Result<Vec<NdArray>>;

    /// Runs an operator and writes its outputs to `outputs`, each of which may also be an input.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`], or an error if the number, a shape or a type of the outputs is wrong.
    fn invoke_into(
        &self,
        op: &str,
        attrs: &[(&'static str, String)],
        inputs: &[&NdArray],
        outputs: &[&NdArray],
    ) -> Result<()>;

    /// Number of weights that one update call takes, unless the optimizer sets another number
    /// (`MXNET_OPTIMIZER_AGGREGATION_SIZE`).
    fn n_aggregated(&self) -> usize {
        1
    }
}
