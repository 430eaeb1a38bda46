//! The trait of all optimizers.

use crate::{Common, Param, State};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::{DType, Error, Result};

/// A formula for new weights, with its settings.
pub trait Optimizer: Send {
    /// MXNet's name of the optimizer, in lower case.
    fn name(&self) -> &'static str;

    /// The settings that all optimizers have, and the counts of updates.
    fn common(&self) -> &Common;

    /// The settings that all optimizers have, and the counts of updates, for changing them.
    fn common_mut(&mut self) -> &mut Common;

    /// The names and values of the settings that only this optimizer has. The values are texts, as stored in a file of
    /// states.
    fn settings(&self) -> Vec<(&'static str, String)>;

    /// Names of the arrays that the optimizer keeps for a weight.
    fn slots(&self) -> Vec<&'static str>;

    /// Makes the states of a weight: zeros in the weight's shape and type. `index` is the position of the parameter
    /// among the parameters that are updated.
    ///
    /// # Errors
    /// Fails if memory runs out, or if the optimizer does not support the shape or dtype of the weight.
    fn create_state(&self, nd: &dyn Invoke, index: usize, weight: &NdArray) -> Result<State> {
        let _ = index;
        let (shape, dtype, device) = (weight.shape(), weight.dtype(), weight.device());
        let zeros = |slot| Ok((slot, NdArray::zeros_on(nd.context(), shape.clone(), dtype, device)?));
        Ok(State { slots: self.slots().into_iter().map(zeros).collect::<Result<_>>()?, ..State::none() })
    }

    /// Whether the optimizer itself updates master weights (float32 copies of half-precision weights). Otherwise the
    /// updater keeps the master weights, and passes them to the optimizer as the weights to update.
    fn is_mixed(&self) -> bool {
        false
    }

    /// Whether a part of a weight can be updated without its other parts. Optimizers that use the norm of a weight or of a
    /// gradient cannot do this.
    fn is_elementwise(&self) -> bool {
        true
    }

    /// The largest number of weights that one call of [`Self::update`] can take, regardless of [`Common::aggregate_num`]; 1
    /// for optimizers that do not aggregate.
    fn aggregates(&self) -> usize {
        1
    }

    /// Updates weights of the same type. Their number is limited by [`Self::aggregates`] and [`Common::aggregate_num`].
    ///
    /// # Errors
    /// Fails if an operator fails.
    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()>;

    /// Numbers, each with its name, that the next update depends on and that are neither in an array nor a count of
    /// updates.
    fn scalars(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// To resume a training, sets one of the numbers that [`scalars`](Self::scalars) returned.
    ///
    /// # Errors
    /// Fails if the optimizer has no number of this name.
    fn set_scalar(&mut self, name: &str, value: f64) -> Result<()> {
        let _ = value;
        Err(Error::invalid(format!("number of optimizer {}", self.name()), name, "none"))
    }
}

/// Whether weights of this type may have a master weight, which is a float32 copy.
pub(crate) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}
