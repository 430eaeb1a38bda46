//! Arrays for programs: an [`NdArray`] together with what computes, so that `&a + &b` and `x.tanh()?` can be written.
//!
//! An operator such as `+` has no place for a `Result`. An [`Array`] that an operator could not make (shapes that do not
//! broadcast, say) therefore carries the error, and so does all that is computed from it. The error surfaces at the next
//! method that returns a `Result`, with the expression's place in the source. This is how the engine itself reports what a
//! kernel finds wrong: the failed array is written, and its reader gets the error.
//!
//! ```
//! # use mxrs_engine::{Engine, EngineConfig};
//! # use mxrs_exec::{BindOptions, Imperative};
//! # use mxrs_ndarray::ArrayContext;
//! # use mxrs_op::ReferenceBackend;
//! # use mxrs_storage::{Storage, StorageConfig};
//! # use std::sync::Arc;
//! # fn main() -> mxrs_types::Result<()> {
//! # let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! # let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
//! # options.ops = mxrs_ops::catalog();
//! # let nd = Imperative::new(&context, &options)?;
//! let a = nd.array([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
//! let b = nd.array([2], &[10.0f32, 20.0])?;
//! let c = 2.0 * &a + &b;
//! assert_eq!(c.to_string(), "[[12. 24.]\n [16. 28.]]");
//! assert_eq!(c.sum(..)?.to_vec::<f32>()?, [80.0]);
//!
//! let wrong = &a + nd.array([3], &[0.0f32; 3])?;
//! assert!((-wrong).sum(..).unwrap_err().to_string().contains("broadcast_add"));
//! # Ok(())
//! # }
//! ```
//!
//! Calls on tracked arrays are recorded within [`autograd::record`](crate::autograd::record), as all imperative calls are.

mod arithmetic;
mod axes;
mod display;
mod methods;

pub use axes::Axes;

use crate::imperative::Imperative;
use mxrs_ndarray::{Element, NdArray};
use mxrs_types::{DType, Error, Result, Shape};

/// An array and what computes with it; or the error of the operator that should have made it. Clones are handles to the same
/// memory. See the [module](self) for errors.
#[derive(Clone)]
pub struct Array {
    nd: Imperative,
    made: Result<NdArray>,
}

impl Array {
    pub(crate) fn new(nd: &Imperative, made: Result<NdArray>) -> Self {
        Self { nd: nd.clone(), made }
    }

    /// The array itself.
    ///
    /// # Errors
    /// The one of the operator that should have made it.
    pub fn as_nd(&self) -> Result<&NdArray> {
        self.made.as_ref().map_err(Error::clone)
    }

    /// What computes with it.
    pub fn imperative(&self) -> &Imperative {
        &self.nd
    }

    /// Sizes of its axes.
    ///
    /// # Errors
    /// As [`Self::as_nd`].
    pub fn shape(&self) -> Result<&Shape> {
        Ok(self.as_nd()?.shape())
    }

    /// Type of its elements.
    ///
    /// # Errors
    /// As [`Self::as_nd`].
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.as_nd()?.dtype())
    }

    /// Its elements in row-major order. Waits for them.
    ///
    /// # Errors
    /// As [`Self::as_nd`]; another type of elements; what computing them reported.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.as_nd()?.to_vec()
    }
}

impl Imperative {
    /// An array of these elements in row-major order.
    ///
    /// ```
    /// # use mxrs_exec::Imperative;
    /// fn ramp(nd: &Imperative) -> mxrs_types::Result<Vec<f32>> {
    ///     let x = nd.array([2, 3], &[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    ///     (&x * 0.5).to_vec()
    /// }
    /// ```
    ///
    /// # Errors
    /// Another number of elements than the shape has; out of memory.
    pub fn array<T: Element>(&self, shape: impl Into<Shape>, elements: &[T]) -> Result<Array> {
        Ok(Array::new(self, Ok(NdArray::from_slice(self.context(), shape, elements)?)))
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// Out of memory.
    pub fn zeros(&self, shape: impl Into<Shape>, dtype: DType) -> Result<Array> {
        Ok(Array::new(self, Ok(NdArray::zeros(self.context(), shape, dtype)?)))
    }

    /// A handle to an array that exists.
    pub fn wrap(&self, array: &NdArray) -> Array {
        Array::new(self, Ok(array.clone()))
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Array").field(&self.made).finish()
    }
}
