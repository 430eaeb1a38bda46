//! What turns gradients into new weights, as the training loop sees it.

use indexmap::IndexMap;
use mxrs_exec::Imperative;
use mxrs_format::Tensor;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// A parameter, and where its gradient is.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name: what states are kept under.
    pub name: String,
    /// Its value, which is overwritten.
    pub weight: NdArray,
    /// Its gradient.
    pub grad: NdArray,
}

/// Everything an optimizer needs to go on as if it had never stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerStates {
    /// Arrays, such as momenta, by a name made of the parameter's: `state/fc1_weight/mom`.
    pub tensors: IndexMap<String, Tensor>,
    /// Numbers and words: the count of updates, what the optimizer is called.
    pub metadata: IndexMap<String, String>,
}

/// Updates weights: an optimizer with the states of all parameters.
pub trait WeightUpdate: Send {
    /// What gradients are multiplied by; one over the batch size, as a rule.
    fn set_rescale_grad(&mut self, rescale: f64);

    /// The learning rate of the next update.
    fn learning_rate(&self) -> f64;

    /// Updates so far.
    fn num_update(&self) -> u64;

    /// Updates every parameter once.
    ///
    /// # Errors
    /// What operators report.
    fn update(&mut self, nd: &Imperative, params: &[Parameter]) -> Result<()>;

    /// States of all parameters that were updated.
    ///
    /// # Errors
    /// What computing them reported.
    fn states(&self) -> Result<OptimizerStates>;

    /// Goes on from these.
    ///
    /// # Errors
    /// States of another optimizer, of parameters that are not there, or of other shapes.
    fn set_states(&mut self, nd: &Imperative, params: &[Parameter], states: &OptimizerStates) -> Result<()>;
}
