//! Arrays for user programs: an [`NdArray`] with a handle to its `Imperative`, so that `&a + &b` and `x.tanh()?` can be
//! written.
//!
//! An operator such as `+` cannot return a `Result`. An [`Array`] that an operator could not make (because shapes do not
//! broadcast, say) therefore carries the error, and so do all arrays computed from it. The next method that returns a
//! `Result` returns the error, with the place of the expression in the source. The engine reports the errors of kernels in
//! the same manner: if the kernel of an array failed, the array carries the error, and reading the array returns it.
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

/// An array with the `Imperative` that computes with it, or the error of the operator that should have made the array.
/// Clones are handles to the same memory. See the [module](self) for errors.
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
    /// Returns the error of the operator that should have made the array.
    pub fn as_nd(&self) -> Result<&NdArray> {
        self.made.as_ref().map_err(Error::clone)
    }

    /// The handle that runs the operators of this array.
    pub fn imperative(&self) -> &Imperative {
        &self.nd
    }

    /// The sizes of the axes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::as_nd`].
    pub fn shape(&self) -> Result<&Shape> {
        Ok(self.as_nd()?.shape())
    }

    /// The element type.
    ///
    /// # Errors
    /// Returns the errors of [`Self::as_nd`].
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.as_nd()?.dtype())
    }

    /// The elements in row-major order. Waits until they are computed.
    ///
    /// # Errors
    /// Returns the errors of [`Self::as_nd`], an error if `T` is not the element type, or the error of the call that
    /// computed the elements.
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
    /// Returns an error if the shape has another number of elements than `elements`, or if memory runs out.
    pub fn array<T: Element>(&self, shape: impl Into<Shape>, elements: &[T]) -> Result<Array> {
        Ok(Array::new(self, Ok(NdArray::from_slice(self.context(), shape, elements)?)))
    }

    /// An array of zeros.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn zeros(&self, shape: impl Into<Shape>, dtype: DType) -> Result<Array> {
        Ok(Array::new(self, Ok(NdArray::zeros(self.context(), shape, dtype)?)))
    }

    /// An [`Array`] that is a handle to the memory of `array`.
    pub fn wrap(&self, array: &NdArray) -> Array {
        Array::new(self, Ok(array.clone()))
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Array").field(&self.made).finish()
    }
}
