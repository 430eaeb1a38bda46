//! What an optimizer is.

use crate::{Common, Param, State};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result};

/// A formula for new weights, with its settings.
pub trait Optimizer: Send {
    /// MXNet's name, in small letters.
    fn name(&self) -> &'static str;

    /// What all optimizers have.
    fn common(&self) -> &Common;

    /// As [`Self::common`], to change it.
    fn common_mut(&mut self) -> &mut Common;

    /// Its own settings and their texts, for a file of states.
    fn settings(&self) -> Vec<(&'static str, String)>;

    /// Names of the arrays it keeps for a weight.
    fn slots(&self) -> Vec<&'static str>;

    /// Makes the states of a weight: zeros in the weight's shape and type. `index` is the parameter's place.
    ///
    /// # Errors
    /// Out of memory; a weight this optimizer has no formula for.
    fn create_state(&self, nd: &Imperative, index: usize, weight: &NdArray) -> Result<State> {
        let _ = index;
        let zeros = |slot| Ok((slot, NdArray::zeros(nd.context(), weight.shape().clone(), weight.dtype())?));
        Ok(State { slots: self.slots().into_iter().map(zeros).collect::<Result<_>>()?, ..State::none() })
    }

    /// Whether it updates master weights itself; for others the updater keeps them and hands them in as the weight.
    fn is_mixed(&self) -> bool {
        false
    }

    /// The most weights that one call of [`Self::update`] can take, whatever [`Common::aggregate_num`] asks for; 1 for
    /// optimizers that do not aggregate.
    fn aggregates(&self) -> usize {
        1
    }

    /// Updates weights of one type, as many as [`Self::aggregates`] and [`Common::aggregate_num`] allow.
    ///
    /// # Errors
    /// What operators report.
    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()>;

    /// Numbers besides arrays and counts that the next update depends on, by name.
    fn scalars(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Goes on from such a number.
    ///
    /// # Errors
    /// It has none of this name.
    fn set_scalar(&mut self, name: &str, value: f64) -> Result<()> {
        let _ = value;
        Err(Error::invalid(format!("number of optimizer {}", self.name()), name, "none"))
    }
}

/// Whether a type is one that master weights are for.
pub(crate) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}
